"""What is to be compared: options that commands share, and a file under them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli import parse
from bayesduel.cli.completion import instance_names, policy_names
from bayesduel.cli.errors import option_error
from bayesduel.cli.options import flag, integer_option, repair_flag, seed_option

if TYPE_CHECKING:
    from bayesduel import Experiment


def _options(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Experiment as a TOML file, such as experiment.toml of a folder of "
            "results. Options that are given besides win over it. A policy or world in "
            "it that is named module:Class runs that module: read files from others "
            "first.",
        ),
    ] = None,
    instance: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--instance",
            metavar="NAME|FILE",
            help="Matrix or world by name, with parameters, such as gap, "
            "drifting:speed=1e-3 or speed=1e-4|1e-3, a matrix from a file (CSV, NPY, "
            "NPZ), or a world of your own as module:Class, such as "
            "mine:Drift:speed=1e-4. Repeatable. See: bayesduel list",
            autocompletion=instance_names,
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--policy",
            metavar="POLICY",
            help="Policy with parameters, such as d-ts or d-ts:alpha=0.6; of several "
            "values d-ts:alpha=0.51..2/10, alpha=0.01..1/5log or alpha=0.6|1; of two "
            "that go together 'alpha=0.6|1&every=1|10'; one of your own as "
            "module:Class. Repeatable.",
            autocompletion=policy_names,
        ),
    ] = None,
    runs: Annotated[
        int, integer_option(metavar="R", help="Independent runs of each policy.")
    ] = 100,
    horizon: Annotated[
        str, typer.Option(metavar="T", help="Rounds of each run: 1000000, 1e6, 10^6.")
    ] = "1e5",
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="N|LIST",
            help="Rounds to record: a number per decade or a list, 100,1e3,1e4.",
        ),
    ] = None,
    regret: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NOTION",
            help="Another notion of regret to record, beside copeland; of a world of "
            "subset choice beside its own. Repeatable.",
        ),
    ] = None,
    stopping: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="End a run when a rule names an arm: anytime:delta=0.05, "
            "posterior:delta=0.05, budget:duels=1000, or several joined by |.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Keep of each run its plays and regret, or regret alone (the default "
            "beyond 10000 runs); or quantiles: mean, spread and quantiles of all runs "
            "together, for millions of them.",
        ),
    ] = None,
    seed: Annotated[int, seed_option] = 0,
    no_shuffle: Annotated[
        bool, flag("--no-shuffle", help="Keep the order of the arms.")
    ] = False,
    no_look_ahead: Annotated[
        bool,
        flag("--no-look-ahead", help="Step round by round (slow, same distribution)."),
    ] = False,
    repair: Annotated[bool, repair_flag] = False,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="ARMS",
            help="CSV or TSV with a row per arm: its name (or number), and features "
            "of about unit size. For policies that use them: d-ts:posterior=linear, or "
            "your own, which find them in problem.features.",
        ),
    ] = None,
) -> None:
    """Say what is simulated: the options of a command that asks for it."""


def asks_for_experiment(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an experiment, before those of its own.

    It reads them by :func:`read_request`, from its context.
    """
    own = signature(command, eval_str=True).parameters
    context, *others = own.values()
    asked = signature(_options, eval_str=True).parameters.values()

    @wraps(command)
    def called(**given: Any) -> None:
        command(**{name: given[name] for name in own})

    every = [context, *asked, *others]
    called.__signature__ = Signature(every)  # pyright: ignore
    called.__annotations__ = {each.name: each.annotation for each in every}
    return called


_ARGUMENTS = {
    "instance": "instances",
    "policy": "policies",
    "runs": "num_runs",
    "horizon": "horizon",
    "checkpoints": "checkpoints",
    "regret": "regret",
    "stopping": "stopping",
    "record": "record",
    "seed": "seed",
    "no_shuffle": "shuffle",
}
"""Arguments of an experiment, by the parameter of a command that sets them."""


@dataclass(frozen=True)
class Request:
    """An experiment that was asked for.

    Attributes
    ----------
    asked : Experiment
        Checked.
    doubts : list of str
        What it warns of.
    """

    asked: Experiment
    doubts: list[str]


