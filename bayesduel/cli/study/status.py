"""``bayesduel study status``: who leads, how surely, and whether one may stop."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from bayesduel.cli.options import flag, json_flag, number_option
from bayesduel.cli.output import console, print_json, print_text
from bayesduel.cli.study.options import File, Forecasts, opened

if TYPE_CHECKING:
    from rich.console import Console

    from bayesduel.cli.tables import FittingTable
    from bayesduel.studies import Forecast, StudyStatus
    from bayesduel.studies.contexts import ContextTable

__all__ = ["status"]


def status(
    file: File,
    probability: Annotated[
        float, number_option("--interval", metavar="P", help="Of intervals.")
    ] = 0.9,
    forecast: Forecasts = False,
    contexts: Annotated[
        bool, flag("--contexts", help="Also who wins in each context of the pool.")
    ] = False,
    full: Annotated[
        bool, flag("--full", help="All of it, also of more than 200 arms: seconds.")
    ] = False,
    as_json: Annotated[bool, json_flag] = False,
) -> None:
    """Print the standings of a study, and whether one may stop."""
    with opened(file) as study:
        found = study.status(probability, forecast=forecast, full=full)
        table = study.by_context() if contexts else None
    if as_json:
        more = {} if table is None else {"contexts": asdict(table)}
        print_json(found.as_dict() | more)
        return
    _show(found, str(file), file.name, probability)
    if table is not None:
        _show_contexts(table)


def _show_contexts(found: ContextTable) -> None:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table, show

    table = new_table(names=("context", "leads"))
    table.add_column("context", max_width=60, overflow="ellipsis", no_wrap=True)
    for head in ("votes", "leads", "Copeland"):
        table.add_column(head, justify="right")
    for line in found.lines:
        table.add_row(*map(escape, (line.context, *line.cells().values())))
    screen = console()
    screen.print()
    show(screen, "by context", table, found.words())


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


def _standings(found: StudyStatus) -> FittingTable:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table

    table = new_table(optional=_OPTIONAL)
    table.add_column("arm")
    cells = [row.cells() for row in found.standings]
    headers = [
        head
        for head in _HEADERS[found.parts == 1 :]
        if found.is_full or any(each[head] != "-" for each in cells)
    ]
    for head in headers:
        table.add_column(head, justify="right", no_wrap=True)
    for row, each in zip(found.standings, cells, strict=True):
        table.add_row(escape(row.arm), *(each[head] for head in headers))
    return table


def _show(found: StudyStatus, path: str, name: str, probability: float) -> None:
    from bayesduel.cli.tables import show

    screen = console()
    table = _standings(found).fitted(screen.width)
    headers = table.headers
    votes = f"votes: {found.votes}, imported: {found.imported}"
    title = f"{name}; {votes}; questions out: {found.out}, stale: {found.stale}"
    intervals = f"; intervals hold {probability:.0%}" if "interval" in headers else ""
    captions = [*(f"DOUBTFUL: {each}" for each in found.doubts)]
    captions += [*filter(None, (found.left_out_words(), found.parts_words()))]
    captions += [f"score: {found.score}{intervals}"]
    winners = [head for head in ("Condorcet", "Copeland", "Borda") if head in headers]
    if winners:
        captions.append(
            f"{', '.join(winners)}: probability of being the best in that sense"
        )
    captions += found.remarks()
    show(screen, title, table, *captions)
    _show_stopping(screen, found, path)
    _show_judges(screen, found)
    if found.forecast is not None:
        _show_forecast(screen, found.forecast)


def _show_stopping(screen: Console, found: StudyStatus, path: str) -> None:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table

    if not found.stopping:
        return
    rules = new_table(names=("may I stop", ""))
    for head in ("may I stop", "", "needs", "has", "false stops in simulations"):
        rules.add_column(head)
    for line in found.stopping:
        rules.add_row(
            line.rule,
            escape(line.says()),
            *line.amounts(),
            found.measured_words(line),
        )
    screen.print(rules)
    for line in found.stopping:
        screen.print(f"{line.rule}: {line.meaning}", style="dim", markup=False)
    for text in found.audit_words(path):
        print_text(screen, text, style="dim")


def _show_judges(screen: Console, found: StudyStatus) -> None:
    """Show who answered, where somebody gave a name or was asked gold questions."""
    from rich.markup import escape

    from bayesduel.cli.tables import new_table, show

    lines = found.judges.lines
    if all(line.judge is None and not line.gold for line in lines):
        return
    table = new_table(optional=_OPTIONAL_OF_JUDGES)
    table.add_column("judge")
    for head in lines[0].cells():
        table.add_column(head, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(escape(line.name), *line.cells().values())
    screen.print()
    words = found.judges.words(found.leader, found.stopping)
    show(screen, "judges", table.fitted(screen.width), *words)


def _show_forecast(screen: Console, forecast: Forecast) -> None:
    for line in forecast.lines:
        within = ""
        if line.within_budget is not None:
            within = f"; within the budget with probability {line.within_budget:.0%}"
        text = f"{line.rule}: {forecast.words(line)}{within}"
        screen.print(text, markup=False)
    simulated = f"forecast: {forecast.num_runs} studies that go on from here"
    text = "; ".join([simulated, *forecast.remarks])
    screen.print(text, style="dim", markup=False)
