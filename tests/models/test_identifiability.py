"""Effects that votes cannot tell from utilities: the null space of the design."""

import numpy as np
import pytest

from bayesduel.inference import fit, fit_mode
from bayesduel.models import (
    BradleyTerry,
    JudgedBradleyTerry,
    LinearUtilities,
    RaoKupper,
    Thurstone,
)
from bayesduel.models.identifiability import aliases, why_order_is_unidentified
from bayesduel.votes import Comparisons

NAMES = ["ref", "m1", "m2", "m3", "m4"]


def shown(*pairs, contest=None, judge=None, neutral=None, names=NAMES):
    """One vote for either arm of each pair, in the order of the two."""
    pairs = np.array(pairs)
    columns = {"judge": judge, "neutral": neutral}
    columns |= {} if contest is None else {"longer": contest}
    return Comparisons.from_rows(
        names,
        pairs[:, 0],
        pairs[:, 1],
        np.tile([1.0, 1.0, 0.0], (len(pairs), 1)),
        order_known=True,
        columns={name: value for name, value in columns.items() if value is not None},
        contest_covariates=() if contest is None else ["longer"],
    )


def null_space(table):
    """Return a basis (column, direction), by NumPy."""
    _, sizes, rows = np.linalg.svd(table)
    rank = int(np.sum(sizes > 1e-9 * sizes.max(initial=1e-300)))
    return rows[rank:].T


@pytest.mark.parametrize("covariates", [False, True])
def test_an_effect_is_told_where_no_null_vector_has_it(covariates):
    rng = np.random.default_rng(3)
    output = 0
    for _ in range(300):
        num_arms, rows = rng.integers(2, 8), rng.integers(1, 9)
        first = rng.integers(num_arms, size=rows)
        second = (first + rng.integers(1, num_arms, size=rows)) % num_arms
        order = (rng.random(rows) < 0.8).astype(float)
        hidden = rng.normal(size=num_arms)
        contest = [
            rng.normal(size=rows),
            2e-3 * (hidden[first] - hidden[second]),
            1e3 * order,
            np.zeros(rows),
        ][rng.integers(4)]
        effects = np.stack([order, contest], axis=1)
        table = rng.normal(size=(num_arms, 2)) if covariates else None
        base = np.eye(num_arms) if table is None else table
        design = base[first] - base[second]
        size = np.maximum(np.linalg.norm(effects, axis=0), 1e-300)
        null = null_space(np.hstack([design, effects / size]))[-2:]
        result = aliases(first, second, int(num_arms), effects, table)
        for index, alias in enumerate(result):
            expected = bool(np.abs(null[index]).max(initial=0.0) < 1e-6)
            assert (alias is None) is expected
            output += expected
            if alias is not None:  # It does the same to every vote.
                same = alias.utilities[first] - alias.utilities[second]
                same = same + effects @ alias.effects
                np.testing.assert_allclose(same, effects[:, index], atol=1e-9 * 1e3)
                assert alias.effects[index] == 0.0
    assert 100 < output < 500


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (shown((0, 1), (0, 2), (0, 3)), "ref is always shown first"),
        (shown((1, 0), (2, 0), (3, 0)), "ref is always shown second"),
        (shown((0, 2), (0, 3), (1, 2), (1, 3)), "ref, m1 are always shown first"),
        (shown((0, 1), (2, 3)), "ref, m2 are always shown first"),
        # A chain, and a circle in which the steps add up.
        (shown((0, 1), (1, 2)), "higher utilities of ref (by 2), m1 (by 1) do"),
        (shown((0, 1), (1, 2), (0, 3), (3, 2)),
         "higher utilities of ref (by 2), m1 (by 1), m3 (by 1) do"),
        (shown((0, 1), (1, 0), neutral=[1, 1]), "in no vote an arm was shown first"),
        (shown((0, 1), (1, 0), (1, 2), contest=[2.0, 2.0, 2.0]),
         "what the effect of longer can do"),
        (shown((0, 1), (1, 0), (0, 1), contest=[1.5, 0.5, 1.5]),
         "what the effect of longer and utilities of arms can do"),
        # These are told.
        (shown((0, 1), (1, 2), (0, 2)), ""),
        (shown((0, 1), (1, 2), (2, 0)), ""),
        (shown((0, 1), (1, 0), (0, 2)), ""),
        (shown((0, 1), (0, 1), neutral=[0, 1]), ""),
        (shown((0, 1), (1, 0), (0, 1), contest=[1.5, 0.5, 1.4]), ""),
    ],
)  # fmt: skip
def test_why_the_order_is_not_told(data, why):
    result = why_order_is_unidentified(data, contest=bool(data.contest_covariates))
    assert result.endswith(why) if why else not result
    assert bool(result) is bool(why)


