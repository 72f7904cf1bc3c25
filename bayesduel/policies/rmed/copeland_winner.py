"""CW-RMED (Komiyama, Honda and Nakagawa 2016).

The rule is that of ECW-RMED with the optimal program in its place.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int8
from numpy.random import Generator

from bayesduel.errors import ProgramError
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, checked
from bayesduel.policies.registry import register
from bayesduel.policies.rmed._scalar_copeland import NOBODY, cost, count
from bayesduel.policies.rmed._scalar_lists import (
    append,
    init,
    note,
    reads_self_duels,
    recall,
)
from bayesduel.policies.rmed.efficient_copeland_winner import (
    CopelandRMED,
    append_by_efficient_program,
    first_passing,
    log_of,
    recommend,
)
from bayesduel.policies.rmed.efficient_copeland_winner import choose as next_duel
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import integer_from
from theory.copeland_program import (
    cost_tilts,
    directed_allocation,
    empty_basis,
    losses,
    optimal_basis,
    price_table,
)
from theory.copeland_program.efficient import ecw_evidence

_TOLERANCE = 1e-12  # Relative, as in ``theory.copeland_program._basis``
_NOW = np.dtype(
    [
        ("resolve_every", np.int64),
        ("winner", np.int64),  # The winner of the basis.
        ("size", np.int64),  # Constraints of the basis.
        # Whether an estimate changed sides since the host solved it: prices are void
        # until it is asked, even if the estimate changed back.
        ("is_stale", np.int64),
        ("is_asked", np.int64),  # Whether the host must solve the program,
        ("is_served", np.int64),  # and has, and what is due was not appended yet.
        ("is_current", np.int64),  # Whether the blocks belong to the estimates.
        ("log_told", np.float64),  # max(1, log t) of the round that asked for it.
        ("age", np.int64),  # Informative duels since the host solved it.
        # Whether the estimates changed since the program was last needed.
        ("is_new", np.int64),
        ("needed", np.int64),  # Programs that the algorithm asked for,
        ("solved", np.int64),  # those that went to the host,
        ("failed", np.int64),  # and those that it could not solve.
    ]
)


class ProgramKernel(NamedTuple):
    """The last solution."""

    now: Records  # One of ``_NOW``.
    # The factors of costs that make the optimum unique.
    tilts: Float[np.ndarray, "K K"]
    signs: Int8[np.ndarray, "K K"]
    amounts: Float[np.ndarray, "K K"]
    columns: Int[np.ndarray, " R"]
    inverse: Float[np.ndarray, "R R"]
    loads: Int8[np.ndarray, "R K*K"]
    # The table, row by row. A duel that leaves all estimates on their sides changes
    # two rows.
    prices: Float[np.ndarray, " K*K"]
    # The ``directed_allocation`` of the basis at these prices. A pair needs the sum of
    # both entries.
    blocks: Float[np.ndarray, "K K"]
    # These three are no state, but room for what is computed from it.
    multipliers: Float[np.ndarray, " R"]
    used: Float[np.ndarray, " K*K"]
    order: Int[np.ndarray, " K"]


def new_program(num_arms: int, resolve_every: int) -> ProgramKernel:
    """Return a program that was never solved; by the host."""
    basis, places = empty_basis(num_arms), num_arms * num_arms
    now = np.zeros(1, dtype=_NOW)
    now["resolve_every"] = resolve_every
    now["is_stale"] = now["is_new"] = True
    return ProgramKernel(
        now=now,
        tilts=cost_tilts(num_arms),
        signs=basis.signs,
        amounts=basis.amounts,
        columns=basis.columns,
        inverse=basis.inverse,
        loads=basis.loads.reshape(-1, places),
        prices=np.zeros(places),
        blocks=np.zeros((num_arms, num_arms)),
        multipliers=np.zeros(len(basis.columns)),
        used=np.zeros(places),
        order=np.zeros(num_arms, dtype=np.int64),
    )


def solve(program: ProgramKernel, gaps: Float[np.ndarray, "K K"]) -> None:
    """Solve the program of the estimates; by the host."""
    now, num_arms = program.now, len(gaps)
    winner = int(np.argmin(losses(gaps)))
    table = price_table(gaps, winner)
    try:
        basis = optimal_basis(gaps)
        program.blocks[:] = directed_allocation(basis.amounts, table)
    except ProgramError:
        basis = empty_basis(num_arms)
        program.blocks[:] = 0.5 * ecw_evidence(gaps, winner)
        now["failed"] += 1
    program.signs[:], program.amounts[:] = basis.signs, basis.amounts
    program.columns[:], program.inverse[:] = basis.columns, basis.inverse
    program.loads[:] = basis.loads.reshape(program.loads.shape)
    program.prices[:] = table.prices.reshape(-1)
    now["winner"] = winner
    now["size"] = np.count_nonzero(basis.inverse.any(axis=1))
    # A basis that fits nothing has no signs.
    now["is_stale"] = not basis.signs.any()
    now["is_asked"], now["is_served"], now["is_current"] = False, True, True
    now["age"] = 0


@compiled
def learn(state: Any, first: int, second: int) -> None:
    """Bring prices and blocks up to date with what a duel taught."""
    program = state.program
    now, gap = program.now[0], state.pairs[first, second].gap
    now.is_current, now.is_new = False, True
    now.age += 1
    if int(gap > 0.0) - int(gap < 0.0) != program.signs[first, second]:
        now.is_stale = True
    if not now.is_stale:
        _lay_out(state, first)
        _lay_out(state, second)


@compiled
def _lay_out(state: Any, arm: int) -> None:
    """Compute prices and blocks of an arm; which pairs have some does not change."""
    program, num_arms = state.program, state.arms.size
    winner, row, number = program.now[0].winner, arm * num_arms, 0
    for opponent in range(num_arms):
        gap = state.pairs[arm, opponent].gap
        if arm == winner and gap > 0.0:
            program.prices[row + opponent] = _tilted(state, arm, opponent)
            program.blocks[arm, opponent] = program.amounts[arm, opponent]
        elif arm != winner and opponent != winner and gap < 0.0:
            index, price = number, _tilted(state, arm, opponent)
            while index > 0 and _tilted(state, arm, program.order[index - 1]) > price:
                program.order[index] = program.order[index - 1]
                index -= 1
            program.order[index] = opponent
            number += 1
    total = 0.0
    for index in range(number):
        superior = program.order[index]
        total += _tilted(state, arm, superior)
        program.prices[row + index] = total
        program.blocks[arm, superior] = program.amounts[arm, index]


@compiled
def _tilted(state: Any, first: int, second: int) -> float:
    return cost(state, first, second) * state.program.tilts[first, second]


@compiled
def is_solved(state: Any) -> bool:
    """Say whether the blocks are what the program of the estimates asks for."""
    # Where no estimate changed sides they are, if the basis is young or proved optimal.
    now = state.program.now[0]
    if not now.is_current and not now.is_stale:
        is_young = 0 < now.age < now.resolve_every
        now.is_current = is_young or stays_optimal(state.program)
    return now.is_current


@compiled
def stays_optimal(program: ProgramKernel) -> bool:
    """Say whether the basis is optimal at the prices."""
    # No multiplier is negative, and no price exceeded; see ``theory.copeland_program``.
    size, values, used = program.now[0].size, program.multipliers, program.used
    for row in range(size):
        values[row], scale = 0.0, 0.0
        for column in range(size):
            term = (
                program.inverse[row, column] * program.prices[program.columns[column]]
            )
            values[row] += term
            scale = max(scale, abs(term))
        if values[row] < -_TOLERANCE * scale:
            return False
    for index in range(used.size):
        used[index] = 0.0
    for row in range(size):
        for index in range(used.size):
            used[index] += program.loads[row, index] * values[row]
    for index in range(used.size):
        if used[index] > program.prices[index] * (1.0 + _TOLERANCE):
            return False
    return True


@register("cw-rmed", acronym="CW-RMED")
class CWRMED(CopelandRMED):
    """Copeland Winners Relative Minimum Empirical Divergence (CW-RMED).

    CW-RMED solves the linear program of the lower bound for the estimated matrix, and
    compares the pairs that have less evidence than the solution requires. If the
    optimum of the program is unique, the regret has the optimal constant.

    Use it if there is no Condorcet winner and you want the smallest slope of regret in
    log t over very many rounds (:math:`10^9`). ECW-RMED is simpler and faster.

    Parameters
    ----------
    alpha : float
        Above 0. Factor of the forced duels: every pair has at least alpha sqrt(log t)
        duels before round t. 3.0 in the paper.
    beta : float
        At least 0. A pair whose estimate is closer to 1/2 than beta / max(1, log log
        t), or exactly 1/2, is compared at once. 0.01 in the paper; 0 is nearly as good.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.
    resolve_every : int
        Number of informative duels for which a solution of the program may be used
        without a proof that it is still optimal, as long as no estimate crosses 1/2.
        The default, 1, is the paper's algorithm. Larger values save little time,
        because few programs have to be solved anyway; see the notes.

    Notes
    -----
    **Rule.** The rule is that of ECW-RMED (``ecw-rmed``), with another program in
    its last step. Forced duels, the lists of pairs, ties and logarithms are as there.
    The *evidence* of a pair is its number of duels times the divergence of its estimate
    from 1/2, over log t.

    1. If the evidence proves that some arm is a winner, by the constraints of the lower
       bound, only the self-duel of that arm is due, that is, it enters the next list.
    2. Otherwise solve the linear program of the lower bound (Eq. 3) for the estimated
       matrix. Every pair with less evidence than its optimum requires is due, and so is
       the self-duel of the estimated winner.

    If there are several estimated winners, the one with the least cost is taken. Its
    cost is computed by the closed form of ECW-RMED, because with several winners both
    programs have the same value (Theorem 6).

    **Assumptions.** No pair may tie. If the optimum of the program is unique, the
    regret has the constant of the lower bound (Theorem 3). No strongly consistent
    algorithm has a smaller one.

    **Programs.** The algorithm needs the optimum of a new program after nearly every
    duel. Nearly all programs have the same optimal basis as the program before. Whether
    the last basis is still optimal is decided exactly, to a relative tolerance of
    1e-12, in :math:`O(K^3)` operations of compiled code. Only if it is not optimal,
    HiGHS solves the program anew. In the results, ``programs_needed`` counts the
    programs that the algorithm needed, and ``programs_solved`` those that HiGHS had to
    solve. See ``docs/theory/cw_rmed.md``.

    With ``resolve_every=n``, n > 1, a basis is used without proof for fewer than n
    informative duels after a solution. It always satisfies the constraints, so enough
    evidence is gathered, but it may cost more than the optimum.

    The paper does not say which of several optima is meant. Here all costs are changed
    by different relative amounts of up to 1e-6
    (`theory.copeland_program._basis.tilted_costs`). So the optimum is unique, and a run
    does not depend on the path of the solver. If estimates are so close to 1/2 that no
    optimum can be certified in floating point, the allocation of ECW-RMED is used until
    the estimates change; it satisfies the constraints, too. ``programs_failed`` counts
    these cases.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower
    Bound, Optimal Algorithm, and Computationally Efficient Algorithm", ICML 2016,
    Algorithm 1 with Equations 2 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("cw-rmed", resolve_every=10).label
    'CW-RMED:resolve_every=10'
    """

    resolve_every: int = checked(1, integer_from, 1)

    title: ClassVar[str] = "Copeland Winners RMED"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> CopelandWinnerKernel:
            program = new_program(len(order), int(self.resolve_every))
            return CopelandWinnerKernel(*self._known(order, horizon), program)

        def info(state: CopelandWinnerKernel) -> dict[str, Any]:
            names = ("needed", "solved", "failed")
            return {f"programs_{name}": state.program.now[name][0] for name in names}

        return ScalarKernel("copeland_rmed", initial_state, info, solve_on_host)


class CopelandWinnerKernel(NamedTuple):
    """The state of one run: ``CopelandKernel``, and the program."""

    now: Records
    arms: Records
    pairs: Records
    elements: Records
    program: ProgramKernel


def solve_on_host(state: CopelandWinnerKernel) -> bool:
    """Solve the program of a state that waits for it; say whether it did."""
    if not state.program.now["is_asked"][0]:
        return False
    solve(state.program, np.ascontiguousarray(state.pairs["gap"]))
    return True


@compiled
def is_waiting(state: CopelandWinnerKernel) -> bool:
    """Say whether the host must solve the program."""
    return state.program.now[0].is_asked > 0


@compiled
def choose(state: CopelandWinnerKernel, rng: Generator, round_: int) -> Duel:
    """Take a pair out of turn, or the next one of the pass."""
    _append_if_solved(state)
    return next_duel(state, rng, round_)


@compiled
def update(
    state: CopelandWinnerKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome and, if the duel was in turn, find what is due."""
    _append_if_solved(state)
    if first != second:
        count(state, first, second, won)
        learn(state, first, second)
    if state.now[0].is_in_turn:
        _append_due(state, round_)


