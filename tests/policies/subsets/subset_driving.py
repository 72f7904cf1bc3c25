"""Simulating policies that offer subsets, and replaying them round by round."""

from typing import Any, NamedTuple

import numpy as np

from bayesduel.instances import choice
from bayesduel.simulation import SubsetEnvironment, set_rounds
from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.rounds import new_progress
from bayesduel.simulation.set_runs import SetRuns

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
    rounds: int
    rewards: Any


class Watched:
    """A policy whose events are written down."""

    def __init__(self, policy) -> None:
        self.start, self.choose = policy.start, policy.choose
        self.recommend, self._update = policy.recommend, policy.update
        self.events: list[Round] = []

    def update(self, state, rng, round_, subset, rounds, rewards) -> None:
        self.events.append(Round(subset.copy(), int(rounds), rewards.copy()))
        self._update(state, rng, round_, subset, rounds, rewards)


def replay(policy, world, runs, horizon, seed=0, most_events=None) -> list[list[Round]]:
    """Play some runs in plain Python; return their events.

    Arms keep their numbers. A run takes at most ``most_events`` events, by default as
    many as rounds.
    """
    environment = SubsetEnvironment.from_world(world, (world.regret,), shuffle=False)
    played = SetRuns(environment, runs, np.array([horizon], dtype=np.int64))
    order, found = np.arange(world.num_arms), []
    for run, progress in enumerate(new_progress(runs)):
        watched, rng = Watched(policy), np.random.default_rng([seed, run])
        state = played.start(watched, order, rng)
        given = played.tables(run, order, progress)
        set_rounds.play(watched, state, rng, *given, most_events or horizon)
        found.append(watched.events)
    return found
