"""Votes until a winner is named, by the number of questions asked at once.

``python -m benchmarks.batches --runs 100 --out docs/batches.json`` plays every policy
with a :class:`bayesduel.Player` that asks n questions at a time, and is told the
answers of all of them before it asks again. After each batch a look is taken at
:class:`bayesduel.stopping.AnytimeEvidence`. Votes are those that were asked for, so the
last batch counts in full. On recorded votes (``arena-15``) :func:`bayesduel.next_pairs`
asks, and each question uses up one vote. ``docs/how_to/batches.md`` draws the result.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np

import bayesduel
from bayesduel import Player, stopping
from bayesduel.ops.scalar.uncompiled import unpacked
from bayesduel.stopping.base import count, look
from benchmarks.recorded_votes import Recorded, batches_by_next_pairs, right_within
from benchmarks.replay import DATA

POLICIES = ("d-ts+", "rd-ts:cost=duels", "track-and-stop", "random:distinct=true")
SIZES = (1, 8, 20, 32, 128)
WORLDS = ("cyclic", "bradley-terry-20", "sushi", "arena-15")
WIDTHS = {"sushi": 0.05, "arena-15": 0.05}
"""Where the best arms are close: pairs within it of 1/2 count either way."""
_SEED = 1618


def bradley_terry(num_arms: int = 20) -> np.ndarray:
    """Return a matrix of one scale: the best arm is 0.8 above the next ones."""
    utilities = np.append(0.8, np.linspace(0.0, -2.0, num_arms - 1))
    return 1.0 / (1.0 + np.exp(utilities - utilities[:, None]))


def worlds(name: str) -> np.ndarray | Recorded:
    """Return a matrix, or recorded votes that answer questions."""
    if name in DATA:
        return DATA[name]()
    if name == "bradley-terry-20":
        return bradley_terry()
    return bayesduel.load(name).values


def votes_until_named(
    world: np.ndarray | Recorded,
    policy: str,
    size: int,
    run: int,
    delta: float,
    most: int,
    width: float = 0.0,
) -> tuple[int, int]:
    """Return the votes of a run until an arm is named, and the arm; -1 for none."""
    is_recorded = isinstance(world, Recorded)
    num_arms = len(world.arms) if is_recorded else len(world)
    order = np.arange(num_arms)
    if not is_recorded:
        rng = np.random.default_rng((_SEED, run))
        order = rng.permutation(num_arms)
        player = Player(policy, num_arms=num_arms, seed=run)

    def batches():
        """Yield the winner and loser of each vote of a batch, or None for a tie."""
        if is_recorded:
            yield from batches_by_next_pairs(world, policy, run, size)
            return
        while True:
            batch = []
            for first, second in player.ask(size):
                won = bool(rng.random() < world[order[first], order[second]])
                player.tell(first, second, won)
                batch.append((first, second) if won else (second, first))
            yield batch

    state = unpacked(stopping.AnytimeEvidence(delta, width).new_state(num_arms))
    votes = 0
    for batch in batches():
        for winner, loser in filter(None, batch):
            count(state, winner, loser, 1, 0)
        votes += len(batch)
        if (verdict := look(state, False)).stopped:
            return votes, int(order[verdict.answer])
        if votes >= most:
            break
    return votes, -1


def measured(
    name: str, policy: str, size: int, runs: int, delta: float, most: int
) -> dict[str, object]:
    """Return mean and median of the votes of some runs, with the standard error."""
    world, began = worlds(name), time.perf_counter()
    width = WIDTHS.get(name, 0.0)
    results = [
        votes_until_named(world, policy, size, run, delta, most, width)
        for run in range(runs)
    ]
    votes, answers = np.array(results).T
    matrix = world.matrix.values if isinstance(world, Recorded) else world
    wrong = set(answers[answers >= 0].tolist()) - right_within(matrix, width)
    return {
        "world": name,
        "policy": policy,
        "size": size,
        "runs": runs,
        "votes": round(float(votes.mean()), 1),
        "error": round(float(votes.std(ddof=1)) / math.sqrt(runs), 1),
        "median": float(np.median(votes)),
        "wrong": int(np.isin(answers, [*wrong]).sum()),
        "undecided": int((answers < 0).sum()),
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    """Print a line per world, policy and size, and save all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", nargs="+", default=list(WORLDS))
    parser.add_argument("--policy", nargs="+", default=list(POLICIES))
    parser.add_argument("--size", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--most", type=int, default=10**6)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.world:
        for policy in arguments.policy:
            for size in arguments.size:
                plan = arguments.runs, arguments.delta, arguments.most
                rows.append(measured(name, policy, size, *plan))
                print(json.dumps(rows[-1]), flush=True)
    if arguments.out is not None:
        lines = ",\n  ".join(json.dumps(row) for row in rows)
        text = f'{{"delta": {arguments.delta}, "rows": [\n  {lines}\n]}}\n'
        arguments.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
