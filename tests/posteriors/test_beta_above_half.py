"""Beta draws above 1/2: their law, and how often a proposal is accepted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from bayesduel.posteriors.beta_above_half import (
    UNIFORMS_PER_ATTEMPT,
    attempt,
    offsets_above_half,
)

FALSE_ALARM = 1e-5
"""Of the tests of one kind together."""

PROPOSALS = 60_000

# (wins, losses): uniform prior; one duel; nothing but wins or losses; behind by 0 to 9
# standard deviations; ahead; surely ahead; as lopsided as counts can be.
COUNTS = [
    (0, 0),
    (0, 1),
    (1, 0),
    (6, 0),
    (0, 6),
    (10, 10),
    (47, 53),
    (46, 55),
    (43, 57),
    (60, 140),
    (3000, 3080),
    (4550, 5450),
    (70, 60),
    (900, 700),
    (20, 2),
    (2, 20),
    (200, 2),
    (2000, 100),
    (2**31 - 1, 0),
    (10**9, 10**4),
]


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def survival(offset, wins, losses):
    """P(theta > 1/2 + offset | theta > 1/2), accurate far in the tail."""
    above = special.betainc(losses + 1, wins + 1, 0.5 - offset)
    return above / special.betainc(losses + 1, wins + 1, 0.5)


def propose(seed, parameters):
    """Return offsets (row, proposal) and which are accepted, a row per Beta law."""
    first, second = (
        jnp.asarray(np.repeat(each[:, None], PROPOSALS, axis=1))
        for each in np.asarray(parameters).T
    )
    shape = (UNIFORMS_PER_ATTEMPT, *first.shape)
    uniforms = jax.random.uniform(jax.random.key(seed), shape, dtype=jnp.float64)
    offset, accepted = jax.jit(attempt)(uniforms, first, second)
    return np.asarray(offset), np.asarray(accepted)


@pytest.fixture(scope="module")
def proposals():
    """One call for all counts: offsets (count, proposal) and which are accepted."""
    with jax.enable_x64(True):
        return propose(20, np.array(COUNTS) + 1)


@pytest.mark.parametrize("index", range(len(COUNTS)), ids=map(str, COUNTS))
def test_accepted_offsets_have_the_conditional_law(proposals, index):
    offset, accepted = (each[index] for each in proposals)
    drawn = offset[accepted]
    assert np.all((drawn > 0.0) & (drawn <= 0.5))
    test = stats.kstest(drawn, lambda y: 1 - survival(y, *COUNTS[index]))
    assert test.pvalue > FALSE_ALARM / len(COUNTS), test


def test_law_of_one_more_win_is_rejected(proposals):
    """The test above sees the difference that a single duel makes."""
    index = COUNTS.index((43, 57))
    offset, accepted = (each[index] for each in proposals)
    test = stats.kstest(offset[accepted], lambda y: 1 - survival(y, 44, 57))
    assert test.pvalue < FALSE_ALARM / len(COUNTS), test


@pytest.mark.parametrize("index", range(len(COUNTS)), ids=map(str, COUNTS))
def test_most_proposals_are_accepted(proposals, index):
    """At least 1/sqrt(2) by the bound on the curvature; 4 standard errors are 0.008."""
    assert proposals[1][index].mean() > 0.7 - 0.008


def test_offsets_only_where_needed():
    size = 4000
    wins = jnp.full(size, 20, dtype=jnp.int32)
    losses = jnp.full(size, 27, dtype=jnp.int32)
    needed = jnp.arange(size) % 2 == 0
    draws = np.asarray(
        jax.jit(offsets_above_half)(jax.random.key(21), wins + 1, losses + 1, needed)
    )
    assert np.all(draws[1::2] == 0.0)
    drawn = draws[::2]
    assert len(np.unique(drawn)) == len(drawn)
    test = stats.kstest(drawn, lambda y: 1 - survival(y, 20, 27))
    assert test.pvalue > FALSE_ALARM, test


# Parameters that are no integers: none below 1; both; the first; the second, beside a
# small, a middling and a large one.
PARAMETERS = [
    (1.5, 1.0),
    (30.25, 41.5),
    (0.5, 0.5),
    (0.02, 0.4),
    (0.3, 80.5),
    (0.7, 800.5),
    (1.0, 0.3),
    (2.9, 0.9),
    (3.1, 0.99),
    (40.3, 0.05),
    (9000.5, 0.6),
]


@pytest.fixture(scope="module")
def real_proposals():
    with jax.enable_x64(True):
        return propose(22, np.array(PARAMETERS))


@pytest.mark.parametrize("index", range(len(PARAMETERS)), ids=map(str, PARAMETERS))
def test_offsets_of_real_parameters_have_the_conditional_law(real_proposals, index):
    """And half of the proposals are accepted at least (standard error 0.002)."""
    first, second = PARAMETERS[index]
    offset, accepted = (each[index] for each in real_proposals)
    assert accepted.mean() > 0.5
    drawn = offset[accepted]
    assert np.all((drawn > 0.0) & (drawn <= 0.5))
    # Next to theta = 1 many draws have the same float: those are only counted.
    end = 0.5 - 1e-9
    beyond = survival(end, first - 1, second - 1)
    count = stats.binomtest(int(np.sum(drawn > end)), len(drawn), beyond)
    test = stats.kstest(
        drawn[drawn <= end],
        lambda y: (1 - survival(y, first - 1, second - 1)) / (1 - beyond),
    )
    p_values = count.pvalue, test.pvalue
    assert min(p_values) > FALSE_ALARM / (2 * len(PARAMETERS)), p_values


def test_integers_have_one_law_under_both_dtypes():
    counts = np.array([(1, 1), (4, 9), (300, 2)])
    whole, real = propose(23, counts), propose(23, counts.astype(float))
    np.testing.assert_array_equal(whole, real)
