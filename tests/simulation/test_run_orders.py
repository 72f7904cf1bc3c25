"""Keys of runs, orders and labels of arms, checkpoints inside stretches, answers."""

from dataclasses import replace
from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel.simulation import model_calls
from bayesduel.simulation import runs as simulated_runs
from bayesduel.simulation.runs import PairwiseEnvironment, orders_and_words, threefry
from tests.policies.instances import CONDORCET, CYCLIC
from tests.simulation.model_fakes import Scripted
from tests.simulation.runs import simulate_runs


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
    """Test four arms in 24,000 runs; one false alarm in 10^6."""
    orders, _ = orders_and_words(of_arms(4), range(24_000), 9)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert counts.size == 24
    assert stats.chisquare(counts).pvalue > 1e-6


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
    fixed = replace(shuffled, shuffle=False)
    one, other = (orders_and_words(x, range(5, 16), 7) for x in (shuffled, fixed))
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
        key = model_calls.key_of(jnp.asarray(words[3]), jnp.uint32(5))
        expected = jax.random.fold_in(jax.random.key(7, impl="threefry2x32"), 8)
        expected = jax.random.fold_in(expected, 5)
    assert jax.random.key_data(key).tolist() == jax.random.key_data(expected).tolist()


FALSE_ALARM = 1e-5

CERTAIN = np.where(np.tri(4, k=-1), 0.0, 1.0) - 0.5 * np.eye(4)
"""The arm with the smaller number always wins."""


def scripted(*parameters, **options):
    return simulate_runs(Scripted(*parameters), shuffle=False, num_lanes=2, **options)


@pytest.mark.parametrize(("exploit", "explore"), [(5, 1), (0, 1), (3, 0)])
def test_checkpoints_inside_stretches(exploit, explore):
    """Rounds of a stretch are played one pair after the other: self-duels first."""
    horizon, grid = 29, tuple(range(1, 30))
    records = scripted(exploit, explore, checkpoints=grid, runs=range(3))
    script = ([(2, 2)] * exploit + [(0, 1)] * explore) * horizon
    expected = np.zeros((horizon, 4, 4), dtype=np.int64)
    for index in range(horizon):
        for pair in script[: index + 1]:
            expected[index][pair] += 1
    for plays in records.ledger["plays"]:
        np.testing.assert_array_equal(plays, expected)
    assert records.events.tolist() == [-(-horizon // (exploit + explore))] * 3


def test_only_the_horizon_cuts_a_stretch():
    """Stretches of the longest horizon, and one duel after them."""
    longest = 2**62
    for exploit, explore in ((longest, 1), (longest - 1, 1)):
        grid = (1, longest - 8, longest)
        records = scripted(exploit, explore, checkpoints=grid, runs=range(2))
        (plays, _) = records.ledger["plays"]
        assert plays[1, 2, 2] == longest - 8
        assert plays[2, 2, 2] == exploit
        assert plays[2, 0, 1] == longest - exploit
        assert records.events.tolist() == [1, 1]


def test_many_checkpoints_of_a_single_event():
    """More of them than lanes, and than the block they are padded to."""
    grid = tuple(range(1, 70))
    records = scripted(1000, checkpoints=grid, runs=range(2))
    assert records.ledger["plays"].shape == (2, 69, 4, 4)
    assert records.ledger["plays"][:, :, 2, 2].tolist() == [[*grid]] * 2


def shuffled_labels(num_runs):
    """Return champion, one and other arm of the pair, and recommendation per run."""
    records = simulate_runs(Scripted(), CERTAIN, runs=range(num_runs), num_lanes=64)
    last = records.ledger["plays"][:, -1]
    results = []
    for plays, best in zip(last, records.recommendation, strict=True):
        assert np.all(np.tril(plays, -1) == 0)
        (champion,) = np.flatnonzero(np.diag(plays))
        ((one, other),) = np.argwhere(np.triu(plays, 1))
        assert plays[champion, champion] == 5 * 500
        assert plays[one, other] == 500
        results.append((champion, one, other, best))
    return np.array(results)


def test_results_have_the_original_labels():
    """With certain answers the better arm of the pair is recommended, anywhere."""
    result = shuffled_labels(600)
    champion, one, other, best = result.T
    assert np.all((champion != one) & (champion != other))
    np.testing.assert_array_equal(best, np.minimum(one, other))
    # Each arm is champion equally often, as is each pair of the three others.
    # The order of positions 0 and 1 does not show.
    triples = [(c, i, j) for c, i, j in permutations(range(4), 3) if i < j]
    counts = [np.sum(np.all(result[:, :3] == triple, axis=1)) for triple in triples]
    assert sum(counts) == 600
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_answers_follow_the_matrix():
    """Position 0 is recommended as long as it has won every duel: with p^40."""
    duels = 40
    matrix = CYCLIC.copy()
    matrix[0, 1], matrix[1, 0] = 0.97, 0.03
    given = {"checkpoints": (3 * duels,), "runs": range(2000), "num_lanes": 64}
    records = simulate_runs(Scripted(2), matrix, shuffle=False, **given)
    lost = int(np.sum(records.recommendation == 1))
    assert stats.binomtest(lost, 2000, 1 - 0.97**duels).pvalue > FALSE_ALARM
