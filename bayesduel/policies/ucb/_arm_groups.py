"""A partition of the arms into small groups, which are merged as arms drop out.

As MergeRUCB keeps it (Zoghi, Whiteson and de Rijke 2015, Algorithm 1).
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.rules import record

REMOVED = -1


class ArmGroups(NamedTuple):
    """Who is in which group."""

    # The group of each arm, from 0; -1 for arms that are out.
    label: Int[np.ndarray, " K"]
    # The ``number`` of groups, none of which is empty, the ``stage``, which is 1 before
    # the first merge, and the group whose ``turn`` it is.
    now: Any


def random_groups(rng: Generator, num_arms: int, group_size: int) -> ArmGroups:
    """Split the arms at random; the last group may be smaller."""
    label = rng.permutation(num_arms) // group_size
    return ArmGroups(label, record(number=int(label.max()) + 1, stage=1, turn=0))


def group_size_of(groups: ArmGroups, group: int) -> int:
    """Count the arms of a group."""
    size = 0
    for label in groups.label:
        size += label == group
    return size


def arms_left(groups: ArmGroups) -> int:
    """Count the arms that are not out."""
    return len(groups.label) - group_size_of(groups, REMOVED)


def next_group(groups: ArmGroups) -> int:
    """Return the first group from the turn on, cyclically, with more than one arm.

    That of the turn itself if there is none.
    """
    now = groups.now
    for step in range(now.number):
        group = (now.turn + step) % now.number
        if group_size_of(groups, group) > 1:
            return group
    return now.turn


def merge_when_few(rng: Generator, groups: ArmGroups, group_size: int) -> None:
    """Merge the groups if at most K / 2^stage + 1 arms are left; then the first turns.

    Once more if the smallest group then has at most half of ``group_size`` arms.
    """
    now = groups.now
    few = (arms_left(groups) - 1) << now.stage <= len(groups.label)
    if few and now.number > 1:
        now.stage += 1
        now.turn = 0
        merge(rng, groups, group_size)
        smallest = len(groups.label)
        for group in range(now.number):
            smallest = min(smallest, group_size_of(groups, group))
        if 2 * smallest <= group_size and now.number > 1:
            merge(rng, groups, group_size)


def merge(rng: Generator, groups: ArmGroups, group_size: int) -> None:
    """Unite the smallest group with the largest as long as that is small enough.

    Otherwise the largest stays alone. Equal sizes are ordered at random.
    """
    number = groups.now.number
    sizes = np.zeros(number, dtype=np.int64)
    for label in groups.label:
        if label != REMOVED:
            sizes[label] += 1
    key = sizes + rng.random(number)
    order = np.zeros(number, dtype=np.int64)
    for group in range(number):
        rank = 0
        for other in range(number):
            rank += key[other] < key[group]
        order[rank] = group
    renamed = np.zeros(number, dtype=np.int64)
    low, high, new = 0, number - 1, 0
    while low <= high:
        renamed[order[high]] = new
        if 2 * (sizes[order[low]] + sizes[order[high]]) <= 3 * group_size:
            renamed[order[low]] = new
            low += 1
        high -= 1
        new += 1
    for arm in range(len(groups.label)):
        if groups.label[arm] != REMOVED:
            groups.label[arm] = renamed[groups.label[arm]]
    groups.now.number = new
