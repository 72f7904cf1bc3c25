"""ECW-RMED (Komiyama, Honda and Nakagawa 2016).

Algorithm 1 with the efficient program in closed form. Of a stretch of self-duels only
the last one, which alone can fail, is tested. The program is that of
``theory.copeland_program.efficient``, which states the rules for ties.
"""

import math
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.resolved_rounds import last_round_within
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.rmed._scalar_copeland import (
    NOBODY,
    CopelandKernel,
    cost,
    count,
    new_state,
    slack,
)
from bayesduel.policies.rmed._scalar_lists import (
    append,
    count_draw,
    init,
    is_only_element,
    lowest,
    note,
    reads_self_duels,
    recall,
    refill_if_empty,
    take,
)
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_above, number_from
from theory.theorems import ecw_kl_sum_bound, ecw_kl_worst_case_bound, ecw_rmed_bound


class CopelandRMED(KernelPolicy):
    """Base of CW-RMED and ECW-RMED: the numbers of Algorithm 1."""

    alpha: float = checked(3.0, number_above, 0)
    beta: float = checked(0.01, number_from, 0)
    look_ahead: bool = True

    def _known(self, order: Int[np.ndarray, " K"], horizon: int) -> CopelandKernel:
        """Return what is known before the first round: every pair is due once."""
        state = new_state(len(order))
        state.now["look_ahead"] = self.look_ahead
        state.now["alpha"], state.now["beta"] = self.alpha, self.beta
        return state


@register(
    "ecw-rmed",
    acronym="ECW-RMED",
    theorems=(ecw_rmed_bound, ecw_kl_sum_bound, ecw_kl_worst_case_bound),
)
class ECWRMED(CopelandRMED):
    r"""Efficient Copeland Winners Relative Minimum Empirical Divergence (ECW-RMED).

    ECW-RMED computes how much evidence of each pair is needed to prove that one arm is
    a Copeland winner. It compares the pairs that have less. The amounts come from a
    simplified version of the linear program of the lower bound, which has a solution in
    closed form. The policy needs no Condorcet winner and no horizon.

    Use it if there may be several Copeland winners that are equally good: it settles on
    the first one that it finds. If two good arms are nearly tied, or if a single bad
    run matters, use D-TS+.

    Parameters
    ----------
    alpha : float
        Above 0. Factor of the forced duels: every pair has at least alpha sqrt(log t)
        duels before round t (step 1 of the rule). 3.0 in the paper.
    beta : float
        At least 0. Factor of the distance from 1/2 below which an estimate counts as
        undecided, so that its pair is compared at once (step 1). 0.01 in the paper; 0
        is nearly as good.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.

    Notes
    -----
    **Rule.** Let :math:`n_{ij}` be the number of duels of arms i and j, and
    :math:`\hat\mu_{ij}` the share of them that i won. The *evidence* of the pair in
    round t is :math:`n_{ij}\,\mathrm{KL}(\hat\mu_{ij},1/2)/\log t`, where KL is the
    Kullback-Leibler divergence of two Bernoulli distributions. The lower bound says
    which amounts of evidence prove that an arm is a Copeland winner. Logarithms are
    natural, and :math:`\log t` and :math:`\log\log t` are replaced by 1 where they are
    smaller.

    The policy passes through a list of pairs and plays one pair per round. The first
    list has every pair once. During each pass the policy builds the list of the next
    pass. A pair, or the self-duel of an arm, is called due if it enters that next list.
    In each round:

    1. *Forced duels.* If some pair has fewer than :math:`\alpha\sqrt{\log t}` duels,
       play it in this round. So every pair is compared again and again, though rarely,
       and no wrong estimate stays for ever. Likewise play a pair whose estimate is
       exactly 1/2, or is closer to 1/2 than :math:`\beta/\log\log t`, since it is
       unclear which arm is the better one.
    2. *Next pair.* If there is no such pair, play the next pair of the list. Then
       decide by step 3 or 4 what is due.
    3. *Enough evidence.* If the evidence satisfies every constraint of the Copeland
       lower bound (Eq. 2 of the paper) for some estimated winner i, then i is proved to
       be a winner. Only the self-duel (i, i) is due.
    4. *Too little evidence.* Otherwise solve the efficient program (Eqs. 4 and 5, in
       closed form by Theorem 5) for the estimated matrix. Every pair with less evidence
       than the solution requires is due. So is the self-duel of the estimated winner
       whose program has the lowest cost.

    For example, let arm 0 beat each of three others with probability 0.6. The efficient
    program then requires one unit of evidence for each pair of arm 0, which is
    :math:`\log t/\mathrm{KL}(0.6,1/2)=\log t/0.0201` duels. At :math:`t=10^4` these are
    457 duels. A pair of arm 0 with fewer duels is due until step 3 finds enough
    evidence. Then arm 0 meets itself until :math:`\log t` has grown. See
    ``docs/theory/ecw.md`` for the closed form.

    **Order and ties.** Pairs are in lexicographic order by position (the environment
    shuffles the arms by default), and a self-duel comes after them. A pair that is
    still to come in this pass, or is already in the next list, is not added again. Ties
    go to the lowest position.

    **Assumptions.** No pair may tie. With :math:`\beta>0` a tied pair is compared again
    and again, so that regret is linear unless these duels cost nothing. The theorem
    needs a unique optimum.

    **Late outcomes.** A duel counts from the moment when it is asked for. An estimate
    counts as near 1/2 only when all outcomes of its pair have arrived.

    **Look-ahead.** Self-duels are skipped; the duels are the same as round by round.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower
    Bound, Optimal Algorithm, and Computationally Efficient Algorithm", ICML 2016,
    Algorithm 1 with the program of Section 4.2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ecw-rmed", alpha=4.5).label
    'ECW-RMED:alpha=4.5'
    """

    title: ClassVar[str] = "Efficient Copeland Winners RMED"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return ScalarKernel("efficient_copeland_rmed", self._known)


