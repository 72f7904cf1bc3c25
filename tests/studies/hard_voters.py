"""Voters that are killed at any moment, or are many; a program of its own.

Children are forked, which a process with threads must not do. Says what went wrong on
standard output, and nothing where all is well.
"""

import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable

from bayesduel.studies import Study
from bayesduel.studies.questions import rule_of
from bayesduel.studies.state import StudyState
from tests.studies.helpers import WORDS


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


def vote_with_questions_out(
    path: str, rng: random.Random, number: int | None, acknowledge: int
) -> None:
    """Vote until killed, on any of the questions that are out, not on the last one."""
    with Study.open(path) as study:
        while True:
            study.ask(rng.randint(1, 3), judge=rng.choice(["Ada", "Bo", None]))
            out = study.open_tickets()
            for ticket in rng.sample(out, min(2, len(out))):
                word = rng.choice(WORDS[:3])
                study.tell(ticket, word)
                os.write(acknowledge, f"{ticket.number} {word}\n".encode())


def forked(
    path: str, rng: random.Random, number: int | None, vote: Callable = vote
) -> tuple[int, int]:
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
    results: dict[int, list[str]] = {}
    for number, word in (line.split() for line in lines):
        results.setdefault(int(number), []).append(word)
    return results


def lost(study: Study, acknowledged: dict[int, list[str]]) -> list[str]:
    """Return what was acknowledged and is not stored.

    An answer may have been taken back by an undo that was not acknowledged any more.
    """
    state = study._current()
    wrong = []
    for number, words in acknowledged.items():
        answer = state.questions[number].answer
        undone = {None, "left"} if len(words) == 1 else set()
        if answer != words[-1] and answer not in undone:
            wrong.append(f"question {number}: told {words}, kept {answer}")
        if answer is None and not any(
            event.kind == "undone" and event.body["question"] == number
            for event in study.events()
        ):
            wrong.append(f"question {number}: told {words}, lost without an undo")
    return wrong


def killed(path: str, pid: int, heard: int, moment: int) -> dict[int, list[str]]:
    """Kill a voter now, look at what it left, and return what it had heard."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    answered = acknowledged(heard)
    with Study.open(path) as study:
        for item in lost(study, answered):
            print(f"moment {moment}: {item}")
    return answered


def kill(
    path: str, seed: int, times: int, vote: Callable = vote, begins: float = 0.06
) -> None:
    """Kill voters at random moments, some of them while they begin."""
    rng = random.Random(seed)
    answered: dict[int, list[str]] = {}
    for moment in range(times):
        pid, heard = forked(path, random.Random(rng.random()), None, vote)
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0.0, begins))
        else:  # A busy machine takes long to begin.
            select.select([heard], [], [], 300.0)
            time.sleep(rng.uniform(0.0, 0.1))
        answered |= killed(path, pid, heard, moment)
    with Study.open(path) as study:
        for item in lost(study, answered):
            print(f"in the end: {item}")
    if len(answered) < times / 4:
        print(f"only {len(answered)} votes before {times} kills: nothing was tried")


def kill_policy(path: str, seed: int, times: int) -> None:
    """Kill voters whom a policy asks, with questions out; it must not go astray."""
    # Imported once, by a process that runs no program, and so has no threads.
    import bayesduel.studies.policy_rule  # noqa: F401

    kill(path, seed, times, vote_with_questions_out, begins=2.0)
    with Study.open(path) as study:
        for item in strayed(study):
            print(item)


def strayed(study: Study) -> list[str]:
    """Return the questions that a policy that nobody interrupts would not have asked.

    Its state is no event: every voter has to find it again by a replay.
    """
    first, *events = study.events()
    state = StudyState.begin(first)
    rule = rule_of(state.settings)
    wrong = []
    for event in events:
        if "duel" in event.body:
            request = rule.propose(state, state.may_ask(None), event.number)
            if request.duel != event.body["duel"]:
                wrong.append(f"event {event.number}: {event.body}, not {request}")
        state.apply(event)
        if "duel" in event.body:
            rule.accepted(state)
    return wrong


def crowd(path: str, seed: int, writers: int, votes: int) -> None:
    children = [
        forked(path, random.Random(seed + number), votes) for number in range(writers)
    ]
    heard = [acknowledged(pipe) for _, pipe in children]
    for pid, _ in children:
        if os.waitpid(pid, 0)[1]:
            print("a voter failed")
    numbers = [number for answered in heard for number in answered]
    if len(numbers) != writers * votes or len(set(numbers)) != len(numbers):
        print(f"{len(numbers)} questions, {len(set(numbers))} of them different")
    with Study.open(path) as study:
        for votes_given in heard:
            for wrong in lost(study, votes_given):
                print(wrong)


if __name__ == "__main__":
    task, path, *numbers = sys.argv[1:]
    tasks = {"kill": kill, "kill_policy": kill_policy, "crowd": crowd}
    tasks[task](path, *map(int, numbers))
