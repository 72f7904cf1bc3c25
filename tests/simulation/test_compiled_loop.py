"""How the loop over events is compiled: as one function, and to the same bits."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.masks import materialize
from bayesduel.policies.base import is_in_jax, kernel_of
from bayesduel.simulation import buffer_rows, compiler_options, driver, event_loop
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.subsets import SubsetEnvironment
from tests.compiling import compared_with_themselves, names_in
from tests.policies.forms import IN_JAX
from tests.policies.instances import CONDORCET
from tests.policies.subsets.subset_driving import NOTIONS, WORLD
from tests.simulation.runs import RUNS, SLOW, same, simulate_runs

LEFT_TO_LIBRARIES = {
    "bt-ts": {"cholesky", "triangular_solve"},
    "logit-ts": {"cholesky", "dot_general", "triangular_solve"},
}  # fmt: skip
"""Policies with operations that keep XLA from compiling a loop as one function."""

LIBRARIES = {*set().union(*LEFT_TO_LIBRARIES.values()), "eigh", "scatter-add", "top_k"}

ALL = [
    *(name for name in IN_JAX if kernel_of(policies.get(name)) is None),
    *(name for name in policies.subset_names() if is_in_jax(policies.get(name))),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_program_of_the_loop(name):
    """What is compared is computed once, and nothing is left to a library.

    But for the policies named above. As all of it is one function, XLA may merge
    anything into either side of a comparison.
    """
    environment = (
        SubsetEnvironment.from_world(WORLD, NOTIONS)
        if name.split(":")[0] in policies.subset_names()
        else PairwiseEnvironment(CONDORCET)
    )
    policy, checkpoints = policies.parse(name), np.array([10, 30])
    with jax.enable_x64(True):
        inputs = driver._problem(environment, policy, RUNS, checkpoints, 7)
        carry = driver.start.lower(inputs, 8, 8).out_info
        loop = jax.make_jaxpr(event_loop.play_segment)(inputs, carry, np.int64(9))
    found = names_in(loop.jaxpr) & LIBRARIES
    assert found == LEFT_TO_LIBRARIES.get(name, set())
    assert compared_with_themselves(loop.jaxpr) == []


@pytest.mark.parametrize("barrier", [True, False])
def test_a_comparison_with_itself_is_found(barrier):
    """Negative control: the largest index, as it stood in policies."""

    def largest(wins, plays):
        index = jnp.where(plays > 0, wins / plays, jnp.inf)
        (index,) = materialize(index) if barrier else (index,)
        return index == jnp.max(index), jnp.argmax(index[None, :] > index[:, None])

    program = jax.make_jaxpr(largest)(np.ones(4), np.ones(4))
    found = compared_with_themselves(program.jaxpr)
    expected = [] if barrier else ["eq", "gt"]
    assert [each.primitive.name for each in found] == expected


def written(write, buffer, values, which, index):
    with jax.enable_x64(True):
        return jax.jit(write)(buffer, values, jnp.asarray(which), index)


@pytest.mark.parametrize("rest", [(), (3, 2)], ids=["numbers", "tables"])
@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("dtype", [np.int64, np.uint32, bool])
def test_rows_are_written_in_turn_as_by_a_scatter(rest, columns, dtype):
    """The forms for a CPU and for an accelerator; a lane without a run has no row."""
    rng = np.random.default_rng(4)
    shape = (6, 5, *rest) if columns else (6, *rest)
    buffer = rng.integers(0, 2**20, shape).astype(dtype)
    values = rng.integers(0, 2**20, (4, *rest)).astype(dtype)
    which = np.array([True, False, True, False])
    index = (np.array([5, 0, 1, 6], dtype=np.int32),)
    if columns:
        index = (*index, np.array([0, 0, 4, 2], dtype=np.int32))
    expected = buffer.copy()
    for lane in np.flatnonzero(which):
        expected[tuple(axis[lane] for axis in index)] = values[lane]
    for write in (buffer_rows._write_in_turn, buffer_rows._scatter):
        found = np.asarray(written(write, buffer, values, which, index))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


@SLOW
@pytest.mark.parametrize("name", ["sup-klucb", "scb"])
def test_options_change_no_bit(name, monkeypatch):
    """Each entry is computed as before, whatever is asked of the compiler."""
    simulate = partial(simulate_runs, policies.get(name), num_lanes=8, engine="jax")
    asked = compiler_options.options_of_loop(len(CONDORCET))
    with_all = simulate()
    assert len(np.unique(with_all.ledger["plays"][:, -1], axis=0)) > 1
    for left in [(), *((option,) for option in asked)]:
        monkeypatch.setattr(event_loop, "options_of_loop", lambda _, left=left: left)
        same(simulate(), with_all)


@pytest.fixture
def disable():
    """Return what asks JAX for hardly any optimization, or no longer."""
    option = "jax_disable_most_optimizations"
    before = jax.config.read(option)
    yield partial(jax.config.update, option)
    jax.config.update(option, before)


def test_an_option_that_the_compiler_does_not_know_is_left_out(monkeypatch, disable):
    disable(False)
    options_of_loop = compiler_options.options_of_loop
    known, of_many = options_of_loop(16), options_of_loop(17)
    assert {*of_many} < {*known}
    unknown = {"xla_cpu_no_such_option": 1}
    monkeypatch.setattr(compiler_options, "_WIDE_VECTORS", unknown)
    assert options_of_loop(17) == ()
    assert set(options_of_loop(16)) == {*known} - {*of_many}


@pytest.mark.parametrize("disabled", [True, False])
def test_who_asks_for_hardly_any_optimization_gets_that(disabled, disable):
    disable(disabled)
    options = dict(compiler_options.options_of_loop(4))
    assert options.get("xla_backend_optimization_level") == (None if disabled else 1)
