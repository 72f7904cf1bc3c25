"""Where a study stands: who leads, how surely, and whether one may stop."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.stopping import AnytimeEvidence, Budget, PosteriorProbability
from bayesduel.stopping.rules import NOBODY, StoppingState
from bayesduel.studies._asked_order import InOrder, evidence_in_order
from bayesduel.studies._fits import Standing, fit_votes, known, standings_of
from bayesduel.studies._state import StudyState
from bayesduel.studies.audits import MeasuredRate, StoredAudit, stored_audit

if TYPE_CHECKING:
    from bayesduel.inference.fit_result import Fit
    from bayesduel.studies.forecast import Forecast

__all__ = ["Standing", "StoppingLine", "StudyStatus", "status_of", "stopping_of"]

_DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS = 6e6, 200, 4000


@dataclass(frozen=True)
class StoppingLine:
    """What one rule says about stopping.

    Attributes
    ----------
    rule : str
        "anytime", "posterior" or "budget".
    stopped : bool
        Whether one may stop.
    answer, leader : str or None
        The arm that is named, and the one nearest to it.
    evidence, threshold : float
        It stops when the first reaches the second. For "anytime" and "posterior"
        exp(-evidence) is compared with delta: a bound on the probability that the
        leader is wrong by any time, or the posterior probability that it is.
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


