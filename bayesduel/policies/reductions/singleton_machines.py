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
    r"""MultiSBM: one ordinary bandit machine (UCB) per left arm.

    Reduces dueling bandits to K ordinary bandits.

    Use it as a baseline for reductions.

    Parameters
    ----------
    alpha : float
        Width sqrt((alpha + 2) log s / (2 n)), s and n counted by each machine.

    Notes
    -----
    **Rule.** In each round:

    1. The left arm is the right arm of the round before; at the start a random one.
    2. The UCB machine of the left arm chooses the right arm, and is fed 1 if that arm
       wins. Arms that a machine has never pulled come first.

    Self-duels are fed as well: their outcome is a fair coin, and it matters. Natural
    logarithm; ties at random.

    **Look-ahead.** None: every round feeds a machine.

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
