"""The multinomial logit of choices out of subsets, and the outside option "none"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from bayesduel.errors import FitError
from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.base import check_kind, count_votes
from bayesduel.models.closed_forms import ClosedDensity, Coordinates, come_from
from bayesduel.models.utilities import UtilityModel
from bayesduel.votes.choices import Choices

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True)
class _ChoiceDensity(ClosedDensity):
    """The log joint density of choices in proportion to the worth exp(u).

    With counts c_ri of row r, their sum n_r, probabilities p_ri of the offered arms and
    the sign s_r, which is -1 where the worst was chosen, the gradient of the log
    likelihood is sum_r s_r (c_r - n_r p_r), and its Hessian
    -sum_r n_r (diag(p_r) - p_r p_r^T) (McFadden 1974). Natural logarithms; the utility
    of the outside option is 0. What never happened may be impossible.
    """

    model: UtilityModel  # Its prior; without a learned scale.
    choices: Any  # Its data.

    @property
    def coordinates(self) -> Coordinates:
        num_arms, zero_sum = self.choices.num_arms, self.model.zero_sum
        scales = np.full(num_arms - zero_sum, self.model.prior_scale, dtype=np.float64)
        return Coordinates(num_arms, scales, zero_sum)

    @property
    def num_rows(self) -> int:
        return self.choices.offered.size

    def log_likelihoods(self, points: Values) -> Values:
        xp = namespace(points)
        happened = self.choices.counts > 0
        # An outcome with no vote may be impossible: 0 times minus infinity is nan.
        logs = xp.where(happened, self._logs(points), 0.0)
        return xp.sum(logs * self.choices.counts, axis=(-2, -1))

    def gradient(self, point: Values) -> Values:
        xp = namespace(point)
        coordinates, counts = self.coordinates, self.choices.counts
        expected = xp.sum(counts, axis=1, keepdims=True) * xp.exp(self._logs(point))
        by_arm = xp.sum(self.choices.sign * (counts - expected), axis=0)
        of_utilities = by_arm[: self.choices.num_arms]
        return coordinates.pulled(of_utilities) - point / coordinates.scales**2

    def hessian(self, point: Values) -> Values:
        xp = namespace(point)
        coordinates = self.coordinates
        probabilities = xp.exp(self._logs(point))[:, : self.choices.num_arms]
        expected = xp.sum(self.choices.counts, axis=1, keepdims=True) * probabilities
        identity = xp.eye(self.choices.num_arms, dtype=point.dtype)
        square = (
            expected.T @ probabilities - identity * xp.sum(expected, axis=0)[None, :]
        )
        inner = coordinates.pulled(coordinates.pulled(square).T)
        return inner - coordinates.precision(point)

    def _logs(self, points: Values) -> Values:
        xp = namespace(points)
        utility = self.coordinates.utilities(points)
        offered = self.choices.offered
        if offered.shape[1] > self.choices.num_arms:
            outside = xp.zeros_like(utility[..., :1])
            utility = xp.concatenate([utility, outside], axis=-1)
        signed = self.choices.sign * utility[..., None, :]
        table = xp.where(offered, signed, -np.inf)
        shifted = table - xp.max(table, axis=-1, keepdims=True)
        return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


@dataclass(frozen=True)
class OfferedChoices:
    """Choices as arrays; the last column is the outside option, where there is one."""

    offered: Bool[Array | np.ndarray, "row outcome"]
    counts: Float[Array | np.ndarray, "row outcome"]
    sign: Float[Array | np.ndarray, "row 1"]
    num_arms: int


@dataclass(frozen=True, kw_only=True)
class MultinomialLogit(UtilityModel):
    """Multinomial logit: chosen in proportion to the worth.

    P(i | S) = exp(u_i) / (exp(u_0) + sum over j in S of exp(u_j)) with u_0 = 0 for the
    outside option "none of them", or without that term where there is no such option
    (Luce 1959, McFadden 1974). In the notation of bandits the weight of arm i is
    v_i = exp(u_i), that of none v_0 = 1. Where the worst was named, it is chosen out of
    what the best left, in proportion to exp(-u_i): best-worst scaling, the best first
    (Marley and Louviere 2005).

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`. With an outside option
        utilities have an absolute meaning, so ``zero_sum`` is refused.

    References
    ----------
    D. McFadden, "Conditional logit analysis of qualitative choice behavior", in
    Frontiers in Econometrics (1974).
    A. A. J. Marley and J. J. Louviere, "Some probabilistic models of best, worst, and
    best-worst choices", Journal of Mathematical Psychology 49 (2005).

    Examples
    --------
    >>> from bayesduel.votes import Choices
    >>> from bayesduel.models import MultinomialLogit
    >>> from bayesduel.inference import fit
    >>> choices = Choices.from_counts(
    ...     [[1, 1, 0], [1, 1, 1]], [[7, 2, 0], [5, 1, 3]], none=[4, 2]
    ... )
    >>> posterior = fit(MultinomialLogit(), choices, method="laplace", num_draws=100)
    >>> posterior.draws["utility"].shape
    (4, 100, 3)
    """

    title: ClassVar[str] = "multinomial logit"
    word: ClassVar[str] = "multinomial-logit"
    needs: ClassVar[str] = "sets"

    def __call__(self, choices: OfferedChoices) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        import jax.numpy as jnp
        from jax.scipy.special import logsumexp

        utility = self.sample_utilities(choices.num_arms)
        if choices.offered.shape[1] > choices.num_arms:
            utility = jnp.append(utility, 0.0)
        offered = jnp.asarray(choices.offered)
        table = jnp.asarray(choices.sign) * utility[None, :]
        total = logsumexp(table, axis=1, where=offered, keepdims=True)
        log_probability = jnp.where(offered, table - total, -jnp.inf)
        return count_votes(jnp.asarray(choices.counts), log_probability)

    def arrays(self, data: Choices) -> OfferedChoices:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        check_kind(self, data, Choices)
        self.check()
        if data.outside and self.zero_sum:
            rule = "must not be True for data with an outside option, whose utility is "
            rule += "0 already"
            raise FitError("zero_sum", rule, True)
        always = np.ones((len(data.offered), 1), dtype=bool)
        offered = np.concatenate([data.offered, always], axis=1)
        width = data.num_arms + data.outside
        sign = np.ones(len(offered)) if data.worst is None else 1.0 - 2.0 * data.worst
        return OfferedChoices(
            offered=offered[:, :width],
            counts=data.counts[:, :width],
            sign=sign[:, None],
            num_arms=data.num_arms,
        )

    def hessian(
        self, arrays: OfferedChoices
    ) -> Callable[[Float[Array, " D"]], Float[Array, "D D"]] | None:
        """Return the Hessian of the log joint density, or None as ``closed_form``."""
        density = self.closed_form(arrays)
        return None if density is None else density.hessian

    def closed_form(self, arrays: OfferedChoices) -> _ChoiceDensity | None:
        """Return the log joint density with its derivatives in closed form, or None.

        None where the scale is learned, and for a subclass that overrides how
        quantities are sampled or what choices depend on.
        """
        homes = (UtilityModel, MultinomialLogit)
        if self.learn_scale or not come_from(self, _CLOSED_FORM_OF, homes):
            return None
        return _ChoiceDensity(self, arrays)


# The methods whose density :meth:`MultinomialLogit.closed_form` is.
_CLOSED_FORM_OF = ("__call__", "sample_utilities", "_normal")
