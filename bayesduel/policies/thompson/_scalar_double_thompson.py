"""The kernel of D-TS, D-TS+ and pure D-TS: stepping or look-ahead, what is faster.

Both have the distribution of the rule. Where nearly every round teaches something,
computing when the next one comes costs more than playing it: rounds are stepped in
blocks, and looked ahead of when enough of the last block were self-duels. That is a
function of the run's own past, so that the distribution of what comes is that of either
form.

Look-ahead draws the next round that is not idle as ``_events`` does, which gives the
reasons.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Int, Real
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.draws import truncated_exponential, waiting_time_and_level
from bayesduel.ops.scalar.splits import binomial
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_bounds import let_expire
from bayesduel.policies.scalar_choices import place_by_weight, recommend_most_beaten
from bayesduel.policies.scalar_kernel import SEVERAL, ScalarDuel, ScalarKernel
from bayesduel.policies.thompson._scalar_rounds import (
    best_challenger,
    first_arm,
    sample_votes,
    successes,
    successes_given_one,
)
from bayesduel.policies.thompson._scalar_state import (
    LOOK_AHEAD,
    STEP,
    DoubleThompsonKernel,
    count_duel,
    find_sets,
    new_state,
    start,
)
from bayesduel.policies.thompson._scalar_upsets import (
    NO_UPSET,
    rate_of_upsets,
    sample_votes_given,
)
from bayesduel.posteriors.scalar_betas import prior_in_order

_BLOCK = 32
"""Rounds that are stepped before looking ahead is considered again."""

_MOST_HAZARD = 0.7
"""Above this rate of events the next rounds are stepped: half of them are events."""

_ANY, _NOTHING, _BY_UPSET, _BY_SUCCESS = 0, 1, 2, 3
"""Which round comes after the idle ones: any; none, as the sets change before; one in
which there is an upset; one in which there is none and a challenger succeeds."""


def kernel(prior: Real[np.ndarray, "*shape"], **options: Any) -> ScalarKernel:
    """Return the kernel; ``prior`` is one number or a table, in the order of the arms.

    ``options`` are those of ``_scalar_state.new_state``.
    """

    def initial_state(
        order: Int[np.ndarray, " K"], horizon: int
    ) -> DoubleThompsonKernel:
        return new_state(prior_in_order(prior, order), **options)

    return ScalarKernel("double_thompson", initial_state)


@inlined
def init(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Fill in what the prior says."""
    start(state)