ALWAYS_FIRST = shown((0, 1), (0, 2), (0, 3), (0, 4))
BOTH = shown((0, 1), (1, 0), (0, 2), (0, 3), (0, 4))


@pytest.mark.parametrize("model", [BradleyTerry, Thurstone, RaoKupper])
def test_a_fit_with_an_order_effect_says_so(model):
    kind = model(order_effect=True, ties=model is RaoKupper, zero_sum=True)
    posterior = fit(kind, ALWAYS_FIRST, method="laplace", num_draws=20)
    assert "ref is always shown first" in " ".join(posterior.remarks)
    assert "ref is always shown first" in " ".join(fit_mode(kind, ALWAYS_FIRST).remarks)
    assert not kind.remarks(BOTH)
    assert not model(ties=model is RaoKupper).remarks(ALWAYS_FIRST)


def test_the_posterior_is_the_prior_where_it_is_not_told():
    """Votes determine the sum of advantage and utility, not their difference."""
    model = BradleyTerry(order_effect=True, zero_sum=False, prior_scale=2.0)
    draws = fit(model, ALWAYS_FIRST, method="laplace", num_draws=2000).flat_draws()
    # Along the null direction: ref and the advantage against each other, which a
    # normal prior weighs by 1 / 2^2 and 1 / 1^2, is as wide as in the prior.
    along = draws["utility"][:, 0] / 2.0**2 - draws["first_advantage"]
    assert np.std(along) == pytest.approx(np.sqrt(1 / 4 + 1), rel=0.05)


def test_covariates_that_stand_for_the_order_are_named():
    data = ALWAYS_FIRST.with_covariates(
        [[1.0, 3.0], [0.0, 1.0], [0.0, 2.0], [0.0, 0.5], [0.0, 0.1]], ["made", "size"]
    )
    model = BradleyTerry(order_effect=True, covariates=True)
    result = " ".join(model.remarks(data))
    assert "what the coefficient of made can do" in result
    # Nothing but a slope of size cannot do it.
    only = ALWAYS_FIRST.with_covariates([[3.0], [1.0], [2.0], [0.5], [0.1]], ["size"])
    assert not model.remarks(only)
    residual = BradleyTerry(order_effect=True, covariates=True, residual=True)
    assert "ref is always shown first" in " ".join(residual.remarks(only))
    linear = LinearUtilities([[1.0], [0], [0], [0], [0]], order_effect=True)
    assert "the coefficient of feature 0" in " ".join(linear.remarks(ALWAYS_FIRST))


def test_effects_of_contests_that_votes_do_not_tell_are_named():
    data = shown((0, 1), (0, 2), (1, 2), (1, 0), contest=[1.0, 1.0, 0.0, -1.0])
    result = BradleyTerry(contest_covariates=True).remarks(data)
    assert len(result) == 1 and "utilities of arms" in result[0]
    assert "do not tell the effect of longer" in result[0]
    free = shown((0, 1), (0, 2), (1, 2), (1, 0), contest=[1.0, 1.0, 0.3, 1.0])
    assert not BradleyTerry(contest_covariates=True).remarks(free)
    none = shown((0, 1), (0, 2), contest=[0.0, 0.0])
    result = " ".join(BradleyTerry(contest_covariates=True).remarks(none))
    assert "it is 0 in every vote" in result


def test_judges_whose_bias_is_not_told_are_named():
    pairs = [(0, 1), (1, 0), (0, 2), (3, 4), (1, 2)]
    judge = ["ann", "ann", "ann", "bob", "cid"]
    result = JudgedBradleyTerry().remarks(shown(*pairs, judge=judge))
    assert len(result) == 1 and "the bias of bob" in result[0]
    always = shown((0, 1), (0, 2), judge=["ann", "bob"])
    assert "ref is always shown first" in " ".join(JudgedBradleyTerry().remarks(always))
    both = shown((0, 1), (1, 0), (0, 1), judge=["ann", "ann", "bob"])
    assert not JudgedBradleyTerry().remarks(both)


def test_a_long_chain_of_arms_is_looked_at_at_once():
    number = 20_000
    first = np.arange(number - 1)
    result = aliases(first, first + 1, number, np.ones((number - 1, 1)))
    assert result[0] is not None
    np.testing.assert_allclose(result[0].utilities, np.arange(number)[::-1])
    # One pair shown in the other order tells it.
    first, second = np.append(first, 1), np.append(first + 1, 0)
    assert aliases(first, second, number, np.ones((number, 1))) == [None]
