"""Is there a total order? Does the arm shown first win more? Votes against models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Float64
from scipy import stats
from scipy.linalg import cho_solve
from scipy.special import betainc, expit

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_numbers, check_real, next_seed
from bayesduel.models.base import PreferenceModel
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.checks.cross_validation import loo
from bayesduel.models.closed_forms import PairwiseDensity
from bayesduel.models.fit.draws import generator_of
from bayesduel.models.fit.fit_result import Fit
from bayesduel.models.fit.fitting import fit
from bayesduel.models.fit.predictions import check_whole, votes_drawn
from bayesduel.models.fit.resampling import GOOD_K
from bayesduel.models.identifiability import why_order_is_unidentified
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.models.vote_arrays import Votes, votes_of, with_counts
from bayesduel.votes.comparisons import NEUTRAL, Comparisons
from theory.arguments import seed_of

if TYPE_CHECKING:
    from bayesduel.models.fit.fit_result import Fit

_FEW_NATS = 4.0
"""Differences of elpd below this are small whatever their standard error says
(Sivula et al. 2020)."""


@dataclass(frozen=True, eq=False)
class Transitivity:
    """Evidence for and against one common scale of the arms.

    Attributes
    ----------
    elpd_difference, standard_error : float
        Leave-one-vote-out elpd of Bradley-Terry minus that of a Beta per pair, in nats,
        and its standard error. Positive: one scale predicts votes better.
    bad_k : int
        Votes whose Pareto k says that the former is not reliable.
    condorcet_exists : float
        Posterior probability, with a Beta per pair, that an arm beats all others; nan
        where no votes connect some arms with the others.
    condorcet : xarray.DataArray (arm)
        The same for every arm.
    expected_cycles : float
        Posterior expectation, with a Beta per pair, of the number of cycles i > j > k >
        i among triples of which all three pairs were compared.
    cycles_if_transitive : float64 (replicate,)
        The same number for votes drawn from the fitted Bradley-Terry model: a few
        cycles are expected from noise alone.
    cycles_p_value : float
        Share of replicates with at least as many expected cycles as the data.
    num_triples : int
        Triples of which all pairs were compared.
    num_votes : int
        Votes that are no ties; the others say nothing here.
    bradley_terry, pairwise_beta : Fit
        The two fits.
    """

    elpd_difference: float
    standard_error: float
    bad_k: int
    condorcet_exists: float
    condorcet: xr.DataArray
    expected_cycles: float
    cycles_if_transitive: Float64[np.ndarray, " replicate"]
    cycles_p_value: float
    num_triples: int
    num_votes: int
    bradley_terry: Fit
    pairwise_beta: Fit

    @property
    def verdict(self) -> str:
        """Say "one scale", "no single scale", or "undecided".

        Decided where the difference of elpd exceeds two standard errors and 4 nats, or,
        against one scale, where the cycles of fewer than one in a hundred replicates
        reach those of the data.
        """
        difference = self.elpd_difference
        clear = abs(difference) > max(2.0 * self.standard_error, _FEW_NATS)
        if (clear and difference < 0) or self.cycles_p_value < 0.01:
            return "no single scale"
        return "one scale" if clear else "undecided"

    @property
    def num_open_pairs(self) -> int:
        """Count the pairs without a vote, of which each side is as likely the better.

        With many of them no arm can be known to beat all others.
        """
        wins = self.pairwise_beta.data.wins
        return int(np.sum(np.triu(wins + wins.T == 0, 1)))

    def __str__(self) -> str:
        side = "Bradley-Terry" if self.elpd_difference >= 0 else "a Beta per pair"
        best = self.condorcet.sortby(self.condorcet, ascending=False)[:3]
        arms = ", ".join(
            f"{name} {float(value):.2f}"
            for name, value in zip(best["arm"].values, best.values, strict=True)
        )
        noise = float(np.mean(self.cycles_if_transitive))
        open_pairs = self.num_open_pairs
        never = f"; even pairs without a vote: {open_pairs}" * (open_pairs > 0)
        winner = f"exists with probability {self.condorcet_exists:.2f} ({arms}{never})"
        parts = len(self.pairwise_beta.parts)
        if parts > 1:
            winner = (
                f"nobody can know, since no votes connect {parts} parts of the arms"
            )
        doubts = f" ({self.bad_k} votes have a bad Pareto k)" if self.bad_k else ""
        return "\n".join(
            [
                f"Is there one scale? {self.verdict}, from {self.num_votes} votes.",
                f"  Prediction: {side} predicts a vote better, by "
                f"{abs(self.elpd_difference):.1f} nats in all, standard error "
                f"{self.standard_error:.1f}{doubts}.",
                f"  Condorcet winner: {winner}.",
                f"  Cycles: {self.expected_cycles:.1f} expected among "
                f"{self.num_triples} triples; noise alone would give {noise:.1f} "
                f"(p = {self.cycles_p_value:.3f}).",
            ]
        )


def transitivity(
    data: Comparisons,
    *,
    model: PreferenceModel | None = None,
    prior: float = 1.0,
    method: str = "laplace",
    num_draws: int = 1000,
    num_replicates: int = 200,
    rng_key: int = 0,
) -> Transitivity:
    """Test whether one utility per arm describes the votes, as Bradley-Terry assumes.

    Two models of who wins are compared, vote by vote: a Beta per pair, in which
    anything goes, and utilities on one scale. Ties are dropped: given that a vote is no
    tie, Davidson's model is Bradley-Terry.

    A total order that is no Bradley-Terry scale (strong preferences next to weak ones)
    also speaks for independent pairs; cycles tell the two cases apart.

    Parameters
    ----------
    data : Comparisons
        Votes, whole numbers; in either order.
    model : PreferenceModel, optional
        The scale; ``BradleyTerry(zero_sum=True)`` by default.
    prior : float
        Pseudo-votes of the Beta per pair.
    method : str
        How the scale is fitted.
    num_draws : int
        Draws per chain (4 chains).
    num_replicates : int
        Sets of votes drawn from the scale.
    rng_key : int

    Returns
    -------
    Transitivity
        Print it, or read its ``verdict``.

    Raises
    ------
    FitError
        If there are fewer than 3 arms, votes are not whole numbers, or an argument is
        out of range.

    Examples
    --------
    >>> from bayesduel.diagnostics import transitivity
    >>> from bayesduel.votes import Comparisons
    >>> circle = [[0, 30, 10], [10, 0, 30], [30, 10, 0]]
    >>> transitivity(Comparisons.from_wins(circle)).verdict
    'no single scale'
    """
    if not isinstance(data, Comparisons):
        hint = "use its to_comparisons()" if hasattr(data, "to_comparisons") else ""
        rule = "must be Comparisons, to be asked about transitivity"
        raise FitError("data", rule, type(data).__name__, remedy=hint)
    if data.num_arms < 3:
        raise FitError(
            "data", "must be of at least 3 arms, to have an order", data.num_arms
        )
    check_whole(data, "transitivity")
    check_real("prior", prior)
    rng_key = seed_of(rng_key, "rng_key", kind=FitError)
    num_replicates = check_numbers("num_replicates", num_replicates, data.num_arms**2)
    votes = data.without_order().without_ties()
    scale = fit(
        BradleyTerry(zero_sum=True) if model is None else model,
        votes,
        method=method,
        rng_key=rng_key,
        num_draws=num_draws,
    )
    # Few draws: what is asked of the Beta distributions has a closed form.
    pairs = fit(PairwiseBeta(prior=prior), votes, rng_key=rng_key, num_draws=25)
    on_scale, by_pair = loo(scale), loo(pairs)
    pointwise = np.asarray(on_scale.elpd_i) - np.asarray(by_pair.elpd_i)
    wins = votes.wins
    better = probability_of_majority(wins, prior)
    condorcet = np.prod(np.where(np.eye(votes.num_arms), 1.0, better), axis=1)
    seen = (wins + wins.T) > 0
    if len(pairs.parts) > 1:
        condorcet = np.full(votes.num_arms, np.nan)
    cycles = expected_cycles(better, seen)
    # Expected cycles of votes drawn from the fitted scale.
    arrays: Any = scale.arrays
    counts = np.asarray(arrays.counts)
    first, second = np.asarray(arrays.first), np.asarray(arrays.second)
    rng, replicates = generator_of(next_seed(rng_key)), np.empty(num_replicates)
    sampled = scale.sample(next_seed(rng_key, 2), num_replicates)
    for index, matrix in enumerate(sampled):
        probability = matrix[first, second]
        logs = np.log(np.stack([probability, 1.0 - probability], axis=-1))[None]
        drawn = votes_drawn(rng, counts, logs)[0]
        won = np.zeros_like(matrix)
        won[first, second], won[second, first] = drawn[:, 0], drawn[:, 1]
        likely = probability_of_majority(won, prior)
        replicates[index] = expected_cycles(likely, (won + won.T) > 0)
    return Transitivity(
        elpd_difference=float(pointwise.sum()),
        standard_error=float(np.sqrt(len(pointwise) * np.var(pointwise, ddof=1))),
        bad_k=int(np.sum(np.asarray(on_scale.pareto_k) > GOOD_K)),
        condorcet_exists=float(condorcet.sum()),
        condorcet=xr.DataArray(
            condorcet, dims=("arm",), coords={"arm": list(votes.arm_names)}
        ),
        expected_cycles=cycles,
        cycles_if_transitive=replicates,
        # The data count as one of the replicates: never 0.
        cycles_p_value=float(
            (1 + np.sum(replicates >= cycles)) / (1 + len(replicates))
        ),
        num_triples=int(round(np.trace(np.linalg.matrix_power(seen * 1.0, 3)) / 6)),
        num_votes=int(round(votes.num_votes)),
        bradley_terry=scale,
        pairwise_beta=pairs,
    )


def probability_of_majority(
    wins: Float64[np.ndarray, "*pair"], prior: float
) -> Float64[np.ndarray, "*pair"]:
    """P(theta_ij > 1/2) for theta_ij ~ Beta(prior + wins_ij, prior + wins_ji)."""
    return betainc(prior + wins.T, prior + wins, 0.5)


def expected_cycles(
    better: Float64[np.ndarray, "K K"], seen: Bool[np.ndarray, "K K"]
) -> float:
    """Return the expected number of cycles."""
    # Pairs are independent, and the trace counts each cycle 3 times.
    edges = np.where(seen, better, 0.0)
    return float(np.trace(edges @ edges @ edges) / 3.0)


# --- An advantage of the arm shown first, in models that have none --------------------


# Standard deviation of utilities: too wide to shrink them towards one another.
_WIDE = 10.0
_ROUNDS = 3  # Estimates, each of which is mended by the leverages of the one before.


class _OrderTest(NamedTuple):
    """A score test of an advantage of the arm shown first."""

    advantage: float  # In units of utility; of a Beta per pair, as log odds.
    standard_error: float
    p_value: float


def why_not_tested(posterior: Fit) -> str:
    """Say why votes cannot tell an advantage of the arm shown first; "" if they can."""
    # Ties are left out, as in the test.
    votes = posterior.data.without_ties()
    contest = getattr(posterior.model, "contest_covariates", False)
    why = why_order_is_unidentified(votes, contest=contest)
    if why or not isinstance(posterior.model, PairwiseBeta):
        return why
    if _pair_tables(votes)[1] > 0.0:
        return ""
    return "no pair was shown in both orders with answers that differ"


def order_test(posterior: Fit) -> _OrderTest:
    """Test whether the arm shown first has an advantage, which the model has not."""
    # Rao's score test in Bradley and Terry's model, of votes that are no ties, with
    # utilities estimated without the bias of the first order (Firth 1993): else, with
    # few votes per arm, one test in fifteen raises a false alarm. For a Beta per pair
    # the test of Cochran, Mantel and Haenszel.
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
    null = replace(full, order_effect=False)

    def at_null(added: np.ndarray) -> tuple[PairwiseDensity, np.ndarray]:
        # The density, and the mode without an advantage.
        more = with_counts(arrays, arrays.counts + added[:, None] / 2.0)
        mode = PairwiseDensity(null, more, null.vote_derivatives).laplace().mode
        point = np.insert(np.asarray(mode), index, 0.0)
        return PairwiseDensity(full, more, full.vote_derivatives), point

    whole = PairwiseDensity(full, arrays, full.vote_derivatives)
    index = whole.coordinates.extras - 1
    density, point = at_null(np.zeros(len(arrays.first)))
    for _ in range(_ROUNDS - 1):
        inverse = np.linalg.inv(-density.hessian(point))
        density, point = at_null(_leverages(density, arrays, point, inverse))
    gradient, hessian = density.gradient_and_hessian(point)
    # This entry of the inverse is one over what is left of the information.
    statistic = gradient[index] ** 2 * np.linalg.inv(-hessian)[index, index]
    full_mode = density.laplace()
    unit = np.eye(len(point))[index]
    variance = cho_solve((np.asarray(full_mode.factor), True), unit)[index]
    return _OrderTest(
        float(full_mode.mode[index]),
        float(np.sqrt(variance)),
        float(stats.chi2.sf(statistic, 1)),
    )


def _leverages(
    density: PairwiseDensity, votes: Votes, point: np.ndarray, inverse: np.ndarray
) -> Float[np.ndarray, " row"]:
    coordinates = density.coordinates
    number = coordinates.extras
    first, second = number + votes.first, number + votes.second
    spread = inverse[first, first] + inverse[second, second]
    spread -= 2.0 * inverse[first, second]
    effects = np.stack(coordinates.of_effects(votes, np.ones(len(first))))
    effect_spread = inverse[:number, :number] @ effects
    effect_spread += 2.0 * (inverse[:number, first] - inverse[:number, second])
    spread += np.sum(effects * effect_spread, axis=0)
    p = expit(coordinates.rows(votes, point)[0])
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
