"""``bayesduel audit-stopping``: how often rules for stopping name a wrong arm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bayesduel.cli import parse
from bayesduel.cli.options import REPAIR, SEED, command, option
from bayesduel.cli.output import Output, console, defined, print_json
from bayesduel.cli.parse import option_error
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import Model, VoteOptions, preference_model

_DESIGN = {"policy": "d-ts+", "delta": 0.05, "width": 0.0, "stopping": None}
"""Options that a study has itself, and their defaults."""


@command("audit-stopping -i gap -p balanced --budget 1000")
def audit_stopping(
    *,
    instance: list[str] | None = option(
        "NAME|FILE: Matrix by name, with parameters, or from a file. Repeatable.",
        "-i",
        "--instance",
    ),
    from_votes: Path | None = option(
        "FILE: Instead: votes as for fit; each run draws a matrix given them."
    ),
    from_study: Path | None = option(
        "FILE: Instead: a study, its votes and its design."
    ),
    policy: str = option(
        "What asks: a policy, balanced or information.",
        "-p",
        "--policy",
        default="d-ts+",
    ),
    delta: float = option("D: Error that is accepted.", default=0.05),
    width: float = option("W: What need not be told apart.", default=0.0),
    budget: str | None = option("N: Votes at most. Default: 2000, or the study's."),
    look_every: int = option("N: Votes between two looks.", default=1),
    stopping: list[str] | None = option(
        "RULE: anytime:delta=0.05, p-value:alpha=0.05 ... Repeatable. Default: the "
        "two rules of a study, and three heuristics."
    ),
    runs: int = option("R: Studies to simulate.", default=1000),
    seed: int = SEED,
    model: Model = option(
        "One scale of utilities, or a Beta per pair.", default="beta"
    ),
    reading: VoteOptions,
    repair: bool = REPAIR,
    out: Path | None = option("DIR: Folder for JSON and a figure."),
    output: Output,
) -> None:
    """Measure how often rules for stopping name a wrong arm.

    Simulates studies of a design, looking after every vote. Columns: share of the
    studies that stopped at an arm that is no Copeland winner, with its exact interval;
    share that named none within the budget; median votes until a name.
    """
    given = [source for source in (instance, from_votes, from_study) if source]
    if len(given) != 1:
        rule = "give one of --instance, --from-votes and --from-study: what is true"
        raise option_error("truth", rule, given, remedy="leave out the others")
    votes = None if budget is None else parse.rounds(budget, "--budget")
    truth: Any = None
    if instance:
        truth = [
            parse.load_matrix(name, "instances", repair=repair) for name in instance
        ]
    elif from_votes is not None:
        from bayesduel.inference import fit

        data = reading.read(from_votes)
        kind = preference_model(model, data)
        truth = fit(kind, data, rng_key=seed, num_draws=100)
    from bayesduel import analysis, plots
    from bayesduel.experiments.progress import progress_reporter
    from bayesduel.files.folders import check_folder, write_whole

    if out is not None:
        check_folder(out, kind="audit", resume=False, overwrite=output.overwrite)
    design = {"policy": policy, "delta": delta, "width": width, "stopping": stopping}
    if from_study is not None:
        for name, usual in _DESIGN.items():
            if design[name] != usual:
                rule = "a study has its own"
                raise option_error(f"--{name}", rule, remedy="leave it out")
    options: dict[str, Any] = {"look_every": look_every, "num_runs": runs, "seed": seed}
    with progress_reporter(enabled=not output.quiet) as report:
        options["on_progress"] = report.update("studies of this design")
        if from_study is not None:
            from bayesduel.studies import Study

            with Study.open(from_study) as study:
                audit = study.audit_stopping(budget=votes, **options)
        else:
            design["rules"] = design.pop("stopping")
            options |= {} if votes is None else {"budget": votes}
            audit = analysis.audit_stopping(truth, **design, **options)
    if output.as_json:
        print_json(audit.as_dict())
    else:
        heads = audit.HEADER
        table = table_of(heads, audit.cells(), words=heads[:2], names=heads[:1])
        looks = "vote" if audit.look_every == 1 else f"{audit.look_every} votes"
        show(
            console(),
            f"{audit.policy}: {audit.num_runs:,} studies of at most "
            f"{audit.budget:,} votes",
            table,
            f"looked at after every {looks}; false stops: share that named an arm that "
            "is no Copeland winner",
            f"accepted: {audit.delta:g}; undecided: no name within the budget; "
            f"seed {audit.seed}",
            *audit.remarks,
        )
    if out is not None:
        output.claim(out, "audit")
        text = json.dumps(defined(audit.as_dict()), indent=2, allow_nan=False)
        write_whole(out / "audit.json", f"{text}\n".encode())
        output.say(f"saved {out / 'audit.json'}")
        output.save_figures({out / "false_stops": plots.false_stops(audit)})
