"""MultiSBM (Ailon, Karnin and Joachims 2014)."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import one_of_largest, record
from bayesduel.policies.policy import Policy, Problem, checked
from bayesduel.policies.reductions.ucb_machines import UCBState, advance, feed
from bayesduel.policies.registry import register
from theory.arguments import number_above


class MultiSBMState(NamedTuple):
    """One machine per left arm, and the arm that was right in the last round."""

    pulls: Int[np.ndarray, "K K"]  # [x, y]: rewards that machine x was fed for arm y.
    gains: Int[np.ndarray, "K K"]
    now: Any  # The ``last`` right arm.


@register("multisbm", acronym="MultiSBM")
class MultiSBM(Policy):
    """MultiSBM: one ordinary bandit algorithm (UCB) per left arm.

    MultiSBM reduces dueling bandits to K ordinary bandits, one for each arm that may be
    the left one. The bandit of the left arm chooses the right arm.

    Use it as a baseline for reductions to ordinary bandits.

    Parameters
    ----------
    alpha : float
        Width of the UCB bounds, sqrt((alpha + 2) log s / (2 n)), where each UCB counts
        its own rounds s and plays n of an arm.

    Notes
    -----
    **Rule.** In each round:

    1. The left arm is the right arm of the round before. In the first round it is a
       random arm.
    2. The UCB of the left arm chooses the right arm. Arms that it has never chosen come
       first.
    3. This UCB receives the reward 1 if the right arm wins, and 0 otherwise.

    A duel of an arm with itself gives a reward, too, which is a fair coin. Leaving it
    out would be another algorithm. Logarithms are natural, and ties are broken at
    random.

    **Look-ahead.** None: every round gives a reward to some UCB.

    References
    ----------
    N. Ailon, Z. Karnin, T. Joachims, "Reducing Dueling Bandits to Cardinal Bandits",
    ICML 2014, Algorithms 2 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("multisbm", alpha=4.5).label
    'MultiSBM:alpha=4.5'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    alpha: float = checked(3.0, number_above, 0)
    compiled = True

    title: ClassVar[str] = "Multiple Singleton Bandit Machines (MultiSBM)"

    def start(self, problem: Problem, rng: Generator) -> MultiSBMState:
        """Draw the first left arm."""
        num_arms = problem.num_arms
        nothing = np.zeros((num_arms, num_arms), dtype=np.int64)
        return MultiSBMState(
            pulls=nothing,
            gains=nothing.copy(),
            now=record(last=int(rng.integers(num_arms))),
        )

    def choose(
        self, state: MultiSBMState, rng: Generator, round_: int
    ) -> tuple[int, int]:
        """Let the machine of the last right arm name the next one.

        Of a self-duel toss the coin.
        """
        first = state.now.last
        machine = UCBState(pulls=state.pulls[first], gains=state.gains[first])
        second = advance(rng, machine, self.alpha)
        if first == second:
            feed(machine, second, rng.random() < 0.5)
        state.now.last = second
        return first, second

    def update(
        self,
        state: MultiSBMState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Feed the machine of the left arm."""
        machine = UCBState(pulls=state.pulls[first], gains=state.gains[first])
        feed(machine, second, not won)

    def recommend(self, state: MultiSBMState, rng: Generator) -> int:
        """Return the arm that was most often on the right."""
        rights = np.zeros(len(state.pulls), dtype=np.int64)
        for pulls in state.pulls:
            rights += pulls
        return one_of_largest(rng, rights)
