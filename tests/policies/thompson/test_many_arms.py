"""What is laid out differently for many arms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops import masks, sampling
from bayesduel.policies.thompson import (
    _events,
    _idle_rounds,
    _sampled_votes,
    double_thompson,
)
from bayesduel.posteriors import beta_pairs
from bayesduel.posteriors.beta_tails import half_tail_rates
from bayesduel.types import Duel, Outcome
from tests.compiling import quick_jit
from tests.policies.laws import pair_table, two_sample_chi_square
from tests.reference import DoubleThompson

FALSE_ALARM = 1e-5

WINS = np.array([[0, 4, 2, 5], [3, 0, 1, 2], [2, 4, 0, 0], [1, 0, 3, 0]])
"""Early counts: several arms often exceed 1/2 in the second sample."""

LATE = np.array([[0, 6, 3, 14], [3, 0, 7, 12], [4, 4, 0, 6], [1, 1, 5, 0]])
"""Two arms surely beat arm 3; the others form an undecided circle."""


@pytest.fixture
def few_are_many(monkeypatch):
    """Let four arms count as many."""
    for each in (
        masks, double_thompson, _idle_rounds, beta_pairs, sampling, _events
    ):  # fmt: skip
        monkeypatch.setattr(each, "MANY_ARMS", 3)


@pytest.mark.parametrize("num_arms", [5, 80])
def test_uniforms_of_pairs_are_mirrored(num_arms):
    """One uniform per unordered pair, whichever way the triangle is laid out."""
    with jax.enable_x64(True):
        draws = _events.draw_event_uniforms(
            jax.random.key(0), num_arms, ties_by_regret=True
        )
    assert (num_arms > _events.MANY_ARMS) == (num_arms == 80)
    row, column = np.triu_indices(num_arms, 1)
    both = []
    for each in (draws.signs, draws.idle_signs):
        values = np.asarray(each)
        np.testing.assert_array_equal(values, values.T)
        both.append(values[row, column])
    pairs = np.concatenate(both)
    assert len(np.unique(pairs)) == len(pairs)
    assert pairs.min() >= 0 and pairs.max() < 1
    assert abs(pairs.mean() - 0.5) < 4 / np.sqrt(12 * len(pairs))


@pytest.mark.parametrize(
    "wins",
    [*(pytest.param(each, marks=pytest.mark.slow) for each in (0 * WINS, WINS)), LATE],
    ids=["nothing", "early", "late"],
)
@pytest.mark.usefixtures("few_are_many")
def test_rounds_of_many_arms_have_the_law_of_the_rule(wins):
    """The form for many arms, with four: decided in one event, as the twin does it."""
    policy, index = policies.DoubleThompson(), int(wins.sum()) + 1
    with jax.enable_x64(True):
        key, none = jax.random.key(1), jnp.int64(0)
        state = policy.init(key, 4, jnp.int64(10**6))
        for i, j in zip(*np.triu_indices(4, 1), strict=True):
            rounds = jnp.int64(wins[i, j] + wins[j, i])
            duel = Duel(jnp.int32(0), none, jnp.int32(i), jnp.int32(j), rounds)
            outcome = Outcome(none, rounds, jnp.int64(wins[i, j]))
            state = policy.update(key, state, jnp.int64(1), duel, outcome)
        keys = jax.random.split(key, 2000)
        choose = quick_jit(jax.vmap(policy.choose, in_axes=(0, None, None)))
        duels, after = jax.tree.map(np.asarray, choose(keys, state, jnp.int64(index)))
    idle = duels.exploit_rounds > 0
    assert np.all(idle | (duels.explore_rounds == 1))
    assert after.contest.max() == -1
    ours = pair_table(
        np.where(idle, duels.champion, duels.first),
        np.where(idle, duels.champion, duels.second),
        4,
    )
    twin = DoubleThompson(4, np.random.default_rng(2))
    twin.wins[:], twin.rounds = wins, index - 1
    theirs = np.zeros((4, 4))
    for _ in range(2000):
        theirs[twin.choose()] += 1
    assert two_sample_chi_square(ours, theirs) > FALSE_ALARM / 3


@pytest.mark.parametrize("num_arms", [80, 81])
def test_words_of_pairs_are_different(num_arms):
    with jax.enable_x64(True):
        words = np.asarray(_sampled_votes._words(jax.random.key(3), num_arms))
    assert words.shape == (num_arms, num_arms)
    # Of 6500 words of 32 bits, some 0.005 pairs are equal.
    assert len(np.unique(words)) >= words.size - 1
    assert abs(words.mean() / 2**32 - 0.5) < 4 / np.sqrt(12 * words.size)


@pytest.mark.parametrize("bits", [32, 2])
def test_flips_have_their_chance_however_few_bits_come_first(bits, monkeypatch):
    """With 2 bits most pairs are open, and need further ones."""
    words = _sampled_votes._words
    monkeypatch.setattr(_sampled_votes, "_WORD", 2.0**-bits)
    monkeypatch.setattr(_sampled_votes, "_words", lambda *a: words(*a) >> (32 - bits))
    count = 20_000
    chance = np.array([[0.0, 0.3, 0.5], [0.7, 0.0, 0.01], [0.5, 0.99, 0.0]])
    trailing = np.tril(np.ones((3, 3), dtype=bool), -1) | (chance == 0.01)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(4), count)
        flips = quick_jit(jax.vmap(_sampled_votes._free_flips, in_axes=(0, None, None)))
        found = np.asarray(flips(keys, jnp.asarray(chance), jnp.asarray(trailing)))
    expected = np.where(trailing, chance, 0.0)
    error = np.sqrt(expected * (1.0 - expected) / count)
    # Four pairs, each at 4.8 standard errors.
    assert np.all(np.abs(found.mean(axis=0) - expected) <= 4.8 * error)


def test_running_sums_of_many_weights_stand_still_where_there_is_none():
    """Also where rounding would move them; so no index without weight is drawn."""
    rng = np.random.default_rng(0)
    weights = np.exp(rng.normal(0.0, 15.0, 500)) * (rng.random(500) < 0.5)
    with jax.enable_x64(True):
        running = np.asarray(jax.jit(sampling.cumulative)(jnp.asarray(weights)))
    np.testing.assert_allclose(running, np.cumsum(weights), rtol=1e-12)
    assert np.all(np.diff(running) >= 0.0)
    assert np.all((np.diff(running) == 0.0)[weights[1:] == 0.0])


def test_chances_tell_who_is_ahead():
    """As with many arms, of counts up to the largest that are stored."""
    most = 2**30
    wins = np.array([[0, 3, most, 700], [4, 0, most, 5], [most - 1, most, 0, 0],
                     [700, 2, 0, 0]])  # fmt: skip
    with jax.enable_x64(True):
        rate, _ = half_tail_rates(jnp.asarray(wins), jnp.asarray(wins.T))
        chance = np.where(np.eye(4), 0.0, np.asarray(-jnp.expm1(-rate)))
    np.testing.assert_array_equal(chance > 0.5 + beta_pairs._EVEN, wins > wins.T)
    even = (wins == wins.T) & ~np.eye(4, dtype=bool)
    np.testing.assert_array_equal(abs(chance - 0.5) < beta_pairs._EVEN, even)
