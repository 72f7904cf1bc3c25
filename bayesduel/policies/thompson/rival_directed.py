"""RD-TS, rival-directed Thompson sampling: a policy of this package's own."""

from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.base import RivalPosterior, is_on_a_scale
from bayesduel.models.in_policies.betas import BetaPairs
from bayesduel.models.in_policies.names import check_pair_posterior, take_by_name
from bayesduel.models.in_policies.scalar_betas import (
    expected_divergence,
    half_tail,
    prior_in_order,
    tail_table,
)
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.policies import scalar_kernel
from bayesduel.policies.parameter_values import check_cost, prices_in_order
from bayesduel.policies.policy import DRAWS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import place_by_weight, takes_over
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.policies.thompson._scalar_rivals import (
    EQUAL_COSTS,
    find_costs,
    list_fewest_losses,
    recommend,
    refresh_after,
    refresh_everything,
    rounds_before_event,
)
from theory.arguments import number_above, number_from, number_that, one_of

_SKEPTICAL = BetaPairs(prior=5)

# Parameters of the rule over a Beta distribution per pair
_OF_BETA_PAIRS = ("c", "eta", "floor", "doubts", "flips_only", "pairs")


@register("rd-ts", acronym="RD-TS")
class RivalDirectedThompson(KernelPolicy):
    r"""Rival-directed Thompson sampling (RD-TS). An algorithm of this project.

    RD-TS looks for a Copeland winner by posterior sampling. In most rounds the
    *leader*, the arm with the fewest losses so far, meets itself. In the other rounds
    the policy explores. The probability of exploring is proportional to the posterior
    probability that the leader is wrong. An exploring round compares a pair whose
    outcome could show that another arm, the *rival*, beats more arms than the leader.
    There are no confidence bounds and no linear program, and the policy needs no
    horizon.

    Use it if you want small regret on any matrix and need no proof. With 32 arms or
    more use ``doubts=0.5``. To name a winner with few duels, use ``cost="duels"`` and a
    stopping rule (bayesduel.stopping). If you need a proof, use ``rd-ts-star``.

    Parameters
    ----------
    c : float
        Above 0. Factor of the probability of exploring. If it is small, a wrong leader
        may stay for a long time.
    eta : float
        In [0, 1]. Power of the number of duels in the weight of a pair (step 5). With 1
        the optimal allocation is a fixed point.
    floor : float
        Above 0. Number of wins that is added to the estimated regret of every duel of
        different arms (step 5), so that no duel seems free.
    doubts : float
        Not below 0. Weight of a pair whose majority favors the rival while the draw of
        the posterior says the opposite; see the notes. With 32 arms or more, 0.5 gives
        far less regret. Used only with ``flips_only`` and ``pairs="flipped"``.
    flips_only : bool
        Take majorities in favor of a rival as certain.
    pairs : {"flipped", "gradient"}
        How an exploring round chooses its pair. "flipped": a pair that is reversed in
        the draw, as in the rule. "gradient": the pair that changes the probability of
        an error most per unit of regret.
    cost : {"regret", "duels", "prices"}
        What a duel costs. "regret": its estimated regret. "duels": 1. "prices": its
        price.
    look_ahead : bool
        Skip self-duels without stepping through them.
    posterior : PairPosterior, or its name
        ``BetaPairs(prior=5)`` by default, also as "beta". With five pseudo-wins of each
        arm, few duels are weak evidence. The ``prior`` may be given by name, as in
        ``policies.get("rd-ts", prior=8)``. Or the posterior of a model on one scale:
        "bradley-terry", "thurstone", either of them with "-hmc" appended, or
        ``Laplace(model)`` for a model with ``utility_decides``, such as
        ``BradleyTerry(covariates=True)``.

    Notes
    -----
    **Rule.** Let :math:`w_{ij}` be the wins of arm i over arm j, and
    :math:`n_{ij}=w_{ij}+w_{ji}`. The probability :math:`\theta_{ij}` that i beats j has
    the posterior :math:`\mathrm{Beta}(5+w_{ij},5+w_{ji})`, where 5 is the default of
    ``prior``. The *majority* of a pair favors the arm that won more of its duels. In
    each round:

    1. *Leader.* The leader l is the arm that loses the fewest pairs by majority.
    2. *Probability of an error.* For every other arm i, :math:`\Phi_i` is the posterior
       probability that i beats more arms than l. Majorities that already help i against
       l count as certain: those for i against any arm, and those of any arm against l.
    3. *Explore or not.* With probability :math:`\min(1,c\sum_i\Phi_i)` the round
       explores. Otherwise l meets itself.
    4. *Rival.* An exploring round draws a rival i with a probability proportional to
       :math:`\Phi_i`. For each pair that contains i or l it then draws from the
       posterior which of the two arms is the better one, under the condition that i
       beats more arms than l.
    5. *Pair.* A pair is *flipped* if the better arm of this draw is not the one that
       the majority favors. One of the flipped pairs is played, with a probability
       proportional to :math:`(d_e/r_e)(n_e+1)^\eta`. Here
       :math:`d_e=\mathrm{E}\,\mathrm{KL}(\theta_e,1/2)` is the expected evidence of a
       duel of the pair e, and :math:`r_e` its estimated regret.

    The regret of a duel of i and j is estimated as
    :math:`r_{ij}=(\max_ks_k-(s_i+s_j)/2+f)/(K-1)`. Here f is ``floor``, and
    :math:`s_i=\sum_j\mathrm{P}(\theta_{ij}>1/2)` is the expected number of arms that i
    beats.

    For example, three arms have met a hundred times each. Arm 0 won 60 duels against
    arm 1 and 70 against arm 2, and arm 1 won 60 against arm 2. The leader is arm 0,
    :math:`\Phi_1=0.0275`, and :math:`\Phi_2` is about :math:`3\cdot10^{-6}`. With the
    default c = 5 the round explores with probability 5 * 0.0275 = 0.14, and the rival
    is nearly always arm 1. To beat more arms than arm 0, arm 1 has to beat arm 0, so
    this pair is flipped, and it is the pair that is played.

    Why does this come near the least regret? A pair that could easily prove the leader
    wrong is flipped often. So it is compared often, until it is as unlikely to be
    flipped as the other pairs. In the long run all errors become equally improbable.
    Optimal exploration has this property.

    **Details of the rule.** In step 1 an arm loses a pair if the majority of the duels
    and pseudo-wins of the pair is against it. An even pair counts as half a loss. If
    several arms have the fewest losses, the leader is the one that the program of
    ECW-RMED proves to be a winner at the lowest cost (`ecw_costs`, with the cost
    :math:`r_e/d_e` of a pair), then one at random. The leader is chosen again after
    each duel of different arms. In step 5 even pairs count as flipped. With ``doubts``
    > 0 the majorities that step 2 takes as certain are drawn as well. If one of them is
    reversed in the draw, its pair is added to the flipped pairs, with the weight
    ``doubts`` times :math:`d_e/r_e`. With ``pairs="gradient"`` nothing is drawn in
    steps 4 and 5: the pair that changes :math:`\sum_i\Phi_i` most per regret is played.
    See ``docs/theory/rival_directed.md``, which also has measurements.

    **Assumptions.** Nothing is proved about this rule as it is. If each pair is forced
    to have a minimum number of duels, its regret is logarithmic. The regret of RD-TS*
    (`RivalDirectedStar`) has the constant of the lower bound. For the proofs of both
    see ``docs/theory/rival_directed_star.md``.

    **Costs.** With ``cost="duels"`` every duel of different arms costs the same, no arm
    meets itself, and each round explores. ``floor`` and ``c`` are then not used. If all
    :math:`\Phi_i` are too small for floating point, the rival is drawn at random.
    ``cost="prices"`` uses the price of a duel instead of 1. The prices are those of
    ``PreferenceMatrix(values, prices=...)``, of ``next_pairs(prices=...)`` or of a
    study.

    **One scale of utilities.** If the ``posterior`` is that of a model on one scale,
    the rule is shorter. The leader is the arm with the largest utility at the mode of
    the posterior. Each round draws all utilities. If the leader has the largest one, it
    meets itself. Otherwise the arm with the largest one is the rival. Let the
    alternative be the most probable parameters under which rival and leader are equally
    good. The round plays the pair whose outcome best distinguishes the alternative from
    the mode, per unit of regret. With ``cost="duels"`` the rival is drawn in proportion
    to the posterior density of its alternative. Ties between pairs are broken at
    random, and the order of the two arms is random. Ties between leaders are broken by
    an order drawn once per run. The lower bound that applies is
    `theory.structured_lower_bound`. The parameters ``c``, ``eta``, ``floor``,
    ``doubts``, ``flips_only`` and ``pairs`` apply only to Beta posteriors.

    **Look-ahead.** Nothing changes between two duels of different arms. So the number
    of self-duels before the next one has a geometric distribution, from which it is
    drawn in one step. All duels have the same distribution as round by round. With a
    model on one scale, 16 rounds are drawn at a time, and those up to the first round
    that explores are used. If two Copeland winners beat each other with probability
    1/2, more than half of the rounds explore.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem", ICML 2016
    (the lower bound and the efficient program). C. Qin, W. You, "Dual-Directed
    Algorithm Design for Efficient Pure Exploration", arXiv 2310.19319
    (information-directed selection in top-two sampling).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rd-ts", prior=8, c=3.0).label
    'RD-TS:c=3.0,prior=8'
    >>> policies.parse_policy("rd-ts:posterior=bradley-terry").label
    'RD-TS:posterior=bradley-terry'
    """

    c: float = checked(5.0, number_above, 0)
    eta: float = checked(0.5, number_from, 0)
    floor: float = checked(
        0.1,
        number_that,
        rule="a finite number above 0 (else a duel may seem free)",
        holds=lambda floor: floor > 0,
    )
    doubts: float = checked(0.02, number_from, 0)
    flips_only: bool = True
    pairs: str = checked("flipped", one_of, ("flipped", "gradient"))
    cost: str = "regret"
    look_ahead: bool = True
    posterior: Any = _SKEPTICAL

    title: ClassVar[str] = "Rival-directed Thompson sampling (ours, unproved)"
    in_batches: ClassVar[str] = DRAWS

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        if isinstance(self.posterior, str) and self.posterior == "beta":
            object.__setattr__(self, "posterior", _SKEPTICAL)
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_cost(self.cost, ("regret", "duels"), num_arms)
        posterior = check_pair_posterior(self.posterior, num_arms)
        if not isinstance(posterior, BetaPairs):
            self._check_over_model(posterior)

    def _check_over_model(self, posterior: Any) -> None:
        """Raise for what a rule over a model cannot do, or has no use for."""
        if not is_on_a_scale(posterior) or not isinstance(posterior, RivalPosterior):
            raise PolicyParameterError(
                "posterior",
                "must be on one scale, whose larger utility wins: the world of a "
                "rival is the one in which its utility is the leader's",
                posterior.name,
                remedy="a model of one's own defines utilities and says "
                "utility_decides = True",
            )
        if not isinstance(self.cost, str):
            rule = f"must not be 'prices' with posterior={posterior.name!r}"
            remedy = "leave out the posterior: prices need Beta distributions"
            raise PolicyParameterError("cost", rule, "prices", remedy=remedy)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _OF_BETA_PAIRS and value != field.default:
                raise PolicyParameterError(
                    field.name,
                    f"must stay {field.default!r} with posterior={posterior.name!r}: "
                    "it is for Beta distributions",
                    value,
                )

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta distribution per pair."""
        if not isinstance(self.posterior, BetaPairs):
            return None
        prior = np.asarray(self.posterior.prior)

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> RivalDirectedKernel:
            num_arms = len(order)
            padded = 1 << (num_arms - 1).bit_length()
            state = RivalDirectedKernel(
                *tables(num_arms, _NOW, _ARM, _PAIR),
                own_wins=np.zeros((num_arms, num_arms + 1)),
                defeats=np.zeros((padded, num_arms + 1)),
                spare=np.zeros((padded, num_arms + 1)),
                tails=np.zeros((2 * num_arms, num_arms + 1)),
                flipped=np.zeros(2 * num_arms, dtype=_FLIPPED),
                table=tail_table(),
            )
            for name in ("c", "eta", "floor", "doubts", "flips_only"):
                state.now[name] = getattr(self, name)
            by_regret = isinstance(self.cost, str) and self.cost == "regret"
            state.now["leader"], state.now["costs_regret"] = -1, by_regret
            state.now["by_gradient"] = self.pairs == "gradient"
            state.now["steps"] = not self.look_ahead
            state.pairs["prior"] = prior_in_order(prior, order)
            state.pairs["fee"] = prices_in_order(self.cost, order)
            # Every pair is even until it is refreshed.
            state.arms["losses"] = num_arms - 1
            return state

        return ScalarKernel("rival_directed", initial_state)

    def over_model(self) -> Any:
        """Return the rule over the draws of any other posterior."""
        if isinstance(self.posterior, BetaPairs):
            return None
        # JAX takes a second to import.
        from bayesduel.policies.over_models.double_thompson import ROUNDS_AT_ONCE
        from bayesduel.policies.over_models.rival_directed import SampledRivals

        together = self.look_ahead and self.posterior.independent_draws
        return SampledRivals(
            self.posterior,
            costs_regret=self.cost == "regret",
            at_once=ROUNDS_AT_ONCE if together else 1,
        )


# --- The state of a run, and its rounds ----------------------------------------------


# Single numbers
_NOW = np.dtype(
    [
        ("c", np.float64),
        ("eta", np.float64),
        ("floor", np.float64),
        ("doubts", np.float64),
        ("flips_only", np.int64),
        ("costs_regret", np.int64),
        ("by_gradient", np.int64),  # The steepest pair is played, not a flipped one.
        ("steps", np.int64),  # Self-duels are rounds like all others.
        ("leader", np.int64),
        ("best_score", np.float64),
        ("total", np.float64),  # Sum of the probabilities of all rivals.
    ]
)
_ARM = np.dtype(
    [
        ("score", np.float64),  # s_i: sum of the probabilities to beat the others.
        ("losses", np.int64),  # Twice the losses by majority, even pairs one.
        ("weight", np.float64),  # Phi_i, by which a rival is drawn; 0 of the leader.
        # Not of the arm, but lists.
        ("listed", np.int64),
        ("cost", np.float64),
    ]
)

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("prior", np.float64),  # [i, j]: pseudo-wins of i over j.
        ("lead", np.int64),  # [i, j]: sign of what i is ahead.
        ("probability", np.float64),  # [i, j]: P(theta_ij > 1/2).
        ("favorable", np.float64),  # [i, j]: i beats j in a world that favors i,
        ("unfavorable", np.float64),  # and does not.
        ("divergence", np.float64),
        ("fee", np.float64),  # Price of a duel, unless it is its regret.
        ("price", np.float64),  # Cost over divergence, while a leader is chosen.
        ("worth", np.float64),  # Divergence times (duels + 1)^eta.
        ("steepness", np.float64),  # [i, j], i < j: slopes of all Phi, for a round.
    ]
)

_FLIPPED = np.dtype([("first", np.int64), ("second", np.int64), ("weight", np.float64)])


class RivalDirectedKernel(NamedTuple):
    """The state of one run; N = K + 1 entries are what may be needed, 0 to K."""

    now: Records
    arms: Records
    pairs: Records
    # [i, r]: P(i beats at least r arms, itself and the leader apart).
    own_wins: Float[np.ndarray, "K N"]
    # [i, s]: P(the leader loses to s arms other than i); P a power of two.
    defeats: Float[np.ndarray, "P N"]
    spare: Float[np.ndarray, "P N"]
    # [row, r]: P(the rows from this one on supply r), of the drawn rival.
    tails: Float[np.ndarray, "E N"]
    flipped: Records
    table: Float[np.ndarray, "B D"]


@compiled
def init(state: RivalDirectedKernel, rng: Generator) -> None:
    """Fill in what the prior says, and draw a leader."""
    for first in range(state.arms.size):
        for second in range(first + 1, state.arms.size):
            refresh_pair(state, first, second)
    state.now[0].leader = draw_leader(state, rng)
    refresh_everything(state)


@compiled
def choose(state: RivalDirectedKernel, rng: Generator, round_: int) -> Duel:
    """Return the self-duels of the leader, and the pair that is compared next."""
    now = state.now[0]
    probability = now.c * now.total if now.costs_regret else 1.0
    idle, explores = rounds_before_event(rng, probability, now.steps, round_)
    if not explores:
        return Duel(now.leader, idle, now.leader, now.leader, now.steps != 0)
    if now.total == 0.0:
        num_arms = state.arms.size
        rival = (now.leader + 1 + choose_index(rng, num_arms - 1)) % num_arms
        return Duel(now.leader, idle, rival, now.leader, True)
    if now.by_gradient:
        first, second = steepest_pair(state, rng)
    else:
        rival = place_by_weight(state.arms, state.arms.size, rng)
        first, second = flipped_pair(state, rng, rival)
    return Duel(now.leader, idle, first, second, True)


@compiled
def update(
    state: RivalDirectedKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count an outcome; refresh what depends on the pair."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    refresh_pair(state, first, second)
    refresh_after(state, draw_leader(state, rng), first, second)


@compiled
def count_ahead(
    state: RivalDirectedKernel, first: int, second: int, won: bool, votes: int
) -> int:
    """Count votes that were not asked for: all else follows from the counts."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += votes
    return votes


