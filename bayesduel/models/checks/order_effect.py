"""A test of an advantage of the arm shown first, in models that have none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats
from scipy.linalg import cho_solve
from scipy.special import expit

from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.closed_forms import PairwiseDensity
from bayesduel.models.identifiability import why_order_is_unidentified
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.models.vote_arrays import Votes, votes_of, with_counts
from bayesduel.votes.comparisons import NEUTRAL, Comparisons

if TYPE_CHECKING:
    from bayesduel.models.fit.fit_result import Fit

_WIDE = 10.0
"""Standard deviation of utilities: too wide to shrink them towards one another."""

_ROUNDS = 3
"""Estimates, each of which is mended by the leverages of the one before."""


class _OrderTest(NamedTuple):
    """A score test of an advantage of the arm shown first."""

    advantage: float  # In units of utility; of a Beta per pair, as log odds.
    standard_error: float
    p_value: float


def why_not_tested(posterior: Fit) -> str:
    """Say why votes cannot tell an advantage of the arm shown first; "" if they can.

    Of votes that are no ties, as the test is.
    """
    votes = posterior.data.without_ties()
    contest = getattr(posterior.model, "contest_covariates", False)
    why = why_order_is_unidentified(votes, contest=contest)
    if why or not isinstance(posterior.model, PairwiseBeta):
        return why
    if _pair_tables(votes)[1] > 0.0:
        return ""
    return "no pair was shown in both orders with answers that differ"


def order_test(posterior: Fit) -> _OrderTest:
    """Test whether the arm shown first has an advantage, which the model has not.

    Of votes that are no ties. For utilities Rao's score test in Bradley and Terry's
    model, with what the utilities take from the information. These are estimated as
    Firth (1993) does, without the bias of the first order: with few votes per arm, and
    strong arms shown first, plain estimates raise one false alarm in fifteen. For a
    Beta per pair the test of Cochran, Mantel and Haenszel, which is right whatever the
    pairs are.
    """
    votes = posterior.data.without_ties()
    if isinstance(posterior.model, PairwiseBeta):
        return _mantel_haenszel(votes)
    full = BradleyTerry(
        prior_scale=_WIDE,
        order_effect=True,
        order_scale=1e6,
        contest_covariates=getattr(posterior.model, "contest_covariates", False),
        contest_scale=1e6,
    )
    arrays = votes_of(full, votes)
    added = np.zeros(len(arrays.first))
    for _ in range(_ROUNDS - 1):
        null = _Null.of(full, arrays, added)
        added = _leverages(arrays, null)
    null = _Null.of(full, arrays, added)
    place = null.density.coordinates.extras - 1
    # This entry of the inverse is one over what is left of the information.
    statistic = null.slope**2 * null.inverse[place, place]
    found = null.density.laplace()
    unit = np.eye(len(null.point))[place]
    variance = cho_solve((np.asarray(found.factor), True), unit)[place]
    return _OrderTest(
        float(found.mode[place]),
        float(np.sqrt(variance)),
        float(stats.chi2.sf(statistic, 1)),
    )


class _Null(NamedTuple):
    """The mode without an advantage, and the density with one there."""

    density: PairwiseDensity
    point: Float[np.ndarray, " D"]
    slope: float
    inverse: Float[np.ndarray, "D D"]  # Of minus the Hessian.

    @classmethod
    def of(
        cls, full: BradleyTerry, arrays: Votes, added: Float[np.ndarray, " row"]
    ) -> _Null:
        more = with_counts(arrays, arrays.counts + added[:, None] / 2.0)
        null = replace(full, order_effect=False)
        mode = PairwiseDensity(null, more, null.vote_derivatives).laplace().mode
        density = PairwiseDensity(full, more, full.vote_derivatives)
        place = density.coordinates.extras - 1
        point = np.insert(np.asarray(mode), place, 0.0)
        gradient, hessian = density.gradient_and_hessian(point)
        return cls(density, point, float(gradient[place]), np.linalg.inv(-hessian))


def _leverages(votes: Votes, null: _Null) -> Float[np.ndarray, " row"]:
    density, inverse = null.density, null.inverse
    number = density.coordinates.extras
    one, other = number + votes.first, number + votes.second
    spread = inverse[one, one] + inverse[other, other] - 2.0 * inverse[one, other]
    ones = np.ones(len(one))
    effects = np.stack(density.coordinates.of_effects(votes, ones))
    own = inverse[:number, :number] @ effects
    own += 2.0 * (inverse[:number, one] - inverse[:number, other])
    spread += np.sum(effects * own, axis=0)
    difference, _ = density.coordinates.rows(votes, null.point)
    p = expit(difference)
    return votes.counts.sum(axis=1) * p * (1.0 - p) * spread


def _pair_tables(data: Comparisons) -> tuple[np.ndarray, float]:
    # Votes by pair, by whether the lower arm was shown second, and by whether the arm
    # shown second won; and the variance of the lower arm's wins when it was shown
    # first, of all pairs, given both margins.
    counts = data.counts * (1.0 - data.columns.get(NEUTRAL, 0.0 * data.first)[:, None])
    low = np.minimum(data.first, data.second)
    pair, index = np.unique(
        low * data.num_arms + np.maximum(data.first, data.second), return_inverse=True
    )
    table = np.zeros((len(pair), 2, 2))
    np.add.at(table, (index, (data.first > low).astype(int)), counts[:, :2])
    table = table[table.sum(axis=(1, 2)) > 1]
    number, shown = table.sum(axis=(1, 2)), table[:, 0].sum(axis=1)
    won = table[:, 0, 0] + table[:, 1, 1]
    variance = shown * (number - shown) * won * (number - won)
    return table, float(np.sum(variance / (number**2 * (number - 1.0))))


def _mantel_haenszel(data: Comparisons) -> _OrderTest:
    # Test a common odds ratio of 1 of order and winner, pair by pair.
    table, variance = _pair_tables(data)
    if variance <= 0.0:
        return _OrderTest(0.0, np.inf, 1.0)
    (won_first, lost_first), (lost_then, won_then) = table.transpose(1, 2, 0)
    number, shown = table.sum(axis=(1, 2)), won_first + lost_first
    excess = float(np.sum(won_first - shown * (won_first + won_then) / number))
    odds = (
        np.sum(won_first * lost_then / number),
        np.sum(lost_first * won_then / number),
    )
    # Log odds ratio: the advantage of one order over the other, twice that of either.
    with np.errstate(divide="ignore"):
        advantage = 0.5 * float(np.log(odds[0]) - np.log(odds[1]))
    error = 0.5 / float(np.sqrt(variance))
    p_value = float(stats.chi2.sf(excess**2 / variance, 1))
    return _OrderTest(advantage, error, p_value)
