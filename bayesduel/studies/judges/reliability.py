"""How far each judge can be relied on, and what changes without those who cannot."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import asdict, dataclass
from statistics import median

from bayesduel.ops.shares import share_interval
from bayesduel.studies.judges.card_shares import CardShare, card_shares, card_words
from bayesduel.studies.judges.implied import PairAgreement, agreement_of_pairs
from bayesduel.studies.judges.left_out import left_out_of
from bayesduel.studies.judges.repeated import (
    alike_by_judge,
    alike_to_others,
    alpha_of,
    of_pairs,
    said_in_turn,
)
from bayesduel.studies.judges.with_everyone import WithEveryone, with_everyone
from bayesduel.studies.replay.questions import MIRRORED, Question
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stopping_lines import StoppingLine

__all__ = ["JudgeLine", "JudgeTable", "judge_table"]

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


@dataclass(frozen=True)
class JudgeLine:
    """What is known of one judge.

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
        said, places = self._cells_of_places()
        oneself = _share(self.repeats_agree, self.repeats)
        others = _share(self.others_agree, self.others)
        if self.best_at:
            oneself = _share(self.implied_repeats_agree, self.implied_repeats)
            others = _share(self.implied_others_agree, self.implied_others)
        return {
            **said,
            "skips": str(self.skips),
            "gold": f"{self.gold_right}/{self.gold}" if self.gold else "-",
            "counts": "set aside" if self.is_aside else "yes",
            **places,
            "seconds": "-" if self.seconds is None else f"{self.seconds:.3g}",
            "too fast": str(self.too_fast),
            "like oneself": oneself,
            "like others": others,
            **({} if self.best_at else {"contradictions": str(self.contradictions)}),
            "cost": f"{self.cost:g}",
        }

    def _cells_of_places(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return what was said, and where it was shown."""
        if self.best_at:
            found = {"best at": _shares(self.best_at)}
            if self.worst_at:
                found["worst at"] = _shares(self.worst_at)
            return {"answers": str(sum(each.chosen for each in self.best_at))}, found
        side = "-"
        if self.left_share is not None:
            ends = f"{self.left_lower:.0%} to {self.left_upper:.0%}"
            side = f"{self.left_share:.0%} ({ends})"
        said = {"left": self.left, "right": self.right, "ties": self.ties}
        return {name: str(each) for name, each in said.items()}, {"on the left": side}


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
        found = []
        if self.alpha is not None:
            found.append(
                f"agreement between judges: Krippendorff's alpha {self.alpha:.2f}, of "
                f"{self.alpha_units} times that two or more have judged the same"
            )
        if self.implied is not None:
            found.append(self.implied.words())
        for line in self.lines:
            found += card_words(line.name, line.best_at, "best")
            found += card_words(line.name, line.worst_at, "worst")
        changing = [
            f"{judge} ({other or 'nobody'})"
            for judge, other in (self.leaders_without or {}).items()
            if other != leader
        ]
        if changing:
            found.append(
                f"another arm leads without the votes of {', '.join(changing)}"
            )
        elif self.leaders_without and leader is not None:
            found.append("the same arm leads without the votes of any one judge")
        if self.everyone is not None:
            aside = ", ".join(line.name for line in self.lines if line.is_aside)
            found += [
                f"set aside, as too few of their gold questions were right: {aside}",
                self.everyone.words(leader, stopping),
            ]
        return tuple(found)

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
    """Return what is known of the judges of a study.

    With ``leave_out`` also who would lead without each of them, a fit for each; with
    ``everyone`` also what would be said if nobody were set aside.
    """
    answers: dict[str | None, list[Question]] = {}
    for question in state.questions.values():
        if question.answer is not None and not question.withdrawn:
            answers.setdefault(question.voter, []).append(question)
    shared = said_in_turn(state)
    pairs = said_in_turn(state, of_pairs) if state.is_of_sets else []
    others = alike_to_others(shared), alike_to_others(pairs)
    lines = tuple(_line(state, judge, answers[judge], *others) for judge in answers)
    alpha = alpha_of(shared, state.settings.choose_from)
    everyone = everyone and any(line.is_aside for line in lines)
    return JudgeTable(
        lines=lines,
        alpha=None if math.isnan(alpha) else alpha,
        alpha_units=len(shared),
        implied=agreement_of_pairs(pairs),
        leaders_without=left_out_of(state).leaders if leave_out else None,
        everyone=with_everyone(state) if everyone else None,
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
    times = [each.seconds for each in answered if each.seconds is not None]
    gold = [
        each for each in answered if each.gold is not None and each.answer != "skip"
    ]
    size, worst = state.settings.choose_from, state.settings.worst
    alike, repeats = alike_by_judge(usual)
    agree, others = shared.get(judge or "", (0, 0))
    of_sets = usual if state.is_of_sets else []
    implied_alike, implied_repeats = alike_by_judge(of_sets, of_pairs)
    implied_agree, implied_others = implied.get(judge or "", (0, 0))
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
        gold_right=sum(each.is_right for each in gold),
        is_aside=state.record(judge).is_aside,
        seconds=median(times) if times else None,
        too_fast=sum(each < state.settings.judging.quickest for each in times),
        repeats=repeats,
        repeats_agree=_of(alike, repeats),
        others=others,
        others_agree=_of(agree, others),
        implied_repeats=implied_repeats,
        implied_repeats_agree=_of(implied_alike, implied_repeats),
        implied_others=implied_others,
        implied_others_agree=_of(implied_agree, implied_others),
        contradictions=sum(_contradicts(state, unit) for unit in both),
        cost=math.fsum(each.cost or 0.0 for each in answered),
        best_at=card_shares(usual, size),
        worst_at=card_shares(usual, size, worst=True) if worst else (),
    )


def _of(part: int, number: int) -> float | None:
    return part / number if number else None


def _contradicts(state: StudyState, unit: Question) -> bool:
    first, second = (each.answer for each in state.orders_of(unit))
    return first in MIRRORED and second in MIRRORED and first != MIRRORED[str(second)]


def _shares(cards: tuple[CardShare, ...]) -> str:
    if cards[0].share is None:
        return "-"
    return f"{' '.join(f'{100 * (each.share or 0.0):.0f}' for each in cards)} %"


def _share(share: float | None, number: int) -> str:
    return "-" if share is None else f"{share:.0%} of {number}"
