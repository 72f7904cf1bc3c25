"""Relative Upper Confidence Bound (Zoghi et al. 2014).

Bounds and candidates are kept: a round looks at one column.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import LIKELY_ANSWERS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_bounds import (
    ARM_FIELDS,
    NOW_FIELDS,
    PAIR_FIELDS,
    UPPER_BOUND_FIELDS,
    count_duel,
    let_expire,
    most_optimistic,
    start_bounds,
    start_upper_bounds,
)
from bayesduel.policies.scalar_choices import recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_above
from theory.theorems import rucb_bound


@register("rucb", acronym="RUCB", theorems=(rucb_bound,))
class RelativeUCB(KernelPolicy):
    r"""Relative Upper Confidence Bound (RUCB).

    RUCB draws an arm that may still be the Condorcet winner. It lets this arm meet the
    opponent with the largest upper confidence bound against it. It needs no horizon.

    Use it as the standard baseline for matrices with a Condorcet winner. D-TS has less
    regret. Without a Condorcet winner RUCB never settles on an arm.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds. The theory needs more than 1/2.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.

    Notes
    -----
    **Rule.** Let arm i have won :math:`w_{ij}` of its :math:`n_{ij}` duels against arm
    j. The upper confidence bound is :math:`u_{ij}=w_{ij}/n_{ij}+\sqrt{\alpha\log
    t/n_{ij}}`, with :math:`u_{ii}=1/2`, and :math:`u_{ij}=2` for a pair without duels.
    Logarithms are natural. In round t:

    1. *Candidates.* These are the arms i with :math:`u_{ij}\ge1/2` against all j. They
       may beat all others.
    2. *Champion.* Draw the champion uniformly from the candidates, or from all arms if
       there is no candidate. The arm that was most recently the only candidate is drawn
       with probability 1/2, as long as it remains a candidate.
    3. *Opponent.* The opponent is the arm with the largest :math:`u_{ji}` against the
       champion i. It may be the champion itself. Ties are broken at random, never in
       favor of the champion.

    **Assumptions.** A Condorcet winner, and :math:`\alpha>1/2`.

    **Look-ahead.** If the upper bounds of all other arms against the champion are below
    1/2, the champion meets itself until one of these bounds has grown to 1/2. The round
    at which this happens is computed.

    References
    ----------
    M. Zoghi, S. Whiteson, R. Munos, M. de Rijke, "Relative Upper Confidence Bound for
    the K-Armed Dueling Bandit Problem", ICML 2014, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rucb", alpha=0.765).label
    'RUCB:alpha=0.765'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    alpha: float = checked(0.51, number_above, 0.5)
    look_ahead: bool = True

    title: ClassVar[str] = "Relative Upper Confidence Bound"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> RelativeUCBKernel:
            state = RelativeUCBKernel(*tables(len(order), _NOW, _ARM, _PAIR))
            state.now["look_ahead"] = self.look_ahead
            state.now["hypothesis"] = _NOBODY
            start_bounds(state, alpha=float(self.alpha))
            start_upper_bounds(state)
            return state

        return ScalarKernel("relative_ucb", initial_state)


_NOBODY = -1

_NOW = np.dtype(
    [
        *NOW_FIELDS,
        ("look_ahead", np.int64),  # Whether idle rounds are jumped over.
        ("num_candidates", np.int64),
        ("hypothesis", np.int64),  # The arm taken for the best one, or -1.
    ]
)

_ARM = np.dtype(
    [
        *ARM_FIELDS,
        # Not of the arm: the list of the candidates, who have no sure losses.
        ("candidate", np.int64),
    ]
)

_PAIR = np.dtype([*PAIR_FIELDS, *UPPER_BOUND_FIELDS])


class RelativeUCBKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``.


@compiled
def choose(state: RelativeUCBKernel, rng: Generator, round_: int) -> Duel:
    """Choose champion and challenger, after the self-duels that come first."""
    now = state.now[0]
    _bring_up_to_date(state, round_)
    idle = 0
    if now.num_candidates == 1:
        now.hypothesis = state.arms[0].candidate
        is_sure = state.arms[now.hypothesis].sure_wins == state.arms.size - 1
        if now.look_ahead and is_sure:
            idle = state.arms[now.hypothesis].expiry - round_ + 1
            _bring_up_to_date(state, round_ + idle)
    champion = now.hypothesis
    first = _champion(state, rng)
    second = most_optimistic(state, rng, first, round_ + idle)
    return Duel(champion, idle, first, second, True)


@compiled
def _bring_up_to_date(state: RelativeUCBKernel, round_: int) -> None:
    """Find the candidates of ``round_``."""
    now, arms = state.now[0], state.arms
    if now.next_expiry < round_:
        let_expire(state, round_)
    if now.stale:
        now.stale, now.num_candidates = False, 0
        for i in range(arms.size):
            if arms[i].sure_losses == 0:
                arms[now.num_candidates].candidate = i
                now.num_candidates += 1


@compiled
def _champion(state: RelativeUCBKernel, rng: Generator) -> int:
    """Draw the champion as printed; the hypothesis may change."""
    now, arms = state.now[0], state.arms
    count = now.num_candidates
    if count == 1:
        now.hypothesis = arms[0].candidate
        return now.hypothesis
    if now.hypothesis != _NOBODY and arms[now.hypothesis].sure_losses > 0:
        now.hypothesis = _NOBODY
    if count == 0:
        return choose_index(rng, arms.size)
    if now.hypothesis == _NOBODY:
        return arms[choose_index(rng, count)].candidate
    if rng.random() < 0.5:
        return now.hypothesis
    index = choose_index(rng, count - 1)
    # Candidates are in the order of the arms; the hypothesis is passed over.
    return arms[index + (arms[index].candidate >= now.hypothesis)].candidate


scalar_kernel.implement(
    RelativeUCBKernel, choose=choose, update=count_duel, recommend=recommend_most_beaten
)
