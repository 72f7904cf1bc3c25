"""What questions in parallel cost: votes until a winner is named, by batch size.

``python -m benchmarks.batches --runs 100 --out docs/batches.json`` plays every policy
with a :class:`bayesduel.Player` that asks n questions at a time, and is told the
answers of all of them before it asks again. After each batch a look is taken at
:class:`bayesduel.stopping.AnytimeEvidence`. Votes are those that were asked for, so the
last batch counts in full. ``docs/how_to/batches.md`` draws the result.
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

POLICIES = ("d-ts+", "rd-ts:cost=duels", "track-and-stop", "random:distinct=true")
SIZES = (1, 8, 20, 32, 128)
WIDTHS = {"sushi": 0.05}
"""Where the best arms are close: pairs within it of 1/2 count either way."""
_SEED = 1618


def bradley_terry(num_arms: int = 20) -> np.ndarray:
    """Return a matrix of one scale: the best arm is 0.8 above the next ones."""
    utilities = np.append(0.8, np.linspace(0.0, -2.0, num_arms - 1))
    return 1.0 / (1.0 + np.exp(utilities - utilities[:, None]))


def worlds() -> dict[str, np.ndarray]:
    """Return the matrices by name."""
    cyclic = bayesduel.load("cyclic").values
    sushi = bayesduel.load("sushi").values
    return {"cyclic": cyclic, "bradley-terry-20": bradley_terry(), "sushi": sushi}


def right_within(matrix: np.ndarray, width: float) -> set[int]:
    """Return the arms that are winners once pairs within the width count for them."""
    at_most = (matrix > 0.5 - width).sum(axis=1) - 1
    at_least = (matrix > 0.5 + width).sum(axis=1)
    return {int(arm) for arm in np.flatnonzero(at_most >= at_least.max())}


def votes_until_named(
    matrix: np.ndarray,
    policy: str,
    size: int,
    run: int,
    delta: float,
    most: int,
    width: float = 0.0,
) -> tuple[int, int]:
    """Return the votes of a run until an arm is named, and the arm; -1 for none."""
    rng = np.random.default_rng((_SEED, run))
    order = rng.permutation(len(matrix))
    player = Player(policy, num_arms=len(matrix), seed=run)
    rule = stopping.AnytimeEvidence(delta, width)
    state = unpacked(rule.new_state(len(matrix)))
    votes = 0
    while votes < most:
        for first, second in player.ask(size):
            won = bool(rng.random() < matrix[order[first], order[second]])
            player.tell(first, second, won)
            count(state, first, second, int(won), int(not won))
            votes += 1
        if (found := look(state, False)).stopped:
            return votes, int(order[found.answer])
    return votes, -1


def measured(
    name: str, policy: str, size: int, runs: int, delta: float, most: int
) -> dict[str, object]:
    """Return mean and median of the votes of some runs, with the standard error."""
    matrix, began = worlds()[name], time.perf_counter()
    width = WIDTHS.get(name, 0.0)
    found = [
        votes_until_named(matrix, policy, size, run, delta, most, width)
        for run in range(runs)
    ]
    votes, answers = (np.array(each) for each in zip(*found, strict=True))
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
    parser.add_argument("--world", nargs="+", default=list(worlds()))
    parser.add_argument("--policy", nargs="+", default=list(POLICIES))
    parser.add_argument("--size", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--most", type=int, default=10**6)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    rows = []
    for name in asked.world:
        for policy in asked.policy:
            for size in asked.size:
                given = name, policy, size, asked.runs, asked.delta, asked.most
                rows.append(measured(*given))
                print(json.dumps(rows[-1]), flush=True)
    if asked.out is not None:
        lines = ",\n  ".join(json.dumps(row) for row in rows)
        text = f'{{"delta": {asked.delta}, "rows": [\n  {lines}\n]}}\n'
        asked.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