@compiled
def _append_due(state: CopelandWinnerKernel, round_: int) -> None:
    """Name the winner, and append what is due after ``round_`` or ask for it."""
    now, program = state.now[0], state.program.now[0]
    now.tests += 1
    now.winner = first_passing(state, round_)[0]
    is_alone = now.least < now.second
    if now.winner == NOBODY and is_alone:
        winner = 0
        while state.arms[winner].losses > state.now[0].least:
            winner += 1
        now.winner = winner
        program.needed += program.is_new
        program.is_new = False
        program.log_told = log_of(round_)
        if is_solved(state):
            _append_short(state)
        else:
            program.is_asked = True
            program.solved += 1
        return
    if now.winner == NOBODY:
        append_by_efficient_program(state, log_of(round_))
    append(now, state.elements, state.elements.size - state.arms.size + now.winner)


@compiled
def _append_if_solved(state: CopelandWinnerKernel) -> None:
    """Append what the host's solution asks for, once."""
    if state.program.now[0].is_served:
        state.program.now[0].is_served = False
        _append_short(state)


@compiled
def _append_short(state: CopelandWinnerKernel) -> None:
    """Append the pairs with less evidence than the program asks for, and the winner."""
    now, elements, blocks = state.now[0], state.elements, state.program.blocks
    num_pairs = elements.size - state.arms.size
    for element in range(num_pairs):
        first, second = elements[element].first, elements[element].second
        wanted = blocks[first, second] + blocks[second, first]
        known = state.pairs[first, second].evidence
        if wanted * state.program.now[0].log_told > known:
            append(now, elements, element)
    append(now, elements, num_pairs + now.winner)


scalar_kernel.implement(
    CopelandWinnerKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
    note=note,
    recall=recall,
    is_waiting=is_waiting,
)
