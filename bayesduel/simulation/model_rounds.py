"""Simulating a chunk of runs of a rule over a model, side by side: the host's side.

JAX plays the rule (``asked_models``), and answers its duels. Who answers about sets,
and every ledger, are NumPy's, as for any other policy. A run is a function of the seed
and its own number: which runs are beside it, and how many events a call takes, changes
nothing.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from bayesduel.simulation.asked_models import EVENTS
from bayesduel.simulation.environments import Environment, PairwiseEnvironment
from bayesduel.simulation.model_lanes import NOBODY, PairLanes, SetLanes
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.runs import RunRecords, Segments


def run_chunk(
    environment: Environment,
    policy: Any,
    label: str,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    event_limit: int,
    segment_seconds: float,
    num_lanes: int,
    on_progress: Callable[[float], None] | None = None,
    most_seconds: float = math.inf,
    **manner: Any,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    After ``most_seconds`` no run is begun if the others would still take long.

    Parameters
    ----------
    policy
        What plays a policy in JAX.
    label : str
        What that policy is called.
    num_lanes : int
        Runs side by side; a lane whose run has ended takes the next one.
    **manner
        How duels are played: fields of :class:`asked_models.Manner`.

    Raises
    ------
    SimulationError
        If a run has used up its events, or the policy asks for an arm that there is
        not; names run and round.
    """
    orders, words = orders_and_words(environment, runs, seed)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    horizon = int(grid[-1])
    segments = Segments(
        segment_seconds, len(runs), horizon, event_limit, on_progress, most_seconds
    )
    kind = PairLanes if isinstance(environment, PairwiseEnvironment) else SetLanes
    with jax.enable_x64(True):
        lanes: Any = kind(
            environment, policy, label, runs, orders, words, grid, num_lanes, **manner
        )
        files: dict[int, Any] = {}
        # The first call is compiled, and the second one tells how long an event takes.
        most, began, compiled = 1, time.perf_counter(), 0.0
        while True:
            left = 0 if segments.is_enough() else len(runs) - lanes.num_begun
            if (empty := np.flatnonzero(lanes.run == NOBODY)[:left]).size:
                lanes.begin(empty)
            if not compiled:
                lanes.conclude()  # So that this counts as compiling.
            if np.all(lanes.run == NOBODY):
                break
            asked = time.perf_counter()
            ended = lanes.advance(min(most, lanes.events_left(event_limit)))
            if ended.any():
                found = lanes.conclude()
                for lane in np.flatnonzero(ended):
                    row = jax.tree.map(lambda leaf, lane=lane: leaf[lane], found)
                    files[int(lanes.run[lane])] = row
                lanes.run[ended] = NOBODY
            now = time.perf_counter()
            # Several events a call: on a GPU each call takes milliseconds.
            longer = most * segment_seconds / max(now - asked, 1e-9)
            most = int(np.clip(longer, 1, EVENTS))
            compiled = compiled or now
            on_their_way = lanes.played[lanes.run != NOBODY]
            log_rounds = float(np.log1p(on_their_way).sum())
            segments.note(int(np.count_nonzero(ended)), log_rounds)
    best, info, events = jax.tree.map(
        lambda *leaves: np.stack(leaves), *(files[run] for run in range(len(files)))
    )
    ledger, best = environment.with_original_labels(
        lanes.ledger(len(files)), best, orders[: len(files)]
    )
    return RunRecords(
        ledger=ledger,
        recommendation=best,
        info=info,
        events=events.astype(np.int64),
        finished=np.ones(len(events), dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
        device=next(iter(jnp.zeros(()).devices())).device_kind,
    )
