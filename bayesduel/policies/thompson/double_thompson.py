"""Double Thompson Sampling: D-TS, D-TS+ and pure D-TS (Wu and Liu 2016).

The rule is stepped, or looks ahead, whatever is faster. Where nearly every round
teaches something, computing when the next one comes costs more than playing it: rounds
are stepped in blocks, and looked ahead of when enough of the last block were
self-duels. That is a function of the run's own past, so that the distribution of what
comes is that of either form.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int8, Int16, Real, UInt16
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.base import is_on_a_scale
from bayesduel.models.in_policies.betas import BetaPairs
from bayesduel.models.in_policies.names import check_pair_posterior, take_by_name
from bayesduel.models.in_policies.scalar_betas import (
    half_tail,
    kl_to_half,
    offset_above_half,
    prior_in_order,
    rates_above_half,
    tail_table,
)
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import (
    Bits,
    choose_index,
    happens,
    new_bits,
    take_words,
    truncated_exponential,
    waiting_time_and_level,
)
from bayesduel.ops.scalar.splits import binomial
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import DRAWS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_bounds import (
    ARM_FIELDS,
    NOW_FIELDS,
    PAIR_FIELDS,
    count_ahead,
    let_expire,
    refresh_bounds,
    start_bounds,
)
from bayesduel.policies.scalar_choices import (
    among_largest,
    place_by_weight,
    recommend_most_beaten,
)
from bayesduel.policies.scalar_kernel import SEVERAL, ScalarKernel
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
    r"""Double Thompson Sampling (D-TS, D-TS+, pure D-TS, BT-TS).

    Double Thompson Sampling chooses both arms of a duel by draws from the posterior
    distribution of the preferences. Confidence bounds exclude two kinds of arms: first
    arms that can no longer be Copeland winners, and opponents that are already known to
    beat the first arm. D-TS and D-TS+ need no Condorcet winner, no horizon and no
    tuning.

    Use ``d-ts+`` if you know nothing about the preferences. If there is a Condorcet
    winner, ``d-ts`` is as good. Use ``d-ts`` if answers arrive late. Use ``bt-ts`` if
    all arms lie on one scale of quality, as in ratings.

    The four names differ in these points:

    - ``d-ts``: a tie for the first arm is broken at random.
    - ``d-ts+``: a tie for the first arm goes to the arm with the least estimated
      regret, by the formula in the rule.
    - ``pure-d-ts``: there are no confidence bounds. All arms are candidates in step 1,
      and all arms may be the opponent in step 4. It is there for comparison: its regret
      is linear if a Copeland winner loses to some arm.
    - ``bt-ts``: pure D-TS with the posterior of a Bradley-Terry model, which has one
      utility per arm.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds, which ``pure-d-ts`` and ``bt-ts`` do not have.
        The theory needs more than 1/2; the paper takes 0.51.
    tie_break : {"random", "regret"}
        How the first arm is chosen if several candidates beat equally many arms in the
        draw. "random": one of them at random (D-TS). "regret": the one with the least
        estimated regret (D-TS+, Section 4.3 of Wu and Liu), with remaining ties broken
        at random.
    elimination : bool
        Use the confidence bounds. Without them (pure D-TS, Appendix D.2.4 of Wu and
        Liu) regret grows linearly if a Copeland winner loses to some arm.
    look_ahead : bool
        Skip self-duels without stepping through them.
    posterior : PairPosterior, or its name
        The posterior from which steps 2 and 4 draw. "beta" stands for ``BetaPairs()``,
        "bradley-terry" for ``Laplace(BradleyTerry())``, and "bradley-terry-hmc" for
        ``HMC(BradleyTerry())``. "thurstone" and "thurstone-hmc" are the same with
        ``Thurstone()``. Their parameters may be given by name, as in
        ``policies.get("d-ts", prior=2)``. With a model on one scale (all but "beta")
        draws never tie, so ``tie_break`` must be "random".

    Notes
    -----
    **Rule.** Let :math:`w_{ij}` be the number of duels that arm i won against arm j,
    and :math:`n_{ij}=w_{ij}+w_{ji}` the number of all duels of the two. The upper
    confidence bound on the probability that i beats j is
    :math:`u_{ij}=w_{ij}/n_{ij}+\sqrt{\alpha\log t/n_{ij}}`. The lower one is
    :math:`l_{ij}=1-u_{ji}`. Logarithms are natural, and rounds are counted from t = 1.
    ``pure-d-ts`` and ``bt-ts`` leave out step 1 and the condition in step 4, and
    ``bt-ts`` draws from the posterior of a Bradley-Terry model. In round t:

    1. *Candidates.* Count for every arm i the bounds :math:`u_{ij}` above 1/2. The
       candidates are the arms with the largest count. Only they may be Copeland
       winners.
    2. *First arm.* Draw :math:`\theta_{ij}\sim\mathrm{Beta}(w_{ij}+1,w_{ji}+1)` for
       each pair, with :math:`\theta_{ji}=1-\theta_{ij}`. Arm i beats j in this draw if
       :math:`\theta_{ij}>1/2`. The first arm is the candidate that beats the most arms.
    3. *Ties.* If several candidates beat equally many arms, D-TS takes one of them at
       random. D-TS+ takes the one with the least estimated regret :math:`R_i`.
    4. *Second arm.* Make a new draw of the pairs of the first arm i, and set
       :math:`\theta_{ii}=1/2`. The second arm is the one with the largest
       :math:`\theta_{ji}` among the arms j with :math:`l_{ji}\le1/2`. It may be the
       first arm again.

    The estimated regret of D-TS+ (Section 4.3 of the paper) is, for a candidate i,
    :math:`R_i=\sum_{j\ne i}r_{ij}/\mathrm{KL}(\theta_{ij},1/2)` with
    :math:`r_{ij}=\zeta_{\max}-(\zeta_i+\zeta_j)/2`. Here :math:`\zeta_i` is the share
    of the other arms that i beats in the draw of step 2, and :math:`\zeta_{\max}` is
    the largest share of all arms. So :math:`r_{ij}` is the Copeland regret of a duel of
    i and j, if the draw is true. KL is the Kullback-Leibler divergence of two Bernoulli
    distributions. About :math:`1/\mathrm{KL}(\theta_{ij},1/2)` duels, up to a factor
    that is the same for all pairs, are needed to learn which of the two arms is better.
    So :math:`R_i` is proportional to the regret of comparing arm i with all others
    until that is known.

    **Assumptions.** D-TS and D-TS+ need none. Pure D-TS needs a Condorcet winner, and
    BT-TS one utility per arm. The theorems are about D-TS and D-TS+ with Beta
    posteriors, and need :math:`\alpha>1/2` and no ties between arms. No theorem is
    known for ``pure-d-ts``, ``bt-ts`` and other posteriors.

    **Other posteriors.** ``posterior`` replaces the Beta distributions in steps 2 and
    4. The confidence bounds do not change, since they use only the numbers of duels
    that were won and lost. In BT-TS each duel changes the posterior of all pairs,
    because there is one unknown utility per arm instead of one unknown probability per
    pair: K instead of K (K - 1) / 2. If arms beat each other in circles, BT-TS may
    settle on an arm that is no Copeland winner. Confidence bounds would not help: while
    an arm meets only itself, no new outcome can exclude it.
    ``diagnostics.transitivity`` tests votes for circles.

    **Look-ahead.** In most rounds the first arm meets itself. The number of such rounds
    until the next duel of different arms has a geometric distribution, from which it is
    drawn in one step. The counts of duels and the state of the policy have the same
    distribution as in a simulation round by round, and every kind of regret has the
    same mean. If several arms may be the first one, D-TS divides the self-duels among
    them with the same distribution as round by round. D-TS+ does the same up to round
    4,096, and later if all arms are among them. Later D-TS+ draws at most 4,096 first
    arms for a stretch of self-duels, and divides the stretch among them in proportion.
    This increases the variance of the regret a little. With another posterior, 16
    rounds are drawn at a time, and those up to the first duel of different arms are
    used. See ``docs/theory/look_ahead.md``.

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

    alpha: float = checked(0.51, number_above, 0.5)
    tie_break: str = checked("random", one_of, ("random", "regret"))
    elimination: bool = True
    look_ahead: bool = True
    posterior: Any = BetaPairs()

    title: ClassVar[str] = "Double Thompson Sampling"
    in_batches: ClassVar[str] = DRAWS

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
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


