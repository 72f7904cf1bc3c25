"""ESCB for combinatorial semi-bandits (Combes et al. 2015)."""

from collections.abc import Callable
from dataclasses import field
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, UInt32

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import check_choice, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import warn_above_one
from bayesduel.policies.subsets._in_jax import one_offer, tie_breakers, top
from bayesduel.policies.subsets._reward_counts import (
    CountingPolicy,
    RewardCounts,
    mean_rewards,
)
from bayesduel.types import Offer, RoundCount, RunKey

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld

_HALVINGS = 60
"""Steps of the bisection of the multiplier of ESCB-1."""

_ROUNDING = 1e-12
"""Indices that differ by less than this, relatively, are ties."""


class _Climb(NamedTuple):
    subset: Bool[Array, " n"]
    value: Float[Array, ""]
    swaps: UInt32[Array, ""]
    going: Bool[Array, ""]


@register("escb", acronym="ESCB")
@policy_class
class ESCB(CountingPolicy):
    """The set with the largest index of sets, for independent arms.

    With means m_i of N_i rewards and f = log t + 4 k log log t (log log of at least 3,
    f at least 0), the index of a set M is

    - ``index=2``: sum of m_i + sqrt(f/2 sum of 1/N_i);
    - ``index=1``: the largest sum of q_i with sum of N_i KL(m_i, q_i) <= f.

    Of sets with equal indices (up to rounding, a relative 1e-12) each is equally
    likely; arms never offered come first. k is the size of a set. Indices are no sums
    over arms, so the k best arms by some number are not exact: all sets are compared as
    long as there are at most ``most_sets``. Beyond that the choice is a heuristic: of
    two starts (the largest m_i, and the largest m_i + sqrt(f/(2 N_i))) each is improved
    by the best swap of two arms, ties at random, until no swap helps, and the better
    one is taken; that reaches some of the best sets only. Rewards in [0, 1]. Natural
    logarithm. Recommends the k arms with the largest means.

    Parameters
    ----------
    index : {1, 2}
        ESCB-1 or ESCB-2; index 1 takes some sixty times as long.
    most_sets : int
        Sets up to which all are compared.

    References
    ----------
    R. Combes, M. S. Talebi, A. Proutiere, M. Lelarge, "Combinatorial Bandits
    Revisited", NIPS 2015.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("escb").label
    'ESCB'
    """

    index: int = field(default=2, metadata={"static": True})
    most_sets: int = field(default=200_000, metadata={"static": True})

    title: ClassVar[str] = "ESCB"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_choice("index", str(self.index), ("1", "2"))
        if self.most_sets < 0:
            raise PolicyParameterError(
                f"most_sets must not be negative, got {self.most_sets!r}"
            )

    def warn_about(self, world: "ChoiceWorld") -> None:
        """Warn where rewards exceed 1."""
        super().warn_about(world)
        warn_above_one(self.label, world)

    def choose(
        self, rng_key: RunKey, state: RewardCounts, round_: RoundCount
    ) -> tuple[Offer, RewardCounts]:
        """Offer the set with the largest index, or arms never offered."""
        num_arms, size = state.plays.shape[0], state.slots.shape[0]
        key_arms, key_sets = jax.random.split(rng_key)
        uniforms = tie_breakers(key_arms, num_arms)
        times = jnp.maximum(state.plays, 1).astype(jnp.float64)
        means = mean_rewards(state)
        time = round_.astype(jnp.float64)
        budget = jnp.log(time) + 4.0 * size * jnp.log(jnp.log(jnp.maximum(time, 3.0)))
        budget = jnp.maximum(budget, 0.0)

        def value(sets: Bool[Array, "S n"]) -> Float[Array, " S"]:
            if self.index == 1:
                return _divergence_index(sets, means, times, budget)
            spread = 0.5 * budget * _sums(sets, 1.0 / times)
            return _sums(sets, means) + jnp.sqrt(spread)

        if comb(num_arms, size) <= self.most_sets:
            subset = _best_of_all(key_sets, value, num_arms, size)
        else:
            optimistic = means + jnp.sqrt(0.5 * budget / times)
            starts = [top(each, uniforms, size) for each in (means, optimistic)]
            key_one, key_other, key_better = jax.random.split(key_sets, 3)
            one = _climb(key_one, value, starts[0])
            other = _climb(key_other, value, starts[1])
            ends = jnp.stack([one.value, other.value])
            better = jnp.argmax(_one_of_the_largest(key_better, ends))
            subset = jnp.where(better == 0, one.subset, other.subset)
        unseen = state.plays == 0
        fresh = top(unseen.astype(jnp.float64), uniforms, size)
        return one_offer(jnp.where(jnp.any(unseen), fresh, subset)), state


