"""Relative Upper Confidence Bound (Zoghi et al. 2014)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.arrays import column_of, row_of
from bayesduel.policies.base import (
    Policy,
    check_above,
    most_beaten,
    others_mask,
    policy_class,
)
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.sampling import choose_among
from bayesduel.policies.thresholds import (
    is_unresolved,
    last_resolved_round,
    log_round,
    resolution,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

_NOBODY = -1


class RelativeUCBState(NamedTuple):
    """Counts and the hypothesized best arm."""

    wins: Int[Array, "K K"]
    resolution: Float[Array, "K K"]
    """Log of the last round at which a pair's bounds exclude 1/2."""

    hypothesis: Arm
    """The arm taken for the best one, or -1."""


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
        others = others_mask(num_arms)
        return RelativeUCBState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            resolution=jnp.where(others, jnp.float64(-1.0), jnp.inf),
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
            beaten = _surely_beaten(state, round_)
            everybody = jnp.all(beaten | ~others_mask(beaten.shape[0]), axis=0)
            champion = jnp.sum(jnp.where(everybody, arms, 0), dtype=jnp.int32)
            weakest = jnp.min(column_of(state.resolution, champion))
            last = last_resolved_round(round_, weakest)
            stretch = jnp.where(jnp.any(everybody), last - round_ + 1, 0)
            hypothesis = jnp.where(jnp.any(everybody), champion, state.hypothesis)
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
        candidates = ~jnp.any(_surely_beaten(state, round_), axis=1)
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

        upper = self._upper_bounds(state, round_, champion)
        tied = upper == jnp.max(upper)
        several = jnp.sum(tied, dtype=jnp.int32) > 1
        challenger = choose_among(uniforms[2], tied & ~(several & (arms == champion)))
        return champion, challenger, hypothesis

    def _upper_bounds(
        self, state: RelativeUCBState, round_: RoundCount, champion: Arm
    ) -> Float[Array, " K"]:
        """u[j, champion] for all j; 1/2 for the champion, 2 if never compared."""
        wins = column_of(state.wins, champion).astype(jnp.float64)
        duels = wins + row_of(state.wins, champion).astype(jnp.float64)
        compared = jnp.maximum(duels, 1.0)
        width = jnp.sqrt(self.alpha * log_round(round_) / compared)
        upper = jnp.where(duels > 0, wins / compared + width, 2.0)
        arms = jnp.arange(state.wins.shape[0], dtype=jnp.int32)
        return jnp.where(arms == champion, 0.5, upper)

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
        bounds = resolution(wins, wins.T, jnp.asarray(self.alpha, dtype=jnp.float64))
        return state._replace(
            wins=wins,
            resolution=jnp.where(others_mask(wins.shape[0]), bounds, jnp.inf),
        )

    def recommend(self, rng_key: RunKey, state: RelativeUCBState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins)


def _surely_beaten(state: RelativeUCBState, round_: RoundCount) -> Bool[Array, "K K"]:
    """[i, j]: u_ij < 1/2, that is, j beats i for sure."""
    behind = state.wins < state.wins.T
    return behind & ~is_unresolved(log_round(round_), state.resolution)
