"""Differences of utilities: from draws, and at the mode of very many arms.

At the mode the Hessian of a pairwise model is the Laplacian of the graph of pairs,
weighted by what their votes tell, plus the precision of the prior: sparse, positive
definite and well conditioned. Factors of it are dense for graphs without a pattern, so
equations are solved by conjugate gradients, and nothing of the size K x K is made.
Draws of the normal distribution there are solutions for noise on every row of votes and
on the prior; standard errors are made of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from scipy.linalg import solve_triangular
from scipy.sparse import block_array, coo_array, csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import ndtr, ndtri

from bayesduel.arguments.limits import (
    MOST_ARMS_OF_MODE,
    MOST_DRAWS,
    MOST_FITTED_NUMBERS,
)
from bayesduel.errors import FitError, near_names
from bayesduel.models.argument_checks import check_posterior, check_probability
from bayesduel.models.base import entries_of
from bayesduel.models.closed_forms import (
    CoefficientCoordinates,
    PairCoordinates,
    PairwiseDensity,
)
from bayesduel.models.fit.draws import generator_of, seed_words
from bayesduel.models.fit.fitting import remarks_on
from bayesduel.models.fit.tables import ELO, PARAMETERS, by_arm, interval, votes_of_arms
from bayesduel.models.utilities import PairwiseUtilityModel
from bayesduel.models.vote_arrays import Votes
from bayesduel.votes.checks import arm_positions, labels_of, shortened
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import integer_from, number_that, one_of

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.types import RunKey


_ENOUGH = 1e-12  # Share of the residual at which conjugate gradients stop.
# The same for draws, and for variances, whose error is its square.
_ENOUGH_OF_VARIANCES = 1e-6
# Draws that are solved for together: noise for all votes of all of them is held.
_AT_ONCE = 16
_TOLERANCE = 1e-14  # Gain at which Newton's method stops, relative to the log density.

_OTHERWISE = "use fit(), or leave out --method mode"

_MOST_STEPS = 100
_MOST_PAIRS = 10_000


def contrasts(
    posterior: Any,
    reference: str,
    *,
    probability: float = 0.9,
    equivalent: float | None = None,
    scale: str = "utility",
) -> xr.Dataset:
    """Return how far every arm is from a reference arm, the best arm first.

    The interval of a difference is no difference of intervals: two arms whose intervals
    overlap may be told apart all the same.

    Parameters
    ----------
    posterior : Fit
    reference : str
        Name of an arm, such as what is used today.
    probability : float
        Of the central intervals, in (0, 1).
    equivalent : float, optional
        Differences up to this do not matter; in units of what is compared.
    scale : {"utility", "elo"}
        The unit of utilities, as in :func:`standings`.

    Returns
    -------
    xarray.Dataset (arm)
        ``mean``, ``lower`` and ``upper`` of the utility of the arm minus that of the
        reference; without utilities, of the probability that it beats the reference,
        minus 1/2. ``p_better``, that the difference is above 0, and, where
        ``equivalent`` is given, ``p_equivalent``, that it is at most as large either
        way. nan for arms that no votes connect with the reference.
        ``attrs["difference"]`` says what the difference is one of.

    Raises
    ------
    FitError
        For an unknown arm, or a number out of range.

    Examples
    --------
    >>> from bayesduel.inference import contrasts, fit
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]], arm_names=["tea", "milk"])
    >>> table = contrasts(fit(BradleyTerry(), votes), "milk", equivalent=0.2)
    >>> table["arm"].values.tolist(), float(table["mean"].sel(arm="milk"))
    (['tea', 'milk'], 0.0)
    >>> bool(table["p_equivalent"].sel(arm="tea") < 0.3)
    True
    """
    check_posterior(posterior)
    probability = check_probability(probability)
    one_of(scale, ("utility", "elo"), "scale", kind=FitError)
    names = list(posterior.arm_names)
    if not isinstance(reference, str) or reference not in names:
        near = near_names(reference, names) if isinstance(reference, str) else ""
        remedy = f"{near}the arms: {shortened(names)}"
        raise FitError("reference", "must be an arm", reference, remedy=remedy)
    arm = names.index(reference)
    utilities = posterior.model.utilities(posterior.flat_draws())
    if utilities is None:
        blocks = [block[:, :, arm] for block in posterior.matrices()]
        apart, scale = np.concatenate(blocks) - 0.5, "probability"
    else:
        apart = np.asarray(utilities) - np.asarray(utilities)[:, [arm]]
        apart = apart * (ELO if scale == "elo" else 1.0)
    low, high = interval(apart, probability)
    columns = {
        "mean": apart.mean(axis=0),
        "lower": low,
        "upper": high,
        "p_better": np.mean(apart > 0, axis=0),
    }
    if equivalent is not None:
        _check_equivalent(equivalent)
        columns["p_equivalent"] = np.mean(np.abs(apart) <= equivalent, axis=0)
    far = posterior.part_of != posterior.part_of[arm]
    columns = {name: np.where(far, np.nan, column) for name, column in columns.items()}
    order = np.argsort(-columns["mean"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    about = {"reference": reference, "probability": probability, "difference": scale}
    return by_arm([names[at] for at in order], columns, about)


def _check_equivalent(value: object) -> None:
    rule = "from 0 to 1e6"
    number_that(value, "equivalent", rule, lambda n: 0.0 <= n <= 1e6, kind=FitError)


@dataclass(frozen=True, eq=False, repr=False)
class ModeFit:
    """The mode of a pairwise model, and the normal distribution there.

    Attributes
    ----------
    model : PairwiseUtilityModel
    data : Comparisons
    point : float64 (D,)
        The mode: ``contest_lead``, ``covariate_lead``, ``first_advantage`` and the tie
        parameter, where there are any, then the utilities, which add up to 0, or their
        residuals; where nothing but coefficients is unknown these.
    precision : sparse (D, D)
        Minus the Hessian of the log density there.
    converged : bool
    remarks : tuple of str
        What one should know, such as that arms were never compared.
    """

    model: Any
    data: Comparisons
    point: Float64[np.ndarray, " D"]
    precision: csr_array
    converged: bool
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        failed = "" if self.converged else ", NOT CONVERGED"
        return (
            f"ModeFit({self.model.title}, {self.data.num_arms} arms, "
            f"{self.data.num_votes:g} votes{failed})"
        )

    @cached_property
    def _density(self) -> PairwiseDensity:
        return _density_of(self.model, self.data)

    @property
    def coordinates(self) -> PairCoordinates:
        """The coordinates that the numbers of ``point`` are."""
        return self._density.coordinates

    @cached_property
    def utility(self) -> Float64[np.ndarray, " K"]:
        """Utilities of the arms minus their mean, in the order of ``data.arm_names``.

        Their sum is 0 at the mode by itself where there are no covariates.
        """
        utilities = self.coordinates.utilities(self.point)
        return utilities - utilities.mean() if self.model.covariates else utilities

    def parameters(self, probability: float = 0.9) -> list[dict[str, Any]]:
        """Return the quantities that belong to no arm, as of any other fit.

        Parameters
        ----------
        probability : float
            Of the central intervals, in (0, 1).

        Returns
        -------
        list of dict
            As :func:`parameter_summary` has them, with the mode as ``mean`` and the
            interval of the normal distribution there: effects of covariates of the
            contest, the advantage of the arm shown first, the tie parameter,
            coefficients of covariates.
        """
        probability = check_probability(probability)
        model, coordinates, rows = self.model, self.coordinates, []
        wide = float(ndtri(0.5 + probability / 2.0))
        # Quantities are linear in the coordinates, and these in the first of them.
        first = np.eye(coordinates.extras or len(self.point), len(self.point))
        here, ways = coordinates.named(self.point[None]), coordinates.named(first)
        for name in sorted(here.keys() - {*model.auxiliary, "utility", "residual"}):
            labels = entries_of(model, self.data, name, here[name].shape[1:])
            slopes = ways[name].reshape(len(first), -1).T
            values = here[name].ravel().tolist()
            for label, middle, slope in zip(labels, values, slopes, strict=True):
                half = wide * self._spread_along(slope @ first)
                rows.append(
                    {
                        "parameter": label,
                        "mean": middle,
                        "lower": middle - half,
                        "upper": middle + half,
                        "meaning": PARAMETERS.get(name, ""),
                    }
                )
        return rows

    def ranking(self) -> xr.DataArray:
        """Return the utilities by arm, the largest one first."""
        import xarray as xr

        order = np.argsort(-self.utility, kind="stable")
        names = [self.data.arm_names[arm] for arm in order]
        return xr.DataArray(self.utility[order], dims="arm", coords={"arm": names})

    def contrasts(
        self,
        arms: Sequence[str],
        reference: str,
        *,
        probability: float = 0.9,
        equivalent: float | None = None,
    ) -> xr.Dataset:
        """Return utilities of some arms minus that of another one, with intervals.

        From the normal distribution at the mode, which weights do not correct: with few
        votes per arm intervals are approximate. Each arm takes the solution of one
        system of equations.

        Parameters
        ----------
        arms : sequence of str
            At most 10,000.
        reference : str
        probability : float
            Of the central intervals, in (0, 1).
        equivalent : float, optional
            As in :func:`contrasts`.

        Returns
        -------
        xarray.Dataset (arm)
            As :func:`contrasts` has it.

        Raises
        ------
        FitError
            For an unknown arm, or too many of them.
        """
        probability = check_probability(probability)
        arms = labels_of("arms", arms)
        if len(arms) > _MOST_PAIRS:
            rule = f"must be at most {_MOST_PAIRS} names"
            raise FitError("arms", rule, len(arms))
        positions = arm_positions("arms", arms, self.data.arm_names)
        (reference_arm,) = arm_positions("reference", [reference], self.data.arm_names)
        mean = self.utility[positions] - self.utility[reference_arm]
        ways = (
            self.coordinates.of_gap(arm, int(reference_arm))
            for arm in positions.tolist()
        )
        spread = np.array([self._spread_along(way) for way in ways])
        spread[positions == reference_arm] = 0.0
        wide = float(ndtri(0.5 + probability / 2.0))
        safe = np.where(spread > 0, spread, 1.0)
        columns = {
            "mean": mean,
            "lower": mean - wide * spread,
            "upper": mean + wide * spread,
            "p_better": np.where(spread > 0, ndtr(mean / safe), 0.0),
        }
        if equivalent is not None:
            _check_equivalent(equivalent)
            near = ndtr((equivalent - mean) / safe) - ndtr((-equivalent - mean) / safe)
            columns["p_equivalent"] = np.where(spread > 0, near, 1.0)
        about = {"reference": reference, "probability": probability}
        about |= {"difference": "utility"}
        return by_arm(list(map(str, arms)), columns, about)

    def sample_utilities(
        self, rng_key: RunKey | int, num_draws: int
    ) -> Float64[np.ndarray, "draw K"]:
        """Draw utilities from the normal distribution at the mode.

        By perturbation: the equations of a Newton step are solved for normal noise on
        every row of votes and on the prior, which has the precision as its covariance,
        so that the solution has the inverse (Papandreou and Yuille 2010).

        Parameters
        ----------
        rng_key : int or typed key
            The same key gives the same draws.
        num_draws : int
            How many, at most 2^28 numbers in all.

        Returns
        -------
        float64 (num_draws, K)
            Utilities minus their mean, in the order of ``data.arm_names``.

        Raises
        ------
        FitError
            For a number out of range, or another kind of key.

        References
        ----------
        G. Papandreou and A. Yuille, "Gaussian sampling by local perturbations", NeurIPS
        23 (2010).

        Examples
        --------
        >>> from bayesduel.inference import fit_mode
        >>> from bayesduel.models import BradleyTerry
        >>> from bayesduel.votes import Comparisons
        >>> votes = Comparisons.from_wins([[0, 70], [30, 0]])
        >>> fit_mode(BradleyTerry(), votes).sample_utilities(0, 5).shape
        (5, 2)
        """
        most = min(MOST_DRAWS, MOST_FITTED_NUMBERS // self.data.num_arms)
        num_draws = integer_from(num_draws, 1, "num_draws", most, kind=FitError)
        seed_words(rng_key)
        draws = np.empty((num_draws, self.data.num_arms))
        done = 0
        for block in self._deviations(generator_of(rng_key), num_draws):
            draws[done : done + block.shape[1]] = self._centered(block)
            done += block.shape[1]
        draws += self.utility
        return draws

    def standings(
        self,
        probability: float = 0.9,
        *,
        num_draws: int = 64,
        rng_key: RunKey | int = 0,
    ) -> xr.Dataset:
        r"""Return utilities of all arms with their standard errors, the best arm first.

        The standard error of an arm is that of its utility minus the mean of all arms,
        by the normal distribution at the mode: intervals are approximate where an arm
        has few votes. Only the diagonal of the inverse of the precision H is wanted. It
        is estimated from draws x around the mode (:meth:`sample_utilities`):
        Var(x_i) = 1 / H_ii + E[m_i^2], where m_i = x_i - (H x)_i / H_ii is the mean of
        x_i given all others. Only the second term is random, and where an arm met many
        others it is small (Siden et al. 2018, simple Rao-Blackwellized Monte Carlo).

        Parameters
        ----------
        probability : float
            Of the central intervals, in (0, 1).
        num_draws : int
            Draws n. The relative error of a standard error is at most 1 / sqrt(2 n),
            and a few hundredths of that where arms met dozens of others.
        rng_key : int or typed key
            The same key gives the same estimates.

        Returns
        -------
        xarray.Dataset (arm)
            ``score``, the utility minus the mean of all arms; ``error``, its standard
            error; ``mcse``, the standard error of ``error`` itself, since draws are
            finitely many; ``score_lower`` and ``score_upper``; ``comparisons``,
            ``wins``, ``losses`` and ``ties``. Equal arms in the order of the votes.
            Where nothing but coefficients of covariates is unknown errors are exact,
            and ``mcse`` is 0. An arm without a vote has the error of the prior.

        Raises
        ------
        FitError
            For a number out of range, or another kind of key.

        References
        ----------
        P. Siden, F. Lindgren, D. Bolin and M. Villani, "Efficient covariance
        approximations for large sparse precision matrices", Journal of Computational
        and Graphical Statistics 27 (2018), Section 3.2.

        Examples
        --------
        >>> from bayesduel.inference import fit_mode
        >>> from bayesduel.models import BradleyTerry
        >>> from bayesduel.votes import Comparisons
        >>> votes = Comparisons.from_wins([[0, 70], [30, 0]], arm_names=["tea", "milk"])
        >>> table = fit_mode(BradleyTerry(), votes).standings(num_draws=1000)
        >>> table["arm"].values.tolist(), table["error"].round(2).values.tolist()
        (['tea', 'milk'], [0.11, 0.11])
        """
        probability = check_probability(probability)
        num_draws = integer_from(num_draws, 1, "num_draws", MOST_DRAWS, kind=FitError)
        seed_words(rng_key)
        error, mcse = self._errors(generator_of(rng_key), num_draws)
        score, wide = self.utility, float(ndtri(0.5 + probability / 2.0))
        columns = {
            "score": score,
            "error": error,
            "mcse": mcse,
            "score_lower": score - wide * error,
            "score_upper": score + wide * error,
            **votes_of_arms(self.data),
        }
        order = np.argsort(-score, kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
        names = [self.data.arm_names[arm] for arm in order.tolist()]
        about = {"probability": probability, "num_draws": num_draws}
        return by_arm(names, columns, about)

    def _errors(
        self, rng: np.random.Generator, num_draws: int
    ) -> tuple[Float64[np.ndarray, " K"], Float64[np.ndarray, " K"]]:
        if self._is_dense:
            ways = self._centered(np.eye(len(self.point)))
            inverse = np.linalg.inv(self.precision.toarray())
            variance = np.einsum("dk,de,ek->k", ways, inverse, ways, optimize=True)
            return np.sqrt(variance), np.zeros(len(variance))
        extras, num_arms = self.coordinates.extras, self.data.num_arms
        # Derivative of a utility minus the mean of all, by the utility itself.
        share = 1.0 - 1.0 / num_arms
        scaled = share / self.precision.diagonal()[extras:]
        squares = np.zeros(num_arms)
        for block in self._deviations(rng, num_draws):
            pulled = (self.precision @ block)[extras:].T
            squares += np.square(self._centered(block) - scaled * pulled).sum(axis=0)
        drawn = squares / num_draws
        error = np.sqrt(share * scaled + drawn)
        # The means are normal, so their squares have a chi-square distribution.
        return error, drawn * np.sqrt(2.0 / num_draws) / (2.0 * error)

    @property
    def _is_dense(self) -> bool:
        # Whether utilities are made of coefficients alone.
        coordinates = self.coordinates
        alone = isinstance(coordinates, CoefficientCoordinates)
        return alone or not coordinates.is_free

    def _centered(
        self, points: Float64[np.ndarray, "D draw"]
    ) -> Float64[np.ndarray, "draw K"]:
        # The map from coordinates to utilities is linear.
        utilities = self.coordinates.utilities(points.T)
        return utilities - utilities.mean(axis=1, keepdims=True)

    def _deviations(
        self, rng: np.random.Generator, number: int
    ) -> Iterator[Float64[np.ndarray, "D draw"]]:
        """Yield draws minus the mode, in blocks of a few."""
        sizes = [_AT_ONCE] * (number // _AT_ONCE) + [number % _AT_ONCE]
        sizes = [size for size in sizes if size]
        if self._is_dense:
            factor = np.linalg.cholesky(self.precision.toarray())
            for size in sizes:
                noise = rng.standard_normal((len(factor), size))
                yield solve_triangular(factor, noise, lower=True, trans=1)
            return
        extras, votes = self.coordinates.extras, self._density.votes
        weight = np.maximum(-self._density.by_row(self.point).gap_gap, 0.0)
        spread = _incidence(votes, np.sqrt(weight))
        width = np.sqrt(1.0 / np.square(self.coordinates.scales[extras:]))[:, None]
        inner = csr_array(self.precision[extras:, extras:])
        # Given the other coordinates utilities have the precision ``inner``, and a mean
        # that is linear in them; without utilities they have Schur's complement.
        side = self.precision[:extras, extras:].toarray()
        reach = np.zeros((votes.num_arms, extras))
        for index, row in enumerate(side):
            reach[:, index] = _solved(inner, row)
        corner = self.precision[:extras, :extras].toarray() - side @ reach
        factor = np.linalg.cholesky((corner + corner.T) / 2.0)
        for size in sizes:
            noise = spread @ rng.standard_normal((len(weight), size))
            noise += width * rng.standard_normal((votes.num_arms, size))
            free = _solved(inner, noise, _ENOUGH_OF_VARIANCES)
            apart = rng.standard_normal((extras, size))
            if extras:
                apart = solve_triangular(factor, apart, lower=True, trans=1)
            yield np.concatenate([apart, free - reach @ apart])

    def _spread_along(self, way: np.ndarray) -> float:
        # The standard deviation of way @ point.
        if not way.any():
            return 0.0
        return float(np.sqrt(way @ _solved(self.precision, way, _ENOUGH_OF_VARIANCES)))


def fit_mode(model: PairwiseUtilityModel, data: Comparisons) -> ModeFit:
    """Find the mode of a pairwise model, also with very many arms.

    For 100,000 arms and 300,000 votes in seconds; :func:`fit` is for fewer arms, and
    says more of them: draws, ranks, probabilities. The time grows with the number of
    pairs that have votes, and so does the memory.

    Parameters
    ----------
    model : PairwiseUtilityModel
        ``BradleyTerry``, ``RaoKupper`` or ``Thurstone``, perhaps with ties, an order
        effect, covariates of the contest and of the arms; no judges, no learned scale.
    data : Comparisons
        At most 1,000,000 arms.

    Returns
    -------
    ModeFit
        Utilities, and approximate intervals of the differences that one asks for.

    Raises
    ------
    FitError
        If the density of the model has no closed form, or there are too many arms.

    Warns
    -----
    DisconnectedComparisonsWarning
        As :func:`fit` does.

    Examples
    --------
    >>> from bayesduel.inference import fit_mode
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins(
    ...     [[0, 7, 9], [3, 0, 6], [1, 4, 0]], arm_names="abc"
    ... )
    >>> mode = fit_mode(BradleyTerry(), votes)
    >>> mode.ranking()["arm"].values.tolist()
    ['a', 'b', 'c']
    >>> round(float(mode.contrasts(["a"], "c")["mean"][0]), 2)
    1.64
    """
    if not isinstance(model, PairwiseUtilityModel):
        rule = "must be BradleyTerry, RaoKupper or Thurstone"
        raise FitError("model", rule, model, remedy=_OTHERWISE)
    number = len(getattr(data, "arm_names", ()))
    if number > MOST_ARMS_OF_MODE:
        rule = f"must have at most {MOST_ARMS_OF_MODE} arms"
        raise FitError("data", rule, number, remedy="fit groups of arms apart")
    density = _density_of(model, data)
    remarks = remarks_on(model, data)
    point, converged = np.zeros(density.size), False
    height, gradient = density.slope(point)
    for _ in range(_MOST_STEPS):
        # Newton steps that are halved until they rise.
        step = _solved(_precision(density, point), gradient)
        gain = float(gradient @ step)
        if gain <= _TOLERANCE * (1.0 + abs(height)):
            converged = True
            break
        for share in 0.5 ** np.arange(30):
            there, slope = density.slope(point + share * step)
            if there > height:
                break
        else:
            # Nothing is left to gain but rounding.
            converged = gain <= 1e-8 * (1.0 + abs(height))
            break
        point, height, gradient = point + share * step, there, slope
    return ModeFit(model, data, point, _precision(density, point), converged, remarks)


def _density_of(model: PairwiseUtilityModel, data: Comparisons) -> PairwiseDensity:
    # Differences of utilities are the same without a sum of 0, and nothing of the size
    # K x K is needed.
    model = replace(model, zero_sum=False)
    density = model.closed_form(model.arrays(data))
    if density is None:
        rule = "must have a density in closed form: no judges, and no learned scale, "
        rule += "which --residual has"
        raise FitError("model", rule, model, remedy=_OTHERWISE)
    return density


def _solved(
    precision: csr_array, right: Float64[np.ndarray, "D ..."], enough: float = _ENOUGH
) -> Float64[np.ndarray, "D ..."]:
    # Several right sides are one system whose matrix has a block for each: a product
    # with a sparse matrix then reads it once for all of them.
    shape, diagonal = right.shape, precision.diagonal()[:, None]

    def by_blocks(of: Any) -> LinearOperator:
        def apply(values: np.ndarray) -> np.ndarray:
            return of(values.reshape(len(diagonal), -1)).ravel()

        size = (right.size, right.size)
        return LinearOperator(size, matvec=apply, dtype=np.float64)  # pyright: ignore

    system = by_blocks(lambda values: precision @ values)
    near = by_blocks(lambda values: values / diagonal)
    solution, failed = cg(system, right.ravel(), rtol=enough, atol=0.0, M=near)
    if failed:
        rule = "has a curvature that conjugate gradients do not solve"
        raise FitError(
            "model", rule, precision.shape, remedy="use a narrower prior_scale"
        )
    return solution.reshape(shape)


def _precision(density: PairwiseDensity, point: Float64[np.ndarray, " D"]) -> csr_array:
    votes, by, coordinates = density.votes, density.by_row(point), density.coordinates
    prior = diags_array(1.0 / np.square(coordinates.scales))
    if isinstance(coordinates, CoefficientCoordinates):
        design = coordinates.design
        steps = design[votes.first] - design[votes.second]
        return csr_array(steps.T @ (-by.gap_gap[:, None] * steps) + prior.toarray())
    if not coordinates.extras:
        return csr_array(_laplacian(votes, -by.gap_gap) + prior)
    corner, sides = density.borders(by)
    if not coordinates.is_free:
        return csr_array(prior.toarray() - corner)
    inner = _laplacian(votes, -by.gap_gap)
    side = csr_array(-sides)
    whole = block_array([[-corner, side], [side.T, inner]])
    return csr_array(whole + prior)


def _laplacian(votes: Votes, weight: Float64[np.ndarray, " row"]) -> csr_array:
    first, second = np.asarray(votes.first), np.asarray(votes.second)
    row = np.concatenate([first, second, first, second])
    column = np.concatenate([first, second, second, first])
    entries = np.concatenate([weight, weight, -weight, -weight])
    shape = (votes.num_arms, votes.num_arms)
    return csr_array(coo_array((entries, (row, column)), shape=shape))


def _incidence(votes: Votes, weight: Float64[np.ndarray, " row"]) -> csr_array:
    # Weight (e_first - e_second) in the column of each row of votes.
    arms = np.concatenate([np.asarray(votes.first), np.asarray(votes.second)])
    entries, number = np.concatenate([weight, -weight]), len(weight)
    places = arms, np.tile(np.arange(number), 2)
    return csr_array(coo_array((entries, places), shape=(votes.num_arms, number)))
