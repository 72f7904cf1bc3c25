"""A process never holds more compiled programs than the system allows."""

import jax
import numpy as np
import pytest

import bayesduel
from bayesduel.ops import program_cache
from tests.simulation.model_fakes import Wanderer


@pytest.fixture
def dropped(monkeypatch):
    """Record whenever programs are dropped."""
    calls = []
    monkeypatch.setattr(jax, "clear_caches", lambda: calls.append(1))
    return calls


def test_programs_are_dropped_above_the_limit_only(monkeypatch, dropped):
    monkeypatch.setattr(program_cache, "_MOST_MAPPINGS", 0)
    assert program_cache.drop_programs_if_many()
    assert dropped == [1]
    monkeypatch.setattr(program_cache, "_MOST_MAPPINGS", 10**9)
    assert not program_cache.drop_programs_if_many()
    assert dropped == [1]


@pytest.mark.slow
def test_a_job_drops_them_before_it_compiles_and_results_stay(monkeypatch):
    request = {"num_runs": 3, "horizon": 50, "seed": 1}
    plain = bayesduel.compare(["cyclic"], [Wanderer()], **request)
    true, calls = jax.clear_caches, []
    monkeypatch.setattr(program_cache, "_MOST_MAPPINGS", 0)
    monkeypatch.setattr(jax, "clear_caches", lambda: (calls.append(1), true()))
    again = bayesduel.compare(["cyclic"], [Wanderer()], **request)
    assert calls
    for node in plain.subtree:
        if "plays" in node:
            found = again[node.path]["plays"].values
            np.testing.assert_array_equal(found, node["plays"].values)