scalar_kernel.implement(
    RivalDirectedKernel,
    init=init,
    choose=choose,
    update=update,
    count_ahead=count_ahead,
    recommend=recommend,
)


# --- Whom the rule of RD-TS takes for its leader, and which pair it plays -------------


@compiled
def flipped_pair(
    state: RivalDirectedKernel, rng: Generator, rival: int
) -> tuple[int, int]:
    """Draw a world in which a rival dethrones the leader, and a flipped pair of it."""
    now, num_arms = state.now[0], state.arms.size
    rows = _find_tails(state, rival)
    needed, count = num_arms, 0
    for row in range(rows):
        first, second = _pair_of_row(state, rival, row)
        pair = state.pairs[first, second]
        less = max(needed - (2 if row == 0 else 1), 0)
        yes = pair.favorable * state.tails[row + 1, less]
        no = pair.unfavorable * state.tails[row + 1, needed]
        favorable = rng.random() * (yes + no) < yes
        needed = less if favorable else needed
        worth = pair.worth
        flips = pair.lead <= 0 if favorable else pair.lead >= 0
        if now.doubts > 0.0 and pair.unfavorable == 0.0:
            flips = rng.random() < state.pairs[second, first].probability
            worth = now.doubts * pair.divergence
        if flips:
            state.flipped[count].first = first
            state.flipped[count].second = second
            state.flipped[count].weight = worth / regret(state, first, second)
            count += 1
    # Without a flip, which only rounding can bring, the leader meets the rival.
    if count == 0:
        return rival, now.leader
    chosen = state.flipped[place_by_weight(state.flipped, count, rng)]
    return chosen.first, chosen.second


