"""Where a study stands, or votes in none: who leads, how surely, may one stop."""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import DisconnectedComparisonsWarning, StudyError
from bayesduel.models.argument_checks import check_probability
from bayesduel.models.multinomial_logit import MultinomialLogit
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.stopping import AnytimeEvidence
from bayesduel.stopping.base import conclusion
from bayesduel.studies.audits import StoredAudit, stored_audit
from bayesduel.studies.fits import LOOK, MANY, Standing, fit_votes, standings_of
from bayesduel.studies.judges import JudgeTable, judge_table
from bayesduel.studies.settings import checked_model
from bayesduel.studies.state import StudyState
from bayesduel.studies.stopping import (
    StoppingLine,
    anytime_meaning,
    line_of,
    stopping_of,
)
from bayesduel.votes.checks import arm_names_of
from bayesduel.votes.comparisons import Comparisons
from bayesduel.votes.pairs import given_votes
from theory import PreferenceMatrix, anytime_evidence, identification_bound
from theory.arguments import seed_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.studies.forecast import Forecast


@dataclass(frozen=True)
class StudyStatus:
    """The state of a study, as returned by ``Study.status``.

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
        texts = [f"{self.policy} chooses the questions"]
        if self.idle_rounds:
            times = f"{self.idle_rounds:,} time{'s' * (self.idle_rounds != 1)}"
            alone = "in simulation it would have played its leader against itself"
            texts.append(f"{alone} {times}; these rounds are not asked")
        if self.beyond:
            late = f"{self.beyond} late answers beyond the budget"
            texts.append(f"{late} are kept, and do not count")
        if self.contradictions:
            texts.append(f"{self.contradictions} contradictions count as no votes")
        if self.aside:
            texts.append(f"{self.aside} votes of judges set aside do not count")
        if self.spent:
            texts.append(f"spent: {self.spent:g}")
        if self.retired:
            texts.append(f"retired: {', '.join(self.retired)}")
        return tuple(texts)

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
    """Return the status at a time of day."""
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
    stale = [q for q in state.open.values() if clock - q.asked_at >= q.lease]
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


# --- Votes that are in no study -------------------------------------------------------

_CHAINS, _DRAWS = 4, 250
"""Posterior draws: ends of 90 % intervals are off by about 0.05 of their width."""

_MOST_ARMS = 64
"""With more arms the linear program for the number of votes takes too long."""

_MOST_VOTES = 10**9
_LEAST_GAP = 1e-6
"""Pairs nearer to 1/2 count as ties when the number of votes is estimated."""

_PRECISION = 0.01  # Relative, of the number of votes.


@dataclass(frozen=True, repr=False)
class VotesStanding:
    """Where votes stand, as :func:`bayesduel.standing` returns it.

    Attributes
    ----------
    leader : str or None
        The arm with the largest score; None as long as votes do not connect all arms.
    arms : tuple of Standing
        A line for each arm, the best first: rank and score with intervals,
        probabilities of being the best, and votes. See
        :class:`bayesduel.studies.Standing`.
    score : str
        What the score is.
    model : str
        What the scores assume.
    probability : float
        Of the intervals.
    votes, ties : int
        All votes, and those among them that are ties.
    stopping : StoppingLine
        Whether one may stop: ``stopped``, the ``answer`` that is named, the
        ``evidence`` and the ``threshold`` that it has to reach, and the assumptions as
        ``meaning``.
    votes_needed : int or None
        Votes that are likely needed until one may stop, 0 where one may; None where
        they were not estimated: with more than 64 arms, or 10^9 votes.
    parts : int
        Number of parts of the arms that no votes connect; 1 once all are connected.
    doubts : tuple of str
        Why the scores may be wrong; mostly empty.
    """

    leader: str | None
    arms: tuple[Standing, ...]
    score: str
    model: str
    probability: float
    votes: int
    ties: int
    stopping: StoppingLine
    votes_needed: int | None
    parts: int
    doubts: tuple[str, ...]

    @property
    def may_stop(self) -> bool:
        """Whether the evidence suffices to name an arm."""
        return self.stopping.stopped

    def to_dataframe(self) -> pd.DataFrame:
        """Return a row for each arm, the best first."""
        import pandas as pd

        return pd.DataFrame([asdict(arm) for arm in self.arms]).set_index("arm")

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self) | {"may_stop": self.may_stop}

    def leader_words(self) -> str:
        """Say who leads."""
        count = f"{self.votes:,} vote{'s' * (self.votes != 1)}"
        count += f" between {len(self.arms)} arms"
        if self.leader is None:
            return f"{count} leave them in {self.parts} parts: none leads yet"
        best = self.arms[0]
        return f"{count}: {self.leader!r} leads with {best.score:.3f}, {self.score}"

    def stopping_words(self) -> str:
        """Say whether one may stop, and how many votes are likely needed."""
        line = self.stopping
        if line.stopped:
            return f"one may stop, and name {line.answer!r}"
        needs, has = line.amounts()
        words = f"do not stop yet: the evidence is strongest for {line.leader!r}, with "
        words += f"{has}, where {needs} is needed"
        if self.votes_needed is not None:
            words += f"; about {self.votes_needed:,} more well-chosen votes"
        return words

    def __repr__(self) -> str:
        rows = [[arm.arm, *arm.cells().values()] for arm in self.arms]
        heads = ["arm", *self.arms[0].cells()]
        left_out = {"lost", "tied", "won"} | ({"part"} if self.parts == 1 else set())
        shown = [at for at, head in enumerate(heads) if head not in left_out]
        table = [[row[at] for at in shown] for row in (heads, *rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in table
        ]
        doubts = [f"doubtful: {doubt}" for doubt in self.doubts]
        return "\n".join([self.leader_words(), *lines, self.stopping_words(), *doubts])


def standing(
    votes: Any,
    *,
    delta: float = 0.05,
    model: Any = "beta",
    width: float = 0.0,
    probability: float = 0.9,
    arm_names: Sequence[str] | None = None,
    seed: int = 0,
) -> VotesStanding:
    """Say who leads, how surely, and whether one may stop asking.

    Parameters
    ----------
    votes : Comparisons, int (K, K), pandas.DataFrame, str or path-like, list
        The votes, in any form that :func:`bayesduel.next_pairs` reads. They must be all
        votes that were asked for, in whatever order, and whole.
    delta : float
        Above 0, below 1: the error that is accepted in the name of a winner.
    model : {"beta", "bradley-terry", "thurstone"} or model
        What scores and ranks assume: "beta" nothing beyond a probability for each pair.
        Whether one may stop does not depend on it.
    width : float
        At least 0, below 1/2: pairs that are within it of 1/2 count either way, so that
        arms close to a winner are right answers too; see
        :class:`bayesduel.stopping.AnytimeEvidence`.
    probability : float
        Of the intervals, in (0, 1).
    arm_names : sequence of str, optional
        Names of the arms; those of the votes must be among them.
    seed : int
        Of the draws from the posterior.

    Returns
    -------
    VotesStanding
        Printed as a table. Arms are ordered by mean score, equal ones by position.

    Raises
    ------
    ComparisonDataError
        For votes that cannot be read.
    StudyError
        For an unknown model, or votes that are not whole.
    StoppingRuleError
        For ``delta`` or ``width`` out of range.
    FitError
        For ``probability`` out of range.

    Notes
    -----
    *Stopping.* An arm is named when :class:`bayesduel.stopping.AnytimeEvidence` reaches
    log(1/delta). That holds at any time, however the pairs were chosen and however
    often one looks, if votes on a pair are independent with one probability. Ties are
    no votes for it.

    *Votes that are likely needed.* Each pair is taken to have the probability 1/2 plus
    or minus the mean distance from 1/2 of its Beta distribution, uniform before the
    votes, on the side of its majority (of an even pair, for the arm that comes first).
    `theory.identification_bound` has the proportions in which the winner of that matrix
    is named with the fewest votes. The number is that of the votes that fill up the
    pairs to a multiple of these proportions, the least one at which the evidence
    suffices, if each pair goes on as it is taken to be. It is a point estimate, rough
    while votes are few, and for a policy that asks well, such as
    ``"rd-ts:cost=duels"``: one that asks all pairs equally often needs many times more.
    The page on the next pairs compares it with simulations; the forecast of a study
    simulates, and has intervals.

    Examples
    --------
    >>> votes = [("tea", "milk")] * 60 + [("milk", "tea")] * 25 + [("tea", "cola")] * 9
    >>> tea = standing(votes)
    >>> tea.leader, tea.may_stop, tea.stopping.leader
    ('tea', True, 'tea')
    >>> standing(votes[20:]).may_stop
    False
    """
    from bayesduel.models.fit.fitting import fit

    rule = AnytimeEvidence(delta, width=width)
    probability = check_probability(probability)
    key = seed_of(seed, "seed", kind=StudyError)
    data = _data_of(votes, arm_names)
    assumed = checked_model(model, data.num_arms)
    if isinstance(assumed, MultinomialLogit):
        words, remedy = "must be of pairs", "take 'beta' or 'bradley-terry'"
        raise StudyError("model", words, model, remedy=remedy)
    if not data.is_whole:
        words, remedy = "must hold whole votes", "count every vote once"
        raise StudyError("votes", words, data, remedy=remedy)
    with warnings.catch_warnings():
        # The status names parts that are not connected in words.
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        posterior = fit(
            replace(assumed, ties=data.has_ties),  # pyright: ignore
            data,
            method=assumed.methods[0],
            rng_key=key,
            num_chains=_CHAINS,
            num_draws=_DRAWS,
        )
    rows, words = standings_of(posterior, probability)
    evidence = anytime_evidence(data.wins, prior=rule.prior, width=rule.width)
    leader, threshold = int(evidence.argmax()), -math.log(rule.delta)
    most = float(evidence[leader])
    outcome = conclusion(most >= threshold, leader, most, threshold)
    chosen = "left out, skipped or called a tie"
    meaning = anytime_meaning(rule.delta, rule.width, chosen)
    line = line_of(data.arm_names, "anytime", outcome, meaning)
    return VotesStanding(
        leader=rows[0].arm if words["parts"] == 1 else None,
        arms=rows,
        score=words["score"],
        model=repr(posterior.model),
        probability=probability,
        votes=int(data.num_votes),
        ties=int(np.triu(data.ties).sum()),
        stopping=line,
        votes_needed=0 if line.stopped else _votes_needed(data.wins, rule),
        parts=words["parts"],
        doubts=posterior.doubts,
    )


def _data_of(votes: Any, arm_names: Sequence[str] | None) -> Comparisons:
    """Return votes, between named arms where names are given."""
    if arm_names is None:
        if isinstance(votes, list | tuple) and not votes:
            rule, remedy = "must be given before the first vote", "name the arms"
            raise StudyError("arm_names", rule, None, remedy=remedy)
        return given_votes(votes).table.without_columns()
    names = arm_names_of(arm_names, None)
    wins, ties = np.zeros((2, len(names), len(names)))
    if not (isinstance(votes, list | tuple) and not votes):
        table, has_names = given_votes(votes)
        if not has_names and table.num_arms != len(names):
            rule = f"must name the {table.num_arms} arms of the votes"
            raise StudyError("arm_names", rule, list(names))
        arms = table.arm_names if has_names else names
        unknown = [name for name in arms if name not in names]
        if unknown:
            rule, remedy = "must name all arms of the votes", f"add {unknown[0]!r}"
            raise StudyError("arm_names", rule, list(names), remedy=remedy)
        both = np.ix_(*[[names.index(name) for name in arms]] * 2)
        wins[both], ties[both] = table.wins, table.ties
    return Comparisons.from_wins(wins, ties=ties, arm_names=names)


def _votes_needed(
    wins: Float64[np.ndarray, "K K"], rule: AnytimeEvidence
) -> int | None:
    """Return the votes that fill up pairs to the proportions of the optimum."""
    if len(wins) > _MOST_ARMS:
        return None
    matrix = _typical(wins)
    duels = identification_bound(matrix).duels
    have, threshold = wins + wins.T, -math.log(rule.delta)

    def missing(multiple: float) -> Float64[np.ndarray, "K K"]:
        return np.maximum(multiple * duels - have, 0.0)

    def suffices(multiple: float) -> bool:
        more = np.rint(wins + missing(multiple) * matrix.values)
        np.fill_diagonal(more, 0.0)
        evidence = anytime_evidence(more, prior=rule.prior, width=rule.width)
        return bool(evidence.max() >= threshold)

    low, high = 0.0, 4.0 * threshold
    while not suffices(high):
        low, high = high, 4.0 * high
        if missing(high).sum() > 2 * _MOST_VOTES:
            return None
    while high - low > _PRECISION * high:
        middle = math.sqrt(low * high) if low > 0.0 else 0.5 * high
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return max(1, math.ceil(missing(high).sum() / 2.0))


def _typical(wins: Float64[np.ndarray, "K K"]) -> PreferenceMatrix:
    """Return each pair at its mean distance from 1/2, on the side of its majority."""
    from scipy.special import betainc

    won, lost = wins + 1.0, wins.T + 1.0
    mean = won / (won + lost)
    # E |theta - 1/2| of a Beta distribution, by its two halves.
    above = mean * betainc(lost, won + 1.0, 0.5) - 0.5 * betainc(lost, won, 0.5)
    gaps = 2.0 * above - (mean - 0.5)
    gaps = np.maximum(gaps, _LEAST_GAP)
    ahead = np.where(wins == wins.T, np.tri(len(wins)).T, wins > wins.T)
    values = np.where(ahead > 0, 0.5 + gaps, 0.5 - gaps)
    upper = np.triu(values, 1)
    values = upper + np.tril(1.0 - upper.T, -1)
    np.fill_diagonal(values, 0.5)
    return PreferenceMatrix(values)
