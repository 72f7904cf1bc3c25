"""MergeRUCB (Zoghi, Whiteson and de Rijke 2015)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import among_largest, most_beaten, record
from bayesduel.policies.policy import Duel, Policy, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import number_above, number_from, share_of

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
    """Return the first group from the turn on, cyclically, with more than one arm."""
    now = groups.now
    for step in range(now.number):
        group = (now.turn + step) % now.number
        if group_size_of(groups, group) > 1:
            return group
    return now.turn


def merge_when_few(rng: Generator, groups: ArmGroups, group_size: int) -> None:
    """Merge the groups if at most K / 2^stage + 1 arms are left; the first turns."""
    # Once more if the smallest group then has at most half of ``group_size`` arms.
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
        for opponent in range(number):
            rank += key[opponent] < key[group]
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


_LATEST = 2**61  # C beyond this says the same, and t + C must not overflow


class MergeRUCBState(NamedTuple):
    """Counts, the groups, and by how many rounds the clock is ahead."""

    wins: Int[np.ndarray, "K K"]
    groups: ArmGroups
    delay: int


@register("merge-rucb", acronym="MergeRUCB")
class MergeRUCB(Policy):
    r"""MergeRUCB: relative upper confidence bounds within small groups of arms.

    MergeRUCB compares arms only within groups, and removes arms that surely lose to a
    member of their group. When enough arms are removed, groups are merged. It was made
    for hundreds of arms.

    Use it as a baseline with many arms. Its bounds are wide: with 500 arms and
    :math:`10^5` rounds it has hardly begun to remove arms, and D-TS has less regret.

    Parameters
    ----------
    alpha : float
        Width of the bounds, above 1/2; 1.01 in the paper.
    delta : float
        Failure probability in the constant C, between 0 and 1.
    group_size : int
        Arms per group, at least 4.
    look_ahead : bool
        Play the rounds after only one arm is left as one stretch; the duels are the
        same.

    Notes
    -----
    **Rule.** The arms are divided at random into groups of ``group_size``. Let arm i
    have won :math:`w_{ij}` of its :math:`n_{ij}` duels against arm j. The upper bound
    is :math:`u_{ij}=w_{ij}/n_{ij}+\sqrt{\alpha\log(t+C)/n_{ij}}` (natural logarithm),
    and 2 for a pair without duels. In each round the next group has its turn:

    1. *Remove.* Go through the arms of the group in the order of their positions.
       Remove an arm if its upper bound against a remaining member of the group is below
       1/2.
    2. *Compare.* Draw a random member of the group. It meets the member with the
       largest upper bound against it. A member that is alone in its group meets itself,
       and from then on its group has no turns.
    3. *Merge.* When at most :math:`K/2^{s}+1` arms are left in stage s, merge the
       smallest group with the largest, again and again, as long as no group exceeds 1.5
       times ``group_size``. If the smallest group then has at most ``group_size`` / 2
       arms, merge once more. The first group has the next turn.

    Ties are broken at random. The recommendation is the remaining arm that beats the
    most others empirically.

    **Assumptions.** A Condorcet winner and :math:`\alpha>1/2`. The constant
    :math:`C=\lceil((4\alpha-1)K^2/((2\alpha-1)\delta))^{1/(2\alpha-1)}\rceil` is large.
    So an arm that loses with a gap g is removed only after about
    :math:`\alpha\log(t+C)/g^2` duels.

    **Look-ahead.** Each round before only one arm is left draws a random member, so
    these rounds are played one by one. The rest is one stretch.

    References
    ----------
    M. Zoghi, S. Whiteson, M. de Rijke, "MergeRUCB: A Method for Large-Scale Online
    Ranker Evaluation", WSDM 2015, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("merge-rucb", alpha=1.515).label
    'MergeRUCB:alpha=1.515'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    alpha: float = checked(1.01, number_above, 0.5)
    delta: float = checked(0.01, share_of)
    group_size: int = checked(4, number_from, 4)
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "MergeRUCB"

    def start(self, problem: Problem, rng: Generator) -> MergeRUCBState:
        """Return the state before the first round."""
        num_arms = problem.num_arms
        return MergeRUCBState(
            wins=np.zeros((num_arms, num_arms), dtype=np.int64),
            groups=random_groups(rng, num_arms, self.group_size),
            delay=self._delay(num_arms),
        )

    def _delay(self, num_arms: int) -> int:
        """C, the rounds by which the clock is ahead."""
        excess = 2.0 * self.alpha - 1.0
        base = (4.0 * self.alpha - 1.0) * num_arms**2 / (excess * self.delta)
        if math.log(base) >= excess * math.log(_LATEST):
            return _LATEST
        return math.ceil(base ** (1.0 / excess))

    def choose(self, state: MergeRUCBState, rng: Generator, round_: int) -> Duel:
        """Thin out the group whose turn it is, choose two of its arms, then merge."""
        groups = state.groups
        numerator = self.alpha * math.log(float(round_ + state.delay))
        group = next_group(groups)
        arm = first_loser(state, group, numerator)
        while arm >= 0:
            groups.label[arm] = REMOVED
            arm = first_loser(state, group, numerator)
        arm = champion(rng, groups, group)
        if arms_left(groups) == 1:
            if self.look_ahead:
                return Duel(arm, LONGEST_HORIZON, arm, arm, False)
            return Duel(arm, 0, arm, arm, True)
        rival = challenger(rng, state, group, arm, numerator)
        groups.now.turn = (group + 1) % groups.now.number
        merge_when_few(rng, groups, self.group_size)
        return Duel(arm, 0, arm, rival, True)

    def update(
        self,
        state: MergeRUCBState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count the outcome."""
        winner, loser = (first, second) if won else (second, first)
        state.wins[winner, loser] += 1

    def recommend(self, state: MergeRUCBState, rng: Generator) -> int:
        """Return the arm left that empirically beats the most others."""
        return most_beaten(rng, state.wins, state.groups.label != REMOVED)


def upper_bound(
    wins: Int[np.ndarray, "K K"], arm: int, rival: int, numerator: float
) -> float:
    """Return w/n + sqrt(alpha log(t + C) / n); 2 for an uncompared pair."""
    duels = wins[arm, rival] + wins[rival, arm]
    if duels == 0:
        return 2.0
    return wins[arm, rival] / duels + math.sqrt(numerator / duels)


def first_loser(state: MergeRUCBState, group: int, numerator: float) -> int:
    """Return the first member with a bound below 1/2 against another one, or -1."""
    label = state.groups.label
    for arm in range(len(label)):
        if label[arm] == group:
            for rival in range(len(label)):
                if label[rival] == group and rival != arm:
                    if upper_bound(state.wins, arm, rival, numerator) < 0.5:
                        return arm
    return -1


def champion(rng: Generator, groups: ArmGroups, group: int) -> int:
    """Draw a member."""
    drawn, number = 0, 0
    for arm in range(len(groups.label)):
        if groups.label[arm] == group:
            number += 1
            if number * rng.random() < 1.0:
                drawn = arm
    return drawn


def challenger(
    rng: Generator, state: MergeRUCBState, group: int, arm: int, numerator: float
) -> int:
    """Return the most optimistic other member; the arm itself if it is alone."""
    best, largest, number = arm, -1.0, 0
    for rival in range(len(state.wins)):
        if state.groups.label[rival] == group and rival != arm:
            bound = upper_bound(state.wins, rival, arm, numerator)
            largest, number, leads = among_largest(rng, bound, largest, number)
            if leads:
                best = rival
    return best
