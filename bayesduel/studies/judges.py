"""How far judges can be relied on, and what changes without those who cannot."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import NamedTuple

import numpy as np

from bayesduel.ops.shares import share_interval
from bayesduel.studies.events import named_places
from bayesduel.studies.fits import LOOK, fit_votes, leader_of
from bayesduel.studies.state import MIRRORED, Question, StudyState
from bayesduel.studies.stopping import StoppingLine, leaders_without, stopping_of

_FEWEST = 20  # Answers from which an alpha of implied pairs has an interval.
_QUANTILE = 1.96  # Quantile of the normal distribution, for 95 %.

_HEADS = (
    "Gold: questions whose answer is known, right of answered. {} Seconds: median of "
    "an answer. Like oneself, like others: share of pairs of {}, in the same context, "
    "that say the same."
)
_SIDES = (
    "On the left: share of the votes for the arm shown there (95%); half where a judge "
    "prefers no side."
)
_CARDS = (
    "Best at, worst at: share of the answers that named each card, from the first; "
    "1/k of k cards where a judge prefers no place."
)
_OF_SETS = (
    "judgments of the same two arms, as choices imply them (the best before each other "
    "arm that is shown)"
)


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Return Krippendorff's alpha of answers that are names.

    It is 1 - D_o / D_e: the share of disagreeing pairs of answers within units over the
    share among all answers whatever their unit. 1 is full agreement, 0 what unrelated
    judges come to, and less is disagreement on purpose (Krippendorff 2011, section C,
    for nominal data).

    Parameters
    ----------
    units : iterable of sequences
        By what was judged, the answers of the judges, one each; units with fewer than
        two say nothing of agreement and are left out.

    Returns
    -------
    float
        At most 1; nan where no unit has two answers, or all answers are the same one,
        so that nothing could have disagreed.

    References
    ----------
    K. Krippendorff (2011), *Computing Krippendorff's Alpha-Reliability*, University of
    Pennsylvania.

    Examples
    --------
    >>> round(krippendorff_alpha(["aa", "aa", "bb", "ab"]), 3)
    0.533
    """
    whole = [Counter(unit) for unit in units if len(unit) > 1]
    names = {answer: None for unit in whole for answer in unit}
    counts = np.array([[float(unit[name]) for name in names] for unit in whole])
    counts = counts.reshape(len(whole), len(names))
    answers, totals = counts.sum(axis=1), counts.sum(axis=0)
    number = totals.sum()
    # Ordered pairs of different answers, each unit weighted to its number of answers.
    differ = answers**2 - (counts**2).sum(axis=1)
    expected = number**2 - (totals**2).sum()
    if not expected:
        return float("nan")
    return float(1.0 - (number - 1.0) * (differ / (answers - 1.0)).sum() / expected)


# Pairs that were judged more than once


Judged = tuple[tuple[int, ...], str | None, int]
"""A judgment: which of these arms is best, or worst.

The arms in ascending order, as how they were shown says nothing; the context; and 0
for the best, 1 for the worst. A plain tuple: a long study has a hundred thousand.
"""

_TIE = -1

_Reading = Callable[[Question, str | None], list[tuple[Judged, int]]]


class Said(NamedTuple):
    """The place of an arm among those judged, in ascending order; -1 for a tie."""

    named: int
    question: int


def of_the_same(question: Question, answer: str | None) -> list[tuple[Judged, int]]:
    """Return what an answer names of all arms that were shown; nothing of a skip."""
    arms, context = tuple(sorted(question.arms)), _context_of(question)
    if answer == "tie":
        return [((arms, context, 0), _TIE)]
    return [
        ((arms, context, turn), arms.index(arm))
        for turn, arm in enumerate(_arms_in(question, answer))
    ]


def of_pairs(question: Question, answer: str | None) -> list[tuple[Judged, int]]:
    """Return what an answer implies of pairs, the best arm before each other one."""
    context, named = _context_of(question), _arms_in(question, answer)
    preferred = [(arm, opponent) for arm in named[:1] for opponent in question.arms]
    preferred += [(arm, worst) for worst in named[1:] for arm in question.arms
                  if arm not in named]  # fmt: skip
    return [
        (((min(pair), max(pair)), context, 0), int(pair[0] > pair[1]))
        for pair in preferred
        if pair[0] != pair[1]
    ]


