"""Open worlds beside the fast loop of a matrix, per event and per round.

A matrix is played three times, with the same random numbers and the same runs: by the
loop of matrices, as a compiled world, and as a world in plain Python. A drifting world
shows what a round costs in which everything changes.
"""

import time
from statistics import median

import numpy as np

import bayesduel
from bayesduel.instances.world import LAST_ROUND
from bayesduel.policies import get
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment, WorldEnvironment

from .timing import report

_REPETITIONS = 5
RUNS, HORIZON = 20, 20_000


class Fixed(bayesduel.World):
    """A matrix with its regret."""

    values: object = None

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return len(self.values)  # pyright: ignore[reportArgumentType]

    def start(self, horizon, rng):  # noqa: ANN001, ANN201, D102
        return np.zeros(1)

    def unchanged_until(self, state, round_):  # noqa: ANN001, ANN201, D102
        return LAST_ROUND

    def probability(self, state, rng, round_, first, second):  # noqa: ANN001, ANN201, D102
        return self.values[first, second]

    def regret(self, state, round_, first, second):  # noqa: ANN001, ANN201, D102
        return (self.values[0, first] + self.values[0, second] - 1) / 2


class Drifting(Fixed):
    """The same, with a contrast that changes in every round."""

    def unchanged_until(self, state, round_):  # noqa: ANN001, ANN201, D102
        return round_

    def probability(self, state, rng, round_, first, second):  # noqa: ANN001, ANN201, D102
        return 0.5 + (self.values[first, second] - 0.5) * np.cos(1e-5 * round_)


class Alternate(bayesduel.Policy):
    """Lets all pairs meet in turn, so that a round costs the loop and nothing else."""

    def start(self, problem, rng):  # noqa: ANN001, ANN201, D102
        return np.zeros(2, dtype=np.int64) + problem.num_arms

    def choose(self, state, rng, round_):  # noqa: ANN001, ANN201, D102
        return round_ % state[0], (round_ + 1) % state[0]

    def update(self, state, rng, round_, first, second, won):  # noqa: ANN001, ANN201, D102
        state[1] += won

    def recommend(self, state, rng):  # noqa: ANN001, ANN201, D102
        return 0


def main() -> None:
    """Print microseconds per event and the ratio to the loop of a matrix."""
    values = np.array(bayesduel.load("mslr5-condorcet").values)
    matrix = PairwiseEnvironment(values)
    rows = []
    for name in ("rucb", "d-ts", "rmed1"):
        for world in (Fixed(values, compiled=True), Drifting(values, compiled=True)):
            rows.append(_compared(matrix, world, get(name)))
    rows.append(
        _compared(matrix, Fixed(values, compiled=True), Alternate(compiled=True))
    )
    report("Compiled worlds beside the loop of a matrix", rows)
    plain = [
        _compared(None, world, policy, runs=4)
        for world in (Fixed(values), Drifting(values))
        for policy in (Alternate(), get("rucb"), get("d-ts"))
    ]
    report("Worlds in plain Python", plain)


def _compared(
    matrix: PairwiseEnvironment | None,
    world: bayesduel.World,
    policy: PolicyBase,
    runs: int = RUNS,
) -> dict[str, object]:
    opened = WorldEnvironment(world, 1)
    fast, slow = [], []
    for _ in range(_REPETITIONS):
        if matrix is not None:
            fast.append(_per_event(matrix, policy, runs))
        slow.append(_per_event(opened, policy, runs))
    found: dict[str, object] = {
        "world": type(world).__name__,
        "policy": policy.label,
        "us per event": median(each[0] for each in slow),
        "us per round": median(each[1] for each in slow),
    }
    if matrix is not None:
        ratios = [one[0] / other[0] for one, other in zip(slow, fast, strict=True)]
        found |= {
            "matrix, us per event": median(each[0] for each in fast),
            "ratio": median(ratios),
        }
    return found


def _per_event(
    environment: PairwiseEnvironment | WorldEnvironment,
    policy: PolicyBase,
    runs: int,
) -> tuple[float, float]:
    began = time.process_time()
    records = run_chunk(
        environment,
        policy,
        runs=range(runs),
        checkpoints=np.array([HORIZON]),
        seed=1,
    )
    total = time.process_time() - began
    seconds = min(total, records.run_seconds)
    return 1e6 * seconds / records.events.sum(), 1e6 * seconds / (runs * HORIZON)
