"""Outcomes that arrive in bunches, at a rule over a model."""

from dataclasses import field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Int

from bayesduel.policies.over_models.base import ModelRule, model_rule
from bayesduel.types import Arm, Batch, Duel, Outcome, RoundCount, RunKey, State


class Report(NamedTuple):
    """A duel as it was played, and what came of it."""

    duel: Duel
    wins: RoundCount
    round: RoundCount
    """The last round of it."""


class DelayedFeedbackState(NamedTuple):
    """The state of the policy, and the reports that it has not been told."""

    inner: State
    reports: Batch[Report]
    """In the order of their rounds, with a leading axis of length ``every``."""

    number: Int[Array, ""]
    """How many reports there are."""

    arrived: Int[Array, ""]
    """How many of them have arrived."""

    read: Int[Array, ""]
    """How many of those the policy has been told."""


@model_rule
class DelayedRounds(ModelRule):
    """Tells a rule the outcomes only every ``every`` rounds."""

    played: ModelRule
    every: int = field(metadata={"static": True})

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> DelayedFeedbackState:
        """Return the state before the first round."""
        rounds = jnp.int64(0)
        inner = self.played.init(rng_key, num_arms, horizon)
        duel, _ = jax.eval_shape(self.played.choose, rng_key, inner, rounds)
        return DelayedFeedbackState(
            inner=inner,
            reports=jax.tree.map(
                lambda leaf: jnp.zeros((self.every, *leaf.shape), leaf.dtype),
                Report(duel, rounds, rounds),
            ),
            number=jnp.int32(0),
            arrived=jnp.int32(0),
            read=jnp.int32(0),
        )

    def choose(
        self, rng_key: RunKey, state: DelayedFeedbackState, round_: RoundCount
    ) -> tuple[Duel, DelayedFeedbackState]:
        """Let the policy choose; nothing while it has not read what has arrived."""
        reads = state.read < state.arrived
        duel, inner = self.played.choose(rng_key, state.inner, round_)
        duel = duel._replace(
            exploit_rounds=jnp.where(reads, 0, duel.exploit_rounds),
            explore_rounds=jnp.where(reads, 0, duel.explore_rounds),
        )
        return duel, state._replace(inner=_where(reads, state.inner, inner))

    def update(
        self,
        rng_key: RunKey,
        state: DelayedFeedbackState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> DelayedFeedbackState:
        """File a report, and tell the policy what has arrived.

        A request for no round at all is not feedback: the policy takes it at once.
        """
        rounds = outcome.exploit_rounds + outcome.rounds
        reads = state.read < state.arrived
        empty = (rounds == 0) & ~reads
        current = Report(duel, outcome.wins, round_)
        places = jnp.arange(self.every, dtype=jnp.int32)
        here = (places == state.number) & (rounds > 0)
        reports = _where(here, current, state.reports)
        number = state.number + jnp.where(rounds > 0, 1, 0).astype(jnp.int32)
        # What ends with a block of rounds arrives with it, what overlaps later.
        crosses = round_ // self.every > (round_ - rounds) // self.every
        told = jnp.where(crosses, number - 1, state.arrived)
        told = jnp.where(crosses & (round_ % self.every == 0), number, told)
        told = told.astype(jnp.int32)
        first = jnp.where(empty, -1, state.read).astype(jnp.int32)
        inner, read = self._tell(rng_key, state.inner, reports, current, first, told)
        # What is left is at most the last report.
        rest = jax.tree.map(lambda leaf: leaf[told], reports)
        done = (read >= told) & (told > 0)
        return DelayedFeedbackState(
            inner=inner,
            reports=_where(done & (places == 0), rest, reports),
            number=jnp.where(done, number - told, number),
            arrived=jnp.where(done, 0, told),
            read=jnp.where(done, 0, read),
        )

    def recommend(self, rng_key: RunKey, state: Any) -> Arm:
        """Return the recommendation of the policy."""
        return self.played.recommend(rng_key, state.inner)

    def _tell(
        self,
        rng_key: RunKey,
        inner: State,
        reports: Batch[Report],
        current: Report,
        first: Int[Array, ""],
        end: Int[Array, ""],
    ) -> tuple[State, Int[Array, ""]]:
        """Tell the reports from ``first`` to ``end``; -1 is the current one."""
        policy = self.played

        def pick(leaf: Array, now: Array, index: Int[Array, ""]) -> Array:
            return jnp.where(index < 0, now, leaf[index])

        def goes_on(loop: tuple[State, Array]) -> Bool[Array, ""]:
            return loop[1] < end

        def tell(loop: tuple[State, Array]) -> tuple[State, Array]:
            inner, index = loop
            report = jax.tree.map(lambda a, b: pick(a, b, index), reports, current)
            outcome = Outcome(
                exploit_rounds=report.duel.exploit_rounds,
                rounds=report.duel.explore_rounds,
                wins=report.wins,
            )
            key = jax.random.fold_in(rng_key, (index + 1).astype(jnp.uint32))
            inner = policy.update(key, inner, report.round, report.duel, outcome)
            return inner, index + 1

        inner, index = lax.while_loop(goes_on, tell, (inner, first))
        return inner, jnp.maximum(index, 0)


def _where(which: Bool[Array, "..."], one: Any, other: Any) -> Any:
    """Pick one of two pytrees, or of their elements."""
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), one, other)
