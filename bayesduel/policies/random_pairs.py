"""Random pairs, the rule that learns nothing from what it sees."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Int

from bayesduel.policies.base import Policy, most_beaten, one_round, policy_class
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class RandomPairsState(NamedTuple):
    """Counts, for the recommendation only."""

    wins: Int[Array, "K K"]


@register("random", acronym="Random")
@policy_class
class RandomPairs(Policy):
    """Uniformly random pairs, a yardstick.

    Both arms are drawn independently of everything, so self-duels occur in one round of
    K. The regret grows by the same amount in every round.

    There is no look-ahead: no two rounds belong together, and a stretch would have to
    put the duels of a pair one after the other, which a checkpoint inside it shows.

    Parameters
    ----------
    distinct : bool
        Draw two different arms.

    References
    ----------
    The baseline of J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound
    and Optimal Algorithm in Dueling Bandit Problem", COLT 2015.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("random").label
    'Random'
    """

    distinct: bool = field(default=False, metadata={"static": True})

    title: ClassVar[str] = "Random pairs"

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> RandomPairsState:
        """Return the state before the first round."""
        return RandomPairsState(wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32))

    def choose(
        self, rng_key: RunKey, state: RandomPairsState, round_: RoundCount
    ) -> tuple[Duel, RandomPairsState]:
        """Draw a pair."""
        num_arms = state.wins.shape[0]
        uniforms = jax.random.uniform(rng_key, (2,), dtype=jnp.float64)
        first = (uniforms[0] * num_arms).astype(jnp.int32)
        if self.distinct:
            step = (uniforms[1] * (num_arms - 1)).astype(jnp.int32) + 1
            second = (first + step) % num_arms
        else:
            second = (uniforms[1] * num_arms).astype(jnp.int32)
        return one_round(first, second), state

    def update(
        self,
        rng_key: RunKey,
        state: RandomPairsState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> RandomPairsState:
        """Count the outcome."""
        return RandomPairsState(wins=add_wins(state.wins, duel, outcome))

    def recommend(self, rng_key: RunKey, state: RandomPairsState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies._scalar_random_pairs import kernel

        return kernel(distinct=self.distinct)
