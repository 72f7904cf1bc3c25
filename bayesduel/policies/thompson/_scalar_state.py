"""What the kernel of D-TS knows: pairs, bounds, and the sets that follow from them.

``find_sets`` says what the sets are. All are kept up to date by what changes: a duel
moves one pair, a round that passes may leave some pairs unresolved.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int8, Int16, Real, UInt16
from numpy.random import Generator

from bayesduel.models.in_policies.scalar_betas import (
    half_tail,
    rates_above_half,
    tail_table,
)
from bayesduel.ops.scalar.compiled import Records, compiled, inlined, tables
from bayesduel.ops.scalar.draws import Bits, new_bits
from bayesduel.policies.scalar_bounds import (
    ARM_FIELDS,
    NOW_FIELDS,
    PAIR_FIELDS,
    refresh_bounds,
    start_bounds,
)

EITHER, STEP, LOOK_AHEAD = 0, 1, 2
"""Forms: step or look ahead, whichever is faster, or always the one."""

_NOW = np.dtype(
    [
        *NOW_FIELDS,
        # What stands still in a run.
        ("elimination", np.int64),
        ("ties_by_regret", np.int64),
        ("form", np.int64),
        # How many arms are in the sets.
        ("num_candidates", np.int64),
        ("num_leaders", np.int64),
        ("num_listed", np.int64),
        # Rounds to be stepped before looking ahead again; self-duels among the last.
        ("steps_left", np.int64),
        ("idle_steps", np.int64),
        # In which several leaders share what is idle from here on.
        ("round", np.int64),
    ]
)
"""Single numbers."""

_ARM = np.dtype(
    [
        *ARM_FIELDS,
        ("votes", np.int64),  # Arms that it more likely beats.
        ("is_candidate", np.int64),  # It has the fewest sure losses.
        ("is_leader", np.int64),
        # What may change the winners of a sample, as _scalar_upsets says.
        ("lacking", np.int64),  # Flips that make the upset of the arm; 0: it has none.
        ("upset_rate", np.float64),  # -log P(no upset)
        ("upset_is_known", np.int64),  # The rate is that of now.
        # Not of the arm, but lists: the candidates, the leaders with the rate at which
        # some challenger succeeds against them, and arms of a round with their weights.
        ("candidate", np.int64),
        ("leader", np.int64),
        ("column_rate", np.float64),
        ("listed", np.int64),
        ("weight", np.float64),
    ]
)

_PAIR = np.dtype(
    [
        *PAIR_FIELDS,  # [a, i] is eligible: i may be second against a.
        ("prior", np.float64),  # [i, j]: pseudo-wins of i over j.
        ("flip_rate", np.float64),  # -log P(no flip); both entries are the same.
        ("win_rate", np.float64),  # [a, i]: -log P(theta_ia <= 1/2): i succeeds.
        ("remainder", np.float64),  # What ``threshold`` leaves of P(flip).
    ]
)


class DoubleThompsonKernel(NamedTuple):
    """The state of one run.

    Numbers of a pair stand together, but those that make the signs of a sample: they
    are read row by row, many at a time.
    """

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``.
    # [i, j]: 1 if j more likely beats i, -1 if i does; of an even pair, the lower
    # index: what a flip against the majority adds to the votes of i.
    trails: Int8[np.ndarray, "K K"]
    threshold: UInt16[np.ndarray, "K K"]  # P(flip) in units of 2^-16, rounded down.
    # Whether pairs flip in the sample; see ``_scalar_rounds.flipped``.
    flips: Bool[np.ndarray, "K K"]
    sampled_votes: Int16[np.ndarray, " K"]

    upset_tails: Float[np.ndarray, "K K"]  # See ``_scalar_upsets``.
    bits: Bits
    tails: Float[np.ndarray, "B N"]


def new_state(
    prior: Real[np.ndarray, "K K"],
    *,
    alpha: float,
    elimination: bool,
    ties_by_regret: bool,
    form: int = EITHER,
) -> DoubleThompsonKernel:
    """Return the state before the first round."""
    num_arms = len(prior)
    square = (num_arms, num_arms)
    state = DoubleThompsonKernel(
        *tables(num_arms, _NOW, _ARM, _PAIR),
        trails=np.zeros(square, dtype=np.int8),
        threshold=np.zeros(square, dtype=np.uint16),
        flips=np.zeros(square, dtype=bool),
        sampled_votes=np.zeros(num_arms, dtype=np.int16),
        upset_tails=np.zeros(square),
        bits=new_bits(num_arms),
        tails=tail_table(),
    )
    state.now["elimination"] = elimination
    state.now["ties_by_regret"] = ties_by_regret
    state.now["form"] = form
    state.pairs["prior"] = prior
    start_bounds(state, alpha=alpha)
    return state


@compiled
def start(state: DoubleThompsonKernel) -> None:
    """Fill in what the prior says of all pairs."""
    num_arms = state.arms.size
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            state.trails[i, j], state.trails[j, i] = -1, 1
            state.arms[i].votes += 1
            refresh_tail(state, i, j)


@compiled
def refresh_tail(state: DoubleThompsonKernel, one: int, other: int) -> None:
    """Bring up to date what the samples of a pair do."""
    i, j = min(one, other), max(one, other)
    forward, backward = state.pairs[i, j], state.pairs[j, i]
    won, lost = forward.wins + forward.prior, backward.wins + backward.prior
    small = half_tail(won, lost, state.tails)
    scaled = small * 65536.0
    whole = math.floor(scaled)
    state.threshold[i, j] = state.threshold[j, i] = np.uint16(whole)
    forward.remainder = backward.remainder = scaled - whole
    one_rate, other_rate = rates_above_half(won, lost, small)
    forward.win_rate, backward.win_rate = one_rate, other_rate
    forward.flip_rate = backward.flip_rate = min(one_rate, other_rate)
    leads = won >= lost
    if leads == (state.trails[i, j] > 0):
        gain = 1 if leads else -1
        state.trails[i, j], state.trails[j, i] = -gain, gain
        state.arms[i].votes += gain
        state.arms[j].votes -= gain
        state.now[0].stale = True


@inlined
def count_duel(
    state: DoubleThompsonKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Take in the duel of ``round_``: ``update`` of D-TS."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    refresh_tail(state, first, second)
    # A pair with a leader belongs to a leader, any other to either arm.
    one, other = state.arms[first], state.arms[second]
    one.upset_is_known &= other.is_leader > one.is_leader
    other.upset_is_known &= one.is_leader > other.is_leader
    if state.now[0].elimination:
        refresh_bounds(state, first, second, round_ + 1)


@compiled
def find_sets(state: DoubleThompsonKernel) -> None:
    """Find the candidates, the leaders, and what may unseat them."""
    now, arms = state.now[0], state.arms
    fewest = arms.size
    for i in range(arms.size):
        fewest = min(fewest, arms[i].sure_losses)
    count, most = 0, -1
    for i in range(arms.size):
        arms[i].is_candidate = arms[i].sure_losses == fewest
        arms[i].is_leader = arms[i].upset_is_known = False
        arms[i].lacking = 0
        if arms[i].is_candidate:
            arms[count].candidate = i
            count += 1
            most = max(most, arms[i].votes)
    leading = 0
    for place in range(count):
        i = arms[place].candidate
        if arms[i].votes == most:
            arms[i].is_leader, arms[i].lacking = True, count > 1
            arms[leading].leader = i
            leading += 1
    for place in range(count):
        i = arms[place].candidate
        if not arms[i].is_leader:
            reached = arms.size - leading - 1
            for rank in range(leading):
                reached += state.trails[i, arms[rank].leader] < 0
            arms[i].lacking = most - arms[i].votes if reached >= most else 0
    now.num_candidates, now.num_leaders, now.stale = count, leading, False
