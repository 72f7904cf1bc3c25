"""Voters that are killed at any moment, or are many; a program of its own.

Children are forked, which a process with threads must not do. Says what went wrong on
standard output, and nothing where all is well.
"""

import os
import random
import signal
import sys
import time

from bayesduel.studies import Study
from tests.studies.helpers import assert_replays

WORDS = ("left", "right", "tie", "skip")


def vote(path: str, rng: random.Random, number: int | None, acknowledge: int) -> None:
    """Ask and answer; say each answer only after it is stored."""
    with Study.open(path) as study:
        while number is None or number > 0:
            number = None if number is None else number - 1
            (ticket,) = study.ask(judge=f"{os.getpid()}-{rng.random()}")
            word = rng.choice(WORDS)
            study.tell(ticket, word)
            os.write(acknowledge, f"{ticket.number} {word}\n".encode())
            if rng.random() < 0.1:
                study.undo(ticket)
                study.tell(ticket, "left")
                os.write(acknowledge, f"{ticket.number} left\n".encode())


def forked(path: str, rng: random.Random, number: int | None) -> tuple[int, int]:
    """Start a voter; return its process, and where it says what is stored."""
    heard, acknowledge = os.pipe()
    pid = os.fork()
    if pid:
        os.close(acknowledge)
        return pid, heard
    try:
        os.close(heard)
        vote(path, rng, number, acknowledge)
        os._exit(0)
    except BaseException as error:
        print(f"voter: {error!r}", flush=True)
        os._exit(1)


def acknowledged(heard: int) -> dict[int, list[str]]:
    """Return the last two answers per question, those that were heard to the end."""
    with os.fdopen(heard) as stream:
        lines = [line for line in stream.read().splitlines(keepends=True)
                 if line.endswith("\n")]  # fmt: skip
    found: dict[int, list[str]] = {}
    for number, word in (line.split() for line in lines):
        found.setdefault(int(number), []).append(word)
    return found


def lost(study: Study, told: dict[int, list[str]]) -> list[str]:
    """Return what was acknowledged and is not stored.

    An answer may have been taken back by an undo that was not acknowledged any more.
    """
    state = study._current()
    wrong = []
    for number, words in told.items():
        kept = state.questions[number].answer
        undone = {None, "left"} if len(words) == 1 else set()
        if kept != words[-1] and kept not in undone:
            wrong.append(f"question {number}: told {words}, kept {kept}")
        if kept is None and not any(
            event.kind == "undone" and event.body["question"] == number
            for event in study.events()
        ):
            wrong.append(f"question {number}: told {words}, lost without an undo")
    return wrong


def kill(path: str, seed: int, times: int) -> None:
    """Kill a voter at random moments."""
    rng = random.Random(seed)
    votes = 0
    for moment in range(times):
        pid, heard = forked(path, random.Random(rng.random()), None)
        time.sleep(rng.uniform(0.0, 0.06))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        told = acknowledged(heard)
        votes += len(told)
        with Study.open(path) as study:
            for each in lost(study, told):
                print(f"moment {moment}: {each}")
            assert_replays(study)
    if votes < times / 4:
        print(f"only {votes} votes before {times} kills: nothing was tried")


def crowd(path: str, seed: int, writers: int, each: int) -> None:
    """Let many vote at once."""
    children = [
        forked(path, random.Random(seed + place), each) for place in range(writers)
    ]
    heard = [acknowledged(pipe) for _, pipe in children]
    for pid, _ in children:
        if os.waitpid(pid, 0)[1]:
            print("a voter failed")
    numbers = [number for told in heard for number in told]
    if len(numbers) != writers * each or len(set(numbers)) != len(numbers):
        print(f"{len(numbers)} questions, {len(set(numbers))} of them different")
    with Study.open(path) as study:
        for told in heard:
            for wrong in lost(study, told):
                print(wrong)
        assert_replays(study)


if __name__ == "__main__":
    task, path, *numbers = sys.argv[1:]
    {"kill": kill, "crowd": crowd}[task](path, *map(int, numbers))
