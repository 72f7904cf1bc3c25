"""Beta posteriors of all pairs: against the offline model, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from bayesduel.errors import PolicyParameterError
from bayesduel.inference import fit
from bayesduel.posteriors import BetaPairs, PairPosterior
from bayesduel.types import Outcome
from bayesduel.votes import Comparisons
from tests.compiling import quick_jit

FALSE_ALARM = 1e-5

WINS = np.array([[0, 7, 2, 0], [3, 0, 1, 40], [2, 9, 0, 0], [0, 21, 4, 0]])
"""Asymmetric; one pair was never compared."""

TABLE = np.array([[9, 3, 2.5, 0.5], [1, 9, 0.25, 2], [4, 1, 9, 0.5], [1.5, 2, 6, 9]])
WHOLE_TABLE = np.ceil(TABLE)
PRIORS = [1.0, 2, 0.5, 3.25, TABLE, WHOLE_TABLE]
NAMES = ["1.0", "2", "0.5", "3.25", "table", "whole table"]


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def state_after(posterior, wins):
    """Tell a posterior all votes: some one by one, the others of a pair together."""
    key, none = jax.random.key(0), jnp.int64(0)
    state = posterior.init(key, len(wins))
    update = quick_jit(posterior.update)
    for i, j in zip(*np.triu_indices(len(wins), 1), strict=True):
        single = min(int(wins[j, i]), 2)
        blocks = [(0, 1)] * single + [(wins[i, j], wins[i, j] + wins[j, i] - single)]
        for won, rounds in blocks:
            votes = Outcome(none, jnp.int64(rounds), jnp.int64(won))
            state = update(key, state, jnp.int32(i), jnp.int32(j), votes)
    return state


@pytest.mark.parametrize("prior", PRIORS, ids=NAMES)
def test_state_is_the_posterior_of_the_model(prior):
    """After n votes: parameters, mean, and P(theta > 1/2)."""
    posterior = BetaPairs(prior=prior)
    state = state_after(posterior, WINS)
    np.testing.assert_array_equal(state.wins, WINS)
    votes = Comparisons.from_wins(WINS)
    model = posterior.model
    exact = model.exact_posterior(model.arrays(votes))
    row, column = np.triu_indices(4, 1)
    first, second = exact.for_first, exact.for_second
    mean, chance = (
        np.asarray(f(state)) for f in (posterior.mean, posterior.prob_better)
    )
    np.testing.assert_allclose(mean[row, column], first / (first + second), rtol=1e-14)
    np.testing.assert_allclose(mean + mean.T, 1.0, rtol=1e-14)
    np.testing.assert_allclose(
        chance[row, column], special.betainc(second, first, 0.5), rtol=1e-11
    )
    np.testing.assert_allclose(
        chance[column, row], special.betainc(first, second, 0.5), rtol=1e-11
    )
    assert not chance.diagonal().any()
    np.testing.assert_allclose(state.rate, -np.log1p(-chance), rtol=1e-9)


@pytest.mark.parametrize("prior", [2, TABLE], ids=["2", "table"])
def test_mean_is_that_of_a_fit(prior):
    """By draws of ``fit``: 5 standard errors, for 6 pairs."""
    posterior = BetaPairs(prior=prior)
    mean = np.asarray(posterior.mean(state_after(posterior, WINS)))
    found = fit(posterior.model, Comparisons.from_wins(WINS), rng_key=3)
    draws = np.concatenate(list(found.matrices()))
    row, column = np.triu_indices(4, 1)
    error = draws.std(axis=0) / np.sqrt(len(draws))
    gap = np.abs(draws.mean(axis=0) - mean)
    assert np.all(gap[row, column] < 5 * error[row, column])


@pytest.mark.parametrize("prior", [2, TABLE], ids=["2", "table"])
def test_draws_have_the_law_of_the_state(prior):
    posterior = BetaPairs(prior=prior)
    state = state_after(posterior, WINS)
    draws = np.asarray(posterior.sample(jax.random.key(5), state, 4000))
    assert draws.shape == (4000, 4, 4)
    np.testing.assert_allclose(draws + draws.swapaxes(1, 2), 1.0, rtol=1e-14)
    counts = WINS + prior
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        law = stats.beta(counts[i, j], counts[j, i])
        assert stats.kstest(draws[:, i, j], law.cdf).pvalue > FALSE_ALARM / 6


@pytest.mark.parametrize("prior", [2, 0.5, TABLE], ids=["2", "0.5", "table"])
def test_a_self_duel_teaches_nothing(prior):
    posterior = BetaPairs(prior=prior)
    state = state_after(posterior, WINS)
    one = jnp.int64(1)
    votes, arm = Outcome(one, one, one), jnp.int32(2)
    after = posterior.update(jax.random.key(0), state, arm, arm, votes)
    for old, new in zip(state, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_table_follows_the_order_of_the_arms():
    order = np.array([2, 0, 3, 1])
    moved = BetaPairs(prior=TABLE).in_order(jnp.asarray(order))
    one = np.asarray(moved.mean(moved.init(jax.random.key(0), 4)))
    plain = BetaPairs(prior=TABLE)
    other = np.asarray(plain.mean(plain.init(jax.random.key(0), 4)))
    np.testing.assert_allclose(one, other[np.ix_(order, order)], rtol=1e-15)


def test_numbers_are_leaves_and_integers_stay_integers():
    assert isinstance(BetaPairs(), PairPosterior)
    assert jax.tree.leaves(BetaPairs(prior=3)) == [3]
    assert BetaPairs(prior=2.0) == BetaPairs(prior=np.float64(2)) == BetaPairs(2)
    assert hash(BetaPairs(prior=2.0)) == hash(BetaPairs(prior=2))
    assert BetaPairs(prior=2) != BetaPairs(prior=2.5)
    assert BetaPairs(prior=TABLE) == BetaPairs(prior=TABLE.tolist())
    assert BetaPairs(prior=WHOLE_TABLE).prior.dtype == np.int64
    assert BetaPairs(prior=WHOLE_TABLE) != BetaPairs(prior=TABLE)
    assert BetaPairs().model.prior == 1.0
    traces = []

    @jax.jit
    def chance(posterior):
        traces.append(posterior)
        return posterior.prob_better(posterior.init(jax.random.key(0), 3))

    for prior in (1, 2, 7.0, 0.5, 2.25):
        chance(BetaPairs(prior=prior))
    assert len(traces) == 2


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (0, "prior must be a number above 0.*got 0$"),
        (-1.5, "got -1.5$"),
        (float("nan"), "got nan"),
        (float("inf"), "got inf"),
        (10**9, "at most 1e\\+08.*got 1000000000.0$"),
        (True, "got True"),
        ("many", "got 'many'"),
        (None, "got None"),
        ([1.0, 2.0], r"got \[1.0, 2.0\]"),
        ([[1, 2], [3]], "got"),
        (np.ones((3, 4)), "got"),
        (np.ones((4, 4)), r"3 x 3 table.*got an array of the shape \(4, 4\)"),
        ([[1, 1, 1], [1, 1, 0], [1, 1, 1]], r"got 0 at \[1, 2\]"),
        ([[1, 1, 1], [1, 1, 1], [float("nan"), 1, 1]], r"got nan at \[2, 0\]"),
        ([[1, -2.5, 1], [1, 1, 1], [1, 1, 1]], r"got -2.5 at \[0, 1\]"),
    ],
)
def test_bad_priors_are_refused(prior, message):
    with pytest.raises(PolicyParameterError, match="prior must be a number") as caught:
        BetaPairs(prior=prior).check(3)
    assert caught.match(message)


def test_the_diagonal_of_a_table_is_not_read():
    table = np.full((3, 3), 2.0)
    np.fill_diagonal(table, [0.0, np.nan, -1.0])
    BetaPairs(prior=table).check(3)
    assert BetaPairs(prior=table).prior.dtype == np.int64