def _context_of(question: Question) -> str | None:
    context = question.context
    return None if context is None else json.dumps(context, sort_keys=True)


def _arms_in(question: Question, answer: str | None) -> list[int]:
    if answer in (None, "tie", "skip", "nothing"):
        return []
    return [question.arms[index] for index in named_places(answer)]


def said_in_turn(
    state: StudyState, reading: _Reading = of_the_same
) -> list[dict[str, Said]]:
    """Return what judges with a name said of the same, both orders as one."""
    answers: dict[Judged, list[tuple[str, int, int]]] = {}
    for unit in state.questions.values():
        if unit.gold is None and (voter := unit.voter) is not None:
            for judged, named in reading(unit, unit.outcome):
                answers.setdefault(judged, []).append((voter, named, unit.number))
    shared: list[dict[str, Said]] = []
    for same in answers.values():
        if len(same) == 1:  # With many arms, most pairs occur once.
            continue
        turns: list[dict[str, Said]] = []
        times: Counter[str] = Counter()
        for voter, named, number in same:
            if times[voter] == len(turns):
                turns.append({})
            turns[times[voter]][voter] = Said(named, number)
            times[voter] += 1
        shared += [turn for turn in turns if len(turn) > 1]
    return shared


def _alike_to_others(shared: Iterable[dict[str, Said]]) -> dict[str, tuple[int, int]]:
    # By judge what others said of what they have judged: the same, and all.
    alike: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for said in shared:
        names = Counter(answer.named for answer in said.values())
        for judge, answer in said.items():
            alike[judge] += names[answer.named] - 1
            number[judge] += len(said) - 1
    return {judge: (alike[judge], count) for judge, count in number.items()}


def _alike_to_oneself(
    answered: Iterable[Question], reading: _Reading
) -> tuple[int, int]:
    # Pairs of a judge's answers to the same that say the same, and all pairs.
    said = [answer for one in answered for answer in reading(one, one.answer)]
    alike, pairs = (
        sum(math.comb(count, 2) for count in Counter(items).values() if count > 1)
        for items in (said, (judged for judged, _ in said))
    )
    return alike, pairs


def alpha_of(shared: Iterable[dict[str, Said]], size: int) -> float:
    """Return Krippendorff's alpha, each unit for all ways to number its arms."""
    return krippendorff_alpha(
        [
            answer.named if answer.named == _TIE else (answer.named + first) % size
            for answer in said.values()
        ]
        for said in shared
        for first in range(size)
    )


@dataclass(frozen=True)
class PairAgreement:
    """Agreement about pairs of arms that choices from sets imply.

    Whoever names the best arm of a set prefers it to each other one that was shown, and
    each of the rest to the worst, where that is named. So one answer says several
    things at once, and each is compared with several answers: the interval takes no two
    comparisons for independent that have an answer in common.

    Attributes
    ----------
    alpha : float
        Krippendorff's alpha of the first judgments of judges with a name about the same
        pair in the same context, of their second ones, and so on: 1 less twice the
        share of pairs of judges who disagree, as judges who choose by lot do in one
        half. Each pair counts for as many as have judged it.
    lower, upper : float or None
        Normal interval of 95 %, for these judges. None where fewer than 20 answers took
        part, or all judgments agree, so that nothing varied.
    times : int
        How often two judges or more have judged the same pair.
    answers : int
        From which these judgments are.

    References
    ----------
    M. Fafchamps and F. Gubert (2007), *The formation of risk sharing networks*, Journal
    of Development Economics 83, 326-350: the variance of a mean over comparisons, of
    which two may have an answer in common.
    """

    alpha: float
    lower: float | None
    upper: float | None
    times: int
    answers: int

    def words(self) -> str:
        """Say how far they agree, and how surely."""
        ends = ""
        if self.lower is not None:
            ends = f" (95%: {self.lower:.2f} to {self.upper:.2f})"
        return (
            "agreement about the pairs that choices imply, the best before each other "
            f"arm of its set: Krippendorff's alpha {self.alpha:.2f}{ends}, of "
            f"{self.times} times that two or more have judged the same pair, in "
            f"{self.answers} answers, each of which says several things at once"
        )


