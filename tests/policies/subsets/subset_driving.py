"""Simulating policies that offer subsets, and replaying them round by round."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesduel.instances import choice
from bayesduel.policies import SubsetPolicy
from bayesduel.simulation import SubsetEnvironment, set_worlds
from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.set_rounds import as_offer
from tests.compiling import quick_jit

WEIGHTS = np.array([0.35, 0.9, 0.2, 0.7, 0.5])
"""Of five arms, in an order of no meaning."""

SIZE = 3

WORLD = choice.multinomial_logit(WEIGHTS, SIZE)
"""Every policy can play here: one winner or none, any set of up to three arms."""

NOTIONS = ("topk", "winner")
"""Regret that follows from who was offered, for sets of three."""

CHECKPOINTS = (40, 120, 300)
NUM_RUNS, NUM_LANES = 160, 40


def simulate_offers(policy, world=WORLD, **options) -> RunRecords:
    """Call the simulator; arms are shuffled in each run unless told otherwise."""
    notions = options.pop("notions", NOTIONS)
    environment = SubsetEnvironment.from_world(
        world, notions, shuffle=options.pop("shuffle", True)
    )
    checkpoints = np.array(options.pop("checkpoints", CHECKPOINTS), dtype=np.int64)
    settings = {"runs": range(NUM_RUNS), "seed": 0, "num_lanes": NUM_LANES} | options
    return run_chunk(environment, policy, checkpoints=checkpoints, **settings)


class Round(NamedTuple):
    """One event of a replay."""

    subset: Any
    rounds: Any
    rewards: Any


def replay(policy, world, runs, horizon, seed=0, most_events=None) -> list[list[Round]]:
    """Play some runs without the simulator's lanes; return their events.

    Arms keep their numbers. A run takes at most ``most_events`` events, by default as
    many as rounds.
    """
    environment = SubsetEnvironment.from_world(world, (world.regret,), shuffle=False)
    most_events = most_events or horizon
    if isinstance(policy, SubsetPolicy):
        return [
            _events(policy, environment, horizon, np.random.default_rng((seed, run)))
            for run in range(runs)
        ]
    with jax.enable_x64(True):
        environment = jax.tree.map(jnp.asarray, environment)
        keys = jax.random.split(jax.random.key(seed), runs)
        program = _program(environment, policy, horizon, most_events)
        played = jax.tree.map(np.asarray, program(keys))
    found = []
    for run in range(runs):
        count = int(np.count_nonzero(played.rounds[run]))
        found.append(
            [Round(*(leaf[run, event] for leaf in played)) for event in range(count)]
        )
    return found


def _events(policy, environment, horizon, rng) -> list[Round]:
    """Play one run of a rule in NumPy, in Python."""
    world = set_worlds.set_world(environment)
    lane = set_worlds.new_lane(world, rng.permutation(environment.num_arms))
    sizes = environment.num_arms, environment.subset_size, horizon
    state = policy.start(*sizes, environment.revenues[lane.order], rng)
    played, events = 0, []
    while played < horizon:
        offer = as_offer(policy.choose(state, rng, played + 1))
        set_worlds.put_forward(world, lane, offer.subset)
        most = min(offer.rounds, horizon - played)
        rounds = set_worlds.answer(world, lane, rng, most, offer.until_no_choice)
        played += rounds
        events.append(Round(offer.subset.copy(), rounds, lane.rewards.copy()))
        policy.update(state, rng, played, offer.subset, rounds, lane.rewards)
    return events


def _program(environment, policy, horizon, most_events):
    def one(key):
        key_lane, key_init, key_events = jax.random.split(key, 3)
        arms = jnp.arange(environment.num_arms, dtype=jnp.int32)
        lane = environment.init(jax.random.permutation(key_lane, arms))
        end = jnp.int64(horizon)

        def advance(carry, number):
            state, played = carry
            keys = jax.random.split(jax.random.fold_in(key_events, number), 3)
            offer, chosen = policy.choose(keys[0], state, played + 1)
            offer, rewards, rounds = environment.play(
                keys[1], lane, offer, end - played, in_bulk=policy.explores_in_bulk
            )
            now = played + rounds
            after = policy.update(keys[2], chosen, now, offer, rewards)
            active = played < end
            carry = jax.tree.map(
                lambda a, b: jnp.where(active, a, b), (after, now), (state, played)
            )
            return carry, Round(
                offer.subset, jnp.where(active, rounds, 0), rewards.rewards
            )

        state = environment.init_policy(policy, key_init, lane, end)
        numbers = jnp.arange(most_events, dtype=jnp.uint32)
        return jax.lax.scan(advance, (state, jnp.int64(0)), numbers)[1]

    return quick_jit(jax.vmap(one))
