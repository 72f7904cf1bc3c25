"""Beta posteriors of all pairs: against the offline model, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.names import is_posterior
from bayesduel.models.in_policies.scalar_betas import (
    half_tail,
    prior_in_order,
    rates_above_half,
    tail_table,
)
from bayesduel.posteriors import BetaPairs, PairPosterior
from bayesduel.votes import Comparisons
from tests.compiling import called_compiled

WINS = np.array([[0, 7, 2, 0], [3, 0, 1, 40], [2, 9, 0, 0], [0, 21, 4, 0]])
"""Asymmetric; one pair was never compared."""

TABLE = np.array([[9, 3, 2.5, 0.5], [1, 9, 0.25, 2], [4, 1, 9, 0.5], [1.5, 2, 6, 9]])
WHOLE_TABLE = np.ceil(TABLE)


@pytest.mark.parametrize(
    "prior", [0.5, TABLE, WHOLE_TABLE], ids=["0.5", "table", "whole"]
)
def test_state_of_kernels_is_the_posterior_of_the_model(prior):
    """After n votes: parameters, and the probabilities that a policy decides by."""
    posterior, order = BetaPairs(prior=prior), np.array([2, 0, 3, 1])
    pseudo = prior_in_order(np.asarray(posterior.prior), order)
    model = posterior.model
    exact = model.exact_posterior(model.arrays(Comparisons.from_wins(WINS)))
    tail, table = called_compiled(half_tail), tail_table()
    rates = called_compiled(rates_above_half)
    for index, (i, j) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        here, there = (np.flatnonzero(order == arm)[0] for arm in (i, j))
        first = float(WINS[i, j] + pseudo[here, there])
        second = float(WINS[j, i] + pseudo[there, here])
        assert (first, second) == (exact.for_first[index], exact.for_second[index])
        result = rates(first, second, tail(first, second, table))
        probability = special.betainc(second, first, 0.5)
        np.testing.assert_allclose(np.exp(-result[0]), probability, rtol=1e-11)
        np.testing.assert_allclose(np.exp(-result[1]), 1.0 - probability, atol=1e-12)


def test_integers_stay_integers():
    assert not isinstance(BetaPairs(), PairPosterior)
    assert is_posterior(BetaPairs()) and not is_posterior(BetaPairs)
    assert BetaPairs(prior=2.0) == BetaPairs(prior=np.float64(2)) == BetaPairs(2)
    assert BetaPairs(prior=jnp.float32(2.0)) == BetaPairs(2)
    assert hash(BetaPairs(prior=2.0)) == hash(BetaPairs(prior=2))
    assert BetaPairs(prior=2) != BetaPairs(prior=2.5)
    assert BetaPairs(prior=TABLE) == BetaPairs(prior=TABLE.tolist())
    assert BetaPairs(prior=WHOLE_TABLE).prior.dtype == np.int64
    assert BetaPairs(prior=WHOLE_TABLE) != BetaPairs(prior=TABLE)
    assert BetaPairs().model.prior == 1.0


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (0, "prior must be a number above 0.*got 0$"),
        (float("nan"), "got nan"),
        (10**9, "at most 1e\\+08.*got 1000000000.0$"),
        (True, "got True"),
        ([1.0, 2.0], r"got \[1.0, 2.0\]"),
        ([[1, 2], [3]], "got"),
        (np.ones((4, 4)), r"3 x 3 table.*got \(4, 4\)"),
        ([[1, 1, 1], [1, 1, 0], [1, 1, 1]], r"^prior\[1, 2\] .* got 0$"),
        ([[1, 1, 1], [1, 1, 1], [float("nan"), 1, 1]], r"^prior\[2, 0\] .* got nan$"),
    ],
)
def test_bad_priors_are_refused(prior, message):
    with pytest.raises(
        PolicyParameterError, match="^prior.* must be a number"
    ) as caught:
        BetaPairs(prior=prior).check(3)
    assert caught.match(message)


def test_the_diagonal_of_a_table_is_not_read():
    table = np.full((3, 3), 2.0)
    np.fill_diagonal(table, [0.0, np.nan, -1.0])
    BetaPairs(prior=table).check(3)
    assert BetaPairs(prior=table).prior.dtype == np.int64