_BLOCK = 32  # Rounds that are stepped before looking ahead is considered again

# Above this rate of events the next rounds are stepped: half of them are events
_MOST_HAZARD = 0.7
_DRAWN = 4096  # Up to this round the champion of each idle round of D-TS+ is drawn

# Which round comes after the idle ones: any; none, as the sets change before; one in
# which there is an upset; one in which there is none and a challenger succeeds
_ANY, _NOTHING, _BY_UPSET, _BY_SUCCESS = 0, 1, 2, 3


# Forms: step or look ahead, whichever is faster, or always the one
EITHER, STEP, LOOK_AHEAD = 0, 1, 2


def kernel(
    prior: Real[np.ndarray, "*shape"],
    *,
    alpha: float,
    elimination: bool,
    ties_by_regret: bool,
    form: int = EITHER,
) -> ScalarKernel:
    """Return the kernel; ``prior`` is one number, or a table in the order of arms."""

    def initial_state(
        order: Int[np.ndarray, " K"], horizon: int
    ) -> DoubleThompsonKernel:
        num_arms = len(order)
        square = num_arms, num_arms
        state = DoubleThompsonKernel(
            *tables(num_arms, _NOW, _ARM, _PAIR),
            trails=np.zeros(square, dtype=np.int8),
            threshold=np.zeros(square, dtype=np.uint16),
            flips=np.zeros(square, dtype=bool),
            sampled_votes=np.zeros(num_arms, dtype=np.int16),
            upset_tails=np.zeros(square),
            bits=new_bits(num_arms),
            tails=tail_table(),
        )
        state.now["elimination"] = elimination
        state.now["ties_by_regret"] = ties_by_regret
        state.now["form"] = form
        state.pairs["prior"] = prior_in_order(prior, order)
        start_bounds(state, alpha=alpha)
        return state

    return ScalarKernel("double_thompson", initial_state)