@compiled
def steepest_pair(state: RivalDirectedKernel, rng: Generator) -> tuple[int, int]:
    """Return the pair that moves the sum of all Phi_i the most, per cost."""
    num_arms = state.arms.size
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            state.pairs[i, j].steepness = 0.0
    for rival in range(num_arms):
        if rival != state.now[0].leader:
            _add_slopes(state, rival)
    steepest = 0.0
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            steepest = max(steepest, _gain(state, i, j))
    first, second, number = 0, 1, 0
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            if _gain(state, i, j) >= steepest * (1.0 - EQUAL_COSTS):
                number += 1
                if takes_over(rng, number):
                    first, second = i, j
    return first, second


@compiled
def _gain(state: RivalDirectedKernel, first: int, second: int) -> float:
    pair = state.pairs[first, second]
    moved = pair.divergence * pair.probability * state.pairs[second, first].probability
    return moved * pair.steepness / regret(state, first, second)


@compiled
def _add_slopes(state: RivalDirectedKernel, rival: int) -> None:
    """Add the derivatives of Phi of a rival by the probabilities of its rows."""
    # Each is P(enough if the row speaks for the rival) - P(enough if it does not).
    num_arms, rows = state.arms.size, _find_tails(state, rival)
    # P(so many are still needed), before a row: ``spare`` is free now.
    needed = state.spare[0]
    for count in range(num_arms + 1):
        needed[count] = 0.0
    needed[num_arms] = 1.0
    for row in range(rows):
        first, second = _pair_of_row(state, rival, row)
        pair, supply = state.pairs[first, second], 2 if row == 0 else 1
        yes, no, slope = pair.favorable, pair.unfavorable, 0.0
        for count in range(num_arms + 1):
            probability, less = needed[count], max(count - supply, 0)
            slope += probability * (
                state.tails[row + 1, less] - state.tails[row + 1, count]
            )
            needed[count] = 0.0
            needed[less] += yes * probability
            needed[count] += no * probability
        if yes > 0.0 and no > 0.0:
            state.pairs[min(first, second), max(first, second)].steepness += slope


