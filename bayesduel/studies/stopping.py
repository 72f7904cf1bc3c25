"""Conclusions of the rules for stopping about a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float64

from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.stopping import AnytimeEvidence, PosteriorProbability
from bayesduel.stopping.base import NOBODY, StoppingState, conclusion
from bayesduel.studies.events import VoteRow
from bayesduel.studies.fits import LOOK, fit_votes, leader_of, votes_of
from bayesduel.studies.state import MIRRORED, Question, StudyState, VotesFromElsewhere

if TYPE_CHECKING:
    from bayesduel.models.fit.fit_result import Fit


@dataclass(frozen=True)
class MeasuredRate:
    """How the simulated studies ended under one rule for stopping.

    Attributes
    ----------
    rule : str
    false_stops : int
        Studies in which it named an arm that is no Copeland winner.
    false_share, false_lower, false_upper : float
        Their share, with an exact interval of 95 %.
    undecided_share : float
        Share of the studies in which it named no arm within the budget.
    median_votes : float or None
        Median of the votes until a name, None where most studies had none.
    """

    rule: str
    false_stops: int
    false_share: float
    false_lower: float
    false_upper: float
    undecided_share: float
    median_votes: float | None


@dataclass(frozen=True)
class StoppingLine:
    """The conclusion of one rule for stopping.

    Attributes
    ----------
    rule : str
        "anytime", "posterior", "judges", "budget" or "cost".
    stopped : bool
        Whether one may stop.
    answer, leader : str or None
        The arm that is named, and the one nearest to it.
    evidence, threshold : float
        It stops when the first reaches the second. For "anytime" and "posterior"
        exp(-evidence) is compared with delta: a bound on the probability that the
        leader is wrong by any time, or the posterior probability that it is. For
        "judges" the number of judges without whose votes the same arm leads; else
        votes, or what answers have cost.
    meaning : str
        What the rule promises.
    measured : MeasuredRate or None
        How often it stopped wrongly in simulations of this study; None where that was
        not measured. ``StudyStatus.audit`` says on what, and whether it is out of date.
    """

    rule: str
    stopped: bool
    answer: str | None
    leader: str | None
    evidence: float
    threshold: float
    meaning: str
    measured: MeasuredRate | None = None

    @property
    def is_error(self) -> bool:
        """Whether the evidence stands for a probability of error."""
        return self.rule in ("anytime", "posterior")

    def says(self) -> str:
        """Return in words whether one may stop.

        Examples
        --------
        >>> StoppingLine("cost", False, None, None, 2.5, 20.0, "").says()
        'not yet'
        """
        if not self.stopped:
            return "not yet"
        return "stop" if self.answer is None else f"stop: {self.answer}"

    def amounts(self) -> tuple[str, str]:
        """Return in words what the rule needs, and what it has.

        Examples
        --------
        >>> StoppingLine("budget", False, None, None, 12.0, 300.0, "").amounts()
        ('300 votes', '12 votes')
        """
        both = self.threshold, self.evidence
        if self.is_error:
            low, high = (f"error {min(1.0, math.exp(-value)):.2g}" for value in both)
        else:
            unit = {"budget": " vote", "judges": " judge"}.get(self.rule, "")
            low, high = (
                f"{value:.10g}{unit}{'s' * (unit != '' and value != 1)}"
                for value in both
            )
        return low, high


def stopping_of(
    state: StudyState, posterior: Fit, *, certain: bool = True
) -> tuple[StoppingLine, ...]:
    """Return what the rules say of the votes that are no ties."""
    lines = [_posterior(state, posterior)] if certain else []
    if certain and not state.is_of_sets:  # Its bets are on single pairs.
        lines.insert(0, _anytime(state))
    if "judges" in state.settings.stop_when:
        lines.append(_judges(state))
    if state.settings.budget is not None:
        lines.append(_budget(state))
    if state.settings.spending.cost is not None:
        lines.append(_cost(state))
    return tuple(lines)


def why_stopped(state: StudyState) -> str:
    """Return why nothing more is asked, "" unless all rules of the study stopped."""
    lines = []
    for rule in state.settings.stop_when:
        if rule == "anytime":
            line = _anytime(state)
        elif rule == "posterior":
            line = _posterior(state, fit_votes(state, *LOOK))
        else:
            line = _judges(state)
        if not line.stopped:
            return ""
        lines.append(line)
    return "; ".join(f"{line.rule} says {line.says()}" for line in lines)


def line_of(
    names: Sequence[str], rule: str, outcome: StoppingState, meaning: str
) -> StoppingLine:
    """Return the conclusion of a rule about arms of these names."""
    return StoppingLine(
        rule=rule,
        stopped=bool(outcome.stopped),
        answer=None if outcome.answer == NOBODY else names[outcome.answer],
        leader=None if outcome.leader == NOBODY else names[outcome.leader],
        evidence=float(outcome.evidence),
        threshold=float(outcome.threshold),
        meaning=meaning,
    )


# By the posterior


def _posterior(state: StudyState, posterior: Fit) -> StoppingLine:
    # Whether some arm is a Copeland winner with probability 1 - delta: in closed form
    # for one Beta distribution per pair, else by the share of draws; never before votes
    # connect all arms.
    model, delta = posterior.model, state.settings.delta
    threshold = -math.log(delta)
    if isinstance(model, PairwiseBeta) and isinstance(model.prior, int | float):
        rule = PosteriorProbability(delta, prior=float(model.prior))
        outcome = rule.evaluate(posterior.data.wins)
    elif len(posterior.parts) > 1:
        # Which part has the best arm, only the prior says.
        outcome = conclusion(False, NOBODY, 0.0, threshold)
    else:
        shares = posterior.winner_shares()["copeland"]
        leader = int(np.argmax(shares))
        # Draws that all agree say no more than their number.
        wrong = max(1.0 - float(shares[leader]), 1.0 / (posterior.num_draws + 1))
        evidence = -math.log(wrong)
        outcome = conclusion(evidence >= threshold, leader, evidence, threshold)
    meaning = (
        "no other arm beats more arms than the named one, with posterior probability "
        f"{1 - delta:.6g}; checked after every vote, it is wrong more often than that"
    )
    return line_of(state.active_names, "posterior", outcome, meaning)


# By the judges


def leaders_without(state: StudyState) -> tuple[str | None, dict[str, str | None]]:
    """Return who leads, and by judge who would without their votes."""
    units: dict[str, list[Question]] = {}
    for unit in state.questions.values():
        if state.is_vote(unit) and unit.voter is not None:
            units.setdefault(unit.voter, []).append(unit)

    def leader(without: list[Question]) -> str | None:
        # As many draws as for the status, so that luck does not decide who leads.
        votes = votes_of(state, without=without)
        return leader_of(fit_votes(state, *LOOK, votes=votes))

    return leader([]), {judge: leader(votes) for judge, votes in units.items()}


def _judges(state: StudyState) -> StoppingLine:
    leader, leaders = leaders_without(state)
    same = sum(without == leader for without in leaders.values())
    needs = max(2, len(leaders))
    stopped = leader is not None and same >= needs
    return StoppingLine(
        rule="judges",
        stopped=stopped,
        answer=leader if stopped else None,
        leader=leader,
        evidence=float(same if leader is not None else 0),
        threshold=float(needs),
        meaning="the same arm leads without the votes of any one judge, of at least "
        "two who have a name; says nothing of random errors",
    )


# By what may be spent


def _budget(state: StudyState) -> StoppingLine:
    meaning = "votes that may be asked for"
    if state.num_nothing:
        meaning += f"; {state.num_nothing} contradictions that are no votes use it up"
    if state.num_beyond:
        meaning += f"; {state.num_beyond} late answers beyond it do not count"
    if state.num_within:
        meaning += f"; {state.num_within} answers about arms that were merged, too"
    spent, most = float(state.num_used), float(state.settings.budget or 0)
    return StoppingLine("budget", spent >= most, None, None, spent, most, meaning)


def _cost(state: StudyState) -> StoppingLine:
    spending, most = state.settings.spending, state.settings.spending.cost or 0.0
    prices = [
        record.price
        for record in state.judges.values()
        if record.price is not None and not record.is_aside
    ]
    arms = sorted(state.arm_prices.get(name, 0.0) for name in state.active_names)
    cheapest = min([spending.price, *prices]) + sum(arms[: state.settings.choose_from])
    cheapest *= state.settings.num_orders
    stopped = state.spent + cheapest > most * (1 + 1e-9)
    meaning = (
        "what answers may cost; it stops where the cheapest question costs more than "
        "is left"
    )
    return StoppingLine("cost", stopped, None, None, float(state.spent), most, meaning)


# By evidence that holds at any time


class InOrder(NamedTuple):
    """The anytime rule applied to votes in the order of asking."""

    outcome: StoppingState
    held_back: int  # Votes that do not count yet,
    waits_for: int  # and the question whose answer they wait for, 0 if there is none.
    against: int  # Questions that count against whichever arm would be named.
    against_skips: StoppingState | None  # If skipped ones counted against, too.


class _Counts(NamedTuple):
    wins: Float64[np.ndarray, "K K"]
    unknown: Float64[np.ndarray, "K K"]

    def add(self, rows: list[VoteRow]) -> None:
        for row in rows:
            first, second = row.arms
            if first != second:  # They were not merged.
                self.wins[first, second] += row.counts[0]
                self.wins[second, first] += row.counts[1]


def evidence_in_order(state: StudyState, rule: AnytimeEvidence) -> InOrder:
    """Return what a rule says of the votes in the order of asking."""
    # A question without an answer holds back what was asked or imported after it, or
    # counts against, with all others that are out, where that leaves more evidence. So
    # do questions that were asked anew, withdrawn, or answered differently after an
    # undo. Ties and skips are no votes.
    both = np.ix_(state.active, state.active)

    def said(counts: _Counts) -> StoppingState:
        return rule.evaluate(counts.wins[both], counts.unknown[both])

    before, at_end, waits_for = _counted(state, skips=False)
    outcome, held, counts = said(before), 0, before
    if waits_for:
        held = int(at_end.wins.sum() - before.wins.sum())
        later = said(at_end)
        if later.evidence > outcome.evidence:
            outcome, held, counts = later, 0, at_end
    strict = None
    if state.num_skipped:
        cautious, to_end, _ = _counted(state, skips=True)
        sides = [
            said(side_counts)
            for side_counts in (cautious, to_end)[: 1 + bool(waits_for)]
        ]
        strict = max(sides, key=lambda side: side.evidence)
    against = int(counts.unknown[both].sum()) // 2
    return InOrder(outcome, held, waits_for if held else 0, against, strict)


def _counted(state: StudyState, *, skips: bool) -> tuple[_Counts, _Counts, int]:
    # The counts before the first open question, all of them, and its number.
    size = (len(state.arms), len(state.arms))
    counts, before, waits_for = _Counts(np.zeros(size), np.zeros(size)), None, 0
    end = VotesFromElsewhere(len(state.questions), [])
    imports = iter([*state.imports.values(), end])
    position, rows = next(imports)
    for number, question in state.questions.items():
        while position < number:
            counts.add(rows)
            position, rows = next(imports)
        if before is None and number in state.waiting:
            before = _Counts(counts.wins.copy(), counts.unknown.copy())
            waits_for = number
        # Both orders are one vote; who is set aside is so by gold questions alone.
        is_one = question.twin_of or question.gold or question.is_within
        if is_one or state.record(question.voter).is_aside:
            continue
        answer = question.outcome
        is_sure = not question.withdrawn and all(
            order.answer == order.first_answer for order in state.orders_of(question)
        )
        counts_against = answer is None or question.beyond or not is_sure
        if counts_against or (skips and answer == "skip"):
            counts.unknown[question.arms] += 1
            counts.unknown[question.arms[::-1]] += 1
        elif answer in MIRRORED:
            counts.add(state.rows_of(question))
    for _, left in ((position, rows), *imports):
        counts.add(left)
    return counts if before is None else before, counts, waits_for


def anytime_meaning(delta: float, width: float, chosen: str) -> str:
    """Return what the anytime rule promises."""
    ties = "" if width else f" ({2 * delta:.3g} if pairs are exactly tied)"
    promise = (
        "may be checked after every vote; names a wrong arm with probability at most "
        f"{delta:g}{ties}, if votes are independent"
    )
    rest = f" and nothing was {chosen} because of what the vote would be"
    return promise + rest * bool(chosen)


def _anytime(state: StudyState) -> StoppingLine:
    # The stake of its bets is that of the arms with which the study began: it has to be
    # the same all the time.
    delta, width = state.settings.delta, state.settings.width
    weight = 1.0 / len(state.settings.arms)
    rule = AnytimeEvidence(delta, width=width, weight=weight)
    counted = evidence_in_order(state, rule)
    chosen = [("imported", state.imports), ("skipped", state.num_skipped),
              ("called a tie", state.ties.any())]  # fmt: skip
    words = " or ".join(word for word, applies in chosen if applies)
    parts = [anytime_meaning(delta, width, words)]
    if counted.held_back:
        parts.append(
            "votes count in the order in which they were asked, and "
            f"{counted.held_back} of them wait for the answer to question "
            f"{counted.waits_for}"
        )
    if counted.against:
        parts.append(
            f"counted against the named arm: {counted.against} not answered, "
            "withdrawn, or answered differently after an undo"
        )
    if counted.against_skips is not None:
        error = min(1.0, math.exp(-counted.against_skips.evidence))
        parts.append(f"if skips counted against it too, its error would be {error:.2g}")
    if state.num_aside or state.num_reselected:
        parts.append(
            f"{state.num_aside} votes of judges who are set aside are left out, by "
            "their answers to gold questions and not by what they voted"
        )
    if state.num_reselected:
        # The evidence of each selection of judges is a supermartingale of its own.
        parts.append(
            f"whose votes count has changed {state.num_reselected} times, so that the "
            f"error is at most {state.num_reselected + 1} times as much"
        )
    return line_of(state.active_names, "anytime", counted.outcome, "; ".join(parts))
