"""``bayesduel config``: print an experiment as a file, checked and resolved."""

from __future__ import annotations

import typer

from bayesduel.cli.output import print_data, say_warning
from bayesduel.cli.sweeps.request import asks_for_experiment, read_request


@asks_for_experiment
def config(ctx: typer.Context) -> None:
    """Print the experiment that compare would carry out, as a TOML file.

    Several values are taken apart, and defaults are written out. Nothing is simulated.
    To do it: bayesduel compare --config FILE
    """
    request = read_request(ctx)
    for text in request.doubts:
        say_warning(text)
    print_data(request.asked.to_toml())
