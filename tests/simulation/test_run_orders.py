"""Keys of runs and orders of arms: by the rules of ``jax.random``, and evenly."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from bayesduel.simulation import asked_models
from bayesduel.simulation import runs as simulated_runs
from bayesduel.simulation.runs import PairwiseEnvironment, orders_and_words, threefry
from tests.policies.instances import CONDORCET


def of_arms(number):
    return PairwiseEnvironment(np.full((number, number), 0.5))


@pytest.mark.parametrize(
    ("num_arms", "seed", "runs"),
    [
        (5, 7, range(3, 20)),
        (1, 0, range(2)),
        (2, 2**32, range(2**32 - 4, 2**32)),
        (300, 2**63 - 1, range(2**31 - 2, 2**31 + 3)),
    ],
)
def test_keys_and_orders_are_those_of_jax(num_arms, seed, runs):
    orders, words = orders_and_words(of_arms(num_arms), runs, seed)
    assert (orders.dtype, words.dtype) == (np.int32, np.uint32)
    with jax.enable_x64(True):
        for number, order, word in zip(runs, orders, words, strict=True):
            key = jax.random.fold_in(jax.random.key(seed), np.uint32(number))
            np.testing.assert_array_equal(word, jax.random.key_data(key))
            begins = jax.random.fold_in(key, simulated_runs.INIT)
            key_order, _ = jax.random.split(begins)
            arms = jnp.arange(num_arms, dtype=jnp.int32)
            drawn = jax.random.permutation(key_order, arms)
            np.testing.assert_array_equal(order, drawn)
    assert len({*map(tuple, words)}) == len(runs)


def test_all_orders_are_equally_likely():
    """Of four arms in 24,000 runs; one false alarm in 10^6."""
    orders, _ = orders_and_words(of_arms(4), range(24_000), 9)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert counts.size == 24
    assert scipy.stats.chisquare(counts).pvalue > 1e-6


def test_arms_with_equal_bits_stay_in_place(monkeypatch):
    """Also of more arms than ``jax.random.permutation`` sorts once."""
    bits = np.tile(np.uint32([7, 3, 7, 3, 0, 2**32 - 1]), 400)[None, :]

    def few_bits(key, count):
        if count[1].shape == bits.shape:
            same = np.repeat(bits, len(key[0]), axis=0)
            return same, np.zeros_like(same)
        return threefry(key, count)

    monkeypatch.setattr(simulated_runs, "threefry", few_bits)
    # A seed that no other test has: orders are remembered.
    orders, _ = orders_and_words(of_arms(bits.size), range(1), 2311)
    np.testing.assert_array_equal(orders, np.argsort(bits, axis=1, kind="stable"))


def test_without_shuffling_arms_keep_their_order():
    shuffled = PairwiseEnvironment(CONDORCET)
    one, other = (
        orders_and_words(each, range(5, 16), 7)
        for each in (shuffled, replace(shuffled, shuffle=False))
    )
    np.testing.assert_array_equal(other[0], np.tile(np.arange(len(CONDORCET)), (11, 1)))
    np.testing.assert_array_equal(one[1], other[1])


def test_beginnings_do_not_depend_on_how_many_are_computed_together():
    whole = orders_and_words(PairwiseEnvironment(CONDORCET), range(600), 7)
    part = orders_and_words(PairwiseEnvironment(CONDORCET), range(250, 300), 7)
    for all_runs, some in zip(whole, part, strict=True):
        np.testing.assert_array_equal(all_runs[250:300], some)
        assert len(all_runs) == 600


def test_keys_are_the_same_whatever_generator_is_the_default_of_jax():
    environment, runs = PairwiseEnvironment(CONDORCET), range(5, 16)
    _, words = orders_and_words(environment, runs, 7)
    with jax.enable_x64(True), jax.default_prng_impl("rbg"):
        key = asked_models.key_of(jnp.asarray(words[3]), jnp.uint32(5))
        expected = jax.random.fold_in(jax.random.key(7, impl="threefry2x32"), 8)
        expected = jax.random.fold_in(expected, 5)
    assert jax.random.key_data(key).tolist() == jax.random.key_data(expected).tolist()