def agreement_of_pairs(shared: Sequence[dict[str, Said]]) -> PairAgreement | None:
    """Return how far judges agree about pairs; None where they share no pair."""
    rows = [(unit, *said) for unit, turn in enumerate(shared) for said in turn.values()]
    if not rows:
        return None
    unit, named, question = np.array(rows).T
    others = np.bincount(unit) - 1
    first = np.bincount(unit, named == 0)
    alike = np.where(named == 0, first[unit], others[unit] + 1 - first[unit]) - 1
    # For each judgment the share of the others that agree.
    shares, weight = alike / others[unit], 1.0 / others[unit]
    mean = float(shares.mean())
    numbers, answer = np.unique(question, return_inverse=True)
    # The standard error of the mean. Each comparison of two judgments stands in two
    # rows, with its weight, and in the sum of either answer, so that what it adds alone
    # is taken off once; the error is at least that of independent comparisons.
    sums = np.bincount(answer, shares - mean)
    alone = 0.5 * (weight * (shares * (1.0 - 2.0 * mean) + mean**2)).sum()
    variance = max((sums**2).sum() - alone, alone)
    error = 2.0 * float(np.sqrt(variance)) / len(shares)
    alpha, ends, number = 2.0 * mean - 1.0, (None, None), len(numbers)
    half = 2.0 * _QUANTILE * error
    if number >= _FEWEST and half > 0.0:
        ends = max(alpha - half, -1.0), min(alpha + half, 1.0)
    return PairAgreement(alpha, *ends, len(shared), number)


# Preference for a side


@dataclass(frozen=True)
class CardShare:
    """How often a judge named the arm on one card.

    A study of sets shows k arms on k cards, which are dealt in random order. A judge
    without a preference for a place therefore names each card in 1/k of the answers.
    Use this table to find judges who always take the same place: the interval of such
    a card does not contain 1/k. ``study.status().judges`` has a tuple of these for each
    judge, in the order of the cards: ``best_at`` for the best arm, and ``worst_at``
    for the worst one if the study asks for it.

    Attributes
    ----------
    chosen : int
        The number of answers that named the arm on this card.
    share : float or None
        The same as a fraction of all answers of the judge, or None without an answer.
    lower, upper : float or None
        Exact limits of the share (Clopper and Pearson). They hold for all cards
        simultaneously with probability 95 % (Bonferroni).

    Examples
    --------
    Ann names the first of three cards every time:

    >>> import pathlib, tempfile
    >>> from bayesduel.studies import Study
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "drinks.study")
    >>> drinks = ["tea", "coffee", "milk", "water"]
    >>> with Study.create(path, drinks, "balanced", choose_from=3) as study:
    ...     for _ in range(10):
    ...         (ticket,) = study.ask(judge="ann")
    ...         _ = study.tell(ticket, 1, judge="ann")
    ...     (ann,) = study.status().judges.lines
    >>> [card.chosen for card in ann.best_at]
    [10, 0, 0]
    >>> round(ann.best_at[0].lower, 2), ann.best_at[0].upper
    (0.62, 1.0)
    >>> folder.cleanup()
    """

    chosen: int
    share: float | None
    lower: float | None
    upper: float | None


def _card_shares(
    answered: Iterable[Question], size: int, *, worst: bool = False
) -> tuple[CardShare, ...]:
    # How often each card was named the best, or the worst.
    named = [named_places(question.answer or "skip") for question in answered]
    counts = Counter(places[-1 if worst else 0] for places in named if places)
    number = counts.total()
    shares = []
    for card in range(size):
        low = high = share = None
        if number:
            share = counts[card] / number
            # The errors of all intervals of a judge are 5 % together.
            low, high = share_interval(counts[card], number, 1.0 - 0.05 / size)
        shares.append(CardShare(counts[card], share, low, high))
    return tuple(shares)


