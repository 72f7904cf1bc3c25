"""What a question of a study costs, the replay of a long one, and what is idle."""

import random
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from bayesduel.arguments.limits import PATIENCE
from bayesduel.studies import Study

POLICIES = (
    "balanced",
    "information",
    "information/bradley-terry",
    "information/thurstone",
    "d-ts+",
    "rucb",
    "ecw-rmed",
    "bt-ts",
)
QUESTIONS = 100
EVENTS = 10**5

EASY = ((0.5, 0.9, 0.9, 0.9), (0.1, 0.5, 0.8, 0.8), (0.1, 0.2, 0.5, 0.7))
"""The upper part of a matrix of four arms that are told apart soon."""

JUMPING = ("d-ts+", "rd-ts", "rcs", "rmed2", "rmed1", "ccb", "rucb", "ecw-rmed")


def vote(study, rng):
    """Ask once and answer; return the processor seconds of either."""
    began = time.process_time()
    (ticket,) = study.ask()
    asked = time.process_time()
    left, right = float(ticket.left), float(ticket.right)
    study.tell(ticket, "left" if rng.random() < left / (left + right) else "right")
    return asked - began, time.process_time() - asked


def questions(folder, policy, num_arms):
    """Print the median and the largest cost of a question after the first one.

    Processor time: what others do on the machine is no part of it.
    """
    rng = random.Random(0)
    arms = [f"{1 + arm / num_arms}" for arm in range(num_arms)]
    name, _, model = policy.partition("/")
    path = folder / f"{name}{model}-{num_arms}.study"
    with Study.create(path, arms, name, model=model or "beta") as study:
        first, _ = vote(study, rng)
        taken = sorted(vote(study, rng) for _ in range(QUESTIONS))
        asked = [each for each, _ in taken]
        told = sorted(each for _, each in taken)
        began = time.process_time()
        study.status()
        print(
            f"{policy:25} {num_arms:4} arms: first {first:6.2f} s, then median "
            f"{1e3 * asked[QUESTIONS // 2]:6.1f} ms, largest {1e3 * asked[-1]:6.1f} ms;"
            f" answer {1e3 * told[QUESTIONS // 2]:.1f} ms;"
            f" status {1e3 * (time.process_time() - began):.0f} ms",
            flush=True,
        )


def replay(folder, policy):
    """Print how long it takes to open a study of many events, and to ask."""
    path = folder / f"long-{policy}.study"
    rng = random.Random(0)
    arms = [f"{1 + arm / 100}" for arm in range(20)]
    with Study.create(path, arms, policy) as study:
        # The cost of the disk is no part of it.
        study._log._connection.execute("PRAGMA synchronous=OFF")
        while study._current().last < EVENTS:
            vote(study, rng)
    began = time.process_time()
    with Study.open(path) as study:
        opened = time.process_time()
        study.ask()
        print(
            f"{policy:12} {EVENTS} events: opened in {opened - began:.2f} s, "
            f"asked after {time.process_time() - opened:.2f} s (processor time)"
        )


def idle_rounds(folder, policy, num_questions=300):
    """Print how many rounds a policy exploits between two questions, later on.

    More than ``PATIENCE`` of them could not be stepped through.
    """
    rng, idle = random.Random(1), [0]
    path = folder / f"idle-{policy}.study"
    with Study.create(path, [*"0123"], policy, seed=3) as study:
        for _ in range(num_questions):
            (ticket,) = study.ask()
            idle.append(study.status().idle_rounds)
            left, right = int(ticket.left), int(ticket.right)
            wins = EASY[left][right] if left < right else 1 - EASY[right][left]
            study.tell(ticket, "left" if rng.random() < wins else "right")
    waits = [after - before for before, after in pairwise(idle)]
    late = waits[num_questions // 2 :]
    share = sum(rounds > PATIENCE for rounds in late) / len(late)
    print(
        f"{policy:12} idle rounds: median {median(late):.2g}, most {max(late):.2g},"
        f" above {PATIENCE} in {share:.0%}",
        flush=True,
    )


def main():
    """Print all of it."""
    with tempfile.TemporaryDirectory() as name:
        for policy in POLICIES:
            for num_arms in (20, 130):
                questions(Path(name), policy, num_arms)
        for policy in ("balanced", "d-ts+"):
            replay(Path(name), policy)
        for policy in JUMPING:
            idle_rounds(Path(name), policy)
