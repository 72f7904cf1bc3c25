"""How far each judge can be relied on, and what changes without those who cannot."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median

from bayesduel.ops.shares import share_interval
from bayesduel.studies._fits import LOOK, fit_votes, leader_of
from bayesduel.studies.judges.agreement import krippendorff_alpha
from bayesduel.studies.judges.left_out import left_out_of
from bayesduel.studies.replay.questions import MIRRORED, Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stopping_lines import StoppingLine, stopping_of

__all__ = [
    "HEADS",
    "JudgeLine",
    "JudgeTable",
    "WithEveryone",
    "judge_table",
    "with_everyone",
]

HEADS = (
    "Gold: questions whose answer is known, right of answered. On the left: share of "
    "the votes for the arm shown there (95%); half where a judge prefers no side. "
    "Seconds: median of an answer. Like oneself, like others: share of pairs of "
    "answers to the same two arms, in the same context, that say the same."
)
"""What the table of judges shows."""


@dataclass(frozen=True)
class JudgeLine:
    """What is known of one judge.

    Attributes
    ----------
    judge : str or None
        None for all who gave no name.
    left, right, ties, skips : int
        Answers that were not taken back, without those to gold questions.
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
        Pairs of their answers to the same two arms, in the same context.
    repeats_agree : float or None
        Share of these pairs that say the same.
    others : int
        Pairs of one answer of theirs and one of another judge with a name, to the same
        two arms in the same context: the first answers of both, the second ones ...
    others_agree : float or None
        Share of these pairs that say the same.
    contradictions : int
        Questions asked in both orders whose two answers differ.
    cost : float
        What their answers have cost.
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

    @property
    def name(self) -> str:
        """The name, or that it was not said."""
        return "(not said)" if self.judge is None else self.judge

    def cells(self) -> dict[str, str]:
        """Return what tables show, by header; "-" where nothing is known."""
        side = "-"
        if self.left_share is not None:
            ends = f"{self.left_lower:.0%} to {self.left_upper:.0%}"
            side = f"{self.left_share:.0%} ({ends})"
        return {
            "left": str(self.left),
            "right": str(self.right),
            "ties": str(self.ties),
            "skips": str(self.skips),
            "gold": f"{self.gold_right}/{self.gold}" if self.gold else "-",
            "counts": "set aside" if self.is_aside else "yes",
            "on the left": side,
            "seconds": "-" if self.seconds is None else f"{self.seconds:.3g}",
            "too fast": str(self.too_fast),
            "like oneself": _share(self.repeats_agree, self.repeats),
            "like others": _share(self.others_agree, self.others),
            "contradictions": str(self.contradictions),
            "cost": f"{self.cost:g}",
        }


