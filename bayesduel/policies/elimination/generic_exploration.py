"""SAVAGE (Urvoy, Clerot, Feraud and Naamane 2013).

A pair whose interval excludes 1/2 has had its last duel: it is dropped at once, in both
forms. So intervals matter when one of them leaves 1/2 alone, and in all other rounds
nothing but counts changes.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import stay_with, takes_over
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_that, one_of

GOALS = ("condorcet", "copeland")


@register("savage-copeland", acronym="SAVAGE-Copeland", goal="copeland")
@register("savage", acronym="SAVAGE")
class Savage(KernelPolicy):
    r"""Sensitivity analysis of variables for generic exploration (SAVAGE).

    SAVAGE compares every pair that may still decide which arm is the winner. When the
    winner is known, it meets itself for the rest of the run. The policy needs the
    horizon.

    Use it as a simple baseline: ``savage`` for a Condorcet winner, ``savage-copeland``
    for a Copeland winner.

    Parameters
    ----------
    goal : {"condorcet", "copeland"}
        Which winner to find: "condorcet" or "copeland".
    delta : float
        Allowed probability of a wrong winner. The default, 0, stands for 1/T.
    strict : bool
        For the goal "copeland": remove a pair only if both of its arms are surely worse
        than some arm. If false, remove it also if both are at best as good as some arm.
    look_ahead : bool
        Play the rounds after the exploration as one stretch; the duels are the same.

    Notes
    -----
    **Rule.** A pair with n duels, of which one arm won w, has the confidence interval
    :math:`w/n\pm\sqrt{\log(K(K-1)T/\delta)/(2n)}` (natural logarithm, T the horizon).
    All pairs remain at first. In each round:

    1. *Compare.* Compare the pair with the fewest duels among those that remain.
    2. *Remove.* With ``goal="condorcet"`` an arm is removed with all its pairs when one
       of its intervals lies below 1/2. With ``goal="copeland"`` a pair is removed when
       its interval excludes 1/2, or when neither of its arms can be the winner any
       more. Neither of two arms can be the winner if, by the intervals, some arm surely
       beats more arms than each of the two may beat. With ``strict=False`` it is enough
       that this arm surely beats as many arms; this suffices to find one of several
       winners.
    3. *The end.* When no pair remains, the winner meets itself in every round.

    A pair that was removed never returns. The winner is the arm that, by the intervals,
    may beat the most other arms. If there are several, it is the one of them that
    surely beats the most. The recommendation before the end is found in the same way.
    Ties are broken at random. Duels count when they are asked for.

    **Assumptions.** A winner of the kind of ``goal``, and a known horizon.

    **Look-ahead.** Every round of the exploration changes a count, so these rounds are
    played one by one. What follows is one stretch.

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

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    goal: str = checked("condorcet", one_of, GOALS)
    delta: float = checked(
        0.0,
        number_that,
        rule="from 0, which stands for 1/T, to below 1",
        holds=lambda share: 0 <= share < 1,
    )
    strict: bool = True
    look_ahead: bool = True

    title: ClassVar[str] = "SAVAGE"
    needs_horizon: ClassVar[bool] = True

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> SavageKernel:
            num_arms = len(order)
            first, second = np.triu_indices(num_arms, 1)
            state = SavageKernel(
                *tables(num_arms, _NOW, _ARM, _PAIR),
                list=np.zeros(len(first), dtype=_PLACE),
            )
            doubt = -np.log(self.delta) if self.delta > 0.0 else np.log(horizon)
            pairs = np.log(num_arms * (num_arms - 1))
            state.now["log_level"] = pairs + np.log(horizon) + doubt
            state.now["look_ahead"] = self.look_ahead
            state.now["finds_copeland"] = self.goal == "copeland"
            state.now["strict"] = self.strict
            state.now["num_open"] = state.now["num_rare"] = len(first)
            state.now["winner"] = _NOBODY
            state.list["first"], state.list["second"] = first, second
            return state

        return ScalarKernel("generic_exploration", initial_state)


_NOBODY = -1

_NOW = np.dtype(
    [
        ("look_ahead", np.int64),  # Whether the end is one stretch.
        ("finds_copeland", np.int64),  # Whether the goal is a Copeland winner.
        ("strict", np.int64),
        ("log_level", np.float64),  # log(K (K - 1) T / delta)
        # Pairs that are open, and how many of them were asked for least often: they
        # come first, all others were once more.
        ("num_open", np.int64),
        ("num_rare", np.int64),
        ("winner", np.int64),  # The arm to stay with, or -1.
    ]
)

