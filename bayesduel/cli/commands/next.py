"""``bayesduel next``: the pairs that a policy would ask for next."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from bayesduel.cli.options import JSON, SEED, argument, command, option, policy_names
from bayesduel.cli.output import (
    Messages,
    console,
    csv_text,
    json_lines,
    print_data,
    print_json,
    version,
)
from bayesduel.cli.parse import option_error
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import VoteOptions, names_between

Lines = Literal["csv", "jsonl"]
_OF_MANY_ARMS = "Thompson sampling at the mode of Bradley-Terry"


@command("next votes.csv -p d-ts+ -n 20")
def next_(
    *,
    votes: Path = argument("VOTES: CSV or TSV as for fit."),
    policy: str | None = option(
        "POLICY: What chooses, with parameters as in rucb:alpha=0.6. Default: d-ts+; "
        "with more than 2000 arms draws of a Bradley-Terry fit by the mode.",
        "-p",
        "--policy",
        autocompletion=policy_names,
    ),
    number: int = option(
        "N: How many questions.", "-n", "--number", default=20, least=1
    ),
    exclude: list[str] | None = option(
        "ARM,ARM: A pair not to be asked, in either order. Repeat for several."
    ),
    judge: str | None = option(
        "NAME: Who answers: pairs that this judge has answered are left out. The votes "
        "need a column judge."
    ),
    prices: Path | None = option(
        "FILE: A square table of the price of each pair, named as the votes name arms, "
        "or columns arm and price. For policies with cost=prices, such as "
        "rd-ts:cost=prices."
    ),
    arm_names: str | None = option(
        "A,B,...: All arms that are compared, if some have no vote."
    ),
    retired: str | None = option(
        "A,B,...: Arms that are compared no more; their votes do not count."
    ),
    prune: float | None = option(
        "D: Leave out arms where the votes are evidence, at the error D, that another "
        "arm is better."
    ),
    horizon: int | None = option(
        "T: Votes that are planned, for policies that plan for it.", least=1
    ),
    reading: VoteOptions,
    seed: int = SEED,
    as_json: bool = JSON,
    lines: Lines | None = option(
        "Print the questions alone, for programs: CSV, or a JSON object a line."
    ),
    out: Path | None = option(
        "FILE: Save the questions there: as JSON lines if it ends in .jsonl, else CSV."
    ),
    overwrite: bool = option("Replace FILE."),
    messages: Messages,
) -> None:
    """Print the pairs that a policy would ask for next, after the votes so far.

    A pair may occur more than once: the questions may be answered in parallel. A column
    winner added to the saved questions makes a file that fit and next read.
    """
    if as_json and lines is not None:
        raise option_error("--lines", "goes without --json", lines, remedy="give one")
    if out is not None and out.exists() and not overwrite:
        rule, remedy = "must not exist", "replace it with --overwrite"
        raise option_error("--out", rule, str(out), remedy=remedy)
    excluded: list[Any] = [
        names_between("--exclude", pair, 2) for pair in exclude or ()
    ]
    data = reading.read(votes, with_judges=judge is not None)
    from bayesduel.instances import read_prices
    from bayesduel.simulation.next_pairs import USUAL_POLICY, next_pairs
    from bayesduel.simulation.player import MOST_ARMS

    pairs = next_pairs(
        data, policy, number, prices=None if prices is None else read_prices(prices),
        exclude=excluded, judge=judge, seed=seed,
        arm_names=names_between("--arm-names", arm_names), horizon=horizon,
        retired=names_between("--retired", retired) or (), prune=prune,
    )  # fmt: skip
    if policy is None:
        many = data.num_arms > MOST_ARMS
        policy = _OF_MANY_ARMS if many else USUAL_POLICY
    rows: list[dict[str, Any]] = [pair._asdict() for pair in pairs]
    messages.say(f"{votes.name}: {data}")
    if as_json:
        print_json({"policy": policy, "pairs": rows, "version": version()})
    elif lines == "csv":
        from bayesduel.files.csv_cells import guarded_rows

        print_data(csv_text(guarded_rows(rows)))
    elif lines == "jsonl":
        print_data(json_lines(rows))
    else:
        heads = ("question", "first", "second", "reason")
        cells = [(str(at), *row.values()) for at, row in enumerate(rows, 1)]
        table = table_of(heads, cells, words=heads[1:], names=heads[1:3])
        show(console(), f"Next pairs of {policy}", table, f"bayesduel {version()}")
    if out is not None and out.suffix == ".jsonl":
        messages.save_text(out, json_lines(rows))
    elif out is not None:
        messages.save_csv(out, rows)
