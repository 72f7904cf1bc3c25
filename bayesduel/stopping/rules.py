"""Rules for stopping, on a table of counts; kernels play the same in simulations."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesduel.errors import StoppingRuleError, errors_as
from bayesduel.stopping.base import NOBODY, StoppingRule, StoppingState, check_rule
from bayesduel.stopping.posterior_probabilities import log_probability_wrong
from theory import anytime_evidence
from theory.arguments import (
    integer_from,
    number_within,
    share_of,
)
from theory.identification.evidence import checked_wins


@dataclass(frozen=True)
class AnytimeEvidence(StoppingRule):
    """Stop when the anytime-valid evidence for an arm reaches log(1/delta).

    Each arm that is no right answer is named with probability at most ``delta``,
    whatever decides about the next duel and however often one looks; see
    :func:`theory.anytime_evidence`, which is the evidence. ``delta`` bounds the
    probability of naming any of them, too, if no pair is at exactly 1/2 or ``width`` is
    above 0; with such pairs and no width that is at most ``2 * delta``. Duels have to
    be counted in the order in which they were asked for: answers that are selected, or
    sorted, by what they say have no guarantee.

    Parameters
    ----------
    delta : float
        Above 0, below 1.
    width : float
        At least 0, below 1/2: pairs within ``width`` of 1/2 count either way, so that
        arms close to a winner are right answers as well. Without it two winners that
        differ by a pair at 1/2 are never told apart.
    prior : float
        From 0.001 to 1000: Beta(prior, prior) is the mixture of the bets.
    weight : float, optional
        Between 0 and 1; 1/K by default. Give it where arms may join later: it has to
        be the same all the time.

    Examples
    --------
    >>> rule = AnytimeEvidence(0.01)
    >>> state = rule.evaluate([[0, 300, 90], [200, 0, 80], [10, 20, 0]])
    >>> state.stopped, state.answer, round(state.evidence, 2), round(state.threshold, 2)
    (True, 0, 5.53, 4.61)
    """

    delta: float
    width: float = 0.0
    prior: float = 0.5
    weight: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_delta(self.delta)
        # The evidence of nothing checks the rest.
        with errors_as(StoppingRuleError):
            self._evidence(np.zeros((2, 2)))

    def evaluate(
        self, wins: ArrayLike, unknown: ArrayLike | None = None
    ) -> StoppingState:
        """Say whether some arm has enough evidence.

        Parameters
        ----------
        wins : array-like (K, K)
            Entry (i, j): number of duels with j that i won.
        unknown : array-like (K, K), optional
            Symmetric: further duels, whose outcomes are not known. They count against
            whichever arm would be named.
        """
        found = self._evidence(wins, unknown)
        leader = int(found.argmax())
        return _state(leader, float(found[leader]), -math.log(self.delta))

    def _evidence(
        self, wins: ArrayLike, unknown: ArrayLike | None = None
    ) -> np.ndarray:
        return anytime_evidence(
            wins,
            prior=self.prior,
            weight=self.weight,
            width=self.width,
            unknown=unknown,
        )

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping._scalar_evidence import stopping

        return stopping(
            delta=float(self.delta),
            width=float(self.width),
            prior=float(self.prior),
            weight=self.weight,
        )


@dataclass(frozen=True)
class PosteriorProbability(StoppingRule):
    """Stop when the leader is a Copeland winner with posterior probability 1 - delta.

    Every pair has an independent distribution Beta(prior, prior) before the duels. The
    leader has the largest expected number of wins. Its probability to be beaten is
    bounded by the sum over the rivals of their probabilities to have more wins, each of
    which is exact; the evidence is minus the logarithm of that sum.

    Looked at once, after a number of duels that was fixed before, this is a sensible
    rule. Looked at after every duel it is *no* rate of errors: on some matrices many
    times more than ``delta`` of the names are wrong (see the note on stopping).

    Parameters
    ----------
    delta : float
        Above 0, below 1.
    prior : float
        From 0.001 to 1000.

    Examples
    --------
    >>> rule = PosteriorProbability(0.01)
    >>> state = rule.evaluate([[0, 60, 80], [40, 0, 70], [20, 30, 0]])
    >>> state.stopped, state.leader, round(float(np.exp(-state.evidence)), 4)
    (False, 0, 0.023)
    """

    delta: float
    prior: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_delta(self.delta)
        number_within(self.prior, 0.001, 1000, "prior", kind=StoppingRuleError)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether the leader is probable enough."""
        leader, wrong = log_probability_wrong(checked_wins(wins), float(self.prior))
        return _state(leader, -wrong, -math.log(self.delta))

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping._scalar_posterior import stopping

        return stopping(delta=float(self.delta), prior=float(self.prior))


@dataclass(frozen=True)
class Budget(StoppingRule):
    """Stop after so many duels, and name nobody.

    Parameters
    ----------
    duels : int
        At least 1.

    Examples
    --------
    >>> rule = AnytimeEvidence(0.01) | Budget(100)
    >>> rule.evaluate([[0, 60], [40, 0]])
    StoppingState(stopped=True, answer=-1, leader=-1, evidence=100.0, threshold=100.0)
    """

    duels: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_duels(self.duels)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether the budget is spent."""
        spent = float(checked_wins(wins).sum())
        limit = float(self.duels)
        return StoppingState(spent >= limit, NOBODY, NOBODY, spent, limit)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping.scalar_rules import budget

        return budget(int(self.duels))


@dataclass(frozen=True)
class LookEvery(StoppingRule):
    """Look at a rule after every so many duels only.

    Parameters
    ----------
    rule : StoppingRule
    duels : int
        At least 1.

    Examples
    --------
    >>> LookEvery(Budget(5), duels=4).evaluate([[0, 4], [2, 0]]).stopped
    False
    >>> LookEvery(Budget(5), duels=3).evaluate([[0, 4], [2, 0]]).stopped
    True
    """

    rule: StoppingRule
    duels: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_rule("rule", self.rule)
        check_duels(self.duels)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether one looks now, and what the rule says then."""
        found = self.rule.evaluate(wins)
        looks = checked_wins(wins).sum() % self.duels == 0
        return found if looks else found._replace(stopped=False, answer=NOBODY)

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping.scalar_rules import look_every

        return look_every(self.rule.scalar_stopping(), int(self.duels))


def check_duels(value: Any) -> None:
    """Raise ``StoppingRuleError`` for what is no number of duels."""
    integer_from(value, 1, "duels", kind=StoppingRuleError)


def _check_delta(value: Any) -> None:
    share_of(value, "delta", kind=StoppingRuleError)


def _state(leader: int, evidence: float, threshold: float) -> StoppingState:
    stopped = evidence >= threshold
    answer = leader if stopped else NOBODY
    return StoppingState(stopped, answer, leader, evidence, threshold)
