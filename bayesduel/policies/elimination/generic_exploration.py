"""SAVAGE (Urvoy, Clerot, Feraud and Naamane 2013)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.masks import row_of
from bayesduel.ops.sampling import choose_among, choose_weighted
from bayesduel.policies.base import (
    Policy,
    check_choice,
    one_round,
    others_mask,
    policy_class,
)
from bayesduel.policies.commitment import commit
from bayesduel.policies.pair_counts import add_asked, add_wins
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

GOALS = ("condorcet", "copeland")
_NOBODY = -1


class SavageState(NamedTuple):
    """Counts, the pairs that still matter, and the winner once none does."""

    wins: Int[Array, "K K"]
    asked: Int[Array, "K K"]
    """Duels asked for, whether their outcomes are known or not; symmetric."""

    open: Bool[Array, "K K"]
    """Pairs still explored; above the diagonal."""

    winner: Arm
    """The arm to stay with, or -1."""

    log_level: Float[Array, ""]
    """log(K (K - 1) T / delta)."""


class _Bounds(NamedTuple):
    """What the confidence intervals say of every ordered pair."""

    above: Bool[Array, "K K"]
    """[i, j]: the interval of P(i beats j) lies above 1/2."""

    below: Bool[Array, "K K"]
    most: Int[Array, " K"]
    """Opponents that an arm may beat."""

    least: Int[Array, " K"]
    """Opponents that it beats for sure."""


@register("savage-copeland", acronym="SAVAGE-Copeland", goal="copeland")
@register("savage", acronym="SAVAGE")
@policy_class
class Savage(Policy):
    """Sensitivity analysis of variables for generic exploration (SAVAGE).

    Duels the pair compared least often among those that may still decide who the winner
    is, then stays with that arm. A pair with n duels has the confidence interval w/n
    +- sqrt(log(K (K - 1) T / delta) / (2 n)), natural logarithm, T the horizon. With
    ``goal="condorcet"`` an arm is out when an interval lies below 1/2, and all its
    pairs with it. With ``goal="copeland"`` a pair is dropped when its interval excludes
    1/2, or when, by the intervals, both arms beat at most so many others (optimistic
    counts) as some arm beats for sure: fewer, or with ``strict=False`` not more, which
    is enough to find one of several winners. A dropped pair never returns. Duels count
    as compared when they are asked for (delayed feedback).

    Ties among pairs, and among the best arms at the end, are broken at random. The
    winner is the arm with the largest optimistic count, then the largest sure one; so
    is the recommendation before the end. Every round of the exploration moves a count,
    so those rounds are stepped; ``look_ahead`` plays what follows as one stretch.

    Parameters
    ----------
    goal : {"condorcet", "copeland"}
        Which winner to find.
    delta : float
        Allowed failure probability; 0, the default, stands for 1/T.
    strict : bool
        For the goal "copeland": drop a pair only if both arms are surely worse.
    look_ahead : bool
        Play the end as one stretch. Both forms play the same duels.

    References
    ----------
    T. Urvoy, F. Clerot, R. Feraud, S. Naamane, "Generic Exploration and K-armed Voting
    Bandits", ICML 2013, Sections 4 and 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("savage-copeland").label
    'SAVAGE-Copeland'
    """

    goal: str = field(default="condorcet", metadata={"static": True})
    delta: float = 0.0
    strict: bool = field(default=True, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "SAVAGE"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_choice("goal", self.goal, GOALS)
        if not (0.0 <= self.delta < 1.0):
            raise PolicyParameterError(
                "delta must be a probability above 0 and below 1, or 0 for 1/T; "
                f"got {self.delta!r}"
            )

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> SavageState:
        """Return the state before the first round."""
        rounds = jnp.asarray(horizon).astype(jnp.float64)
        delta = jnp.asarray(self.delta, dtype=jnp.float64)
        # As a sum of logarithms: a product of integers would overflow.
        doubt = jnp.where(
            delta > 0.0, -jnp.log(jnp.maximum(delta, 1e-300)), jnp.log(rounds)
        )
        pairs = jnp.log(jnp.float64(num_arms * (num_arms - 1)))
        none = jnp.zeros((num_arms, num_arms), dtype=jnp.int32)
        return SavageState(
            wins=none,
            asked=none,
            open=jnp.asarray(np.triu(others_mask(num_arms))),
            winner=jnp.int32(_NOBODY),
            log_level=pairs + jnp.log(rounds) + doubt,
        )

    def choose(
        self, rng_key: RunKey, state: SavageState, round_: RoundCount
    ) -> tuple[Duel, SavageState]:
        """Choose the pair compared least often, or the winner."""
        uniforms = jax.random.uniform(rng_key, (2,), dtype=jnp.float64)
        never = jnp.iinfo(state.asked.dtype).max
        fewest = jnp.min(jnp.where(state.open, state.asked, never))
        rare = state.open & (state.asked == fewest)
        weights = jnp.sum(rare, axis=1, dtype=jnp.int32).astype(jnp.float64)
        first = choose_weighted(uniforms[0], weights)
        second = choose_among(uniforms[1], row_of(rare, first))
        winner = jnp.maximum(state.winner, 0)
        duel = commit(
            one_round(first, second),
            winner,
            state.winner != _NOBODY,
            look_ahead=self.look_ahead,
        )
        return duel, state._replace(asked=add_asked(state.asked, duel))

    def update(
        self,
        rng_key: RunKey,
        state: SavageState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> SavageState:
        """Count the outcome and drop the pairs that no longer matter."""
        wins = add_wins(state.wins, duel, outcome)
        bounds = _bounds(wins, state.log_level)
        left = state.open & ~self._decided(bounds)
        found = _best(rng_key, bounds)
        ends = ~jnp.any(left) & (state.winner == _NOBODY)
        return state._replace(
            wins=wins, open=left, winner=jnp.where(ends, found, state.winner)
        )

    def _decided(self, bounds: _Bounds) -> Bool[Array, "K K"]:
        """Mark the pairs that cannot change the answer."""
        if self.goal == "condorcet":
            out = jnp.any(bounds.below, axis=1)
            return out[:, None] | out[None, :]
        surest = jnp.max(bounds.least)
        if self.strict:
            behind = bounds.most < surest
        else:
            behind = bounds.most <= surest
        return bounds.above | bounds.below | (behind[:, None] & behind[None, :])

    def recommend(self, rng_key: RunKey, state: SavageState) -> Arm:
        """Return the winner, or the most promising arm."""
        found = _best(rng_key, _bounds(state.wins, state.log_level))
        return jnp.where(state.winner == _NOBODY, found, state.winner)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.elimination._scalar_generic_exploration import kernel

        return kernel(
            finds_copeland=self.goal == "copeland",
            strict=self.strict,
            delta=float(self.delta),
            look_ahead=self.look_ahead,
        )


def _bounds(wins: Int[Array, "K K"], log_level: Float[Array, ""]) -> _Bounds:
    """Compare every interval with 1/2: |w - l| / (2 n) > sqrt(log_level / (2 n))."""
    lead = (wins - wins.T).astype(jnp.float64)
    duels = (wins + wins.T).astype(jnp.float64)
    sure = lead * lead > 2.0 * duels * log_level
    above, below = sure & (lead > 0.0), sure & (lead < 0.0)
    others = others_mask(wins.shape[0])
    return _Bounds(
        above=above,
        below=below,
        most=jnp.sum(others & ~below, axis=1, dtype=jnp.int32),
        least=jnp.sum(above, axis=1, dtype=jnp.int32),
    )


def _best(rng_key: RunKey, bounds: _Bounds) -> Arm:
    """Return the arm with the largest optimistic count, then the largest sure one."""
    best = bounds.most == jnp.max(bounds.most)
    surest = jnp.max(jnp.where(best, bounds.least, -1))
    uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
    return choose_among(uniform, best & (bounds.least == surest))