def _card_words(name: str, shares: tuple[CardShare, ...], what: str) -> list[str]:
    # Which cards a judge prefers or avoids: their intervals do not hold 1/k.
    number = sum(card.chosen for card in shares)
    even = 1.0 / max(1, len(shares))
    return [
        f"{name} names card {position} the {what} in {card.share:.0%} of {number} "
        f"answers ({card.lower:.0%} to {card.upper:.0%}), "
        f"where {even:.0%} would be even"
        for position, card in enumerate(shares, 1)
        if card.lower is not None
        and card.upper is not None
        and not card.lower <= even <= card.upper
    ]


# All judges


@dataclass(frozen=True)
class WithEveryone:
    """Results with all judges, as if nobody had been set aside.

    Attributes
    ----------
    votes : int
        That would count in addition.
    leader : str or None
    stopping : tuple of StoppingLine
    """

    votes: int
    leader: str | None
    stopping: tuple[StoppingLine, ...]

    def words(self, leader: str | None, stopping: tuple[StoppingLine, ...]) -> str:
        """Return in words what would change.

        Parameters
        ----------
        leader : str or None
            Without them.
        stopping : tuple of StoppingLine
            What the rules say without them.
        """
        named = self.leader or "nobody"
        leads = (
            "too" if self.leader == leader else f"where {leader or 'nobody'} does now"
        )
        now = {line.rule: line.says() for line in stopping}
        changed = "; ".join(
            f"{line.rule} would say {line.says()!r} and not {now[line.rule]!r}"
            for line in self.stopping
            if line.says() != now[line.rule]
        )
        return (
            f"with their {self.votes} votes {named} would lead, {leads}; "
            f"{changed or 'the rules for stopping would say the same'}"
        )


@dataclass(frozen=True)
class JudgeLine:
    """Statistics of one judge.

    Attributes
    ----------
    judge : str or None
        None for all who gave no name.
    left, right, ties, skips : int
        Answers that were not taken back, without those to gold questions; of sets only
        skips.
    left_share, left_lower, left_upper : float or None
        Share of the votes for either side that went to the left one, with its exact
        interval of 95 %; a judge without a preference for a side has 1/2, as each pair
        is shown equally often either way round. None without such a vote.
    gold, gold_right : int
        Gold questions that were answered, skipped ones not among them, and rightly.
    is_aside : bool
        Whether their votes are kept without being counted.
    seconds : float or None
        Median of the time that an answer took: since its question was asked, or since
        the answer before, if that was later.
    too_fast : int
        Answers, to gold questions as well, that took less than ``Judging.quickest``.
    repeats : int
        Pairs of their answers to the same two arms or the same set, in the same
        context; best and worst each for itself.
    repeats_agree : float or None
        Share of these pairs that say the same.
    others : int
        Pairs of one answer of theirs and one of another judge with a name, to the same
        arms in the same context: the first answers of both, the second ones ...
    others_agree : float or None
        Share of these pairs that say the same.
    implied_repeats, implied_others : int
        Of sets the same of judgments of two arms that choices imply; 0 of pairs.
    implied_repeats_agree, implied_others_agree : float or None
        Share of these that say the same.
    contradictions : int
        Questions asked in both orders whose two answers differ.
    cost : float
        What their answers have cost.
    best_at, worst_at : tuple of CardShare
        Of sets how often each card was named the best and, where it is asked for, the
        worst; empty otherwise.
    """

    judge: str | None
    left: int
    right: int
    ties: int
    skips: int
    left_share: float | None
    left_lower: float | None
    left_upper: float | None
    gold: int
    gold_right: int
    is_aside: bool
    seconds: float | None
    too_fast: int
    repeats: int
    repeats_agree: float | None
    others: int
    others_agree: float | None
    contradictions: int
    cost: float
    best_at: tuple[CardShare, ...] = ()
    worst_at: tuple[CardShare, ...] = ()
    implied_repeats: int = 0
    implied_repeats_agree: float | None = None
    implied_others: int = 0
    implied_others_agree: float | None = None

    @property
    def name(self) -> str:
        """The name, or that it was not said."""
        return "(not said)" if self.judge is None else self.judge

    def cells(self) -> dict[str, str]:
        """Return what tables show, by header; "-" where nothing is known."""
        last = {"cost": f"{self.cost:g}"}
        pairs = (self.repeats_agree, self.repeats), (self.others_agree, self.others)
        if self.best_at:
            said = {"answers": str(sum(card.chosen for card in self.best_at))}
            places = {"best at": self.best_at, "worst at": self.worst_at}
            sides = {
                head: "-"
                if cards[0].share is None
                else " ".join(f"{100 * (c.share or 0.0):.0f}" for c in cards) + " %"
                for head, cards in places.items()
                if cards
            }
            pairs = (
                (self.implied_repeats_agree, self.implied_repeats),
                (self.implied_others_agree, self.implied_others),
            )
        else:
            said = {"left": self.left, "right": self.right, "ties": self.ties}
            said = {name: str(count) for name, count in said.items()}
            sides = {"on the left": "-"}
            if self.left_share is not None:
                ends = f"{self.left_lower:.0%} to {self.left_upper:.0%}"
                sides = {"on the left": f"{self.left_share:.0%} ({ends})"}
            last = {"contradictions": str(self.contradictions), **last}
        oneself, others = (
            "-" if share is None else f"{share:.0%} of {number}"
            for share, number in pairs
        )
        return {
            **said,
            "skips": str(self.skips),
            "gold": f"{self.gold_right}/{self.gold}" if self.gold else "-",
            "counts": "set aside" if self.is_aside else "yes",
            **sides,
            "seconds": "-" if self.seconds is None else f"{self.seconds:.3g}",
            "too fast": str(self.too_fast),
            "like oneself": oneself,
            "like others": others,
            **last,
        }