# --- The state of a run, and its rounds ----------------------------------------------


# Single numbers
_NOW = np.dtype(
    [
        *NOW_FIELDS,
        # Constant during a run.
        ("elimination", np.int64),
        ("ties_by_regret", np.int64),
        ("form", np.int64),
        # How many arms are in the sets.
        ("num_candidates", np.int64),
        ("num_leaders", np.int64),
        ("num_listed", np.int64),
        # Rounds to be stepped before looking ahead again; self-duels among the last.
        ("steps_left", np.int64),
        ("idle_steps", np.int64),
        # In which several leaders share what is idle from here on.
        ("round", np.int64),
    ]
)
_ARM = np.dtype(
    [
        *ARM_FIELDS,
        ("votes", np.int64),  # Arms that it more likely beats.
        ("is_candidate", np.int64),  # It has the fewest sure losses.
        ("is_leader", np.int64),
        # Which flips may change the winners of a sample.
        ("lacking", np.int64),  # Flips that make the upset of the arm; 0: it has none.
        ("upset_rate", np.float64),  # -log P(no upset)
        ("upset_is_known", np.int64),  # The rate is that of now.
        # Not of the arm, but lists: the candidates, the leaders with the rate at which
        # some challenger succeeds against them, and arms of a round with their weights.
        ("candidate", np.int64),
        ("leader", np.int64),
        ("column_rate", np.float64),
        ("listed", np.int64),
        ("weight", np.float64),
    ]
)