@dataclass(frozen=True)
class WithEveryone:
    """What would be said if nobody were set aside.

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
        leads = "too" if self.leader == leader else f"and not {leader or 'nobody'}"
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
class JudgeTable:
    """All judges who have answered.

    Attributes
    ----------
    lines : tuple of JudgeLine
        In the order of their first answer.
    alpha : float or None
        Krippendorff's alpha between judges with a name: of their first answers to the
        same two arms in the same context, their second ones, and so on; both orders
        are one answer. None while no two judges had one in common.
    alpha_units : int
        How often two judges or more had.
    leaders_without : dict or None
        By judge, who would lead without their votes; None where it was not computed.
    everyone : WithEveryone or None
        None where nobody is set aside, or it was not computed.
    """

    lines: tuple[JudgeLine, ...]
    alpha: float | None
    alpha_units: int
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
        found = []
        if self.alpha is not None:
            found.append(
                f"agreement between judges: Krippendorff's alpha {self.alpha:.2f}, of "
                f"{self.alpha_units} times that two or more have judged the same"
            )
        changing = [
            f"{judge} ({other or 'nobody'})"
            for judge, other in (self.leaders_without or {}).items()
            if other != leader
        ]
        if changing:
            found.append(
                f"another arm leads without the votes of {', '.join(changing)}"
            )
        elif self.leaders_without:
            found.append("the same arm leads without the votes of any one judge")
        if self.everyone is not None:
            aside = ", ".join(line.name for line in self.lines if line.is_aside)
            found += [
                f"set aside, as too few of their gold questions were right: {aside}",
                self.everyone.words(leader, stopping),
            ]
        return tuple(found)

    def as_lines(self) -> str:
        """Return a line of JSON for each judge."""
        return "".join(
            json.dumps(asdict(line), ensure_ascii=False) + "\n" for line in self.lines
        )


def judge_table(
    state: StudyState, *, leave_out: bool, everyone: bool = False
) -> JudgeTable:
    """Return what is known of the judges of a study.

    With ``leave_out`` also who would lead without each of them, a fit for each; with
    ``everyone`` also what would be said if nobody were set aside.
    """
    answers: dict[str | None, list[Question]] = {}
    for question in state.questions.values():
        if question.answer is not None and not question.withdrawn:
            answers.setdefault(question.voter, []).append(question)
    shared = [said for said in _answers_in_turn(state) if len(said) > 1]
    lines = tuple(_line(state, judge, answers[judge], shared) for judge in answers)
    units = [list(said.values()) for said in shared]
    # Each unit once more with its two arms exchanged: which one comes first says
    # nothing, and must not make one answer more usual than the other.
    exchanged = [[MIRRORED[each] for each in said] for said in units]
    alpha = krippendorff_alpha([*units, *exchanged])
    everyone = everyone and any(line.is_aside for line in lines)
    return JudgeTable(
        lines=lines,
        alpha=None if math.isnan(alpha) else alpha,
        alpha_units=len(shared),
        leaders_without=left_out_of(state).leaders if leave_out else None,
        everyone=with_everyone(state) if everyone else None,
    )


def with_everyone(state: StudyState) -> WithEveryone:
    """Return what would be said if nobody were set aside."""
    other = state.with_everyone()
    posterior = fit_votes(other, *LOOK)
    return WithEveryone(
        votes=other.num_votes - state.num_votes,
        leader=leader_of(posterior),
        stopping=stopping_of(other, posterior),
    )


_Unit = tuple[int, int, str | None]
"""Two arms, and the context in which they were compared."""


def _unit(question: Question) -> _Unit:
    """Return which two arms a question is about, and in which context."""
    left, right, context = question.left, question.right, question.context
    if context is not None:
        context = json.dumps(context, sort_keys=True)
    return (left, right, context) if left < right else (right, left, context)


def _said(question: Question, answer: str) -> str:
    """Return an answer as if the arm with the lower number were on the left."""
    return answer if question.left < question.right else MIRRORED[answer]


def _answers_in_turn(state: StudyState) -> Iterable[dict[str, str]]:
    """Return what judges with a name said, both orders as one.

    By judge: of what was judged, for the first time, for the second time ...
    """
    times: Counter[tuple[_Unit, str]] = Counter()
    found: dict[tuple[_Unit, int], dict[str, str]] = {}
    for unit in state.questions.values():
        if unit.outcome in MIRRORED and unit.voter is not None:
            what = _unit(unit)
            judged = what, unit.voter
            turn = what, times[judged]
            times[judged] += 1
            found.setdefault(turn, {})[unit.voter] = _said(unit, unit.outcome)
    return found.values()


def _line(
    state: StudyState,
    judge: str | None,
    answered: list[Question],
    shared: list[dict[str, str]],
) -> JudgeLine:
    usual = [question for question in answered if question.gold is None]
    words = Counter(question.answer for question in usual)
    sides = words["left"] + words["right"]
    low, high = share_interval(words["left"], sides) if sides else (None, None)
    times = [each.seconds for each in answered if each.seconds is not None]
    gold = [
        each for each in answered if each.gold is not None and each.answer != "skip"
    ]
    alike, pairs = _alike_by_unit(usual)
    others = [
        said[judge] == answer
        for said in shared
        if judge is not None and judge in said
        for other, answer in said.items()
        if other != judge
    ]
    both = [
        unit for unit in usual if unit.outcome is not None and unit.twin is not None
    ]
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
        gold_right=sum(
            each.answer == ("right" if each.left else "left") for each in gold
        ),
        is_aside=state.record(judge).is_aside,
        seconds=median(times) if times else None,
        too_fast=sum(each < state.settings.judging.quickest for each in times),
        repeats=pairs,
        repeats_agree=alike / pairs if pairs else None,
        others=len(others),
        others_agree=sum(others) / len(others) if others else None,
        contradictions=sum(_contradicts(state, unit) for unit in both),
        cost=math.fsum(each.cost or 0.0 for each in answered),
    )


def _alike_by_unit(usual: Iterable[Question]) -> tuple[int, int]:
    """Count pairs of answers to the same two arms that say the same, and all pairs."""
    said = Counter(
        (_unit(each), _said(each, each.answer))
        for each in usual
        if each.answer in MIRRORED
    )
    number: Counter[_Unit] = Counter()
    for (unit, _), count in said.items():
        number[unit] += count
    alike, pairs = (
        sum(math.comb(count, 2) for count in each.values()) for each in (said, number)
    )
    return alike, pairs


def _contradicts(state: StudyState, unit: Question) -> bool:
    first, second = (each.answer for each in state.orders_of(unit))
    return first in MIRRORED and second in MIRRORED and first != MIRRORED[str(second)]


def _share(share: float | None, number: int) -> str:
    return "-" if share is None else f"{share:.0%} of {number}"
