"""The kernel of RMED1, RMED2 and RMED2FH.

Of a stretch of self-duels only the last one, which alone can let an arm in, is tested.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, inlined, tables
from bayesduel.ops.scalar.resolved_rounds import last_round_within
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel
from bayesduel.policies.rmed._scalar_lists import (
    ELEMENT_FIELDS,
    LIST_FIELDS,
    append,
    first_pass,
    is_only_element,
    note,
    reads_self_duels,
    recall,
    refill_if_empty,
    take,
)
from bayesduel.policies.rmed._scalar_pairs import (
    DRAWS_FIELDS,
    PAIR_FIELDS,
    count_ahead,
    count_draw,
    count_duel,
    find_fewest,
    lowest,
)
from bayesduel.policies.scalar_kernel import ScalarKernel

_RULES = "rmed1", "rmed2", "rmed2fh"
_RMED1, _RMED2, _RMED2FH = range(3)

_NOBODY = -1

_NOW = np.dtype(
    [
        *LIST_FIELDS,
        *DRAWS_FIELDS,
        ("look_ahead", np.int64),  # Whether idle rounds are jumped over.
        ("allowance", np.float64),  # f(K)
        ("rule", np.int64),
        ("alpha", np.float64),
        ("numerator_floor", np.float64),
        ("horizon", np.int64),
        # Initial sweeps that are not over, and the pair of them to be drawn next.
        ("sweeps_left", np.int64),
        ("row", np.int64),
        ("column", np.int64),
        ("best", np.int64),  # i*
    ]
)

_ARM = np.dtype(
    [
        *ELEMENT_FIELDS,
        ("against", np.float64),  # I_i
        ("num_unbeaten", np.int64),
        ("cost", np.float64),  # Not of the arm: of all arms as targets of one.
        ("target", np.int64),  # b_l of RMED2FH, -1 if there is none.
    ]
)


class RMEDKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``PAIR_FIELDS``.


def kernel(
    rule: str,
    *,
    look_ahead: bool,
    f_scale: float,
    f_power: float,
    alpha: float = 1.0,
    numerator_floor: float = 0.0,
) -> ScalarKernel:
    """Return the kernel of a rule with the parameters of its policy.

    RMED1 has not the last two.
    """

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> RMEDKernel:
        num_arms = len(order)
        state = RMEDKernel(*tables(num_arms, _NOW, _ARM, np.dtype(PAIR_FIELDS)))
        state.now["look_ahead"] = look_ahead
        state.now["allowance"] = float(f_scale) * float(num_arms) ** float(f_power)
        state.now["rule"] = _RULES.index(rule)
        state.now["alpha"] = alpha
        state.now["numerator_floor"] = numerator_floor
        state.now["horizon"] = horizon
        draws = math.ceil(float(alpha) * math.log(math.log(max(horizon, 3))))
        state.now["sweeps_left"] = max(1, draws) if rule == "rmed2fh" else 1
        state.now["column"] = 1
        state.arms["num_unbeaten"] = num_arms - 1
        state.arms["target"] = _NOBODY
        first_pass(state, state.arms, num_arms)
        return state

    return ScalarKernel("rmed", initial_state)


@inlined
def init(state: RMEDKernel, rng: Generator) -> None:
    """Count the pairs that were never drawn."""
    find_fewest(state)


@inlined
def choose(state: RMEDKernel, rng: Generator, round_: int) -> Duel:
    """Choose the next duel of the sweep or of the pass."""
    now, arms = state.now[0], state.arms
    now.is_in_turn = False
    if now.sweeps_left > 0:
        first, second = now.row, now.column
        _go_on_with_sweep(now, arms.size)
        count_draw(state, first, second)
        return Duel(first, 0, first, second, True)
    if now.rule == _RMED2 and now.left_in_pass == 0 and _some_pair_is_rare(now, round_):
        first, second = _first_rare_pair(state, round_)
        count_draw(state, first, second)
        return Duel(first, 0, first, second, True)
    now.is_in_turn = True
    refill_if_empty(now, arms)
    arm = arms[now.head].listed
    opponent = _opponent(state, arm, round_)
    idle = 0
    if opponent != arm:
        count_draw(state, arm, opponent)
    elif now.look_ahead and is_only_element(now):
        idle = _self_duels(state, round_) - 1
    take(now, arms)
    return Duel(arm, idle, arm, opponent, True)


@inlined
def _go_on_with_sweep(now: Records, num_arms: int) -> None:
    now.column += 1
    if now.column == num_arms:
        now.row += 1
        if now.row == num_arms - 1:
            now.row = 0
            now.sweeps_left -= 1
        now.column = now.row + 1


@inlined
def _some_pair_is_rare(now: Records, round_: int) -> bool:
    """Say whether N < alpha log log t for some pair."""
    return math.log(float(max(round_, 3))) > _count_limit(now)


@inlined
def _count_limit(now: Records) -> float:
    """Log of the last round at which all pairs were drawn often enough."""
    return math.exp(now.fewest / now.alpha)


@compiled
def _first_rare_pair(state: RMEDKernel, round_: int) -> tuple[int, int]:
    """Return the first pair in lexicographic order that was drawn too rarely."""
    now, num_arms = state.now[0], state.arms.size
    log_t = math.log(float(max(round_, 3)))
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            if log_t > math.exp(state.pairs[i, j].draws / now.alpha):
                return i, j
    return 0, 0


@inlined
def _opponent(state: RMEDKernel, arm: int, round_: int) -> int:
    """Return whom an arm of the lists meets."""
    now, best = state.now[0], state.now[0].best
    if now.rule != _RMED1:
        target = _pursued(state, arm, round_)
        if target >= 0:
            return target
    unbeaten = arm != best and state.pairs[arm, best].gap <= 0.0
    if unbeaten or state.arms[arm].num_unbeaten == 0:
        return best
    worst = -1
    for other in range(state.arms.size):
        if other != arm:
            if worst < 0 or state.pairs[arm, other].gap < state.pairs[arm, worst].gap:
                worst = other
    return worst


@compiled
def _pursued(state: RMEDKernel, arm: int, round_: int) -> int:
    """Return b_l; -1 if there is none, or it is beaten, or was met too often."""
    now, row = state.now[0], state.pairs[arm]
    if now.rule == _RMED2FH:
        target, round_ = state.arms[arm].target, now.horizon
    else:
        target = _target(state, arm)
    if target < 0 or row[target].gap > 0.0:
        return _NOBODY
    scale = math.log(math.log(float(max(round_, 16))))
    enough = row[now.best].draws * scale >= row[target].draws
    return target if enough else _NOBODY


@compiled
def _target(state: RMEDKernel, arm: int) -> int:
    """Return who proves at the least cost that an arm is not the best one, or -1."""
    now, arms, best = state.now[0], state.arms, state.now[0].best
    row = state.pairs[arm]
    found = False
    for other in range(arms.size):
        arms[other].cost = math.inf
        if row[other].gap < 0.0:
            found = True
            regret = state.pairs[best, arm].gap + state.pairs[best, other].gap
            regret = max(regret, now.numerator_floor)
            arms[other].cost = regret / row[other].divergence
    return lowest(arms.cost) if found else _NOBODY


@inlined
def _self_duels(state: RMEDKernel, round_: int) -> int:
    """Count the rounds up to and with the first whose test lets another arm in.

    In RMED2 they may end before, where a pair becomes rare.
    """
    now, arms = state.now[0], state.arms
    nearest = math.inf
    for i in range(arms.size):
        if i != now.best:
            nearest = min(nearest, arms[i].against)
    nearest = nearest - _least_against(state) - now.allowance
    rounds = 1
    if math.log(float(round_)) < nearest:
        rounds = last_round_within(nearest, round_) - round_ + 2
    if now.rule == _RMED2:
        until_rare = last_round_within(_count_limit(now), round_) - round_ + 1
        rounds = min(rounds, until_rare)
    return rounds


@inlined
def _least_against(state: RMEDKernel) -> float:
    """I*; that of i* may be larger by rounding."""
    least = math.inf
    for i in range(state.arms.size):
        least = min(least, state.arms[i].against)
    return least


@compiled
def _append_arms_due(state: RMEDKernel, round_: int) -> None:
    """Test which arms are due in the next pass: I_j - I* - f(K) <= log t."""
    now, arms = state.now[0], state.arms
    least, log_t = _least_against(state), math.log(float(round_))
    now.tests += 1
    for i in range(arms.size):
        if arms[i].against - least - now.allowance <= log_t:
            append(now, arms, i)


@inlined
def update(
    state: RMEDKernel, rng: Generator, round_: int, first: int, second: int, won: bool
) -> None:
    """Count the outcome, then test which arms are due in the next pass."""
    if first != second:
        _learn(state, first, second, won)
    if state.now[0].is_in_turn:
        _append_arms_due(state, round_)


@compiled
def _learn(state: RMEDKernel, first: int, second: int, won: bool) -> None:
    """Count the outcome of different arms."""
    count_duel(state, first, second, won)
    _refresh_evidence_against(state, first)
    _refresh_evidence_against(state, second)
    state.now[0].best = lowest(state.arms.against)
    is_last = state.now[0].sweeps_left == 0 and not state.now[0].is_in_turn
    if state.now[0].rule == _RMED2FH and is_last:
        for arm in range(state.arms.size):
            state.arms[arm].target = _target(state, arm)


@compiled
def _refresh_evidence_against(state: RMEDKernel, arm: int) -> None:
    """Add up I_i and count the arms behind it: those that ``arm`` does not beat."""
    total, number = 0.0, 0
    for other in range(state.arms.size):
        pair = state.pairs[arm, other]
        if other != arm and pair.gap <= 0.0:
            total += pair.evidence
            number += 1
    state.arms[arm].against, state.arms[arm].num_unbeaten = total, number


@inlined
def recommend(state: RMEDKernel, rng: Generator) -> int:
    """Return i*."""
    return state.now[0].best


scalar_kernel.implement(
    RMEDKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    count_ahead=count_ahead,
    reads_self_duels=reads_self_duels,
    note=note,
    recall=recall,
)
