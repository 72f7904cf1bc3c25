"""Simulating policies that offer subsets, and replaying them round by round."""

from typing import Any, NamedTuple

import numpy as np

from bayesduel.instances import choice
from bayesduel.policies.policy import Problem
from bayesduel.simulation import SubsetEnvironment, set_worlds
from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.set_rounds import as_offer

WEIGHTS = np.array([0.35, 0.9, 0.2, 0.7, 0.5])
"""Five arms, in an order of no meaning."""

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
    environment = SubsetEnvironment(
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


def replay(policy, world, runs, horizon, seed=0) -> list[list[Round]]:
    """Play some runs without the simulator's loop, in Python; return their events."""
    environment = SubsetEnvironment(world, (world.default_notion,), shuffle=False)
    return [
        events_of_run(policy, environment, horizon, np.random.default_rng((seed, run)))
        for run in range(runs)
    ]


def events_of_run(policy, environment, horizon, rng) -> list[Round]:
    """Play one run of a rule in NumPy, in Python."""
    world = set_worlds.set_world(environment.world, environment.notions)
    lane = set_worlds.new_lane(world, rng.permutation(environment.num_arms))
    size, revenues = environment.world.subset_size, environment.world.revenues
    if revenues is None:
        revenues = np.ones(environment.num_arms)
    revenues = np.array(revenues)[lane.order]
    problem = Problem(environment.num_arms, horizon, None, size, revenues)
    state = policy.start(problem, rng)
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
