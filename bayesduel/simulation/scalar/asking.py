"""Asking the kernel of a policy for one question at a time, as studies do."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.limits import PATIENCE
from bayesduel.ops.scalar.compiled import Records
from bayesduel.ops.scalar.references import reference
from bayesduel.policies.scalar_kernel import (
    NOT_ASKED,
    choose,
    init,
    is_waiting,
    note,
    reads_self_duels,
    recall,
    update,
)
from bayesduel.simulation.scalar.programs import kept

FOUND = np.dtype(
    [
        ("has_duel", np.int64),
        ("champion", np.int64),
        ("idle", np.int64),  # Its last rounds before the duel.
        ("first", np.int64),
        ("second", np.int64),
        ("noted", np.int64),
        ("round", np.int64),  # On the clock of the policy, after the question.
    ]
)
"""What a policy asks for."""

VOTE = np.dtype(
    [
        ("first", np.int64),
        ("second", np.int64),
        ("round", np.int64),  # In which the policy asked for them; 0 if it did not.
        ("noted", np.int64),
        ("won", np.int64),  # Whether ``first`` got them.
        ("count", np.int64),
    ]
)
"""Equal votes."""


@cache
def asking_program(kernel: str) -> Callable[..., None]:
    """Return the compiled :func:`ask` of the kernel of this name."""
    return kept(ask, f"{kernel}-asked")


@cache
def hearing_program(kernel: str) -> Callable[..., int]:
    """Return the compiled :func:`hear` of the kernel of this name."""
    return kept(hear, f"{kernel}-heard")


def ask(policy: Any, rng: Generator, played: int, horizon: int, found: Records) -> None:
    """Let a policy choose after ``played`` rounds until it names different arms.

    It gives up at the horizon, and after very many self-duels; where the policy comes
    to wait for the host, it goes on when asked again after ``found.round``.
    """
    state, asked = reference(policy), found[0]
    asked.round = played
    for _ in range(PATIENCE):
        duel = choose(state, rng, asked.round + 1)
        if is_waiting(state):
            return
        idle = min(duel.idle_rounds, horizon - asked.round)
        asked.round += idle
        if asked.round >= horizon:
            return
        if duel.explores:
            asked.round += 1
            if duel.first != duel.second:
                asked.has_duel = True
                # Where several share the idle rounds, any of them stands for them.
                asked.champion = duel.champion if duel.champion >= 0 else duel.first
                asked.first, asked.second = duel.first, duel.second
                asked.idle, asked.noted = idle, note(state)
                return
            if reads_self_duels(state):
                update(state, rng, asked.round, duel.first, duel.second, False)
                if is_waiting(state):
                    return


def hear(policy: Any, rng: Generator, played: int, begins: bool, votes: Records) -> int:
    """Tell a policy of votes, a new one after its preparation; return its rounds.

    Votes that it did not ask for take rounds now. What was told is taken out of
    ``votes``: where the policy comes to wait for the host, the rest is told later.
    """
    state = reference(policy)
    if begins:
        init(state, rng)
    for place in range(votes.size):
        vote = votes[place]
        while vote.count > 0:
            if is_waiting(state):
                return played
            vote.count -= 1
            if vote.round > 0:
                recall(state, vote.first, vote.second, vote.noted)
                round_ = vote.round
            else:
                recall(state, vote.first, vote.second, NOT_ASKED)
                played += 1
                round_ = played
            update(state, rng, round_, vote.first, vote.second, vote.won > 0)
    return played
