"""The mode and its curvature where arms are many and pairs are few.

The Hessian of a pairwise model is the Laplacian of the graph of pairs, weighted by what
their votes tell, plus the precision of the prior: sparse, positive definite and well
conditioned. Factors of it are dense for graphs without a pattern, so equations are
solved by conjugate gradients, and nothing of the size K x K is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from scipy.sparse import block_array, coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg
from scipy.special import ndtri

from bayesduel.arguments.limits import MOST_ARMS_OF_MODE
from bayesduel.errors import FitError
from bayesduel.inference.differences.of_draws import contrast_table
from bayesduel.inference.fitting import remarks_on
from bayesduel.inference.tables import PARAMETERS
from bayesduel.models.argument_checks import check_probability
from bayesduel.models.axes import entries_of
from bayesduel.models.closed_forms.pairwise_coordinates import (
    CoefficientCoordinates,
    PairCoordinates,
    coordinates_of,
)
from bayesduel.models.closed_forms.pairwise_curvature import PairwiseDensity, borders
from bayesduel.models.pairwise_utilities import PairwiseUtilityModel
from bayesduel.models.vote_arrays import Votes
from bayesduel.votes.checks import arm_positions, labels_of
from bayesduel.votes.comparisons import Comparisons

if TYPE_CHECKING:
    import xarray as xr

_ENOUGH = 1e-12
"""Share of the residual at which conjugate gradients stop."""

_ENOUGH_OF_VARIANCES = 1e-6
"""The same for variances, whose error is the square of that of the solution."""

_TOLERANCE = 1e-14
"""Of what is still to gain, relative to the log density, as in Newton's method."""

_OTHERWISE = "use fit(), or leave out --method mode"

_MOST_STEPS = 100
_MOST_PAIRS = 10_000


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
        """What the numbers of ``point`` stand for."""
        model = _with_free_sum(self.model)
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
        coordinates = self.coordinates
        named = _named_parameters(self.model, self.data, coordinates)
        wide = float(ndtri(0.5 + probability / 2.0))
        rows = []
        for name, place, unit in named:
            way = np.zeros(len(self.point))
            way[place] = 1.0 / unit
            middle = float(self.point[place] / unit)
            half = wide * self._spread_along(way)
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
        spread = np.array([self._spread(arm, int(other)) for arm in one.tolist()])
        return contrast_table(
            list(map(str, arms)), reference, mean, spread, probability, equivalent
        )

    def _spread(self, one: int, other: int) -> float:
        """Return the standard deviation of the difference of two utilities."""
        if one == other:
            return 0.0
        return self._spread_along(self.coordinates.of_gap(one, other))

    def _spread_along(self, way: Float64[np.ndarray, " D"]) -> float:
        """Return the standard deviation of way @ point."""
        if not way.any():
            return 0.0
        return float(np.sqrt(way @ _solved(self.precision, way, _ENOUGH_OF_VARIANCES)))


def _with_free_sum(model: PairwiseUtilityModel) -> PairwiseUtilityModel:
    """Return the model in whose coordinates the mode is looked for.

    Differences of utilities are the same; nothing of the size K x K is needed.
    """
    return replace(model, zero_sum=False)


def _named_parameters(
    model: PairwiseUtilityModel, data: Comparisons, coordinates: PairCoordinates
) -> list[tuple[str, int, float]]:
    """Return names, coordinates and units of what belongs to no arm, by name."""
    if isinstance(coordinates, CoefficientCoordinates):
        names = entries_of(model, data, "coefficient", (coordinates.size,))
        return [(name, place, 1.0) for place, name in enumerate(names)]
    contest, known = coordinates.contest, coordinates.known
    effects = entries_of(model, data, "contest_effect", (contest,))
    found = list(zip(effects, range(contest), coordinates.units, strict=True))
    if coordinates.covariate_units is not None:
        names = entries_of(model, data, "coefficient", (known,))
        places = range(contest, contest + known)
        units = coordinates.covariate_units.tolist()
        found = [*zip(names, places, units, strict=True), *found]
    if model.order_effect:
        found.append(("first_advantage", contest + known, 1.0))
    if model.ties:
        found.append((model.tie_name, coordinates.extras - 1, 1.0))
    return found


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
    density = _with_free_sum(model).closed_form(arrays)
    if density is None:
        rule = (
            "must have a density in closed form: no judges, and no learned scale, "
            "which --residual has"
        )
        raise FitError("model", rule, model, remedy=_OTHERWISE)
    remarks = remarks_on(model, data)
    point, converged = _climbed(density)
    precision = _precision(density, point)
    return ModeFit(model, data, point, precision, converged, remarks)


def _climbed(density: PairwiseDensity) -> tuple[Float64[np.ndarray, " D"], bool]:
    """Return the mode, by Newton steps that are halved until they rise."""
    point = np.zeros(density.size)
    height, gradient = density.slope(point)
    for _ in range(_MOST_STEPS):
        step = _solved(_precision(density, point), gradient)
        gain = float(gradient @ step)
        if gain <= _TOLERANCE * (1.0 + abs(height)):
            return point, True
        for share in 0.5 ** np.arange(30):
            there, slope = density.slope(point + share * step)
            if there > height:
                break
        else:
            # Nothing is left to gain but rounding.
            return point, gain <= 1e-8 * (1.0 + abs(height))
        point, height, gradient = point + share * step, there, slope
    return point, False


def _solved(
    precision: csr_array, right: Float64[np.ndarray, " D"], enough: float = _ENOUGH
) -> Float64[np.ndarray, " D"]:
    """Solve precision @ x = right, preconditioned by the diagonal."""
    near = diags_array(1.0 / precision.diagonal())
    found, failed = cg(precision, right, rtol=enough, atol=0.0, M=near)
    if failed:
        rule = "has a curvature that conjugate gradients do not solve"
        raise FitError(
            "model", rule, precision.shape, remedy="use a narrower prior_scale"
        )
    return found


def _precision(density: PairwiseDensity, point: Float64[np.ndarray, " D"]) -> csr_array:
    """Return minus the Hessian of the log density, sparse (D, D)."""
    votes, by, coordinates = density.votes, density.by_row(point), density.coordinates
    prior = diags_array(1.0 / np.square(coordinates.scales))
    if isinstance(coordinates, CoefficientCoordinates):
        design = coordinates.design
        steps = design[votes.first] - design[votes.second]
        return csr_array(steps.T @ (-by.gap_gap[:, None] * steps) + prior.toarray())
    if not coordinates.extras:
        return csr_array(_laplacian(votes, -by.gap_gap) + prior)
    corner, sides = borders(coordinates, votes, by)
    if coordinates.size == coordinates.extras:
        return csr_array(prior.toarray() - corner)
    inner = _laplacian(votes, -by.gap_gap)
    side = csr_array(-sides)
    whole = block_array([[-corner, side], [side.T, inner]])
    return csr_array(whole + prior)


def _laplacian(votes: Votes, weight: Float64[np.ndarray, " row"]) -> csr_array:
    """Return sum over rows of weight (e_first - e_second)(e_first - e_second)^T."""
    first, second = np.asarray(votes.first), np.asarray(votes.second)
    row = np.concatenate([first, second, first, second])
    column = np.concatenate([first, second, second, first])
    entries = np.concatenate([weight, weight, -weight, -weight])
    shape = (votes.num_arms, votes.num_arms)
    return csr_array(coo_array((entries, (row, column)), shape=shape))