def _sums(sets: Bool[Array, "S n"], values: Float[Array, " n"]) -> Float[Array, " S"]:
    return jnp.matmul(sets.astype(jnp.float64), values)


def _one_of_the_largest(
    rng_key: RunKey, values: Float[Array, " S"]
) -> Bool[Array, " S"]:
    """Mark one of the largest values; equal ones are equally likely."""
    highest = jnp.max(values)
    tied = values >= highest - _ROUNDING * jnp.abs(highest)
    uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
    return jnp.arange(values.shape[0], dtype=jnp.int32) == choose_among(uniform, tied)


def _best_of_all(
    rng_key: RunKey,
    value: Callable[[Bool[Array, "S n"]], Float[Array, " S"]],
    num_arms: int,
    size: int,
) -> Bool[Array, " n"]:
    """Compare all sets; of equal ones draw one."""
    table = np.zeros((comb(num_arms, size), num_arms), dtype=bool)
    rows = np.array(list(combinations(range(num_arms), size)))
    np.put_along_axis(table, rows, True, axis=1)
    sets = jnp.asarray(table)
    return jnp.any(_one_of_the_largest(rng_key, value(sets))[:, None] & sets, axis=0)


def _climb(
    rng_key: RunKey,
    value: Callable[[Bool[Array, "S n"]], Float[Array, " S"]],
    start: Bool[Array, " n"],
) -> _Climb:
    """Swap two arms as long as that raises the index; of equal swaps draw one."""
    num_arms = start.shape[0]
    one = np.eye(num_arms, dtype=bool)

    def advance(now: _Climb) -> _Climb:
        # [i, j]: without i, with j.
        swapped = (now.subset[None, None, :] & ~one[:, None, :]) | one[None, :, :]
        allowed = now.subset[:, None] & ~now.subset[None, :]
        sets = swapped.reshape(num_arms * num_arms, num_arms)
        values = jnp.where(allowed.reshape(-1), value(sets), -jnp.inf)
        highest = jnp.max(values)
        key = jax.random.fold_in(rng_key, now.swaps)
        best = jnp.any(_one_of_the_largest(key, values)[:, None] & sets, axis=0)
        rises = highest > now.value * (1.0 + _ROUNDING)
        return _Climb(
            subset=jnp.where(rises, best, now.subset),
            value=jnp.where(rises, highest, now.value),
            swaps=now.swaps + 1,
            going=rises,
        )

    begin = _Climb(start, value(start[None, :])[0], jnp.uint32(0), jnp.bool_(True))
    return lax.while_loop(lambda now: now.going, advance, begin)


def _divergence_index(
    sets: Bool[Array, "S n"],
    means: Float[Array, " n"],
    times: Float[Array, " n"],
    budget: Float[Array, ""],
) -> Float[Array, " S"]:
    """Solve max sum q_i, sum N_i KL(m_i, q_i) <= f, for every set.

    Stationary points have N_i (q_i - m_i)/(q_i (1 - q_i)) = 1/lambda; with
    b_i = 1/(lambda N_i), q_i is a root of b q^2 + (1 - b) q - m = 0. The sum of the
    divergences grows with 1/lambda, whose logarithm is bisected.
    """

    def upper(log_scale: Float[Array, " S"]) -> Float[Array, "S n"]:
        b = jnp.exp(log_scale)[:, None] / times[None, :]
        # (b - 1 + root)/(2 b), without cancellation where b < 1.
        root = jnp.sqrt((1.0 - b) ** 2 + 4.0 * b * means[None, :])
        small = 2.0 * means[None, :] / (1.0 - b + root)
        large = (b - 1.0 + root) / (2.0 * b)
        q = jnp.where(b < 1.0, small, large)
        return jnp.clip(q, means[None, :], 1.0)

    def spent(log_scale: Float[Array, " S"]) -> Float[Array, " S"]:
        q, m = upper(log_scale), means[None, :]
        tiny = 1e-300
        won = m * jnp.log(jnp.maximum(m, tiny) / jnp.maximum(q, tiny))
        lost = (1.0 - m) * (
            jnp.log(jnp.maximum(1.0 - m, tiny)) - jnp.log(jnp.maximum(1.0 - q, tiny))
        )
        divergence = jnp.where(m < 1.0, won + lost, 0.0)
        return jnp.sum(jnp.where(sets, times[None, :] * divergence, 0.0), axis=1)

    def halve(_: int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = 0.5 * (low + high)
        fits = spent(middle) <= budget
        return jnp.where(fits, middle, low), jnp.where(fits, high, middle)

    count = sets.shape[0]
    ends = (jnp.full(count, -40.0), jnp.full(count, 60.0))
    low, _ = lax.fori_loop(0, _HALVINGS, halve, ends)
    return jnp.sum(jnp.where(sets, upper(low), 0.0), axis=1)
