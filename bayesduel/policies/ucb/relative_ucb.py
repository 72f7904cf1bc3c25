"""Relative Upper Confidence Bound (Zoghi et al. 2014)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.masks import mark_largest
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_above,
    most_beaten,
    policy_class,
)
from bayesduel.policies.confidence_bounds import (
    resolutions,
    rounds_as_sure_winner,
    sure_winner,
    surely_beaten,
    uncompared,
    upper_bounds_around_half,
)
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory import rucb_bound

_NOBODY = -1


class RelativeUCBState(NamedTuple):
    """Counts and the hypothesized best arm."""

    wins: Int[Array, "K K"]
    resolution: Float[Array, "K K"]
    """Log of the last round at which a pair's bounds exclude 1/2."""

    hypothesis: Arm
    """The arm taken for the best one, or -1."""


@register("rucb", acronym="RUCB", theorems=(rucb_bound,))
@policy_class
class RelativeUCB(Policy):
    """Relative Upper Confidence Bound (RUCB).

    The champion is drawn among the arms that no other arm beats for sure (u >= 1/2
    against all), the challenger is the arm with the largest upper bound against it,
    the champion itself included at 1/2. When all others are below 1/2 the champion
    duels itself; no random number and no count is involved until the first bound comes
    back to 1/2, which ``look_ahead`` computes.

    Ties among challengers are broken at random, never in favor of the champion. ``log``
    is natural; an uncompared pair has u = 2.

    Parameters
    ----------
    alpha : float
        u = wins/n + sqrt(alpha log t / n); > 1/2 in the theory.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    M. Zoghi, S. Whiteson, R. Munos, M. de Rijke, "Relative Upper Confidence Bound for
    the K-Armed Dueling Bandit Problem", ICML 2014, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rucb", alpha=0.765).label
    'RUCB:alpha=0.765'
    """

    alpha: float = 0.51
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Relative Upper Confidence Bound"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.5)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> RelativeUCBState:
        """Return the state before the first round."""
        return RelativeUCBState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            resolution=uncompared(num_arms),
            hypothesis=jnp.int32(_NOBODY),
        )

    def choose(
        self, rng_key: RunKey, state: RelativeUCBState, round_: RoundCount
    ) -> tuple[Duel, RelativeUCBState]:
        """Choose champion and challenger, after the self-duels that come first."""
        if not self.look_ahead:
            first, second, hypothesis = self._rule(rng_key, state, round_)
            stretch = jnp.int64(0)
        else:
            # C = {c} and u[j, c] < 1/2 for all others is a self-duel; the second
            # implies the first, and holds until the first such bound reaches 1/2.
            arms = jnp.arange(state.wins.shape[0], dtype=jnp.int32)
            beaten = surely_beaten(state.wins, state.resolution, round_)
            sure = sure_winner(beaten)
            champion = jnp.sum(jnp.where(sure, arms, 0), dtype=jnp.int32)
            stretch = rounds_as_sure_winner(champion, state.resolution, round_)
            stretch = jnp.where(jnp.any(sure), stretch, 0)
            hypothesis = jnp.where(jnp.any(sure), champion, state.hypothesis)
            state = state._replace(hypothesis=hypothesis)
            first, second, hypothesis = self._rule(rng_key, state, round_ + stretch)
        duel = Duel(
            champion=state.hypothesis,
            exploit_rounds=stretch,
            first=first,
            second=second,
            explore_rounds=jnp.int64(1),
        )
        return duel, state._replace(hypothesis=hypothesis)

    def _rule(
        self, rng_key: RunKey, state: RelativeUCBState, round_: RoundCount
    ) -> tuple[Arm, Arm, Arm]:
        """One round as printed: champion, challenger, new hypothesis."""
        num_arms = state.wins.shape[0]
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        uniforms = jax.random.uniform(rng_key, (3,), dtype=jnp.float64)
        candidates = ~jnp.any(
            surely_beaten(state.wins, state.resolution, round_), axis=1
        )
        number = jnp.sum(candidates, dtype=jnp.int32)
        keeps = jnp.any(candidates & (arms == state.hypothesis))
        only = jnp.sum(jnp.where(candidates, arms, 0), dtype=jnp.int32)
        hypothesis = jnp.where(keeps, state.hypothesis, _NOBODY)
        hypothesis = jnp.where(number == 1, only, hypothesis)

        is_hypothesis = arms == hypothesis
        pool = jnp.where(number == 0, True, candidates & ~is_hypothesis)
        loyal = (hypothesis != _NOBODY) & ((number == 1) | (uniforms[0] < 0.5))
        # With one candidate the pool without it is empty and not used.
        drawn = choose_among(uniforms[1], pool | (number == 1))
        champion = jnp.where(loyal, hypothesis, drawn)

        upper = upper_bounds_around_half(
            champion, state.wins, state.resolution, round_, self.alpha
        )
        tied = mark_largest(upper)
        several = jnp.sum(tied, dtype=jnp.int32) > 1
        challenger = choose_among(uniforms[2], tied & ~(several & (arms == champion)))
        return champion, challenger, hypothesis

    def update(
        self,
        rng_key: RunKey,
        state: RelativeUCBState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> RelativeUCBState:
        """Count the outcome."""
        wins = add_wins(state.wins, duel, outcome)
        return state._replace(wins=wins, resolution=resolutions(wins, self.alpha))

    def recommend(self, rng_key: RunKey, state: RelativeUCBState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.ucb._scalar_relative_ucb import kernel

        return kernel(alpha=float(self.alpha), look_ahead=self.look_ahead)