@dataclass(frozen=True)
class JudgeTable:
    """All judges who have answered.

    Attributes
    ----------
    lines : tuple of JudgeLine
        In the order of their first answer.
    alpha : float or None
        Krippendorff's alpha between judges with a name: of their first answers to the
        same arms in the same context, their second ones, and so on; both orders are one
        answer, the best and the worst of a set are two. None while no two judges had
        one in common.
    alpha_units : int
        How often two judges or more had.
    implied : PairAgreement or None
        Of sets, which are seldom shown twice, about the pairs that choices imply; None
        of pairs, and while no two judges had one in common.
    leaders_without : dict or None
        By judge, who would lead without their votes; None where it was not computed.
    everyone : WithEveryone or None
        None where nobody is set aside, or it was not computed.
    """

    lines: tuple[JudgeLine, ...]
    alpha: float | None
    alpha_units: int
    implied: PairAgreement | None = None
    leaders_without: dict[str, str | None] | None = None
    everyone: WithEveryone | None = None

    def words(
        self, leader: str | None, stopping: tuple[StoppingLine, ...]
    ) -> tuple[str, ...]:
        """Return in words what is to be said of them together.

        Parameters
        ----------
        leader : str or None
            Of the study.
        stopping : tuple of StoppingLine
            What its rules say.
        """
        remarks = []
        if self.alpha is not None:
            remarks.append(
                f"agreement between judges: Krippendorff's alpha {self.alpha:.2f}, of "
                f"{self.alpha_units} times that two or more have judged the same"
            )
        if self.implied is not None:
            remarks.append(self.implied.words())
        for line in self.lines:
            remarks += _card_words(line.name, line.best_at, "best")
            remarks += _card_words(line.name, line.worst_at, "worst")
        changing = [
            f"{judge} ({new_leader or 'nobody'})"
            for judge, new_leader in (self.leaders_without or {}).items()
            if new_leader != leader
        ]
        if changing:
            remarks.append(
                f"another arm leads without the votes of {', '.join(changing)}"
            )
        elif self.leaders_without and leader is not None:
            remarks.append("the same arm leads without the votes of any one judge")
        if self.everyone is not None:
            aside = ", ".join(line.name for line in self.lines if line.is_aside)
            remarks += [
                f"set aside, as too few of their gold questions were right: {aside}",
                self.everyone.words(leader, stopping),
            ]
        return tuple(remarks)

    def heads_words(self) -> str:
        """Say what the columns of the table of judges show."""
        if any(line.best_at for line in self.lines):
            return _HEADS.format(_CARDS, _OF_SETS)
        return _HEADS.format(_SIDES, "answers to the same two arms")

    def as_lines(self) -> str:
        """Return a line of JSON for each judge."""
        return "".join(
            json.dumps(asdict(line), ensure_ascii=False) + "\n" for line in self.lines
        )


