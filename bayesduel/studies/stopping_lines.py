"""What the rules for stopping say of a study."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.stopping import AnytimeEvidence, PosteriorProbability
from bayesduel.stopping.rules import NOBODY, StoppingState
from bayesduel.studies._asked_order import InOrder, evidence_in_order
from bayesduel.studies._fits import LOOK, fit_votes
from bayesduel.studies.audits import MeasuredRate
from bayesduel.studies.judges.left_out import LeftOut, left_out_of
from bayesduel.studies.judges.terms_kept import cheapest
from bayesduel.studies.replay.state import StudyState

if TYPE_CHECKING:
    from bayesduel.models.fit.fit_result import Fit

__all__ = ["StoppingLine", "stopping_of", "why_stopped"]


@dataclass(frozen=True)
class StoppingLine:
    """What one rule says about stopping.

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
            low, high = (f"error {min(1.0, math.exp(-each)):.2g}" for each in both)
        else:
            unit = {"budget": " vote", "judges": " judge"}.get(self.rule, "")
            low, high = (
                f"{each:.10g}{unit}{'s' * (unit != '' and each != 1)}" for each in both
            )
        return low, high


def stopping_of(
    state: StudyState, posterior: Fit, *, certain: bool = True
) -> tuple[StoppingLine, ...]:
    """Return what the rules say of the votes that are no ties.

    The rules of certainty first, if these are wanted, then "judges" where the study
    stops by it, then what may be spent.
    """
    lines = [_posterior(state, posterior)] if certain else []
    if certain and not state.is_of_sets:  # Its bets are on single pairs.
        lines.insert(0, _anytime(state))
    if "judges" in state.settings.stop_when:
        lines.append(_judges(left_out_of(state)))
    if state.settings.budget is not None:
        lines.append(_budget(state))
    if state.settings.spending.cost is not None:
        lines.append(_cost(state))
    return tuple(lines)


def why_stopped(state: StudyState) -> str:
    """Return why nothing more is asked, if all rules the study stops by have stopped.

    "" where there are none, or they have not.
    """
    lines = []
    for rule in state.settings.stop_when:
        if rule == "anytime":
            line = _anytime(state)
        elif rule == "posterior":
            line = _posterior(state, fit_votes(state, *LOOK))
        else:
            line = _judges(left_out_of(state))
        if not line.stopped:
            return ""
        lines.append(line)
    return "; ".join(f"{line.rule} says {line.says()}" for line in lines)


def _line(
    state: StudyState, rule: str, found: StoppingState, meaning: str
) -> StoppingLine:
    names = [state.arms[arm] for arm in state.active]
    return StoppingLine(
        rule=rule,
        stopped=bool(found.stopped),
        answer=None if found.answer == NOBODY else names[found.answer],
        leader=None if found.leader == NOBODY else names[found.leader],
        evidence=float(found.evidence),
        threshold=float(found.threshold),
        meaning=meaning,
    )


def _anytime(state: StudyState) -> StoppingLine:
    """Count votes in the order of asking.

    The stake of its bets is that of the arms with which the study began: it has to be
    the same all the time.
    """
    delta, width = state.settings.delta, state.settings.width
    weight = 1.0 / len(state.settings.arms)
    counted = evidence_in_order(
        state, AnytimeEvidence(delta, width=width, weight=weight)
    )
    meaning = _promise(delta, width, counted)
    if state.num_aside or state.num_reselected:
        # The evidence of each selection of judges is a supermartingale of its own.
        times = state.num_reselected + 1
        meaning += (
            f"; {state.num_aside} votes of judges who are set aside are left out, by "
            "their answers to gold questions and not by what they voted"
        )
        if state.num_reselected:
            meaning += (
                f"; whose votes count has changed {times - 1} times, so that the error "
                f"is at most {times} times as much"
            )
    return _line(state, "anytime", counted.found, meaning)


