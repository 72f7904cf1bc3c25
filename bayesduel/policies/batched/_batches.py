"""Batches of comparisons: lists of pairs and numbers of duels, fixed in advance.

What PCOMP, SCOMP and SCOMP2 (Agarwal, Ghuge and Nagarajan 2022) share. A batch compares
every arm of one set with every arm of a larger one, each pair equally often, pair after
pair. Nothing is decided before its last outcome is there.
"""

from dataclasses import field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int, Shaped

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.masks import compute_if, entry_of
from bayesduel.policies.base import (
    Policy,
    check_choice,
    most_beaten,
    policy_class,
)
from bayesduel.policies.batched._batch_sizes import batch_size
from bayesduel.policies.pair_counts import add_wins, pair_mask
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory.divergences import kl_to_half


class Batch(NamedTuple):
    """The batch being played, and how far it is."""

    challengers: Bool[Array, " K"]
    rivals: Bool[Array, " K"]
    """A superset of the challengers: every challenger meets all of them but itself."""

    place: Int[Array, ""]
    """The last pair asked for, as row * K + column with row < column; -1 before."""

    asked: Int[Array, ""]
    answered: Int[Array, ""]
    """Pairs so far."""

    duels: RoundCount
    """Of each pair."""

    extra: RoundCount
    """Pairs still to come that get one duel more (in a batch cut at the horizon)."""

    complete: Bool[Array, ""]
    """Whether the horizon leaves room for all of it."""


class BatchedState(NamedTuple):
    """What is known, who is left, and the batch being played."""

    wins: Int[Array, "K K"]
    """Of all batches."""

    evidence: Array
    """KL: N_ij KL(mu_ij, 1/2) of all batches. Hoeffding: wins of i over j minus losses
    in this batch."""

    active: Bool[Array, " K"]
    seeds: Bool[Array, " K"]
    phase: Int[Array, ""]
    candidate: Arm
    level: Int[Array, ""]
    """r, the exponent in the number of duels T^(r/B) of each pair."""

    log_inverse_delta: Float[Array, ""]
    batch: Batch
    batches: Int[Array, ""]
    horizon: RoundCount


PAIRWISE = 0
"""Phase in which all active arms meet each other."""

SEEDED = 1
"""Phase in which the seeds, or one of them, meet the active arms."""

SEEDS_ONLY = 2
"""Phase in which the seeds meet each other (SCOMP2)."""


