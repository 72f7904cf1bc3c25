"""Checks of a finished leaderboard, one function each."""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import stats
from scipy.special import expit, ndtri

from bayesduel.audits.fewest_votes import (
    FewestVotes,
    Scale,
    fewest_of_copeland,
    fewest_of_wins,
    fewest_on_scale,
)
from bayesduel.diagnostics import report
from bayesduel.errors import DisconnectedComparisonsWarning
from bayesduel.inference import Fit, fit
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.checks.fit_report import Finding
from bayesduel.models.fit.draws import generator_of
from bayesduel.studies.judges import Said, alpha_of
from bayesduel.votes.checks import shortened
from bayesduel.votes.comparisons import Comparisons
from bayesduel.votes.pairs import is_own_mirror

type Verdict = Literal["ok", "warning", "cannot be checked"]

LEAST_VOTES = 30  # Votes of an arm from which the normal distribution is near enough.
LEAST_CLUSTERS = 10  # Judges, or prompts, from which errors are clustered by them.
# Share of the votes that has to be removed at least to unseat the leader.
LEAST_REMOVED = 0.01
# Share of the votes that one judge casts at most; with few judges twice the even.
LARGEST_SHARE = 0.25
# Share of votes that repeat another one, beyond chance, from which that matters.
LEAST_REPEATS = 0.01
POWER = 0.8  # Probability with which the further votes settle a comparison.

_DRAWS = 10_000
_PERMUTATIONS = 199
_MOST_SHUFFLED = 10**7
_BLOCK = 2**22
_MOST_ENTRIES = 2 * 10**8
_MOST_REFITS = 100  # Judges who are left out in turn: those with the most influence.
# Standard deviation of utilities in the test of a drift: it shrinks nothing.
_WIDE = 10.0
_MOST_MORE = 10**6  # Further votes on one pair beyond which two arms count as alike.


@dataclass(frozen=True)
class Check:
    """One thing that an audit looks at.

    Attributes
    ----------
    name : str
    verdict : {"ok", "warning", "cannot be checked"}
    threshold : str
        When it warns.
    evidence : str
        What the votes say; where nothing can be checked, the reason.
    remedy : str
        How to mend it; empty unless it warns.
    p_value : float or None
        Of a test; None where the check is none.
    """

    name: str
    verdict: Verdict
    threshold: str
    evidence: str
    remedy: str = ""
    p_value: float | None = None

    def __str__(self) -> str:
        mark = {"ok": "ok     ", "warning": "WARNING"}.get(self.verdict, "-      ")
        advice = f" To do: {self.remedy}." if self.remedy else ""
        return f"{mark}  {self.name}: {self.evidence}.{advice}"


@dataclass(frozen=True)
class MoreVotes:
    """How many more votes on a pair would settle which of two neighbors is better.

    Attributes
    ----------
    better, worse : str
        The two arms, as they stand now.
    gap : float
        Difference of their utilities.
    votes : int or None
        Further votes on this pair alone after which its simultaneous interval leaves
        out 0 with a probability of 80 %, if the difference is as large as it looks now.
        None where that takes more than a million, so that they are as good as alike, or
        where no votes connect the two.
    """

    better: str
    worse: str
    gap: float
    votes: int | None

    def __str__(self) -> str:
        number = "no number of" if self.votes is None else f"{self.votes:,}"
        return f"{self.better} and {self.worse}: {number} votes"


