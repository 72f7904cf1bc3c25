"""Relative Confidence Sampling (Zoghi, Whiteson, de Rijke and Munos 2014)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.masks import first_marked, mark_largest
from bayesduel.ops.sampling import choose_among, choose_weighted, waiting_time
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_beta_pairs,
    check_choice,
    most_beaten,
    one_round,
    policy_class,
)
from bayesduel.policies.confidence_bounds import (
    rounds_as_sure_winner,
    sure_winner,
    surely_beaten,
    uncompared,
    upper_bounds_around_half,
    with_counts,
)
from bayesduel.policies.registry import register
from bayesduel.posteriors.beta_pairs import BetaPairs, PairBeliefs, counts_after
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class RelativeConfidenceSamplingState(NamedTuple):
    """Counts of the pairs and of the champions."""

    beliefs: PairBeliefs
    resolution: Float[Array, "K K"]
    """Log of the last round at which the bounds of {i, j} exclude 1/2."""

    reigns: Int[Array, " K"]
    """Rounds in which each arm was the champion, counted when it is chosen."""


@register("rcs", acronym="RCS")
@policy_class
class RelativeConfidenceSampling(Policy):
    """Relative Confidence Sampling (RCS).

    The champion is the arm that beats all others in one sample of the posterior, by
    default with prior Beta(1, 1) per unordered pair; where there is none, the arm that
    was champion least often. The challenger is the arm with the largest upper
    confidence bound against it, the champion itself included at 1/2. ``log`` is
    natural; an uncompared pair has u = 2. Ties are broken at random.

    A round teaches nothing when the champion is an arm that surely beats all others;
    there is at most one. While its bounds hold and it has been champion more often than
    some other arm, such rounds are independent, each with the probability that the arm
    beats all others in the sample: their number is geometric, and ``look_ahead`` draws
    it at once, with the champion of the round that follows. The law of everything that
    is counted is that of the step form.

    Parameters
    ----------
    alpha : float
        u = wins/n + sqrt(alpha log t / n); > 1/2 in the theory.
    fallback : {"least", "random"}
        Without an arm that beats all others in the sample: the arm that was champion
        least often (as in the paper), or any (as Wu and Liu 2016 describe it).
    look_ahead : bool
        Jump over self-duels. Without it every round is drawn.
    posterior : BetaPairs
        What the sample is drawn from; its ``prior`` may be given in its place by name,
        as in ``policies.get("rcs", prior=2)``. The bounds count duels alone.

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

    alpha: float = 0.51
    fallback: str = field(default="least", metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})
    posterior: BetaPairs = BetaPairs()

    title: ClassVar[str] = "Relative Confidence Sampling"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.5)
        check_choice("fallback", self.fallback, ("least", "random"))
        check_beta_pairs(self.posterior, num_arms)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> RelativeConfidenceSamplingState:
        """Return the state before the first round."""
        return RelativeConfidenceSamplingState(
            beliefs=self.posterior.init(rng_key, num_arms),
            resolution=uncompared(num_arms),
            reigns=jnp.zeros(num_arms, dtype=jnp.int64),
        )

    def choose(
        self,
        rng_key: RunKey,
        state: RelativeConfidenceSamplingState,
        round_: RoundCount,
    ) -> tuple[Duel, RelativeConfidenceSamplingState]:
        """Choose champion and challenger, after the self-duels; count their reigns."""
        duel = self._next_duel(rng_key, state, round_)
        arms = jnp.arange(state.reigns.shape[0], dtype=jnp.int32)
        reigns = state.reigns + jnp.where(arms == duel.champion, duel.exploit_rounds, 0)
        reigns = reigns + jnp.where(arms == duel.first, duel.explore_rounds, 0)
        return duel, state._replace(reigns=reigns)

    def _next_duel(
        self,
        rng_key: RunKey,
        state: RelativeConfidenceSamplingState,
        round_: RoundCount,
    ) -> Duel:
        """Say who meets whom, after how many self-duels of whom."""
        key_champion, key_ties = jax.random.split(rng_key)
        ties = jax.random.uniform(key_ties, (2,), dtype=jnp.float64)
        if not self.look_ahead:
            first = self._sampled_champion(key_champion, ties[0], state)
            second = self._challenger(ties[1], state, first, round_)
            return one_round(first, second)

        arms = jnp.arange(state.reigns.shape[0], dtype=jnp.int32)
        beaten = surely_beaten(state.beliefs.wins, state.resolution, round_)
        sure = sure_winner(beaten)
        self_dueling = jnp.sum(jnp.where(sure, arms, 0), dtype=jnp.int32)
        fallback = self._fallback_law(state)
        if self.fallback == "least":
            # As long as the fallback may be the sure winner, each reign counts.
            idles = jnp.any(sure & (fallback == 0.0))
        else:
            idles = jnp.any(sure)
        law = _champion_law(state.beliefs, fallback)
        law = jnp.where(sure & idles, 0.0, law)
        window = rounds_as_sure_winner(self_dueling, state.resolution, round_)
        idle, happens = waiting_time(
            jax.random.uniform(key_champion, dtype=jnp.float64),
            jnp.sum(law),
            jnp.where(idles, window, 1),
        )
        idle, happens = jnp.where(idles, idle, 0), ~idles | happens
        first = choose_weighted(ties[0], law)
        return Duel(
            champion=self_dueling,
            exploit_rounds=idle,
            first=first,
            second=self._challenger(ties[1], state, first, round_ + idle),
            explore_rounds=happens.astype(jnp.int64),
        )

    def _sampled_champion(
        self,
        rng_key: RunKey,
        uniform: Float[Array, ""],
        state: RelativeConfidenceSamplingState,
    ) -> Arm:
        """Draw all Betas; return the arm that beats all others, or the fallback."""
        theta = self.posterior.sample(rng_key, state.beliefs, 1)[0]
        beats_all = jnp.all(theta >= 0.5, axis=1)
        return jnp.where(
            jnp.any(beats_all),
            jnp.argmax(beats_all).astype(jnp.int32),
            choose_weighted(uniform, self._fallback_law(state)),
        )

    def _fallback_law(
        self, state: RelativeConfidenceSamplingState
    ) -> Float[Array, " K"]:
        """P(champion | no arm beats all others in the sample)."""
        reigns = state.reigns
        if self.fallback == "least":
            among = reigns == jnp.min(reigns)
        else:
            among = jnp.ones(reigns.shape, dtype=bool)
        number = jnp.sum(among, dtype=jnp.int32).astype(jnp.float64)
        return among.astype(jnp.float64) / number

    def _challenger(
        self,
        uniform: Float[Array, ""],
        state: RelativeConfidenceSamplingState,
        champion: Arm,
        round_: RoundCount,
    ) -> Arm:
        """Return the arm with the largest upper bound against the champion."""
        wins, resolution = state.beliefs.wins, state.resolution
        upper = upper_bounds_around_half(champion, wins, resolution, round_, self.alpha)
        return choose_among(uniform, mark_largest(upper))

    def update(
        self,
        rng_key: RunKey,
        state: RelativeConfidenceSamplingState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> RelativeConfidenceSamplingState:
        """Count the outcome."""
        beliefs = self.posterior.update(
            rng_key, state.beliefs, duel.first, duel.second, outcome
        )
        counts = counts_after(state.beliefs, duel.first, duel.second, outcome)
        resolution = with_counts(state.resolution, *counts, duel, self.alpha)
        return state._replace(beliefs=beliefs, resolution=resolution)

    def recommend(self, rng_key: RunKey, state: RelativeConfidenceSamplingState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.beliefs.wins)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.thompson._scalar_relative_sampling import kernel

        return kernel(
            np.asarray(self.posterior.prior),
            alpha=float(self.alpha),
            any_may_stand_in=self.fallback == "random",
            steps=not self.look_ahead,
        )


def _champion_law(
    beliefs: PairBeliefs, fallback: Float[Array, " K"]
) -> Float[Array, " K"]:
    """P(champion): the signs of the pairs in the sample are independent.

    The probability that no arm beats all others is 1 minus the sum of those that one
    does; the largest of these is taken off first, as exp(-rate), which leaves all
    digits of the rest.
    """
    lost_rate = jnp.sum(beliefs.rate, axis=0)
    beats_all = jnp.exp(-lost_rate)
    likeliest = first_marked(mark_largest(-lost_rate))
    nobody = -jnp.expm1(-jnp.min(lost_rate)) - jnp.sum(
        jnp.where(likeliest, 0.0, beats_all)
    )
    return beats_all + jnp.maximum(nobody, 0.0) * fallback
