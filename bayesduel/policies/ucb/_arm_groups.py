"""A partition of the arms into small groups, which are merged as arms drop out.

As MergeRUCB keeps it (Zoghi, Whiteson and de Rijke 2015, Algorithm 1).
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import element_of, materialize

REMOVED = -1


class ArmGroups(NamedTuple):
    """Who is in which group."""

    label: Int[Array, " K"]
    """The group of each arm, from 0; -1 for arms that are out."""

    number: Int[Array, ""]
    """Groups that exist; none of them is empty."""

    stage: Int[Array, ""]
    """1 before the first merge."""


def most_groups(num_arms: int, group_size: int) -> int:
    """Count the groups at the start: no later moment has more."""
    return -(-num_arms // group_size)


def random_groups(uniforms: Float[Array, " K"], group_size: int) -> ArmGroups:
    """Split the arms at random; the last group may be smaller."""
    (uniforms,) = materialize(uniforms)
    place = jnp.sum(uniforms[None, :] < uniforms[:, None], axis=1, dtype=jnp.int32)
    return ArmGroups(
        label=place // group_size,
        number=jnp.int32(most_groups(uniforms.shape[0], group_size)),
        stage=jnp.int32(1),
    )


def group_sizes(label: Int[Array, " K"], most: int) -> Int[Array, " G"]:
    """Count the arms of every group."""
    members = label[:, None] == jnp.arange(most, dtype=jnp.int32)[None, :]
    return jnp.sum(members, axis=0, dtype=jnp.int32)


def next_group(
    groups: ArmGroups, sizes: Int[Array, " G"], turn: Int[Array, ""]
) -> Int[Array, ""]:
    """Return the first group from ``turn`` on, cyclically, with more than one arm.

    ``turn`` itself if there is none.
    """
    labels = jnp.arange(sizes.shape[0], dtype=jnp.int32)
    away = jnp.where(labels < turn, labels - turn + groups.number, labels - turn)
    away = jnp.where(sizes > 1, away, jnp.iinfo(away.dtype).max)
    return jnp.where(
        jnp.any(sizes > 1), jnp.argmin(away).astype(jnp.int32), turn.astype(jnp.int32)
    )


def merge_when_few(
    uniforms: Float[Array, "2 G"], groups: ArmGroups, group_size: int
) -> ArmGroups:
    """Merge the groups if at most K / 2^stage + 1 arms are left.

    Once more if the smallest group then has at most half of ``group_size`` arms.
    """
    num_arms, most = groups.label.shape[0], uniforms.shape[1]
    left = jnp.sum(groups.label != REMOVED, dtype=jnp.int32).astype(jnp.int64)
    few = (left - 1) << groups.stage.astype(jnp.int64) <= num_arms
    few = few & (groups.number > 1)

    def merge(loop: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        times, label, number = loop
        ties = jnp.where(times == 0, uniforms[0], uniforms[1])
        label, number = _merged(ties, label, number, group_size)
        exists = jnp.arange(most, dtype=jnp.int32) < number
        sizes = jnp.where(exists, group_sizes(label, most), num_arms)
        small = (2 * jnp.min(sizes) <= group_size) & (number > 1) & (times == 0)
        return jnp.where(small, 1, 2).astype(times.dtype), label, number

    # A loop that mostly does not run at all: a conditional would cost both branches.
    start = (jnp.where(few, 0, 2).astype(jnp.int32), groups.label, groups.number)
    _, label, number = lax.while_loop(lambda loop: loop[0] < 2, merge, start)
    stage = groups.stage + jnp.where(few, 1, 0).astype(jnp.int32)
    return ArmGroups(label=label, number=number, stage=stage)


def _merged(
    ties: Float[Array, " G"],
    label: Int[Array, " K"],
    number: Int[Array, ""],
    group_size: int,
) -> tuple[Int[Array, " K"], Int[Array, ""]]:
    """Unite the smallest group with the largest as long as that is small enough.

    Otherwise the largest stays alone. Equal sizes are ordered at random.
    """
    most = ties.shape[0]
    places = jnp.arange(most, dtype=jnp.int32)
    sizes = group_sizes(label, most)
    (order,) = materialize(
        jnp.where(places < number, sizes.astype(ties.dtype) + ties, jnp.inf)
    )
    rank = jnp.sum(order[None, :] < order[:, None], axis=1, dtype=jnp.int32)
    at_rank = rank[:, None] == places[None, :]
    ranked = jnp.sum(jnp.where(at_rank, sizes[:, None], 0), axis=0, dtype=jnp.int32)

    def step(
        loop: tuple[Array, Array, Array, Array],
    ) -> tuple[Array, Array, Array, Array]:
        low, high, new, given = loop
        both = element_of(ranked, low) + element_of(ranked, high)
        unites = 2 * both <= 3 * group_size
        chosen = (places == high) | ((places == low) & unites)
        return (
            jnp.where(unites, low + 1, low),
            high - 1,
            new + 1,
            jnp.where(chosen, new, given),
        )

    _, _, new, given = lax.while_loop(
        lambda loop: loop[0] <= loop[1],
        step,
        (jnp.int32(0), number - 1, jnp.int32(0), jnp.zeros_like(rank)),
    )
    renamed = jnp.sum(jnp.where(at_rank, given[None, :], 0), axis=1, dtype=jnp.int32)
    mine = label[:, None] == places[None, :]
    after = jnp.sum(jnp.where(mine, renamed[None, :], 0), axis=1, dtype=jnp.int32)
    return jnp.where(label == REMOVED, REMOVED, after), new


def members_of(groups: ArmGroups, group: Int[Array, ""]) -> Bool[Array, " K"]:
    """Mark the arms of a group."""
    return groups.label == group
