"""``bayesduel next``: the pairs that a policy would ask for next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesduel.cli.completion import policy_names
from bayesduel.cli.options import (
    flag,
    integer_option,
    json_flag,
    quiet_flag,
    seed_option,
)
from bayesduel.cli.output import console, print_json, save_csv, say, version
from bayesduel.cli.votes.options import (
    Arms,
    Missing,
    Scores,
    TieColumns,
    Weight,
    Where,
    Winner,
    Wins,
    WithoutAnswer,
    Words,
    names_between,
    read_pairs,
    vote_format,
)


def next_pairs(
    votes: Annotated[
        Path, typer.Argument(metavar="VOTES", help="CSV or TSV as for fit.")
    ],
    policy: Annotated[
        str,
        typer.Option(
            "-p",
            "--policy",
            metavar="POLICY",
            help="What chooses, with parameters as in rucb:alpha=0.6.",
            autocompletion=policy_names,
        ),
    ] = "d-ts+",
    number: Annotated[
        int,
        integer_option(
            "-n", "--number", metavar="N", least=1, help="How many questions."
        ),
    ] = 20,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ARM,ARM",
            help="A pair not to be asked, in either order. Repeat for several.",
        ),
    ] = None,
    horizon: Annotated[
        int | None,
        integer_option(
            metavar="T",
            least=1,
            help="Votes that are planned, for policies that plan for it.",
        ),
    ] = None,
    arms: Arms = None,
    winner: Winner = None,
    words: Words = None,
    wins: Wins = None,
    tie_columns: TieColumns = None,
    weight: Weight = None,
    scores: Scores = None,
    where: Where = None,
    missing: Missing = WithoutAnswer.refuse,
    seed: Annotated[int, seed_option] = 0,
    as_json: Annotated[bool, json_flag] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Save the questions there, as CSV for the judges."
        ),
    ] = None,
    overwrite: Annotated[bool, flag("--overwrite", help="Replace FILE.")] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Print the pairs that a policy would ask for next, after the votes so far.

    A pair may occur more than once. A column winner added to the saved questions makes
    a file that fit and next read.
    """
    from bayesduel.cli.errors import option_error

    if out is not None and out.exists() and not overwrite:
        rule, remedy = "must not exist", "replace it with --overwrite"
        raise option_error("--out", rule, str(out), remedy=remedy)
    reading = vote_format(
        arms=arms, winner=winner, words=words, wins=wins, ties=tie_columns,
        weight=weight, scores=scores, where=where, missing=missing.value,
    )  # fmt: skip
    excluded: list[Any] = [
        names_between("--exclude", pair, 2) for pair in exclude or ()
    ]
    data = read_pairs(votes, reading)
    from bayesduel.simulation import player

    found = player.next_pairs(
        data, policy, number, seed=seed, exclude=excluded, horizon=horizon
    )
    rows: list[dict[str, Any]] = found.to_dict("records")
    say(f"{votes.name}: {data}", quiet=quiet)
    if as_json:
        print_json({"policy": policy, "pairs": rows, "version": version()})
    else:
        from bayesduel.cli.tables import show, table_of

        heads = ("question", "first", "second")
        cells = [(str(at), *row.values()) for at, row in enumerate(rows, 1)]
        table = table_of(heads, cells, words=heads[1:], names=heads[1:])
        show(console(), f"Next pairs of {policy}", table, f"bayesduel {version()}")
    if out is not None:
        save_csv(out, rows, quiet=quiet)
