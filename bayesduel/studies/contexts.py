"""Contexts of questions, such as prompts: which one is next, and who wins in which."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.arguments.control_characters import refuse_control_characters
from bayesduel.errors import StudyError
from bayesduel.studies.fits import LOOK, fit_votes, num_votes_in, standings_of, votes_of
from bayesduel.studies.state import Question, StudyState
from bayesduel.votes.tables import Table


@dataclass(frozen=True)
class ContextLine:
    """Counts and standings of one context.

    Attributes
    ----------
    context : str
    votes : int
        Asked for in it, between arms that are not retired.
    leader : str or None
        Arm with the largest score by these votes alone; None until they connect all
        arms.
    probability : float or None
        Posterior probability that no arm beats more others there, for the leader.
    """

    context: str
    votes: int
    leader: str | None
    probability: float | None

    def cells(self) -> dict[str, str]:
        """Return what tables show of a context, by header."""
        share = "-" if self.probability is None else f"{self.probability:.3f}"
        return {
            "votes": str(self.votes), "leads": self.leader or "-", "Copeland": share,
        }  # fmt: skip


@dataclass(frozen=True)
class ContextTable:
    """Which arm wins in which context; returned by ``Study.by_context``.

    Attributes
    ----------
    lines : tuple of ContextLine
        In the order of the pool.
    leads : dict of str to int
        By arm, in how many contexts it leads; the most first.
    mean_scores : dict of str to float
        By arm, the mean of its scores in the contexts whose votes connect all arms,
        each with the same weight; the largest first, empty where there is none.
    """

    lines: tuple[ContextLine, ...]
    leads: dict[str, int]
    mean_scores: dict[str, float]

    @property
    def leader(self) -> str | None:
        """The arm with the largest mean score over contexts."""
        return next(iter(self.mean_scores), None)

    def words(self) -> str:
        """Return in words who wins over all contexts.

        Examples
        --------
        >>> ContextTable((), {"tea": 2}, {"tea": 0.6}).words()
        'over contexts of equal weight tea leads (mean score 0.600); leads in: tea 2'
        """
        if self.leader is None:
            return "no context has votes that connect all arms yet"
        leads = ", ".join(f"{arm} {number}" for arm, number in self.leads.items())
        return (
            f"over contexts of equal weight {self.leader} leads (mean score "
            f"{self.mean_scores[self.leader]:.3f}); leads in: {leads}"
        )


def context_table(state: StudyState) -> ContextTable:
    """Fit the votes of each context of the pool by themselves."""
    units: dict[str, list[Question]] = {text: [] for text in state.settings.contexts}
    for unit in state.questions.values():
        known = isinstance(unit.context, str) and unit.context in units
        if known and unit.twin_of is None and state.is_vote(unit):
            units[unit.context].append(unit)
    lines, scores = [], []
    for context, votes in units.items():
        data = votes_of(state, votes)
        number = num_votes_in(data)
        if not number:
            lines.append(ContextLine(context, 0, None, None))
            continue
        rows, words = standings_of(fit_votes(state, *LOOK, votes=data), 0.9)
        if words["parts"] > 1:
            lines.append(ContextLine(context, number, None, None))
            continue
        lines.append(ContextLine(context, number, rows[0].arm, rows[0].copeland))
        scores.append({row.arm: float(row.score or 0.0) for row in rows})
    leads = Counter(line.leader for line in lines if line.leader is not None)
    arms = scores[0] if scores else ()
    means = {arm: float(np.mean([row[arm] for row in scores])) for arm in arms}
    means = dict(sorted(means.items(), key=lambda item: -item[1]))
    return ContextTable(tuple(lines), dict(leads.most_common()), means)


class Items:
    r"""The text of each arm in each context, such as answers of models to prompts.

    Parameters
    ----------
    path : path
        A table as CSV, TSV, JSON lines or Parquet, with a row per item: its ``arm``,
        its ``context`` and its ``text``. Without a column ``context`` an arm shows the
        same in all of them.

    Raises
    ------
    StudyError
        If a column or a cell is missing, or an item is there twice.
    OSError, ComparisonDataError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "items.csv")
    ...     _ = path.write_text("arm,context,text\nsmall,2+2?,4\nlarge,2+2?,four\n")
    ...     items = Items(path)
    >>> items.arms, items.contexts, items.text("large", "2+2?")
    (('small', 'large'), ('2+2?',), 'four')
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        table = Table(path, missing="keep")
        for title in ("arm", "text"):
            if title not in table.titles:
                rule = f"must have a column {title!r}"
                raise StudyError("items", rule, table.titles)
        has_contexts = "context" in table.titles
        contexts = [None] * len(table.rows)
        if has_contexts:
            contexts = table.texts("context").tolist()
        self._texts: dict[tuple[str, str | None], str] = {}
        columns = table.texts("arm").tolist(), contexts, table.texts("text").tolist()
        rows = zip(*columns, strict=True)
        for row, (arm, context, text) in enumerate(rows):
            if not arm or context == "":
                rule = "must name an arm, and a context where there is such a column"
                raise StudyError("items", rule, (arm, context), index=row)
            for name, lines in ((arm, False), (context, True)):
                refuse_control_characters(
                    name, "items", StudyError, index=row, lines=lines
                )
            if (arm, context) in self._texts:
                rule = "must be there once"
                raise StudyError("items", rule, (arm, context), index=row)
            self._texts[arm, context] = text
        self.arms = tuple(dict.fromkeys(arm for arm, _ in self._texts))
        """In the order of the file."""
        self.contexts = tuple(
            dict.fromkeys(context for _, context in self._texts if context is not None)
        )
        """In the order of the file; none where there is no such column."""
        for arm in self.arms:
            for context in self.contexts:
                if (arm, context) not in self._texts:
                    rule = "must have a text for each arm in each context"
                    raise StudyError("items", rule, (arm, context))

    def text(self, arm: str, context: Any) -> str | None:
        """Return what an arm shows in a context, None where nothing is known."""
        known = context if isinstance(context, str) else None
        return self._texts.get((arm, known if self.contexts else None))