@dataclass(frozen=True)
class StudyStatus:
    """Where a study stands; as ``Study.status`` returns it.

    Attributes
    ----------
    policy, model : str
        Who asks, and what standings assume.
    arms, retired : tuple of str
    votes, imported, ties, skipped : int
        Answers so far, without imported votes; imported votes; ties among both;
        questions that were skipped.
    beyond : int
        Late answers that came when the budget was spent: kept, but not counted.
    out, stale : int
        Questions without an answer; those of them whose lease is over.
    budget : int or None
    idle_rounds : int
        Rounds in which the policy would have played arms against themselves, most of
        them for the sake of the best one. No judge was asked.
    restarts : int
        How often the policy began anew from the votes.
    leader : str or None
        The arm with the largest score, once votes connect all arms.
    parts : int
        Number of parts of the arms that no votes connect; 1 once all are connected.
    standings : tuple of Standing
        Best first.
    score : str
        What the score is.
    condorcet_exists : float or None
        Posterior probability that some arm beats all others; None before votes connect
        all arms.
    delta : float
        Error that was accepted.
    stopping : tuple of StoppingLine
    audit : StoredAudit or None
        How often the rules stop wrongly, as ``Study.audit_stopping`` measured it last;
        None where it never did.
    forecast : Forecast or None
        Of the votes still needed, where it was asked for.
    doubts : tuple of str
        Why standings and the posterior rule may be wrong; mostly empty.
    """

    policy: str
    model: str
    arms: tuple[str, ...]
    retired: tuple[str, ...]
    votes: int
    imported: int
    ties: int
    skipped: int
    beyond: int
    out: int
    stale: int
    budget: int | None
    idle_rounds: int
    restarts: int
    leader: str | None
    standings: tuple[Standing, ...]
    score: str
    condorcet_exists: float | None
    delta: float
    stopping: tuple[StoppingLine, ...]
    audit: StoredAudit | None = None
    forecast: Forecast | None = None
    doubts: tuple[str, ...] = ()
    parts: int = 1

    def parts_words(self) -> str:
        """Say what several parts mean for standings; empty where there is one."""
        if self.parts == 1:
            return ""
        return (
            f"no votes connect the {self.parts} parts of the arms yet: rank, score and "
            "probabilities are among the arms of the same part, and cannot be compared "
            "across parts"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def measured_words(self, line: StoppingLine) -> str:
        """Return in words how often a rule stops wrongly in studies like this one."""
        if line.rule == "budget":
            return ""
        if self.audit is None:
            return "never measured"
        old = "other arms: " if self.audit.is_stale else ""
        return old + self.audit.words(line.rule)

    def audit_words(self, path: str) -> tuple[str, ...]:
        """Return what the measured errors are about, and how to measure them.

        Parameters
        ----------
        path : str
            Of the study, for the command.
        """
        again = shlex.join(["bayesduel", "audit-stopping", "--from-study", path])
        if self.audit is None:
            return (f"to measure how often these rules stop wrongly: {again}",)
        stale = self.audit.stale_words()
        return (self.audit.about(), *([f"{stale}: {again}"] if stale else []))

    def __str__(self) -> str:
        named = [line for line in self.stopping if line.stopped]
        says = "; ".join(
            f"{line.rule}: stop" + (f", {line.answer}" if line.answer else "")
            for line in named
        )
        return (
            f"{self.votes} votes between {len(self.arms)} arms, {self.out} questions "
            f"out; leader: {self.leader or 'none yet'}; {says or 'not decided'}"
        )


def status_of(state: StudyState, probability: float, now: float) -> StudyStatus:
    """Return the status at a time of day."""
    posterior = fit_votes(state, _DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS)
    rows, words = standings_of(posterior, probability)
    audit = stored_audit(state)
    clock = state.clock_at(now)
    stale = [q for q in state.open.values() if clock - q.asked >= q.lease]
    ties = posterior.data.ties
    return StudyStatus(
        policy=state.settings.policy,
        model=repr(posterior.model),
        arms=posterior.arm_names,
        retired=tuple(
            name
            for name, gone in zip(state.arms, state.is_retired, strict=True)
            if gone
        ),
        votes=state.num_votes,
        imported=int(state.num_imported),
        ties=int(np.triu(ties).sum()),
        skipped=state.num_skipped,
        beyond=state.num_beyond,
        out=len(state.open),
        stale=len(stale),
        budget=state.settings.budget,
        idle_rounds=state.idle_rounds,
        restarts=state.epoch,
        leader=rows[0].arm if words["parts"] == 1 else None,
        standings=rows,
        score=words["score"],
        condorcet_exists=known(words["condorcet_exists"]),
        delta=state.settings.delta,
        stopping=tuple(
            replace(line, measured=None if audit is None else audit.rate(line.rule))
            for line in stopping_of(state, posterior)
        ),
        audit=audit,
        doubts=posterior.doubts,
        parts=words["parts"],
    )


def stopping_of(state: StudyState, posterior: Fit) -> tuple[StoppingLine, ...]:
    """Return what the rules say of the votes that are no ties.

    The anytime rule counts them in the order of asking. The stake of its bets is that
    of the arms with which the study began: it has to be the same all the time.
    """
    delta = state.settings.delta
    weight = 1.0 / len(state.settings.arms)
    anytime = AnytimeEvidence(delta, width=state.settings.width, weight=weight)
    counted = evidence_in_order(state, anytime)
    share = f"{1 - delta:.6g}"
    states = {
        "anytime": (
            counted.found,
            _promise(delta, state.settings.width, counted),
        ),
        "posterior": (
            _posterior_state(posterior, delta),
            f"no arm beats more others with posterior probability {share}; looked at "
            "after every vote it errs more often than that",
        ),
    }
    budget = state.settings.budget
    if budget is not None:
        spent = Budget(budget).evaluate([[0, state.num_votes], [0, 0]])
        meaning = "votes that may be asked for"
        if state.num_beyond:
            meaning += f"; {state.num_beyond} late answers beyond it do not count"
        states["budget"] = spent, meaning
    names = posterior.arm_names
    return tuple(
        StoppingLine(
            rule=rule,
            stopped=bool(found.stopped),
            answer=None if found.answer == NOBODY else names[found.answer],
            leader=None if found.leader == NOBODY else names[found.leader],
            evidence=float(found.evidence),
            threshold=float(found.threshold),
            meaning=meaning,
        )
        for rule, (found, meaning) in states.items()
    )


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