def _posterior(state: StudyState, posterior: Fit) -> StoppingLine:
    share = f"{1 - state.settings.delta:.6g}"
    return _line(
        state,
        "posterior",
        _posterior_state(posterior, state.settings.delta),
        f"no arm beats more others with posterior probability {share}; looked at "
        "after every vote it errs more often than that",
    )


def _judges(found: LeftOut) -> StoppingLine:
    same = sum(leader == found.leader for leader in found.leaders.values())
    needs = max(2, len(found.leaders))
    stopped = found.leader is not None and same >= needs
    return StoppingLine(
        rule="judges",
        stopped=stopped,
        answer=found.leader if stopped else None,
        leader=found.leader,
        evidence=float(same if found.leader is not None else 0),
        threshold=float(needs),
        meaning="the same arm leads without the votes of any one judge, of at least "
        "two who have a name; says nothing of random errors",
    )


def _budget(state: StudyState) -> StoppingLine:
    meaning = "votes that may be asked for"
    if state.num_nothing:
        meaning += f"; {state.num_nothing} contradictions that are no votes use it up"
    if state.num_beyond:
        meaning += f"; {state.num_beyond} late answers beyond it do not count"
    if state.num_within:
        meaning += f"; {state.num_within} answers about arms that were merged, too"
    spent, most = state.num_used, state.settings.budget or 0
    return _spent("budget", spent, most, spent >= most, meaning)


def _cost(state: StudyState) -> StoppingLine:
    most = state.settings.spending.cost or 0.0
    stopped = state.spent + cheapest(state) > most * (1 + 1e-9)
    meaning = "what answers may cost; it stops where the cheapest question costs more "
    return _spent("cost", state.spent, most, stopped, meaning + "than is left")


def _spent(
    rule: str, spent: float, most: float, stopped: bool, meaning: str
) -> StoppingLine:
    return StoppingLine(rule, stopped, None, None, float(spent), float(most), meaning)


def _promise(delta: float, width: float, counted: InOrder) -> str:
    """Return what the anytime rule promises, and of which votes."""
    ties = ""
    if not width:
        both = f"{delta:g}, or {2 * delta:g} with pairs at exactly 1/2"
        ties = f" (some wrong arm: {both})"
    parts = [
        f"names each wrong arm with probability at most {delta:g}{ties}, however often "
        "one looks; if votes of a pair are independent with one probability, and what "
        "is imported, skipped or called a tie was not chosen by what the vote would be",
        "votes count in the order of asking",
    ]
    if counted.held_back:
        parts.append(
            f"{counted.held_back} of them wait for the answer to question "
            f"{counted.waits_for}"
        )
    if counted.against:
        parts.append(
            f"questions out, withdrawn, or answered differently after an undo count "
            f"against: {counted.against}"
        )
    if counted.against_skips is not None:
        error = min(1.0, math.exp(-counted.against_skips.evidence))
        parts.append(f"if skips counted against, too, it would have error {error:.2g}")
    return "; ".join(parts)


def _posterior_state(posterior: Fit, delta: float) -> StoppingState:
    """Return whether some arm is a Copeland winner with probability 1 - delta.

    In closed form for one Beta distribution per pair, else by the share of draws; never
    before votes connect all arms.
    """
    model = posterior.model
    if isinstance(model, PairwiseBeta) and isinstance(model.prior, int | float):
        rule = PosteriorProbability(delta, prior=float(model.prior))
        return rule.evaluate(posterior.data.wins)
    threshold = -math.log(delta)
    if len(posterior.parts) > 1:
        # Which part has the best arm, only the prior says.
        return StoppingState(False, NOBODY, NOBODY, 0.0, threshold)
    shares = posterior.winner_shares()["copeland"]
    leader = int(np.argmax(shares))
    # Draws that all agree say no more than their number.
    wrong = max(1.0 - float(shares[leader]), 1.0 / (posterior.num_draws + 1))
    evidence = -math.log(wrong)
    stopped = evidence >= threshold
    answer = leader if stopped else NOBODY
    return StoppingState(stopped, answer, leader, evidence, threshold)
