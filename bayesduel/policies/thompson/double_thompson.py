"""Double Thompson Sampling: D-TS, D-TS+ and pure D-TS (Wu and Liu 2016).

The rule is stepped, or looks ahead, whatever is faster. Where nearly every round
teaches something, computing when the next one comes costs more than playing it: rounds
are stepped in blocks, and looked ahead of when enough of the last block were
self-duels. That is a function of the run's own past, so that the distribution of what
comes is that of either form.
"""

import math
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int, Real
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.base import is_on_a_scale
from bayesduel.models.in_policies.betas import BetaPairs
from bayesduel.models.in_policies.names import check_pair_posterior, take_by_name
from bayesduel.models.in_policies.scalar_betas import prior_in_order
from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.draws import truncated_exponential, waiting_time_and_level
from bayesduel.ops.scalar.splits import binomial
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_bounds import count_ahead, let_expire
from bayesduel.policies.scalar_choices import place_by_weight, recommend_most_beaten
from bayesduel.policies.scalar_kernel import SEVERAL, ScalarKernel
from bayesduel.policies.thompson._scalar_rounds import (
    best_challenger,
    first_arm,
    sample_votes,
    successes,
    successes_given_one,
)
from bayesduel.policies.thompson._scalar_state import (
    EITHER,
    LOOK_AHEAD,
    STEP,
    DoubleThompsonKernel,
    count_duel,
    find_sets,
    new_state,
    start,
)
from bayesduel.policies.thompson._scalar_upsets import (
    NO_UPSET,
    rate_of_upsets,
    sample_votes_given,
)
from theory.arguments import number_above, one_of
from theory.theorems import double_thompson_bound, double_thompson_refined_bound


