"""RD-TS*, a policy of this package's own whose regret is C* log T, with a proof.

``docs/theory/rival_directed_star.md`` has the theorem, and the numbers of the steps.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.scalar_betas import (
    expected_divergence,
    kl_to_half,
    log_half_tail,
    tail_table,
)
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.policies import scalar_kernel
from bayesduel.policies.parameter_values import check_cost, prices_in_order
from bayesduel.policies.policy import LIKELY_ANSWERS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.policies.thompson._scalar_rivals import (
    EQUAL_COSTS,
    find_costs,
    is_due,
    least_compared,
    list_fewest_losses,
    recommend,
    refresh_after,
    refresh_everything,
    rounds_before_event,
)
from theory.arguments import number_above, number_from, number_within
from theory.theorems import rival_directed_star_bound

_LARGEST_PRIOR = 1e9  # With more pseudo-wins a duel changes too few digits

# With more, sums over the sets of a rival could overflow: there are 2^(2 K - 3)
_MOST_ARMS = 512


@register("rd-ts-star", acronym="RD-TS*", theorems=(rival_directed_star_bound,))
class RivalDirectedStar(KernelPolicy):
    r"""Rival-directed sampling with a proof (RD-TS*). An algorithm of this project.

    RD-TS* is a variant of RD-TS with a proof that its regret is asymptotically optimal.
    The regret is at most :math:`C^*\log T+o(\log T)` on every matrix without ties, with
    any number of Copeland winners, where :math:`C^*` is the constant of the lower
    bound. In most rounds the *leader*, the arm with the fewest losses so far, meets
    itself. Each other round compares the pair that best tests whether another arm, the
    *rival*, beats more arms than the leader. The policy needs neither the horizon nor
    the round number.

    Use it if you need the optimal slope with a proof. After :math:`10^6` rounds RD-TS
    has about the same regret on most matrices, and less where pairs are nearly even.

    Parameters
    ----------
    prior : float
        A, from 1 to 10^9: pseudo-wins of each arm of each pair.
    c : float
        Above 0. Factor of the probability of exploring (step 3).
    temper_after : float
        At least 1. N_1 of step 4 is this number times the number of pairs. After N_1
        events the power of step 4 is 1 / sqrt(2).
    cost : {"regret", "duels", "prices"}
        What a duel costs: its estimated regret, 1 each, or its price.
    look_ahead : bool
        Skip self-duels without stepping through them.

    Notes
    -----
    **Rule.** An *event* is a duel of two different arms. N is the number of events so
    far, and m = K (K - 1) / 2 is the number of pairs. Two arms are even if each has won
    half of their duels. After each event:

    1. *Pairs.* Every pair e has the posterior Beta(A + wins, A + losses). Let
       :math:`Q_e` be the posterior probability that the majority of its duels is wrong,
       and 1/2 for an even pair. The regret of a duel of the pair is estimated from the
       losses of its arms by majority, where even pairs count half. It is taken to be at
       least :math:`(N+1)^{-1/4}/(2(K-1))`.
    2. *Leader.* The leader is an arm with the fewest losses by majority. If there are
       several, the last leader stays, unless the efficient program (``ecw_costs`` of
       theory) proves that another one is a winner at a cost that is lower by the share
       :math:`(N+1)^{-1/8}/10`. In that case the arm with the lowest cost becomes the
       leader, and of several such arms the first one.
    3. *Explore or not.* Consider the pairs of a rival i and the leader. Majorities that
       favor the rival against the leader count as certain. Each other pair is reversed
       with probability :math:`Q_e`. Let :math:`\Phi_i` be the probability that i then
       beats more arms than the leader. Each round explores with probability
       :math:`\min(1,c\sum_i\Phi_i)`. Otherwise the leader meets itself.
    4. *Pair.* A round that explores plays the pair with the fewest duels, if these are
       fewer than :math:`\sqrt{N/m}`. Otherwise it plays the pair for which the product
       of two numbers, divided by the estimated regret of the pair, is largest. The
       first number is the evidence of one duel, KL(p, 1/2). Here p is the probability
       that the arm favored by the majority wins, taken as its posterior mean plus two
       posterior standard deviations, and at most 1. The second is the probability that
       the pair is in a random set of reversed pairs. This set is drawn among all that
       let some rival beat more arms than the leader, with a probability proportional to
       the product of its :math:`Q_e` to the power :math:`(1+N/N_1)^{-1/2}`.

    **Theorem.** The expected regret is at most :math:`C^*\log T+O((\log
    T)^{3/4}\log\log T)`, where :math:`C^*` is the constant of the lower bound
    (``copeland_lower_bound`` of theory). For the proof see
    ``docs/theory/rival_directed_star.md``. With ``cost="duels"`` the mean number of
    events until the evidence against every other answer is L is :math:`T^*L+o(L)`, with
    :math:`T^*` of ``theory.identification_bound``.

    **Assumptions.** No two arms tie. A Condorcet winner is not needed.

    **Costs.** With ``cost="duels"`` every event costs 1 and each round is an event. The
    policy then names a Copeland winner, as ``rd-ts:cost=duels`` does. With
    ``cost="prices"`` an event costs the price of its pair, and :math:`T^*` is that at
    these prices.

    **Ties.** The efficient program leaves even pairs out. An arm that no longer has the
    fewest losses without them costs infinitely much. The first arm is the one with the
    lowest position; every run relabels its arms at random. Regrets, costs and products
    that differ by less than a relative 1e-9 are equal. If all products of :math:`Q_e`
    are too small for floating point, which takes a log T of several hundred, the power
    is halved until they are not.

    **Look-ahead.** Nothing changes between two events. So the number of self-duels
    before the next one has a geometric distribution, from which it is drawn in one
    step. This is exact.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower
    Bound, Optimal Algorithm, and Computationally Efficient Algorithm", ICML 2016 (the
    lower bound and the efficient program).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rd-ts-star", prior=1, c=1).label
    'RD-TS*:prior=1.0,c=1.0'
    """

    prior: float = checked(5.0, number_within, 1, _LARGEST_PRIOR)
    c: float = checked(5.0, number_above, 0)
    temper_after: float = checked(100.0, number_from, 1)
    cost: str = "regret"
    look_ahead: bool = True

    title: ClassVar[str] = "Rival-directed Thompson sampling with a proof (ours)"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for what the theorem does not allow."""
        super().check(num_arms, horizon)
        check_cost(self.cost, ("regret", "duels"), num_arms)
        if num_arms > _MOST_ARMS:
            raise PolicyParameterError(
                "num_arms",
                f"must be at most {_MOST_ARMS} for rd-ts-star",
                num_arms,
                remedy="rd-ts takes more",
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> RivalDirectedStarKernel:
            num_arms = len(order)
            padded = 1 << (num_arms - 1).bit_length()
            square = num_arms, num_arms
            state = RivalDirectedStarKernel(
                *tables(num_arms, _NOW, _ARM, _PAIR),
                own_wins=np.zeros((num_arms, num_arms + 1)),
                defeats=np.zeros((padded, num_arms + 1)),
                spare=np.zeros((padded, num_arms + 1)),
                surprise=np.zeros(square),
                hopeful=np.zeros(square),
                gain=np.zeros(square),
                odds=np.zeros(square),
                flips=np.zeros(square),
                members=np.zeros(2 * num_arms, dtype=_MEMBER),
                larger=np.zeros((2 * num_arms, num_arms + 1)),
                table=tail_table(),
            )
            now, pairs = state.now, num_arms * (num_arms - 1) / 2
            now["prior"], now["c"] = self.prior, self.c
            now["tempered_from"] = float(self.temper_after) * pairs
            now["costs_regret"] = isinstance(self.cost, str) and self.cost == "regret"
            now["steps"] = not self.look_ahead
            now["leader"], now["least_regret"] = -1, 1.0
            state.pairs["fee"] = prices_in_order(self.cost, order)
            # Every pair is even until it is refreshed.
            state.arms["losses"] = num_arms - 1
            return state

        return ScalarKernel("rival_directed_star", initial_state)


# --- The state of a run, and its rounds ----------------------------------------------


# Single numbers
_NOW = np.dtype(
    [
        ("prior", np.float64),
        ("c", np.float64),
        ("tempered_from", np.float64),  # N_1.
        ("costs_regret", np.int64),
        ("steps", np.int64),  # Self-duels are rounds like all others.
        ("events", np.int64),
        ("least_regret", np.float64),  # In wins.
        ("leader", np.int64),
        ("fewest", np.int64),  # Twice the fewest losses of an arm.
        ("fewest_duels", np.int64),  # Of any pair, when last counted.
        ("total", np.float64),  # Sum of the probabilities of all rivals.
    ]
)
_ARM = np.dtype(
    [
        ("losses", np.int64),  # Twice the losses by majority, even pairs one.
        ("weight", np.float64),  # Phi_i; 0 of the leader.
        # Not of the arm, but lists.
        ("listed", np.int64),
        ("cost", np.float64),
    ]
)

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("lead", np.int64),  # [i, j]: sign of what i is ahead.
        ("favorable", np.float64),  # [i, j]: i beats j in a world that favors i,
        ("unfavorable", np.float64),  # and does not.
        ("divergence", np.float64),
        ("fee", np.float64),  # Price of a duel, unless it is its regret.
        ("price", np.float64),  # Cost over divergence, while a leader is chosen.
    ]
)

