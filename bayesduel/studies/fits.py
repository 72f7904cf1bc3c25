"""The posterior of the votes of a study under its model, and who stands where."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import DisconnectedComparisonsWarning
from bayesduel.studies.events import VoteRow
from bayesduel.studies.state import Question, StudyState
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons

if TYPE_CHECKING:
    from bayesduel.models.fit.fit_result import Fit


_CHAINS = 4

LOOK = 6e6, 200, 4000  # Draws of :func:`fit_votes` for a look at a study.
MANY = 200  # Arms; of more, draws of all pairs take longer than one waits for a look.

_NOBODY = "(not said)"


def votes_of(
    state: StudyState,
    only: Iterable[Question] | None = None,
    *,
    without: Collection[Question] = (),
) -> Comparisons | Choices:
    """Return all votes between arms that are not retired."""
    if state.is_of_sets:
        gone = {unit.number for unit in without}
        units = state.questions.values() if only is None else only
        rows = [
            row
            for unit in units
            if unit.number not in gone and state.is_vote(unit)
            for row in state.rows_of(unit)
        ]
        if only is None:
            rows += [row for votes in state.imports.values() for row in votes.rows]
        return _choices(state, rows)
    wins, ties = state.wins, state.ties
    if only is not None:
        wins, ties = np.zeros_like(wins), np.zeros_like(ties)
    elif without:
        wins, ties = wins.copy(), ties.copy()
    for unit in without if only is None else only:
        (((first, second), (for_first, for_second, tied), *_),) = state.rows_of(unit)
        change = -1 if only is None else 1
        wins[first, second] += change * for_first
        wins[second, first] += change * for_second
        ties[[first, second], [second, first]] += change * tied
    both = np.ix_(state.active, state.active)
    return Comparisons.from_wins(
        wins[both], ties=ties[both], arm_names=state.active_names
    )


def _choices(state: StudyState, rows: Iterable[VoteRow]) -> Choices:
    # Choices among arms that are not retired. What is chosen of a part of a set has the
    # same probabilities as if that part had been shown.
    arms = state.active
    column = {arm: at for at, arm in enumerate(arms)}
    counts: dict[tuple[tuple[int, ...], bool], Counter[int]] = {}
    for row in rows:
        shown = tuple(sorted(column[arm] for arm in row.arms if arm in column))
        both = zip(row.arms, row.counts, strict=True)
        best = {column[arm]: count for arm, count in both if arm in column and count}
        if best and len(shown) > 1:
            counts.setdefault((shown, row.worst), Counter()).update(best)
    if not counts:  # A table needs a row, if of no choice.
        counts[tuple(column.values()), False] = Counter()
    offered, chosen = np.zeros((2, len(counts), len(arms)))
    for row, ((shown, _), best) in enumerate(counts.items()):
        offered[row, [*shown]] = 1
        chosen[row, [*best]] = [*best.values()]
    worst = [last for _, last in counts]
    return Choices.from_counts(
        offered, chosen, arm_names=state.active_names, worst=worst
    )


def num_votes_in(data: Comparisons | Choices) -> int:
    """Count votes: who names the best and the worst of a set gives one."""
    counts = data.counts
    if isinstance(data, Choices) and data.worst is not None:
        counts = counts[~data.worst]
    return int(counts.sum())


def judged_votes(state: StudyState) -> Comparisons:
    """Return the votes that were asked for, with judge, context and order shown."""
    position = {arm: at for at, arm in enumerate(state.active)}
    votes = [
        unit
        for unit in state.questions.values()
        if state.is_vote(unit) and {*unit.arms} <= set(position)
    ]
    columns = {"judge": [unit.voter or _NOBODY for unit in votes]}
    if any(unit.context is not None for unit in votes):
        columns["context"] = [
            _NOBODY
            if unit.context in (None, "")
            else unit.context
            if isinstance(unit.context, str)
            else json.dumps(unit.context)
            for unit in votes
        ]
    return Comparisons.from_rows(
        state.active_names,
        [position[unit.left] for unit in votes],
        [position[unit.right] for unit in votes],
        np.array([state.rows_of(unit)[0].counts for unit in votes]).reshape(-1, 3),
        order_known=True,
        columns=columns,
    )


def fit_votes(
    state: StudyState,
    numbers: float,
    least: int,
    most: int,
    *,
    votes: Comparisons | Choices | None = None,
    **options: Any,
) -> Fit:
    """Fit the model of the study, with as many draws as make that many numbers."""
    # A question of a policy of counts needs none of it, and comes sooner without.
    from bayesduel.models.fit.fitting import fit

    if votes is None:
        votes = votes_of(state)
    draws = int(np.clip(numbers / votes.num_arms**2, least, most)) // _CHAINS
    model = state.model
    if isinstance(votes, Comparisons):
        model = replace(model, ties=votes.has_ties)  # pyright: ignore
    with warnings.catch_warnings():
        # In the beginning no arm has been compared.
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        return fit(
            model, votes, method=model.methods[0], rng_key=state.settings.seed,
            num_chains=_CHAINS, num_draws=draws, **options,
        )  # fmt: skip


def leader_of(posterior: Fit) -> str | None:
    """Return the arm with the largest score, None until votes connect all arms."""
    from bayesduel.models.fit.winners import ordering_scores

    if len(posterior.parts) > 1:
        return None
    # As standings have it, without their ranks, which take most of the time.
    _, scores = ordering_scores(posterior)
    return posterior.arm_names[int(np.argmax(scores.mean(axis=0)))]


@dataclass(frozen=True)
class Standing:
    """The standing of one arm. The first arm of a status has the best score.

    Attributes
    ----------
    arm : str
    part : int
        Of the arms that votes connect, from 1, the largest first. What follows is among
        the arms of the same part, and None for an arm that is alone there.
    rank_lower, rank_upper : int or None
        Interval of its rank; 1 is the best.
    score, score_lower, score_upper : float or None
        What ``StudyStatus.score`` says, with its interval.
    condorcet, copeland, borda : float or None
        Posterior probability that it beats all others; that no arm beats more others;
        that it has the largest mean probability of winning.
    votes, won, lost, tied : int
        In which it took part.
    """

    arm: str
    part: int
    rank_lower: int | None
    rank_upper: int | None
    score: float | None
    score_lower: float | None
    score_upper: float | None
    condorcet: float | None
    copeland: float | None
    borda: float | None
    votes: int
    won: int
    lost: int
    tied: int

    def cells(self) -> dict[str, str]:
        """Return what tables show of an arm, by header; "-" where nothing is known."""
        low, high = self.rank_lower, self.rank_upper
        rank = "-" if low is None else str(low) if low == high else f"{low}-{high}"

        def cell(value: float | None, digits: str) -> str:
            return "-" if value is None else format(value, digits)

        ends = [cell(end, "z.3f") for end in (self.score_lower, self.score_upper)]
        return {
            "part": str(self.part),
            "rank": rank,
            "score": cell(self.score, "z.3f"),
            "interval": "-" if self.score is None else " to ".join(ends),
            "Condorcet": cell(self.condorcet, ".3f"),
            "Copeland": cell(self.copeland, ".3f"),
            "Borda": cell(self.borda, ".3f"),
            "votes": str(self.votes),
            "won": str(self.won),
            "lost": str(self.lost),
            "tied": str(self.tied),
        }


def standings_of(
    posterior: Fit, probability: float, *, full: bool = True
) -> tuple[tuple[Standing, ...], dict[str, Any]]:
    """Return the arms, the best first, and what the numbers mean, as a fit has it."""
    from bayesduel.models.fit.tables import standing_columns

    if full:
        names, columns, words = standing_columns(posterior, probability)
        shares = posterior.winner_shares()
    else:
        names, columns, words = _columns_by_moments(posterior, probability)
        unknown = np.full(posterior.num_arms, np.nan)
        columns |= {"rank_lower": unknown, "rank_upper": unknown}
        shares = dict.fromkeys(("condorcet", "copeland", "borda"), unknown)
    if isinstance(posterior.data, Choices):
        columns |= _counts_of(posterior.data, names)
    for ours, theirs in _COUNTS.items():
        columns[ours] = columns[theirs]
    arms = [posterior.arm_names.index(name) for name in names]
    columns |= {name: values[arms] for name, values in shares.items()}
    rows = []
    for row, name in enumerate(names):
        cells: dict[str, Any] = {"arm": name}
        for field in fields(Standing)[1:]:
            value = columns[field.name][row]
            number = float if field.type == "float | None" else int
            cells[field.name] = None if math.isnan(value) else number(value)
        rows.append(Standing(**cells))
    return tuple(rows), words


_COUNTS = {"votes": "comparisons", "won": "wins", "lost": "losses", "tied": "ties"}


def _counts_of(choices: Choices, names: list[str]) -> dict[str, np.ndarray]:
    # In how many choices each arm stood, was the best one, and was not. Where the worst
    # is named, how often it was that, and not how often it was not best.
    places = [choices.arm_names.index(name) for name in names]
    worst = np.zeros(len(choices.counts), dtype=bool)
    if choices.worst is not None:
        worst = choices.worst
    stood = choices.counts[~worst].sum(axis=1) @ choices.offered[~worst]
    best, last = (choices.counts[rows].sum(axis=0)[:-1] for rows in (~worst, worst))
    lost = last if worst.any() else stood - best
    columns = {"comparisons": stood, "wins": best, "losses": lost, "ties": 0.0 * best}
    return {name: values[places] for name, values in columns.items()}


def _columns_by_moments(
    posterior: Fit, probability: float
) -> tuple[list[str], dict[str, np.ndarray], dict[str, Any]]:
    # Scores under one Beta distribution per pair, without a draw: the mean of an arm's
    # pairs within its part, exactly; its interval as that of the normal distribution
    # with the same variance, as it is a mean of many independent quantities.
    from scipy.special import ndtri

    from bayesduel.models.fit.tables import votes_of_arms

    pairs, number = posterior.extras["posterior"], posterior.num_arms
    a, b = np.zeros((2, number, number))
    upper = np.triu_indices(number, 1)
    a[upper], b[upper] = pairs.for_first, pairs.for_second
    a, b = a + b.T, b + a.T
    near = posterior.part_of[:, None] == posterior.part_of
    np.fill_diagonal(near, False)
    others = near.sum(axis=1)
    total = np.where(near, a + b, 1.0)
    with np.errstate(invalid="ignore"):  # An arm that is alone has no score.
        mean = np.sum(a / total, axis=1, where=near) / others
        variance = np.sum(a * b / total**2 / (total + 1.0), axis=1, where=near)
        half = ndtri((1.0 + probability) / 2.0) * np.sqrt(variance) / others
    columns = {
        "part": posterior.part_of + 1,
        "score": mean,
        "score_lower": np.maximum(mean - half, 0.0),
        "score_upper": np.minimum(mean + half, 1.0),
        **votes_of_arms(posterior.data),
    }
    places = np.lexsort((-mean, posterior.part_of))
    names = [posterior.arm_names[arm] for arm in places]
    words = {
        "score": "probability of beating another arm",
        "parts": len(posterior.parts),
        "condorcet_exists": math.nan,
    }
    return names, {name: values[places] for name, values in columns.items()}, words
