"""Utilities that are weighted sums of features: a logistic regression of votes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import FitError, errors_as
from bayesduel.models.array_modules import Values
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.vote_arrays import Votes
from bayesduel.votes.comparisons import Comparisons
from theory.validation import feature_table


@dataclass(frozen=True)
class LinearUtilities(BradleyTerry):
    r"""Utilities are known features of the arms times unknown coefficients.

    P(i beats j) = sigma((x_i - x_j)^T beta) with features x_i in R^d of arm i,
    coefficients beta_k ~ Normal(0, covariate_scale) and sigma(x) = 1 / (1 + exp(-x)): a
    logistic regression on differences of features. However many arms there are, d
    numbers are unknown, and a vote on any pair tells of all others. It is
    :class:`BradleyTerry` with ``covariates=True``, with the features beside it.

    Parameters
    ----------
    features : array-like (K, d), optional
        A row per arm, in the order of the arms; of about unit size, since coefficients
        have a common prior. By default they are found in what the model meets: the
        covariates of the data, the features of the instance that a policy plays on.
    covariate_scale : float
        Standard deviation of the coefficients' normal prior. Where features are
        collinear, or constant over arms, votes tell fewer than d directions of the
        coefficients, and along the others the posterior is the prior.
    residual : bool
        Utilities are features @ coefficient + residual, with the standard deviation
        ``prior_scale``, or a learned one with ``learn_scale``. Off by default: a wide
        residual leaves the coefficients uncertain however many votes there are.
    prior_scale, zero_sum, learn_scale, ties, tie_scale, order_effect, order_scale
        As in :class:`BradleyTerry`.

    Raises
    ------
    FitError
        If features are no table of finite numbers.

    See Also
    --------
    bayesduel.instances.generators.linear_utilities : Instances of this kind.
    theory.structured_lower_bound : The lower bound for policies that know features.

    References
    ----------
    A. Springall, "Response surface fitting using a
    generalization of the Bradley-Terry paired comparison model", Applied Statistics 22
    (1973), where utilities are linear in features.

    Examples
    --------
    >>> from bayesduel.inference import fit
    >>> from bayesduel.models import LinearUtilities
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(LinearUtilities([[1.0], [0.0], [-1.0]]), votes)
    >>> posterior.flat_draws()["coefficient"].mean(axis=0).round(1)
    array([0.9])
    """

    title: ClassVar[str] = "Linear"
    word: ClassVar[str] = "linear"
    needs: ClassVar[str] = "features"

    features: Any = None
    covariates: bool = field(default=True, kw_only=True)
    covariate_scale: float = field(default=2.0, kw_only=True)

    def __post_init__(self) -> None:
        """Keep features as tuples, which programs are told apart by."""
        if self.features is not None:
            with errors_as(FitError):
                table = feature_table(self.features)
            object.__setattr__(self, "features", tuple(map(tuple, table.tolist())))

    @property
    def lacks_features(self) -> bool:
        """Whether features have still to be found in what the model meets."""
        return self.features is None

    @cached_property
    def _table(self) -> Float64[np.ndarray, "K d"]:
        return np.array(self.features)

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        if not self.covariates:
            rule = "must be True for LinearUtilities, which is nothing without features"
            remedy = "leave it out, or use BradleyTerry()"
            raise FitError("covariates", rule, False, remedy=remedy)

    def known_of_arms(self, arrays: Any) -> Values:
        """Return the features (K, d)."""
        return super().known_of_arms(arrays) if self.features is None else self._table

    def arrays(self, data: Comparisons) -> Votes:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        if isinstance(data, Comparisons) and self.features is None:
            if not data.covariate_names:
                rule = "must be given, and neither the model has any nor what it meets"
                remedy = (
                    "say LinearUtilities(features), or add them to votes with "
                    ".with_covariates(table), or to an instance as its "
                    "features"
                )
                raise FitError("features", rule, None, remedy=remedy)
        return super().arrays(self._with_features(data))

    def parts(self, data: Comparisons) -> list[list[str]]:
        """Return the names of arms whose order votes tell, the largest part first."""
        return super().parts(self._with_features(data))

    def remarks(self, data: Comparisons) -> tuple[str, ...]:
        """Return what one should know of the model for these data."""
        return super().remarks(self._with_features(data))

    def coords(self, data: Comparisons) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        return super().coords(self._with_features(data))

    def _with_features(self, data: Any) -> Any:
        if self.features is None or not isinstance(data, Comparisons):
            return data
        if len(self.features) != data.num_arms:
            rule = f"must have one row for each of the {data.num_arms} arms"
            raise FitError("features", rule, self._table.shape)
        if np.array_equal(data.covariates, self._table):
            return data  # Perhaps they have names.
        names = [f"feature {index}" for index in range(self._table.shape[1])]
        return data.with_covariates(self._table, names)