_MEMBER = np.dtype([("first", np.int64), ("second", np.int64), ("odds", np.float64)])


class RivalDirectedStarKernel(NamedTuple):
    """The state of one run; N = K + 1 entries are wins that may be missing, 0 to K."""

    now: Records
    arms: Records
    pairs: Records
    # As in RD-TS: own wins of a rival, defeats of the leader, and room for either.
    own_wins: Float[np.ndarray, "K N"]
    defeats: Float[np.ndarray, "P N"]
    spare: Float[np.ndarray, "P N"]
    # For pairs i < j: v_e = -log Q_e; d+_e; the gain of a duel per unit of regret.
    surprise: Float[np.ndarray, "K K"]
    hopeful: Float[np.ndarray, "K K"]
    gain: Float[np.ndarray, "K K"]
    # [i, j]: Q_e to the power of the temper; -1 where the majority is for i.
    odds: Float[np.ndarray, "K K"]
    # [i, j]: weight of the sets of a rival i, or of any against j, that flip the pair.
    flips: Float[np.ndarray, "K K"]
    # Pairs that sets of flips of one rival may hold, but for the direct one.
    members: Records
    # [e, n]: weight of all sets of the members from e on that are n or larger.
    larger: Float[np.ndarray, "E N"]
    table: Float[np.ndarray, "B D"]


