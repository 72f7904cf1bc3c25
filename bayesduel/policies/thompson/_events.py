"""The next round of D-TS that may teach something, drawn without stepping to it.

A round is *idle* if no relevant sign flips (see ``idle_rounds``) and the first arm
meets no success in its column. Rounds being independent while the sets hold, the idle
rounds before the next other one are geometric in number, and that one is drawn from the
law of a round given that it is not idle: either some relevant sign flips (with
probability A), or none does and an eligible challenger succeeds (Bq).

All probabilities are kept as rates, -log(1 - p), and added, P(idle) = exp(-hazard)
included: late in a run A + Bq is 1e-6 to 1e-12, and 1 - (1 - A - Bq) would have no
digits left; where a leader has a sure superior, A + Bq could be rounded above 1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import (
    MANY_ARMS,
    column_of,
    element_of,
    materialize,
    row_of,
    symmetric_matrix,
    upper_triangle,
)
from bayesduel.ops.sampling import (
    at_least_one,
    choose_weighted,
    cumulative,
    pick,
    truncated_exponential,
    waiting_time_at_rate,
)
from bayesduel.policies.thompson._idle_rounds import (
    Majority,
    RoundSets,
    challenge_rates,
    majority,
    success_of_challengers,
)
from bayesduel.policies.thompson._least_regret import (
    least_estimated_regret,
    most_votes,
    regret_per_pair,
    sampled_winners,
)
from bayesduel.policies.thompson._sampled_votes import votes_given_first_flip
from bayesduel.posteriors.beta_above_half import (
    UNIFORMS_PER_ATTEMPT,
    offsets_above_half,
)
from bayesduel.posteriors.beta_pairs import PairBeliefs, pseudo_wins
from bayesduel.types import Arm, RoundCount, RunKey

CONTESTANTS = 2
"""Second samples drawn per event when several arms exceed 1/2."""

_NUM_SCALARS = 7

_FINE = 2.0**-32
"""What a word of 32 bits leaves open."""


class EventDraws(NamedTuple):
    """One event's uniforms on [0, 1), by purpose; one generator call makes them all."""

    wait: Float[Array, ""]
    branch: Float[Array, ""]
    flip: Float[Array, ""]
    idle: Float[Array, ""]
    first: Float[Array, ""]
    success: Float[Array, ""]
    column_rank: Float[Array, ""]
    signs: Float[Array, "K K"] | Float[Array, "0"]
    """Empty where :func:`_votes_of_many` draws its own."""

    idle_signs: Float[Array, "K K"] | Float[Array, "0"]
    column: Float[Array, " K"]
    contest: Float[Array, "U 2"]


class Event(NamedTuple):
    """Idle rounds of ``champion``, then one round of ``first`` with these successes."""

    champion: Arm
    idle_rounds: RoundCount
    happens: Bool[Array, ""]
    """False when the sets change before anything happens."""

    first: Arm
    successes: Bool[Array, " K"]
    """Eligible arms whose second sample against ``first`` exceeds 1/2."""


def draw_event_uniforms(
    rng_key: RunKey, num_arms: int, *, ties_by_regret: bool
) -> EventDraws:
    """Draw all uniforms of one event; consumes ``rng_key``.

    A triangle is laid out arm by arm. With 500 arms that would take minutes to compile,
    so of many arms half of the uniforms of a square stay unused.
    """
    many = num_arms > MANY_ARMS
    pairs = num_arms**2 if many else num_arms * (num_arms - 1) // 2
    sizes = (
        *(1,) * _NUM_SCALARS,
        pairs if ties_by_regret or not many else 0,
        pairs if ties_by_regret else 0,
        num_arms,
        UNIFORMS_PER_ATTEMPT * CONTESTANTS,
    )
    flat = jax.random.uniform(rng_key, (sum(sizes),), dtype=jnp.float64)
    (flat,) = materialize(flat)
    parts = jnp.split(flat, np.cumsum(sizes)[:-1])
    scalars = [part[0] for part in parts[:_NUM_SCALARS]]
    signs, idle_signs, column, contest = parts[_NUM_SCALARS:]
    lay_out = _mirrored if many else symmetric_matrix
    sign_matrix = lay_out(signs, num_arms) if signs.size else signs
    return EventDraws(
        *scalars,
        signs=sign_matrix,
        idle_signs=lay_out(idle_signs, num_arms) if ties_by_regret else sign_matrix,
        column=column,
        contest=contest.reshape(UNIFORMS_PER_ATTEMPT, CONTESTANTS),
    )


def _mirrored(values: Float[Array, " N"], num_arms: int) -> Float[Array, "K K"]:
    """Lay out a square and mirror what is above its diagonal."""
    square = values.reshape(num_arms, num_arms)
    upper = np.triu(np.ones((num_arms, num_arms), dtype=bool))
    return jnp.where(upper, square, square.T)


