"""Doubler (Ailon, Karnin and Joachims 2014)."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import one_of_largest, record
from bayesduel.policies.policy import Policy, Problem, checked
from bayesduel.policies.reductions.ucb_machines import (
    UCBState,
    advance,
    feed,
    new_ucb_state,
)
from bayesduel.policies.registry import register
from theory.arguments import number_above


class DoublerState(NamedTuple):
    """The machine of the epoch, and the right arms of this epoch and the last."""

    machine: UCBState
    # How often each arm was right in the last epoch: where left arms come from.
    left: Int[np.ndarray, " K"]
    right: Int[np.ndarray, " K"]  # How often each arm was right in this epoch.
    epoch: Any  # Its number of ``rounds``, and how many of them were ``num_asked`` for.


@register("doubler", acronym="Doubler")
class Doubler(Policy):
    """Doubler: a bandit algorithm plays against its own choices of the epoch before.

    Doubler reduces dueling bandits to an ordinary bandit. One arm of each duel is
    chosen by UCB. The other one is drawn from the choices of UCB in the epoch before,
    so that its distribution is fixed during an epoch.

    Use it as a baseline for reductions to ordinary bandits.

    Parameters
    ----------
    alpha : float
        Width of the UCB bounds, sqrt((alpha + 2) log s / (2 n)), where the rounds s and
        the plays n of an arm are counted within the epoch.

    Notes
    -----
    **Rule.** Epoch i = 1, 2, ... has :math:`2^i` rounds. In each round:

    1. The left arm is drawn from the right arms of the epoch before. In the first epoch
       it is one random arm.
    2. The right arm is chosen by UCB, which starts again with each epoch. Arms that it
       has not chosen yet come first.
    3. UCB receives the reward 1 if the right arm wins, and 0 otherwise.

    A duel of an arm with itself is decided by a fair coin and gives a reward, too.
    Without these rewards it would be a different algorithm. Logarithms are natural, and
    ties are broken at random. An outcome that arrives after its epoch gives no reward.

    **Look-ahead.** None: every round gives a reward to UCB.

    References
    ----------
    N. Ailon, Z. Karnin, T. Joachims, "Reducing Dueling Bandits to Cardinal Bandits",
    ICML 2014, Algorithms 1 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("doubler", alpha=4.5).label
    'Doubler:alpha=4.5'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    alpha: float = checked(3.0, number_above, 0)
    compiled = True

    title: ClassVar[str] = "Doubler"

    def start(self, problem: Problem, rng: Generator) -> DoublerState:
        """Draw the left arm of the first epoch."""
        num_arms = problem.num_arms
        left = np.zeros(num_arms, dtype=np.int64)
        left[rng.integers(num_arms)] = 1
        return DoublerState(
            machine=new_ucb_state(num_arms),
            left=left,
            right=np.zeros_like(left),
            epoch=record(rounds=2, num_asked=0),
        )

    def choose(
        self, state: DoublerState, rng: Generator, round_: int
    ) -> tuple[int, int]:
        """Begin an epoch where one is over; draw the left arm, let the machine name.

        Of a self-duel toss the coin.
        """
        if state.epoch.num_asked == state.epoch.rounds:
            begin_epoch(state)
        # In proportion to its count.
        below, first = state.left[0], 0
        target = rng.random() * (state.epoch.rounds // 2)
        while below <= target:
            first += 1
            below += state.left[first]
        second = advance(rng, state.machine, self.alpha)
        state.right[second] += 1
        state.epoch.num_asked += 1
        if first == second:
            feed(state.machine, second, rng.random() < 0.5)
        return first, second

    def update(
        self,
        state: DoublerState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Feed the machine, if it is still the one that asked."""
        # Epoch i begins with round 2^i - 1 and has 2^i rounds.
        if round_ + 1 >= state.epoch.rounds:
            feed(state.machine, second, not won)

    def recommend(self, state: DoublerState, rng: Generator) -> int:
        """Return the arm that was right most often in the last complete epoch."""
        is_over = state.epoch.num_asked == state.epoch.rounds
        return one_of_largest(rng, state.right if is_over else state.left)


def begin_epoch(state: DoublerState) -> None:
    """Let the arms that were right be the left ones of an epoch with a new machine."""
    for arm in range(len(state.left)):
        state.left[arm] = state.right[arm]
        state.right[arm] = state.machine.pulls[arm] = state.machine.gains[arm] = 0
    state.epoch.rounds *= 2
    state.epoch.num_asked = 0
