"""Runs that most tests of the simulator compare with."""

import pytest

from tests.simulation.model_fakes import Wanderer
from tests.simulation.runs import simulate_runs


@pytest.fixture(scope="module")
def wandering():
    """All runs side by side, packed when few are left."""
    return simulate_runs(Wanderer())
