"""What the kernel of RD-TS knows: pairs, the leader, and how likely each rival is.

Between a rival i and the leader w of K arms decide the pairs {i, w}, {i, j} and {j, w}
for all other j. Their signs are independent under the posterior. With X_ij = [i beats
j], the rival has more wins than the leader exactly where

    2 X_iw + sum_j X_ij + sum_j X_jw >= K,

since w has K - 1 - X_iw - sum_j X_jw wins. The probability of that is computed by
adding products of probabilities and nothing else, so that the smallest ones keep their
digits.

A duel moves one pair: between two rivals
it changes the distributions of these two, with the leader those of all rivals, and only
another leader changes everything.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Real

from bayesduel.models.in_policies.scalar_betas import (
    expected_divergence,
    half_tail,
    tail_table,
)
from bayesduel.ops.scalar.compiled import Records, compiled, inlined, tables

_NOW = np.dtype(
    [
        ("c", np.float64),
        ("eta", np.float64),
        ("floor", np.float64),
        ("doubts", np.float64),
        ("flips_only", np.int64),
        ("costs_regret", np.int64),
        ("by_gradient", np.int64),  # The steepest pair is played, not a flipped one.
        ("steps", np.int64),  # Self-duels are rounds like all others.
        ("leader", np.int64),
        ("best_score", np.float64),
        ("total", np.float64),  # Sum of the probabilities of all rivals.
    ]
)
"""Single numbers."""

_ARM = np.dtype(
    [
        ("score", np.float64),  # s_i: sum of the probabilities to beat the others.
        ("losses", np.int64),  # Twice the losses by majority, even pairs one.
        ("weight", np.float64),  # Phi_i, by which a rival is drawn; 0 of the leader.
        # Not of the arm, but lists.
        ("listed", np.int64),
        ("cost", np.float64),
    ]
)

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("prior", np.float64),  # [i, j]: pseudo-wins of i over j.
        ("lead", np.int64),  # [i, j]: sign of what i is ahead.
        ("probability", np.float64),  # [i, j]: P(theta_ij > 1/2).
        ("favorable", np.float64),  # [i, j]: i beats j in a world that favors i,
        ("unfavorable", np.float64),  # and does not.
        ("divergence", np.float64),
        ("worth", np.float64),  # Divergence times (duels + 1)^eta.
        ("steepness", np.float64),  # [i, j], i < j: slopes of all Phi, for a round.
    ]
)

_FLIPPED = np.dtype([("first", np.int64), ("second", np.int64), ("weight", np.float64)])


class RivalDirectedKernel(NamedTuple):
    """The state of one run; N = K + 1 entries are what may be needed, 0 to K."""

    now: Records
    arms: Records
    pairs: Records
    # [i, r]: P(i beats at least r arms, itself and the leader apart).
    own_wins: Float[np.ndarray, "K N"]
    # [i, s]: P(the leader loses to s arms other than i); P a power of two.
    defeats: Float[np.ndarray, "P N"]
    spare: Float[np.ndarray, "P N"]
    # [row, r]: P(the rows from this one on supply r), of the drawn rival.
    tails: Float[np.ndarray, "E N"]
    flipped: Records
    table: Float[np.ndarray, "B D"]


def new_state(
    prior: Real[np.ndarray, "K K"],
    *,
    c: float,
    eta: float,
    floor: float,
    costs_regret: bool,
    doubts: float,
    flips_only: bool,
    by_gradient: bool = False,
    steps: bool = False,
) -> RivalDirectedKernel:
    """Return the state before the first round."""
    num_arms = len(prior)
    padded = 1 << (num_arms - 1).bit_length()
    state = RivalDirectedKernel(
        *tables(num_arms, _NOW, _ARM, _PAIR),
        own_wins=np.zeros((num_arms, num_arms + 1)),
        defeats=np.zeros((padded, num_arms + 1)),
        spare=np.zeros((padded, num_arms + 1)),
        tails=np.zeros((2 * num_arms, num_arms + 1)),
        flipped=np.zeros(2 * num_arms, dtype=_FLIPPED),
        table=tail_table(),
    )
    state.now["c"], state.now["eta"], state.now["floor"] = c, eta, floor
    state.now["flips_only"], state.now["doubts"] = flips_only, doubts
    state.now["leader"], state.now["costs_regret"] = -1, costs_regret
    state.now["by_gradient"], state.now["steps"] = by_gradient, steps
    state.pairs["prior"] = prior
    # Every pair is even until it is refreshed.
    state.arms["losses"] = num_arms - 1
    return state


@compiled
def refresh_pair(state: RivalDirectedKernel, one: int, other: int) -> None:
    """Bring up to date what the counts of a pair say."""
    now, forward, backward = (
        state.now[0],
        state.pairs[one, other],
        state.pairs[other, one],
    )
    won, lost = forward.wins + forward.prior, backward.wins + backward.prior
    small = half_tail(won, lost, state.table)
    forward.probability = small if won < lost else 1.0 - small
    backward.probability = 1.0 - small if won < lost else small
    lead = (won > lost) - (won < lost)
    state.arms[one].losses += forward.lead - lead
    state.arms[other].losses += lead - forward.lead
    forward.lead, backward.lead = lead, -lead
    forward.favorable, forward.unfavorable = forward.probability, backward.probability
    backward.favorable, backward.unfavorable = backward.probability, forward.probability
    if now.flips_only and lead > 0:
        forward.favorable, forward.unfavorable = 1.0, 0.0
    if now.flips_only and lead < 0:
        backward.favorable, backward.unfavorable = 1.0, 0.0
    divergence = expected_divergence(won, lost)
    forward.divergence = backward.divergence = divergence
    duels = forward.wins + backward.wins
    forward.worth = backward.worth = divergence * (duels + 1.0) ** now.eta
    _score(state, one)
    _score(state, other)
    now.best_score = 0.0
    for arm in range(state.arms.size):
        now.best_score = max(now.best_score, state.arms[arm].score)


@inlined
def _score(state: RivalDirectedKernel, arm: int) -> None:
    total = 0.0
    for other in range(state.arms.size):
        total += state.pairs[arm, other].probability
    state.arms[arm].score = total


@inlined
def regret(state: RivalDirectedKernel, one: int, other: int) -> float:
    """Return K - 1 times r_ij, or 1: only ratios matter."""
    if not state.now[0].costs_regret:
        return 1.0
    mean = 0.5 * (state.arms[one].score + state.arms[other].score)
    return state.now[0].best_score - mean + state.now[0].floor


@compiled
def refresh_everything(state: RivalDirectedKernel) -> None:
    """Find all distributions anew, after another arm has become the leader."""
    for rival in range(state.arms.size):
        if rival != state.now[0].leader:
            _refresh_own_wins(state, rival)
    refresh_defeats(state)


@compiled
def refresh_rivals(state: RivalDirectedKernel, one: int, other: int) -> None:
    """Bring two rivals up to date that have met."""
    for rival in (one, other):
        _refresh_own_wins(state, rival)
        _refresh_probability(state, rival)
    _refresh_total(state)


@compiled
def refresh_defeats(state: RivalDirectedKernel) -> None:
    """Bring all rivals up to date after a duel of the leader.

    For every rival the distribution of the leader's defeats by the others: the arms are
    halved again and again, and each half takes in the pairs of the other one. Leaving a
    factor out of a product by division would lose the digits of small probabilities.
    """
    padded, size = len(state.defeats), state.arms.size + 1
    current, following = state.defeats, state.spare
    _empty_product(current, 0, size)
    segments = 1
    while segments < padded:
        half = padded // (2 * segments)
        for segment in range(segments):
            for side in range(2):
                child, sibling = 2 * segment + side, 2 * segment + 1 - side
                for needed in range(size):
                    following[child, needed] = current[segment, needed]
                for arm in range(sibling * half, (sibling + 1) * half):
                    _multiply_in(state, following, child, arm)
        current, following = following, current
        segments *= 2
    for rival in range(state.arms.size):
        if rival != state.now[0].leader:
            # The distributions of the leaves stand in one of the two arrays.
            for count in range(size):
                state.defeats[rival, count] = current[rival, count]
            _refresh_probability(state, rival)
    _refresh_total(state)


@inlined
def _empty_product(
    distributions: Float[np.ndarray, "P N"], row: int, size: int
) -> None:
    for count in range(size):
        distributions[row, count] = 0.0
    distributions[row, 0] = 1.0


@inlined
def _multiply_in(
    state: RivalDirectedKernel,
    distributions: Float[np.ndarray, "P N"],
    row: int,
    arm: int,
) -> None:
    """Add the sign of "the leader loses to this arm" to a distribution."""
    leader = state.now[0].leader
    if arm >= state.arms.size or arm == leader:
        return
    pair = state.pairs[arm, leader]
    loses, wins = pair.favorable, pair.unfavorable
    for count in range(state.arms.size, 0, -1):
        distributions[row, count] = (
            wins * distributions[row, count] + loses * distributions[row, count - 1]
        )
    distributions[row, 0] *= wins


@compiled
def _refresh_own_wins(state: RivalDirectedKernel, rival: int) -> None:
    """Find the tail of the rival's wins against all but the leader."""
    num_arms = state.arms.size
    tail = state.own_wins[rival]
    for needed in range(1, num_arms + 1):
        tail[needed] = 0.0
    tail[0] = 1.0
    pairs = 0
    for other in range(num_arms):
        if other != rival and other != state.now[0].leader:
            pairs += 1
            pair = state.pairs[rival, other]
            wins, loses = pair.favorable, pair.unfavorable
            for needed in range(pairs, 0, -1):
                tail[needed] = wins * tail[needed - 1] + loses * tail[needed]


@inlined
def _refresh_probability(state: RivalDirectedKernel, rival: int) -> None:
    """Sum Phi of a rival over the leader's defeats by others."""
    num_arms = state.arms.size
    direct = state.pairs[rival, state.now[0].leader]
    tail, probability = state.own_wins[rival], 0.0
    for defeats in range(num_arms - 1):
        with_duel = direct.favorable * tail[max(num_arms - 2 - defeats, 0)]
        without = direct.unfavorable * tail[num_arms - defeats]
        probability += state.defeats[rival, defeats] * (with_duel + without)
    state.arms[rival].weight = probability


@inlined
def _refresh_total(state: RivalDirectedKernel) -> None:
    state.arms[state.now[0].leader].weight = 0.0
    total = 0.0
    for rival in range(state.arms.size):
        total += state.arms[rival].weight
    state.now[0].total = total
