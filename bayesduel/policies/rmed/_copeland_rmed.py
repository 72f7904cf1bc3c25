"""What CW-RMED and ECW-RMED share: all of Algorithm 1 but the program.

Komiyama, Honda and Nakagawa (2016), Algorithm 1: passes through lists of pairs, draws
out of turn, and the test whether the evidence suffices to call an arm a winner.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import element_of, materialize, with_rows
from bayesduel.ops.resolved_rounds import (
    is_unresolved,
    last_resolved_round,
    log_round,
)
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_at_least,
    others_mask,
    policy_class,
)
from bayesduel.policies.pair_counts import add_asked, lowest
from bayesduel.policies.pair_evidence import (
    PairEvidence,
    add_evidence,
    empty_evidence,
    estimated_gaps,
)
from bayesduel.policies.play_lists import (
    PlayLists,
    append,
    begin_pass_if_over,
    element_to_play,
    first_pass,
    is_only_element,
    take,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount
from theory.copeland_program import (
    RankedSuperiors,
    evidence_costs,
    superior_sums,
    superiors_by_counting,
)
from theory.copeland_program.efficient import candidate_slack, ecw_cost

_SLACK = 1e-12
"""Constraints "sum >= 1" may fall short by this."""


class CopelandLists(NamedTuple):
    """Evidence per pair, the place in the lists, and who is taken for the winner."""

    pairs: PairEvidence
    asked: Int[Array, "K K"]
    """N_ij: duels asked for, whether their outcomes are known or not; symmetric."""

    sums: Float[Array, "K K+2"]
    """The `superior_sums` of the evidence: a duel changes two rows."""

    slack: Float[Array, " K"]
    """The largest log t that the evidence can answer for, per estimated winner."""

    passes: PlayLists
    winner: Arm
    """Minimizer of the last program, or the arm whose test passed; -1 before."""

    passed: Bool[Array, ""]
    """Whether the last test passed."""


@policy_class
class CopelandRMED(Policy):
    """Algorithm 1 without its program. A subclass says how much evidence is wanted.

    Elements of the lists are the unordered pairs in lexicographic order, then every arm
    with itself.
    """

    alpha: float = 3.0
    beta: float = 0.01
    look_ahead: bool = field(default=True, metadata={"static": True})

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)
        check_at_least("beta", self.beta, 0.0)

    def _start(self, num_arms: int) -> CopelandLists:
        """Return the lists before the first round: every pair is due once."""
        num_pairs = num_arms * (num_arms - 1) // 2
        elements = np.arange(num_pairs + num_arms)
        pairs = empty_evidence(num_arms)
        return CopelandLists(
            pairs=pairs,
            asked=jnp.zeros_like(pairs.wins),
            sums=jnp.zeros((num_arms, num_arms + 2), dtype=jnp.float64),
            slack=jnp.zeros(num_arms, dtype=jnp.float64),
            passes=first_pass(jnp.asarray(elements < num_pairs)),
            winner=jnp.int32(-1),
            passed=jnp.bool_(False),
        )

    def _next_duel(
        self, lists: CopelandLists, round_: RoundCount
    ) -> tuple[Duel, CopelandLists]:
        """Take a pair out of turn, or the next one of the pass, and count the draw.

        The note of the duel says whether it was in turn.
        """
        num_arms = lists.pairs.wins.shape[0]
        row, column = np.triu_indices(num_arms, 1)
        urgent = self._is_urgent(lists, round_)[row, column]
        forced = jnp.any(urgent)

        passes = begin_pass_if_over(lists.passes)
        element = jnp.where(
            forced, jnp.argmax(urgent).astype(jnp.int32), element_to_play(passes)
        )
        arms = np.arange(num_arms)
        first = jnp.asarray(np.concatenate([row, arms]), dtype=jnp.int32)[element]
        second = jnp.asarray(np.concatenate([column, arms]), dtype=jnp.int32)[element]

        exploits = ~forced & (first == second) & is_only_element(passes, element)
        stretch = self._self_duels(lists, first, round_)
        exploits = exploits & (stretch > 0) & self.look_ahead
        duel = Duel(
            champion=first,
            exploit_rounds=jnp.where(exploits, stretch, 0),
            first=first,
            second=second,
            explore_rounds=jnp.where(exploits, 0, 1).astype(jnp.int64),
            note=~forced,
        )
        return duel, lists._replace(
            passes=take(passes, ~forced), asked=add_asked(lists.asked, duel)
        )

    def _count_limit(self, asked: Int[Array, "K K"]) -> Float[Array, "K K"]:
        """Log of the last round at which a pair was drawn often enough."""
        return (asked.astype(jnp.float64) / self.alpha) ** 2

    def _is_urgent(
        self, lists: CopelandLists, round_: RoundCount
    ) -> Bool[Array, "K K"]:
        """Pairs to be drawn out of turn at ``round_``.

        A pair is rare by its draws, which are known at once. How close its estimate is
        to 1/2 is judged when all its outcomes are there: until then another draw could
        not move the estimate.
        """
        pairs = lists.pairs
        log_t = log_round(round_)
        # log log t is below 1, or undefined, before round 16.
        closeness = self.beta / jnp.maximum(1.0, jnp.log(jnp.maximum(log_t, 1.0)))
        gaps = jnp.abs(estimated_gaps(pairs.wins))
        rare = is_unresolved(log_t, self._count_limit(lists.asked))
        told = lists.asked == pairs.wins + pairs.wins.T
        return rare | (told & ((gaps < closeness) | (gaps == 0.0)))

    def _self_duels(
        self, lists: CopelandLists, arm: Arm, round_: RoundCount
    ) -> RoundCount:
        """Count the rounds in which (arm, arm) stays the only thing to do.

        It ends with the round after which the test fails (itself a self-duel), or
        before the round at which some pair has become rare.
        """
        pairs, slack = lists.pairs, lists.slack
        passing = _passes_test(pairs, slack, round_)
        chosen = jnp.argmax(passing).astype(jnp.int32)
        limit = element_of(slack, arm) / (1.0 - _SLACK)
        last_passing = last_resolved_round(round_, limit)
        until_test = jnp.where(jnp.any(passing), last_passing - round_ + 2, 1)
        others = others_mask(pairs.wins.shape[0])
        rarest = jnp.min(jnp.where(others, self._count_limit(lists.asked), jnp.inf))
        until_rare = last_resolved_round(round_, rarest) - round_ + 1
        # Another passing arm would take over at once.
        same = ~jnp.any(passing) | (chosen == arm)
        return jnp.where(same, jnp.minimum(until_test, until_rare), 0)

    def _count(
        self, lists: CopelandLists, round_: RoundCount, duel: Duel, outcome: Outcome
    ) -> tuple[CopelandLists, RankedSuperiors]:
        """Count the outcome and, if the duel was in turn, test and name the winner.

        The second result is what the efficient program knows of the new estimates.

        Where the test fails the cheapest of several estimated winners is the same in
        both programs: their constants agree then (Theorem 6).
        """
        pairs = add_evidence(lists.pairs, duel, outcome)
        gaps = estimated_gaps(pairs.wins)
        dueled = jnp.stack([duel.first, duel.second])
        rows = materialize(
            *(jnp.take(each, dueled, axis=0) for each in (pairs.evidence, gaps))
        )
        sums = with_rows(lists.sums, superior_sums(*rows), dueled)
        slack = _slack_of_winners(pairs, gaps, sums)
        passing = _passes_test(pairs, slack, round_)
        passed = jnp.any(passing)
        superiors = superiors_by_counting(gaps, *materialize(evidence_costs(gaps)))
        winner = jnp.where(
            passed,
            jnp.argmax(passing).astype(jnp.int32),
            _cheapest_winner(pairs, gaps, superiors),
        )
        lists = lists._replace(
            pairs=pairs,
            sums=sums,
            slack=slack,
            winner=jnp.where(duel.note, winner, lists.winner),
            passed=passed,
        )
        return lists, superiors


def extended(lists: Any, wanted: Any, log_t: Any, applies: Any) -> Any:
    """Append what is due: the winner, and pairs short of evidence.

    Parameters
    ----------
    lists : CopelandLists
        Of NumPy arrays as of JAX arrays; the result in kind.
    wanted : float64 (K, K)
        Evidence per unit of log t; a passed test wants none.
    log_t : float64
        `log_of` the round that taught it.
    applies : bool
        Whether anything is appended: not after a forced draw.
    """
    xp = lists.pairs.wins.__array_namespace__()  # NumPy's on the host.
    num_arms = lists.pairs.wins.shape[0]
    row, column = np.triu_indices(num_arms, 1)
    arms = xp.arange(num_arms, dtype=xp.int32)
    short = wanted * log_t > lists.pairs.evidence
    due = xp.concat([short[row, column] & ~lists.passed, arms == lists.winner])
    return lists._replace(passes=append(lists.passes, due, applies))


def recommended(lists: CopelandLists) -> Arm:
    """Return the winner of the last test or program; before, one of fewest losses."""
    losses = estimated_losses(lists.pairs)
    return jnp.where(
        lists.winner >= 0, lists.winner, jnp.argmin(losses).astype(jnp.int32)
    )


def _slack_of_winners(
    pairs: PairEvidence, gaps: Float[Array, "K K"], sums: Float[Array, "K K+2"]
) -> Float[Array, " K"]:
    """Return the slack of every estimated winner; else infinity."""
    return _one_by_one(
        is_estimated_winner(pairs),
        lambda arm: candidate_slack(pairs.evidence, gaps, arm, sums),
    )


def _cheapest_winner(
    pairs: PairEvidence, gaps: Float[Array, "K K"], superiors: RankedSuperiors
) -> Arm:
    """Return the estimated winner with the least constant of the efficient program."""
    is_winner = is_estimated_winner(pairs)
    several = jnp.sum(is_winner, dtype=jnp.int32) > 1
    costs = _one_by_one(is_winner & several, lambda arm: ecw_cost(gaps, arm, superiors))
    return jnp.where(several, lowest(costs), jnp.argmax(is_winner).astype(jnp.int32))


def _one_by_one(
    marked: Bool[Array, " K"], value: Callable[[Arm], Float[Array, ""]]
) -> Float[Array, " K"]:
    """Compute a value of every marked arm, mostly of one; else infinity."""
    arms = jnp.arange(marked.shape[0], dtype=jnp.int32)

    def add_one(loop: tuple[Array, Array]) -> tuple[Array, Array]:
        left, values = loop
        arm = jnp.argmax(left).astype(jnp.int32)
        return left & (arms != arm), jnp.where(arms == arm, value(arm), values)

    start = marked, jnp.full(marked.shape[0], jnp.inf, dtype=jnp.float64)
    return lax.while_loop(lambda loop: jnp.any(loop[0]), add_one, start)[1]


def is_estimated_winner(pairs: PairEvidence) -> Bool[Array, " K"]:
    """Mark the arms with the fewest losses in the estimates."""
    counts = estimated_losses(pairs)
    return counts == jnp.min(counts)


def estimated_losses(pairs: PairEvidence) -> Int[Array, " K"]:
    """Count the arms that every arm loses to in the estimates."""
    return jnp.sum(pairs.wins < pairs.wins.T, axis=1, dtype=jnp.int32)


def log_of(round_: RoundCount) -> Float[Array, ""]:
    """max(1, log t)."""
    return jnp.maximum(1.0, log_round(round_))


def _passes_test(
    pairs: PairEvidence, slack: Float[Array, " K"], round_: RoundCount
) -> Bool[Array, " K"]:
    """Estimated winners whose constraints all hold: the evidence reaches log t."""
    answers = slack / (1.0 - _SLACK) >= log_of(round_)
    return is_estimated_winner(pairs) & answers
