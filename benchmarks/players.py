"""Time of a question and its answer in memory, and of a start from a million votes.

Both beside plain NumPy: a loop that draws a Beta distribution for each pair, and a loop
over the votes. Processor time, after a first question.
"""

import random
import time

import numpy as np

from bayesduel import Player

POLICIES = ("d-ts+", "d-ts", "rucb", "rmed1", "ecw-rmed")
NUM_ARMS, QUESTIONS, VOTES = 20, 10**4, 10**6
TOLD_IN_NUMPY = 10**5
"""Votes that the loop is timed for: it takes as long for each."""


def answer(first: int, second: int, rng: random.Random) -> bool:
    """Return whether the first arm wins: lower numbers are better."""
    return rng.random() < 1.0 / (1.0 + np.exp(0.2 * (first - second)))


def million_votes() -> np.ndarray:
    """Return wins of all pairs, a million together."""
    wins = np.zeros((NUM_ARMS, NUM_ARMS), dtype=np.int64)
    row, column = np.triu_indices(NUM_ARMS, 1)
    each = VOTES // len(row)
    shares = 1.0 / (1.0 + np.exp(0.1 * (row - column)))
    wins[row, column] = np.random.default_rng(0).binomial(each, shares)
    wins[column, row] = each - wins[row, column]
    return wins


def by_player(policy: str) -> float:
    """Return the seconds of all questions and answers."""
    player, rng = Player(policy, NUM_ARMS, seed=1), random.Random(0)
    player.tell(*player.ask(), won=True)
    began = time.process_time()
    for _ in range(QUESTIONS):
        first, second = player.ask()
        player.tell(first, second, answer(first, second, rng))
    return time.process_time() - began


def by_loop() -> float:
    """Return the seconds of as many questions of Thompson sampling in plain NumPy."""
    wins, rng = np.zeros((NUM_ARMS, NUM_ARMS)), np.random.default_rng(0)
    coins = random.Random(0)
    began = time.process_time()
    for _ in range(QUESTIONS):
        sample = rng.beta(wins + 1.0, wins.T + 1.0)
        first = int((sample > 0.5).sum(axis=1).argmax())
        sample = rng.beta(wins[:, first] + 1.0, wins[first] + 1.0)
        sample[first] = 0.0
        second = int(sample.argmax())
        if answer(first, second, coins):
            wins[first, second] += 1.0
        else:
            wins[second, first] += 1.0
    return time.process_time() - began


def start(policy: str, wins: np.ndarray) -> float:
    """Return the seconds of a start from votes."""
    Player(policy, votes=wins)
    began = time.process_time()
    Player(policy, votes=wins)
    return time.process_time() - began


def counted(wins: np.ndarray) -> float:
    """Return the seconds of counting as many votes one by one in NumPy."""
    pairs = np.argwhere(wins)
    places = np.resize(np.arange(len(pairs)), TOLD_IN_NUMPY)
    counts = np.zeros_like(wins)
    began = time.process_time()
    for first, second in pairs[places]:
        counts[first, second] += 1
    return (time.process_time() - began) * VOTES / TOLD_IN_NUMPY


def main() -> None:
    """Print a line for each policy."""
    wins = million_votes()
    loop, counting = by_loop(), counted(wins)
    print(
        f"{NUM_ARMS} arms; NumPy: {QUESTIONS:,} questions {loop:.2f} s, "
        f"{VOTES:,} votes {counting:.2f} s"
    )
    for policy in POLICIES:
        asked, begun = by_player(policy), start(policy, wins)
        print(
            f"{policy:10} {QUESTIONS / asked:8,.0f} questions a second "
            f"({asked / loop:.2f} of NumPy's time); start from {VOTES:,} votes "
            f"{1e3 * begun:6.1f} ms ({begun / counting:.4f} of it)",
            flush=True,
        )