@dataclass(frozen=True, eq=False)
class Board:
    """The votes and the fitted model, which all checks share."""

    data: Comparisons
    level: float
    seed: int
    cluster: str | None
    time: str | None

    @cached_property
    def pairs(self) -> Comparisons:
        """The votes per pair, in no order."""
        return self.data.without_columns().without_order().without_empty_pairs()

    @cached_property
    def parts(self) -> list[list[str]]:
        """The arms that votes connect."""
        return self.pairs.parts()

    @cached_property
    def scale(self) -> Scale:
        """Bradley and Terry's model of the votes per pair."""
        return Scale(self.model, self.pairs)

    @cached_property
    def model(self) -> BradleyTerry:
        """The model that is fitted."""
        return BradleyTerry(zero_sum=True, ties=self.data.has_ties)

    @cached_property
    def posterior(self) -> Fit:
        """The fit of the votes, with their judges and their order."""
        with warnings.catch_warnings():
            # Connectivity has a check.
            warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
            votes = self.data.without_columns(("judge", "neutral"))
            return fit(self.model, votes, method="laplace", rng_key=self.seed)

    @cached_property
    def findings(self) -> dict[str, Finding]:
        """The tests of the votes in :func:`bayesduel.diagnostics.report`, by name."""
        findings = report(self.posterior, with_loo=False).findings
        return {finding.name: finding for finding in findings}

    @cached_property
    def utilities(self) -> Float[np.ndarray, " K"]:
        """Utilities at the mode."""
        return self.scale.utilities(self.scale.mode)

    @cached_property
    def order(self) -> Int[np.ndarray, " K"]:
        """The arms, the best one first."""
        return np.argsort(-self.utilities, kind="stable")

    @cached_property
    def clusters(self) -> tuple[str, int] | None:
        """The column by which errors are clustered, and the number of its labels."""
        names = ["judge", "context"] if self.cluster is None else [self.cluster]
        voted = self.data.counts.sum(axis=1) > 0
        for name in names:
            if name in self.data.columns:
                number = len(np.unique(self.data.columns[name][voted]))
                if number >= (LEAST_CLUSTERS if self.cluster is None else 2):
                    return name, number
        return None

    @cached_property
    def separation(self) -> Separation:
        """Intervals of all differences, by the distribution of the largest."""
        # From the quantile of the largest studentized difference all intervals hold at
        # once (max-t; Hothorn, Bretz and Westfall 2008), and so do the ranks that they
        # leave open (Mogstad, Romano, Shaikh and Wilhelm 2024). With G clusters draws
        # have Student's distribution with G - 1 degrees of freedom, and no error is
        # taken for less than the model's.
        posterior: Any = self.posterior
        by_model = posterior._model_steps()
        steps, clusters = by_model, self.clusters
        if clusters is not None:
            # The same fit; its rows carry the column of the clusters.
            rows = self.data.without_columns((clusters[0], "neutral"))
            steps, _ = replace(posterior, data=rows)._clustered_steps(clusters[0])
        number = self.data.num_arms
        plain, shifts = self.scale.utilities(by_model), self.scale.utilities(steps)
        first, second = np.triu_indices(number, 1)
        part = posterior.part_of
        linked = part[first] == part[second]
        first, second = first[linked], second[linked]

        def errors_of(shifts: np.ndarray) -> np.ndarray:
            shared = shifts.T @ shifts
            sizes = np.diagonal(shared)
            return np.sqrt(np.maximum(sizes[:, None] + sizes - 2.0 * shared, 0.0))

        tiny = 1e-12
        errors, least = errors_of(shifts), errors_of(plain)
        rng = generator_of(self.seed)
        draws = int(np.clip(_MOST_ENTRIES // max(1, len(first)), 1000, _DRAWS))
        largest, size = [], max(1, _BLOCK // max(1, len(first)))
        for start in range(0, draws, size):
            count = min(size, draws - start)
            normal = rng.standard_normal((count, len(shifts))) @ shifts
            if clusters is not None:
                freedom = clusters[1] - 1
                normal *= np.sqrt(freedom / rng.chisquare(freedom, count))[:, None]
            apart = np.abs(normal[:, first] - normal[:, second])
            # Without a pair that votes connect, there is nothing to tell apart.
            scaled = apart / np.maximum(errors[first, second], tiny)
            largest.append(scaled.max(axis=1, initial=0.0))
        critical = float(np.quantile(np.concatenate(largest), 1.0 - self.level))
        gaps = self.utilities[:, None] - self.utilities
        near = part[:, None] == part
        errors = np.maximum(errors, least)
        return Separation(
            errors,
            critical,
            (gaps > critical * errors) & near & ~np.eye(number, dtype=bool),
            np.square(errors / np.maximum(least, tiny)),
        )

    @cached_property
    def fewest(self) -> tuple[FewestVotes, ...]:
        """The fewest votes that unseat the leader, score by score."""
        if not self.data.is_whole:
            return ()
        on_scale = (fewest_on_scale(self.scale),) if len(self.parts) == 1 else ()
        return *on_scale, fewest_of_copeland(self.pairs), fewest_of_wins(self.pairs)

    @cached_property
    def without_judges(self) -> list[tuple[str, float, str, float]]:
        """Judge, votes, leader and lead without single judges, the worst lead first."""
        # With many judges, only those with most influence on the lead over the second.
        data, scale = self.data, self.scale
        best, second = map(int, self.order[:2])
        turned = data.first > data.second
        codes = self.pairs.first * data.num_arms + self.pairs.second
        low, high = (
            np.minimum(data.first, data.second),
            np.maximum(data.first, data.second),
        )
        counts = np.where(turned[:, None], data.counts[:, [1, 0, 2]], data.counts)
        counts = counts[:, : scale.counts.shape[1]]
        voted = counts.sum(axis=1) > 0
        counts, judges = counts[voted], data.columns["judge"][voted]
        rows = np.searchsorted(codes, (low * data.num_arms + high)[voted])
        effects = next(scale.effects(scale.mode, scale.counts, best, [second]))
        influence = np.bincount(
            judges, (effects[rows] * counts).sum(axis=1), len(data.labels["judge"])
        )
        chosen = np.argsort(-influence, kind="stable")[:_MOST_REFITS]
        tables = np.repeat(scale.counts[None], len(chosen), axis=0)
        for table, judge in zip(tables, chosen.tolist(), strict=True):
            theirs = judges == judge
            np.subtract.at(table, rows[theirs], counts[theirs])
        utilities = scale.utilities(scale.modes(np.maximum(tables, 0.0)))
        others = np.delete(utilities, best, axis=1).max(axis=1)
        leads = utilities[:, best] - others
        votes = _votes_of_judges(self)
        lines = [
            (
                data.labels["judge"][judge],
                float(votes[judge]),
                data.arm_names[leader],
                float(lead),
            )
            for judge, leader, lead in zip(
                chosen.tolist(), utilities.argmax(axis=1).tolist(), leads, strict=True
            )
            if votes[judge] > 0
        ]
        return sorted(lines, key=lambda line: line[3])

    def name(self, rank: int) -> str:
        """Return the arm at a place of the order, from 0."""
        return self.data.arm_names[self.order[rank]]


@dataclass(frozen=True, eq=False)
class Separation:
    """All differences of utilities, with intervals that hold at once."""

    errors: Float[np.ndarray, "K K"]
    critical: float
    is_better: Bool[np.ndarray, "K K"]
    inflation: Float[np.ndarray, "K K"]

    @property
    def lowest_ranks(self) -> Int[np.ndarray, " K"]:
        """The best rank that the intervals leave to each arm."""
        return 1 + self.is_better.sum(axis=0)

    @property
    def highest_ranks(self) -> Int[np.ndarray, " K"]:
        """The worst one."""
        return len(self.is_better) - self.is_better.sum(axis=1)


def more_votes(board: Board) -> tuple[MoreVotes, ...]:
    """Return what would settle each pair of neighbors that is open."""
    # After n votes of information w the precision of a difference is 1/v + n w.
    apart, lines = board.separation, []
    for better, worse in zip(board.order[:-1], board.order[1:], strict=True):
        if apart.is_better[better, worse]:
            continue
        names = board.data.arm_names[better], board.data.arm_names[worse]
        gap = float(board.utilities[better] - board.utilities[worse])
        inflation = float(apart.inflation[better, worse])
        known = inflation / float(apart.errors[better, worse]) ** 2
        # More than the critical number of errors, with the power that is wanted.
        wanted = inflation * (apart.critical + ndtri(POWER)) ** 2
        part = board.posterior.part_of
        needed = None
        if part[better] == part[worse] and gap > 0.0:
            more = board.scale.information_of_vote(int(better), int(worse))
            number = max(1.0, np.ceil((wanted / gap**2 - known) / more))
            needed = int(number) if number <= _MOST_MORE else None
        lines.append(MoreVotes(*names, gap, needed))
    return tuple(lines)


# The checks


def _made(
    name: str, is_good: bool, threshold: str, evidence: str, remedy: str
) -> Check:
    verdict = "ok" if is_good else "warning"
    return Check(name, verdict, threshold, evidence, "" if is_good else remedy)


def _unknown(name: str, threshold: str, why: str) -> Check:
    return Check(name, "cannot be checked", threshold, why.removesuffix("."))


def _tested(
    board: Board, name: str, what: str, p_value: float, evidence: str, remedy: str
) -> Check:
    threshold = f"p at most {board.level:g}: {what}"
    check = _made(name, p_value > board.level, threshold, evidence, remedy)
    return replace(check, p_value=p_value)


def _votes(board: Board) -> Check:
    wins, ties = board.pairs.wins, board.pairs.ties
    number = (wins + wins.T + ties).sum(axis=1)
    few = np.flatnonzero(number < LEAST_VOTES)
    arm = int(np.argmin(number))
    evidence = (
        f"{board.data.num_votes:g} votes on {board.data.num_arms} arms; the fewest on "
        f"{board.data.arm_names[arm]}: {number[arm]:g}"
    )
    remedy = (
        f"ask for more votes on {shortened([board.data.arm_names[i] for i in few])}"
    )
    threshold = f"an arm with fewer than {LEAST_VOTES} votes"
    return _made("votes", not len(few), threshold, evidence, remedy)


def _neighbors(board: Board) -> Check:
    order, apart = board.order, board.separation
    separated = int(apart.is_better[order[:-1], order[1:]].sum())
    number = len(order) - 1
    by = "votes taken for independent"
    if board.clusters is not None:
        by = "errors clustered by {}, of which there are {}".format(*board.clusters)
    elif few := [name for name in ("judge", "context") if name in board.data.columns]:
        by += f", since {few[0]} has fewer than {LEAST_CLUSTERS} labels"
    evidence = f"{separated} of {number} neighbors are told apart at once, at "
    evidence += f"{1 - board.level:.0%} ({by})"
    remedy = "print ranges of ranks, or collect the votes listed under more votes"
    threshold = "fewer than half of the neighbors are told apart"
    return _made("neighbors", 2 * separated >= number, threshold, evidence, remedy)


def _leader(board: Board) -> Check:
    apart, best = board.separation, int(board.order[0])
    others = np.flatnonzero(~apart.is_better[best])
    others = others[others != best]
    second = int(board.order[1])
    gap = float(board.utilities[best] - board.utilities[second])
    half = apart.critical * float(apart.errors[best, second])
    evidence = (
        f"{board.name(0)} leads {board.name(1)} by {gap:.3f} in utility, simultaneous "
        f"interval {gap - half:.3f} to {gap + half:.3f}"
    )
    names = shortened([board.data.arm_names[arm] for arm in others])
    remedy = f"do not call {board.name(0)} better than {names}"
    threshold = "an arm that is not told apart from the leader"
    return _made("leader", not len(others), threshold, evidence, remedy)


def _connectivity(board: Board) -> Check:
    parts, strong = board.parts, board.pairs.strong_parts()
    threshold = "more than one part, or arms that never lost to the others"
    remedy = "ask for votes between the parts"
    if len(parts) > 1:
        sizes = ", ".join(str(len(part)) for part in parts)
        evidence = f"no votes connect {len(parts)} parts, of {sizes} arms"
        return _made("connectivity", False, threshold, evidence, remedy)
    pairs = board.data.num_arms * (board.data.num_arms - 1) // 2
    evidence = f"one part; {len(board.pairs.first)} of {pairs} pairs have votes"
    if len(strong) > 1:
        evidence += (
            f"; {len(strong)} groups of arms never lost to those below, and the prior "
            "alone says how far they are apart"
        )
        remedy = "ask for more votes between these groups"
    return _made("connectivity", len(strong) == 1, threshold, evidence, remedy)


def _of_report(
    board: Board, name: str, finding: Finding, what: str, remedy: str
) -> Check:
    """Return a test of the report on a fit, at the level of the audit."""
    if finding.p_value is not None:
        return _tested(board, name, what, finding.p_value, finding.value, remedy)
    threshold = f"p at most {board.level:g}: {what}"
    reason = finding.value.removeprefix("not tested").removeprefix(": ")
    why = f"{reason}. {finding.words}" if reason else finding.words
    return _unknown(name, threshold, why[0].lower() + why[1:])


def _order_effect(board: Board) -> Check:
    what = "the arm shown first has an advantage (score test)"
    remedy = "fit with order_effect=True (--order-effect)"
    finding = board.findings["order effect"]
    return _of_report(board, "order effect", finding, what, remedy)


def _cycles(board: Board) -> Check:
    what = "more cycles than votes on one scale have (posterior predictive)"
    remedy = "no single scale ranks these arms: see diagnostics.transitivity"
    return _of_report(board, "cycles", board.findings["circles"], what, remedy)


def _judges(board: Board) -> Check:
    """Test whether judges differ, and say how far they agree: Krippendorff's alpha."""
    what = "judges differ by more than noise (posterior predictive)"
    remedy = "look at the votes of this judge, or fit with --judge"
    finding = board.findings["judges"]
    check = _of_report(board, "judges", finding, what, remedy)
    if "judge" not in board.data.labels:
        return check
    alpha, shared = _agreement(board.data)
    words = f"{check.evidence}; "
    if shared:
        words += f"Krippendorff's alpha {alpha:.2f} of {shared} questions with two "
        words += "judges or more"
    else:
        words += "no two judges have judged the same pair and prompt"
    return replace(check, evidence=words)


def _agreement(data: Comparisons) -> tuple[float, int]:
    # Compare what several judges first said about a pair in one context.
    units: dict[tuple[int, ...], dict[str, Said]] = defaultdict(dict)
    context = data.columns.get("context", np.zeros(len(data.first), dtype=np.int64))
    swapped = data.first > data.second
    columns = data.first, data.second, context, data.columns["judge"]
    for row, (first, second, about, judge) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        outcome = int(np.argmax(data.counts[row]))
        named = -1 if outcome == 2 else int((outcome == 1) != bool(swapped[row]))
        unit = units[min(first, second), max(first, second), about]
        unit.setdefault(data.labels["judge"][judge], Said(named, row))
    shared = [unit for unit in units.values() if len(unit) > 1]
    return alpha_of(shared, 2), len(shared)


def _ties(board: Board) -> Check:
    threshold = "another leader where ties are dropped, or split in halves"
    tied = float(board.data.counts[:, 2].sum())
    if not tied:
        return _made("ties", True, threshold, "no vote is a tie", "")
    model = replace(board.model, ties=False)
    names = []
    for votes in (board.pairs.without_ties(), board.pairs.with_split_ties()):
        scale = Scale(model, votes)
        leader = int(scale.utilities(scale.mode).argmax())
        names.append(board.data.arm_names[leader])
    evidence = (
        f"{tied / board.data.num_votes:.1%} of the votes are ties; in front with ties "
        f"modeled: {board.name(0)}, dropped: {names[0]}, split: {names[1]}"
    )
    remedy = "say how ties were counted, and that the leader depends on it"
    is_good = {*names} == {board.name(0)}
    return _made("ties", is_good, threshold, evidence, remedy)


def _votes_of_judges(board: Board) -> Float[np.ndarray, " judge"]:
    data = board.data
    return np.bincount(
        data.columns["judge"], data.counts.sum(axis=1), len(data.labels["judge"])
    )


def _share_of_judges(board: Board) -> Check:
    name = "share of judges"
    threshold = f"one judge with more than {LARGEST_SHARE:.0%} of the votes"
    if "judge" not in board.data.labels:
        return _unknown(name, threshold, "no column says who judged")
    votes = _votes_of_judges(board)
    number, judge = int((votes > 0).sum()), int(np.argmax(votes))
    share = float(votes[judge] / votes.sum())
    most = max(LARGEST_SHARE, 2.0 / number)
    threshold = f"one judge with more than {most:.0%} of the votes"
    label = board.data.labels["judge"][judge]
    evidence = f"{number} judges; the most votes are from {label}: {share:.1%}"
    remedy = f"weight the judges, or ask others than {label}"
    return _made(name, share <= most, threshold, evidence, remedy)


def _single_judges(board: Board) -> Check:
    name, threshold = "single judges", "another leader without the votes of one judge"
    if "judge" not in board.data.labels:
        return _unknown(name, threshold, "no column says who judged")
    if len(board.parts) > 1:
        return _unknown(name, threshold, "no votes connect all arms")
    if int((_votes_of_judges(board) > 0).sum()) < 2:
        return _unknown(name, threshold, "there is one judge")
    judge, votes, leader, lead = board.without_judges[0]
    now = float(board.utilities[board.order[0]] - board.utilities[board.order[1]])
    evidence = (
        f"without the {votes:g} votes of {judge}, who matters most, {leader} leads; "
        f"the lead of {board.name(0)} goes from {now:.3f} to {lead:.3f}"
    )
    remedy = f"say that the first place rests on {judge}, or ask more judges"
    return _made(name, leader == board.name(0), threshold, evidence, remedy)


def _duplicates(board: Board) -> Check:
    """Compare votes that say all the same with those by chance, labels permuted."""
    name, data = "duplicates", board.data
    what = f"more repeated votes than by chance, by {LEAST_REPEATS:.0%} of all votes"
    threshold = f"p at most {board.level:g}: {what}"
    labels = [column for column in data.columns if column not in ("neutral", "context")]
    if not labels:
        why = "no column tells votes apart, such as who judged, or when"
        return _unknown(name, threshold, why)
    if not data.is_whole:
        return _unknown(name, threshold, "weighted votes are no single votes")
    counts = data.counts.astype(np.int64)
    repeats = int(np.maximum(counts - 1, 0).sum())
    _, carried = np.unique(
        np.stack([*data.columns.values()], axis=1), axis=0, return_inverse=True
    )
    answers = (data.first * data.num_arms + data.second)[:, None] * 3 + np.arange(3)
    said = np.repeat(answers.ravel(), counts.ravel())
    who = np.repeat(np.repeat(carried.ravel(), 3), counts.ravel())
    expected, p_value = 0.0, 1.0
    if repeats:
        rng, size = generator_of(board.seed), int(said.max()) + 1
        # With many votes fewer permutations, but as many as the level needs.
        needed = int(np.ceil(1.0 / board.level)) - 1
        number = max(needed, min(_PERMUTATIONS, _MOST_SHUFFLED // len(said)))
        drawn = np.array(
            [
                len(said) - len(np.unique(rng.permutation(who) * size + said))
                for _ in range(number)
            ]
        )
        expected = float(drawn.mean())
        p_value = float((1 + (drawn >= repeats).sum()) / (1 + number))
    # A few more than by chance change nothing, whatever the test says.
    matters = repeats - expected >= LEAST_REPEATS * len(said)
    evidence = f"votes that repeat another one in all of {shortened([*data.columns])}: "
    evidence += f"{repeats}; by chance: {expected:.1f} (p = {p_value:.3f})"
    is_good = p_value > board.level or not matters
    remedy = "drop rows that are there twice"
    check = _made(name, is_good, threshold, evidence, remedy)
    return replace(check, p_value=p_value)


def _mirrored(board: Board) -> Check:
    name, threshold = "mirrored rows", "each row has its mirror image"
    data = board.data
    if not data.order_known:
        return _unknown(
            name, threshold, "the votes do not say which arm was shown first"
        )
    columns = {key: c for key, c in data.columns.items() if key != "neutral"}
    mirrored = is_own_mirror(data.rows, columns)
    evidence = "the table does not list every vote twice"
    if mirrored:
        evidence = "each row is there from both sides, as if listed for either arm"
    remedy = "read the table with mirrored='once' (--mirrored once), unless each "
    remedy += "question was asked in both orders"
    return _made(name, not mirrored, threshold, evidence, remedy)


def _drift(board: Board) -> Check:
    """Test whether utilities change with the time, by Rao's score test."""
    name, what = "drift", "strengths change with the time (score test)"
    threshold = f"p at most {board.level:g}: {what}"
    if board.time is None:
        return _unknown(name, threshold, "no column says when votes were cast")
    data = board.data.without_columns((board.time,)).without_order().without_ties()
    times = data.columns.get(board.time, np.zeros(0))
    if board.time in data.labels:  # Dates as texts, which sort as they follow.
        places = np.argsort(np.argsort(data.labels[board.time], kind="stable"))
        times = places[times]
    votes = data.counts[:, :2]
    number = votes.sum(axis=1)
    if len(np.unique(times)) < 2:
        return _unknown(name, threshold, f"all votes have the same {board.time}")
    ranks = stats.rankdata(times)
    ranks = 2.0 * (ranks - ranks.min()) / (ranks.max() - ranks.min()) - 1.0
    model = BradleyTerry(prior_scale=_WIDE, zero_sum=True)
    scale = Scale(model, data.without_columns())
    ways = scale.utilities(np.eye(len(scale.mode)))
    design = (ways[:, data.first] - ways[:, data.second]).T
    chance = expit(design @ scale.mode)
    weight = number * chance * (1.0 - chance)
    slope = design.T @ (ranks * (votes[:, 0] - number * chance))
    now, both, then = (
        (design.T * (weight * ranks**power)) @ design for power in (0, 1, 2)
    )
    now += np.eye(len(now)) / _WIDE**2
    left = then - both @ np.linalg.solve(now, both)
    sizes, directions = np.linalg.eigh(left)
    known = sizes > 1e-9 * max(float(sizes.max()), 1.0)
    along = directions[:, known].T @ slope
    statistic = float(np.sum(along**2 / sizes[known]))
    p_value = float(stats.chi2.sf(statistic, int(known.sum())))
    change = 2.0 * (directions[:, known] @ (along / sizes[known])) @ ways
    arm = int(np.argmax(np.abs(change)))
    evidence = (
        f"from the first to the last votes {data.arm_names[arm]} changes most, by "
        f"{change[arm]:+.2f} in utility (p = {p_value:.3f})"
    )
    remedy = "rank the newest votes alone (--where), or find what has changed"
    return _tested(board, name, what, p_value, evidence, remedy)


def _fewest_votes(board: Board) -> Check:
    name = "fewest votes"
    least = max(2, int(np.ceil(LEAST_REMOVED * board.data.num_votes)))
    threshold = (
        f"fewer than {least} votes, {LEAST_REMOVED:.0%} of all, unseat the leader"
    )
    if not board.data.is_whole:
        return _unknown(name, threshold, "weighted votes are no single votes")
    if len(board.parts) > 1:
        return _unknown(name, threshold, "no votes connect all arms")
    fewest = board.fewest[0]
    is_good = fewest.number is None or fewest.number >= least
    evidence = fewest.words()
    if fewest.number is not None:
        evidence += f"; these are {fewest.number / board.data.num_votes:.1%} of all"
    remedy = f"look at these votes, and call the lead of {fewest.leader} fragile"
    return _made(name, is_good, threshold, evidence, remedy)


CHECKS = (
    _votes, _neighbors, _leader, _connectivity, _order_effect, _ties, _judges,
    _share_of_judges, _single_judges, _cycles, _duplicates, _mirrored, _drift,
    _fewest_votes,
)  # fmt: skip
"""All checks, in the order in which they are printed."""
