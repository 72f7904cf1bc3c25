"""A study on one page of HTML that needs no other file."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.plots.posteriors import short_names
from bayesduel.plots.style import FAINT, Look, StyledFigure, font_style, looks, styled
from bayesduel.studies.contexts import context_table
from bayesduel.studies.events import Event
from bayesduel.studies.fits import fit_votes
from bayesduel.studies.state import StudyState
from bayesduel.studies.status import StudyStatus, status_of
from bayesduel.studies.stopping import stopping_of
from bayesduel.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesduel.studies.forecast import Forecast


_PAGE_DRAWS = 1.6e7, 400, 4000
_PAST_DRAWS = 2e6, 200, 2000

_MOST_POINTS = 25  # Votes of the past that are looked at: each look is a fit.

_MOST_LINES = 6
_SMALLEST = 1e-6  # Probabilities of error below it are drawn there.

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
    title = escape(path.stem)
    leader = "nobody yet" if status.leader is None else escape(status.leader)
    budget = "" if status.budget is None else f" of {status.budget}"
    parts = [
        f"<h1>{title}</h1>",
        f"<p>Arms: {len(status.arms)}. Votes: {status.votes}{budget}; imported: "
        f"{status.imported}; ties among both: {status.ties}. Questions skipped: "
        f"{status.skipped}; open: {status.out}. "
        f"In front: <strong>{leader}</strong>.</p>",
        "<h2>May I stop?</h2>",
        *_rules(status, path.name),
        *([] if forecast is None else _forecast(forecast)),
        "<h2>Standings</h2>",
        _standings(status, probability),
        *(_figures(state, history, probability) if history.votes else []),
        *(_contexts(state) if state.settings.contexts else []),
        *(_judges(status) if status.judges.lines else []),
        small_print(
            f"{'; '.join(status.remarks())}; model: {status.model}. {status.restarts} "
            f"times the policy began anew from the votes. bayesduel {__version__}."
        ),
    ]
    return html_page(path.stem, parts)


def html_page(title: str, parts: Iterable[str]) -> str:
    """Return a page of a title and parts of HTML, in the style of all reports."""
    body, title = "\n".join(parts), escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _rules(status: StudyStatus, path: str) -> list[str]:
    heads = "rule", "says", "needs", "has", "false stops in simulations", "meaning"
    rows = [
        (line.rule, line.says(), *line.amounts(), status.measured_words(line),
         line.meaning)
        for line in status.stopping
    ]  # fmt: skip
    return [
        html_table(heads, rows, numbers=False),
        *map(small_print, status.audit_words(path)),
    ]


def _forecast(forecast: Forecast) -> list[str]:
    rows = [
        (line.rule, forecast.words(line),
         "" if line.within_budget is None else f"{line.within_budget:.0%}")
        for line in forecast.lines
    ]  # fmt: skip
    heads = "rule", "votes still needed", "within the budget"
    note = (
        f"{forecast.num_runs} studies that go on from here were simulated, with "
        f"{forecast.most_votes:,} votes more at most"
    )
    note = "; ".join([note, *forecast.remarks])
    table = html_table(heads, rows, numbers=False)
    return ["<h2>How many more?</h2>", table, small_print(f"{note}.")]


def _standings(status: StudyStatus, probability: float) -> str:
    cells = [{"arm": row.arm, **row.cells()} for row in status.standings]
    heads = [head for head in cells[0] if head != "part" or status.parts > 1]
    rows = [[row[head] for head in heads] for row in cells]
    if status.condorcet_exists is None:
        exists = _sentence(status.parts_words())
    else:
        exists = (
            f"Some arm beats all others with probability {status.condorcet_exists:.2f}."
        )
    doubts = "".join(
        f"<p><strong>Doubtful:</strong> {escape(doubt)}.</p>" for doubt in status.doubts
    )
    note = small_print(
        f"Score: {status.score}; intervals hold {probability:.0%}. Condorcet, Copeland "
        "and Borda: posterior probability to beat all others, that no arm beats more "
        f"others, and to have the largest mean probability of winning. {exists}"
    )
    return doubts + html_table(heads, rows) + note


def _figures(state: StudyState, history: History, probability: float) -> list[str]:
    from bayesduel import plots

    posterior, delta = fit_votes(state, *_PAGE_DRAWS), state.settings.delta
    scores = plots.forest(posterior, probability=probability)
    parts = [html_image(scores, "scores of the arms")]
    if not state.is_of_sets:
        pairs = plots.heat_map(posterior)
        parts += ["<h2>Who met whom</h2>"]
        parts += [html_image(pairs, "probabilities and votes of all pairs")]
    words = "probability of being the best, and of an error, over the votes"
    note = "Below: the error probabilities by which the rules decide; the gray line is "
    return [
        *parts,
        "<h2>Over the votes</h2>",
        html_image(draw_history(history, delta), words),
        small_print(f"{note}{delta:g}."),
    ]


def _contexts(state: StudyState) -> list[str]:
    table = context_table(state)
    rows = [(line.context[:200], *line.cells().values()) for line in table.lines]
    heads = ["context", *table.lines[0].cells()]
    words = f"<p>{escape(_sentence(table.words()))}</p>"
    return ["<h2>By context</h2>", words, html_table(heads, rows)]


def _judges(status: StudyStatus) -> list[str]:
    judges = status.judges
    heads = ["judge", *judges.lines[0].cells()]
    rows = [(line.name, *line.cells().values()) for line in judges.lines]
    return [
        "<h2>Who answered</h2>",
        html_table(heads, rows),
        *(f"<p>{escape(_sentence(text))}</p>"
          for text in judges.words(status.leader, status.stopping)),
        small_print(judges.heads_words()),
    ]  # fmt: skip


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def small_print(text: str) -> str:
    """Return a paragraph in small letters."""
    return f'<p class="small">{escape(text)}</p>'


def html_image(figure: Figure, words: str) -> str:
    """Return a figure with what it shows in words."""
    # As an image a figure can hold no script, and its names clash with no other's.
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<p><img alt="{escape(words)}" src="data:image/svg+xml;base64,{data}"></p>'


def html_table(
    heads: Iterable[str], rows: Iterable[Iterable[str]], *, numbers: bool = True
) -> str:
    """Return a table; with ``numbers`` all columns but the first are of numbers."""
    lines = [("th", heads), *(("td", row) for row in rows)]
    body = ""
    for tag, cells in lines:
        for column, cell in enumerate(cells):
            kind = ' class="number"' if numbers and column else ""
            body += f"{'' if column else '<tr>'}<{tag}{kind}>{escape(cell)}</{tag}>"
        body += "</tr>\n"
    return f'<div class="wide"><table>\n{body}</table></div>'


# How certain it was after so many votes


class History(NamedTuple):
    """After each number of votes, shares of wins by arm and errors by rule."""

    votes: list[int]
    shares: dict[str, list[float]]
    errors: dict[str, list[float]]


def history_of(events: Sequence[Event]) -> tuple[StudyState, History]:
    """Replay a study, looking at up to 25 evenly spaced votes; return its end too."""
    answers = [at for at, event in enumerate(events) if event.kind == "answered"]
    chosen = np.linspace(0, len(answers) - 1, min(_MOST_POINTS, len(answers)))
    looked = {answers[int(round(at))] for at in chosen} | {len(events) - 1}
    state = StudyState.begin(events[0])
    history = History([], {}, {})
    for at, event in enumerate(events):
        if at:
            state.apply(event)
        if at in looked and state.num_all:
            _look(state, history)
    for values in history.shares.values():
        values += [math.nan] * (len(history.votes) - len(values))
    return state, history


def _look(state: StudyState, history: History) -> None:
    posterior = fit_votes(state, *_PAST_DRAWS)
    before = len(history.votes)
    history.votes.append(state.num_all)
    shares = posterior.winner_shares()["copeland"]
    if len(posterior.parts) > 1:
        # Each part has a best arm of its own, which is another question.
        shares = np.full(len(shares), math.nan)
    for name, share in zip(posterior.arm_names, shares.tolist(), strict=True):
        values = history.shares.setdefault(name, [])
        values += [math.nan] * (before - len(values)) + [share]
    for line in stopping_of(state, posterior):
        if line.is_error:
            error = min(1.0, math.exp(-line.evidence))
            history.errors.setdefault(line.rule, []).append(error)


def draw_history(history: History, delta: float) -> StyledFigure:
    """Draw the probability of being the best, and of an error, over the votes."""
    last = {name: np.nan_to_num(values[-1]) for name, values in history.shares.items()}
    names = sorted(last, key=lambda name: -last[name])[:_MOST_LINES]
    labels = dict(zip(names, short_names(names), strict=True))
    style = font_style(7.0)
    with styled(style):
        figure = StyledFigure(style=style, figsize=(7.0, 5.2), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for name, look in looks(names).items():
            _draw(upper, history.votes, history.shares[name], look, labels[name])
        upper.set_ylim(-0.03, 1.03)
        upper.set_ylabel("P(no arm beats more others)")
        upper.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        for rule, look in looks(history.errors).items():
            values = np.maximum(history.errors[rule], _SMALLEST)
            _draw(lower, history.votes, values, look, rule)
        lower.axhline(delta, color=FAINT, linewidth=0.8)
        lower.set_yscale("log")
        lowest = min(min(values) for values in history.errors.values())
        lower.set_ylim(max(_SMALLEST, min(delta, lowest)) / 3, 2.0)
        lower.set_ylabel("error, if one stops now")
        lower.set_xlabel("votes")
        lower.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _draw(axes: Axes, votes: Any, values: Any, look: Look, label: str) -> None:
    axes.plot(votes, values, look.marker, linestyle=look.line, color=look.color,
              label=label)  # fmt: skip
