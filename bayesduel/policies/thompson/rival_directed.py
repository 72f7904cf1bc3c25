"""RD-TS, rival-directed Thompson sampling: a policy of this package's own."""

import math
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.base import RivalPosterior, is_on_a_scale
from bayesduel.models.in_policies.betas import BetaPairs
from bayesduel.models.in_policies.names import check_pair_posterior, take_by_name
from bayesduel.models.in_policies.scalar_betas import prior_in_order
from bayesduel.ops.scalar.compiled import inlined
from bayesduel.ops.scalar.draws import choose_index, waiting_time
from bayesduel.ops.scalar.resolved_rounds import NEVER
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import place_by_weight
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.policies.thompson._scalar_rival_pairs import (
    draw_leader,
    flipped_pair,
    steepest_pair,
)
from bayesduel.policies.thompson._scalar_rival_state import (
    RivalDirectedKernel,
    new_state,
    refresh_defeats,
    refresh_everything,
    refresh_pair,
    refresh_rivals,
)
from theory.arguments import number_above, number_from, number_that, one_of

_SKEPTICAL = BetaPairs(prior=5)

_OF_BETA_PAIRS = ("c", "eta", "floor", "doubts", "flips_only", "pairs")
"""Parameters of the rule over a Beta distribution per pair."""


@register("rd-ts", acronym="RD-TS")
class RivalDirectedThompson(KernelPolicy):
    """Rival-directed Thompson sampling (RD-TS). Ours; nothing is proved of it.

    The posterior decides when to explore, and a rival's world decides where. Let w be
    the leader, and Phi_i the posterior probability that arm i has more wins (a larger
    Copeland score) than w. A round explores with probability min(1, c sum_i Phi_i);
    else w meets itself. A round that explores draws a rival i in proportion to Phi_i,
    and the signs of its pairs and of the leader's *given* that the rival dethrones the
    leader, and plays one of the pairs whose sign is flipped against the majority of
    its duels. The cheapest ways to be wrong are the likeliest worlds, so play equalizes
    them, as the constraints of the optimal exploration program demand. No confidence
    bound, no round number, no horizon, no program is solved.

    ``docs/theory/rival_directed.md`` has the rule in full, and what was measured. The
    leader has the fewest losses by majority of the pseudo-counts, even pairs counting
    half; among several the one that the efficient program proves most cheaply at the
    estimated regret of a duel over E KL(theta, 1/2) in nats (`ecw_costs`); remaining
    ties at random, anew after each duel of different arms. Even pairs count as flipped.
    With ``pairs="gradient"`` no world is drawn: the pair that moves the sum of all
    Phi_i the most per regret is played, ties at random.

    With ``cost="duels"`` every duel of different arms costs the same, and no arm meets
    itself: to *name* a winner with few duels, see :mod:`bayesduel.stopping`. Then
    the ``floor`` and ``c`` play no part, and each round explores; where every Phi_i is
    too small for a number, the leader meets any rival.

    With another ``posterior``, on one scale of utilities, the rule is simpler. The
    leader has the largest utility at the mode. A round draws utilities: if the leader
    is on top it meets itself, else the arm on top is the rival, and its world is the
    likeliest one in which both have the same utility. The pair of arms that tells that
    world from the mode best per regret is compared; with ``cost="duels"`` a rival is
    drawn in proportion to the posterior density of its world, without idle rounds.
    Equal pairs, and who of both is first, at random; equal leaders by an order that is
    drawn for the run. The lower bound that applies is that of the model,
    `theory.structured_lower_bound`, and not the one of matrices. As with D-TS, 16
    rounds are drawn at once, up to the first that explores. The parameters ``c`` to
    ``pairs`` are for Beta distributions alone.

    Nothing changes between two duels of different arms, so the self-duels before the
    next one are geometric, and ``look_ahead`` draws their number at once. The
    distribution of all duels is that of the step form. With two equal Copeland winners
    Phi never vanishes, and every round is an event.

    Parameters
    ----------
    c : float
        Above 0. Exploration per unit of the probability to be wrong. Small ones keep a
        wrong leader for long.
    eta : float
        In [0, 1]. Weight of past duels. With 1 the optimal allocation is a fixed point.
    floor : float
        Above 0. Regret, in wins, that every duel of different arms is taken to cost.
    doubts : float
        Not below 0. Weight of pairs whose majority was taken as certain, in a round
        whose draw of the posterior reverses it. Of many arms (K = 32 and more) 0.5
        gives far less regret. Matters with ``flips_only`` and ``pairs="flipped"``
        alone.
    flips_only : bool
        Take majorities in favor of a rival as certain.
    pairs : {"flipped", "gradient"}
        Which pair of the rival's world is played.
    cost : {"regret", "duels"}
        What a duel costs: its estimated regret, or 1 each.
    look_ahead : bool
        Jump over self-duels.
    posterior : PairPosterior, or its name
        ``BetaPairs(prior=5)`` by default, also as "beta": skeptical, so that few duels
        prove little. Its ``prior`` may be given in its place by name, as in
        ``policies.get("rd-ts", prior=8)``. Or one on a scale: "bradley-terry",
        "thurstone", the same with "-hmc", or ``Laplace(model)``, where the model says
        ``utility_decides``, as with ``BradleyTerry(covariates=True)``.

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

    c: float = 5.0
    eta: float = 0.5
    floor: float = 0.1
    doubts: float = 0.02
    flips_only: bool = True
    pairs: str = "flipped"
    cost: str = "regret"
    look_ahead: bool = True
    posterior: Any = _SKEPTICAL

    title: ClassVar[str] = "Rival-directed Thompson sampling (ours, unproved)"

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        if isinstance(self.posterior, str) and self.posterior == "beta":
            object.__setattr__(self, "posterior", _SKEPTICAL)
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.c, 0, "c", kind=PolicyParameterError)
        number_from(self.eta, 0, "eta", kind=PolicyParameterError)
        number_that(
            self.floor,
            "floor",
            "a finite number above 0 (else a duel may seem free)",
            lambda floor: floor > 0,
            kind=PolicyParameterError,
        )
        number_from(self.doubts, 0, "doubts", kind=PolicyParameterError)
        one_of(self.pairs, ("flipped", "gradient"), "pairs", kind=PolicyParameterError)
        one_of(self.cost, ("regret", "duels"), "cost", kind=PolicyParameterError)
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
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in _OF_BETA_PAIRS and value != each.default:
                raise PolicyParameterError(
                    each.name,
                    f"must stay {each.default!r} with posterior={posterior.name!r}: "
                    "it is for Beta distributions",
                    value,
                )

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta distribution per pair."""
        if not isinstance(self.posterior, BetaPairs):
            return None
        prior = np.asarray(self.posterior.prior)
        options: dict[str, Any] = {
            "c": float(self.c),
            "eta": float(self.eta),
            "floor": float(self.floor),
            "costs_regret": self.cost == "regret",
            "doubts": float(self.doubts),
            "flips_only": self.flips_only,
            "by_gradient": self.pairs == "gradient",
            "steps": not self.look_ahead,
        }

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> RivalDirectedKernel:
            return new_state(prior_in_order(prior, order), **options)

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


