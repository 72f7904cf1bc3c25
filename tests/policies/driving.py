"""Driving policies without the simulator, with outcomes that are fixed in advance."""

from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.environments import PairwiseEnvironment
from bayesduel.types import Outcome
from tests.compiling import quick_jit

CHECKPOINTS = (40, 120, 300, 700)
NUM_RUNS = 256
"""Of the test of a distribution."""

FEW_RUNS = 32
"""Where no distribution is tested."""

NUM_LANES = 16
"""Every lane takes a second run. Tests that agree on the last two, on the number of
arms (4), and on the form of a policy share a program, as long as there are at most 128
checkpoints."""


def simulate_runs(policy, matrix, **options) -> RunRecords:
    """Call the simulator; arms are shuffled in each run unless told otherwise.

    Many runs are played a few at a time, by the program of the tests that need few; or
    ``at_once``.
    """
    environment = PairwiseEnvironment(
        np.array(matrix), shuffle=options.pop("shuffle", True)
    )
    checkpoints = np.array(options.pop("checkpoints", CHECKPOINTS), dtype=np.int64)
    runs = options.pop("runs", range(NUM_RUNS))
    settings = {"seed": 0, "num_lanes": NUM_LANES} | options
    settings |= {"checkpoints": checkpoints}
    # A rest of fewer runs would take a program of its own.
    size = FEW_RUNS if len(runs) % FEW_RUNS == 0 else len(runs)
    size = settings.pop("at_once", size)
    chunks = [runs[i : i + size] for i in range(0, len(runs), size)]
    return joined(
        [run_chunk(environment, policy, runs=each, **settings) for each in chunks]
    )


def joined(chunks) -> RunRecords:
    """Put the records of chunks one after the other."""
    if len(chunks) == 1:
        return chunks[0]
    first = chunks[0]
    arrays = {
        field.name: jax.tree.map(
            lambda *values: np.concatenate(values),
            *(getattr(each, field.name) for each in chunks),
        )
        for field in fields(first)
        if not field.name.endswith("_seconds") and field.name != "device"
    }
    return replace(first, **arrays)


class Event(NamedTuple):
    """One exchange between policy and environment; with rounds as really played."""

    round: Any
    champion: Any
    exploit_rounds: Any
    first: Any
    second: Any
    explore_rounds: Any


class Player(NamedTuple):
    """A run: its events (leading axis), and how it ended."""

    events: Event
    rounds: Any
    state: Any
    recommendation: Any


@partial(quick_jit, static_argnames=("num_events",))
def play(rule, outcomes, key, horizon, *, num_events) -> Player:
    """Play one run by the protocol of rules over models, at most ``num_events`` events.

    The key of an event is folded from its number.

    Parameters
    ----------
    rule : ModelRule
        What plays a policy over a model.
    outcomes : bool (K, K, N)
        Entry [i, j, n], i < j: whether i wins the n-th duel of the pair.
    horizon : int64
        Number of rounds.
    """
    num_arms = outcomes.shape[0]
    before = jnp.cumsum(outcomes, axis=2, dtype=jnp.int64) - outcomes
    key_init, key_end, key_events = jax.random.split(key, 3)
    start = (
        rule.init(key_init, num_arms, horizon),
        jnp.int64(0),
        jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
    )

    def advance(carry, number):
        state, played, counts = carry
        round_ = played + 1
        key = jax.random.fold_in(key_events, number)
        key_choose, key_update = jax.random.split(key)
        duel, chosen = rule.choose(key_choose, state, round_)
        left = horizon - played
        exploit = jnp.minimum(duel.exploit_rounds, left)
        explore = jnp.minimum(duel.explore_rounds, left - exploit)
        duel = duel._replace(exploit_rounds=exploit, explore_rounds=explore)
        low = jnp.minimum(duel.first, duel.second)
        high = jnp.maximum(duel.first, duel.second)
        done = counts[low, high]
        low_wins = before[low, high, done + explore] - before[low, high, done]
        wins = jnp.where(duel.first == low, low_wins, explore - low_wins)
        wins = jnp.where(low == high, explore, wins)
        now = played + exploit + explore
        outcome = Outcome(exploit_rounds=exploit, rounds=explore, wins=wins)
        updated = rule.update(key_update, chosen, now, duel, outcome)
        after = (
            updated,
            now,
            counts.at[low, high].add(explore),
        )
        active = played < horizon
        carry = jax.tree.map(lambda a, b: jnp.where(active, a, b), after, carry)
        event = Event(
            round=jnp.where(active, round_, 0),
            champion=duel.champion,
            exploit_rounds=jnp.where(active, exploit, 0),
            first=duel.first,
            second=duel.second,
            explore_rounds=jnp.where(active, explore, 0),
        )
        return carry, event

    numbers = jnp.arange(num_events, dtype=jnp.uint32)
    (state, played, _), events = jax.lax.scan(advance, start, numbers)
    return Player(events, played, state, rule.recommend(key_end, state))