@compiled
def init(state: RivalDirectedStarKernel, rng: Generator) -> None:
    """Fill in what the prior says, and take a leader."""
    for first in range(state.arms.size):
        for second in range(first + 1, state.arms.size):
            _refresh_pair(state, first, second)
    state.now[0].leader = _next_leader(state)
    refresh_everything(state)


@compiled
def choose(state: RivalDirectedStarKernel, rng: Generator, round_: int) -> Duel:
    """Return the self-duels of the leader, and the pair that is compared next."""
    now = state.now[0]
    probability = now.c * now.total if now.costs_regret else 1.0
    idle, explores = rounds_before_event(rng, probability, now.steps, round_)
    if not explores:
        return Duel(now.leader, idle, now.leader, now.leader, now.steps != 0)
    # The fewest duels of a pair never become fewer: they are seldom counted again.
    if is_due(now.fewest_duels, now.events, state.arms.size):
        first, second, now.fewest_duels = least_compared(state)
        if is_due(now.fewest_duels, now.events, state.arms.size):
            return Duel(now.leader, idle, first, second, True)
    first, second = _steepest_pair(state)
    return Duel(now.leader, idle, first, second, True)


@compiled
def update(
    state: RivalDirectedStarKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count an outcome; refresh what depends on the pair."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    state.now[0].events += 1
    state.now[0].least_regret = (state.now[0].events + 1.0) ** -0.25
    _refresh_pair(state, first, second)
    refresh_after(state, _next_leader(state), first, second)


scalar_kernel.implement(
    RivalDirectedStarKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
)


# --- Step 1: what the counts of a pair say -------------------------------------------


@compiled
def _refresh_pair(state: RivalDirectedStarKernel, first: int, second: int) -> None:
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    lead = (forward.wins > backward.wins) - (forward.wins < backward.wins)
    state.arms[first].losses += forward.lead - lead
    state.arms[second].losses += lead - forward.lead
    forward.lead, backward.lead = lead, -lead
    won, lost = forward.wins + state.now[0].prior, backward.wins + state.now[0].prior
    surprise = math.log(2.0) if lead == 0 else -log_half_tail(won, lost, state.table)
    low, high = min(first, second), max(first, second)
    state.surprise[low, high] = surprise
    flips = math.exp(-surprise)
    forward.favorable, forward.unfavorable = flips, 1.0 - flips
    backward.favorable, backward.unfavorable = flips, 1.0 - flips
    if lead > 0:
        forward.favorable, forward.unfavorable = 1.0, 0.0
    if lead < 0:
        backward.favorable, backward.unfavorable = 1.0, 0.0
    forward.divergence = backward.divergence = expected_divergence(won, lost)
    total = won + lost
    mean = max(won, lost) / total
    deviation = math.sqrt(mean * (1.0 - mean) / (total + 1.0))
    state.hopeful[low, high] = kl_to_half(min(mean - 0.5 + 2.0 * deviation, 0.5))


@compiled
def _regret(state: RivalDirectedStarKernel, first: int, second: int) -> float:
    """Return 2 (K - 1) times the estimated regret, or the price: ratios matter."""
    now, arms = state.now[0], state.arms
    if not now.costs_regret:
        return state.pairs[first, second].fee
    twice = arms[first].losses + arms[second].losses - 2 * now.fewest
    return max(0.5 * twice, now.least_regret)


# --- Step 2: the leader --------------------------------------------------------------


@compiled
def _next_leader(state: RivalDirectedStarKernel) -> int:
    now, arms = state.now[0], state.arms
    count = list_fewest_losses(state)
    now.fewest = arms[arms[0].listed].losses
    if count == 1:
        return arms[0].listed
    _find_prices(state)
    least = find_costs(state, count)
    bonus = 0.1 * (now.events + 1.0) ** -0.125
    first = -1
    for index in range(count):
        is_last = arms[index].listed == now.leader
        if is_last and arms[index].cost <= (1.0 + bonus) * least:
            return now.leader
        if first < 0 and arms[index].cost <= (1.0 + EQUAL_COSTS) * least:
            first = arms[index].listed
    return first


@compiled
def _find_prices(state: RivalDirectedStarKernel) -> None:
    for first in range(state.arms.size):
        for second in range(state.arms.size):
            pair = state.pairs[first, second]
            if first != second:
                pair.price = _regret(state, first, second) / pair.divergence


# --- Step 4: the pair; step 3 is ``refresh_after`` -----------------------------------


@compiled
def _steepest_pair(state: RivalDirectedStarKernel) -> tuple[int, int]:
    """Return the first pair of the largest d P(e flipped) / r, for the tempered law."""
    now, num_arms = state.now[0], state.arms.size
    temper = 1.0 / math.sqrt(1.0 + now.events / now.tempered_from)
    while _weigh_flips(state, temper) < _LEAST_WEIGHT:
        temper *= 0.5
    steepest = 0.0
    for first in range(num_arms):
        for second in range(first + 1, num_arms):
            flips = state.flips[first, second] + state.flips[second, first]
            gain = state.hopeful[first, second] * flips / _regret(state, first, second)
            state.gain[first, second] = gain
            steepest = max(steepest, gain)
    for first in range(num_arms):
        for second in range(first + 1, num_arms):
            if state.gain[first, second] >= (1.0 - EQUAL_COSTS) * steepest:
                return first, second
    return 0, 1


# Where all sets of flips together weigh less, some may be lost to underflow
_LEAST_WEIGHT = 1e-250


@compiled
def _weigh_flips(state: RivalDirectedStarKernel, temper: float) -> float:
    """Add up the tempered weights of all sets that flip a pair; return that of all."""
    total = 0.0
    for first in range(state.arms.size):
        for second in range(first + 1, state.arms.size):
            lead = state.pairs[first, second].lead
            odds = math.exp(-temper * state.surprise[first, second])
            state.odds[first, second] = odds if lead <= 0 else -1.0
            state.odds[second, first] = odds if lead >= 0 else -1.0
            state.flips[first, second] = state.flips[second, first] = 0.0
    for rival in range(state.arms.size):
        if rival != state.now[0].leader:
            total += _weigh_flips_of(state, rival)
    return total


@compiled
def _weigh_flips_of(state: RivalDirectedStarKernel, rival: int) -> float:
    """Add what the sets of one rival weigh, each the product of its odds."""
    # A set wins for the rival if its pairs make up for what is missing: one win each,
    # and two for the pair of rival and leader.
    leader, members, larger = state.now[0].leader, state.members, state.larger
    missing, count = _find_members(state, rival)
    for least in range(1, missing + 1):
        larger[count, least] = 0.0
    larger[count, 0] = 1.0
    for index in range(count - 1, -1, -1):
        odds = members[index].odds
        larger[index, 0] = (1.0 + odds) * larger[index + 1, 0]
        for less in range(missing):
            with_it = odds * larger[index + 1, less]
            larger[index, less + 1] = with_it + larger[index + 1, less + 1]

    # Weight of the members before a place after which so much is missing.
    before = state.spare[0]
    for least in range(missing):
        before[least] = 0.0
    before[missing] = 1.0
    total, direct = larger[0, missing], state.odds[rival, leader]
    if direct >= 0.0:
        rest = max(missing - 2, 0)
        before[rest] += direct
        state.flips[rival, leader] += direct * larger[0, rest]
        total += direct * larger[0, rest]
    for index in range(count):
        odds, flips = members[index].odds, before[0] * larger[index + 1, 0]
        before[0] *= 1.0 + odds
        for less in range(missing):
            flips += before[less + 1] * larger[index + 1, less]
            before[less] += odds * before[less + 1]
        state.flips[members[index].first, members[index].second] += odds * flips
    return total


@compiled
def _find_members(state: RivalDirectedStarKernel, rival: int) -> tuple[int, int]:
    """List the pairs without a majority for the rival, but for the direct one."""
    # Return the wins that the rival is missing, and the number of these pairs.
    leader, num_arms, count = state.now[0].leader, state.arms.size, 0
    # Twice the direct pair, and once each other, must be K or more.
    missing = num_arms - 2 * (state.odds[rival, leader] < 0.0)
    for second in range(num_arms):
        if second == rival or second == leader:
            continue
        for side in range(2):
            first, two = (rival, second) if side == 0 else (second, leader)
            odds = state.odds[first, two]
            if odds < 0.0:
                missing -= 1
            else:
                state.members[count].first = first
                state.members[count].second = two
                state.members[count].odds = odds
                count += 1
    return missing, count