def read_request(ctx: typer.Context) -> Request:
    """Return the experiment that the options of a command ask for.

    An option that was typed wins over the file of ``--config``, which wins over what an
    option is without being typed.
    """
    path = ctx.params["config"]
    in_file: dict[str, Any] = {}
    if path is not None:
        from bayesduel.experiments.toml import arguments_in_file

        in_file = arguments_in_file(path)
    typed = {
        option: ctx.params[option]
        for option, argument in _ARGUMENTS.items()
        if _was_typed(ctx, option) or argument not in in_file
    }
    for option in typed:
        in_file.pop(_ARGUMENTS[option], None)
    if path is None:
        return _request(_arguments(typed, {}), ctx.params)
    from bayesduel.experiments.toml import (
        check_complete,
        errors_name_file,
    )

    with errors_name_file(str(path), tuple(in_file)):
        arguments = in_file | _arguments(typed, in_file)
        check_complete(arguments, str(path))
        return _request(arguments, ctx.params)


def _was_typed(ctx: typer.Context, option: str) -> bool:
    source = ctx.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _arguments(typed: dict[str, Any], in_file: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an experiment, besides regret, that options give."""
    from bayesduel.experiments.arguments import check_horizon

    found = {
        _ARGUMENTS[option]: typed[option]
        for option in ("instance", "policy", "runs", "record", "seed")
        if option in typed
    }
    # Options that may be repeated are empty where they are not given.
    found = {key: value for key, value in found.items() if value not in (None, (), [])}
    if "horizon" in typed:
        found["horizon"] = parse.rounds(typed["horizon"])
    if "checkpoints" in typed:
        last = check_horizon({**in_file, **found}["horizon"])
        found["checkpoints"] = parse.checkpoints(typed["checkpoints"], last)
    if "no_shuffle" in typed:
        found["shuffle"] = not typed["no_shuffle"]
    if typed.get("stopping") is not None:
        from bayesduel.stopping import parse_rule

        found["stopping"] = parse_rule(typed["stopping"])
    return found


def _request(arguments: dict[str, Any], options: dict[str, Any]) -> Request:
    from bayesduel import Experiment
    from bayesduel.experiments.arguments import as_sequence

    for option in ("instance", "policy"):
        if _ARGUMENTS[option] not in arguments:
            rule = "name at least one, or give an experiment with --config"
            raise option_error(f"--{option}", rule)
    given = {
        key: as_sequence(key, arguments[key])[0] for key in ("instances", "policies")
    }
    if options["repair"]:
        arguments = arguments | {"instances": [*map(_repaired, given["instances"])]}
    if options["features"] is not None:
        found = _featured(arguments["instances"], options["features"])
        arguments = arguments | {"instances": found}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked = Experiment(**arguments)
        if options["no_look_ahead"]:
            asked = asked.without_look_ahead()
        if regret := options["regret"]:
            notions = [notion.strip().replace("-", "_") for notion in regret]
            asked = replace(asked, regret=(_common_notion(asked), *notions))
    return Request(asked, list(dict.fromkeys(str(each.message) for each in caught)))


def _repaired(given: Any) -> Any:
    """Return a matrix in a file with its rounding mended; a name as it is."""
    from bayesduel.instances.catalog import is_path

    mended = isinstance(given, str) and is_path(given)
    return parse.load_matrix(given, "instances", repair=True) if mended else given


def _featured(given: Any, path: Path) -> list[Any]:
    """Return matrices or worlds whose arms have the features of a file."""
    from bayesduel.experiments.arguments import read_grids, with_features_of
    from bayesduel.instances.choice.catalog import is_world_name, load_world

    found = []
    for one in read_grids("instances", given)[0]:
        if isinstance(one, str):
            is_world = is_world_name(one)
            one = load_world(one) if is_world else parse.load_matrix(one, "instances")
        found.append(with_features_of(one, path))
    return found


def _common_notion(asked: Experiment) -> str:
    """Return the usual notion of regret of all instances."""
    usual = {name: notions[0] for name, notions in asked.notions.items()}
    if len(set(usual.values())) > 1:
        both = ", ".join(f"{name} ({notion})" for name, notion in usual.items())
        raise option_error(
            "--regret",
            f"cannot be added to worlds with regrets of their own that differ: {both}",
            remedy="compare them separately",
        )
    return next(iter(usual.values()))
