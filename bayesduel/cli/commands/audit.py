"""``bayesduel audit``: what speaks against a finished leaderboard."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from bayesduel.cli.options import SEED, argument, command, option
from bayesduel.cli.output import Output, console, print_json, print_text, say_warning
from bayesduel.cli.parse import option_error
from bayesduel.cli.voting import VoteOptions, require_file

_USUAL = {
    "judge": ("judge", "rater", "annotator", "voter"),
    "context": ("context", "prompt", "question"),
    "time": ("time", "timestamp", "tstamp", "date"),
}
"""Titles of columns that are read where no option names one."""


@dataclass(frozen=True)
class _AuditedVotes(VoteOptions):
    """Also who judged what, and when."""

    judge: str | None = option(
        f"COLUMN: Column of who judged. Default: {', '.join(_USUAL['judge'])}."
    )
    context: str | None = option(
        "COLUMN: Column of what was asked, such as a prompt. Default: "
        f"{', '.join(_USUAL['context'])}."
    )
    time: str | None = option(
        "COLUMN: Column of when votes were cast, numbers or dates that sort as texts. "
        f"Default: {', '.join(_USUAL['time'])}."
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Further columns that stay with every vote."""
        return () if self.time is None else (self.time,)

    def with_usual(self, votes: Path) -> _AuditedVotes:
        """Return the options with the usual columns, where no cell of them is empty."""
        from bayesduel.votes import read_table

        require_file("VOTES", votes)
        table = read_table(votes)
        titles = {str(title).lower(): str(title) for title in table.columns}
        chosen: dict[str, Any] = {}
        for name, usual in _USUAL.items():
            title = next((titles[word] for word in usual if word in titles), None)
            if getattr(self, name) is not None or title is None:
                continue
            cells = table[title]
            if bool(cells.isna().any() or (cells.astype(str) == "").any()):
                say_warning(f"column {title!r} has empty cells, and is not read")
                continue
            chosen[name] = title
        return replace(self, **chosen)


@command("audit votes.csv --html audit.html")
def audit(
    *,
    votes: Path = argument("VOTES: CSV or TSV as for fit."),
    reading: _AuditedVotes,
    cluster: str | None = option(
        "judge|context|COLUMN: What errors are clustered by. Default: who judged, else "
        "what was asked, where there are 10 labels or more."
    ),
    level: float = option(
        "P: Probability of a false alarm of each test, and of an error of all "
        "intervals together.",
        default=0.05,
    ),
    seed: int = SEED,
    html: Path | None = option("FILE: Also save a page with figures."),
    strict: bool = option("Exit with code 1 where a check warns."),
    output: Output,
) -> None:
    """Audit a finished leaderboard: which ranks hold, and what speaks against them.

    Prints ranges of ranks that hold at once, checks with their thresholds and evidence,
    the fewest votes whose removal unseats the leader, and how many more votes would
    settle what is open.
    """
    if html is not None and html.exists() and not output.overwrite:
        rule, remedy = "must not exist", "replace it with --overwrite"
        raise option_error("--html", rule, str(html), remedy=remedy)
    reading = reading.with_usual(votes)
    data = reading.read(votes)
    from bayesduel import audits

    with output.working("auditing the votes"):
        result = audits.audit(
            data, level=level, cluster=cluster, time=reading.time, seed=seed
        )
    if output.as_json:
        print_json(result.as_dict())
    else:
        print_text(console(), f"{votes.name}: {result}")
    if html is not None:
        output.save_text(html, result.to_html(f"Audit of {votes.name}"))
    if strict and result.warnings:
        raise typer.Exit(1)
