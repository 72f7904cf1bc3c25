"""Differences of utilities: from draws, and at the mode of very many arms.

At the mode the Hessian of a pairwise model is the Laplacian of the graph of pairs,
weighted by what their votes tell, plus the precision of the prior: sparse, positive
definite and well conditioned. Factors of it are dense for graphs without a pattern, so
equations are solved by conjugate gradients, and nothing of the size K x K is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from scipy.sparse import block_array, coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg
from scipy.special import ndtr, ndtri

from bayesduel.arguments.limits import MOST_ARMS_OF_MODE
from bayesduel.errors import FitError, near_names
from bayesduel.models.argument_checks import check_posterior, check_probability
from bayesduel.models.base import entries_of
from bayesduel.models.closed_forms import (
    CoefficientCoordinates,
    PairCoordinates,
    PairwiseDensity,
    coordinates_of,
)
from bayesduel.models.fit.fitting import remarks_on
from bayesduel.models.fit.tables import ELO, PARAMETERS
from bayesduel.models.utilities import PairwiseUtilityModel
from bayesduel.models.vote_arrays import Votes
from bayesduel.votes.checks import arm_positions, labels_of, shortened
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import number_that, one_of

if TYPE_CHECKING:
    import xarray as xr


_ENOUGH = 1e-12
"""Share of the residual at which conjugate gradients stop."""

_ENOUGH_OF_VARIANCES = 1e-6
"""The same for variances, whose error is the square of that of the solution."""

_TOLERANCE = 1e-14
"""Gain at which Newton's method stops, relative to the log density."""

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
    >>> found = contrasts(fit(BradleyTerry(), votes), "milk", equivalent=0.2)
    >>> found["arm"].values.tolist(), float(found["mean"].sel(arm="milk"))
    (['tea', 'milk'], 0.0)
    >>> bool(found["p_equivalent"].sel(arm="tea") < 0.3)
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
        blocks = [each[:, :, arm] for each in posterior.matrices()]
        apart, scale = np.concatenate(blocks) - 0.5, "probability"
    else:
        apart = np.asarray(utilities) - np.asarray(utilities)[:, [arm]]
        apart = apart * (ELO if scale == "elo" else 1.0)
    tail = (1.0 - probability) / 2.0
    low, high = np.quantile(apart, [tail, 1.0 - tail], axis=0)
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
    columns = {name: np.where(far, np.nan, each) for name, each in columns.items()}
    order = np.argsort(-columns["mean"], kind="stable")
    return _dataset(
        [names[at] for at in order],
        {name: each[order] for name, each in columns.items()},
        reference,
        probability,
        scale,
    )


def _check_equivalent(value: object) -> None:
    number_that(
        value,
        "equivalent",
        "from 0 to 1e6",
        lambda each: 0.0 <= each <= 1e6,
        kind=FitError,
    )


def _dataset(
    arms: list[str], columns: dict[str, np.ndarray], reference: str, *words: Any
) -> xr.Dataset:
    import xarray as xr

    probability, difference = words
    return xr.Dataset(
        {name: ("arm", values) for name, values in columns.items()},
        coords={"arm": arms},
        attrs={
            "reference": reference,
            "probability": probability,
            "difference": difference,
        },
    )


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

    @property
    def coordinates(self) -> PairCoordinates:
        """The coordinates that the numbers of ``point`` are."""
        # Differences of utilities are the same; nothing of the size K x K is needed.
        model = replace(self.model, zero_sum=False)
        return coordinates_of(model, model.arrays(self.data))

    @property
    def utility(self) -> Float64[np.ndarray, " K"]:
        """Utilities of the arms minus their mean, in the order of ``data.arm_names``.

        Their sum is 0 at the mode by itself where there are no covariates.
        """
        found = self.coordinates.utilities(self.point)
        return found - found.mean() if self.model.covariates else found

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
        model, coordinates = self.model, self.coordinates
        contest, known = coordinates.contest, coordinates.known
        # Names, coordinates and units.
        found: list[tuple[str, int, float]] = []

        def add(quantity: str, start: int, units: Sequence[float]) -> None:
            names = entries_of(model, self.data, quantity, (len(units),))
            places = range(start, start + len(units))
            found.extend(zip(names, places, units, strict=True))

        if isinstance(coordinates, CoefficientCoordinates):
            add("coefficient", 0, [1.0] * coordinates.size)
        else:
            if coordinates.covariate_units is not None:
                add("coefficient", contest, coordinates.covariate_units.tolist())
            add("contest_effect", 0, coordinates.units)
            if model.order_effect:
                found.append(("first_advantage", contest + known, 1.0))
            if model.ties:
                found.append((model.tie_name, coordinates.extras - 1, 1.0))
        wide = float(ndtri(0.5 + probability / 2.0))
        rows = []
        for name, place, unit in found:
            way = np.zeros(len(self.point))
            way[place] = 1.0 / unit
            middle, half = (
                float(self.point[place] / unit),
                wide * self._spread_along(way),
            )
            rows.append(
                {
                    "parameter": name,
                    "mean": middle,
                    "lower": middle - half,
                    "upper": middle + half,
                    "meaning": PARAMETERS.get(name.partition("[")[0], ""),
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
        one = arm_positions("arms", arms, self.data.arm_names)
        (other,) = arm_positions("reference", [reference], self.data.arm_names)
        mean = self.utility[one] - self.utility[other]
        ways = (self.coordinates.of_gap(arm, int(other)) for arm in one.tolist())
        spread = np.array([self._spread_along(way) for way in ways])
        spread[one == int(other)] = 0.0
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
        names = list(map(str, arms))
        return _dataset(names, columns, reference, probability, "utility")

    def _spread_along(self, way: np.ndarray) -> float:
        # The standard deviation of way @ point.
        if not way.any():
            return 0.0
        return float(np.sqrt(way @ _solved(self.precision, way, _ENOUGH_OF_VARIANCES)))


def fit_mode(model: PairwiseUtilityModel, data: Comparisons) -> ModeFit:
    """Find the mode of a pairwise model with as many arms as there may be.

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
    >>> found = fit_mode(BradleyTerry(), votes)
    >>> found.ranking()["arm"].values.tolist()
    ['a', 'b', 'c']
    >>> round(float(found.contrasts(["a"], "c")["mean"][0]), 2)
    1.64
    """
    if not isinstance(model, PairwiseUtilityModel):
        rule = "must be BradleyTerry, RaoKupper or Thurstone"
        raise FitError("model", rule, model, remedy=_OTHERWISE)
    number = len(getattr(data, "arm_names", ()))
    if number > MOST_ARMS_OF_MODE:
        rule = f"must have at most {MOST_ARMS_OF_MODE} arms"
        raise FitError("data", rule, number, remedy="fit groups of arms apart")
    arrays = model.arrays(data)
    density = replace(model, zero_sum=False).closed_form(arrays)
    if density is None:
        rule = (
            "must have a density in closed form: no judges, and no learned scale, "
            "which --residual has"
        )
        raise FitError("model", rule, model, remedy=_OTHERWISE)
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


def _solved(
    precision: csr_array, right: Float64[np.ndarray, " D"], enough: float = _ENOUGH
) -> Float64[np.ndarray, " D"]:
    near = diags_array(1.0 / precision.diagonal())
    found, failed = cg(precision, right, rtol=enough, atol=0.0, M=near)
    if failed:
        rule = "has a curvature that conjugate gradients do not solve"
        raise FitError(
            "model", rule, precision.shape, remedy="use a narrower prior_scale"
        )
    return found


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
    if coordinates.size == coordinates.extras:
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
