"""SCOMP: batches in which a few seeds meet all arms (Agarwal et al. 2022)."""

from typing import ClassVar

import numpy as np
from jaxtyping import Bool
from numpy.random import Generator

from bayesduel.policies.batched._batches import (
    PAIRWISE,
    BatchedPolicy,
    BatchedState,
    after_pairwise,
    beaten_by,
    beating,
    is_over,
    plan,
    remove,
    start_pairwise,
)
from bayesduel.policies.policy import Wins, checked
from bayesduel.policies.registry import register
from theory.arguments import number_that
from theory.theorems import scomp_order


class SeededPolicy(BatchedPolicy):
    """Base of SCOMP and SCOMP2."""

    seed_power: float = checked(
        0.5,
        number_that,
        rule="a finite number, not negative (an arm is a seed with K^-power)",
        holds=lambda power: power >= 0,
    )

    def _draw_seeds(self, num_arms: int, rng: Generator) -> Bool[np.ndarray, " K"]:
        return rng.random(num_arms) < float(num_arms) ** -self.seed_power


@register("scomp", acronym="SCOMP", theorems=(scomp_order,))
class SeededComparisons(SeededPolicy):
    r"""Batched dueling bandits under SST and STI, SCOMP.

    SCOMP is PCOMP with fewer comparisons: arms are compared only with a small random
    set of arms, the *seeds*. It assumes strong stochastic transitivity (SST) and the
    stochastic triangle inequality (STI).

    Use it if there are few batches and preferences satisfy both. SCOMP2 had less regret
    in our measurements.

    Parameters
    ----------
    num_batches : int
        B, from 1 to the horizon; 16 in the paper.
    elimination : {"kl", "hoeffding"}
        Test by which an arm removes another one; see the notes.
    overflow : {"truncate", "commit"}
        What happens to a batch that would pass the horizon; see PCOMP.
    seed_power : float
        Each arm is a seed with probability K^-seed_power: 1/2 in Theorem 1.2, 2/3 in
        Theorem 3.3.

    Notes
    -----
    **Rule.** Every arm is a seed with probability :math:`1/\sqrt K`, independently. An
    arm beats another one *by x* if its share of wins in the batch exceeds 1/2 + x.
    :math:`\gamma_r` is that of PCOMP. In batch r:

    1. *Compare.* Every seed meets every remaining arm :math:`c_r=\lfloor
       T^{r/B}\rfloor` times.
    2. *Remove.* Arms that a seed beats by :math:`3\gamma_r` are removed. They may be
       seeds themselves.
    3. *Change to PCOMP.* Once some arm beats all remaining seeds by :math:`3\gamma_r`,
       the arms that beat all of them by :math:`\gamma_r` are handed to PCOMP, with the
       rounds that are left and the same exponent r. If no arm is a seed, PCOMP is used
       from the beginning.

    There are at most B + 1 batches.

    **The test kl.** With ``elimination="kl"`` a lead of :math:`m\gamma_r` is replaced
    by a divergence of :math:`m^2/9` of the threshold :math:`\log(TK^2)`. So a lead of
    :math:`3\gamma_r`, at which arms are removed, becomes the threshold
    itself. The paper does not say how its experiments change these rules. Everything
    else is as in PCOMP.

    **Assumptions.** SST, STI, and a known horizon.

    References
    ----------
    A. Agarwal, R. Ghuge, V. Nagarajan, "Batched Dueling Bandits", ICML 2022, Algorithm
    2, Theorems 1.2 and 3.3, Section 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("scomp", seed_power=0.75).label
    'SCOMP:seed_power=0.75'
    """

    title: ClassVar[str] = "Batched seeded comparisons"

    def _begin(self, state: BatchedState) -> None:
        plan(state, state.seeds, state.active)

    def update(
        self,
        state: BatchedState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: Wins,
    ) -> None:
        """Count the outcome; after the last one of a batch, decide on the next."""
        if not is_over(state, first, second, won):
            return
        if state.now.phase == PAIRWISE:
            after_pairwise(state)
        else:
            remove(state, beaten_by(state, state.seeds, 3.0, 1.0))
            # Nobody beats itself, so no seed can be among these.
            if np.any(beating(state, state.seeds, 3.0, 1.0)):
                chosen = beating(state, state.seeds, 1.0, 1.0 / 9.0)
                start_pairwise(state, chosen, state.horizon - round_)
            else:
                state.now.level += 1
                plan(state, state.seeds, state.active)
