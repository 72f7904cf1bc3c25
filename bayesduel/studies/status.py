"""Where a study stands: who leads, how surely, and whether one may stop."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.studies.audits import StoredAudit, stored_audit
from bayesduel.studies.fits import LOOK, MANY, Standing, fit_votes, standings_of
from bayesduel.studies.judges import JudgeTable, judge_table
from bayesduel.studies.state import StudyState
from bayesduel.studies.stopping import StoppingLine, stopping_of

if TYPE_CHECKING:
    from bayesduel.studies.forecast import Forecast


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
    aside : int
        Votes of judges who are set aside: kept, but not counted.
    contradictions : int
        Questions asked in both orders whose answers contradict each other and count as
        no vote.
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
    judges : JudgeTable
        Who answered, how they can be relied on, and what changes without them.
    spent : float
        What the answers have cost.
    doubts : tuple of str
        Why standings and the posterior rule may be wrong; mostly empty.
    is_full : bool
        Whether nothing was left out; see ``Study.status``.
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
    aside: int
    contradictions: int
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
    judges: JudgeTable
    spent: float
    audit: StoredAudit | None = None
    forecast: Forecast | None = None
    doubts: tuple[str, ...] = ()
    parts: int = 1
    is_full: bool = True

    def parts_words(self) -> str:
        """Say what several parts mean for standings; empty where there is one."""
        if self.parts == 1:
            return ""
        return (
            f"no votes connect the {self.parts} parts of the arms yet: rank, score and "
            "probabilities are among the arms of the same part, and cannot be compared "
            "across parts"
        )

    def left_out_words(self) -> str:
        """Say what a quick look at many arms leaves out; empty where it is nothing."""
        if self.is_full:
            return ""
        return (
            f"of more than {MANY} arms, whether one may stop, and what needs draws of "
            "all pairs, is said with full=True (--full)"
        )

    def remarks(self) -> tuple[str, ...]:
        """Say who asks, what does not count, what was spent, and who is retired."""
        rounds = f"{self.idle_rounds} round{'s' * (self.idle_rounds != 1)}"
        found = [f"{self.policy} asks; {rounds} of exploitation left out"]
        if self.beyond:
            late = f"{self.beyond} late answers beyond the budget"
            found.append(f"{late} are kept, and do not count")
        if self.contradictions:
            found.append(f"{self.contradictions} contradictions count as no votes")
        if self.aside:
            found.append(f"{self.aside} votes of judges set aside do not count")
        if self.spent:
            found.append(f"spent: {self.spent:g}")
        if self.retired:
            found.append(f"retired: {', '.join(self.retired)}")
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    @property
    def _is_audited(self) -> bool:
        """Whether there is a rule that can be played in simulations: of pairs."""
        return any(line.rule == "anytime" for line in self.stopping)

    def measured_words(self, line: StoppingLine) -> str:
        """Return in words how often a rule stops wrongly in studies like this one."""
        if not line.is_error or not self._is_audited:
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
        if not self._is_audited:
            return ()
        again = shlex.join(["bayesduel", "audit-stopping", "--from-study", path])
        if self.audit is None:
            return (f"to measure how often these rules stop wrongly: {again}",)
        stale = self.audit.stale_words()
        return (self.audit.about(), *([f"{stale}: {again}"] if stale else []))

    def __str__(self) -> str:
        says = "; ".join(
            f"{line.rule}: {line.says()}" for line in self.stopping if line.stopped
        )
        return (
            f"{self.votes} votes between {len(self.arms)} arms, {self.out} questions "
            f"out; leader: {self.leader or 'none yet'}; {says or 'not decided'}"
        )


def status_of(
    state: StudyState,
    probability: float,
    now: float,
    *,
    leave_out: bool = False,
    full: bool = True,
) -> StudyStatus:
    """Return the status at a time of day.

    With ``leave_out``, or where the study stops by it, also who would lead without the
    votes of each judge. Unless ``full``, of many arms what is known at once.
    """
    full = full or len(state.active) <= MANY
    of_pairs = isinstance(state.model, PairwiseBeta)
    if full:
        posterior = fit_votes(state, *LOOK)
    elif of_pairs:  # Its moments need no draws.
        posterior = fit_votes(state, 0, 4, 4)
    else:
        posterior = fit_votes(state, *LOOK, resample=False)
    rows, words = standings_of(posterior, probability, full=full or not of_pairs)
    audit, exists = stored_audit(state), words["condorcet_exists"]
    clock = state.clock_at(now)
    stale = [q for q in state.open.values() if clock - q.asked >= q.lease]
    leave_out = leave_out or "judges" in state.settings.stop_when
    ties = 0 if state.is_of_sets else np.triu(posterior.data.ties).sum()
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
        ties=int(ties),
        skipped=state.num_skipped,
        beyond=state.num_beyond,
        aside=state.num_aside,
        contradictions=state.num_nothing,
        out=len(state.open),
        stale=len(stale),
        budget=state.settings.budget,
        idle_rounds=state.idle_rounds,
        restarts=state.epoch,
        leader=rows[0].arm if words["parts"] == 1 else None,
        standings=rows,
        score=words["score"],
        condorcet_exists=None if math.isnan(exists) else float(exists),
        delta=state.settings.delta,
        stopping=tuple(
            replace(line, measured=None if audit is None else audit.rate(line.rule))
            for line in stopping_of(state, posterior, certain=full)
        ),
        judges=judge_table(state, leave_out=leave_out, everyone=full),
        spent=state.spent,
        audit=audit,
        doubts=posterior.doubts,
        parts=words["parts"],
        is_full=full,
    )