@inlined
def choose(state: DoubleThompsonKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Return the next round, or the idle rounds up to one that is not."""
    now = state.now[0]
    if now.next_expiry < round_:
        let_expire(state, round_)
    if now.stale:
        find_sets(state)
    kind, idle, level = _what_comes(state, rng, round_)
    first = champion = state.arms[0].leader
    if kind != _ANY and now.num_leaders > 1:
        if now.ties_by_regret:
            if idle > 0 or kind == _BY_SUCCESS:
                champion = _champion(state, rng)
            if kind == _BY_SUCCESS and level >= _column_rate(state, champion):
                return ScalarDuel(champion, idle, champion, champion, True)
            first = champion
        else:
            champion = SEVERAL
            if kind == _BY_SUCCESS:
                first, level = _first_to_lose(state, rng)
    if kind == _NOTHING:
        return ScalarDuel(champion, idle, first, first, False)
    if kind == _BY_SUCCESS:
        count = successes_given_one(state, rng, first, level)
    else:
        if kind == _BY_UPSET:
            sample_votes_given(state, rng, level)
            first = first_arm(state, rng)
        elif now.num_candidates > 1:
            sample_votes(state, rng)
            first = first_arm(state, rng)
        count = successes(state, rng, first)
    second = best_challenger(state, rng, first, count)
    now.idle_steps += kind == _ANY and second == first
    return ScalarDuel(champion, idle, first, second, True)


@inlined
def _what_comes(
    state: DoubleThompsonKernel, rng: Generator, round_: int
) -> tuple[int, int, float]:
    """Return the kind of the next round, the idle ones before it, and its level.

    The level is an exponential variable below the rate of the kind.
    """
    now = state.now[0]
    if now.form != LOOK_AHEAD:
        if now.steps_left == 0 and 2 * now.idle_steps < _BLOCK:
            now.steps_left, now.idle_steps = _BLOCK, 0
        if now.form == STEP or now.steps_left > 0:
            now.steps_left -= 1
            return _ANY, 0, 0.0
    upset_rate = rate_of_upsets(state)
    hazard = upset_rate + _success_rate(state)
    if now.form != LOOK_AHEAD and hazard > _MOST_HAZARD:
        now.steps_left, now.idle_steps = _BLOCK - 1, 0
        return _ANY, 0, 0.0
    window = now.next_expiry - round_ + 1
    idle, happens, level = waiting_time_and_level(rng, hazard, window)
    if not happens:
        return _NOTHING, idle, 0.0
    if level < upset_rate:
        return _BY_UPSET, idle, level
    return _BY_SUCCESS, idle, level - upset_rate


@compiled
def _champion(state: DoubleThompsonKernel, rng: Generator) -> int:
    """Draw the first arm of D-TS+ by the tie-break, given no upset.

    That is the distribution both of an idle round and of a round that is not idle by
    success: one draw serves both, and all idle rounds of a stretch. How likely each
    leader is has no closed form, by which the rounds could be shared.
    """
    sample_votes_given(state, rng, NO_UPSET)
    return first_arm(state, rng)


@inlined
def _column_rate(state: DoubleThompsonKernel, leader: int) -> float:
    """Return the rate of the column of a leader of D-TS+.

    The exponential variable of all leaders, below the largest rate, leaves the column
    empty where it exceeds that.
    """
    rank = 0
    while state.arms[rank].leader != leader:
        rank += 1
    return state.arms[rank].column_rate


@compiled
def _first_to_lose(state: DoubleThompsonKernel, rng: Generator) -> tuple[int, float]:
    """Draw the first arm of D-TS given no upset and that a challenger succeeds.

    In proportion to 1 - exp(-rate of its column). With it comes an exponential variable
    below that rate.
    """
    arms, now = state.arms, state.now[0]
    for rank in range(now.num_leaders):
        arms[rank].weight = -math.expm1(-arms[rank].column_rate)
    rank = place_by_weight(arms, now.num_leaders, rng)
    return arms[rank].leader, truncated_exponential(rng, arms[rank].column_rate)


@compiled
def share_idle_rounds(
    state: DoubleThompsonKernel,
    rng: Generator,
    rounds: int,
    shares: Int[np.ndarray, " K"],
) -> None:
    """Share the idle rounds among the leaders of D-TS.

    The first arm of each of them has the distribution exp(-rate of its column),
    normalized.
    """
    arms, count = state.arms, state.now[0].num_leaders
    safest, total = math.inf, 0.0
    for rank in range(count):
        safest = min(safest, arms[rank].column_rate)
    for rank in range(count):
        arms[rank].weight = math.exp(safest - arms[rank].column_rate)
        total += arms[rank].weight
    for rank in range(count - 1):
        weight = arms[rank].weight
        if rounds > 0 and weight > 0.0:
            # What is left of the total may be rounded below the next weight.
            share = binomial(rng, rounds, weight / max(total, weight))
            shares[arms[rank].leader] = share
            rounds -= share
            total -= weight
    shares[arms[count - 1].leader] = rounds


@inlined
def _success_rate(state: DoubleThompsonKernel) -> float:
    """Return the rate at which some challenger of the first arm succeeds.

    With rates lam_w, no one succeeds with the mean of exp(-lam_w) over the leaders
    (``_idle_rounds``). D-TS+: one exponential variable for all leaders, drawn apart
    from the first arm, says whether its column is empty, so a round counts as idle if
    it exceeds the largest rate (``_events``).
    """
    arms, count = state.arms, state.now[0].num_leaders
    safest, riskiest = math.inf, 0.0
    for rank in range(count):
        arm = arms[rank].leader
        rate = 0.0
        for i in range(arms.size):
            if state.pairs[arm, i].eligible:
                rate += state.pairs[arm, i].win_rate
        arms[rank].column_rate = rate
        safest, riskiest = min(safest, rate), max(riskiest, rate)
    if count == 1 or state.now[0].ties_by_regret:
        return riskiest
    lacking = 0.0
    for rank in range(count):
        lacking -= math.expm1(safest - arms[rank].column_rate)
    return safest - math.log1p(-lacking / count)


@inlined
def update(
    state: DoubleThompsonKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count an outcome."""
    count_duel(state, round_, first, second, won)


scalar_kernel.implement(
    DoubleThompsonKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend_most_beaten,
    share_idle_rounds=share_idle_rounds,
)
