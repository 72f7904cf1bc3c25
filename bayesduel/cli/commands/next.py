"""``bayesduel next``: the pairs that a policy would ask for next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayesduel.cli.options import JSON, SEED, argument, command, option, policy_names
from bayesduel.cli.output import Messages, console, print_json, version
from bayesduel.cli.parse import option_error
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import VoteOptions, names_between


@command("next votes.csv -p d-ts+ -n 20")
def next_(
    *,
    votes: Path = argument("VOTES: CSV or TSV as for fit."),
    policy: str = option(
        "POLICY: What chooses, with parameters as in rucb:alpha=0.6.",
        "-p",
        "--policy",
        default="d-ts+",
        autocompletion=policy_names,
    ),
    number: int = option(
        "N: How many questions.",
        "-n",
        "--number",
        default=20,
        least=1,
    ),
    exclude: list[str] | None = option(
        "ARM,ARM: A pair not to be asked, in either order. Repeat for several."
    ),
    horizon: int | None = option(
        "T: Votes that are planned, for policies that plan for it.",
        least=1,
    ),
    reading: VoteOptions,
    seed: int = SEED,
    as_json: bool = JSON,
    out: Path | None = option("FILE: Save the questions there, as CSV for the judges."),
    overwrite: bool = option("Replace FILE."),
    messages: Messages,
) -> None:
    """Print the pairs that a policy would ask for next, after the votes so far.

    A pair may occur more than once. A column winner added to the saved questions makes
    a file that fit and next read.
    """
    if out is not None and out.exists() and not overwrite:
        rule, remedy = "must not exist", "replace it with --overwrite"
        raise option_error("--out", rule, str(out), remedy=remedy)
    excluded: list[Any] = [
        names_between("--exclude", pair, 2) for pair in exclude or ()
    ]
    data = reading.read(votes)
    from bayesduel.simulation import player

    pairs = player.next_pairs(
        data, policy, number, seed=seed, exclude=excluded, horizon=horizon
    )
    rows: list[dict[str, Any]] = pairs.to_dict("records")
    messages.say(f"{votes.name}: {data}")
    if as_json:
        print_json({"policy": policy, "pairs": rows, "version": version()})
    else:
        heads = ("question", "first", "second")
        cells = [(str(at), *row.values()) for at, row in enumerate(rows, 1)]
        table = table_of(heads, cells, words=heads[1:], names=heads[1:])
        show(console(), f"Next pairs of {policy}", table, f"bayesduel {version()}")
    if out is not None:
        messages.save_csv(out, rows)
