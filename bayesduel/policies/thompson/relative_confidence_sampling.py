"""Relative Confidence Sampling (Zoghi, Whiteson, de Rijke and Munos 2014).

The champion is drawn directly, not by a sample of all pairs. The signs of the pairs in
a sample are independent, so that the probability of an arm to beat all others is kept,
and changes with its own duels only.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.models.in_policies.betas import BetaPairs
from bayesduel.models.in_policies.scalar_betas import (
    half_tail,
    prior_in_order,
    rates_above_half,
    tail_table,
)
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import hazard_of, waiting_time
from bayesduel.policies import scalar_kernel
from bayesduel.policies.parameter_values import check_beta
from bayesduel.policies.policy import DRAWS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_bounds import (
    ARM_FIELDS,
    NOW_FIELDS,
    PAIR_FIELDS,
    UPPER_BOUND_FIELDS,
    count_ahead,
    count_duel,
    let_expire,
    most_optimistic,
    start_bounds,
    start_upper_bounds,
)
from bayesduel.policies.scalar_choices import place_by_weight, recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_above, one_of


@register("rcs", acronym="RCS")
class RelativeConfidenceSampling(KernelPolicy):
    r"""Relative Confidence Sampling (RCS).

    RCS looks for a Condorcet winner. It chooses the first arm by a draw from the
    posterior, as Thompson sampling does, and its opponent by an upper confidence bound,
    as RUCB does.

    Use it as a baseline beside RUCB and D-TS. Without a Condorcet winner it may never
    settle on one arm, and its regret may grow in every round.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds. The theory needs more than 1/2.
    fallback : {"least", "random"}
        Which arm is the champion if no arm beats all others in the draw: the arm that
        was champion least often (as in the paper), or a random one (as Wu and Liu 2016
        describe it).
    look_ahead : bool
        Skip self-duels without stepping through them.
    posterior : BetaPairs
        The posterior of the draw. Its ``prior`` may be given by name instead, as in
        ``policies.get("rcs", prior=2)``. The confidence bounds use only the duels,
        without the prior.

    Notes
    -----
    **Rule.** Let arm i have won :math:`w_{ij}` of its :math:`n_{ij}` duels against arm
    j. The upper confidence bound is :math:`u_{ij}=w_{ij}/n_{ij}+\sqrt{\alpha\log
    t/n_{ij}}`, and :math:`u_{ij}=2` for a pair without duels. Logarithms are natural.
    In round t:

    1. Draw a preference matrix from the posterior, by default
       :math:`\mathrm{Beta}(w_{ij}+1,w_{ji}+1)` for each pair.
    2. The *champion* is the arm that beats all others in this draw. If there is no such
       arm, it is the arm that has been champion least often.
    3. The opponent is the arm j with the largest :math:`u_{ji}` against the champion i,
       where :math:`u_{ii}=1/2`. So the champion may meet itself. Ties are broken at
       random.

    **Assumptions.** A Condorcet winner, and :math:`\alpha>1/2`.

    **Look-ahead.** A round gives no information if the champion is an arm whose bounds
    show that it beats all others. There is at most one such arm. While its bounds hold,
    and it has been champion more often than some other arm, such rounds are
    independent. Their number then has a geometric distribution, from which it is drawn
    in one step. All counts have the same distribution as round by round.

    References
    ----------
    M. Zoghi, S. Whiteson, M. de Rijke, R. Munos, "Relative Confidence Sampling for
    Efficient On-Line Ranker Evaluation", WSDM 2014, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rcs", alpha=0.765).label
    'RCS:alpha=0.765'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    alpha: float = checked(0.51, number_above, 0.5)
    fallback: str = checked("least", one_of, ("least", "random"))
    look_ahead: bool = True
    posterior: BetaPairs = BetaPairs()

    title: ClassVar[str] = "Relative Confidence Sampling"
    in_batches: ClassVar[str] = DRAWS

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_beta(self.posterior, BetaPairs, num_arms)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> RelativeSamplingKernel:
            state = RelativeSamplingKernel(
                *tables(len(order), _NOW, _ARM, _PAIR), tails=tail_table()
            )
            state.now["any_may_stand_in"] = self.fallback == "random"
            state.now["steps"] = not self.look_ahead
            state.pairs["prior"] = prior_in_order(
                np.asarray(self.posterior.prior), order
            )
            start_bounds(state, alpha=float(self.alpha))
            start_upper_bounds(state)
            return state

        return ScalarKernel("relative_confidence_sampling", initial_state)


_NOBODY = -1

_NOW = np.dtype(
    [
        *NOW_FIELDS,
        ("any_may_stand_in", np.int64),  # Where no arm beats all others in a sample.
        ("steps", np.int64),  # Self-duels are rounds like all others.
        ("sure_winner", np.int64),  # -1 if there is none.
    ]
)