@register("bt-ts", acronym="BT-TS", elimination=False, posterior="bradley-terry")
@register("pure-d-ts", acronym="Pure D-TS", elimination=False)
@register(
    "d-ts+",
    acronym="D-TS+",
    tie_break="regret",
    theorems=(double_thompson_refined_bound,),
)
@register(
    "d-ts",
    acronym="D-TS",
    theorems=(double_thompson_bound, double_thompson_refined_bound),
)
class DoubleThompson(KernelPolicy):
    """Double Thompson Sampling (D-TS, D-TS+).

    Both arms of a duel are drawn from Beta posteriors of the pairs: the first wins the
    vote of one sample among the arms that the confidence bounds leave as possible
    Copeland winners; the second is the arm that does best against the first in another,
    independent sample, unless the bounds rule it out. Prior Beta(1, 1) per unordered
    pair unless another one is given; the bounds count duels alone. ``log`` is natural;
    t counts from 1.

    With ``look_ahead`` the rounds in which the first arm would meet itself are not
    stepped through: their number is geometric and drawn at once. The distribution of
    all counts of different arms, of the state at every round, and the mean of every
    regret are exactly those of the step form. Where several arms lead, D-TS splits the
    self-duels of a stretch among them as round by round. So does D-TS+ where all arms
    lead, and up to round 4,096. Later it draws as many champions as 4,096 times the
    part of all rounds so far that the stretch makes up, and splits in proportion to
    them, which varies a little more (``docs/theory/look_ahead.md`` says how much).

    With another ``posterior`` both samples are preference matrices drawn from that,
    with the same rule and the same bounds, which assume nothing. Where its draws are
    independent and ``look_ahead`` is on, 16 rounds are drawn at once, up to the first
    in which different arms meet; the probability of an idle round has no closed form.

    BT-TS is pure D-TS over Bradley-Terry, by :class:`~bayesduel.posteriors.Laplace` or
    :class:`~bayesduel.posteriors.HMC`, its slow truth. One scale shares what is learnt
    between all pairs, K unknowns where Beta distributions have K (K - 1) / 2: the best
    arms of two samples of utilities meet. The price is the assumption: with cyclic
    preferences it may settle on an arm that is no Copeland winner, and the bounds do
    not save it, since an arm that only meets itself is never ruled out;
    ``diagnostics.transitivity`` looks for cycles in votes. The theorems on D-TS say
    nothing of other posteriors than Beta distributions, and none is known to us.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds, > 1/2 in the theory; 0.51 in the paper.
    tie_break : {"random", "regret"}
        Among first arms with equally many sampled votes: uniformly at random (D-TS), or
        the one with the least estimated regret (D-TS+, Section 4.3 there; remaining
        ties at random).
    elimination : bool
        Use the confidence bounds. Without them (pure D-TS, Appendix D.2.4 there) regret
        is linear when a Copeland winner loses to some arm.
    look_ahead : bool
        Jump over idle rounds. Without it every round is drawn.
    posterior : PairPosterior, or its name
        What both samples are drawn from: "beta" is ``BetaPairs()``, "bradley-terry"
        ``Laplace(BradleyTerry())``, "bradley-terry-hmc" ``HMC(BradleyTerry())``, and
        likewise "thurstone". Their parameters may be given by name as well, as in
        ``policies.get("d-ts", prior=2)``. On one scale samples never tie, so that
        ``tie_break`` must then be "random".

    References
    ----------
    H. Wu and X. Liu, "Double Thompson Sampling for Dueling Bandits", NIPS 2016,
    Algorithm 1 and Section 4.3. O. Chapelle and L. Li, "An empirical evaluation of
    Thompson sampling", NIPS 2011 (Laplace's method in Thompson sampling).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("d-ts", alpha=0.6).label
    'D-TS:alpha=0.6'
    >>> policies.parse_policy("d-ts:prior=2").posterior
    BetaPairs(prior=2)
    >>> policies.parse_policy("d-ts:posterior=thurstone,prior_scale=1").label
    'D-TS:posterior=thurstone,prior_scale=1.0'
    >>> policies.get("pure-d-ts", posterior="bradley-terry").label
    'BT-TS'
    """

    alpha: float = 0.51
    tie_break: str = "random"
    elimination: bool = True
    look_ahead: bool = True
    posterior: Any = BetaPairs()

    title: ClassVar[str] = "Double Thompson Sampling"

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0.5, "alpha", kind=PolicyParameterError)
        one_of(
            self.tie_break, ("random", "regret"), "tie_break", kind=PolicyParameterError
        )
        posterior = check_pair_posterior(self.posterior, num_arms)
        if self.tie_break != "random" and is_on_a_scale(posterior):
            raise PolicyParameterError(
                "tie_break",
                f"must be random with posterior={posterior.name!r}, where samples "
                "never tie",
                self.tie_break,
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta distribution per pair."""
        posterior = self.posterior
        if not isinstance(posterior, BetaPairs):
            return None
        return kernel(
            np.asarray(posterior.prior),
            alpha=float(self.alpha),
            elimination=self.elimination,
            ties_by_regret=self.tie_break == "regret",
            form=EITHER if self.look_ahead else STEP,
        )

    def over_model(self) -> Any:
        """Return the rule over the draws of any other posterior."""
        posterior = self.posterior
        if isinstance(posterior, BetaPairs):
            return None
        # JAX takes a second to import.
        from bayesduel.policies.over_models.double_thompson import (
            ROUNDS_AT_ONCE,
            SampledDoubleThompson,
        )

        together = self.look_ahead and posterior.independent_draws
        return SampledDoubleThompson(
            posterior,
            alpha=self.alpha,
            elimination=self.elimination,
            by_regret=self.tie_break == "regret",
            at_once=ROUNDS_AT_ONCE if together else 1,
        )


_BLOCK = 32
"""Rounds that are stepped before looking ahead is considered again."""

_MOST_HAZARD = 0.7
"""Above this rate of events the next rounds are stepped: half of them are events."""

_DRAWN = 4096
"""Up to this round the champion of each idle round of D-TS+ is drawn."""

_ANY, _NOTHING, _BY_UPSET, _BY_SUCCESS = 0, 1, 2, 3
"""Which round comes after the idle ones: any; none, as the sets change before; one in
which there is an upset; one in which there is none and a challenger succeeds."""


def kernel(prior: Real[np.ndarray, "*shape"], **options: Any) -> ScalarKernel:
    """Return the kernel; ``prior`` is one number or a table, in the order of the arms.

    ``options`` are those of ``_scalar_state.new_state``.
    """

    def initial_state(
        order: Int[np.ndarray, " K"], horizon: int
    ) -> DoubleThompsonKernel:
        return new_state(prior_in_order(prior, order), **options)

    return ScalarKernel("double_thompson", initial_state)


@inlined
def init(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Fill in what the prior says."""
    start(state)


@inlined
def choose(state: DoubleThompsonKernel, rng: Generator, round_: int) -> Duel:
    """Return the next round, or the idle rounds up to one that is not."""
    now = state.now[0]
    if now.next_expiry < round_:
        let_expire(state, round_)
    if now.stale:
        find_sets(state)
    kind, idle, level = _what_comes(state, rng, round_)
    first = champion = state.arms[0].leader
    if kind != _ANY and now.num_leaders > 1:
        champion, now.round = SEVERAL, round_
        if kind == _BY_SUCCESS and now.ties_by_regret:
            first = _champion(state, rng)
            if level >= _column_rate(state, first):
                return Duel(champion, idle, first, first, True)
        elif kind == _BY_SUCCESS:
            first, level = _first_to_lose(state, rng)
    if kind == _NOTHING:
        return Duel(champion, idle, first, first, False)
    if kind == _BY_SUCCESS:
        count = successes_given_one(state, rng, first, level)
    else:
        if kind == _BY_UPSET:
            sample_votes_given(state, rng, level)
            first = first_arm(state, rng)
        elif now.num_candidates > 1:
            sample_votes(state, rng)
            first = first_arm(state, rng)
        count = successes(state, rng, first)
    second = best_challenger(state, rng, first, count)
    now.idle_steps += kind == _ANY and second == first
    return Duel(champion, idle, first, second, True)


@inlined
def _what_comes(
    state: DoubleThompsonKernel, rng: Generator, round_: int
) -> tuple[int, int, float]:
    """Return the kind of the next round, the idle ones before it, and its level.

    The level is an exponential variable below the rate of the kind.
    """
    now = state.now[0]
    if now.form != LOOK_AHEAD:
        if now.steps_left == 0 and 2 * now.idle_steps < _BLOCK:
            now.steps_left, now.idle_steps = _BLOCK, 0
        if now.form == STEP or now.steps_left > 0:
            now.steps_left -= 1
            return _ANY, 0, 0.0
    upset_rate = rate_of_upsets(state)
    hazard = upset_rate + _success_rate(state)
    if now.form != LOOK_AHEAD and hazard > _MOST_HAZARD:
        now.steps_left, now.idle_steps = _BLOCK - 1, 0
        return _ANY, 0, 0.0
    window = now.next_expiry - round_ + 1
    idle, happens, level = waiting_time_and_level(rng, hazard, window)
    if not happens:
        return _NOTHING, idle, 0.0
    if level < upset_rate:
        return _BY_UPSET, idle, level
    return _BY_SUCCESS, idle, level - upset_rate


@compiled
def _champion(state: DoubleThompsonKernel, rng: Generator) -> int:
    """Draw the first arm of D-TS+ by the tie-break, given no upset.

    That is the distribution both of an idle round and of a round that is not idle by
    success.
    """
    sample_votes_given(state, rng, NO_UPSET)
    return first_arm(state, rng)


@inlined
def _column_rate(state: DoubleThompsonKernel, leader: int) -> float:
    """Return the rate of the column of a leader of D-TS+.

    The exponential variable of all leaders, below the largest rate, leaves the column
    empty where it exceeds that.
    """
    rank = 0
    while state.arms[rank].leader != leader:
        rank += 1
    return state.arms[rank].column_rate


@compiled
def _first_to_lose(state: DoubleThompsonKernel, rng: Generator) -> tuple[int, float]:
    """Draw the first arm of D-TS given no upset and that a challenger succeeds.

    In proportion to 1 - exp(-rate of its column). With it comes an exponential variable
    below that rate.
    """
    arms, now = state.arms, state.now[0]
    for rank in range(now.num_leaders):
        arms[rank].weight = -math.expm1(-arms[rank].column_rate)
    rank = place_by_weight(arms, now.num_leaders, rng)
    return arms[rank].leader, truncated_exponential(rng, arms[rank].column_rate)


@compiled
def share_idle_rounds(
    state: DoubleThompsonKernel,
    rng: Generator,
    rounds: int,
    shares: Int[np.ndarray, " K"],
) -> None:
    """Share the idle rounds among the leaders.

    The first arm of D-TS has the distribution exp(-rate of its column), normalized.
    That of D-TS+ is uniform where all arms lead, as none of them has an estimated
    regret; otherwise it has no closed form.
    """
    arms, count = state.arms, state.now[0].num_leaders
    by_regret = state.now[0].ties_by_regret
    if by_regret and count < arms.size:
        _share_by_sample(state, rng, rounds, shares)
        return
    safest, total = math.inf, 0.0
    for rank in range(count):
        safest = min(safest, arms[rank].column_rate)
    for rank in range(count):
        rate = 0.0 if by_regret else arms[rank].column_rate - safest
        arms[rank].weight = math.exp(-rate)
        total += arms[rank].weight
    for rank in range(count - 1):
        weight = arms[rank].weight
        if rounds > 0 and weight > 0.0:
            # What is left of the total may be rounded below the next weight.
            share = binomial(rng, rounds, weight / max(total, weight))
            shares[arms[rank].leader] = share
            rounds -= share
            total -= weight
    shares[arms[count - 1].leader] = rounds


@compiled
def _share_by_sample(
    state: DoubleThompsonKernel,
    rng: Generator,
    rounds: int,
    shares: Int[np.ndarray, " K"],
) -> None:
    """Share the idle rounds in proportion to how often a leader is drawn.

    Each round is drawn up to round ``_DRAWN``. Later there are as many draws as a run
    of that length has rounds in a stretch of the same part of it, so that all stretches
    together take no more than ``_DRAWN`` (1 + log(T / ``_DRAWN``)) draws, and one each.
    """
    part = rounds / (state.now[0].round - 1.0 + rounds)
    draws = min(rounds, math.ceil(_DRAWN * part))
    for _ in range(draws):
        shares[_champion(state, rng)] += 1
    whole, left = rounds // draws, rounds % draws
    given = 0
    for arm in range(state.arms.size):
        shares[arm] = shares[arm] * whole + shares[arm] * left // draws
        given += shares[arm]
    for _ in range(rounds - given):
        shares[_champion(state, rng)] += 1


@inlined
def _success_rate(state: DoubleThompsonKernel) -> float:
    """Return the rate at which some challenger of the first arm succeeds.

    With rates lam_w, no one succeeds with the mean of exp(-lam_w) over the leaders.
    D-TS+: one exponential variable for all leaders, drawn apart
    from the first arm, says whether its column is empty, so a round counts as idle if
    it exceeds the largest rate.
    """
    arms, count = state.arms, state.now[0].num_leaders
    safest, riskiest = math.inf, 0.0
    for rank in range(count):
        arm = arms[rank].leader
        rate = 0.0
        for i in range(arms.size):
            if state.pairs[arm, i].eligible:
                rate += state.pairs[arm, i].win_rate
        arms[rank].column_rate = rate
        safest, riskiest = min(safest, rate), max(riskiest, rate)
    if count == 1 or state.now[0].ties_by_regret:
        return riskiest
    lacking = 0.0
    for rank in range(count):
        lacking -= math.expm1(safest - arms[rank].column_rate)
    return safest - math.log1p(-lacking / count)


scalar_kernel.implement(
    DoubleThompsonKernel,
    init=init,
    choose=choose,
    update=count_duel,
    recommend=recommend_most_beaten,
    share_idle_rounds=share_idle_rounds,
    count_ahead=count_ahead,
)
