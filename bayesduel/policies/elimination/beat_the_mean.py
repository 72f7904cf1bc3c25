"""Beat the Mean (Yue and Joachims 2011).

Sums over active opponents are kept: they change by duels and removals.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.ops.scalar.resolved_rounds import NEVER
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import stay_with, takes_over
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_from


@register("beat-the-mean", acronym="BTM")
class BeatTheMean(KernelPolicy):
    r"""Beat the Mean Bandit (BTM).

    BTM compares each arm with random other arms. The mixture of all these opponents is
    called the *mean bandit*. The arm that does worst against it is removed, until one
    arm is left. BTM needs the horizon.

    Use it as an early baseline under relaxed stochastic transitivity. Without a
    Condorcet winner its regret grows in every round.

    Parameters
    ----------
    gamma : float
        Constant of the transitivity, at least 1.
    tight : bool
        Take c = gamma^2 sqrt(log(1/delta) / n*) instead, with delta = 1 / (2 T K),
        without the factor 3. The paper allows this for gamma = 1; Komiyama's library
        has it for every gamma.
    self_duels : bool
        Draw the opponent among all active arms, as the mean bandit is defined. If
        false, leave the arm itself out.
    look_ahead : bool
        Play the rounds after only one arm is left as one stretch; the duels are the
        same.

    Notes
    -----
    **Rule.** The arms that are not removed are called active. T is the horizon, n* the
    smallest number of duels of an active arm, and
    :math:`c=3\gamma^2\sqrt{\log(2TK)/n^*}` (natural logarithm), and c = 1 if n* = 0. In
    each round:

    1. *Compare.* The active arm with the fewest duels meets an active arm that is drawn
       uniformly, possibly itself. Only the first of the two is credited with the
       outcome. The share of its duels that an arm won estimates how it does against the
       mean bandit.
    2. *Remove.* If the share of the worst arm plus c is at most the share of the best
       arm minus c, the worst arm is removed. The duels of other arms against it no
       longer count.
    3. *The end.* When one arm is left, it meets itself in every round.

    All ties are broken at random. A self-duel before the end counts like any other
    duel, with its random outcome. The recommendation is the active arm with the largest
    share.

    **Assumptions.** Relaxed stochastic transitivity with constant :math:`\gamma`, and a
    known horizon.

    **Late outcomes.** The arm with the fewest duels is found by counting the duels
    asked for. n* counts only the duels whose outcomes are known.

    **Look-ahead.** Every round before the end is random, so these rounds are played one
    by one. The rest is one stretch.

    References
    ----------
    Y. Yue, T. Joachims, "Beat the Mean Bandit", ICML 2011, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("beat-the-mean", gamma=1.95).label
    'BTM:gamma=1.95'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    gamma: float = checked(1.3, number_from, 1)
    tight: bool = False
    self_duels: bool = True
    look_ahead: bool = True

    title: ClassVar[str] = "Beat the Mean"
    needs_horizon: ClassVar[bool] = True

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        factor = float(self.gamma) ** 2 * (1.0 if self.tight else 3.0)

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> BeatTheMeanKernel:
            num_arms = len(order)
            state = BeatTheMeanKernel(*tables(num_arms, _NOW, _ARM, _PAIR))
            state.now["look_ahead"] = self.look_ahead
            state.now["num_active"] = num_arms
            state.now["draws_itself"] = self.self_duels
            state.now["scale"] = factor * math.sqrt(
                math.log(horizon) + math.log(2 * num_arms)
            )
            state.arms["share"] = 0.5
            state.arms["is_active"] = True
            state.arms["active"] = np.arange(num_arms)
            return state

        return ScalarKernel("beat_the_mean", initial_state)


_NOW = np.dtype(
    [
        ("look_ahead", np.int64),  # Whether the end is one stretch.
        ("num_active", np.int64),
        ("draws_itself", np.int64),  # Whether an arm may be its own opponent.
        ("scale", np.float64),  # Radius of the bounds after one duel.
    ]
)