_PAIR = np.dtype(
    [
        *PAIR_FIELDS,  # [a, i] is eligible: i may be second against a.
        ("prior", np.float64),  # [i, j]: pseudo-wins of i over j.
        ("flip_rate", np.float64),  # -log P(no flip); both entries are the same.
        ("win_rate", np.float64),  # [a, i]: -log P(theta_ia <= 1/2): i succeeds.
        ("remainder", np.float64),  # P(flip) minus ``threshold``.
    ]
)


class DoubleThompsonKernel(NamedTuple):
    """The state of one run; signs of a sample are read row by row, many at a time."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``.
    # [i, j]: 1 if j more likely beats i, -1 if i does; of an even pair, the lower
    # index: what a flip against the majority adds to the votes of i.
    trails: Int8[np.ndarray, "K K"]
    threshold: UInt16[np.ndarray, "K K"]  # P(flip) in units of 2^-16, rounded down.
    # Whether pairs flip in the sample; see :func:`flipped`.
    flips: Bool[np.ndarray, "K K"]
    sampled_votes: Int16[np.ndarray, " K"]

    upset_tails: Float[np.ndarray, "K K"]  # See ``double_thompson``.
    bits: Bits
    tails: Float[np.ndarray, "B N"]


@compiled
def init(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Fill in what the prior says of all pairs."""
    num_arms = state.arms.size
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            state.trails[i, j], state.trails[j, i] = -1, 1
            state.arms[i].votes += 1
            refresh_tail(state, i, j)


@compiled
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


@compiled
def _what_comes(
    state: DoubleThompsonKernel, rng: Generator, round_: int
) -> tuple[int, int, float]:
    """Return the kind of the next round, the idle ones before it, and its level."""
    # The level is an exponential variable below the rate of the kind.
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
    """Draw the first arm of D-TS+ by the tie-break, given no upset."""
    sample_votes_given(state, rng, NO_UPSET)
    return first_arm(state, rng)


@compiled
def _column_rate(state: DoubleThompsonKernel, leader: int) -> float:
    """Return the rate of the column of a leader of D-TS+."""
    # The column is empty where the exponential variable of all leaders exceeds it.
    rank = 0
    while state.arms[rank].leader != leader:
        rank += 1
    return state.arms[rank].column_rate


@compiled
def _first_to_lose(state: DoubleThompsonKernel, rng: Generator) -> tuple[int, float]:
    """Draw the first arm of D-TS given no upset and that a challenger succeeds."""
    # In proportion to 1 - exp(-rate of its column), with a variable below that.
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
    """Share the idle rounds among the leaders."""
    # The first arm of D-TS has the distribution exp(-rate of its column), normalized.
    # That of D-TS+ is uniform where all arms lead; otherwise it has no closed form.
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
            # Rounding may leave a total below the next weight.
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
    """Share the idle rounds in proportion to how often a leader is drawn."""
    # All stretches of a run take no more than ``_DRAWN`` (1 + log(T / ``_DRAWN``))
    # draws, and one each.
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


@compiled
def _success_rate(state: DoubleThompsonKernel) -> float:
    """Return the rate at which some challenger of the first arm succeeds."""
    # With rates lam_w, no one succeeds with the mean of exp(-lam_w) over the leaders.
    # In D-TS+ one exponential variable for all leaders says whether the column is
    # empty, so a round is idle if it exceeds the largest rate.
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


# --- Upsets of D-TS: what may change the winners of its first sample ------------------


NO_UPSET = math.inf  # Target of ``sample_votes_given``


@compiled
def _owns(state: DoubleThompsonKernel, i: int, j: int) -> bool:
    """Say whether the pair of i and j belongs to i, which has an upset."""
    arms = state.arms
    if arms[i].is_leader:
        return j > i or not arms[j].is_leader
    return state.trails[i, j] > 0 and not arms[j].is_leader


@compiled
def rate_of_upsets(state: DoubleThompsonKernel) -> float:
    """Return -log P(no upset)."""
    arms, total = state.arms, 0.0
    for index in range(state.now[0].num_candidates):
        i = arms[index].candidate
        if arms[i].lacking == 0:
            continue
        if not arms[i].upset_is_known:
            arms[i].upset_rate = _upset_rate(state, i)
            arms[i].upset_is_known = True
        total += arms[i].upset_rate
    return total


