"""A study on one page of HTML that needs no other file."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from bayesduel.studies._fits import fit_votes
from bayesduel.studies._history import draw_history, history_of
from bayesduel.studies.contents.contexts import context_table
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.status import StudyStatus, status_of
from bayesduel.studies.stored.events import Event
from bayesduel.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayesduel.studies.forecast import Forecast

__all__ = ["report_html"]

_DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS = 1.6e7, 400, 4000

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62em;
       margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; } th { text-align: left; }
th, td { padding: .2em .8em .2em 0; border-bottom: 1px solid #ddd;
         vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums;
                       white-space: nowrap; }
.wide { overflow-x: auto; } .wide td:first-child { min-width: 8em; }
img { max-width: 100%; } .small { color: #666; font-size: .85em; }
"""

# Nothing is loaded and nothing runs, whatever an arm is called.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def report_html(
    events: Sequence[Event],
    path: Path,
    probability: float,
    now: float,
    forecast: Forecast | None = None,
) -> str:
    """Return the page; see ``Study.report``."""
    state, history = history_of(events)
    status = status_of(state, probability, now, leave_out=True)
    title = path.stem
    parts = [
        f"<h1>{escape(title)}</h1>",
        _summary(status),
        "<h2>May I stop?</h2>",
        _rules(status, path.name),
        "" if forecast is None else _forecast(forecast),
        "<h2>Standings</h2>",
        _standings(status, probability),
    ]
    if history.votes:
        parts += _figures(state, probability)
        parts += [
            "<h2>Over the votes</h2>",
            _image(
                draw_history(history, status.delta),
                "probability of being the best, and of an error, over the votes",
            ),
            '<p class="small">Below: the error probabilities by which the rules '
            f"decide; the gray line is {status.delta:g}.</p>",
        ]
    parts += [_contexts(state), _judges(status), _small_print(status)]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _summary(status: StudyStatus) -> str:
    leader = "nobody yet" if status.leader is None else escape(status.leader)
    budget = "" if status.budget is None else f" of {status.budget}"
    return (
        f"<p>Arms: {len(status.arms)}. Votes: {status.votes}{budget}; imported: "
        f"{status.imported}; ties among both: {status.ties}. Questions skipped: "
        f"{status.skipped}; open: {status.out}. "
        f"In front: <strong>{leader}</strong>.</p>"
    )


def _rules(status: StudyStatus, path: str) -> str:
    rows = []
    for line in status.stopping:
        rows.append(
            [
                line.rule,
                escape(line.says()),
                *line.amounts(),
                escape(status.measured_words(line)),
                escape(line.meaning),
            ]
        )
    heads = ["rule", "says", "needs", "has", "false stops in simulations", "meaning"]
    notes = "".join(
        f'<p class="small">{escape(text)}</p>' for text in status.audit_words(path)
    )
    return _table(heads, rows) + notes


def _forecast(forecast: Forecast) -> str:
    rows = []
    for line in forecast.lines:
        within = "" if line.within_budget is None else f"{line.within_budget:.0%}"
        rows.append([line.rule, escape(forecast.words(line)), within])
    table = _table(["rule", "votes still needed", "within the budget"], rows)
    note = "; ".join(
        [
            f"{forecast.num_runs} studies that go on from here were simulated, with "
            f"{forecast.most_votes:,} votes more at most",
            *forecast.remarks,
        ]
    )
    return f'<h2>How many more?</h2>{table}<p class="small">{escape(note)}.</p>'


def _standings(status: StudyStatus, probability: float) -> str:
    cells = [row.cells() for row in status.standings]
    heads = ["arm", *(head for head in cells[0] if head != "part" or status.parts > 1)]
    rows = [
        [escape(row.arm), *(each[head] for head in heads[1:])]
        for row, each in zip(status.standings, cells, strict=True)
    ]
    if status.condorcet_exists is not None:
        exists = (
            f"Some arm beats all others with probability {status.condorcet_exists:.2f}."
        )
    else:
        words = status.parts_words()
        exists = f"{words[0].upper()}{words[1:]}."
    note = (
        f"Score: {status.score}; intervals hold {probability:.0%}. Condorcet, Copeland "
        "and Borda: posterior probability to beat all others, that no arm beats more "
        "others, and to have the largest mean probability of winning. "
        f"{exists}"
    )
    doubts = "".join(
        f"<p><strong>Doubtful:</strong> {escape(each)}.</p>" for each in status.doubts
    )
    return doubts + _table(heads, rows, numbers=True) + f'<p class="small">{note}</p>'


def _figures(state: StudyState, probability: float) -> list[str]:
    from bayesduel import plots

    posterior = fit_votes(state, _DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS)
    scores = plots.forest(posterior, probability=probability)
    if state.is_of_sets:
        return [_image(scores, "scores of the arms")]
    return [
        _image(scores, "scores of the arms"),
        "<h2>Who met whom</h2>",
        _image(plots.heat_map(posterior), "probabilities and votes of all pairs"),
    ]


def _image(figure: Figure, words: str) -> str:
    # As an image a figure can hold no script, and its names clash with no other's.
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<p><img alt="{escape(words)}" src="data:image/svg+xml;base64,{data}"></p>'


def _contexts(state: StudyState) -> str:
    if not state.settings.contexts:
        return ""
    table = context_table(state)
    rows = [
        [*map(escape, (line.context[:200], *line.cells().values()))]
        for line in table.lines
    ]
    heads = ["context", *table.lines[0].cells()]
    words = table.words()
    return (
        f"<h2>By context</h2>\n<p>{escape(words[0].upper() + words[1:])}.</p>\n"
        f"{_table(heads, rows, numbers=True)}"
    )


def _judges(status: StudyStatus) -> str:
    lines = status.judges.lines
    if not lines:
        return ""
    heads = ["judge", *lines[0].cells()]
    rows = [[escape(line.name), *line.cells().values()] for line in lines]
    notes = "".join(
        f"<p>{escape(text[0].upper() + text[1:])}.</p>"
        for text in status.judges.words(status.leader, status.stopping)
    )
    return (
        f"<h2>Who answered</h2>\n{_table(heads, rows, numbers=True)}{notes}"
        f'<p class="small">{escape(status.judges.heads_words())}</p>'
    )


def _small_print(status: StudyStatus) -> str:
    return (
        f'<p class="small">{escape("; ".join(status.remarks()))}; model: '
        f"{escape(status.model)}. {status.restarts} times the policy began anew from "
        f"the votes. bayesduel {escape(__version__)}.</p>"
    )


def _table(
    heads: Iterable[str], rows: Iterable[Sequence[str]], *, numbers: bool = False
) -> str:
    """Return a table of cells that are HTML; all but the first may be numbers."""

    def line(cells: Iterable[str], tag: str) -> str:
        return "".join(
            f'<{tag} class="number">{cell}</{tag}>'
            if numbers and place
            else f"<{tag}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>\n" for row in rows)
    table = f"<table>\n<tr>{line(heads, 'th')}</tr>\n{body}</table>"
    return f'<div class="wide">{table}</div>'
