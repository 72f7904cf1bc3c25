"""Rounds of D-TS whose samples come from any posterior of the pairs.

Nothing is known of such a posterior but its draws: rounds are drawn one by one, or,
where draws are independent, several at once up to the first that can teach something.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.models.in_policies.base import (
    PairPosterior,
    is_on_a_scale,
    utilities_by_number,
)
from bayesduel.policies.over_models.base import (
    ModelRule,
    add_wins,
    choose_among,
    largest,
    model_rule,
    one_round,
    up_to_another,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory.divergences import kl_to_half


class RoundSets(NamedTuple):
    """The sets that the rule of a round is made of; constant until ``last_round``."""

    candidates: Bool[Array, " K"]  # C: arms with the largest optimistic Copeland score.
    # [i, a]: i may be the second arm against a (l_ia <= 1/2); false at i = a.
    eligible: Bool[Array, "K K"]
    last_round: RoundCount  # Last round for which these sets hold if no count changes.


def all_arms(num_arms: int) -> RoundSets:
    """Return the sets where there are no bounds."""
    return RoundSets(
        candidates=jnp.ones(num_arms, dtype=bool),
        eligible=~jnp.eye(num_arms, dtype=bool),
        last_round=jnp.int64(LONGEST_HORIZON),
    )


def round_sets(
    wins: Int[Array, "K K"], alpha: Float[Array, ""] | float, round_: RoundCount
) -> RoundSets:
    """Evaluate the confidence bounds at ``round_``: of the duels, without any prior."""
    # Wu and Liu (2016), Algorithm 1: u > 1/2 for an optimistic win, l <= 1/2 for a
    # challenger.
    others = ~jnp.eye(len(wins), dtype=bool)
    duels, gap = wins + wins.T, (wins - wins.T).astype(jnp.float64)
    last = gap * gap / (4.0 * alpha * jnp.maximum(duels, 1).astype(jnp.float64))
    last = jnp.where(others, jnp.where(duels > 0, last, -1.0), jnp.inf)
    unresolved = _log(round_) > last
    ahead = wins > wins.T
    optimistic = jnp.sum(ahead | unresolved, axis=1)
    next_flip = jnp.min(jnp.where(unresolved, jnp.inf, last))
    return RoundSets(
        candidates=optimistic == jnp.max(optimistic),
        eligible=(~ahead | unresolved) & others,
        last_round=_last_round(round_, next_flip),
    )


def _log(round_: RoundCount) -> Float[Array, ""]:
    return jnp.log(round_.astype(jnp.float64))


def _last_round(round_: RoundCount, last_log: Float[Array, ""]) -> RoundCount:
    """Return the last round, not before ``round_``, of at most this logarithm."""
    far = last_log > jnp.log(float(LONGEST_HORIZON))
    guess = jnp.floor(jnp.exp(jnp.where(far, 0.0, last_log))).astype(jnp.int64)
    guess = jnp.maximum(round_, guess)
    guess = guess + jnp.where(_log(guess + 1) > last_log, 0, 1)
    late = (_log(guess) > last_log) & (guess > round_)
    return jnp.where(far, LONGEST_HORIZON, guess - jnp.where(late, 1, 0))


_SMALLEST_DIVERGENCE = 1e-300

ROUNDS_AT_ONCE = 16  # Rounds that are drawn together, where draws are independent


class SampledState(NamedTuple):
    """A belief, and the counts of the confidence bounds."""

    beliefs: Any
    # [i, j]: duels of {i, j} that i won; None without elimination.
    wins: Int[Array, "K K"] | None


@model_rule
class SampledDoubleThompson(ModelRule):
    """The rule of D-TS over the draws of a posterior, ``at_once`` rounds together."""

    posterior: PairPosterior
    alpha: float
    elimination: bool = field(metadata={"static": True})
    by_regret: bool = field(metadata={"static": True})
    at_once: int = field(metadata={"static": True})

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> SampledState:
        """Return the state before the first round."""
        none = jnp.zeros((num_arms, num_arms), dtype=jnp.int64)
        return SampledState(
            beliefs=self.posterior.init(rng_key, num_arms),
            wins=none if self.elimination else None,
        )

    def choose(
        self, rng_key: RunKey, state: SampledState, round_: RoundCount
    ) -> tuple[Duel, SampledState]:
        """Draw rounds up to the first in which another arm plays."""
        sets, last = self._sets(state, round_), self.at_once
        leader, stay, arms_of = self._rounds(rng_key, state.beliefs, sets)
        if self.at_once == 1:
            return one_round(*arms_of(jnp.int32(0))), state
        if sets is not None:  # Later rounds may have other sets.
            left = jnp.clip(sets.last_round - round_ + 1, 1, self.at_once)
            last = left.astype(jnp.int32)
        waited, (first, second) = up_to_another(stay, arms_of, leader, last)
        duel = Duel(
            champion=leader,
            exploit_rounds=waited.astype(jnp.int64),
            first=first,
            second=second,
            explore_rounds=(waited < last).astype(jnp.int64),
        )
        return duel, state

    def update(
        self,
        rng_key: RunKey,
        state: SampledState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> SampledState:
        """Tell the posterior, and count for the bounds."""
        beliefs = self.posterior.update(
            rng_key, state.beliefs, duel.first, duel.second, outcome
        )
        if state.wins is None:
            return SampledState(beliefs=beliefs, wins=None)
        return SampledState(beliefs=beliefs, wins=add_wins(state.wins, duel, outcome))

    def recommend(self, rng_key: RunKey, state: SampledState) -> Arm:
        """Return the arm that beats the most others by the mean of the posterior."""
        # Ties by the sum of its probabilities to win, then at random; on one scale, the
        # arm with the largest utility.
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        if is_on_a_scale(self.posterior):
            utility = self.posterior.utilities(state.beliefs)
            return choose_among(uniform, largest(utility))
        mean = self.posterior.mean(state.beliefs)
        beaten = jnp.sum(mean > 0.5 + _EVEN, axis=1, dtype=jnp.int32)
        best = beaten == jnp.max(beaten)
        total = jnp.where(best, jnp.sum(mean, axis=1), -jnp.inf)
        return choose_among(uniform, best & (total >= jnp.max(total) - _EVEN))

    def _sets(self, state: SampledState, round_: RoundCount) -> RoundSets | None:
        """Return the arms that the bounds allow; None without elimination."""
        if state.wins is None:
            return None
        return round_sets(state.wins, self.alpha, round_)

    def _rounds(
        self, rng_key: RunKey, beliefs: Any, sets: RoundSets | None
    ) -> tuple[Arm, Bool[Array, " n"], Callable[[Array], Int[Array, "2"]]]:
        """Return the leader, the rounds that it surely plays alone, those of any."""
        posterior, number = self.posterior, self.at_once
        if is_on_a_scale(posterior):
            mode = posterior.utilities(beliefs)
            bounds = all_arms(len(mode)) if sets is None else sets
            leader = jnp.argmax(mode).astype(jnp.int32)
            draws = utilities_by_number(posterior, rng_key, beliefs, 2 * number, leader)

            def best_arms(index: Array) -> Array:
                both = draws.at(jnp.stack([index, index + number]))
                first = jnp.argmax(jnp.where(bounds.candidates, both[0], -jnp.inf))
                allowed = bounds.eligible[:, first].at[first].set(True)
                second = jnp.argmax(jnp.where(allowed, both[1], -jnp.inf))
                return jnp.stack([first, second]).astype(jnp.int32)

            # The best of all arms is also the best of those that are allowed.
            stay = draws.stay[:number] & draws.stay[number:] & bounds.candidates[leader]
            return leader, stay, best_arms
        pairs = self._pairs(rng_key, beliefs, sets, number)
        leader = pairs[0, 0]
        return leader, jnp.all(pairs == leader, axis=1), lambda pair: pairs[pair]

    def _pairs(
        self, rng_key: RunKey, beliefs: Any, sets: RoundSets | None, number: int
    ) -> Int[Array, "n 2"]:
        """Return the two arms of n rounds, of two matrices each."""
        key_samples, key_ties = jax.random.split(rng_key)
        theta = self.posterior.sample(key_samples, beliefs, 2 * number)
        num_arms = theta.shape[1]
        ties = jax.random.uniform(key_ties, (number, 2), dtype=jnp.float64)
        bounds = all_arms(num_arms) if sets is None else sets

        def one_round(tie: Array, theta: Array, eta: Array) -> Array:
            first = self._first(tie[0], theta, bounds)
            against = jnp.where(bounds.eligible[:, first], eta[:, first], -1.0)
            against = against.at[first].set(0.5)
            return jnp.stack([first, choose_among(tie[1], largest(against))])

        return jax.vmap(one_round)(ties, theta[:number], theta[number:])

    def _first(self, tie: Array, theta: Float[Array, "K K"], sets: RoundSets) -> Arm:
        """Return the candidate with the most votes of a sample."""
        if self.by_regret:
            return least_estimated_regret(tie, sets.candidates, theta)
        return choose_among(tie, sampled_winners(sets.candidates, theta > 0.5))


_EVEN = 1e-9  # By how much a mean of 1/2 may be off by rounding


def sampled_winners(
    candidates: Bool[Array, " K"], signs: Bool[Array, "K K"]
) -> Bool[Array, " K"]:
    """Candidates that beat the most arms (of all, candidates or not) in the sample."""
    votes = jnp.where(candidates, jnp.sum(signs, axis=1), -1)
    return candidates & (votes == jnp.max(votes))


def least_estimated_regret(
    uniform: Float[Array, ""], candidates: Bool[Array, " K"], theta: Float[Array, "K K"]
) -> Arm:
    """Choose among the sampled winners as D-TS+ does (Wu and Liu 2016, Section 4.3)."""
    # R_i = sum over j of r_ij / KL(theta_ij, 1/2), all from the same sample and without
    # those that are 1/2, with r_ij = zeta_max - (zeta_i + zeta_j) / 2 and zeta_max over
    # all arms.
    signs = theta > 0.5
    score = jnp.sum(signs, axis=1, dtype=jnp.float64) / (len(theta) - 1.0)
    loss = jnp.max(score) - 0.5 * (score[:, None] + score[None, :])
    divergence = jnp.maximum(kl_to_half(jnp.abs(theta - 0.5)), _SMALLEST_DIVERGENCE)
    counts = (theta != 0.5) & ~jnp.eye(len(theta), dtype=bool)
    regret = jnp.sum(jnp.where(counts, loss / divergence, 0.0), axis=1)
    regret = jnp.where(sampled_winners(candidates, signs), regret, jnp.inf)
    return choose_among(uniform, largest(-regret))
