"""Simulating a chunk of runs: the host's side of the only loop over rounds.

The host calls the compiled loop (``event_loop``) in segments, between which it can
report, serve, and be interrupted. A run is a function of the seed and its own number:
how runs are put into lanes, segments or chunks changes no bit.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Int

from bayesduel.errors import SimulationArgumentError, SimulationError
from bayesduel.ops.frozen_pytrees import as_leaf
from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.policies.base import (
    Policy,
    check_choice,
    has_kernel_above,
    is_in_jax,
    kernel_of,
)
from bayesduel.policies.policy import PolicyBase
from bayesduel.policies.policy_around import rule_of
from bayesduel.program_cache import keep_programs
from bayesduel.simulation.beginnings import orders_and_words
from bayesduel.simulation.environment import Environment
from bayesduel.simulation.event_loop import (
    Carry,
    LoopInputs,
    segment_program,
    start,
)
from bayesduel.simulation.model_rounds import run_chunk as play_models
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import PROGRAMS, RunRecords
from bayesduel.simulation.run_by_run import run_chunk as run_by_run
from bayesduel.stopping.rules import StoppingRule

EVENT_LIMIT = 2**31 - 2
"""Events that one run may take. Their number is folded into 32 bits of its key, and
most policies count duels of a pair, one per event, as int32."""

_CHECKPOINT_BLOCK = 32
"""Checkpoints are padded to a multiple of this, so that most grids share a program."""

_USUAL_CHECKPOINTS = 128
"""Ten per decade to 10^12 fit: with few arms, room for so many costs next to nothing,
and comparisons to different horizons share one program."""

_FEW_ARMS = 32

_FEW_LANES = 8
"""As many lanes as a vector unit fills at once."""

ARMS_OF_ONE_LANE = 256
"""With so many arms, lanes beside one another only cost memory."""

_PATIENCE = 1.0
"""How many times as long as compiling took, a few last runs may drag idle lanes along
before a program for fewer lanes is compiled: so that costs at most twice the best."""

_COMPILE_SECONDS = 4.0
"""At least as long is compiling taken to last: a program that was at hand says nothing
about the next one."""

_SEGMENT_SECONDS = 0.5
"""Aim for the length of a segment: short enough for Ctrl-C and a progress bar."""


def run_chunk(
    environment: Environment,
    policy: PolicyBase,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    num_lanes: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    engine: str = "auto",
    stopping: StoppingRule | None = None,
    most_seconds: float = math.inf,
) -> RunRecords:
    """Simulate the runs numbered ``runs`` up to the last checkpoint.

    Parameters
    ----------
    environment : PairwiseEnvironment or SubsetEnvironment
        Who answers.
    policy : Policy
        Who asks.
    runs : range
        Numbers of the runs, contiguous. Run r is the same in every chunk.
    checkpoints : int64 (C,)
        Increasing positive rounds to record at; the last one is the horizon.
    seed : int
        Seed of all runs.
    num_lanes : int, optional
        Runs simulated side by side; a matter of speed only.
    on_progress : callable, optional
        Called with 0 before anything is compiled, and after each segment with the
        share of rounds played, on a log scale.
    engine : {"auto", "scalar", "jax"}
        "scalar" plays run after run by the kernel of the policy, "jax" many runs side
        by side; the runs have the same law. "auto" takes the first where the policy has
        a kernel. A policy in NumPy is always played by its own rule.
    stopping : StoppingRule, optional
        Looked at after every duel of different arms. A run that it ends plays nothing
        more: its counts stay as they are up to the last checkpoint. Needs a kernel.
    most_seconds : float
        Where runs are played one by one, those that are finished after so long are
        enough if the others would still take long. The first one always ends.

    Returns
    -------
    RunRecords
        Of all runs, or of as many as there was time for, from the first. With
        ``stopping``, ``info`` has ``stopped_at``, the round, or -1, and ``answer``, the
        arm that is named, or -1.

    Raises
    ------
    SimulationError
        If a run used up its event numbers; names run and round.
    """
    keep_programs()
    if on_progress is not None:
        on_progress(0.0)
    settings: dict[str, Any] = {
        "runs": runs,
        "checkpoints": checkpoints,
        "seed": seed,
        "event_limit": EVENT_LIMIT,
        "segment_seconds": _SEGMENT_SECONDS,
        "on_progress": on_progress,
        "most_seconds": most_seconds,
    }
    if (found := rule_of(policy)) is not None:
        if stopping is not None:
            raise without_kernel(policy)
        rule, manner = found
        return run_by_run(environment, rule, **settings, **manner)  # pyright: ignore[reportArgumentType]
    kernel = kernel_for(environment, policy, engine)
    if stopping is not None and kernel is None:
        raise without_kernel(policy)
    if kernel is not None:
        # Numba takes half a second to import.
        from bayesduel.simulation.scalar.engine import run_chunk as run_scalar_chunk

        ends = stopping and stopping.scalar_stopping()
        return run_scalar_chunk(environment, kernel, stopping=ends, **settings)  # pyright: ignore[reportArgumentType]
    lanes = num_lanes or default_num_lanes(len(runs), environment.num_arms)
    lanes = min(lanes, 8 * -(-len(runs) // 8))  # More would have nothing to do.
    if isinstance(environment, PairwiseEnvironment) and not policy.assisted:  # pyright: ignore
        return play_models(environment, policy, num_lanes=lanes, **settings)  # pyright: ignore[reportArgumentType]
    with jax.enable_x64(True):
        inputs = _problem(environment, policy, runs, checkpoints, seed)  # pyright: ignore[reportArgumentType]
        began = time.perf_counter()
        carry = start(inputs, len(inputs.orders), lanes)
        play = segment_program(environment.num_arms)
        carry, _ = jax.block_until_ready(play(inputs, carry, np.int64(0)))
        compiled = time.perf_counter()
        carry = _drive(inputs, carry, compiled - began, on_progress)
        _raise_on_status(inputs, carry, runs)
        return _collect(
            inputs,
            carry,
            len(runs),
            len(checkpoints),
            run_seconds=time.perf_counter() - compiled,
            compile_seconds=compiled - began,
        )


def without_kernel(policy: PolicyBase) -> SimulationArgumentError:
    """Return the error that runs of a policy cannot be stopped."""
    return SimulationArgumentError.of(
        "stopping",
        "needs a policy of duels that a kernel plays, which this one is not",
        policy.label,
        remedy="take another policy, such as d-ts+ or rucb",
    )


def kernel_for(
    environment: Environment, policy: PolicyBase, engine: str = "auto"
) -> Any:
    """Return the kernel that plays a policy; None where the loop of JAX does."""
    check_choice("engine", engine, ("auto", "scalar", "jax"))
    if engine == "jax":
        if kernel_of(policy) is not None and not is_in_jax(policy):
            raise SimulationArgumentError(
                f"engine must be 'scalar' or 'auto' for {policy.label}, which is not "
                "written for JAX, got 'jax'"
            )
        return None
    suits = isinstance(environment, PairwiseEnvironment)
    kernel = kernel_of(policy) if suits else None
    if engine == "scalar" and kernel is None:
        raise SimulationArgumentError(
            f"engine must be 'jax' or 'auto' for {policy.label}, which has no kernel, "
            "got 'scalar'"
        )
    if kernel is None and not is_in_jax(policy) and has_kernel_above(policy):
        raise SimulationArgumentError.of(
            "policy",
            f"must have a rule of its own, but {type(policy).__name__} inherits from a "
            "policy that is a kernel, which may be another rule",
            policy.label,
            remedy="write it as a bayesduel.Policy, or define scalar_kernel",
        )
    return kernel


def program_of(environment: Environment, policy: PolicyBase) -> str:
    """Return the name of what plays a policy here: "kernel-1", "jax-1" or "numpy-1".

    The same runs of two programs differ, though they have one law.
    """
    if rule_of(policy) is not None:
        return PROGRAMS["numpy"]
    return PROGRAMS["jax" if kernel_for(environment, policy) is None else "scalar"]


def default_num_lanes(num_runs: int, num_arms: int = 2) -> int:
    """Return how many lanes suit this machine, a multiple of 8; 1 for very many arms.

    Up to 64 runs go side by side on a CPU: more lanes than its vectors are wide cost
    little, a second wave of a few runs costs as much as the first. Of more runs, some
    take several times as many events as others, and free lanes take the next ones. The
    pairs of some hundred arms fill the vectors of a CPU alone, and its caches.
    """
    if jax.default_backend() == "cpu" and num_arms >= ARMS_OF_ONE_LANE:
        return 1
    most = 64 if jax.default_backend() == "cpu" else 4096
    waves = -(-num_runs // most)
    return 8 * -(-num_runs // (8 * waves))


def _num_rows(num_runs: int, num_arms: int) -> int:
    """Return for how many runs there is room: close numbers share a program.

    The plays of very many arms take too much memory for rows that nobody fills.
    """
    if num_arms >= ARMS_OF_ONE_LANE:
        return num_runs
    return 8 * -(-num_runs // 8) if num_runs <= 64 else 2 ** (num_runs - 1).bit_length()


def _problem(
    environment: Environment,
    policy: Policy,
    runs: range,
    checkpoints: np.ndarray,
    seed: int,
) -> LoopInputs:
    padding = -len(checkpoints) % _CHECKPOINT_BLOCK
    if environment.num_arms <= _FEW_ARMS:
        padding = max(padding, _USUAL_CHECKPOINTS - len(checkpoints))
    padded = np.pad(checkpoints.astype(np.int64), (0, padding), constant_values=NEVER)
    rows = _num_rows(len(runs), environment.num_arms) - len(runs)
    orders, words = (
        np.pad(each, ((0, rows), (0, 0)))
        for each in orders_and_words(environment, runs, seed)
    )
    put = jax.device_put  # Conversions would be compiled, one after the other.
    return LoopInputs(
        environment=put(environment),
        policy=jax.tree.map(as_leaf, policy),
        orders=put(orders),
        words=put(words),
        checkpoints=put(padded),
        horizon=put(np.int64(checkpoints[-1])),
        event_limit=put(np.uint32(EVENT_LIMIT)),
        num_runs=put(np.int32(len(runs))),
    )


def _drive(
    inputs: LoopInputs,
    carry: Carry,
    compile_seconds: float,
    on_progress: Callable[[float], None] | None,
) -> Carry:
    """Call segments until nothing moves any more."""
    play = segment_program(inputs.environment.num_arms)
    events = 256
    dragging = 0.0
    while True:
        began = time.perf_counter()
        carry, standing = play(inputs, carry, np.int64(events))
        moves, waits = (np.asarray(each) for each in standing)
        if waits.any():
            carry = _assist(inputs.policy, carry, waits)
        if on_progress is not None:
            on_progress(_progress(inputs, carry))
        goes_on = moves | waits
        if not goes_on.any():
            return carry
        seconds = time.perf_counter() - began
        if np.count_nonzero(goes_on) <= _FEW_LANES:
            dragging += seconds
        if dragging >= _PATIENCE * max(compile_seconds, _COMPILE_SECONDS):
            carry = _pack(carry, int(inputs.num_runs))
        events = int(np.clip(events * _SEGMENT_SECONDS / max(seconds, 1e-3), 64, 1e6))


def _pack(carry: Carry, num_runs: int) -> Carry:
    """Go on with a few lanes when no run is waiting and most lanes are empty.

    Some runs take ten times as many events as others: at the end they would drag all
    the lanes along. Costs a compilation, so it is done once. A run out of event
    numbers keeps its lane, which knows the round.
    """
    holds = np.asarray(carry.lanes.run) < num_runs
    is_last = int(carry.next_run) >= num_runs
    few = np.count_nonzero(holds) <= _FEW_LANES
    if not (is_last and few and holds.size >= 3 * _FEW_LANES):
        return carry
    index = np.argsort(~holds, kind="stable")[:_FEW_LANES]
    return carry._replace(
        lanes=jax.tree.map(lambda leaf: leaf[..., index], carry.lanes)
    )


def _assist(policy: Policy, carry: Carry, waits: Bool[np.ndarray, " lane"]) -> Carry:
    """Serve, on the host, exactly the lanes whose policy waits for it."""
    lanes = carry.lanes
    states = jax.tree.map(lambda leaf: np.array(leaf), lanes.policy)
    for lane in np.flatnonzero(waits):
        served = policy.host_step(
            jax.tree.map(lambda leaf, lane=lane: leaf[..., lane], states)
        )
        for leaf, new in zip(
            jax.tree.leaves(states), jax.tree.leaves(served), strict=True
        ):
            leaf[..., lane] = new
    return carry._replace(lanes=lanes._replace(policy=jax.device_put(states)))


def _progress(inputs: LoopInputs, carry: Carry) -> float:
    """Share of the work done: finished runs, and the others by their log t."""
    num_runs = int(inputs.num_runs)
    done = np.count_nonzero(np.asarray(carry.buffers.rounds))
    lanes = carry.lanes
    playing = np.asarray(lanes.run) < num_runs
    started = np.log1p(np.asarray(lanes.played)[playing].astype(np.float64))
    return float((done + np.sum(started / np.log1p(float(inputs.horizon)))) / num_runs)


def _raise_on_status(inputs: LoopInputs, carry: Carry, runs: range) -> None:
    unfinished = np.flatnonzero(np.asarray(carry.buffers.rounds)[: len(runs)] == 0)
    if unfinished.size:
        lane = int(np.argmax(np.asarray(carry.lanes.run) == unfinished[0]))
        raise SimulationError(
            f"run {runs[int(unfinished[0])]} stopped at round "
            f"{int(carry.lanes.played[lane]) + 1} after "
            f"{int(carry.lanes.event[lane])} events: at most "
            f"{int(inputs.event_limit)} fit into its counts; "
            "shorten the horizon or use look-ahead"
        )


def _collect(
    inputs: LoopInputs,
    carry: Carry,
    num_runs: int,
    num_checkpoints: int,
    *,
    run_seconds: float,
    compile_seconds: float,
) -> RunRecords:
    """Bring the buffers to the host, with the arms' original labels."""
    buffers = jax.tree.map(lambda rows: np.asarray(rows)[:num_runs], carry.buffers)
    ledger, recommendation = inputs.environment.with_original_labels(
        {name: values[:, :num_checkpoints] for name, values in buffers.ledger.items()},
        buffers.recommendation,
        np.asarray(inputs.orders)[:num_runs],
    )
    return RunRecords(
        ledger=ledger,
        recommendation=recommendation,
        info=buffers.info,
        events=buffers.events.astype(np.int64),
        finished=buffers.rounds > 0,
        run_seconds=run_seconds,
        compile_seconds=compile_seconds,
    )
