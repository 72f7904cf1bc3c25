"""Track-and-Stop for Copeland winners."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.scalar_betas import expected_divergence
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.identification import EQUAL_LAGS
from bayesduel.policies.parameter_values import check_cost, prices_in_order
from bayesduel.policies.policy import LIKELY_ANSWERS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import count_win, recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_that, number_within

# A set may be short of one unit of evidence by that much, and a pair below zero
_ENOUGH = 1e-10
_NO_PIVOT = 1e-11

# Per pair; far more than are needed. What is found then is used all the same.
_MOST_PIVOTS = 200


class Program(NamedTuple):
    """Room for the program of K arms with M pairs, and the last basis."""

    beats: Int[np.ndarray, "K K"]  # [i, j]: 1 where i is taken to be better.
    price: Float[np.ndarray, " M"]
    evidence: Float[np.ndarray, " M"]  # The solution.
    inverse: Float[np.ndarray, "M M"]  # Inverse of the basis, [pair, place].
    # [place]: value of the variable that is in the basis.
    level: Float[np.ndarray, " M"]
    is_set: Int[np.ndarray, " M"]  # [place]: 1 for a set, 0 for what a pair has left.
    direction: Float[np.ndarray, " M"]
    members: Int[np.ndarray, " N"]  # Pairs of the set that enters.
    nearest: Int[np.ndarray, " N"]  # Pairs of a rival in the order of their evidence.
    solved_for: Int[np.ndarray, " 1"]  # The arm that the basis belongs to; -1 for none.


def new_program(num_arms: int) -> Program:
    """Return room for the program of so many arms."""
    pairs = num_arms * (num_arms - 1) // 2
    return Program(
        beats=np.zeros((num_arms, num_arms), dtype=np.int64),
        price=np.zeros(pairs),
        evidence=np.zeros(pairs),
        inverse=np.zeros((pairs, pairs)),
        level=np.zeros(pairs),
        is_set=np.zeros(pairs, dtype=np.int64),
        direction=np.zeros(pairs),
        members=np.zeros(2 * num_arms, dtype=np.int64),
        nearest=np.zeros(2 * num_arms, dtype=np.int64),
        solved_for=np.full(1, -1, dtype=np.int64),
    )


@compiled
def pair_number(num_arms: int, first: int, second: int) -> int:
    """Return the place of a pair in lexicographic order."""
    low, high = min(first, second), max(first, second)
    return low * num_arms - low * (low + 1) // 2 + high - low - 1


@compiled
def set_sign(program: Program, first: int, second: int, first_beats: int) -> None:
    """Say which of two arms is better; another sign than before ends the basis."""
    beats = program.beats
    if beats[first, second] != first_beats or beats[second, first] == first_beats:
        beats[first, second], beats[second, first] = first_beats, 1 - first_beats
        program.solved_for[0] = -1


@compiled
def solve(program: Program, winner: int) -> float:
    """Find the cheapest evidence that an arm wins; return what it costs."""
    if program.solved_for[0] != winner or not _still_feasible(program):
        _begin(program)
        for _ in range(_MOST_PIVOTS * program.price.size):
            count, short = _scarcest_set(program, winner)
            # The pair whose evidence is furthest below zero.
            pair, below = 0, 0.0
            for negative in range(program.price.size):
                if -program.evidence[negative] > below:
                    pair, below = negative, -float(program.evidence[negative])
            if max(short, below) <= _ENOUGH:
                break
            if below > short:
                program.members[0], count, short = pair, 1, below
            if not _enter(program, count, short, is_set=below != short):
                break
        program.solved_for[0] = winner
    cost = 0.0
    for pair in range(program.price.size):
        program.evidence[pair] = max(program.evidence[pair], 0.0)
        cost += program.price[pair] * program.evidence[pair]
    return cost


@compiled
def _begin(program: Program) -> None:
    """Start with no evidence at all: every pair has all of its price left."""
    for pair in range(program.price.size):
        program.evidence[pair] = 0.0
        program.level[pair] = program.price[pair]
        program.is_set[pair] = 0
        for row in range(program.price.size):
            program.inverse[pair, row] = 0.0
        program.inverse[pair, pair] = 1.0


@compiled
def _still_feasible(program: Program) -> bool:
    """Find the levels at new prices; say whether none is negative."""
    least = 0.0
    for row in range(program.price.size):
        program.level[row] = 0.0
    for pair in range(program.price.size):
        for row in range(program.price.size):
            program.level[row] += program.inverse[pair, row] * program.price[pair]
    for row in range(program.price.size):
        least = min(least, program.level[row])
    return least >= 0.0


@compiled
def _scarcest_set(program: Program, winner: int) -> tuple[int, float]:
    """Fill ``members`` with a set of least evidence; return its size, what it lacks."""
    num_arms, size, least = len(program.beats), 0, math.inf
    for rival in range(num_arms):
        if rival == winner:
            continue
        missing, count = _sort_nearest(program, winner, rival)
        direct = pair_number(num_arms, rival, winner)
        for with_direct in range(2):
            if with_direct and program.beats[rival, winner]:
                continue
            needed = max(missing - 2, 0) if with_direct else missing
            if needed > count:
                continue
            total = program.evidence[direct] if with_direct else 0.0
            for row in range(needed):
                total += program.evidence[program.nearest[row]]
            if total < least:
                least, size = total, needed + with_direct
                for row in range(needed):
                    program.members[row] = program.nearest[row]
                if with_direct:
                    program.members[needed] = direct
    return size, 1.0 - float(least)


@compiled
def _sort_nearest(program: Program, winner: int, rival: int) -> tuple[int, int]:
    """Order the pairs that a rival could turn, but for the direct one, by evidence."""
    num_arms, count = len(program.beats), 0
    missing = num_arms - 2 * program.beats[rival, winner]
    for second in range(num_arms):
        if second == rival or second == winner:
            continue
        for side in range(2):
            first, two = (rival, second) if side == 0 else (second, winner)
            if program.beats[first, two]:
                missing -= 1
                continue
            pair = pair_number(num_arms, first, two)
            position = count
            count += 1
            while position > 0 and _before(
                program, pair, program.nearest[position - 1]
            ):
                program.nearest[position] = program.nearest[position - 1]
                position -= 1
            program.nearest[position] = pair
    return missing, count


@compiled
def _before(program: Program, first: int, second: int) -> bool:
    if program.evidence[first] != program.evidence[second]:
        return program.evidence[first] < program.evidence[second]
    return program.price[first] > program.price[second]


@compiled
def _enter(program: Program, count: int, gain: float, is_set: bool) -> bool:
    """Let a set, or what a pair has left, enter the basis; false if none can leave."""
    size, leaving, step = program.price.size, -1, math.inf
    for row in range(size):
        program.direction[row] = 0.0
    for index in range(count):
        pair = program.members[index]
        for row in range(size):
            program.direction[row] += program.inverse[pair, row]
    for row in range(size):
        if program.direction[row] > _NO_PIVOT:
            ratio = max(program.level[row], 0.0) / program.direction[row]
            if ratio < step:
                leaving, step = row, ratio
    if leaving < 0:
        return False
    pivot = program.direction[leaving]
    for row in range(size):
        program.level[row] -= step * program.direction[row]
    program.level[leaving] = step
    program.is_set[leaving] = is_set
    for pair in range(size):
        moved = program.inverse[pair, leaving] / pivot
        if moved != 0.0:
            for row in range(size):
                program.inverse[pair, row] -= program.direction[row] * moved
            program.inverse[pair, leaving] = moved
            program.evidence[pair] += gain * moved
    return True


_MOST_ARMS = 64


@register("track-and-stop", acronym="Track-and-Stop")
class TrackAndStop(KernelPolicy):
    r"""Track-and-Stop: the proportions of pairs that name a winner at the least cost.

    Track-and-Stop is a policy for naming a winner with few duels; regret plays no part.
    From the present estimates it computes the proportions in which the pairs should be
    compared. It compares the pair that is furthest behind its proportion.

    Use it with a stopping rule (:mod:`bayesduel.stopping`). ``rd-ts:cost=duels`` needs
    fewer duels on most matrices.

    Parameters
    ----------
    cost : {"duels", "prices"}
        What a duel costs. "duels": 1. "prices": its price, which comes from the
        instance, ``next_pairs(prices=...)`` or a study. The proportions are then those
        of the program with these prices, so that the total cost is asymptotically
        least.
    growth : float
        From 0 to 1. The proportions are computed again when the number of duels has
        grown by this share; 0 means after every duel.
    sticky : float
        At least 0, below 1. Another answer replaces the present one only if it is
        cheaper by this share (see the notes).

    Notes
    -----
    **Rule.** M = K (K - 1) / 2 is the number of pairs. After t duels, :math:`n_e` of
    them of the pair e:

    1. *Forced duels.* If some pair has fewer than :math:`\max(1,\sqrt t-M/2)` duels,
       compare the pair with the fewest. So the first M duels compare each pair once.
       Later duels are forced only from :math:`(M/2+1)^2` duels on.
    2. *Tracking.* Otherwise solve the identification program
       (`theory.identification_bound`) for the estimates. Its solution has a proportion
       :math:`a_e` for each pair. Compare the pair e that maximizes :math:`t\,a_e-n_e`,
       the number of duels that it lacks ("D-tracking").

    **Several winners.** Each Copeland winner is a right answer, and the policy must not
    change between them all the time (Degenne and Koolen 2019). An answer is kept until
    another one is cheaper by the share ``sticky``, or until it is no winner of the
    estimates any more.

    **Assumptions.** For a unique answer Garivier and Kaufmann (2016) prove that the
    number of duels is asymptotically the least, :math:`T^*\log(1/\delta)`. Nothing is
    proved for the form here, with the deviations below.

    **Deviations.** (a) The paper forces :math:`\max(0,\sqrt t-M/2)` duels of a pair,
    which is none at the start. (b) The proportions are computed again only when the
    number of duels has grown by ``growth``, because the estimates change little before
    that. (c) The evidence per duel of a pair is the posterior mean of KL(theta, 1/2),
    theta ~ Beta(wins + 1, losses + 1), which is not 0 for even counts. (d) In an even
    pair the arm with the lower position counts as ahead, and pairs that lack equally
    many duels (to 1e-6) come in lexicographic order. Both are random in each run,
    because arms are relabeled at random. (e) The price of the n-th pair is multiplied
    by 1 + 1e-6 sin(n), so that the optimum is unique. (f) The guarantee of sticky
    Track-and-Stop is for confidence sets of estimates, which are left out here. With
    several winners of different cost, the number of duels is within 1/(1 - ``sticky``)
    of the best.

    **Computation.** A program of K arms takes about :math:`K^5` operations if estimates
    have crossed 1/2, and :math:`K^4` otherwise. At most 64 arms are allowed.

    References
    ----------
    A. Garivier, E. Kaufmann, "Optimal Best Arm Identification with Fixed Confidence",
    COLT 2016, section 3. R. Degenne, W. M. Koolen, "Pure Exploration with Multiple
    Correct Answers", NeurIPS 2019.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("track-and-stop", sticky=0.2).label
    'Track-and-Stop:sticky=0.2'
    """

    growth: float = checked(0.05, number_within, 0, 1)
    sticky: float = checked(
        0.1, number_that, rule="from 0 to below 1", holds=lambda share: 0 <= share < 1
    )
    cost: str = "duels"

    title: ClassVar[str] = "Track-and-Stop"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter, or too many arms."""
        super().check(num_arms, horizon)
        check_cost(self.cost, ("duels",), num_arms)
        if num_arms > _MOST_ARMS:
            raise PolicyParameterError(
                "num_arms",
                f"must be at most {_MOST_ARMS} for track-and-stop",
                num_arms,
                remedy="rd-ts:cost=duels takes more",
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> TrackAndStopKernel:
            num_arms = len(order)
            number = num_arms * (num_arms - 1) // 2
            fees = prices_in_order(self.cost, order)
            state = TrackAndStopKernel(
                now=np.zeros(1, dtype=_NOW),
                pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
                share=np.zeros(number),
                divergence=np.zeros(number),
                fee=fees[np.triu_indices(num_arms, 1)],
                program=new_program(num_arms),
            )
            state.now["growth"], state.now["sticky"] = self.growth, self.sticky
            state.now["next_aim"], state.now["answer"] = number, -1
            return state

        return ScalarKernel("track_and_stop", initial_state)


_NOW = np.dtype(
    [
        ("growth", np.float64),
        ("sticky", np.float64),
        ("duels", np.int64),
        ("next_aim", np.int64),  # Duels at which the allocation is found anew.
        ("answer", np.int64),  # The arm that it is for; -1 before the first.
    ]
)

_PAIR = np.dtype([("wins", np.int64)])

# Prices differ from one another by so much, so that one optimum is the cheapest
MOST_TILT = 1e-6


class TrackAndStopKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    # Share of the duels, for every pair in lexicographic order.
    share: Float[np.ndarray, " M"]
    divergence: Float[np.ndarray, " M"]
    fee: Float[np.ndarray, " M"]  # Price of a duel.
    program: Program


@compiled
def choose(state: TrackAndStopKernel, rng: Generator, round_: int) -> Duel:
    """Return the pair that was asked too seldom, or is furthest behind its share."""
    now = state.now[0]
    if now.duels >= now.next_aim:
        aim(state)
        now.next_aim = now.duels + max(1, int(now.growth * now.duels))
    first, second = _next_pair(state)
    return Duel(first, 0, first, second, True)


@compiled
def _next_pair(state: TrackAndStopKernel) -> tuple[int, int]:
    num_arms, duels = len(state.pairs), state.now[0].duels
    first, second, least, most = 0, 1, math.inf, -math.inf
    for arm in range(num_arms):
        for rival in range(arm + 1, num_arms):
            played = state.pairs[arm, rival].wins + state.pairs[rival, arm].wins
            if played < least:
                first, second, least = arm, rival, played
    if least < max(1.0, math.sqrt(duels) - 0.5 * state.share.size):
        return first, second
    for arm in range(num_arms):
        for rival in range(arm + 1, num_arms):
            most = max(most, _lag(state, arm, rival))
    for arm in range(num_arms):
        for rival in range(arm + 1, num_arms):
            if _lag(state, arm, rival) >= most - EQUAL_LAGS:
                return arm, rival
    return first, second


@compiled
def _lag(state: TrackAndStopKernel, first: int, second: int) -> float:
    """Return how many duels a pair is behind its share."""
    played = state.pairs[first, second].wins + state.pairs[second, first].wins
    share = state.share[pair_number(len(state.pairs), first, second)]
    return state.now[0].duels * share - played


@compiled
def aim(state: TrackAndStopKernel) -> None:
    """Find the optimal shares for the estimates, and the answer that they are for."""
    now, program, num_arms = state.now[0], state.program, len(state.pairs)
    # The leader of each pair, and the cost of a unit of evidence on it.
    for first in range(num_arms):
        for second in range(first + 1, num_arms):
            pair = pair_number(num_arms, first, second)
            won, lost = state.pairs[first, second].wins, state.pairs[second, first].wins
            state.divergence[pair] = expected_divergence(won + 1.0, lost + 1.0)
            tilt = 1.0 + MOST_TILT * math.sin(pair + 1.0)
            program.price[pair] = state.fee[pair] * tilt / state.divergence[pair]
            set_sign(program, first, second, int(won >= lost))
    best, cheapest = -1, math.inf
    for arm in range(len(state.pairs)):
        if _is_winner(program, arm):
            cost = solve(program, arm)
            # An answer that is nearly as cheap is kept.
            cost *= 1.0 - now.sticky if arm == now.answer else 1.0
            if cost < cheapest:
                best, cheapest = arm, cost
    if program.solved_for[0] != best:
        solve(program, best)
    now.answer = best
    total = 0.0
    for pair in range(state.share.size):
        state.share[pair] = program.evidence[pair] / state.divergence[pair]
        total += state.share[pair]
    for pair in range(state.share.size):
        state.share[pair] /= total


@compiled
def _is_winner(program: Program, arm: int) -> bool:
    """Say whether no arm beats more others."""
    own_count, most = 0, 0
    for first in range(len(program.beats)):
        beaten = 0
        for second in range(len(program.beats)):
            beaten += program.beats[first, second]
        own_count = beaten if first == arm else own_count
        most = max(most, beaten)
    return own_count == most


@compiled
def update(
    state: TrackAndStopKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome."""
    count_win(state, rng, round_, first, second, won)
    state.now[0].duels += 1


scalar_kernel.implement(
    TrackAndStopKernel, choose=choose, update=update, recommend=recommend_most_beaten
)