@compiled
def _pair_of_row(state: RivalDirectedKernel, rival: int, row: int) -> tuple[int, int]:
    """Return (i, j) such that "i beats j" speaks for the rival."""
    # Row 0: rival and leader; then rival and others; then others and leader.
    leader, others = state.now[0].leader, state.arms.size - 2
    if row == 0:
        return rival, leader
    opponent = row - 1 if row <= others else row - 1 - others
    # Leave out both, the lower one first.
    if opponent >= min(rival, leader):
        opponent += 1
    if opponent >= max(rival, leader):
        opponent += 1
    return (rival, opponent) if row <= others else (opponent, leader)


@compiled
def _find_tails(state: RivalDirectedKernel, rival: int) -> int:
    """Fill ``tails`` for a rival from its last row to the second; return the number."""
    num_arms = state.arms.size
    rows = 2 * num_arms - 3
    for needed in range(1, num_arms + 1):
        state.tails[rows, needed] = 0.0
    state.tails[rows, 0] = 1.0
    for row in range(rows - 1, 0, -1):
        first, second = _pair_of_row(state, rival, row)
        pair = state.pairs[first, second]
        yes, no = pair.favorable, pair.unfavorable
        state.tails[row, 0] = 1.0
        for needed in range(1, num_arms + 1):
            supplied = yes * state.tails[row + 1, needed - 1]
            state.tails[row, needed] = supplied + no * state.tails[row + 1, needed]
    return rows


