"""CW-RMED (Komiyama, Honda and Nakagawa 2016)."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int, Shaped

from bayesduel.errors import PolicyParameterError, ProgramError
from bayesduel.ops.masks import compute_if, materialize, with_rows
from bayesduel.policies.base import policy_class
from bayesduel.policies.pair_evidence import estimated_gaps
from bayesduel.policies.registry import register
from bayesduel.policies.rmed._copeland_rmed import (
    CopelandLists,
    CopelandRMED,
    extended,
    is_estimated_winner,
    log_of,
    recommended,
)
from bayesduel.types import Arm, Duel, OnHost, Outcome, RoundCount, RunKey
from theory.copeland_program import (
    Basis,
    directed_allocation,
    empty_basis,
    losses,
    optimal_basis,
    price_table,
    stays_optimal,
    tilted_costs,
)
from theory.copeland_program.efficient import ecw_evidence


class Program(NamedTuple):
    """The last solution of the optimal program, and what it is good for."""

    basis: Basis
    """Of the last program that the host solved."""

    prices: Float[Array, "K K"]
    """Its `PriceTable.prices`; a duel that leaves all estimates on their sides changes
    two rows."""

    blocks: Float[Array, "K K"]
    """Its `directed_allocation` at these prices."""

    is_stale: Bool[Array, ""]
    """Whether an estimate changed sides since: prices are void until the host is
    asked, even if it changed back."""

    wanted: Float[Array, "K K"]
    """Evidence per unit of log t that the list waits for."""

    log_told: Float[Array, ""]
    """max(1, log t) of the last round that was told."""

    is_asked: Bool[Array, ""]
    """Whether the host must solve the program before the next list is extended by what
    that round taught."""

    is_current: Bool[Array, ""]
    """Whether ``wanted`` belongs to the estimates."""

    age: Int[Array, ""]
    """Informative duels since the host solved it."""

    is_new: Bool[Array, ""]
    """Whether the estimates changed since the program was last needed."""

    needed: Int[Array, ""]
    """How many programs the algorithm asked for."""

    solved: Int[Array, ""]
    """How many of them went to the host."""

    failed: Int[Array, ""]
    """How many of these the host could not solve."""


class CWRMEDState(NamedTuple):
    """The lists, and the program behind them."""

    lists: CopelandLists
    program: Program


@register("cw-rmed", acronym="CW-RMED")
@policy_class
class CWRMED(CopelandRMED):
    """Copeland Winners Relative Minimum Empirical Divergence (CW-RMED).

    While the evidence N_ij KL(mu_ij, 1/2) / log t satisfies every constraint of the
    Copeland lower bound (Eq. 2) for some estimated winner i, only (i, i) is due. Else
    the linear program of the lower bound (Eq. 3) is solved for the estimated matrix,
    and every pair with less evidence than its optimum asks for is due, with the winner
    against itself. Forced draws, order, ties and logarithms are those of ECW-RMED,
    which differs in its program only. The leading constant of the expected regret is
    that of the lower bound (Theorem 3, where the optimum is unique), which no strongly
    consistent algorithm beats.

    Several estimated winners: the cheapest one is taken, with the closed form of
    ECW-RMED; both programs have the same value then (Theorem 6).

    Parameters
    ----------
    alpha : float
        A pair is drawn out of turn while it was compared fewer than
        alpha sqrt(log t) times. 3.0 in the paper.
    beta : float
        And while its estimate is within beta / max(1, log log t) of 1/2, or exactly
        there. 0.01 in the paper; 0 is nearly as good.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.
    resolve_every : int
        How many informative duels the optimal *basis* of a program may serve without a
        proof that it is still optimal, as long as no estimate changes sides. 1 is the
        paper's algorithm. The default is the exact one for any number of arms: few
        programs have to be solved anyway, see below.

    Notes
    -----
    The algorithm asks for a program after nearly every duel, and nearly all of them
    have the basis of the one before. Where all estimates stay on their sides of 1/2,
    the constraints stay the same, and whether the old basis is optimal at the new
    prices is decided exactly by the signs of its multipliers and reduced costs
    (`theory.copeland_program._basis.stays_optimal`; relative tolerance 1e-12). That
    takes O(K^3) operations in the compiled loop, and the new optimum is read off the
    basis. Only where this proof fails does the run wait for the host, which solves the
    program with HiGHS. So the duels are exactly those of solving after each draw, and
    results hold how often that happened: ``programs_needed`` counts the programs that
    the algorithm asked for with new estimates, ``programs_solved`` those that the host
    had to solve.

    With ``resolve_every=n``, n > 1, fewer than n informative duels after a solution
    its basis is used unproved. It is feasible whenever it is used, so every list still
    gathers enough evidence for the test; it may be dearer than the optimum.

    The paper leaves open which of several optima is meant. Costs are tilted by
    relative amounts of up to 1e-6, no two alike
    (`theory.copeland_program._basis.tilted_costs`), so that the optimum is unique and a
    run does not depend on the solver's path.

    Where the host has no certified optimum (estimates so close to 1/2 that floating
    point does not suffice), the allocation of ECW-RMED, which satisfies the constraints
    too, is used until the estimates change; ``programs_failed`` counts these cases.

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

    resolve_every: int = 1

    title: ClassVar[str] = "Copeland Winners RMED"
    assisted: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        if self.resolve_every < 1:
            raise PolicyParameterError(
                "resolve_every must be a positive integer (1 follows the paper), got "
                f"{self.resolve_every!r}"
            )

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> CWRMEDState:
        """Return the state before the first round."""
        return CWRMEDState(
            lists=self._start(num_arms),
            program=Program(
                basis=jax.tree.map(jnp.asarray, empty_basis(num_arms)),
                prices=jnp.zeros((num_arms, num_arms), dtype=jnp.float64),
                blocks=jnp.zeros((num_arms, num_arms), dtype=jnp.float64),
                is_stale=jnp.bool_(True),
                wanted=jnp.zeros((num_arms, num_arms), dtype=jnp.float64),
                log_told=jnp.float64(1.0),
                is_asked=jnp.bool_(False),
                is_current=jnp.bool_(False),
                age=jnp.int64(0),
                is_new=jnp.bool_(True),
                needed=jnp.int64(0),
                solved=jnp.int64(0),
                failed=jnp.int64(0),
            ),
        )

    def choose(
        self, rng_key: RunKey, state: CWRMEDState, round_: RoundCount
    ) -> tuple[Duel, CWRMEDState]:
        """Take a pair out of turn, or the next one of the pass."""
        duel, lists = self._next_duel(state.lists, round_)
        return duel, state._replace(lists=lists)

    def update(
        self,
        rng_key: RunKey,
        state: CWRMEDState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> CWRMEDState:
        """Count the outcome, then extend the next list or ask for a new program."""
        lists, superiors = self._count(state.lists, round_, duel, outcome)
        program = state.program
        learnt = (duel.first != duel.second) & (outcome.rounds > 0)
        gaps = estimated_gaps(lists.pairs.wins)
        is_alone = jnp.sum(is_estimated_winner(lists.pairs), dtype=jnp.int32) == 1
        in_turn = duel.note
        is_needed = is_alone & in_turn & ~lists.passed

        program = _with_prices(program, gaps, duel)
        age = program.age + learnt.astype(jnp.int64)
        is_young = (age < self.resolve_every) & (age > 0)
        fits = compute_if(
            is_needed & ~program.is_stale,
            lambda: is_young | stays_optimal(program.basis, program.prices),
            jnp.bool_(False),
        )
        is_current = fits | (program.is_current & ~learnt)
        is_asked = is_needed & ~is_current
        own = jnp.where(fits, program.blocks + program.blocks.T, program.wanted)
        wanted = compute_if(
            ~is_alone & in_turn & ~lists.passed,
            lambda: ecw_evidence(gaps, lists.winner, superiors),
            own,
        )
        is_new = program.is_new | learnt
        log_told = log_of(round_)
        program = program._replace(
            wanted=wanted,
            log_told=log_told,
            is_asked=is_asked,
            is_current=is_current,
            age=age,
            is_new=is_new & ~is_needed,
            needed=program.needed + (is_new & is_needed).astype(jnp.int64),
            solved=program.solved + is_asked.astype(jnp.int64),
        )
        lists = extended(lists, wanted, log_told, in_turn & ~is_asked)
        return CWRMEDState(lists=lists, program=program)

    def recommend(self, rng_key: RunKey, state: CWRMEDState) -> Arm:
        """Return the winner of the last test or program."""
        return recommended(state.lists)

    def info(self, state: CWRMEDState) -> dict[str, Shaped[Array, ""]]:
        """Return how many programs were needed, went to the host, and failed there."""
        return {
            "programs_needed": state.program.needed,
            "programs_solved": state.program.solved,
            "programs_failed": state.program.failed,
        }

    def is_waiting(self, state: CWRMEDState) -> Bool[Array, ""]:
        """Say whether the host must solve the program."""
        return state.program.is_asked

    def host_step(self, state: OnHost[CWRMEDState]) -> OnHost[CWRMEDState]:
        """Solve the program of the estimates, and extend the next list by it."""
        gaps = estimated_gaps(np.asarray(state.lists.pairs.wins))
        program = state.program
        winner = int(np.argmin(losses(gaps)))
        table = price_table(gaps, winner)
        try:
            basis = optimal_basis(gaps)
            blocks = directed_allocation(basis.amounts, table)
            wanted = blocks + blocks.T
            failed = program.failed
        except ProgramError:
            basis = empty_basis(gaps.shape[0])
            blocks = basis.amounts
            wanted = ecw_evidence(gaps, winner)
            failed = program.failed + 1
        program = program._replace(
            basis=basis,
            prices=table.prices,
            blocks=blocks,
            # A basis that fits nothing has no signs.
            is_stale=np.bool_(not basis.signs.any()),
            wanted=wanted,
            is_asked=np.bool_(False),
            is_current=np.bool_(True),
            age=np.int64(0),
            failed=failed,
        )
        lists = extended(state.lists, wanted, program.log_told, np.bool_(True))
        return CWRMEDState(lists=lists, program=program)


def _with_prices(program: Program, gaps: Float[Array, "K K"], duel: Duel) -> Program:
    """Bring table and blocks up to date with what a duel taught."""
    arms = jnp.stack([duel.first, duel.second])
    winner = jnp.argmin(losses(gaps)).astype(jnp.int32)
    rows = price_table(gaps, winner, arms, *materialize(tilted_costs(gaps, arms)))
    amounts = jnp.take(program.basis.amounts, arms, axis=0)
    above, below = program.basis.signs > 0, program.basis.signs < 0
    changed = jnp.any((above != (gaps > 0)) | (below != (gaps < 0)))
    return program._replace(
        prices=with_rows(program.prices, rows.prices, arms),
        blocks=with_rows(program.blocks, directed_allocation(amounts, rows), arms),
        is_stale=program.is_stale | changed,
    )
