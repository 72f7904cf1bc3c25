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


@pytest.fixture(scope="module")
def proposals():
    """One call for all counts: offsets (count, proposal) and which are accepted."""
    with jax.enable_x64(True):
        wins, losses = (
            jnp.asarray(np.repeat(np.array(each)[:, None], PROPOSALS, axis=1))
            for each in zip(*COUNTS, strict=True)
        )
        shape = (UNIFORMS_PER_ATTEMPT, *wins.shape)
        uniforms = jax.random.uniform(jax.random.key(20), shape, dtype=jnp.float64)
        offset, accepted = jax.jit(attempt)(uniforms, wins, losses)
        return np.asarray(offset), np.asarray(accepted)


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
        jax.jit(offsets_above_half)(jax.random.key(21), wins, losses, needed)
    )
    assert np.all(draws[1::2] == 0.0)
    drawn = draws[::2]
    assert len(np.unique(drawn)) == len(drawn)
    test = stats.kstest(drawn, lambda y: 1 - survival(y, 20, 27))
    assert test.pvalue > FALSE_ALARM, test
