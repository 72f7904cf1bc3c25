"""``bayesduel config``: print an experiment as a file, checked and resolved."""

from __future__ import annotations

import typer

from bayesduel.cli.output import print_data, say_warning
from bayesduel.cli.sweeps.request import (
    CheckpointsOption,
    ConfigOption,
    FeaturesOption,
    HorizonOption,
    InstanceOption,
    NoLookAheadFlag,
    NoShuffleFlag,
    PolicyOption,
    RecordOption,
    RegretOption,
    RepairFlag,
    RunsOption,
    SeedOption,
    StoppingOption,
    read_request,
)


def config(
    ctx: typer.Context,
    config: ConfigOption = None,
    instance: InstanceOption = None,
    policy: PolicyOption = None,
    runs: RunsOption = 100,
    horizon: HorizonOption = "1e5",
    checkpoints: CheckpointsOption = None,
    regret: RegretOption = None,
    stopping: StoppingOption = None,
    record: RecordOption = None,
    seed: SeedOption = 0,
    no_shuffle: NoShuffleFlag = False,
    no_look_ahead: NoLookAheadFlag = False,
    repair: RepairFlag = False,
    features: FeaturesOption = None,
) -> None:
    """Print the experiment that compare would carry out, as a TOML file.

    Several values are taken apart, and defaults are written out. Nothing is simulated.
    To do it: bayesduel compare --config FILE
    """
    request = read_request(ctx)
    for text in request.doubts:
        say_warning(text)
    print_data(request.asked.to_toml())