def judge_table(
    state: StudyState, *, leave_out: bool, everyone: bool = False
) -> JudgeTable:
    """Return what is known of the judges of a study."""
    answers: dict[str | None, list[Question]] = {}
    for question in state.questions.values():
        if question.answer is not None and not question.withdrawn:
            answers.setdefault(question.voter, []).append(question)
    shared = said_in_turn(state)
    pairs = said_in_turn(state, of_pairs) if state.is_of_sets else []
    others = _alike_to_others(shared), _alike_to_others(pairs)
    lines = tuple(_line(state, judge, answers[judge], *others) for judge in answers)
    alpha = alpha_of(shared, state.settings.choose_from)
    with_all = None
    if everyone and any(line.is_aside for line in lines):
        full_state = state.with_everyone()
        posterior = fit_votes(full_state, *LOOK)
        with_all = WithEveryone(
            votes=full_state.num_votes - state.num_votes,
            leader=leader_of(posterior),
            stopping=stopping_of(full_state, posterior),
        )
    return JudgeTable(
        lines=lines,
        alpha=None if math.isnan(alpha) else alpha,
        alpha_units=len(shared),
        implied=agreement_of_pairs(pairs),
        leaders_without=leaders_without(state)[1] if leave_out else None,
        everyone=with_all,
    )


def _line(
    state: StudyState,
    judge: str | None,
    answered: list[Question],
    shared: dict[str, tuple[int, int]],
    implied: dict[str, tuple[int, int]],
) -> JudgeLine:
    usual = [question for question in answered if question.gold is None]
    words = Counter(question.answer for question in usual)
    sides = words["left"] + words["right"]
    low, high = share_interval(words["left"], sides) if sides else (None, None)
    times = [question.seconds for question in answered if question.seconds is not None]
    gold = [
        question
        for question in answered
        if question.gold is not None and question.answer != "skip"
    ]
    size, worst = state.settings.choose_from, state.settings.worst
    of_sets = usual if state.is_of_sets else []
    agreement = {}
    for name, (alike, pairs) in (
        ("repeats", _alike_to_oneself(usual, of_the_same)),
        ("others", shared.get(judge or "", (0, 0))),
        ("implied_repeats", _alike_to_oneself(of_sets, of_pairs)),
        ("implied_others", implied.get(judge or "", (0, 0))),
    ):
        agreement |= {name: pairs, f"{name}_agree": alike / pairs if pairs else None}
    contradictions = 0
    for unit in usual:
        if unit.outcome is not None and unit.twin is not None:
            first, second = (question.answer for question in state.orders_of(unit))
            both = first in MIRRORED and second in MIRRORED
            contradictions += both and first != MIRRORED[str(second)]
    return JudgeLine(
        judge=judge,
        left=words["left"],
        right=words["right"],
        ties=words["tie"],
        skips=words["skip"],
        left_share=words["left"] / sides if sides else None,
        left_lower=low,
        left_upper=high,
        gold=len(gold),
        gold_right=sum(question.is_right for question in gold),
        is_aside=state.record(judge).is_aside,
        seconds=median(times) if times else None,
        too_fast=sum(time < state.settings.judging.quickest for time in times),
        contradictions=contradictions,
        cost=math.fsum(question.cost or 0.0 for question in answered),
        best_at=_card_shares(usual, size) if state.is_of_sets else (),
        worst_at=_card_shares(usual, size, worst=True) if worst else (),
        **agreement,
    )
