"""Interleaved Filter (Yue, Broder, Kleinberg and Joachims 2012)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import record
from bayesduel.policies.policy import Duel, Policy, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import one_of

VARIANTS = ("if1", "if2")


class InterleavedFilterState(NamedTuple):
    """The rivals of the incumbent, and what is known of their duels."""

    rivals: Bool[np.ndarray, " K"]
    wins: Int[np.ndarray, " K"]  # Duels against each rival that the incumbent won.
    duels: Int[np.ndarray, " K"]
    # The ``incumbent``, and the ``rival`` dueled last in this sweep; K at its end.
    now: Any
    log_level: float  # log(1/delta) = log(T K^2).
    drops_likely_losers: bool  # Whether the variant is IF2.


@register("interleaved-filter", acronym="IF")
class InterleavedFilter(Policy):
    r"""Interleaved Filter (IF1, IF2).

    One arm, the *incumbent*, meets all remaining rivals in turn. Rivals that surely
    lose are removed. A rival that surely wins becomes the incumbent. The policy needs
    the horizon.

    Use it as an early baseline if preferences satisfy strong stochastic transitivity.

    Parameters
    ----------
    variant : {"if1", "if2"}
        "if1" without, or "if2" with the additional removals of step 3.
    look_ahead : bool
        Play the rounds after the last rival is removed as one stretch; the duels are
        the same.

    Notes
    -----
    **Rule.** The first incumbent is random. For each rival let n be the number of its
    duels with the incumbent, P the share of them that the incumbent won, and
    :math:`c=\sqrt{4\log(TK^2)/n}` (natural logarithm, T the horizon).

    1. *Sweep.* The incumbent meets every remaining rival once, in the order of their
       positions.
    2. *Remove.* Rivals with P - c > 1/2 are removed.
    3. *Replace.* If some rival has P + c < 1/2, the first such rival becomes the
       incumbent, and all estimates start again. IF2 then also removes all rivals with P
       > 1/2, whatever their confidence intervals.
    4. *The end.* When no rival is left, the incumbent meets itself in every round.

    The recommendation is the incumbent.

    **Assumptions.** Strong stochastic transitivity, the stochastic triangle inequality,
    and a known horizon.

    **Look-ahead.** Each round of a sweep changes an estimate, so the exploration is
    played round by round. The rest is one stretch.

    References
    ----------
    Y. Yue, J. Broder, R. Kleinberg, T. Joachims, "The K-armed Dueling Bandits Problem",
    Journal of Computer and System Sciences 78, 2012, Algorithms 2 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("interleaved-filter").label
    'IF'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    variant: str = checked("if2", one_of, VARIANTS)
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "Interleaved Filter"
    needs_horizon: ClassVar[bool] = True

    def start(self, problem: Problem, rng: Generator) -> InterleavedFilterState:
        """Draw the first incumbent."""
        num_arms = problem.num_arms
        incumbent = int(rng.integers(num_arms))
        return InterleavedFilterState(
            rivals=np.arange(num_arms) != incumbent,
            wins=np.zeros(num_arms, dtype=np.int64),
            duels=np.zeros(num_arms, dtype=np.int64),
            now=record(incumbent=incumbent, rival=num_arms),
            log_level=math.log(problem.horizon) + 2.0 * math.log(num_arms),
            drops_likely_losers=self.variant == "if2",
        )

    def choose(
        self, state: InterleavedFilterState, rng: Generator, round_: int
    ) -> Duel:
        """Choose the next rival of the sweep; judge the last sweep before a new one."""
        now = state.now
        now.rival = next_rival(state, now.rival + 1)
        if now.rival == len(state.rivals):
            judge(state)
            now.rival = next_rival(state, 0)
        arm = now.incumbent
        if now.rival < len(state.rivals):
            return Duel(arm, 0, arm, now.rival, True)
        if self.look_ahead:
            return Duel(arm, LONGEST_HORIZON, arm, arm, False)
        return Duel(arm, 0, arm, arm, True)

    def update(
        self,
        state: InterleavedFilterState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count a duel of the incumbent; one of a former incumbent says nothing."""
        if first == state.now.incumbent:
            state.wins[second] += won
            state.duels[second] += 1

    def recommend(self, state: InterleavedFilterState, rng: Generator) -> int:
        """Return the incumbent."""
        return state.now.incumbent


def next_rival(state: InterleavedFilterState, start: int) -> int:
    """Return the first rival from ``start`` on, K if there is none."""
    arm = start
    while arm < len(state.rivals) and not state.rivals[arm]:
        arm += 1
    return min(arm, len(state.rivals))


def judge(state: InterleavedFilterState) -> None:
    """Drop rivals, or replace the incumbent, at the end of a sweep."""
    rivals, heir = state.rivals, -1
    for arm in range(len(rivals)):
        lead = float(2 * state.wins[arm] - state.duels[arm])
        # |P - 1/2| > c with n the number of duels: (w - l)^2 > 16 n log(1/delta).
        if rivals[arm] and lead * lead > 16.0 * state.duels[arm] * state.log_level:
            if lead > 0.0:
                rivals[arm] = False
            elif heir < 0:
                heir = arm
    if heir >= 0:
        rivals[heir] = False
        if state.drops_likely_losers:
            for arm in range(len(rivals)):
                rivals[arm] = rivals[arm] and 2 * state.wins[arm] <= state.duels[arm]
        state.now.incumbent = heir
        state.wins.fill(0)
        state.duels.fill(0)