_SLACK = 1e-12  # Constraints "sum >= 1" may fall short by this
_EQUAL_RATIO = 1e-12  # Ratios that differ by less are equal


@compiled
def choose(state: Any, rng: Generator, round_: int) -> Duel:
    """Take a pair out of turn, or the next one of the pass."""
    now, elements = state.now[0], state.elements
    now.is_in_turn = False
    log_t = math.log(float(round_))
    if now.num_close > 0 or log_t > _count_limit(state, now.fewest):
        urgent = _urgent_element(state, log_t)
        if urgent >= 0:
            first, second = elements[urgent].first, elements[urgent].second
            count_draw(state, first, second)
            return Duel(first, 0, first, second, True)
    now.is_in_turn = True
    refill_if_empty(now, elements)
    element = elements[now.head].listed
    first, second = elements[element].first, elements[element].second
    idle = 0
    if first != second:
        count_draw(state, first, second)
    elif now.look_ahead and is_only_element(now):
        idle = _self_duels(state, first, round_) - 1
    take(now, elements)
    return Duel(first, idle, first, second, True)


@compiled
def _count_limit(state: CopelandKernel, draws: int) -> float:
    """Log of the last round at which so many draws are enough."""
    ratio = draws / state.now[0].alpha
    return ratio * ratio


@compiled
def _urgent_element(state: CopelandKernel, log_t: float) -> int:
    """Return the first pair to be drawn out of turn; -1 if there is none."""
    closeness = state.now[0].beta / max(1.0, math.log(max(log_t, 1.0)))
    element = 0
    for i in range(state.arms.size):
        for j in range(i + 1, state.arms.size):
            pair = state.pairs[i, j]
            is_close = pair.is_close and (pair.gap == 0.0 or abs(pair.gap) < closeness)
            # Not while outcomes are on their way.
            is_close &= pair.draws == pair.wins + state.pairs[j, i].wins
            if is_close or log_t > _count_limit(state, pair.draws):
                return element
            element += 1
    return -1


@compiled
def _self_duels(state: CopelandKernel, arm: int, round_: int) -> int:
    """Count the rounds in which (arm, arm) stays the only thing to do."""
    # It ends with the round after which the test fails, or before a pair has become
    # rare; at once where another arm takes over.
    passing, limit = first_passing(state, round_)
    if passing != arm:
        return 1
    until_test = last_round_within(limit, round_) - round_ + 2
    limit = _count_limit(state, state.now[0].fewest)
    return min(until_test, last_round_within(limit, round_) - round_ + 1)


@compiled
def first_passing(state: Any, round_: int) -> tuple[int, float]:
    """Return the first estimated winner that passes the test, or -1, and its log t."""
    log_t = log_of(round_)
    for arm in range(state.arms.size):
        if state.arms[arm].losses == state.now[0].least:
            limit = slack(state, arm) / (1.0 - _SLACK)
            if limit >= log_t:
                return arm, limit
    return NOBODY, 0.0


@compiled
def log_of(round_: int) -> float:
    """max(1, log t)."""
    return max(1.0, math.log(float(round_)))


