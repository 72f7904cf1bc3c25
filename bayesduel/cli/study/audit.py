"""``bayesduel audit-stopping``: how often rules for stopping name a wrong arm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli import parse
from bayesduel.cli.errors import option_error
from bayesduel.cli.figures import save_figures
from bayesduel.cli.options import (
    integer_option,
    json_flag,
    number_option,
    overwrite_flag,
    quiet_flag,
    repair_flag,
    seed_option,
)
from bayesduel.cli.output import console, print_json, say
from bayesduel.cli.votes.chosen_models import preference_model
from bayesduel.cli.votes.options import (
    Arms,
    Model,
    ModelChoice,
    TieColumns,
    Weight,
    Winner,
    Wins,
    Words,
    read_pairs,
    vote_format,
)

if TYPE_CHECKING:
    from bayesduel.analysis import StoppingAudit
    from bayesduel.models.fit.fit_result import Fit
    from bayesduel.votes.format import VoteFormat

__all__ = ["audit_stopping"]


def audit_stopping(
    instance: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--instance",
            metavar="NAME|FILE",
            help="Matrix by name, with parameters, or from a file. Repeatable.",
        ),
    ] = None,
    from_votes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead: votes as for fit; each run draws a matrix given them.",
        ),
    ] = None,
    from_study: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Instead: a study, its votes and its design."
        ),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            "-p", "--policy", help="What asks: a policy, balanced or information."
        ),
    ] = "d-ts+",
    delta: Annotated[
        float, number_option(metavar="D", help="Error that is accepted.")
    ] = 0.05,
    width: Annotated[
        float, number_option(metavar="W", help="What need not be told apart.")
    ] = 0.0,
    budget: Annotated[
        str | None,
        typer.Option(metavar="N", help="Votes at most. Default: 2000, or the study's."),
    ] = None,
    look_every: Annotated[
        int, integer_option(metavar="N", help="Votes between two looks.")
    ] = 1,
    stopping: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="anytime:delta=0.05, p-value:alpha=0.05 ... Repeatable. Default: the "
            "two rules of a study, and three heuristics.",
        ),
    ] = None,
    runs: Annotated[
        int, integer_option(metavar="R", help="Studies to simulate.")
    ] = 1000,
    seed: Annotated[int, seed_option] = 0,
    model: ModelChoice = Model.beta,
    arms: Arms = None,
    winner: Winner = None,
    words: Words = None,
    wins: Wins = None,
    tie_columns: TieColumns = None,
    weight: Weight = None,
    repair: Annotated[bool, repair_flag] = False,
    as_json: Annotated[bool, json_flag] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for JSON and a figure."),
    ] = None,
    overwrite: Annotated[bool, overwrite_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Measure how often rules for stopping name a wrong arm.

    Simulates studies of a design, looking after every vote. Columns: share of the
    studies that stopped at an arm that is no Copeland winner, with its exact interval;
    share that named none within the budget; median votes until a name.
    """
    given = [each for each in (instance, from_votes, from_study) if each]
    if len(given) != 1:
        rule = "give one of --instance, --from-votes and --from-study: what is true"
        raise option_error("truth", rule, given, remedy="leave out the others")
    votes = None if budget is None else parse.rounds(budget, "--budget")
    truth: Any = None
    if instance:
        truth = [
            parse.load_matrix(each, "instances", repair=repair) for each in instance
        ]
    elif from_votes is not None:
        reading = vote_format(
            arms=arms, winner=winner, words=words, wins=wins, ties=tie_columns,
            weight=weight,
        )  # fmt: skip
        truth = _posterior(from_votes, model, reading, seed)
    if out is not None:
        from bayesduel.files.folders import check_folder

        check_folder(out, kind="audit", resume=False, overwrite=overwrite)
    found = _audited(
        truth,
        from_study,
        quiet=quiet,
        policy=policy,
        delta=delta,
        width=width,
        rules=stopping,
        budget=votes,
        look_every=look_every,
        num_runs=runs,
        seed=seed,
    )
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)
    if out is not None:
        parse.claim_folder(out, kind="audit", overwrite=overwrite)
        _save(found, out, quiet=quiet)


def _posterior(file: Path, model: Model, reading: VoteFormat, seed: int) -> Fit:
    from bayesduel.inference import fit

    data = read_pairs(file, reading)
    chosen_model = preference_model(model, data, None, order_effect=False)
    return fit(chosen_model, data, rng_key=seed, num_draws=100)


def _audited(
    truth: Any,
    study: Path | None,
    *,
    quiet: bool,
    **asked: Any,
) -> StoppingAudit:
    from bayesduel import analysis
    from bayesduel.experiments.progress import progress_reporter

    if study is not None:
        design = {"policy": "d-ts+", "delta": 0.05, "width": 0.0, "rules": None}
        for name, usual in design.items():
            if asked.pop(name) != usual:
                option = {"rules": "--stopping"}.get(name, f"--{name}")
                raise option_error(option, "a study has its own", remedy="leave it out")
    with progress_reporter(enabled=not quiet) as report:
        on_progress = report.update("studies of this design")
        if study is not None:
            from bayesduel.cli.study.options import opened

            with opened(study) as file:
                return file.audit_stopping(**asked, on_progress=on_progress)
        if asked["budget"] is None:
            del asked["budget"]
        return analysis.audit_stopping(truth, **asked, on_progress=on_progress)


def _show(found: StoppingAudit) -> None:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table, show

    table = new_table()
    for place, head in enumerate(found.HEADER):
        table.add_column(head, justify="left" if place < 2 else "right")
    for cells in found.cells():
        table.add_row(*map(escape, cells))
    looks = "vote" if found.look_every == 1 else f"{found.look_every} votes"
    show(
        console(),
        f"{found.policy}: {found.num_runs:,} studies of at most {found.budget:,} votes",
        table,
        f"looked at after every {looks}; false stops: share that named an arm that is "
        "no Copeland winner",
        f"accepted: {found.delta:g}; undecided: no name within the budget; "
        f"seed {found.seed}",
        *found.remarks,
    )


def _save(found: StoppingAudit, out: Path, *, quiet: bool) -> None:
    import json

    from bayesduel import plots
    from bayesduel.cli.output import defined
    from bayesduel.files.folders import write_whole

    text = json.dumps(defined(found.as_dict()), indent=2, allow_nan=False)
    write_whole(out / "audit.json", f"{text}\n".encode())
    say(f"saved {out / 'audit.json'}", quiet=quiet)
    figure = plots.false_stops(found)
    save_figures({out / "false_stops": figure}, quiet=quiet)
