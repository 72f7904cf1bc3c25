"""A fitted model: its draws, and the answers that one wants from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import FitError
from bayesduel.inference.fits.fitted import FitBase
from bayesduel.models.axes import axes_of, labels_along
from bayesduel.models.closed_forms.closed_density import ClosedDensity

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from jaxtyping import Float


@dataclass(frozen=True, eq=False, repr=False)
class Fit(FitBase):
    """Draws from the posterior of a model, as :func:`~bayesduel.inference.fit` returns.

    Attributes
    ----------
    model : PreferenceModel
        What was fitted.
    data : Comparisons, Rankings or Choices
        What it was fitted to.
    arrays : pytree
        The same, as the NumPyro model reads it.
    method : str
        exact, laplace, svi or nuts.
    draws : dict of arrays (chain, draw, ...)
        Named quantities, in the model's own parametrization.
    sample_stats : dict of arrays (chain, draw)
        ``lp``, ``diverging``, ...; ``log_weight``, log posterior minus log
        approximation up to a constant, for laplace and svi where the draws were not
        resampled.
    converged : bool
        Whether the search of the method ended where it should. Intervals may be wrong
        nevertheless: see ``doubts``.
    remarks : tuple of str
        What one should know.
    seconds : float
        Wall-clock time, compilation included.
    options, extras : dict
        Options of the method, and what it left behind.
    """

    def __repr__(self) -> str:
        failed = "" if self.converged else ", NOT CONVERGED"
        return (
            f"Fit({self.model.title} by {self.inference}, {self.num_arms} arms, "
            f"{self.data.num_votes:g} votes, {self.num_chains} x "
            f"{self.num_draws // self.num_chains} draws{failed})"
        )

    @property
    def mode(self) -> xr.Dataset:
        """The point of highest posterior density, by name.

        In unconstrained coordinates, that is, of the distribution that the normal
        approximation stands for: ``utility`` (arm), ``first_advantage``, the tie
        parameter, and whatever else the model samples or derives.
        ``attrs["log_likelihood"]`` is that of the votes there: where priors are wide,
        its maximum.

        Raises
        ------
        FitError
            If the fit is not by laplace, which alone looks for it, or did not converge;
            or a scale is learned, whose joint mode is no estimate.
        """
        distribution, named = self.around_mode()
        named_there = named(distribution.mode[None])
        found = self._labelled(
            {name: np.asarray(each[0]) for name, each in named_there.items()}
        )
        logs = self._log_likelihoods(distribution.mode[None])
        return found.assign_attrs(log_likelihood=float(logs[0]))

    @property
    def standard_errors(self) -> xr.Dataset:
        """Standard errors of :attr:`mode`, by name, from the curvature there.

        The square roots of the diagonal of the inverse of minus the Hessian of the log
        posterior density, by the delta method for quantities that follow from the
        coordinates; exact where they are linear in them. Where priors are wide, those
        of maximum likelihood.

        Raises
        ------
        FitError
            As :attr:`mode`.
        """
        from bayesduel.inference.fits.errors_at_mode import errors_along, model_steps

        return self._labelled(errors_along(self, model_steps(self)))

    def clustered_errors(self, cluster: str) -> xr.Dataset:
        """Return standard errors of :attr:`mode` for votes that hang together.

        The model takes votes for independent. Where several come from one judge, or
        answer one prompt, its intervals may be too narrow. Here only clusters are taken
        for independent: with H minus the Hessian of the log posterior density and s_g
        the score of the votes of cluster g, both at the mode, the covariance matrix is

        H^-1 (G / (G - 1) sum_g s_g s_g^T) H^-1

        (the sandwich of Liang and Zeger 1986; with G clusters the factor G / (G - 1)
        and no other, which some programs multiply by (n - 1) / (n - d)). It tells how
        far the estimate varies, not how far it is off where the model is wrong, and
        needs some 40 clusters or more: with few it is too small.

        Parameters
        ----------
        cluster : str
            A column that the votes carry, such as ``judge`` or ``context``.

        Returns
        -------
        xarray.Dataset
            As :attr:`standard_errors`; ``attrs["clusters"]`` is G.

        Raises
        ------
        FitError
            As :attr:`mode`; for a model whose density has no closed form; if there is
            no such column, or one cluster alone.

        References
        ----------
        K.-Y. Liang and S. L. Zeger, "Longitudinal data analysis using generalized
        linear models", Biometrika 73 (1986).

        Examples
        --------
        >>> from bayesduel.inference import fit
        >>> from bayesduel.models import BradleyTerry
        >>> from bayesduel.votes import Comparisons
        >>> votes = Comparisons.from_votes(
        ...     ["tea", "tea", "milk", "milk"] * 5,
        ...     ["milk", "milk", "tea", "tea"] * 5,
        ...     ["left", "left", "left", "right"] * 5,
        ...     columns={"judge": ["ann", "ann", "bob", "eve"] * 5},
        ... )
        >>> found = fit(BradleyTerry(zero_sum=True), votes, method="laplace")
        >>> ratio = found.clustered_errors("judge") / found.standard_errors
        >>> bool((ratio["utility"] > 1.5).all())
        True
        """
        from bayesduel.inference.fits.errors_at_mode import (
            clustered_steps,
            errors_along,
        )

        steps, number = clustered_steps(self, cluster)
        found = self._labelled(errors_along(self, steps))
        return found.assign_attrs(cluster=cluster, clusters=number)

    def around_mode(
        self,
    ) -> tuple[Any, Callable[[Any], dict[str, Float[np.ndarray, "*shape"]]]]:
        """Return the normal distribution there, and what names points by quantity."""
        from bayesduel.inference.laplace_draws import density_of

        if "laplace" not in self.extras or not self.converged:
            raise FitError(
                "method",
                "must be 'laplace', and converge without a scale that is learned, for "
                f"the mode of {self.model!r}",
                self.method + ("" if self.converged else ", NOT CONVERGED"),
            )
        return self.extras["laplace"], density_of(self.model, self.arrays).named

    def _log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        from bayesduel.inference.laplace_draws import density_of

        density = density_of(self.model, self.arrays)
        if isinstance(density, ClosedDensity):
            return density.log_likelihoods(points)
        from bayesduel.inference.predictions import (
            log_probabilities_of,
            log_probabilities_of_rows,
        )

        named, counts = density.named(points), np.asarray(self.arrays.counts)
        logs = log_probabilities_of(self.model, self.arrays, named)
        return log_probabilities_of_rows(counts, logs).sum(axis=1)

    def _labelled(self, values: dict[str, np.ndarray]) -> xr.Dataset:
        """Return quantities of one point, with the labels of their axes."""
        import xarray as xr

        found = xr.Dataset(
            {
                name: (axes_of(self.model, name, each.ndim), each)
                for name, each in values.items()
            }
        )
        return found.assign_coords(labels_along(self.model, self.data, found.sizes))

    def probability_of_beating(self) -> xr.DataArray:
        """Return the probability of winning: that i wins the next vote against j.

        E[theta_ij | votes], ties aside. That i is the stronger of the two, however
        little, is another question: :meth:`probability_stronger`.

        Returns
        -------
        xarray.DataArray (arm, opponent)
            Diagonal 1/2; nan between arms that no votes connect (:attr:`parts`).
        """
        return self._mean_by_pair(lambda block: block)

    def probability_stronger(self) -> xr.DataArray:
        """Return P(theta_ij > 1/2 | votes): that i wins more than half of the votes.

        Where the model has utilities, that is P(utility of i > utility of j). It tells
        how sure the order of two arms is, not how often one wins: that is
        :meth:`probability_of_beating`.

        Returns
        -------
        xarray.DataArray (arm, opponent)
            Diagonal 1/2; nan between arms that no votes connect (:attr:`parts`).
        """
        return self._mean_by_pair(lambda block: block > 0.5)

    def expected_information(self) -> xr.DataArray:
        """Return how much one more vote on a pair would teach, in nats.

        The mutual information of the next vote, ties included, and all unknown
        quantities: H(E[p]) - E[H(p)] with p the probabilities of the outcomes (Houlsby
        et al. 2011). The arm of the row is shown first. In closed form where the
        posterior is; by integration, without draws, where :attr:`knows_information`;
        else the mean over the draws.

        Returns
        -------
        xarray.DataArray (arm, opponent)
            Not negative; diagonal 0.
        """
        from bayesduel.inference.information import information_of_votes

        return self._by_pair(information_of_votes(self))

    @property
    def knows_information(self) -> bool:
        """Whether :meth:`expected_information` needs no draws.

        So it is for exact fits, and for the normal distribution of laplace with
        ``resample=False``, where the model has a density in closed form and no order
        effect.
        """
        from bayesduel.inference.information import normal_density

        return self.method == "exact" or normal_density(self) is not None

    def to_dataframe(
        self, probability: float = 0.9, *, scale: str = "utility"
    ) -> pd.DataFrame:
        """Return who stands where as a table for pandas, the best arm first.

        Parameters
        ----------
        probability : float
            Of the central intervals, in (0, 1).
        scale : {"utility", "elo"}
            The unit of the score.

        Returns
        -------
        pandas.DataFrame
            What :func:`bayesduel.inference.standings` returns, a row per arm.

        Examples
        --------
        >>> from bayesduel.inference import fit
        >>> from bayesduel.models import PairwiseBeta
        >>> from bayesduel.votes import Comparisons
        >>> votes = Comparisons.from_wins([[0, 2], [8, 0]], arm_names=["tea", "milk"])
        >>> fit(PairwiseBeta(), votes).to_dataframe()["wins"].to_dict()
        {'milk': 8.0, 'tea': 2.0}
        """
        from bayesduel.inference.tables import standings

        return standings(self, probability, scale=scale).to_dataframe()

    def to_datatree(self, **options: Any) -> xr.DataTree:
        """Return the fit as ArviZ reads it.

        Parameters
        ----------
        **options
            As in :func:`bayesduel.diagnostics.to_datatree`.
        """
        from bayesduel.inference.datatree import to_datatree

        return to_datatree(self, **options)

    def _mean_by_pair(self, of: Callable[[np.ndarray], np.ndarray]) -> xr.DataArray:
        total = sum(of(block).sum(axis=0) for block in self.matrices())
        mean = np.asarray(total) / self.num_draws
        np.fill_diagonal(mean, 0.5)
        apart = self.part_of[:, None] != self.part_of
        return self._by_pair(np.where(apart, np.nan, mean))

    def _by_pair(self, values: np.ndarray) -> xr.DataArray:
        import xarray as xr

        names = list(self.arm_names)
        return xr.DataArray(
            values, dims=("arm", "opponent"), coords={"arm": names, "opponent": names}
        )