@inlined
def init(state: RivalDirectedKernel, rng: Generator) -> None:
    """Fill in what the prior says, and draw a leader."""
    for one in range(state.arms.size):
        for other in range(one + 1, state.arms.size):
            refresh_pair(state, one, other)
    state.now[0].leader = draw_leader(state, rng)
    refresh_everything(state)


@inlined
def choose(state: RivalDirectedKernel, rng: Generator, round_: int) -> Duel:
    """Return the self-duels of the leader, and the pair that is compared next."""
    now = state.now[0]
    probability = now.c * now.total
    if probability < 1.0 and now.costs_regret and now.steps:
        if rng.random() >= probability:
            return Duel(now.leader, 0, now.leader, now.leader, True)
        idle = 0
    elif probability < 1.0 and now.costs_regret:
        rounds = NEVER + 1 - round_
        idle, happens = waiting_time(rng, -math.log1p(-probability), rounds)
        if not happens:
            return Duel(now.leader, idle, now.leader, now.leader, False)
    else:
        idle = 0
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


@inlined
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
    leader = draw_leader(state, rng)
    if leader != state.now[0].leader:
        state.now[0].leader = leader
        refresh_everything(state)
    elif leader in (first, second):
        refresh_defeats(state)
    else:
        refresh_rivals(state, first, second)


@inlined
def recommend(state: RivalDirectedKernel, rng: Generator) -> int:
    """Return the leader."""
    return state.now[0].leader


scalar_kernel.implement(
    RivalDirectedKernel, init=init, choose=choose, update=update, recommend=recommend
)
