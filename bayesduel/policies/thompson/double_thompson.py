"""Double Thompson Sampling: D-TS, D-TS+ and pure D-TS (Wu and Liu 2016)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.masks import mark_largest, upper_triangle
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_choice,
    most_beaten,
    one_round,
    policy_class,
)
from bayesduel.policies.confidence_bounds import uncompared, with_counts
from bayesduel.policies.registry import register
from bayesduel.policies.thompson._contests import draw_all, draw_two
from bayesduel.policies.thompson._events import (
    MANY_ARMS,
    draw_event_uniforms,
    next_event,
)
from bayesduel.policies.thompson._idle_rounds import RoundSets, round_sets
from bayesduel.policies.thompson._least_regret import (
    least_estimated_regret,
    sampled_winners,
)
from bayesduel.policies.thompson._sampled_rounds import (
    ROUNDS_AT_ONCE,
    SampledRounds,
    SampledState,
)
from bayesduel.posteriors.base import PairPosterior, is_on_a_scale
from bayesduel.posteriors.beta_pairs import (
    BetaPairs,
    PairBeliefs,
    arms_ahead,
    counts_after,
    has_whole_prior,
    pseudo_wins_against,
)
from bayesduel.posteriors.laplace import Laplace
from bayesduel.posteriors.names import check_pair_posterior, take_by_name
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory import double_thompson_bound, double_thompson_refined_bound


class DoubleThompsonState(NamedTuple):
    """Counts, and a second-arm contest that is still to be decided."""

    beliefs: PairBeliefs
    """What the duels so far say, and the prior."""

    resolution: Float[Array, "K K"]
    """Log of the last round at which the bounds of {i, j} exclude 1/2."""

    champion: Arm
    """First arm of the undecided contest."""

    contest: Float[Array, " K"]
    """-1: not in it; 0: still to be drawn; positive: drawn offset above 1/2."""


@register("bt-ts", acronym="BT-TS", elimination=False, posterior=Laplace())
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
@policy_class
class DoubleThompson(Policy):
    """Double Thompson Sampling (D-TS, D-TS+).

    Both arms of a duel are drawn from Beta posteriors of the pairs: the first wins the
    vote of one sample among the arms that the confidence bounds leave as possible
    Copeland winners; the second is the arm that does best against the first in another,
    independent sample, unless the bounds rule it out. Prior Beta(1, 1) per unordered
    pair unless another one is given; the bounds count duels alone. ``log`` is natural;
    t counts from 1.

    With ``look_ahead`` the rounds in which the first arm would meet itself are not
    stepped through: their number is geometric and drawn at once. The law of all counts
    of different arms, of the state at every round, and the mean of every regret are
    exactly those of the step form. One champion is drawn per idle stretch, so with
    several Copeland winners how self-duels split among them is coarser than round by
    round (for Copeland regret that is immaterial: they all cost nothing).

    With another ``posterior`` both samples are preference matrices drawn from that,
    with the same rule and the same bounds, which assume nothing. Where its draws are
    independent and ``look_ahead`` is on, 16 rounds are drawn at once, up to the first
    in which different arms meet; the probability of an idle round has no closed form.

    BT-TS is pure D-TS over Bradley-Terry, by :class:`~bayesduel.posteriors.Laplace` or
    :class:`~bayesduel.posteriors.HMC`, its slow truth. One scale shares what is learnt
    between all pairs, K unknowns where Beta laws have K (K - 1) / 2: the best arms of
    two samples of utilities meet. The price is the assumption: with cyclic
    preferences it may settle on an arm that is no Copeland winner, and the bounds do
    not save it, since an arm that only meets itself is never ruled out;
    ``diagnostics.transitivity`` looks for cycles in votes. The theorems on D-TS say
    nothing of other posteriors than Beta laws, and none is known to us.

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
    >>> policies.parse("d-ts:prior=2").posterior
    BetaPairs(prior=2)
    >>> policies.parse("d-ts:posterior=thurstone,prior_scale=1").label
    'D-TS:posterior=thurstone,prior_scale=1.0'
    >>> policies.get("pure-d-ts", posterior="bradley-terry").label
    'BT-TS'
    """

    alpha: float = 0.51
    tie_break: str = field(default="random", metadata={"static": True})
    elimination: bool = field(default=True, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})
    posterior: PairPosterior | str = BetaPairs()

    title: ClassVar[str] = "Double Thompson Sampling"

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.5)
        check_choice("tie_break", self.tie_break, ("random", "regret"))
        posterior = check_pair_posterior(self.posterior, num_arms)
        if self.tie_break != "random" and is_on_a_scale(posterior):
            raise PolicyParameterError(
                f"tie_break must be random with posterior={posterior.name!r}, "
                f"where samples never tie, got {self.tie_break!r}"
            )

    @property
    def _sampled(self) -> SampledRounds | None:
        """How to play where nothing but draws is known; None for Beta laws."""
        posterior: Any = self.posterior
        if isinstance(posterior, BetaPairs):
            return None
        together = self.look_ahead and posterior.independent_draws
        return SampledRounds(
            posterior,
            elimination=self.elimination,
            by_regret=self.tie_break == "regret",
            at_once=ROUNDS_AT_ONCE if together else 1,
        )

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> DoubleThompsonState | SampledState:
        """Return the state before the first round."""
        if sampled := self._sampled:
            return sampled.init(rng_key, num_arms)
        return DoubleThompsonState(
            beliefs=self._pairs.init(rng_key, num_arms),
            resolution=uncompared(num_arms),
            champion=jnp.int32(0),
            contest=jnp.full(num_arms, -1.0, dtype=jnp.float64),
        )

    def choose(
        self, rng_key: RunKey, state: Any, round_: RoundCount
    ) -> tuple[Duel, Any]:
        """Choose the next informative duel and the idle rounds before it."""
        if sampled := self._sampled:
            return sampled.choose(rng_key, state, round_), state
        sets = round_sets(
            arms_ahead(state.beliefs),
            state.resolution,
            round_,
            elimination=self.elimination,
        )
        if self.look_ahead:
            return self._jump(rng_key, state, sets, round_)
        return self._step(rng_key, state.beliefs, sets), state

    def update(
        self,
        rng_key: RunKey,
        state: Any,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> Any:
        """Count the outcome."""
        if sampled := self._sampled:
            return sampled.update(rng_key, state, duel, outcome, self.alpha)
        beliefs = self._pairs.update(
            rng_key, state.beliefs, duel.first, duel.second, outcome
        )
        counts = counts_after(state.beliefs, duel.first, duel.second, outcome)
        resolution = with_counts(state.resolution, *counts, duel, self.alpha)
        return state._replace(beliefs=beliefs, resolution=resolution)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta law per pair."""
        posterior: Any = self.posterior
        if not isinstance(posterior, BetaPairs):
            return None
        # Numba takes half a second to import.
        from bayesduel.policies.thompson._scalar_double_thompson import kernel
        from bayesduel.policies.thompson._scalar_state import EITHER, STEP

        return kernel(
            np.asarray(posterior.prior),
            alpha=float(self.alpha),
            elimination=self.elimination,
            ties_by_regret=self.tie_break == "regret",
            form=EITHER if self.look_ahead else STEP,
        )

    @property
    def _pairs(self) -> BetaPairs:
        """The posterior of the pairs."""
        return self.posterior  # pyright: ignore[reportReturnType]

    def recommend(self, rng_key: RunKey, state: Any) -> Arm:
        """Return the arm that empirically beats the most others.

        With another posterior than Beta laws, by its mean; on one scale, the arm with
        the largest utility at the mode.
        """
        if sampled := self._sampled:
            return sampled.recommend(rng_key, state)
        return most_beaten(rng_key, state.beliefs.wins)

    def _step(self, rng_key: RunKey, beliefs: PairBeliefs, sets: RoundSets) -> Duel:
        """One round of Algorithm 1 as printed, with its Beta draws."""
        num_arms = beliefs.wins.shape[0]
        key_first, key_second, key_tie, *more_keys = jax.random.split(
            rng_key, 3 if has_whole_prior(beliefs) else 4
        )
        theta = self._pairs.sample(key_first, beliefs, 1)[0]
        signs = theta > 0.5
        tie = jax.random.uniform(key_tie, dtype=jnp.float64)
        if self.tie_break == "regret":
            first = least_estimated_regret(
                tie, sets.candidates, signs, upper_triangle(jnp.abs(theta - 0.5))
            )
        else:
            first = choose_among(tie, sampled_winners(sets.candidates, signs))
        won, lost = pseudo_wins_against(beliefs, first)
        eta = jax.random.beta(
            key_second, won.astype(jnp.float64), lost.astype(jnp.float64)
        )
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        eta = jnp.where(sets.eligible[:, first], eta, -1.0)
        eta = jnp.where(arms == first, 0.5, eta)
        if more_keys:  # Under a prior below 1 several samples may be rounded to 1.
            tie = jax.random.uniform(more_keys.pop(), dtype=jnp.float64)
            return one_round(first, choose_among(tie, mark_largest(eta)))
        return one_round(first, jnp.argmax(eta).astype(jnp.int32))

    def _jump(
        self,
        rng_key: RunKey,
        state: DoubleThompsonState,
        sets: RoundSets,
        round_: RoundCount,
    ) -> tuple[Duel, DoubleThompsonState]:
        """Draw the idle rounds and the round after them, or go on with a contest."""
        beliefs = state.beliefs
        by_regret = self.tie_break == "regret"
        many = beliefs.wins.shape[0] > MANY_ARMS
        # Under a prior below 1 several samples may be rounded to 1.
        may_tie = not has_whole_prior(beliefs)
        key_draws, key_magnitudes, *more_keys = jax.random.split(
            rng_key, 2 + many + may_tie
        )
        draws = draw_event_uniforms(
            key_draws, beliefs.wins.shape[0], ties_by_regret=by_regret
        )
        event = next_event(
            key_magnitudes, draws, beliefs, sets, round_, ties_by_regret=by_regret
        )
        undecided = jnp.any(state.contest >= 0.0)
        first = jnp.where(undecided, state.champion, event.first)
        happens = undecided | event.happens

        # Several arms above 1/2: the largest second sample decides. Its conditional
        # draws are rejection samplers; one that fails is tried again at the next event
        # rather than in a loop in which all lanes would wait for the slowest one.
        num_successes = jnp.sum(event.successes, dtype=jnp.int32)
        entered = event.successes & event.happens & (num_successes > 1)
        contest = jnp.where(undecided, state.contest, jnp.where(entered, 0.0, -1.0))
        if many:
            contest = draw_all(more_keys.pop(), contest, beliefs, first)
        else:
            contest = draw_two(contest, draws.contest, beliefs, first)
        pending = jnp.any(contest == 0.0)
        arms = jnp.arange(contest.shape[0], dtype=jnp.int32)
        single = jnp.sum(jnp.where(event.successes, arms, 0), dtype=jnp.int32)
        second = jnp.where(num_successes == 0, first, single)
        if may_tie:
            tie = jax.random.uniform(more_keys.pop(), dtype=jnp.float64)
            largest = choose_among(tie, mark_largest(contest))
        else:
            largest = jnp.argmax(contest).astype(jnp.int32)
        second = jnp.where(jnp.any(contest > 0.0), largest, second)
        duel = Duel(
            champion=event.champion,
            exploit_rounds=jnp.where(undecided, 0, event.idle_rounds),
            first=first,
            second=second,
            explore_rounds=jnp.where(happens & ~pending, 1, 0).astype(jnp.int64),
        )
        contest = jnp.where(pending, contest, -1.0)
        return duel, state._replace(champion=first, contest=contest)
