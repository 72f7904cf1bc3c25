"""Random numbers over lanes: the published vectors, and the bits of ``jax.random``."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel.ops.threefry import threefry
from bayesduel.simulation.trailing_vmap import map_lanes
from tests.compiling import names_in, quick_jit

NUM_LANES = 3
NUMBERS = np.array([0, -1, 2**31 - 1], dtype=np.int32)
"""What is folded in: JAX reads it as a word without a sign."""

OPERATIONS = {"random_bits", "random_fold_in", "random_split"}


@pytest.mark.parametrize(
    ("key", "count", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
        (
            (0x13198A2E, 0x03707344),
            (0x243F6A88, 0x85A308D3),
            (0xC4923A9C, 0x483DF7A0),
        ),
    ],
)
def test_published_vectors(key, count, expected):
    """Of 20 rounds, from the known answers that come with Random123 by its authors."""
    key, count = (tuple(np.uint32([word]) for word in each) for each in (key, count))
    for found in (threefry(key, count), jax.jit(threefry)(key, count)):
        assert tuple(int(word[0]) for word in found) == expected


def keys_of(seed, impl=None):
    return jax.random.split(jax.random.key(seed, impl=impl), NUM_LANES)


def both(function, *arguments):
    """Return what ``vmap`` and ``map_lanes`` give, and operations of the latter."""
    mapped = map_lanes(function, NUM_LANES)
    expected = quick_jit(jax.vmap(function, in_axes=-1, out_axes=-1))(*arguments)
    names = names_in(jax.make_jaxpr(mapped)(*arguments).jaxpr)
    return expected, quick_jit(mapped)(*arguments), names


def words(keys):
    return jax.random.key_data(keys)


DRAWS = {
    **{
        f"{width} bits": lambda key, _, width=width: jax.random.bits(
            key, (4, 5), dtype=f"uint{width}"
        )
        for width in (8, 16, 32, 64)
    },
    "a number": lambda key, _: jax.random.uniform(key, dtype=jnp.float64),
    "no number": lambda key, _: jax.random.bits(key, (0, 2)),
    "normal": lambda key, _: jax.random.normal(key, (6,), dtype=jnp.float64),
    "keys": lambda key, _: words(jax.random.split(key, 3)),
    "a table of keys": lambda key, _: words(jax.random.split(key, (4, 2))),
    "folded in": lambda key, n: words(jax.random.fold_in(key, n)),
    "a number folded in": lambda key, _: words(jax.random.fold_in(key, 7)),
    "folded into a shared key": lambda _, n: words(
        jax.random.fold_in(jax.random.key(9), n)
    ),
    "keys of keys": lambda key, n: jax.vmap(
        lambda each: jax.random.bits(jax.random.fold_in(each, n), (2, 4))
    )(jax.random.split(key, 5)),
    "many folded into one": lambda key, n: words(
        jax.vmap(jax.random.fold_in, in_axes=(None, 0))(
            key, n + jnp.arange(5, dtype=jnp.int32)
        )
    ),
}


@pytest.mark.parametrize("name", DRAWS)
def test_bits_are_those_of_jax(name):
    with jax.enable_x64(True):
        expected, found, names = both(DRAWS[name], keys_of(21), NUMBERS)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)
    assert not names & OPERATIONS, "JAX's own was used"


def test_keys_stay_keys():
    expected, found, _ = both(jax.random.split, keys_of(3))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(words(found), words(expected))


@pytest.mark.parametrize("name", ["8 bits", "normal", "keys", "folded in"])
def test_counting_as_before_2025_is_left_to_jax(name):
    with jax.enable_x64(True), jax.threefry_partitionable(False):
        expected, found, names = both(DRAWS[name], keys_of(5), NUMBERS)
    np.testing.assert_array_equal(found, expected)
    assert names & OPERATIONS


@pytest.mark.parametrize("name", ["normal", "keys", "folded in"])
def test_other_generators_are_left_to_jax(name):
    with jax.enable_x64(True):
        expected, found, names = both(DRAWS[name], keys_of(5, "rbg"), NUMBERS)
    np.testing.assert_array_equal(found, expected)
    assert names & OPERATIONS
