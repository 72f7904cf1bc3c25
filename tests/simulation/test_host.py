"""The host's side: event numbers, wrong arms, and JAX as it was set."""

import threading
from inspect import unwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel.errors import SimulationError
from bayesduel.policies.policy import over_model
from bayesduel.simulation import driver, model_calls
from bayesduel.simulation.model_calls import as_leaf
from tests.policies.driving import assert_same
from tests.policies.instances import CONDORCET
from tests.simulation.model_fakes import Scripted, Wanderer
from tests.simulation.runs import simulate_runs


def test_event_limit_names_run_and_round(monkeypatch):
    """Six rounds an event; the first run that needs too many is named."""
    monkeypatch.setattr(driver, "EVENT_LIMIT", 6)
    words = "run 5 stopped at round 37 after 6 events.*look-ahead"
    with pytest.raises(SimulationError, match=words):
        simulate_runs(Scripted(), runs=range(5, 8), num_lanes=8)


def test_a_run_that_needs_every_event_number_finishes(wandering, monkeypatch):
    most = int(wandering.events.max())
    monkeypatch.setattr(driver, "EVENT_LIMIT", most)
    assert_same(simulate_runs(Wanderer()), wandering)
    monkeypatch.setattr(driver, "EVENT_LIMIT", most - 1)
    with pytest.raises(SimulationError, match=f"run {wandering.events.argmax()} "):
        simulate_runs(Wanderer())


def test_an_arm_that_there_is_not_is_named():
    """Arm 2 of two arms, in the first round of run 0."""
    with pytest.raises(SimulationError, match=r"arm 2; .* 0 to 1 \(round 1 of run 0\)"):
        simulate_runs(Scripted(), [[0.5, 0.7], [0.3, 0.5]])


@pytest.mark.parametrize(("duels", "seconds"), [(40, 1e9), (2, 1e-9)])
def test_a_wrong_arm_among_several_events_of_a_call(duels, seconds, monkeypatch):
    """It is found before anything is noted, and its own round is named."""
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", seconds)
    index = rf"arm 7; .* 0 to 3 \(round {6 * duels + 1} of run 5\)"
    with pytest.raises(SimulationError, match=index):
        simulate_runs(Scripted(first=7, duels=duels), runs=range(5, 8), num_lanes=8)


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_global_changes(fails, monkeypatch):
    before = dict(jax.config.values)
    if fails:
        monkeypatch.setattr(driver, "EVENT_LIMIT", 2)
        with pytest.raises(SimulationError):
            simulate_runs(Wanderer())
    else:
        simulate_runs(Wanderer())
    assert dict(jax.config.values) == before
    assert not jax.config.jax_enable_x64
    assert jnp.asarray(1.5).dtype == jnp.float32
    assert jnp.arange(2).dtype == jnp.int32


def test_a_thread_gives_the_same_runs(wandering):
    """64 bit is switched on in the thread that simulates, and only there."""
    result, dtypes = [], []
    worker = threading.Thread(target=lambda: result.append(simulate_runs(Wanderer())))

    def on_progress(share):
        other = threading.Thread(target=lambda: dtypes.append(jnp.ones(1).dtype))
        other.start()
        other.join()

    simulate_runs(Wanderer(), on_progress=on_progress)
    worker.start()
    worker.join()
    assert_same(result[0], wandering)
    assert {*dtypes} == {np.dtype(np.float32)}


def test_a_user_with_64_bits_gets_the_same_runs(wandering):
    with jax.enable_x64(True):
        assert_same(simulate_runs(Wanderer()), wandering)


def test_strict_dtypes_and_keys(strict_jax):
    """Nothing mixes dtypes or uses a key twice; both are checked in tracing."""
    with jax.enable_x64(True):
        policy = jax.tree.map(as_leaf, over_model(Wanderer()))
        # One run: the check of keys stumbles over a batch of them (a bug of JAX 0.12).
        given = jnp.zeros(2, dtype=jnp.uint32), jnp.int64(30)
        jax.jit(one_run).lower(policy, *given)


def one_run(policy, words, horizon):
    order = jnp.arange(len(CONDORCET), dtype=jnp.int32)
    begin, conclude = map(unwrap, (model_calls.begin, model_calls.conclude))
    state = begin(policy, words, order, None, horizon, None)
    seat = state, jnp.uint32(0), jnp.int64(0)
    matrix = jnp.asarray(CONDORCET)
    (state, event, _), played = model_calls._play(
        policy, matrix, horizon, words, order, seat
    )
    return played, conclude(policy, words, event, state)
