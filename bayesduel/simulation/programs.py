"""The loop over rounds compiled with a kernel, one program each, kept on disk."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.program_cache import kernel_folder
from bayesduel.ops.scalar.compiled import compiled, with_names
from bayesduel.ops.scalar.compiler import cached_program
from bayesduel.ops.scalar.draws import raw_bits
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_kernel import SEVERAL
from bayesduel.simulation import rounds
from bayesduel.simulation.rounds import PairLedger, add_shared_rounds
from bayesduel.stopping.base import StoppingRule, part_name


def program_name(kernel: str, stopping: StoppingRule | None = None) -> str:
    """Return what the program of a kernel and a rule for stopping is called."""
    if stopping is None:
        return kernel
    return f"{kernel}-{part_name(stopping.new_state(2))}"


def is_at_hand(name: str) -> bool:
    """Say whether a program need not be compiled: it is on the disk, or in memory."""
    folder = kernel_folder(name)
    is_kept = folder is not None and next(folder.rglob("*.nbi"), None) is not None
    return is_kept or bool(getattr(program(name), "signatures", ()))


@cache
def program(kernel: str, function: str = "play") -> Callable[..., None]:
    """Return ``play`` or ``hear`` with a kernel in it, in place of the policy."""
    name = kernel if function == "play" else f"{kernel}-{function}"
    return cached_program(with_kernels(function), name)


@cache
def with_kernels(function: str) -> Any:
    """Return a function of the loop, in which all that asks a policy asks a kernel."""
    names = kernel_names()
    for part in (rounds.play_pair, rounds.ask, rounds.tell, rounds.report):
        names[part.__name__] = compiled(with_names(part, names))
    return with_names(getattr(rounds, function), names)


def kernel_names() -> dict[str, Any]:
    """Return what stands in the loop in place of functions that ask a policy."""
    return {
        "as_duel": _as_it_is,
        "as_arm": _as_it_is,
        "is_in_bulk": _is_in_bulk,
        "count_wins": _count_wins,
        "choose": _choose,
        "update": _update,
        "recommend": _recommend,
        "is_shared": _is_shared,
        "add_shared": _add_shared,
    }


@compiled
def _as_it_is(choice: Any) -> Any:
    return choice


@compiled
def _is_in_bulk(policy: Any) -> bool:
    return False


@compiled
def _count_wins(policy: Any, rng: Generator, probability: float, rounds: int) -> int:
    return int(rng.random() < probability)


@compiled
def _choose(policy: Any, state: Any, rng: Generator, round_: int, features: Any) -> Any:
    return scalar_kernel.choose(state, rng, round_)


@compiled
def _update(
    policy: Any,
    state: Any,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    wins: int,
    rounds: int,
    features: Any,
) -> None:
    scalar_kernel.update(state, rng, round_, first, second, wins > 0)


@compiled
def _recommend(policy: Any, state: Any, rng: Generator) -> Any:
    return scalar_kernel.recommend(state, rng)


@compiled
def _is_shared(champion: int) -> bool:
    return champion == SEVERAL


@compiled
def _add_shared(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    rng: Generator,
    world: Any,
    rounds: int,
    idle: int,
) -> None:
    # Drawn once for the whole stretch, always, so that no checkpoint changes a draw.
    key = raw_bits(rng)
    add_shared_rounds(ledger, progress, played, key, rounds, idle)