@compiled
def _upset_rate(state: DoubleThompsonKernel, i: int) -> float:
    """Return -log P(no upset of one arm)."""
    if state.arms[i].lacking > 1:
        _list_pairs(state, i)
        probability = _find_tails(state, i, 1.0)
        if probability < 0.5:
            return -math.log1p(-probability)
        return -math.log(_find_tails(state, i, 0.0))
    total = 0.0
    for j in range(state.arms.size):
        if _owns(state, i, j):
            total += state.pairs[i, j].flip_rate
    return total


@compiled
def _list_pairs(state: DoubleThompsonKernel, i: int) -> None:
    """List the other arms of the pairs that belong to i."""
    state.now[0].num_listed = 0
    for j in range(state.arms.size):
        if _owns(state, i, j):
            state.arms[state.now[0].num_listed].listed = j
            state.now[0].num_listed += 1


@compiled
def _flip_probability(state: DoubleThompsonKernel, i: int, j: int) -> float:
    return (state.threshold[i, j] + state.pairs[i, j].remainder) / 65536.0


@compiled
def _find_tails(state: DoubleThompsonKernel, i: int, enough: float) -> float:
    """Fill ``upset_tails`` for an arm whose pairs are listed; return the first one."""
    # [row, n] is the probability that of the listed pairs from ``row`` on at least n
    # flip, or with ``enough`` 0 that fewer do.
    tails, rows, most = (
        state.upset_tails,
        state.now[0].num_listed,
        state.arms[i].lacking,
    )
    tails[rows, 0], tails[rows, 1] = enough, 1.0 - enough
    for row in range(rows - 1, -1, -1):
        left = rows - row
        yes = _flip_probability(state, i, state.arms[row].listed)
        no = 1.0 - yes
        tails[row, 0] = enough
        for needed in range(max(1, most - row), min(most, left) + 1):
            supplied = yes * tails[row + 1, needed - 1]
            tails[row, needed] = supplied + no * tails[row + 1, needed]
        if left < most:
            tails[row, left + 1] = 1.0 - enough
    return tails[0, most]


@compiled
def sample_votes_given(
    state: DoubleThompsonKernel, rng: Generator, target: float
) -> None:
    """Count the votes given the first upset, or given none."""
    # The first is that of the candidate with which the running rate passes ``target``;
    # before it there is none, after it all pairs flip freely. ``rate_of_upsets`` adds
    # in the same order, so a target below its total is always passed.
    arms = state.arms
    running, is_forced = 0.0, False
    for i in range(arms.size):
        state.sampled_votes[i] = arms[i].votes
    for index in range(state.now[0].num_candidates):
        i = arms[index].candidate
        has_upset = arms[i].lacking > 0
        conditioned = has_upset and not is_forced
        for j in range(arms.size):
            if has_upset and _owns(state, i, j):
                flips = not conditioned and flip(state, rng, i, j)
            elif j == i or (j < i and arms[j].is_candidate):
                continue
            elif arms[j].lacking > 0 and _owns(state, j, i):
                continue
            else:
                flips = flip(state, rng, i, j)
            _note_flip(state, i, j, flips)
        if conditioned:
            before = running
            running += arms[i].upset_rate
            is_forced = arms[i].upset_rate > 0.0 and running >= target
            if arms[i].lacking > 1:
                _flip_listed(state, rng, i, is_forced)
            elif is_forced:
                _flip_some(state, rng, i, target - before)


@compiled
def _flip_some(
    state: DoubleThompsonKernel, rng: Generator, i: int, target: float
) -> None:
    """Flip pairs of an arm given that one of them flips."""
    target = min(target, state.arms[i].upset_rate)
    running, is_forced = 0.0, False
    for j in range(state.arms.size):
        if not _owns(state, i, j):
            continue
        if is_forced:
            flips = flip(state, rng, i, j)
        else:
            running += state.pairs[i, j].flip_rate
            is_forced = flips = state.pairs[i, j].flip_rate > 0.0 and running >= target
        _note_flip(state, i, j, flips)


