"""ECW-RMED (Komiyama, Honda and Nakagawa 2016)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.arrays import element_of
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_at_least,
    others_mask,
    policy_class,
)
from bayesduel.policies.pair_counts import lowest
from bayesduel.policies.pair_evidence import (
    PairEvidence,
    add_evidence,
    empty_evidence,
    estimated_gaps,
)
from bayesduel.policies.passes import (
    Passes,
    append,
    begin_pass_if_over,
    element_to_play,
    first_pass,
    is_only_element,
)
from bayesduel.policies.thresholds import (
    is_unresolved,
    last_resolved_round,
    log_round,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory.ecw_rmed import ecw_costs, ecw_evidence, template_slack

_SLACK = 1e-12
"""Constraints "sum >= 1" may fall short by this."""


class ECWRMEDState(NamedTuple):
    """Evidence per pair, the place in the lists, and who is taken for the winner."""

    pairs: PairEvidence
    slack: Float[Array, " K"]
    """The largest log t that the evidence can answer for, per estimated winner."""

    passes: Passes
    winner: Arm
    """Minimizer of the last program, or the arm whose test passed; -1 before."""

    forced: Bool[Array, ""]
    """Whether the last duel was a forced draw, outside the lists."""


@policy_class
class ECWRMED(Policy):
    """Efficient Copeland Winners Relative Minimum Empirical Divergence (ECW-RMED).

    While the evidence N_ij KL(mu_ij, 1/2) / log t satisfies every constraint of the
    Copeland lower bound (Eq. 2) for some estimated winner i, only (i, i) is due. Else
    the efficient program (Eqs. 4 and 5; Theorem 5, in closed form) is solved for the
    estimated matrix, and every pair with less evidence than it asks for is due, with
    the program's winner against itself. Before each draw, a pair is drawn out of turn
    if it was compared fewer than alpha sqrt(log t) times, or if its estimate is within
    beta / log log t of 1/2, or exactly 1/2. Logarithms are natural, those of t below 1
    count as 1.

    Order: pairs lexicographically by position (the environment shuffles the arms by
    default), then (i, i); ties go to the lowest position. With beta > 0 a pair that
    truly ties is drawn out of turn again and again: regret is then linear if it costs.

    Parameters
    ----------
    alpha : float
        3.0 in the paper.
    beta : float
        0.01 in the paper; 0 is nearly as good.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower
    Bound, Optimal Algorithm, and Computationally Efficient Algorithm", ICML 2016,
    Algorithm 1 with the program of Section 4.2.
    """

    alpha: float = 3.0
    beta: float = 0.01
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Efficient Copeland Winners RMED"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)
        check_at_least("beta", self.beta, 0.0)

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> ECWRMEDState:
        """Return the state before the first round."""
        num_pairs = num_arms * (num_arms - 1) // 2
        elements = np.arange(num_pairs + num_arms)
        return ECWRMEDState(
            pairs=empty_evidence(num_arms),
            slack=jnp.zeros(num_arms, dtype=jnp.float64),
            passes=first_pass(jnp.asarray(elements < num_pairs)),
            winner=jnp.int32(-1),
            forced=jnp.bool_(False),
        )

    def choose(
        self, rng_key: RunKey, state: ECWRMEDState, round_: RoundCount
    ) -> tuple[Duel, ECWRMEDState]:
        """Choose a pair out of turn, or the next one of the pass."""
        num_arms = state.pairs.wins.shape[0]
        row, column = np.triu_indices(num_arms, 1)
        urgent = self._is_urgent(state.pairs, round_)[row, column]
        forced = jnp.any(urgent)

        passes = begin_pass_if_over(state.passes)
        element = jnp.where(
            forced, jnp.argmax(urgent).astype(jnp.int32), element_to_play(passes)
        )
        # Elements: the pairs in lexicographic order, then every arm with itself.
        arms = np.arange(num_arms)
        first = jnp.asarray(np.concatenate([row, arms]), dtype=jnp.int32)[element]
        second = jnp.asarray(np.concatenate([column, arms]), dtype=jnp.int32)[element]

        exploits = ~forced & (first == second) & is_only_element(passes, element)
        stretch = self._self_duels(state, first, round_)
        exploits = exploits & (stretch > 0) & self.look_ahead
        duel = Duel(
            champion=first,
            exploit_rounds=jnp.where(exploits, stretch, 0),
            first=first,
            second=second,
            explore_rounds=jnp.where(exploits, 0, 1).astype(jnp.int64),
        )
        place = jnp.where(forced, passes.place, passes.place + 1)
        return duel, state._replace(passes=passes._replace(place=place), forced=forced)

    def _count_limit(self, pairs: PairEvidence) -> Float[Array, "K K"]:
        """Log of the last round at which a pair was compared often enough."""
        duels = (pairs.wins + pairs.wins.T).astype(jnp.float64)
        return (duels / self.alpha) ** 2

    def _is_urgent(self, pairs: PairEvidence, round_: RoundCount) -> Bool[Array, "K K"]:
        """Pairs to be drawn out of turn at ``round_``."""
        log_t = log_round(round_)
        # log log t is below 1, or undefined, before round 16.
        closeness = self.beta / jnp.maximum(1.0, jnp.log(jnp.maximum(log_t, 1.0)))
        gaps = jnp.abs(estimated_gaps(pairs.wins))
        rare = is_unresolved(log_t, self._count_limit(pairs))
        return rare | (gaps < closeness) | (gaps == 0.0)

    def _self_duels(
        self, state: ECWRMEDState, arm: Arm, round_: RoundCount
    ) -> RoundCount:
        """Count the rounds in which (arm, arm) stays the only thing to do.

        It ends with the round after which the test fails (itself a self-duel), or
        before the round at which some pair has become rare.
        """
        pairs, slack = state.pairs, state.slack
        passing = _passes_test(pairs, slack, round_)
        chosen = jnp.argmax(passing).astype(jnp.int32)
        limit = element_of(slack, arm) / (1.0 - _SLACK)
        last_passing = last_resolved_round(round_, limit)
        until_test = jnp.where(jnp.any(passing), last_passing - round_ + 2, 1)
        others = others_mask(pairs.wins.shape[0])
        rarest = jnp.min(jnp.where(others, self._count_limit(pairs), jnp.inf))
        until_rare = last_resolved_round(round_, rarest) - round_ + 1
        # Another passing arm would take over at once.
        same = ~jnp.any(passing) | (chosen == arm)
        return jnp.where(same, jnp.minimum(until_test, until_rare), 0)

    def update(
        self,
        rng_key: RunKey,
        state: ECWRMEDState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> ECWRMEDState:
        """Count the outcome, then find what is due in the next pass."""
        pairs = add_evidence(state.pairs, duel, outcome)
        num_arms = pairs.wins.shape[0]
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        gaps = estimated_gaps(pairs.wins)
        slack = template_slack(pairs.evidence, gaps)
        passing = _passes_test(pairs, slack, round_)
        passed = jnp.any(passing)
        winner = jnp.where(
            passed, jnp.argmax(passing).astype(jnp.int32), lowest(ecw_costs(gaps))
        )
        wanted = ecw_evidence(gaps, winner) * _log_of(round_) > pairs.evidence
        row, column = np.triu_indices(num_arms, 1)
        due = jnp.concatenate([wanted[row, column] & ~passed, arms == winner])
        return ECWRMEDState(
            pairs=pairs,
            slack=slack,
            passes=append(state.passes, due & ~state.forced),
            winner=jnp.where(state.forced, state.winner, winner),
            forced=state.forced,
        )

    def recommend(self, rng_key: RunKey, state: ECWRMEDState) -> Arm:
        """Return the winner of the last test or program."""
        losses = jnp.sum(state.pairs.wins < state.pairs.wins.T, axis=1)
        return jnp.where(
            state.winner >= 0, state.winner, jnp.argmin(losses).astype(jnp.int32)
        )


def _log_of(round_: RoundCount) -> Float[Array, ""]:
    """max(1, log t)."""
    return jnp.maximum(1.0, log_round(round_))


def _passes_test(
    pairs: PairEvidence, slack: Float[Array, " K"], round_: RoundCount
) -> Bool[Array, " K"]:
    """Estimated winners whose constraints all hold: the evidence reaches log t."""
    losses = jnp.sum(pairs.wins < pairs.wins.T, axis=1, dtype=jnp.int32)
    is_winner = losses == jnp.min(losses)
    return is_winner & (slack / (1.0 - _SLACK) >= _log_of(round_))