_ARM = np.dtype(
    [
        *ARM_FIELDS,
        ("reigns", np.int64),  # Rounds in which it was the champion.
        ("lost_rate", np.float64),  # -log P(it beats all others in a sample)
        ("beats_all", np.float64),  # That probability.
        ("weight", np.float64),  # P(champion)
    ]
)

_PAIR = np.dtype(
    [
        *PAIR_FIELDS,
        *UPPER_BOUND_FIELDS,
        ("prior", np.float64),  # [i, j]: pseudo-wins of i over j.
        ("lost_rate", np.float64),  # [i, j]: -log P(theta_ij > 1/2)
    ]
)


class RelativeSamplingKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``.
    tails: Float[np.ndarray, "B N"]


@compiled
def init(state: RelativeSamplingKernel, rng: Generator) -> None:
    """Fill in what the prior says."""
    for i in range(state.arms.size):
        for j in range(i + 1, state.arms.size):
            _refresh_rates(state, i, j)
    for i in range(state.arms.size):
        _add_rates_up(state, i)


@compiled
def _refresh_rates(state: RelativeSamplingKernel, first: int, second: int) -> None:
    """Bring the probabilities of the sign of a pair up to date."""
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    won, lost = forward.wins + forward.prior, backward.wins + backward.prior
    small = half_tail(won, lost, state.tails)
    forward.lost_rate, backward.lost_rate = rates_above_half(won, lost, small)


@compiled
def _add_rates_up(state: RelativeSamplingKernel, arm: int) -> None:
    """Bring up to date how likely an arm beats all others."""
    total = 0.0
    for opponent in range(state.arms.size):
        total += state.pairs[arm, opponent].lost_rate
    state.arms[arm].lost_rate = total
    state.arms[arm].beats_all = math.exp(-total)


@compiled
def choose(state: RelativeSamplingKernel, rng: Generator, round_: int) -> Duel:
    """Choose champion and challenger, after the self-duels; count their reigns."""
    now, arms = state.now[0], state.arms
    if now.next_expiry < round_:
        let_expire(state, round_)
    if now.stale:
        # The arm that surely beats all others, where that matters.
        now.stale, now.sure_winner = False, _NOBODY
        for arm in range(state.arms.size):
            if state.arms[arm].sure_wins == state.arms.size - 1 and not now.steps:
                now.sure_winner = arm
    resting, probability = _weigh_champions(state)
    idle, happens = 0, True
    if resting != _NOBODY:
        window = arms[resting].expiry - round_ + 1
        idle, happens = waiting_time(rng, hazard_of(probability), window)
        arms[resting].reigns += idle
    first = place_by_weight(arms, arms.size, rng)
    champion = first if resting == _NOBODY else resting
    if not happens:
        return Duel(champion, idle, first, first, False)
    arms[first].reigns += 1
    if now.next_expiry < round_ + idle:
        let_expire(state, round_ + idle)
    second = most_optimistic(state, rng, first, round_ + idle)
    return Duel(champion, idle, first, second, True)


@compiled
def _weigh_champions(state: RelativeSamplingKernel) -> tuple[int, float]:
    """Write down the distribution of the champion; return a sure winner and total."""
    # The sure winner is left out if a round with it is idle; else it is -1. While it
    # may stand in for an arm that beats all others, each of its reigns counts. The
    # probability that there is none begins with 1 less the largest one, which keeps all
    # digits of the rest.
    now, arms = state.now[0], state.arms
    likeliest, fewest, number = 0, arms[0].reigns, 0
    for i in range(arms.size):
        if arms[i].lost_rate < arms[likeliest].lost_rate:
            likeliest = i
        if arms[i].reigns < fewest:
            fewest, number = arms[i].reigns, 0
        number += arms[i].reigns == fewest
    nobody = -math.expm1(-arms[likeliest].lost_rate)
    for i in range(arms.size):
        if i != likeliest:
            nobody -= arms[i].beats_all
    if now.any_may_stand_in:
        number = arms.size
    share, resting = max(nobody, 0.0) / number, now.sure_winner
    if resting != _NOBODY and not now.any_may_stand_in:
        resting = _NOBODY if arms[resting].reigns == fewest else resting
    total = 0.0
    for i in range(arms.size):
        stands_in = now.any_may_stand_in or arms[i].reigns == fewest
        arms[i].weight = arms[i].beats_all + (share if stands_in else 0.0)
        if i == resting:
            arms[i].weight = 0.0
        total += arms[i].weight
    return resting, total


@compiled
def update(
    state: RelativeSamplingKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count an outcome."""
    count_duel(state, rng, round_, first, second, won)
    _refresh_rates(state, first, second)
    _add_rates_up(state, first)
    _add_rates_up(state, second)


scalar_kernel.implement(
    RelativeSamplingKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend_most_beaten,
    count_ahead=count_ahead,
)