def next_event(
    rng_key: RunKey,
    draws: EventDraws,
    beliefs: PairBeliefs,
    sets: RoundSets,
    round_: RoundCount,
    *,
    ties_by_regret: bool,
) -> Event:
    """Draw the idle rounds from ``round_`` on and the round that ends them.

    ``rng_key`` serves the tie-break of D-TS+, which needs magnitudes of samples, and
    the signs of many arms.
    """
    now = Majority(*materialize(*majority(beliefs, sets.candidates)))
    flip_rates = jnp.where(now.relevant, beliefs.rate, 0.0)
    flip_rows = cumulative(jnp.sum(flip_rates, axis=1))
    column_rates = challenge_rates(beliefs, sets)
    success = success_of_challengers(column_rates, now.leaders)
    success_rate = success.rate
    if ties_by_regret:
        # The champion's law is not known in closed form. Whoever it is, its column
        # stays empty if an exponential variable exceeds the column's rate: one variable
        # for all leaders, drawn apart from the champion. So a round counts as idle if
        # that exceeds the largest of their rates.
        success_rate = jnp.max(jnp.where(now.leaders, column_rates, 0.0))
    hazard = flip_rows[-1] + success_rate
    idle_rounds, happens = waiting_time_at_rate(
        draws.wait, hazard, sets.last_round - round_ + 1
    )
    is_flip = draws.branch * -jnp.expm1(-hazard) < -jnp.expm1(-flip_rows[-1])
    is_flip, idle_rounds, happens = materialize(is_flip, idle_rounds, happens)

    first_flip = _first_flip(draws.flip, flip_rates, flip_rows)
    if draws.signs.size:
        free = now.trailing & (draws.signs < beliefs.chance)
        some = _flips_from(first_flip, now.relevant, free)
        flips = jnp.where(is_flip, some, free & ~now.relevant)
        (signs,) = materialize(_with_flips(now.signs, flips))
        votes = jnp.sum(signs, axis=1, dtype=jnp.int32)
    else:
        signs = now.signs
        votes = votes_given_first_flip(
            rng_key, first_flip, beliefs.chance, now, is_flip
        )
    if ties_by_regret:
        idle_flips = now.trailing & (draws.idle_signs < beliefs.chance) & ~now.relevant
        (idle_flips,) = materialize(idle_flips)
        key_idle, key_event = jax.random.split(rng_key)
        first = _least_regret_champion(
            key_event, draws.first, beliefs, sets, signs, happens
        )
        # Without a relevant flip the round that ends the stretch has the same law of
        # the first arm as the idle ones, so its draw serves both: that leaves every
        # mean as it is, and the magnitudes are the dear part of an event.
        stretch = _least_regret_champion(
            key_idle,
            draws.idle,
            beliefs,
            sets,
            _with_flips(now.signs, idle_flips),
            (idle_rounds > 0) & (is_flip | ~happens),
        )
        champion = jnp.where(is_flip | ~happens, stretch, first)
    else:
        champion = choose_weighted(draws.idle, success.staying)
        winners = most_votes(sets.candidates, votes).astype(success.leaving.dtype)
        first = choose_weighted(
            draws.first, jnp.where(is_flip, winners, success.leaving)
        )

    eligible = column_of(sets.eligible, first)
    freely = eligible & (draws.column < column_of(beliefs.chance, first))
    rates = jnp.where(eligible, column_of(beliefs.rate, first), 0.0)
    conditioned = at_least_one(draws.success, rates, freely)
    successes = jnp.where(is_flip, freely, conditioned)
    if ties_by_regret:
        level = truncated_exponential(draws.column_rank, success_rate)
        (succeeds,) = materialize(is_flip | (level < element_of(column_rates, first)))
        successes = successes & succeeds
    return Event(champion, idle_rounds, happens, first, successes)


def _first_flip(
    uniform: Float[Array, ""],
    rates: Float[Array, "K K"],
    row_totals: Float[Array, " K"],
) -> Int[Array, ""]:
    """Draw the first relevant flip given that there is one, as K * row + column.

    It lies where the running rate, row by row, passes a truncated exponential.
    """
    target = truncated_exponential(uniform, row_totals[-1])
    row = pick(target, row_totals)
    before = element_of(row_totals, row - 1)
    column = pick(target - before, cumulative(row_of(rates, row)))
    (first,) = materialize(row * rates.shape[0] + column)
    return first


def _flips_from(
    first: Int[Array, ""], relevant: Bool[Array, "K K"], free: Bool[Array, "K K"]
) -> Bool[Array, "K K"]:
    """Flips of all pairs given the first relevant one.

    Relevant pairs before it stay, all others flip freely.
    """
    num_arms = relevant.shape[0]
    position = np.arange(num_arms * num_arms, dtype=np.int32).reshape(num_arms, -1)
    later = free & ((position > first) | ~relevant)
    return later | (position == first)


def _with_flips(
    signs: Bool[Array, "K K"], flips: Bool[Array, "K K"]
) -> Bool[Array, "K K"]:
    """Turn pairs round; ``flips[i, j]`` lets i, which trails, beat j."""
    return (signs & ~flips.T) | flips


def _least_regret_champion(
    rng_key: RunKey,
    uniform: Float[Array, ""],
    beliefs: PairBeliefs,
    sets: RoundSets,
    signs: Bool[Array, "K K"],
    wanted: Bool[Array, ""],
) -> Arm:
    """Return the first arm of D-TS+ given the signs of its sample.

    Magnitudes are drawn given the signs, and only for pairs of tied arms that cost
    regret: no others enter the comparison. Without a tie, or where the arm is not
    ``wanted``, nothing is drawn.
    """
    tied = sampled_winners(sets.candidates, signs)
    several = (jnp.sum(tied, dtype=jnp.int32) > 1) & wanted
    involved = (tied[:, None] | tied[None, :]) & (regret_per_pair(signs) > 0.0)
    forward = upper_triangle(signs)
    counts = pseudo_wins(beliefs)
    one, other = upper_triangle(counts), upper_triangle(counts.T)
    offsets = offsets_above_half(
        rng_key,
        jnp.where(forward, one, other),
        jnp.where(forward, other, one),
        upper_triangle(involved) & several,
    )
    return least_estimated_regret(uniform, sets.candidates, signs, offsets)
