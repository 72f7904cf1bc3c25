"""CW-RMED (Komiyama, Honda and Nakagawa 2016)."""

from typing import Any, ClassVar

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.registry import register
from bayesduel.policies.rmed.efficient_copeland_winner import CopelandRMED


@register("cw-rmed", acronym="CW-RMED")
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
    takes O(K^3) operations of compiled code, and the new optimum is read off the
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

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        if self.resolve_every < 1:
            raise PolicyParameterError(
                "resolve_every",
                "must be a positive integer (1 follows the paper)",
                self.resolve_every,
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Only what is played is imported.
        from bayesduel.policies.rmed._scalar_copeland_winner import kernel

        return kernel(
            alpha=float(self.alpha),
            beta=float(self.beta),
            look_ahead=self.look_ahead,
            resolve_every=int(self.resolve_every),
        )