@compiled
def _append_due(state: CopelandKernel, round_: int) -> None:
    """Name the winner, and append what is due after ``round_``."""
    now, elements = state.now[0], state.elements
    num_pairs = elements.size - state.arms.size
    now.tests += 1
    now.winner = first_passing(state, round_)[0]
    if now.winner == NOBODY:
        append_by_efficient_program(state, log_of(round_))
    append(now, elements, num_pairs + now.winner)


@compiled
def append_by_efficient_program(state: Any, log_t: float) -> None:
    """Name the cheapest winner, and append the pairs with too little evidence."""
    now, elements = state.now[0], state.elements
    now, arms = state.now[0], state.arms
    number, winner = 0, 0
    for arm in range(arms.size):
        arms[arm].program_cost = math.inf
        if arms[arm].losses == now.least:
            winner = arm
            number += 1
            arms[arm].program_cost = _solve(state, arm)
    if number > 1:
        last, winner = winner, lowest(arms.program_cost)
        if winner != last:
            _solve(state, winner)
    now.winner = winner
    for element in range(elements.size - state.arms.size):
        first, second = elements[element].first, elements[element].second
        known = state.pairs[first, second].evidence
        if known < log_t and known < _wanted(state, first, second) * log_t:
            append(now, elements, element)


@compiled
def _solve(state: CopelandKernel, winner: int) -> float:
    """Solve the efficient program of one winner; return its cost."""
    now, arms = state.now[0], state.arms
    total = 0.0
    for rival in range(arms.size):
        beaten = state.pairs[winner, rival].gap > 0.0
        if beaten:
            total += cost(state, winner, rival)
        arms[rival].block_size = 0
        excess = now.least - 1 - int(beaten)
        if rival != winner and excess >= 0:
            total += _solve_block(state, winner, rival, excess)
    return total


@compiled
def _solve_block(state: CopelandKernel, winner: int, rival: int, excess: int) -> float:
    """Choose how many of the superiors of a rival share a unit; return the cost."""
    arms = state.arms
    if not arms[rival].has_order:
        _order_superiors(state, rival)
    best, running, size = math.inf, 0.0, 0
    for index in range(arms[rival].losses):
        superior = state.pairs[rival, index].superior
        if superior != winner:
            running += cost(state, rival, superior)
            size += 1
            if size > excess:
                ratio = running / (size - excess)
                if ratio * (1.0 + _EQUAL_RATIO) < best:
                    best = ratio
                    arms[rival].block_size = size
                    arms[rival].share = 1.0 / (size - excess)
    return best


@compiled
def _order_superiors(state: CopelandKernel, arm: int) -> None:
    """Order the superiors of an arm by their cost, equal ones by their number."""
    row, number = state.pairs[arm], 0
    for opponent in range(state.arms.size):
        if row[opponent].gap < 0.0:
            price, index = cost(state, arm, opponent), number
            while index > 0 and cost(state, arm, row[index - 1].superior) > price:
                row[index].superior = row[index - 1].superior
                index -= 1
            row[index].superior = opponent
            number += 1
    state.arms[arm].has_order = True


@compiled
def _wanted(state: CopelandKernel, first: int, second: int) -> float:
    """Return the evidence per unit of log t that the program asks of a pair."""
    arms, winner = state.arms, state.now[0].winner
    gap = state.pairs[first, second].gap
    if (first == winner and gap > 0.0) or (second == winner and gap < 0.0):
        return 1.0
    if first == winner or second == winner or gap == 0.0:
        return 0.0
    rival, superior = (first, second) if gap < 0.0 else (second, first)
    left, index = arms[rival].block_size, 0
    while left > 0:
        if state.pairs[rival, index].superior == superior:
            return arms[rival].share
        left -= state.pairs[rival, index].superior != winner
        index += 1
    return 0.0


@compiled
def update(
    state: CopelandKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome and, if the duel was in turn, find what is due."""
    if first != second:
        count(state, first, second, won)
    if state.now[0].is_in_turn:
        _append_due(state, round_)


@compiled
def recommend(state: CopelandKernel, rng: Generator) -> int:
    """Return the winner of the last test or program; before, one of fewest losses."""
    if state.now[0].winner != NOBODY:
        return state.now[0].winner
    best = 0
    for arm in range(state.arms.size):
        if state.arms[arm].losses < state.arms[best].losses:
            best = arm
    return best


scalar_kernel.implement(
    CopelandKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
    note=note,
    recall=recall,
)
