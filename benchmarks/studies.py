"""Time of a question of a study, of the replay of a long one, and of idle rounds.

Many judges at once stand beside the journal of Optuna, where that is installed.
"""

import importlib.util
import multiprocessing
import os
import random
import sqlite3
import tempfile
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median

from bayesduel.arguments.limits import PATIENCE
from bayesduel.studies import Study
from bayesduel.studies.events import body_text, chained

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


def written(path, num_arms, num_votes):
    """Write a long study straight into its file: asking so often would take hours."""
    rng = random.Random(0)
    with Study.create(path, [f"arm {arm}" for arm in range(num_arms)], "d-ts+") as made:
        (created,) = made.events()
    number, when, digest, rows = 1, created.time, created.digest, []
    for question in range(1, num_votes + 1):
        one, other = rng.sample(range(num_arms), 2)
        judge = f"judge {question % 20}"
        first = rng.random() * (one + other) < other
        asked = {"question": question, "left": one, "right": other, "rule": "d-ts+",
                 "reason": "", "lease": 3600.0, "judge": judge}  # fmt: skip
        answer = "left" if first else "right"
        answered = {"question": question, "answer": answer, "judge": judge}
        for kind, body in (("asked", asked), ("answered", answered)):
            number, when, text = number + 1, when + 1.0, body_text(body)
            digest = chained(digest, number, when, kind, text)
            rows.append((number, when, kind, text, digest))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("UPDATE seal SET count = ?, digest = ?", (number, digest))


def at_size(folder, num_arms=1000, num_votes=10**5):
    """Print what a large study costs, the first time and when it was seen before."""
    path = folder / "large.study"
    written(path, num_arms, num_votes)
    for what in ("first", "again"):
        clock = [time.process_time()]

        def lap(clock=clock):
            clock.append(time.process_time())
            return clock[-1] - clock[-2]

        with Study.open(path) as study:
            print(f"{what}: opened in {lap():.2f} s", end="")
            study.ask(judge="judge 1")
            print(f", asked after {lap():.2f} s", end="")
            study.ask(10)
            print(f", then {100 * lap():.1f} ms each", end="")
            study.status()
            print(f", status {lap():.1f} s", end="")
            study.status(full=True)
            print(f", all of it {lap():.1f} s (processor time)", flush=True)


def judge_alone(path, number, ready):
    """Ask and answer so often, as a process of its own; return processor seconds."""
    with Study.open(path) as study:
        ready.wait()
        began = time.process_time()
        for _ in range(number):
            (ticket,) = study.ask(judge=str(os.getpid()))
            study.tell(ticket, "left")
        return time.process_time() - began


def trials_alone(path, number, ready):
    """Ask Optuna for so many trials, and tell it of each."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(
        study_name="drinks", storage=storage, load_if_exists=True,
        sampler=optuna.samplers.RandomSampler(),
    )  # fmt: skip
    ready.wait()
    began = time.process_time()
    for _ in range(number):
        trial = study.ask()
        trial.suggest_categorical("pair", [*range(190)])
        study.tell(trial, 1.0)
    return time.process_time() - began


def _begun(alone, path, number, ready, found):
    found.put(alone(path, number, ready))


def at_once(folder, num_judges=20, number=20):
    """Print votes a second of many processes, and processor time of each vote."""
    path = folder / "many.study"
    Study.create(path, [f"arm {arm}" for arm in range(20)], "balanced").close()
    ways = {"study": (judge_alone, path)}
    if importlib.util.find_spec("optuna"):
        ways["Optuna's journal"] = trials_alone, folder / "optuna.log"
    context = multiprocessing.get_context("spawn")
    for title, (alone, file) in ways.items():
        ready, found = context.Barrier(num_judges + 1), context.Queue()
        given = alone, file, number, ready, found
        judges = [context.Process(target=_begun, args=given) for _ in range(num_judges)]
        for each in judges:
            each.start()
        ready.wait()
        began = time.perf_counter()
        spent = sum(found.get() for _ in judges)
        took, votes = time.perf_counter() - began, num_judges * number
        for each in judges:
            each.join()
        print(
            f"{title}: {num_judges} processes, {votes / took:.0f} votes a second, "
            f"{1e3 * spent / votes:.1f} ms of processor time each",
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
        at_size(Path(name))
        at_once(Path(name))