@policy_class
class BatchedPolicy(Policy):
    """What the three algorithms share; see :class:`PairwiseComparisons`."""

    num_batches: int = 16
    elimination: str = field(default="kl", metadata={"static": True})
    overflow: str = field(default="truncate", metadata={"static": True})

    explores_in_bulk: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        whole = float(self.num_batches).is_integer()
        if not whole or not 1 <= self.num_batches <= horizon:
            raise PolicyParameterError(
                "num_batches must be an integer from 1 to the horizon "
                f"{horizon} (a batch has at least one duel), got {self.num_batches!r}"
            )
        check_choice("elimination", self.elimination, ("kl", "hoeffding"))
        check_choice("overflow", self.overflow, ("truncate", "commit"))

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> BatchedState:
        """Return the state before the first round."""
        everybody = jnp.ones(num_arms, dtype=bool)
        kind = jnp.float64 if self.elimination == "kl" else jnp.int64
        state = BatchedState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            evidence=jnp.zeros((num_arms, num_arms), dtype=kind),
            active=everybody,
            seeds=self._draw_seeds(rng_key, num_arms),
            phase=jnp.int32(PAIRWISE),
            candidate=jnp.int32(0),
            level=jnp.int32(1),
            log_inverse_delta=self._log_inverse_delta(horizon, everybody),
            batch=new_batch(everybody, everybody),
            batches=jnp.int32(0),
            horizon=jnp.asarray(horizon, dtype=jnp.int64),
        )
        return self._first_round(state)

    def choose(
        self, rng_key: RunKey, state: BatchedState, round_: RoundCount
    ) -> tuple[Duel, BatchedState]:
        """Choose the next pair of the batch, or stay with the arm that is left.

        While the outcomes of a batch are still to come (delayed feedback), an active
        arm duels itself.
        """
        num_arms = state.active.shape[0]
        batch, pairs = state.batch, num_pairs(state.batch)
        left = state.horizon - round_ + 1
        begins = batch.asked == 0
        duels = compute_if(begins, partial(self._duels, state), batch.duels)
        batch = _sized(batch, pairs, left, duels, begins)
        alone = pairs == 0
        survivor = jnp.argmax(state.active).astype(jnp.int32)
        if self.overflow == "commit":
            alone = alone | (begins & ~batch.complete)
            survivor = most_beaten(rng_key, state.wins, among=state.active)
        waits = ~begins & (batch.asked >= pairs)

        place = _next_place(batch)
        to_come = (pairs - batch.asked).astype(jnp.float64)
        # One after the other, so that each set of pairs is equally likely.
        chance = batch.extra.astype(jnp.float64) / jnp.maximum(to_come, 1.0)
        lucky = jax.random.uniform(rng_key, dtype=jnp.float64) < chance
        lucky = lucky.astype(jnp.int64)
        pauses = alone | waits
        duel = Duel(
            champion=survivor,
            exploit_rounds=jnp.where(alone, left, jnp.where(waits, 1, 0)),
            first=jnp.where(pauses, survivor, place // num_arms),
            second=jnp.where(pauses, survivor, place % num_arms),
            explore_rounds=jnp.where(pauses, 0, batch.duels + lucky),
        )
        asked = batch._replace(
            place=jnp.where(pauses, batch.place, place),
            asked=batch.asked + jnp.where(pauses, 0, 1),
            extra=batch.extra - jnp.where(pauses, 0, lucky),
        )
        submitted = state.batches + jnp.where(begins, 1, 0)
        return duel, state._replace(batch=asked, batches=submitted)

    def update(
        self,
        rng_key: RunKey,
        state: BatchedState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> BatchedState:
        """Count the outcome; after the last one of a batch, decide on the next."""
        state = state._replace(
            evidence=self._add_evidence(state, duel, outcome),
            wins=add_wins(state.wins, duel, outcome),
            batch=state.batch._replace(
                answered=state.batch.answered
                + jnp.where(duel.first != duel.second, 1, 0)
            ),
        )
        batch = state.batch
        # A batch that the horizon cut decides nothing.
        over = (batch.answered == num_pairs(batch)) & batch.complete
        after = self._after_batch(rng_key, state, state.horizon - round_)
        if self.elimination == "hoeffding":  # Only duels of one batch count.
            after = after._replace(evidence=jnp.zeros_like(after.evidence))
        return jax.tree.map(lambda a, b: jnp.where(over, a, b), after, state)

    def recommend(self, rng_key: RunKey, state: BatchedState) -> Arm:
        """Return the active arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins, among=state.active)

    def info(self, state: BatchedState) -> dict[str, Shaped[Array, ""]]:
        """Return the number of batches submitted, one cut at the horizon included."""
        return {"batches": state.batches}

    # What an algorithm adds

    def _draw_seeds(self, rng_key: RunKey, num_arms: int) -> Bool[Array, " K"]:
        return jnp.zeros(num_arms, dtype=bool)

    def _first_round(self, state: BatchedState) -> BatchedState:
        return state

    def _after_batch(
        self, rng_key: RunKey, state: BatchedState, rounds_left: RoundCount
    ) -> BatchedState:
        """Eliminate, and prepare the next batch."""
        return self._after_pairwise(state)

    # What they share

    def _after_pairwise(self, state: BatchedState) -> BatchedState:
        """Remove every arm that some active arm beats for sure (PCOMP)."""
        ahead = self._surely_ahead(state, hoeffding=1.0, kl=1.0)
        beaten = jnp.any(ahead & state.active[:, None], axis=0)
        active = without(state.active, beaten)
        return state._replace(
            active=active, level=state.level + 1, batch=new_batch(active, active)
        )

    def _start_pairwise(
        self,
        state: BatchedState,
        members: Bool[Array, " K"],
        rounds_left: RoundCount,
    ) -> BatchedState:
        """Hand the arms over to PCOMP, whose first round has the same exponent."""
        return state._replace(
            active=members,
            seeds=jnp.zeros_like(members),
            phase=jnp.int32(PAIRWISE),
            log_inverse_delta=self._log_inverse_delta(rounds_left, members),
            batch=new_batch(members, members),
        )

    def _surely_ahead(
        self, state: BatchedState, *, hoeffding: float, kl: float
    ) -> Bool[Array, "K K"]:
        """[i, j]: i beats j by this many radii, or at this share of the threshold.

        A lead of m radii gamma corresponds to N KL > m^2 log(1/delta), since
        2 N (m gamma)^2 is m^2 log(1/delta).
        """
        if self.elimination == "kl":
            ahead = state.wins > state.wins.T
            return ahead & (state.evidence > kl * state.log_inverse_delta)
        duels = jnp.maximum(state.batch.duels, 1).astype(jnp.float64)
        radius = jnp.sqrt(state.log_inverse_delta / (2.0 * duels))
        return state.evidence.astype(jnp.float64) > hoeffding * 2.0 * duels * radius

    def _add_evidence(self, state: BatchedState, duel: Duel, outcome: Outcome) -> Array:
        if self.elimination == "hoeffding":
            none = jnp.zeros_like(state.wins)
            won = add_wins(none, duel, outcome)
            return state.evidence + won - won.T
        won = entry_of(state.wins, duel.first, duel.second) + outcome.wins
        lost = entry_of(state.wins, duel.second, duel.first)
        lost = lost + outcome.rounds - outcome.wins
        total = jnp.maximum(won + lost, 1).astype(jnp.float64)
        gap = 0.5 * (won - lost).astype(jnp.float64) / total
        changed = pair_mask(state.wins.shape[0], duel) & (duel.first != duel.second)
        return jnp.where(changed, total * kl_to_half(gap), state.evidence)

    def _duels(self, state: BatchedState) -> RoundCount:
        """c_r = floor(T^(r/B)); T itself from r = B on."""
        return batch_size(state.horizon, state.level, self.num_batches)

    def _log_inverse_delta(
        self, rounds: RoundCount, members: Bool[Array, " K"]
    ) -> Float[Array, ""]:
        """log(6 T K^2 B) for Hoeffding, log(T K^2) for the divergences.

        As sums of logarithms: a product would overflow.
        """
        arms = jnp.sum(members, dtype=jnp.int32).astype(jnp.float64)
        rounds = jnp.maximum(jnp.asarray(rounds).astype(jnp.float64), 1.0)
        value = jnp.log(rounds) + 2.0 * jnp.log(jnp.maximum(arms, 1.0))
        if self.elimination == "kl":
            return value
        batches = jnp.asarray(self.num_batches, dtype=jnp.float64)
        return value + jnp.log(6.0 * batches)


def new_batch(challengers: Bool[Array, " K"], rivals: Bool[Array, " K"]) -> Batch:
    """Plan a batch; how many duels it has is decided when it begins."""
    return Batch(
        challengers=challengers,
        rivals=rivals,
        place=jnp.int32(-1),
        asked=jnp.int32(0),
        answered=jnp.int32(0),
        duels=jnp.int64(0),
        extra=jnp.int64(0),
        complete=jnp.bool_(False),
    )


def num_pairs(batch: Batch) -> Int[Array, ""]:
    """Count the unordered pairs of a batch."""
    inside = jnp.sum(batch.challengers, dtype=jnp.int32)
    outside = jnp.sum(batch.rivals, dtype=jnp.int32) - inside
    return inside * (inside - 1) // 2 + inside * outside


def without(members: Bool[Array, " K"], beaten: Bool[Array, " K"]) -> Bool[Array, " K"]:
    """Remove the beaten arms, or none if nobody would be left."""
    left = members & ~beaten
    return jnp.where(jnp.any(left), left, members)


def where_state(
    which: Bool[Array, ""], one: BatchedState, other: BatchedState
) -> BatchedState:
    """Pick one of two states."""
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), one, other)


def _sized(
    batch: Batch,
    pairs: Int[Array, ""],
    left: RoundCount,
    duels: RoundCount,
    begins: Bool[Array, ""],
) -> Batch:
    """Decide how often each pair meets: less than planned where T is near."""
    pairs = jnp.maximum(pairs, 1).astype(jnp.int64)
    complete = duels <= left // pairs
    fresh: dict[str, Any] = {
        "duels": jnp.where(complete, duels, left // pairs),
        "extra": jnp.where(complete, 0, left % pairs),
        "complete": complete,
    }
    return batch._replace(
        **{
            name: jnp.where(begins, value, getattr(batch, name))
            for name, value in fresh.items()
        }
    )


def _next_place(batch: Batch) -> Int[Array, ""]:
    """Find the first pair of the batch after the last one asked for."""
    num_arms = batch.rivals.shape[0]
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    places = arms[:, None] * num_arms + arms[None, :]
    one = batch.challengers[:, None] & batch.rivals[None, :]
    planned = (one | one.T) & (arms[:, None] < arms[None, :])
    past = num_arms * num_arms
    found = jnp.min(jnp.where(planned & (places > batch.place), places, past))
    return jnp.minimum(found, past - 1).astype(jnp.int32)
