"""``bayesduel study status`` and ``report``: who leads, and whether one may stop."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from bayesduel.cli.options import INTERVAL, JSON, command, option
from bayesduel.cli.output import (
    Messages,
    console,
    font_warnings,
    print_json,
    print_text,
)
from bayesduel.cli.parse import option_error
from bayesduel.cli.studying import FORECAST, StudyFile
from bayesduel.cli.tables import FittingTable, show, table_of

if TYPE_CHECKING:
    from bayesduel.studies import StudyStatus
    from bayesduel.studies.contexts import ContextTable

_HEADERS = (
    "part", "rank", "score", "interval", "Condorcet", "Copeland", "Borda", "votes",
    "won", "lost", "tied",
)  # fmt: skip
# Left out in this order until the table fits.
_OPTIONAL = (
    "tied", "lost", "won", "Condorcet", "Borda", "interval", "votes", "Copeland",
    "rank",
)  # fmt: skip
_OPTIONAL_OF_JUDGES = (
    "cost", "skips", "ties", "right", "left", "answers", "contradictions", "too fast",
    "like others", "like oneself", "worst at", "on the left", "best at",
)  # fmt: skip


@command("study status drinks.study")
def status(
    *,
    opened: StudyFile,
    probability: float = INTERVAL,
    forecast: bool = FORECAST,
    contexts: bool = option("Also who wins in each context of the pool."),
    full: bool = option("All of it, also of more than 200 arms: seconds."),
    as_json: bool = JSON,
) -> None:
    """Print the standings of a study, and whether one may stop."""
    with opened.open() as study:
        standing = study.status(probability, forecast=forecast, full=full)
        table = study.by_context() if contexts else None
    if as_json:
        more = {} if table is None else {"contexts": asdict(table)}
        print_json(standing.as_dict() | more)
        return
    _print_standings(standing, opened.file.name, probability)
    _print_stopping(standing, str(opened.file))
    _print_judges(standing)
    if standing.forecast is not None:
        _print_forecast(standing)
    if table is not None:
        _print_contexts(table)


def _print_standings(status: StudyStatus, name: str, probability: float) -> None:

    screen, cells = console(), [row.cells() for row in status.standings]
    heads = [
        head
        for head in _HEADERS[status.parts == 1 :]
        if status.is_full or any(cell_row[head] != "-" for cell_row in cells)
    ]
    rows = [
        [row.arm, *(cell_row[head] for head in heads)]
        for row, cell_row in zip(status.standings, cells, strict=True)
    ]
    table = table_of(("arm", *heads), rows, optional=_OPTIONAL).fitted(screen.width)
    heads = table.headers
    votes = f"votes: {status.votes}, imported: {status.imported}"
    title = f"{name}; {votes}; questions out: {status.out}, stale: {status.stale}"
    intervals = f"; intervals hold {probability:.0%}" if "interval" in heads else ""
    captions = [*(f"DOUBTFUL: {doubt}" for doubt in status.doubts)]
    captions += [*filter(None, (status.left_out_words(), status.parts_words()))]
    captions += [f"score: {status.score}{intervals}"]
    winners = [head for head in ("Condorcet", "Copeland", "Borda") if head in heads]
    if winners:
        named = ", ".join(winners)
        captions.append(f"{named}: probability of being the best in that sense")
    show(screen, title, table, *captions, *status.remarks())


def _print_stopping(status: StudyStatus, path: str) -> None:

    if not status.stopping:
        return
    heads = ("may I stop", "", "needs", "has", "false stops in simulations")
    rows = [
        (line.rule, line.says(), *line.amounts(), status.measured_words(line))
        for line in status.stopping
    ]
    screen = console()
    screen.print(table_of(heads, rows, words=heads, names=heads[:2]))
    for line in status.stopping:
        screen.print(f"{line.rule}: {line.meaning}", style="dim", markup=False)
    for text in status.audit_words(path):
        print_text(screen, text, style="dim")


def _print_judges(status: StudyStatus) -> None:
    """Print who answered, where somebody gave a name or was asked gold questions."""
    lines = status.judges.lines
    if all(line.judge is None and not line.gold for line in lines):
        return
    rows = [(line.name, *line.cells().values()) for line in lines]
    heads, screen = ("judge", *lines[0].cells()), console()
    table = table_of(heads, rows, optional=_OPTIONAL_OF_JUDGES)
    screen.print()
    words = status.judges.words(status.leader, status.stopping)
    show(screen, "judges", table.fitted(screen.width), *words)


def _print_forecast(status: StudyStatus) -> None:
    forecast, screen = status.forecast, console()
    assert forecast is not None
    for line in forecast.lines:
        within = ""
        if line.within_budget is not None:
            within = f"; within the budget with probability {line.within_budget:.0%}"
        text = f"{line.rule}: {forecast.words(line)}{within}"
        screen.print(text, markup=False)
    simulated = f"forecast: {forecast.num_runs} studies that go on from here"
    text = "; ".join([simulated, *forecast.remarks])
    screen.print(text, style="dim", markup=False)


def _print_contexts(contexts: ContextTable) -> None:

    table, screen = FittingTable(names=("context", "leads")), console()
    table.add_column("context", max_width=60, overflow="ellipsis", no_wrap=True)
    for head in ("votes", "leads", "Copeland"):
        table.add_column(head, justify="right")
    for line in contexts.lines:
        table.add_row(*map(escape, (line.context, *line.cells().values())))
    screen.print()
    show(screen, "by context", table, contexts.words())


@command("study report drinks.study")
def report(
    *,
    opened: StudyFile,
    out: Path | None = option("PATH: Default: FILE with .html behind it."),
    probability: float = INTERVAL,
    forecast: bool = FORECAST,
    overwrite: bool = option("Replace the page."),
    messages: Messages,
) -> None:
    """Write one HTML page that needs no other file: standings, figures, rules."""
    from bayesduel.files.folders import write_whole

    file = opened.file
    with opened.open() as study:
        page = file.with_name(f"{file.name}.html") if out is None else out
        if page.exists() and not overwrite:
            remedy = "name another file, or --overwrite"
            raise option_error("--out", f"{page} exists", page, remedy=remedy)
        with font_warnings(quiet=messages.quiet):
            text = study.report(probability, forecast=forecast)
    write_whole(page, text.encode())
    messages.say(f"saved {page}")