@compiled
def _flip_listed(
    state: DoubleThompsonKernel, rng: Generator, i: int, upset: bool
) -> None:
    """Flip pairs of an arm given its upset, or that it does not happen."""
    # Pair after pair, times P(those behind supply what is then needed).
    _list_pairs(state, i)
    _find_tails(state, i, 1.0 if upset else 0.0)
    rows, needed = state.now[0].num_listed, state.arms[i].lacking
    for row in range(rows):
        j = state.arms[row].listed
        yes = _flip_probability(state, i, j)
        no = 1.0 - yes
        # Beyond these the condition is met whatever comes.
        if 0 < needed <= rows - row:
            yes *= state.upset_tails[row + 1, needed - 1]
            no *= state.upset_tails[row + 1, needed]
        flips = rng.random() * (yes + no) < yes
        needed -= flips and needed > 0
        _note_flip(state, i, j, flips)


@compiled
def _note_flip(state: DoubleThompsonKernel, i: int, j: int, flips: bool) -> None:
    state.flips[i, j] = state.flips[j, i] = flips
    if flips:
        state.sampled_votes[i] += state.trails[i, j]
        state.sampled_votes[j] -= state.trails[i, j]


# --- The two arms of one round of D-TS, drawn from signs ------------------------------


_SMALLEST_DIVERGENCE = 1e-300


