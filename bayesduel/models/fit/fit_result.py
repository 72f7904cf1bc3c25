"""A fitted model: its draws, and the answers that one wants from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from jaxtyping import Float, Float64, Int64, Shaped
from scipy.linalg import block_diag, cho_solve, solve_triangular

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_numbers, check_probability
from bayesduel.models.base import PreferenceModel, axes_of, labels_along
from bayesduel.models.closed_forms import ClosedDensity, PairwiseDensity
from bayesduel.models.fit import tables, winners
from bayesduel.models.fit.draws import generator_of, in_blocks, in_one, seed_words
from bayesduel.models.fit.resampling import Correction
from bayesduel.models.vote_arrays import Votes
from bayesduel.version import __version__
from bayesduel.votes.checks import shortened
from bayesduel.votes.comparisons import NEUTRAL

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.models.fit.draws import Fresh
    from bayesduel.types import RunKey

_BLOCK = 2**22  # Entries of preference matrices that are held at once.


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
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

    model: PreferenceModel
    data: Any
    arrays: Any
    method: str
    draws: dict[str, np.ndarray]
    sample_stats: dict[str, np.ndarray]
    converged: bool
    remarks: tuple[str, ...]
    seconds: float
    options: dict[str, Any]
    extras: dict[str, Any] = field(default_factory=dict)
    fresh: Fresh | None = None

    def __repr__(self) -> str:
        failed = "" if self.converged else ", NOT CONVERGED"
        return (
            f"Fit({self.model.title} by {self.inference}, {self.num_arms} arms, "
            f"{self.data.num_votes:g} votes, {self.num_chains} x "
            f"{self.num_draws // self.num_chains} draws{failed})"
        )

    @property
    def correction(self) -> Correction | None:
        """How far what laplace or svi fitted is from the posterior, else None."""
        return self.extras.get("correction")

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why intervals and probabilities may be wrong; empty where nothing says so.

        They are among the ``remarks``, too.
        """
        failed = () if self.converged else ("the method did not converge",)
        judged = self.correction or self.extras.get("chains")
        return (*failed, *(judged.doubts if judged else ()))

    @property
    def inference(self) -> str:
        """The method, and whether its draws were resampled by importance."""
        resampled = self.correction is not None and self.correction.resampled
        return f"{self.method}, resampled" if resampled else self.method

    @property
    def arm_names(self) -> tuple[str, ...]:
        """Names of the arms."""
        return self.data.arm_names

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return len(self.arm_names)

    @property
    def num_chains(self) -> int:
        """Number of chains."""
        return next(iter(self.draws.values())).shape[0]

    @property
    def num_draws(self) -> int:
        """Number of draws that are kept, of all chains together."""
        return self.num_chains * next(iter(self.draws.values())).shape[1]

    def flat_draws(self) -> dict[str, Shaped[np.ndarray, "draw ..."]]:
        """Return the draws of all chains, one after the other: (draw, ...)."""
        return in_one(self.draws)

    def matrices(self) -> Iterator[Float[np.ndarray, "draw K K"]]:
        """Yield the preference matrices of all kept draws, in blocks."""
        for block in in_blocks(self.flat_draws(), self.num_arms**2, _BLOCK):
            yield self.model.preference_matrices(block)

    def sample(
        self, rng_key: RunKey | int, num_draws: int
    ) -> Float64[np.ndarray, "draw K K"]:
        """Draw preference matrices.

        New draws where the posterior, or the distribution that stands for it, can be
        drawn from at will; otherwise (nuts) some of the kept draws, without
        replacement.

        Parameters
        ----------
        rng_key : int or typed key
            The same key gives the same draws.
        num_draws : int
            How many.

        Returns
        -------
        float64 (num_draws, K, K)
            P(i beats j in a vote that is no tie); diagonal 1/2.

        Raises
        ------
        FitError
            If more are asked for than were kept.
        """
        return self.model.preference_matrices(self._some_draws(rng_key, num_draws))

    def sample_utilities(
        self, rng_key: RunKey | int, num_draws: int
    ) -> Float64[np.ndarray, "draw K"]:
        """Draw utilities, float64 (num_draws, K); as :meth:`sample`.

        Raises
        ------
        FitError
            If the model has none, or too many draws are asked for.
        """
        utilities = self.model.utilities(self._some_draws(rng_key, num_draws))
        if utilities is None:
            raise FitError("model", "must have utilities", self.model)
        return utilities

    def _some_draws(self, rng_key: RunKey | int, num_draws: int) -> dict:
        num_draws = check_numbers("num_draws", num_draws, self.num_arms**2)
        seed_words(rng_key)
        if self.fresh is not None:
            return self.fresh(rng_key, num_draws)
        if num_draws > self.num_draws:
            raise FitError(
                "num_draws",
                f"must be at most {self.num_draws}, which the {self.method} fit holds",
                num_draws,
                remedy=f"fit again with num_draws={-(-num_draws // self.num_chains)} "
                "or more per chain",
            )
        index = generator_of(rng_key).choice(self.num_draws, num_draws, replace=False)
        return {name: values[index] for name, values in self.flat_draws().items()}

    @property
    def belief(self) -> dict[str, Any]:
        """Return what was fitted, how, and whether to believe it, as plain values."""
        return {
            "model": repr(self.model),
            "method": self.method,
            "converged": self.converged,
            "trusted": not self.doubts,
            "doubts": list(self.doubts),
        }

    def as_record(
        self,
        probability: float = 0.9,
        *,
        scale: str = "utility",
        anchor: tuple[str, float] | None = None,
        cluster: str | None = None,
    ) -> dict[str, Any]:
        """Return who stands where, and what was fitted, as plain values for JSON.

        Parameters
        ----------
        probability, scale, anchor, cluster
            As in :func:`~bayesduel.inference.standings`.

        Returns
        -------
        dict
            The entries of :attr:`belief`; ``votes``, ``interval`` (the probability),
            ``anchor``, the attributes of the standings, ``clusters`` (their number),
            ``remarks``, ``version``, ``parameters``
            (:func:`~bayesduel.inference.parameter_summary`) and ``arms``, a dict for
            each, the best first.

        Raises
        ------
        FitError
            As :func:`~bayesduel.inference.standings`.

        Examples
        --------
        >>> from bayesduel.inference import fit
        >>> from bayesduel.models import BradleyTerry
        >>> from bayesduel.votes import Comparisons
        >>> votes = Comparisons.from_wins([[0, 2], [8, 0]], arm_names=["tea", "milk"])
        >>> record = fit(BradleyTerry(), votes).as_record()
        >>> record["trusted"], record["arms"][0]["arm"], record["arms"][0]["wins"]
        (True, 'milk', 8)
        """
        names, columns, words = tables.standing_columns(
            self, probability, scale=scale, anchor=anchor, cluster=cluster
        )
        record = {
            **self.belief,
            "votes": self.data.num_votes,
            "interval": probability,
            "anchor": anchor,
            **words,
        }
        if cluster is not None:
            record["clusters"] = len(set(self.data.columns[cluster].tolist()))
        rows: list[dict[str, Any]] = [{"arm": name} for name in names]
        for key, values in columns.items():
            for row, value in zip(rows, map(float, values), strict=True):
                whole = value.is_integer() and abs(value) < 2**53
                row[key] = int(value) if whole else value
        parameters = tables.parameter_summary(self, probability, cluster=cluster)
        return record | {
            "remarks": list(self.remarks),
            "version": __version__,
            "parameters": parameters,
            "arms": rows,
        }

    # The best arm.

    @cached_property
    def parts(self) -> list[list[str]]:
        """Names of the arms that votes connect, the largest part first.

        One part: all arms can be told apart by votes. Across parts the posterior says
        what the prior says, so ranks, scores and probabilities of being the best are
        those within the part of an arm.
        """
        return self.model.parts(self.data)

    @cached_property
    def part_of(self) -> Int64[np.ndarray, " K"]:
        """Number of the part of each arm in :attr:`parts`, from 0."""
        number = {name: at for at, part in enumerate(self.parts) for name in part}
        return np.array([number[name] for name in self.arm_names], dtype=np.int64)

    @cached_property
    def _parts(self) -> winners.Parts:
        return [np.flatnonzero(self.part_of == at) for at in range(len(self.parts))]

    @cached_property
    def scores(self) -> dict[str, Shaped[np.ndarray, "draw K"]]:
        """Scores of the arms in every kept draw: ``borda`` and ``copeland``.

        The mean probability of beating one of the others, and how many it beats; both
        among the arms of its part, and nan where it is alone there.
        """
        return winners.scores_of(self.matrices(), self._parts)

    def winner_probabilities(self) -> xr.Dataset:
        """Return how likely each arm is the best one, in several senses.

        Returns
        -------
        xarray.Dataset
            ``condorcet_exists``: P(some arm beats all others). By arm: ``condorcet``,
            P(it beats all others); ``copeland``, P(no arm beats more others): these add
            up to more than 1 where several share the first place; ``borda``, P(largest
            mean probability of winning); ``best_utility``, where the model has
            utilities. Where arms fall into several :attr:`parts`, "all others" are
            those of the same part; an arm that is alone there has nan, as has
            ``condorcet_exists``.
        """
        shares = self.winner_shares()
        exists = winners.condorcet_exists(
            shares["condorcet"], self.num_draws, len(self.parts)
        )
        about = {"num_draws": self.num_draws, "method": self.method}
        table = tables.by_arm(self.arm_names, shares, about)
        table = table.assign(condorcet_exists=exists)
        return table[["condorcet_exists", *shares]]

    def winner_shares(self) -> dict[str, Float64[np.ndarray, " K"]]:
        """Return :meth:`winner_probabilities` by arm as plain arrays (K,)."""
        utilities = self.model.utilities(self.flat_draws())

        def among(arms: Any) -> dict[str, np.ndarray]:
            if utilities is not None and self.model.utility_decides:
                return winners.winner_shares_by_utility(utilities[:, arms])
            scores = {name: scores[:, arms] for name, scores in self.scores.items()}
            best = {} if utilities is None else winners.best_utility(utilities[:, arms])
            return winners.winner_shares(scores) | best

        return winners.over_parts(self._parts, among)

    def rank_intervals(
        self, probability: float = 0.9, *, by: str | None = None
    ) -> xr.Dataset:
        """Return where each arm stands in the order of all, with its uncertainty.

        Parameters
        ----------
        probability : float
            Of the central interval, in (0, 1).
        by : {"utility", "borda", "copeland"}, optional
            What arms are ordered by; by default utility where there is one, else
            borda, the mean probability of winning. The rank of an arm is 1 plus the
            number of better arms; of better ones in its part, where arms fall into
            several :attr:`parts`.

        Returns
        -------
        xarray.Dataset (arm)
            ``mean``, ``lower`` and ``upper`` rank; 1 is the best. Where some arm is
            alone in its part all are floats, and its own nan.
        """
        order, ranks = self.ranks(probability, by=by)
        about = {"probability": probability, "by": order}
        return tables.by_arm(self.arm_names, ranks, about)

    def ranks(
        self, probability: float = 0.9, *, by: str | None = None
    ) -> tuple[str, dict[str, Shaped[np.ndarray, " K"]]]:
        """Return :meth:`rank_intervals` as plain arrays (K,), and the order's name."""
        probability = check_probability(probability)
        utilities = self.model.utilities(self.flat_draws())
        order = ("borda" if utilities is None else "utility") if by is None else by
        if isinstance(order, str) and order == "utility" and utilities is not None:
            scores = utilities
        elif isinstance(order, str) and order in winners.SCORES:
            scores = self.scores[order]
        else:
            rule = "must be borda, copeland, or utility where the model has one"
            raise FitError("by", rule, by)
        ranks = winners.over_parts(
            self._parts, lambda arms: winners.rank_summary(scores[:, arms], probability)
        )
        if not any(len(part) == 1 for part in self._parts):
            ends = ("lower", "upper")
            ranks |= {name: ranks[name].astype(np.int64) for name in ends}
        return order, ranks

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

    def probability_better(self) -> Never:
        """Name the two methods that this one was, and was taken for.

        Raises
        ------
        FitError
            Always.
        """
        rule = "was taken for the probability of winning a vote"
        remedy = "that is probability_of_beating(); what it returned, P(i is "
        remedy += "stronger than j), is probability_stronger()"
        raise FitError("probability_better", rule, remedy=remedy)

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

    # The value of one more vote.

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
        from bayesduel.models.fit.information import information_of_votes

        return self._by_pair(information_of_votes(self))

    @property
    def knows_information(self) -> bool:
        """Whether :meth:`expected_information` needs no draws.

        So it is for exact fits, and for the normal distribution of laplace with
        ``resample=False``, where the model has a density in closed form and no order
        effect.
        """
        from bayesduel.models.fit.information import normal_density

        return self.method == "exact" or normal_density(self) is not None

    # The mode.

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
        distribution, density = self._at_mode()
        named = density.named(distribution.mode[None])
        there = {name: np.asarray(values[0]) for name, values in named.items()}
        if isinstance(density, ClosedDensity):
            total = density.log_likelihoods(distribution.mode[None])
        else:
            from bayesduel.models.fit.predictions import (
                log_probabilities_of,
                log_probabilities_of_rows,
            )

            logs = log_probabilities_of(self.model, self.arrays, named)
            counts = np.asarray(self.arrays.counts)
            total = log_probabilities_of_rows(counts, logs).sum(axis=1)
        return self._labelled(there).assign_attrs(log_likelihood=float(total[0]))

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
        return self._labelled(self._errors_along(self._model_steps()))

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
        >>> posterior = fit(BradleyTerry(zero_sum=True), votes, method="laplace")
        >>> ratio = posterior.clustered_errors("judge") / posterior.standard_errors
        >>> bool((ratio["utility"] > 1.5).all())
        True
        """
        steps, number = self._clustered_steps(cluster)
        errors = self._labelled(self._errors_along(steps))
        return errors.assign_attrs(cluster=cluster, clusters=number)

    def _both_errors(
        self, cluster: str, of: Callable[[Mapping[str, Any]], Any] = dict
    ) -> dict[str, dict[str, Float[np.ndarray, "*shape"]]]:
        # By quantity: ``error``, the model's standard errors, and ``error_clustered``.
        # ``of`` makes quantities (point, ...) of the named ones of points.
        steps, _ = self._clustered_steps(cluster)
        return {
            "error": self._errors_along(self._model_steps(), of),
            "error_clustered": self._errors_along(steps, of),
        }

    def _at_mode(self) -> tuple[Any, Any]:
        # The normal distribution there, and the density that it stands for.
        from bayesduel.models.fit.laplace_draws import density_of

        if "laplace" not in self.extras or not self.converged:
            raise FitError(
                "method",
                "must be 'laplace', and converge without a scale that is learned, for "
                f"the mode of {self.model!r}",
                self.method + ("" if self.converged else ", NOT CONVERGED"),
            )
        return self.extras["laplace"], density_of(self.model, self.arrays)

    def _model_steps(self) -> np.ndarray:
        # Rows s whose sum of s^T s is the inverse of minus the Hessian.
        factor = np.asarray(self._at_mode()[0].factor)
        return solve_triangular(factor, np.eye(len(factor)), lower=True)

    def _clustered_steps(self, cluster: str) -> tuple[np.ndarray, int]:
        # The same of the sandwich, and the number of clusters.
        distribution, _ = self._at_mode()
        density = density_of_pairs(self.model, self.arrays)
        data, arrays = self.data, self.arrays
        if not isinstance(cluster, str) or cluster not in data.columns:
            rule = "must be a column that the votes carry, of which there is "
            known = shortened([*data.columns]) or "none"
            raise FitError("cluster", rule + known, cluster)
        rows = replace(
            arrays,
            first=data.first.astype(np.int32),
            second=data.second.astype(np.int32),
            counts=data.counts[:, : arrays.counts.shape[1]],
            columns={NEUTRAL: data.columns[NEUTRAL]}
            if NEUTRAL in arrays.columns
            else {},
        )
        _, places = np.unique(data.columns[cluster], return_inverse=True)
        number = len(np.unique(places[data.counts.sum(axis=1) > 0]))
        if number < 2:
            rule = "must tell at least 2 clusters of votes apart"
            raise FitError("cluster", rule, cluster)
        mode = np.asarray(distribution.mode)
        values, vectors = np.linalg.eigh(
            _scores_of_clusters(replace(density, votes=rows), mode, places)
        )
        root = np.sqrt(np.maximum(values, 0.0)) * vectors
        size = np.sqrt(number / (number - 1.0))
        factor = np.asarray(distribution.factor)
        return size * cho_solve((factor, True), root).T, number

    def _errors_along(
        self, steps: np.ndarray, of: Callable[[Mapping[str, Any]], Any] = dict
    ) -> dict[str, np.ndarray]:
        # By the delta method; exact where quantities are linear in the coordinates.
        distribution, density = self._at_mode()
        ahead, behind = (
            of(density.named(distribution.mode + sign * 1e-3 * steps))
            for sign in (1, -1)
        )
        slopes = {name: (ahead[name] - behind[name]) / 2e-3 for name in ahead}
        return {
            name: np.asarray(np.sqrt(np.sum(slope**2, axis=0)))
            for name, slope in slopes.items()
        }

    def _labelled(self, values: dict[str, np.ndarray]) -> xr.Dataset:
        # Quantities of one point, with the labels of their axes.
        import xarray as xr

        labelled = xr.Dataset(
            {
                name: (axes_of(self.model, name, array.ndim), array)
                for name, array in values.items()
            }
        )
        return labelled.assign_coords(
            labels_along(self.model, self.data, labelled.sizes)
        )

    # In the formats of other libraries.

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
        return tables.standings(self, probability, scale=scale).to_dataframe()

    def to_datatree(self, **options: Any) -> xr.DataTree:
        """Return the fit as ArviZ reads it.

        Parameters
        ----------
        **options
            As in :func:`bayesduel.diagnostics.to_datatree`.
        """
        from bayesduel.models.fit.datatree import to_datatree

        return to_datatree(self, **options)


def density_of_pairs(model: Any, arrays: Any) -> PairwiseDensity:
    """Return the log density in closed form; ``FitError`` where there is none."""
    density = model.closed_form(arrays) if isinstance(arrays, Votes) else None
    if isinstance(density, PairwiseDensity):
        return density
    rule = "must be BradleyTerry, RaoKupper or Thurstone without judges and a learned "
    rule += "scale, to have clustered errors"
    raise FitError("model", rule, model)


def _scores_of_clusters(
    density: PairwiseDensity, point: np.ndarray, places: np.ndarray
) -> Float64[np.ndarray, "D D"]:
    # The sum over clusters of s s^T, s the score (D,) of a cluster's votes.
    from scipy.sparse import coo_array

    votes, by = density.votes, density.by_row(point)
    extras = density.coordinates.of_effects(votes, by.gap)
    if density.model.ties:
        extras.append(by.tie)
    shift = len(extras)
    rows = np.concatenate([places] * (2 + shift))
    columns = [np.full(len(places), column) for column in range(shift)]
    columns += [arms + shift for arms in (votes.first, votes.second)]
    values = np.concatenate([*extras, by.gap, -by.gap])
    size = int(places.max()) + 1, shift + votes.num_arms
    scores = coo_array((values, (rows, np.concatenate(columns))), shape=size).tocsr()
    pulled = density.coordinates.pulled(np.eye(votes.num_arms))
    whole = block_diag(np.eye(shift), pulled) if shift else pulled
    return whole.T @ (scores.T @ scores).toarray() @ whole
