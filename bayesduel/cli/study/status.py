"""``bayesduel study status``: who leads, how surely, and whether one may stop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from bayesduel.cli.options import json_flag, number_option
from bayesduel.cli.output import console, print_json
from bayesduel.cli.study.options import File, opened

if TYPE_CHECKING:
    from bayesduel.studies import StudyStatus

__all__ = ["status"]


def status(
    file: File,
    probability: Annotated[
        float, number_option("--interval", metavar="P", help="Of intervals.")
    ] = 0.9,
    as_json: Annotated[bool, json_flag] = False,
) -> None:
    """Print the standings of a study, and whether one may stop."""
    with opened(file) as study:
        found = study.status(probability)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found, file.name, probability)


def _show(found: StudyStatus, name: str, probability: float) -> None:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table, show

    table = new_table()
    for head in ("arm", "rank", "score", "interval", "Condorcet", "Copeland", "Borda",
                 "votes", "won", "lost", "tied"):  # fmt: skip
        left = head == "arm"
        table.add_column(head, justify="left" if left else "right", no_wrap=not left)
    for row in found.standings:
        low, high = row.rank_lower, row.rank_upper
        table.add_row(
            escape(row.arm),
            str(low) if low == high else f"{low}-{high}",
            f"{row.score:z.3f}",
            f"{row.score_lower:z.3f} to {row.score_upper:z.3f}",
            *(f"{each:.3f}" for each in (row.condorcet, row.copeland, row.borda)),
            *map(str, (row.votes, row.won, row.lost, row.tied)),
        )
    out = f"{found.out} questions out, {found.stale} of them stale"
    title = f"{name}: {found.votes} votes and {found.imported} imported; {out}"
    captions = [
        f"score: {found.score}; intervals hold {probability:.0%}",
        "Condorcet, Copeland, Borda: probability of being the best in that sense",
        f"{found.policy} asks; {found.idle_rounds} rounds of exploitation left out",
    ]
    if found.retired:
        captions.append(f"retired: {', '.join(found.retired)}")
    show(console(), title, table, *captions)
    rules = new_table()
    for head in ("may I stop", "", "needs", "has", "meaning"):
        rules.add_column(head)
    for line in found.stopping:
        says = f"stop: {line.answer}" if line.answer else "stop"
        rules.add_row(
            line.rule,
            escape(says) if line.stopped else "not yet",
            *(_amount(line.rule, each) for each in (line.threshold, line.evidence)),
            line.meaning,
        )
    console().print(rules)


def _amount(rule: str, evidence: float) -> str:
    """Return votes, or a probability of error."""
    if rule == "budget":
        return f"{evidence:g} votes"
    return f"error {min(1.0, math.exp(-evidence)):.2g}"