@compiled
def sample_votes(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Draw the flips of all pairs of candidates, and count the votes."""
    num_arms = state.arms.size
    for i in range(num_arms):
        state.sampled_votes[i] = state.arms[i].votes
    parts = 1 if state.now[0].num_candidates == num_arms else 2
    for index in range(state.now[0].num_candidates):
        i = state.arms[index].candidate
        begin, end = i + 1, num_arms
        for part in range(parts):
            flip_row(state, rng, i, begin, end, part == 1)
            begin, end = 0, i


@compiled
def flip_row(
    state: DoubleThompsonKernel,
    rng: Generator,
    i: int,
    begin: int,
    end: int,
    skip_candidates: bool,
) -> None:
    """Let the pairs of one arm with those from ``begin`` to ``end`` flip."""
    count = end - begin
    if count == 0:
        return
    start = take_words(state.bits, rng, count)
    words = state.bits.words[start : start + count]
    threshold = state.threshold[i, begin:end]
    flips = state.flips[i, begin:end]
    undecided = False
    for k in range(count):
        flips[k] = words[k] < threshold[k]
        undecided |= words[k] == threshold[k]
    if undecided:
        for k in range(count):
            if words[k] == threshold[k]:
                flips[k] = rng.random() < state.pairs[i, begin + k].remainder
    if skip_candidates:
        for k in range(count):
            flips[k] &= not state.arms[begin + k].is_candidate
    trails = state.trails[i, begin:end]
    votes = state.sampled_votes[begin:end]
    gained = np.int16(0)
    for k in range(count):
        gain = np.int16(trails[k] if flips[k] else 0)
        gained += gain
        votes[k] -= gain
    state.sampled_votes[i] += gained


@compiled
def flipped(state: DoubleThompsonKernel, i: int, j: int) -> bool:
    """Say whether a pair with a candidate i has flipped: in the row it belongs to."""
    if j > i or not state.arms[j].is_candidate:
        return state.flips[i, j]
    return state.flips[j, i]


@compiled
def first_arm(state: DoubleThompsonKernel, rng: Generator) -> int:
    """Return the candidate with the most sampled votes, ties by the rule."""
    arms, now = state.arms, state.now[0]
    most = -1
    for index in range(now.num_candidates):
        i = arms[index].candidate
        votes = state.sampled_votes[i]
        if votes > most:
            most, now.num_listed = votes, 0
        if votes == most:
            arms[now.num_listed].listed = i
            now.num_listed += 1
    if now.ties_by_regret and now.num_listed > 1:
        _keep_least_regret(state, rng)
    if now.num_listed == 1:
        return arms[0].listed
    return arms[choose_index(rng, now.num_listed)].listed


@compiled
def _keep_least_regret(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Keep those listed arms that D-TS+ prefers (Wu and Liu 2016, Section 4.3)."""
    # R_i = sum over j of r_ij / KL(theta_ij, 1/2) with r_ij = zeta_max - (zeta_i +
    # zeta_j) / 2, where zeta_max is of all arms.
    arms, votes, now = state.arms, state.sampled_votes, state.now[0]
    count = now.num_listed
    most = _most_votes_of_all(state, rng)
    for rank in range(count):
        arms[rank].weight = 0.0
    for rank in range(count):
        i = arms[rank].listed
        other_rank = 0
        for j in range(arms.size):
            is_tied = other_rank < count and arms[other_rank].listed == j
            other_rank += is_tied
            loss = 2 * most - votes[i] - votes[j]
            # A pair of two tied arms has one magnitude: it counts for both.
            if j == i or loss == 0 or (is_tied and j < i):
                continue
            # How far theta_ij is from 1/2, given its sign.
            above = (state.trails[i, j] > 0) == flipped(state, i, j)
            first, second = (i, j) if above else (j, i)
            forward, backward = state.pairs[first, second], state.pairs[second, first]
            offset = offset_above_half(
                forward.wins + forward.prior, backward.wins + backward.prior, rng
            )
            term = loss / max(kl_to_half(offset), _SMALLEST_DIVERGENCE)
            arms[rank].weight += term
            if is_tied:
                arms[other_rank - 1].weight += term
    least = math.inf
    for rank in range(count):
        if arms[rank].weight < least:
            least, now.num_listed = arms[rank].weight, 0
        if arms[rank].weight == least:
            arms[now.num_listed].listed = arms[rank].listed
            now.num_listed += 1


@compiled
def _most_votes_of_all(state: DoubleThompsonKernel, rng: Generator) -> int:
    """Draw the pairs without a candidate too; return the most votes of any arm."""
    num_arms, most = state.arms.size, 0
    for i in range(num_arms):
        alone = not state.arms[i].is_candidate
        if alone:
            flip_row(state, rng, i, i + 1, num_arms, alone)
    for i in range(num_arms):
        most = max(most, state.sampled_votes[i])
    return most


@compiled
def successes(state: DoubleThompsonKernel, rng: Generator, first: int) -> int:
    """List the arms whose second sample exceeds 1/2; return how many there are."""
    start = take_words(state.bits, rng, state.arms.size)
    count = 0
    for i in range(state.arms.size):
        pair = state.pairs[first, i]
        word, threshold = state.bits.words[start + i], state.threshold[first, i]
        flips = happens(word, threshold, pair.remainder, rng)
        if pair.eligible and flips == (state.trails[first, i] < 0):
            state.arms[count].listed = i
            count += 1
    return count


@compiled
def successes_given_one(
    state: DoubleThompsonKernel, rng: Generator, first: int, target: float
) -> int:
    """As ``successes``, given that there is at least one."""
    # The first lies where the running rate passes ``target``; those after it are free.
    running, last, count = 0.0, first, 0
    for i in range(state.arms.size):
        pair = state.pairs[first, i]
        if not pair.eligible:
            continue
        if count == 0:
            running += pair.win_rate
            if pair.win_rate > 0.0:
                last = i
            succeeds = running >= target
        else:
            succeeds = flip(state, rng, first, i) == (state.trails[first, i] < 0)
        if succeeds:
            state.arms[count].listed = i
            count += 1
    if count == 0:
        # Rounding may have left the last one just below the target.
        state.arms[0].listed = last
        count = 1
    return count


@compiled
def flip(state: DoubleThompsonKernel, rng: Generator, i: int, j: int) -> bool:
    """Let one pair flip or not."""
    word = state.bits.words[take_words(state.bits, rng, 1)]
    return happens(word, state.threshold[i, j], state.pairs[i, j].remainder, rng)


@compiled
def best_challenger(
    state: DoubleThompsonKernel, rng: Generator, first: int, count: int
) -> int:
    """Return the largest second sample of the listed arms; the first if none is."""
    if count == 0:
        return first
    best, largest, number = state.arms[0].listed, -1.0, 0
    if count > 1:
        for rank in range(count):
            i = state.arms[rank].listed
            forward, backward = state.pairs[i, first], state.pairs[first, i]
            won, lost = forward.wins + forward.prior, backward.wins + backward.prior
            offset = offset_above_half(won, lost, rng)
            largest, number, leads = among_largest(rng, offset, largest, number)
            if leads:
                best = i
    return best


# --- Counts, bounds, and the sets that follow from them ------------------------------


@compiled
def refresh_tail(state: DoubleThompsonKernel, first: int, second: int) -> None:
    """Bring up to date what the samples of a pair do."""
    i, j = min(first, second), max(first, second)
    forward, backward = state.pairs[i, j], state.pairs[j, i]
    won, lost = forward.wins + forward.prior, backward.wins + backward.prior
    small = half_tail(won, lost, state.tails)
    scaled = small * 65536.0
    whole = math.floor(scaled)
    state.threshold[i, j] = state.threshold[j, i] = np.uint16(whole)
    forward.remainder = backward.remainder = scaled - whole
    one_rate, other_rate = rates_above_half(won, lost, small)
    forward.win_rate, backward.win_rate = one_rate, other_rate
    forward.flip_rate = backward.flip_rate = min(one_rate, other_rate)
    leads = won >= lost
    if leads == (state.trails[i, j] > 0):
        gain = 1 if leads else -1
        state.trails[i, j], state.trails[j, i] = -gain, gain
        state.arms[i].votes += gain
        state.arms[j].votes -= gain
        state.now[0].stale = True


@compiled
def count_duel(
    state: DoubleThompsonKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Take in the duel of ``round_``: ``update`` of D-TS."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    refresh_tail(state, first, second)
    # A pair with a leader belongs to a leader, any other to either arm.
    arm, rival = state.arms[first], state.arms[second]
    arm.upset_is_known &= rival.is_leader > arm.is_leader
    rival.upset_is_known &= arm.is_leader > rival.is_leader
    if state.now[0].elimination:
        refresh_bounds(state, first, second, round_ + 1)


@compiled
def find_sets(state: DoubleThompsonKernel) -> None:
    """Find the candidates, the leaders, and what may unseat them."""
    now, arms = state.now[0], state.arms
    fewest = arms.size
    for i in range(arms.size):
        fewest = min(fewest, arms[i].sure_losses)
    count, most = 0, -1
    for i in range(arms.size):
        arms[i].is_candidate = arms[i].sure_losses == fewest
        arms[i].is_leader = arms[i].upset_is_known = False
        arms[i].lacking = 0
        if arms[i].is_candidate:
            arms[count].candidate = i
            count += 1
            most = max(most, arms[i].votes)
    leading = 0
    for index in range(count):
        i = arms[index].candidate
        if arms[i].votes == most:
            arms[i].is_leader, arms[i].lacking = True, count > 1
            arms[leading].leader = i
            leading += 1
    for index in range(count):
        i = arms[index].candidate
        if not arms[i].is_leader:
            reached = arms.size - leading - 1
            for rank in range(leading):
                reached += state.trails[i, arms[rank].leader] < 0
            arms[i].lacking = most - arms[i].votes if reached >= most else 0
    now.num_candidates, now.num_leaders, now.stale = count, leading, False


scalar_kernel.implement(
    DoubleThompsonKernel,
    init=init,
    choose=choose,
    update=count_duel,
    recommend=recommend_most_beaten,
    share_idle_rounds=share_idle_rounds,
    count_ahead=count_ahead,
)