_ARM = np.dtype(
    [
        # Duels with active opponents in which the arm was the first one: those that
        # were asked for, and those whose outcomes are known.
        ("num_asked", np.int64),
        ("duels", np.int64),
        ("wins", np.int64),
        ("share", np.float64),  # Share of wins; 1/2 without duels.
        ("is_active", np.int64),
        # Not of the arm: the list of the active ones.
        ("active", np.int64),
    ]
)

_PAIR = np.dtype([("num_asked", np.int64), ("duels", np.int64), ("wins", np.int64)])


class BeatTheMeanKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    # K x K of ``_PAIR``: [i, j], duels of i with j in which i was the first.
    pairs: Records


@compiled
def choose(state: BeatTheMeanKernel, rng: Generator, round_: int) -> Duel:
    """Choose the arm with the fewest duels and an opponent, or the last arm."""
    now, arms = state.now[0], state.arms
    if now.num_active == 1:
        last = arms[0].active
        return stay_with(last, look_ahead=now.look_ahead)
    chosen, fewest, number = 0, NEVER, 0
    for index in range(now.num_active):
        duels = arms[arms[index].active].num_asked
        if duels < fewest:
            fewest, number = duels, 0
        if duels == fewest:
            number += 1
            if takes_over(rng, number):
                chosen = index
    if now.draws_itself:
        opponent = choose_index(rng, now.num_active)
    else:
        opponent = (chosen + 1 + choose_index(rng, now.num_active - 1)) % now.num_active
    first, second = arms[chosen].active, arms[opponent].active
    arms[first].num_asked += 1
    state.pairs[first, second].num_asked += 1
    return Duel(first, 0, first, second, True)


@compiled
def update(
    state: BeatTheMeanKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count an outcome for the first arm, then remove the worst one if surely so."""
    if first == second:
        won = rng.random() < 0.5
    arms = state.arms
    if state.now[0].num_active > 1 and arms[first].is_active and arms[second].is_active:
        arm, pair, now = state.arms[first], state.pairs[first, second], state.now[0]
        pair.duels += 1
        pair.wins += won
        arm.duels += 1
        arm.wins += won
        arm.share = arm.wins / arm.duels
        fewest, best, worst = NEVER, -1.0, 2.0
        for index in range(now.num_active):
            opponent = state.arms[state.arms[index].active]
            fewest = min(fewest, opponent.duels)
            best, worst = max(best, opponent.share), min(worst, opponent.share)
        radius = now.scale / math.sqrt(float(fewest)) if fewest > 0 else 1.0
        if worst + radius <= best - radius:
            _remove(state, _with_share(state, rng, worst))


@compiled
def reads_self_duels(state: BeatTheMeanKernel) -> bool:
    """Say that an arm that meets itself is credited."""
    return True


@compiled
def _with_share(state: BeatTheMeanKernel, rng: Generator, share: float) -> int:
    """Return the place of an active arm with this share; ties at random."""
    index, number = 0, 0
    for candidate in range(state.now[0].num_active):
        if state.arms[state.arms[candidate].active].share == share:
            number += 1
            if takes_over(rng, number):
                index = candidate
    return index


@compiled
def _remove(state: BeatTheMeanKernel, index: int) -> None:
    """Take an arm out, and its duels out of the sums of the others."""
    now, arms = state.now[0], state.arms
    victim = arms[index].active
    now.num_active -= 1
    arms[index].active = arms[now.num_active].active
    arms[victim].is_active = False
    for other_place in range(now.num_active):
        arm = arms[other_place].active
        arms[arm].num_asked -= state.pairs[arm, victim].num_asked
        arms[arm].duels -= state.pairs[arm, victim].duels
        arms[arm].wins -= state.pairs[arm, victim].wins
        arms[arm].share = 0.5
        if arms[arm].duels > 0:
            arms[arm].share = arms[arm].wins / arms[arm].duels


@compiled
def recommend(state: BeatTheMeanKernel, rng: Generator) -> int:
    """Return the active arm with the largest share of wins; ties at random."""
    best = -1.0
    for index in range(state.now[0].num_active):
        best = max(best, state.arms[state.arms[index].active].share)
    return state.arms[_with_share(state, rng, best)].active


scalar_kernel.implement(
    BeatTheMeanKernel,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
)