@compiled
def draw_leader(state: RivalDirectedKernel, rng: Generator) -> int:
    """Draw one of the arms with the fewest losses that are cheapest to prove."""
    arms, count = state.arms, list_fewest_losses(state)
    if count == 1:
        return arms[0].listed
    _find_prices(state)
    least, num_best = find_costs(state, count), 0
    for index in range(count):
        if arms[index].cost <= least * (1.0 + EQUAL_COSTS):
            arms[num_best].listed = arms[index].listed
            num_best += 1
    return arms[choose_index(rng, num_best)].listed


@compiled
def _find_prices(state: RivalDirectedKernel) -> None:
    for first in range(state.arms.size):
        for second in range(state.arms.size):
            pair = state.pairs[first, second]
            if first != second:
                pair.price = regret(state, first, second) / pair.divergence


# --- What the counts of a pair say ---------------------------------------------------


@compiled
def refresh_pair(state: RivalDirectedKernel, first: int, second: int) -> None:
    """Bring up to date what the counts of a pair say."""
    now, forward, backward = (
        state.now[0],
        state.pairs[first, second],
        state.pairs[second, first],
    )
    won, lost = forward.wins + forward.prior, backward.wins + backward.prior
    small = half_tail(won, lost, state.table)
    forward.probability = small if won < lost else 1.0 - small
    backward.probability = 1.0 - small if won < lost else small
    lead = (won > lost) - (won < lost)
    state.arms[first].losses += forward.lead - lead
    state.arms[second].losses += lead - forward.lead
    forward.lead, backward.lead = lead, -lead
    forward.favorable, forward.unfavorable = forward.probability, backward.probability
    backward.favorable, backward.unfavorable = backward.probability, forward.probability
    if now.flips_only and lead > 0:
        forward.favorable, forward.unfavorable = 1.0, 0.0
    if now.flips_only and lead < 0:
        backward.favorable, backward.unfavorable = 1.0, 0.0
    divergence = expected_divergence(won, lost)
    forward.divergence = backward.divergence = divergence
    duels = forward.wins + backward.wins
    forward.worth = backward.worth = divergence * (duels + 1.0) ** now.eta
    _score(state, first)
    _score(state, second)
    now.best_score = 0.0
    for arm in range(state.arms.size):
        now.best_score = max(now.best_score, state.arms[arm].score)


@compiled
def _score(state: RivalDirectedKernel, arm: int) -> None:
    total = 0.0
    for opponent in range(state.arms.size):
        total += state.pairs[arm, opponent].probability
    state.arms[arm].score = total


@compiled
def regret(state: RivalDirectedKernel, first: int, second: int) -> float:
    """Return K - 1 times r_ij, or the price: only ratios matter."""
    if not state.now[0].costs_regret:
        return state.pairs[first, second].fee
    mean = 0.5 * (state.arms[first].score + state.arms[second].score)
    return state.now[0].best_score - mean + state.now[0].floor
