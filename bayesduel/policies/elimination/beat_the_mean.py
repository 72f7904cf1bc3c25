"""Beat the Mean (Yue and Joachims 2011)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import mark_largest, materialize, ordered_pair_mask
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_at_least,
    one_round,
    policy_class,
)
from bayesduel.policies.commitment import commit
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class BeatTheMeanState(NamedTuple):
    """Duels in which each arm was the first one, and who is still in."""

    active: Bool[Array, " K"]
    asked: Int[Array, "K K"]
    """[b, o]: duels with b as the first arm that were asked for."""

    duels: Int[Array, "K K"]
    """Those of them whose outcomes are known."""

    wins: Int[Array, "K K"]
    """Those of these that b won."""

    log_level: Float[Array, ""]
    """log(1/delta) = log(2 T K)."""


@register("beat-the-mean", acronym="BTM")
@policy_class
class BeatTheMean(Policy):
    """Beat the Mean Bandit (BTM).

    The active arm with the fewest duels meets a uniformly random active arm, possibly
    itself, and only the first arm is credited: its share of wins estimates how it fares
    against the "mean bandit". With n* the fewest duels of an active arm, the worst arm
    is removed when its share plus c is at most the best share minus c, with c = 3
    gamma^2 sqrt(log(2 T K) / n*) (natural logarithm, T the horizon; 1 at n* = 0); its
    duels then leave all sums. The last arm is played against itself. For relaxed
    stochastic transitivity with constant gamma.

    Whose turn it is goes by the duels asked for, n* by those whose outcomes are known
    (delayed feedback). All ties are broken at random. A self-duel before the end feeds
    its coin flip, like any other duel. Every round of the exploration is random, so it
    is stepped; ``look_ahead`` plays the rest as one stretch. The recommendation is the
    active arm with the largest share.

    Parameters
    ----------
    gamma : float
        Constant of the transitivity, at least 1.
    tight : bool
        c = gamma^2 sqrt(log(1/delta) / n*) instead, without the factor 3: as the paper
        allows for gamma = 1, and as Komiyama's library has it for every gamma.
    self_duels : bool
        Draw the opponent among all active arms, as the mean bandit is defined; without
        the arm itself if false.
    look_ahead : bool
        Play the end as one stretch. Both forms play the same duels.

    References
    ----------
    Y. Yue, T. Joachims, "Beat the Mean Bandit", ICML 2011, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("beat-the-mean", gamma=1.95).label
    'BTM:gamma=1.95'
    """

    gamma: float = 1.3
    tight: bool = field(default=False, metadata={"static": True})
    self_duels: bool = field(default=True, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Beat the Mean"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_at_least("gamma", self.gamma, 1.0)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> BeatTheMeanState:
        """Return the state before the first round."""
        rounds = jnp.asarray(horizon).astype(jnp.float64)
        none = jnp.zeros((num_arms, num_arms), dtype=jnp.int32)
        return BeatTheMeanState(
            active=jnp.ones(num_arms, dtype=bool),
            asked=none,
            duels=none,
            wins=none,
            log_level=jnp.log(rounds) + jnp.log(jnp.float64(2 * num_arms)),
        )

    def choose(
        self, rng_key: RunKey, state: BeatTheMeanState, round_: RoundCount
    ) -> tuple[Duel, BeatTheMeanState]:
        """Choose the arm with the fewest duels and an opponent, or the last arm."""
        uniforms = jax.random.uniform(rng_key, (2,), dtype=jnp.float64)
        asked = _within(state.asked, state.active)
        fewest = jnp.min(jnp.where(state.active, asked, jnp.iinfo(asked.dtype).max))
        first = choose_among(uniforms[0], state.active & (asked == fewest))
        rivals = state.active
        if not self.self_duels:
            arms = jnp.arange(rivals.shape[0], dtype=jnp.int32)
            rivals = rivals & (arms != first)
        second = choose_among(uniforms[1], rivals)
        alone = jnp.sum(state.active, dtype=jnp.int32) == 1
        last = jnp.argmax(state.active).astype(jnp.int32)
        duel = commit(one_round(first, second), last, alone, look_ahead=self.look_ahead)
        here = ordered_pair_mask(rivals.shape[0], first, second) & ~alone
        return duel, state._replace(asked=state.asked + here.astype(jnp.int32))

    def update(
        self,
        rng_key: RunKey,
        state: BeatTheMeanState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> BeatTheMeanState:
        """Credit the first arm, then remove the worst one if it is surely so."""
        num_arms = state.active.shape[0]
        open_ = jnp.sum(state.active, dtype=jnp.int32) > 1
        here = ordered_pair_mask(num_arms, duel.first, duel.second) & open_
        played = jnp.where(here, outcome.rounds, 0).astype(jnp.int32)
        won = jnp.where(here, outcome.wins, 0).astype(jnp.int32)
        state = state._replace(duels=state.duels + played, wins=state.wins + won)
        shares, fewest = _shares(state)
        worst = jnp.min(jnp.where(state.active, shares, 2.0))
        best = jnp.max(jnp.where(state.active, shares, -1.0))
        radius = self._radius(state.log_level, fewest)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        victim = choose_among(uniform, state.active & (shares == worst))
        removes = open_ & (worst + radius <= best - radius)
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        return state._replace(active=state.active & ~(removes & (arms == victim)))

    def _radius(
        self, log_level: Float[Array, ""], duels: Int[Array, ""]
    ) -> Float[Array, ""]:
        gamma = jnp.asarray(self.gamma, dtype=jnp.float64)
        factor = gamma * gamma * (1.0 if self.tight else 3.0)
        number = duels.astype(jnp.float64)
        radius = factor * jnp.sqrt(log_level / jnp.maximum(number, 1.0))
        return jnp.where(duels > 0, radius, 1.0)

    def recommend(self, rng_key: RunKey, state: BeatTheMeanState) -> Arm:
        """Return the active arm with the largest share of wins."""
        shares, _ = _shares(state)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, mark_largest(shares, state.active))

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.elimination._scalar_beat_the_mean import kernel

        factor = float(self.gamma) ** 2 * (1.0 if self.tight else 3.0)
        return kernel(
            factor=factor, draws_itself=self.self_duels, look_ahead=self.look_ahead
        )


def _within(counts: Int[Array, "K K"], active: Bool[Array, " K"]) -> Int[Array, " K"]:
    """Sum the counts of every arm over active opponents."""
    return jnp.sum(jnp.where(active[None, :], counts, 0), axis=1, dtype=counts.dtype)


def _shares(state: BeatTheMeanState) -> tuple[Float[Array, " K"], Int[Array, ""]]:
    """Return every arm's share of wins, 1/2 without duels, and the fewest duels."""
    duels = _within(state.duels, state.active)
    wins = _within(state.wins, state.active)
    share = wins.astype(jnp.float64) / jnp.maximum(duels, 1).astype(jnp.float64)
    most = jnp.iinfo(duels.dtype).max
    fewest = jnp.min(jnp.where(state.active, duels, most))
    (share,) = materialize(jnp.where(duels > 0, share, 0.5))
    return share, fewest
