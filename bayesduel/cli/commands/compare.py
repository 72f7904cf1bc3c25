"""``bayesduel compare``, ``config`` and ``merge``: simulate, print, save, draw.

Options that ``compare`` and ``config`` share say what is compared, over a file.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesduel.cli import parse
from bayesduel.cli.errors import FAILED, ended
from bayesduel.cli.options import (
    FORMAT,
    REPAIR,
    RESUME,
    SEED,
    argument,
    command,
    instance_names,
    option,
    policy_names,
)
from bayesduel.cli.output import (
    Messages,
    Output,
    console,
    damage_warnings,
    print_data,
    print_json,
    say_warning,
)
from bayesduel.cli.tables import print_rankings, print_ranks, print_summary

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel import Experiment
    from bayesduel.analysis import Measurement, Ranking, Summary

_DONE = "what was finished"


@dataclass(frozen=True)
class ExperimentOptions:
    """Options that say which experiment is simulated."""

    config: Path | None = option(
        "FILE: Experiment as a TOML file, such as experiment.toml in a folder of "
        "results. Other options override it. A file can name a module:Class, whose "
        "code is then run: read files from others first."
    )
    instance: list[str] | None = option(
        "NAME|FILE: Matrix or world: a name (gap, drifting:speed=1e-3), a file (CSV, "
        "NPY, NPZ) or your own class (mine:Drift:speed=1e-4). Several values: "
        "speed=1e-4|1e-3. Repeatable. Names: bayesduel list",
        "-i",
        "--instance",
        autocompletion=instance_names,
    )
    policy: list[str] | None = option(
        "POLICY: Policy: a name (d-ts, d-ts:alpha=0.6) or your own class "
        "(mine:Greedy). Several values: d-ts:alpha=0.6|1, alpha=0.51..2/10 (10 equal "
        "steps), alpha=0.01..1/5log, or together 'alpha=0.6|1&every=1|10'. Repeatable.",
        "-p",
        "--policy",
        autocompletion=policy_names,
    )
    runs: int = option("R: Independent runs of each policy.", default=100)
    horizon: str = option("T: Rounds of each run: 1000000, 1e6, 10^6.", default="1e5")
    checkpoints: str | None = option(
        "N|LIST: Rounds to record: a number per decade or a list, 100,1e3,1e4."
    )
    regret: list[str] | None = option(
        "NOTION: Record this notion of regret too, beside the default (copeland; of "
        "a world of subset choice, its own). Repeatable."
    )
    stopping: str | None = option(
        "RULE: End a run when a rule names an arm: anytime:delta=0.05, "
        "posterior:delta=0.05, budget:duels=1000, or several joined by |."
    )
    record: str | None = option(
        "WHAT: plays: all plays and regret of each run. regret: regret alone, the "
        "default beyond 10000 runs. quantiles: mean, spread and quantiles over all "
        "runs, for millions of runs."
    )
    seed: int = SEED
    no_shuffle: bool = option("Keep the order of the arms.")
    no_look_ahead: bool = option("Step round by round (slow, same distribution).")
    repair: bool = REPAIR
    features: Path | None = option(
        "ARMS: CSV or TSV with a row per arm: its name (or number), and features of "
        "about unit size. For policies that use them: d-ts:posterior=linear, or your "
        "own, which find them in problem.features."
    )
    prices: Path | None = option(
        "FILE: A table like MATRIX of the price of a duel of each pair, or columns arm "
        "and price, where a pair costs the sum of both. For policies with cost=prices: "
        "rd-ts, rd-ts-star, track-and-stop."
    )

    def experiment(self, ctx: typer.Context) -> tuple[Experiment, list[str]]:
        """Return the experiment, and warnings about it.

        An option that was typed wins over the file of ``--config``, which wins over the
        default of an option.
        """
        if self.config is None:
            return self._checked(self._arguments({}, set(_ARGUMENTS)))
        from bayesduel.experiments.toml import (
            arguments_in_file,
            check_complete,
            errors_name_file,
        )

        in_file = arguments_in_file(self.config)
        sources = {name: ctx.get_parameter_source(name) for name in _ARGUMENTS}
        typed = {
            name
            for name, source in sources.items()
            if _ARGUMENTS[name] not in in_file
            or (source is not None and source.name != "DEFAULT")
        }
        for name in typed:
            in_file.pop(_ARGUMENTS[name], None)
        with errors_name_file(str(self.config), tuple(in_file)):
            arguments = in_file | self._arguments(in_file, typed)
            check_complete(arguments, str(self.config))
            return self._checked(arguments)

    def _arguments(self, in_file: dict[str, Any], typed: set[str]) -> dict[str, Any]:
        """Return the arguments of an experiment, besides regret, of some options."""
        arguments = {
            _ARGUMENTS[name]: getattr(self, name)
            for name in ("instance", "policy", "runs", "record", "seed")
            # Options that may be repeated are empty where they are not given.
            if name in typed and getattr(self, name) not in (None, (), [])
        }
        if "horizon" in typed:
            arguments["horizon"] = parse.rounds(self.horizon)
        if "checkpoints" in typed:
            from bayesduel.experiments.arguments import check_horizon

            last = check_horizon({**in_file, **arguments}["horizon"])
            arguments["checkpoints"] = parse.checkpoints(self.checkpoints, last)
        if "no_shuffle" in typed:
            arguments["shuffle"] = not self.no_shuffle
        if "stopping" in typed and self.stopping is not None:
            from bayesduel.stopping import parse_rule

            arguments["stopping"] = parse_rule(self.stopping)
        return arguments

    def _checked(self, arguments: dict[str, Any]) -> tuple[Experiment, list[str]]:
        from bayesduel import Experiment
        from bayesduel.experiments.arguments import (
            as_sequence,
            with_features_of,
            with_prices_of,
        )

        for name in ("instance", "policy"):
            if _ARGUMENTS[name] not in arguments:
                rule = "name at least one, or give an experiment with --config"
                raise parse.option_error(f"--{name}", rule)
        instances, _ = as_sequence("instances", arguments["instances"])
        as_sequence("policies", arguments["policies"])
        if self.repair:
            arguments = arguments | {"instances": [*map(_repaired, instances)]}
        files = (self.features, with_features_of), (self.prices, with_prices_of)
        for file, read in files:
            if file is not None:
                informed = _with_file(arguments["instances"], file, read)
                arguments = arguments | {"instances": informed}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = Experiment(**arguments)
            if self.no_look_ahead:
                made = made.without_look_ahead()
            if self.regret:
                notions = [notion.strip().replace("-", "_") for notion in self.regret]
                made = replace(made, regret=(_common_notion(made), *notions))
        return made, list(dict.fromkeys(str(warning.message) for warning in caught))


_ARGUMENTS = {
    "instance": "instances", "policy": "policies", "runs": "num_runs",
    "horizon": "horizon", "checkpoints": "checkpoints", "regret": "regret",
    "stopping": "stopping", "record": "record", "seed": "seed", "no_shuffle": "shuffle",
}  # fmt: skip
"""Arguments of an experiment, by the option that sets them."""


def _repaired(given: Any) -> Any:
    """Return a matrix in a file with its rounding mended; a name as it is."""
    from bayesduel.instances.catalog import is_path

    if isinstance(given, str) and is_path(given):
        return parse.load_matrix(given, "instances", repair=True)
    return given


def _with_file(given: Any, path: Path, read: Callable[..., Any]) -> list[Any]:
    """Return matrices or worlds with the features, or prices, of a file."""
    from bayesduel.experiments.arguments import read_grids
    from bayesduel.instances.choice.catalog import is_world_name, load_world

    informed = []
    for one in read_grids("instances", given)[0]:
        if isinstance(one, str):
            is_world = is_world_name(one)
            one = load_world(one) if is_world else parse.load_matrix(one, "instances")
        informed.append(read(one, path))
    return informed


def _common_notion(experiment: Experiment) -> str:
    """Return the usual notion of regret of all instances."""
    usual = {name: notions[0] for name, notions in experiment.notions.items()}
    if len(set(usual.values())) > 1:
        both = ", ".join(f"{name} ({notion})" for name, notion in usual.items())
        rule = (
            f"cannot be added to worlds with regrets of their own that differ: {both}"
        )
        raise parse.option_error("--regret", rule, remedy="compare them separately")
    return next(iter(usual.values()))


_PANELS = {
    "Options": "instance policy runs horizon seed out resume jobs stopping config",
    "What is recorded": "checkpoints regret record ranking",
    "Rules of the runs": "features prices no_shuffle no_look_ahead repair",
    "Several machines": "dask part shared",
    "Output": "format quiet as_json overwrite",
}


@command("compare -i gap -p d-ts -p rucb --horizon 1e6 --out results", _PANELS)
def compare(
    *,
    ctx: typer.Context,
    options: ExperimentOptions,
    jobs: int | None = option(
        "N: Worker processes; default: all cores for runs of more than seconds. "
        "Results do not depend on it."
    ),
    dask: str | None = option(
        "ADDRESS: Dask scheduler whose workers simulate, such as tcp://host:8786, or "
        "local for --jobs workers here. Results do not depend on it."
    ),
    part: str | None = option(
        "I/N: Simulate part I of N, such as 3/10, into the common folder --out; at the "
        "end bayesduel merge joins the parts."
    ),
    shared: bool = option("Workers of --dask write to the folder --out themselves."),
    out: Path | None = option("DIR: Folder for results and figures, new or empty."),
    format: str = FORMAT,
    resume: bool = RESUME,
    ranking: bool = option("Print the ranking with all its intervals."),
    output: Output,
) -> None:
    """Simulate policies on instances and compare their regret with theory.

    Instances are preference matrices, or worlds of subset choice such as camera.

    Prints final regret, the measured slope beside the constant of the lower bound,
    and the ranks, and which of them are certain.
    """
    if dask is None:
        _import_xarray_without_dask()
    experiment, doubts = options.experiment(ctx)
    if not output.quiet:
        for text in doubts:
            say_warning(text)
    report = Report(experiment)
    executor = nullcontext()
    if dask is not None:
        from bayesduel.experiments.arguments import worker_count
        from bayesduel.experiments.execute import dask_executor

        executor = dask_executor(dask, worker_count(jobs))
    from bayesduel.experiments.execute import run_experiment

    try:
        with executor as engine, damage_warnings():
            tree = run_experiment(
                experiment, out=out, tables=report.tables, jobs=jobs, executor=engine,
                part=part, shared=shared, format=format, progress=not output.quiet,
                resume=resume, overwrite=output.overwrite,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        finished = _finished(error, is_part=part is not None)
        raise ended(error, out, finished) from error
    report.read(tree)
    if part is not None:
        then = f"bayesduel merge {out}"
        output.say(f"part {part} is in {out}; join all with: {then}")
    elif output.as_json:
        print_json(report.json_rows())
    else:
        report.print(intervals=ranking)
    if out is not None and part is None:
        report.save_rest(out, output)
    elif not output.as_json and part is None:
        output.say("nothing was saved; --out DIR saves results and figures")
    if failed := report.failures():
        for text in failed:
            say_warning(text)
        raise typer.Exit(FAILED)


def _import_xarray_without_dask() -> None:
    """Let xarray take Dask for missing: it imports it with the first array."""
    # That is a fifth of the time of a short command, in which no array is one of Dask.
    # Others, such as the code of a user's world, can import Dask afterwards.
    if "dask" in sys.modules:
        return
    sys.modules["dask"] = None  # type: ignore[assignment]
    try:
        from xarray import Variable

        Variable((), 0)
    finally:
        del sys.modules["dask"]


def _finished(error: KeyboardInterrupt, *, is_part: bool) -> str:
    """Say what is in the folder. Nothing is put together for that: it may be much."""
    chunks = getattr(error, "finished", None)
    if chunks is None:
        return _DONE
    if runs := sum(len(chunk.runs) for chunk in chunks):
        return f"{runs} finished runs"
    # The work of earlier processes on a part is not inspected.
    return _DONE if is_part else "nothing yet"


@command("config -i sushi -p d-ts --horizon 1e6 > sweep.toml")
def config(*, ctx: typer.Context, options: ExperimentOptions) -> None:
    """Print the experiment that compare would carry out, as a TOML file.

    Several values are taken apart, and defaults are written out. Nothing is simulated.
    To do it: bayesduel compare --config FILE
    """
    experiment, doubts = options.experiment(ctx)
    for text in doubts:
        say_warning(text)
    print_data(experiment.to_toml())


@command("merge results")
def merge(
    *,
    out: Path = argument("FOLDER: What all parts were written to."),
    format: str = FORMAT,
    messages: Messages,
) -> None:
    """Join the parts of a comparison that several processes wrote with --part.

    Nothing is simulated. Says which parts are missing, and what does them.
    """
    import bayesduel
    from bayesduel.analysis import measurements, summary

    try:
        with damage_warnings():
            tree = bayesduel.merge(out, format=format)
    except KeyboardInterrupt as error:
        raise ended(error, out, "all parts") from error
    for notion in dict.fromkeys(measurements(tree)[0].notions):
        print_summary(console(), summary(tree, notion=notion))
    messages.say(f"saved the results in {out}")


class Report:
    """The results of an experiment: measured, summed up and ranked once for all of it.

    Parameters
    ----------
    experiment : Experiment
    """

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._tree: xr.DataTree | None = None
        self._measured: list[Measurement] = []
        self._summaries: dict[tuple[str, ...], Summary] = {}

    def read(self, tree: xr.DataTree) -> None:
        """Take the results, unless they are there."""
        from bayesduel.analysis import measurements

        if tree is not self._tree:
            self._tree, self._measured = tree, measurements(tree)

    def tables(self, tree: xr.DataTree) -> Mapping[str, bytes]:
        """Return the tables that are saved with the results, by names of files."""
        from bayesduel.analysis.summaries import summary_files

        self.read(tree)
        return summary_files(self._measured, self._summary)

    def _summary(self, part: list[Measurement], *, notion: str) -> Summary:
        from bayesduel.analysis import summary

        key = (notion, *dict.fromkeys(measured.instance for measured in part))
        if key not in self._summaries:
            self._summaries[key] = summary(part, notion=notion)
        return self._summaries[key]

    @cached_property
    def _parts(self) -> list[tuple[str, list[Measurement]]]:
        from bayesduel.analysis.summaries import by_notion

        return by_notion(self._measured, self._experiment.notions)

    @cached_property
    def _rankings(self) -> list[list[Ranking]]:
        from bayesduel.analysis import rankings

        return [rankings(part, notion=notion) for notion, part in self._parts]

    def json_rows(self) -> list[dict[str, Any]]:
        """Return the rows of `summary.json`, and the time that the runs took."""
        from bayesduel.analysis.summaries import summary_rows

        return summary_rows(self._measured, self._summary)

    def print(self, *, intervals: bool = False) -> None:
        """Print a table and ranks per notion of regret and instance.

        Parameters
        ----------
        intervals : bool
            The whole ranking, with an interval for every difference.
        """
        screen = console()
        for (notion, part), ranked in zip(self._parts, self._rankings, strict=True):
            print_summary(screen, self._summary(part, notion=notion))
            if not all(measured.error for measured in part):
                (print_rankings if intervals else print_ranks)(screen, ranked)
        if self._experiment.record == "quantiles":
            screen.print(
                "no ranking: it pairs single runs, of which only quantiles are kept"
            )
        notion, part = self._parts[0]
        for row in self._summary(part, notion=notion).rows:
            if row.stopped_runs is not None:
                mean = row.stopped_at_mean
                after = "" if mean is None else f", after {mean:,.0f} rounds on average"
                screen.print(
                    f"{row.policy} on {row.instance}: {row.stopped_runs} of "
                    f"{row.num_runs} runs stopped{after}; {row.wrong_names} named an "
                    "arm that is no winner"
                )

    def failures(self) -> list[str]:
        """Return which policies failed, and why."""
        return [
            f"{measured.policy} on {measured.instance} failed: {measured.error}"
            for measured in self._measured
            if measured.error
        ]

    def save_rest(self, out: Path, messages: Messages) -> None:
        """Save rankings, and a figure per reported notion of regret."""
        from bayesduel import plots
        from bayesduel.analysis.summaries import by_notion

        messages.say(f"saved the results in {out}")
        if all(measured.error for measured in self._measured):
            return
        if ranked := [ranking for ranked in self._rankings for ranking in ranked]:
            messages.save_json(out / "rankings.json", [*map(asdict, ranked)])
        parts = by_notion(self._measured, self._experiment.notions, main=True)
        for notion, part in parts:
            several = f"regret-{notion.replace('_', '-')}"
            stem = "regret" if len(parts) == 1 else several
            messages.save_figures({out / stem: plots.regret(part, notion=notion)})
