"""``bayesduel standing``: who leads, and whether one may stop asking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesduel.cli.options import INTERVAL, JSON, SEED, argument, command, option
from bayesduel.cli.output import Messages, console, print_json, version
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import Model, VoteOptions, names_between

if TYPE_CHECKING:
    from bayesduel.studies.status import VotesStanding

_HEADERS = (
    "part", "rank", "score", "interval", "Condorcet", "Copeland", "Borda", "votes",
)  # fmt: skip
# Left out in this order until the table fits.
_OPTIONAL = ("Condorcet", "Borda", "interval", "votes", "Copeland", "rank")


@command("standing votes.csv --delta 0.05")
def standing(
    *,
    votes: Path = argument("VOTES: CSV or TSV as for fit."),
    delta: float = option(
        "D: The error that is accepted in the name of a winner.", default=0.05
    ),
    model: Model = option("What scores and ranks assume.", default="beta"),
    width: float = option(
        "W: Pairs within W of 1/2 count either way, so that near winners are right "
        "answers, too.",
        default=0.0,
    ),
    arm_names: str | None = option("A,B,...: All arms, if some have no vote."),
    reading: VoteOptions,
    probability: float = INTERVAL,
    seed: int = SEED,
    as_json: bool = JSON,
    out: Path | None = option("FILE: Save a row for each arm there, as CSV."),
    messages: Messages,
) -> None:
    """Print who leads, how surely, whether one may stop, and how many votes it takes.

    One may stop when the evidence for an arm reaches log(1/delta). That holds however
    the pairs were chosen, and however often one looks.
    """
    data = reading.read(votes)
    from bayesduel.studies.status import standing as standing_of

    result = standing_of(
        data, delta=delta, model=model, width=width, probability=probability,
        arm_names=names_between("--arm-names", arm_names), seed=seed,
    )  # fmt: skip
    if as_json:
        print_json(result.as_dict() | {"version": version()})
    else:
        _print(result, votes.name)
    if out is not None:
        rows = result.to_dataframe().reset_index().to_dict("records")
        messages.save_csv(out, rows)


def _print(result: VotesStanding, name: str) -> None:
    screen, heads = console(), _HEADERS[result.parts == 1 :]
    rows = [[arm.arm, *(arm.cells()[head] for head in heads)] for arm in result.arms]
    table = table_of(("arm", *heads), rows, optional=_OPTIONAL).fitted(screen.width)
    captions = [f"DOUBTFUL: {doubt}" for doubt in result.doubts]
    captions.append(f"score: {result.score}; intervals hold {result.probability:.0%}")
    show(screen, f"{name}: {result.leader_words()}", table, *captions)
    heads = ("may I stop", "", "needs", "has")
    line = result.stopping
    row = (line.rule, line.says(), *line.amounts())
    show(screen, result.stopping_words(), table_of(heads, [row]), line.meaning)
