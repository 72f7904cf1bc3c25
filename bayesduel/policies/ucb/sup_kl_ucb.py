"""Sup-KLUCB (Agrawal and Chaporkar 2019)."""

import math
from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import materialize
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_at_least,
    check_choice,
    one_round,
    policy_class,
)
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.pair_evidence import estimated_gaps
from bayesduel.policies.registry import register
from bayesduel.policies.ucb._commitment import commit
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory import sup_klucb_constant
from theory.divergences import kl_upper_log

SCORES = ("copeland", "condorcet", "borda")

_ROUNDING = 1e-12
"""Indices that differ by less than this, relatively, are ties."""


class SupKLUCBState(NamedTuple):
    """Counts of the duels, and of the plays of every super-arm."""

    wins: Int[Array, "K K"]
    plays: Int[Array, " M"]
    """Plays of the super-arms (i, j), i <= j, in lexicographic order."""


@register("sup-klucb", acronym="Sup-KLUCB", theorems=(sup_klucb_constant,))
@policy_class
class SupKLUCB(Policy):
    """Sup-KLUCB: KL-UCB on pairs of arms, self-pairs included.

    Every pair {i, j}, i <= j, is a "super-arm" with the mean S_i S_j, where S_i in
    [0, 1] is the empirical score of arm i. After every super-arm was played once, the
    one with the largest index max{q : KL(mean, q) <= b / plays} is played, with
    b = c1 log(n - M) + c2 log(log(n - M) + 1) in round n, M = K (K + 1) / 2 super-arms,
    c1 = 2 / K and c2 = 3 / K + 40 / (K - 2)^2 (3 / K for two arms). Natural logarithms.
    The first M rounds are in lexicographic order, ties of indices are broken at random.

    The winner of the score must be unique. Once an arm has won its empirical duels with
    all others, its self-duel has mean and index 1, every other index is below 1, and it
    is played for good: an *absorption*, which ``look_ahead`` jumps over. That is the
    rule as printed. On matrices where a weak arm can sweep its first duels it locks on
    that arm with constant probability, so the regret is linear; ``mean_cap`` and
    ``min_plays`` are extensions of this toolkit against it. Borda scores are never 1.

    Deviations: the paper prints W <- w for the wins of a super-arm, W + w is meant.
    Indices are compared by -log(1 - index), on which those next to 1 do not round to 1.
    Before absorption every play changes the count of its super-arm and with it the
    next choice, so those rounds are stepped.

    Parameters
    ----------
    score : {"copeland", "condorcet", "borda"}
        S_i: the share of the other arms that i beats empirically (the Condorcet winner
        maximizes the same), or the mean over all arms of the estimated probability that
        i beats them, itself included at 1/2.
    log_scale, loglog_scale : float
        Factors of c1 and of c2.
    mean_cap : bool
        Extension: take no mean above 1 - 1/(2n) in round n, so that no index is 1.
    min_plays : int
        Extension: plays of every super-arm before the indices decide; 1 in the paper.
    look_ahead : bool
        Jump over absorption. Both forms play the same duels.

    References
    ----------
    N. Agrawal and P. Chaporkar, "KLUCB Approach to Copeland Bandits", arXiv preprint,
    2019, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("sup-klucb", log_scale=1.5).label
    'Sup-KLUCB:log_scale=1.5'
    """

    score: str = field(default="copeland", metadata={"static": True})
    log_scale: float = 1.0
    loglog_scale: float = 1.0
    mean_cap: bool = field(default=False, metadata={"static": True})
    min_plays: int = 1
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "KL-UCB on pairs (Sup-KLUCB)"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_choice("score", self.score, SCORES)
        check_at_least("log_scale", self.log_scale, 0.0)
        check_at_least("loglog_scale", self.loglog_scale, 0.0)
        check_at_least("min_plays", self.min_plays, 1)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> SupKLUCBState:
        """Return the state before the first round."""
        return SupKLUCBState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            plays=jnp.zeros(num_arms * (num_arms + 1) // 2, dtype=jnp.int32),
        )

    def choose(
        self, rng_key: RunKey, state: SupKLUCBState, round_: RoundCount
    ) -> tuple[Duel, SupKLUCBState]:
        """Choose the next super-arm of the sweep, or the one with the largest index."""
        num_arms, num_pairs = state.wins.shape[0], state.plays.shape[0]
        sweep = jnp.asarray(self.min_plays, dtype=jnp.int64) * num_pairs
        sweeping = round_ <= sweep
        bound = exploration_bound(
            jnp.maximum(round_ - sweep, 1),
            num_arms,
            log_scale=self.log_scale,
            loglog_scale=self.loglog_scale,
        )
        means = _upper_products(self._scores(state.wins)) / self._unit(num_arms) ** 2
        if self.mean_cap:
            means = jnp.minimum(means, 1.0 - 0.5 / round_.astype(jnp.float64))
        plays = jnp.maximum(state.plays, 1).astype(jnp.float64)
        # Once, before it is compared with itself in the draw among ties.
        (index,) = materialize(kl_upper_log(means, bound / plays))
        tied = index >= jnp.max(index) * (1.0 - _ROUNDING)
        best = choose_among(jax.random.uniform(rng_key, dtype=jnp.float64), tied)

        next_ = ((round_ - 1) % num_pairs).astype(jnp.int32)
        first, second = _arms_of(jnp.where(sweeping, next_, best), num_arms)
        duel = one_round(first, second)
        if self.score == "borda" or self.mean_cap:
            return duel, state
        sweeps = self._scores(state.wins) == num_arms - 1
        arm = jnp.argmax(sweeps).astype(jnp.int32)
        absorbed = jnp.any(sweeps) & ~sweeping
        return commit(duel, arm, absorbed, look_ahead=self.look_ahead), state

    def _scores(self, wins: Int[Array, "K K"]) -> Array:
        """Return the scores in units of 1 / ``_unit``: integers where they are."""
        if self.score == "borda":
            return jnp.sum(estimated_gaps(wins) + 0.5, axis=1)
        return jnp.sum(wins > wins.T, axis=1, dtype=jnp.int32)

    def _unit(self, num_arms: int) -> float:
        return float(num_arms if self.score == "borda" else num_arms - 1)

    def update(
        self,
        rng_key: RunKey,
        state: SupKLUCBState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> SupKLUCBState:
        """Count the outcome, and the play of the super-arm."""
        num_arms = state.wins.shape[0]
        row, column = np.triu_indices(num_arms)
        low = jnp.minimum(duel.first, duel.second)
        high = jnp.maximum(duel.first, duel.second)
        played = _is(row, low) & _is(column, high)
        return SupKLUCBState(
            wins=add_wins(state.wins, duel, outcome),
            plays=state.plays + jnp.where(played, outcome.rounds, 0).astype(jnp.int32),
        )

    def recommend(self, rng_key: RunKey, state: SupKLUCBState) -> Arm:
        """Return an arm with the largest score; ties at random."""
        scores = self._scores(state.wins)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, scores == jnp.max(scores))