_ARM = np.dtype(
    [
        ("sure_wins", np.int64),  # Opponents that it beats for sure.
        ("sure_losses", np.int64),
    ]
)

_PAIR = np.dtype([("wins", np.int64)])

_PLACE = np.dtype([("first", np.int64), ("second", np.int64)])


class SavageKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``: [i, j], duels of the pair that i won.
    # K (K - 1) / 2 of ``_PLACE``: the pairs that are open, then what is left.
    list: Records


@compiled
def choose(state: SavageKernel, rng: Generator, round_: int) -> Duel:
    """Choose the pair compared least often, or the winner."""
    now = state.now[0]
    if now.winner != _NOBODY:
        return stay_with(now.winner, look_ahead=now.look_ahead)
    if now.num_rare == 0:
        now.num_rare = now.num_open
    chosen = choose_index(rng, now.num_rare)
    first, second = state.list[chosen].first, state.list[chosen].second
    now.num_rare -= 1
    _swap(state, chosen, now.num_rare)
    return Duel(first, 0, first, second, True)


@compiled
def update(
    state: SavageKernel, rng: Generator, round_: int, first: int, second: int, won: bool
) -> None:
    """Count an outcome; drop the pairs that no longer matter."""
    now, pairs = state.now[0], state.pairs
    pairs[first, second].wins += won
    pairs[second, first].wins += not won
    wins, losses = pairs[first, second].wins, pairs[second, first].wins
    lead = float(wins - losses)
    if lead * lead > 2.0 * (wins + losses) * now.log_level:
        index = _place_of(state, first, second)
        if index == now.num_open:
            return
        better, worse = (first, second) if lead > 0.0 else (second, first)
        state.arms[better].sure_wins += 1
        state.arms[worse].sure_losses += 1
        _drop_pairs(state, index)
        if now.num_open == 0:
            now.winner = _best(state, rng)


@compiled
def _place_of(state: SavageKernel, first: int, second: int) -> int:
    """Return where an open pair stands; behind all of them if it is not open."""
    low, high = min(first, second), max(first, second)
    for index in range(state.now[0].num_open):
        if state.list[index].first == low and state.list[index].second == high:
            return index
    return state.now[0].num_open


@compiled
def _swap(state: SavageKernel, i: int, j: int) -> None:
    """Exchange two pairs of the list."""
    places = state.list
    first, second = places[i].first, places[i].second
    places[i].first, places[i].second = places[j].first, places[j].second
    places[j].first, places[j].second = first, second


@compiled
def _drop_pairs(state: SavageKernel, decided: int) -> None:
    """Keep the pairs that may still matter, without that at place ``decided``."""
    now, arms, places = state.now[0], state.arms, state.list
    surest = 0
    for arm in range(arms.size):
        surest = max(surest, arms[arm].sure_wins)
    count, rare = 0, 0
    for index in range(now.num_open):
        first, second = places[index].first, places[index].second
        if now.finds_copeland:
            out = _is_behind(state, first, surest) and _is_behind(state, second, surest)
        else:
            out = arms[first].sure_losses > 0 or arms[second].sure_losses > 0
        if index != decided and not out:
            rare += index < now.num_rare
            _swap(state, index, count)
            count += 1
    now.num_open, now.num_rare = count, rare


@compiled
def _is_behind(state: SavageKernel, arm: int, surest: int) -> bool:
    """Say whether an arm may beat fewer others, or not more, than one surely does."""
    most = state.arms.size - 1 - state.arms[arm].sure_losses
    return most < surest or (most == surest and not state.now[0].strict)


@compiled
def _best(state: SavageKernel, rng: Generator) -> int:
    """Return the arm with the fewest sure losses, then the most sure wins."""
    best, number = 0, 0
    fewest, most = state.arms.size, 0
    for i in range(state.arms.size):
        arm = state.arms[i]
        is_better = arm.sure_losses == fewest and arm.sure_wins > most
        if arm.sure_losses < fewest or is_better:
            fewest, most, number = arm.sure_losses, arm.sure_wins, 0
        if arm.sure_losses == fewest and arm.sure_wins == most:
            number += 1
            if takes_over(rng, number):
                best = i
    return best


@compiled
def recommend(state: SavageKernel, rng: Generator) -> int:
    """Return the winner, or the most promising arm."""
    winner = state.now[0].winner
    return _best(state, rng) if winner == _NOBODY else winner


scalar_kernel.implement(SavageKernel, choose=choose, update=update, recommend=recommend)
