"""Small policies that do something known, or go wrong."""

import os
import signal
import time

import numpy as np

import bayesduel
from bayesduel import Duel
from bayesduel.simulation.runs import RunRecords
from tests.rules import Greedy


class Wanderer(bayesduel.Policy):
    """Duels at random, in stretches of random length."""

    title = "Wanderer"
    scale: float = 1.0
    bulk: int = 1

    @property
    def explores_in_bulk(self):
        return self.bulk > 1

    def start(self, problem, rng):
        # Longest stretch of this run: some runs take many more events than others.
        speed = np.floor(1 + np.exp(5 * rng.random()))
        nothing = np.zeros(problem.num_arms)
        return {"speed": speed, "won": nothing, "weight": nothing.copy()}

    def choose(self, state, rng, round_):
        first, second = rng.integers(0, len(state["won"]), 2)
        # A champion that depends on all that happened: a slip shows up in the plays.
        leader = np.argmax(state["weight"] + self.scale * rng.random())
        idle = int(rng.random() * state["speed"])
        return Duel(leader, idle, first, second, int(rng.integers(1, self.bulk + 1)))

    def update(self, state, rng, round_, first, second, won):
        state["won"][first] += won.won if self.bulk > 1 else won
        state["weight"][first] += rng.random() / np.log1p(round_)

    def recommend(self, state, rng):
        return np.argmax(state["won"] + rng.random(len(state["won"])))


class Scripted(bayesduel.Policy):
    """Position 2 duels itself, then 0 meets 1, always the same number of rounds.

    The state counts the duels and their wins of position 0, which is recommended as
    long as it has won every one of them.
    """

    title = "Scripted"
    explores_in_bulk = True
    exploit: int = 5
    explore: int = 3

    def start(self, problem, rng):
        return np.zeros(2, dtype=np.int64)

    def choose(self, state, rng, round_):
        return Duel(2, self.exploit, 0, 1, self.explore)

    def update(self, state, rng, round_, first, second, won):
        state += won.rounds, won.won

    def recommend(self, state, rng):
        return int(state[0] != state[1])


class Broken(bayesduel.Policy):
    """Passes the check, and fails when it is played."""

    title = "Broken"

    def start(self, *_):
        raise ZeroDivisionError("the program of this policy cannot be made")

    choose = update = recommend = start


class Deadly(Wanderer):
    """Ends the process that simulates it, as running out of memory would."""

    def start(self, problem, rng):
        os.kill(os.getpid(), signal.SIGKILL)
        return super().start(problem, rng)


class Sleepy(Greedy):
    """A rule in NumPy that sleeps before each run where the environment says so."""

    def start(self, problem, rng):
        time.sleep(float(os.environ.get("SLEEPY_SECONDS", "0")))
        return super().start(problem, rng)


def instant_run_chunk(calls):
    """Return a stand-in for ``run_chunk`` that only notes what it was asked for.

    The plays are a function of seed, run, matrix and policy, as those of the real one.
    """

    def run_chunk(environment, policy, *, runs, checkpoints, seed, **options):
        calls.append((policy, runs))
        if isinstance(policy, Broken):
            raise ZeroDivisionError("the program of this policy cannot be made")
        num_arms = environment.num_arms
        plays = np.zeros((len(runs), len(checkpoints), num_arms, num_arms), np.int64)
        best, events = [], []
        for index, run in enumerate(runs):
            own = int(1e6 * environment.preference[0, 1])
            rng = np.random.default_rng([seed, run, own, len(repr(policy))])
            pair = np.sort(rng.integers(0, num_arms, 2))
            plays[index, :, pair[0], pair[1]] = checkpoints
            best.append(rng.integers(0, num_arms))
            events.append(rng.integers(1, 100))
        return RunRecords(
            ledger={"plays": plays},
            recommendation=np.array(best, dtype=np.int64),
            events=np.array(events, dtype=np.int64),
            info={"marks": np.array(best, dtype=np.float64) / 3},
            run_seconds=0.25,
            compile_seconds=0.5,
        )

    return run_chunk