def exploration_bound(
    rounds: Int[Array, ""],
    num_arms: int,
    *,
    log_scale: float = 1.0,
    loglog_scale: float = 1.0,
) -> Float[Array, ""]:
    """Return b = c1 log r + c2 log(log r + 1) in the r-th round after the sweep."""
    c2 = 3.0 / num_arms + (40.0 / (num_arms - 2) ** 2 if num_arms > 2 else 0.0)
    log_rounds = jnp.log(rounds.astype(jnp.float64))
    far = c2 * loglog_scale * jnp.log1p(log_rounds)
    return 2.0 / num_arms * log_scale * log_rounds + far


def _upper_products(scores: Array) -> Float[Array, " M"]:
    """Return S_i S_j for i <= j in lexicographic order; of integers, exactly."""
    size = scores.shape[0]
    products = [scores[arm] * scores[arm:] for arm in range(size)]
    return jnp.concatenate(products).astype(jnp.float64)


def _is(arms: np.ndarray, arm: Arm) -> Bool[Array, " M"]:
    return jnp.asarray(arms, dtype=jnp.int32) == arm


def _arms_of(super_arm: Int[Array, ""], num_arms: int) -> tuple[Arm, Arm]:
    """Return the arms i <= j of a super-arm, by comparing with where rows begin."""
    begins = np.array([math.comb(num_arms + 1, 2) - math.comb(num_arms + 1 - arm, 2)
                       for arm in range(num_arms)])  # fmt: skip
    reached = super_arm >= jnp.asarray(begins, dtype=jnp.int32)
    first = jnp.sum(reached, dtype=jnp.int32) - 1
    begin = jnp.max(jnp.where(reached, jnp.asarray(begins, dtype=jnp.int32), 0))
    return first, first + super_arm - begin
