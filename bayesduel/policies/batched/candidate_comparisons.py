"""SCOMP2: the best seed of every batch meets all arms (Agarwal et al. 2022)."""

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bayesduel.ops.rules import among_largest
from bayesduel.policies.batched._batches import (
    PAIRWISE,
    SEEDED,
    SEEDS_ONLY,
    BatchedState,
    after_pairwise,
    beaten_by,
    beating,
    is_over,
    plan,
    remove,
    start_pairwise,
)
from bayesduel.policies.batched.seeded_comparisons import SeededPolicy
from bayesduel.policies.policy import Wins
from bayesduel.policies.registry import register
from theory.theorems import scomp2_order


@register("scomp2", acronym="SCOMP2", theorems=(scomp2_order,))
class CandidateComparisons(SeededPolicy):
    r"""Batched dueling bandits under SST and STI, with two batches per stage (SCOMP2).

    SCOMP2 is SCOMP with still fewer comparisons. First the seeds, a small random set of
    arms, are compared with each other. Then all remaining arms meet only the best of
    the seeds, the *candidate*.

    Use it if you can look at the answers only a few dozen times, you know the horizon,
    and preferences satisfy strong stochastic transitivity (SST) and the stochastic
    triangle inequality (STI).

    Parameters
    ----------
    num_batches : int
        B, from 1 to the horizon; 16 in the paper.
    elimination : {"kl", "hoeffding"}
        Test by which an arm removes another one; see the notes.
    overflow : {"truncate", "commit"}
        What happens to a batch that would pass the horizon; see PCOMP.
    seed_power : float
        Each arm is a seed with probability K^-seed_power.

    Notes
    -----
    **Rule.** Every arm is a seed with a small probability, as in SCOMP. An arm beats
    another one *by x* if its share of wins exceeds 1/2 + x. :math:`\gamma_r` is that of
    PCOMP. In round r, with :math:`c_r=\lfloor T^{r/B}\rfloor`:

    1. *First batch.* Compare the seeds with each other, each pair :math:`c_r` times.
       The candidate is a seed that surely loses to no other.
    2. *Second batch.* The candidate meets every remaining arm :math:`c_r` times.
    3. *Remove.* Arms that the candidate beats by :math:`5\gamma_r` are removed.
    4. *Change to PCOMP.* Once some arm beats the candidate by :math:`5\gamma_r`, the
       arms that beat it by :math:`3\gamma_r` are handed to PCOMP, with the rounds that
       are left and the same exponent r.

    With a single seed there is no first batch. Without a seed PCOMP is used from the
    beginning. There are at most 2 B + 1 batches.

    **The candidate.** Of several possible candidates, the paper takes any seed that no
    other one beats by :math:`\gamma_r`. Here it is the seed with the smallest mean loss
    to its strongest rival among the seeds; ties are broken at random.

    **The test kl.** With ``elimination="kl"`` a lead of :math:`m\gamma_r` is replaced
    by a divergence of :math:`m^2/25` of the threshold :math:`\log(TK^2)`, and the
    candidate is chosen by all duels so far, not only those of the batch. Everything
    else is as in PCOMP.

    **Assumptions.** SST, STI, and a known horizon.

    References
    ----------
    A. Agarwal, R. Ghuge, V. Nagarajan, "Batched Dueling Bandits", ICML 2022, Algorithm
    3, Theorem 1.3 and Section 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("scomp2", seed_power=0.75).label
    'SCOMP2:seed_power=0.75'
    """

    title: ClassVar[str] = "Batched seeded comparisons with candidates"

    def _begin(self, state: BatchedState) -> None:
        next_round(state)

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
        elif state.now.phase == SEEDS_ONLY:
            # The seed whose strongest rival among the seeds is the weakest.
            best, largest, number = 0, -np.inf, 0
            for seed in range(len(state.seeds)):
                if not state.seeds[seed]:
                    continue
                worst = -np.inf
                for rival in range(len(state.seeds)):
                    if state.seeds[rival] and rival != seed:
                        worst = max(worst, lead(state, rival, seed))
                largest, number, is_drawn = among_largest(rng, -worst, largest, number)
                if is_drawn:
                    best = seed
            challenge(state, best)
        else:
            # Remove what the candidate beats; hand over what beats the candidate.
            only = np.arange(len(state.active)) == state.now.candidate
            remove(state, beaten_by(state, only, 5.0, 1.0))
            if np.any(beating(state, only, 5.0, 1.0)):
                chosen = beating(state, only, 3.0, 9.0 / 25.0)
                start_pairwise(state, chosen, state.horizon - round_)
            else:
                state.now.level += 1
                next_round(state)


def next_round(state: BatchedState) -> None:
    """Let the seeds meet; a single one is the candidate at once."""
    if np.sum(state.seeds) == 1:
        challenge(state, int(np.argmax(state.seeds)))
    else:
        state.now.phase = SEEDS_ONLY
        plan(state, state.seeds, state.seeds)


def challenge(state: BatchedState, candidate: int) -> None:
    """Let the candidate meet all active arms."""
    state.now.phase = SEEDED
    state.now.candidate = candidate
    plan(state, np.arange(len(state.active)) == candidate, state.active)


def lead(state: BatchedState, first: int, second: int) -> float:
    """2 mu - 1 of all duels; without divergences in this batch, times its duels."""
    if not state.by_divergence:
        return float(state.leads[first, second])
    won, lost = state.wins[first, second], state.wins[second, first]
    return (won - lost) / max(won + lost, 1)
