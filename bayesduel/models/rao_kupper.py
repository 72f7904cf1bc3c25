"""The model of Rao and Kupper: Bradley-Terry with a threshold below which votes tie."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

from bayesduel.errors import FitError
from bayesduel.models.array_modules import Values, log_sigmoids, namespace, sigmoid
from bayesduel.models.closed_forms import RowDerivatives
from bayesduel.models.utilities import PairwiseUtilityModel


@dataclass(frozen=True, kw_only=True)
class RaoKupper(PairwiseUtilityModel):
    r"""Bradley-Terry with ties below a threshold.

    Two impressions with the difference d = u_i - u_j and logistic noise tie where they
    differ by less than a threshold eta > 0 (Rao and Kupper 1967):

    P(i) = sigma(d - eta), P(j) = sigma(-d - eta), P(tie) = 1 - P(i) - P(j)
    = (exp(2 eta) - 1) P(i) P(j),

    with sigma(x) = 1 / (1 + exp(-x)) and log eta ~ Normal(0, tie_scale); their theta is
    exp(eta). Of two equal arms a share tanh(eta / 2) of the votes are ties. In
    Davidson's model (:class:`BradleyTerry` with ``ties``) a vote that is no tie obeys
    Bradley-Terry; here it is decided the more clearly, the larger the threshold.

    Parameters
    ----------
    ties : bool
        Always True.
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`.
    tie_scale, order_effect, order_scale, covariates, covariate_scale, residual
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.
    contest_covariates, contest_scale
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.

    References
    ----------
    P. V. Rao and L. L. Kupper, "Ties in paired-comparison experiments: a generalization
    of the Bradley-Terry model", JASA 62 (1967), equation (2.8).

    Examples
    --------
    >>> from bayesduel.inference import fit, parameter_summary
    >>> from bayesduel.models import RaoKupper
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]], ties=[[0, 4], [4, 0]])
    >>> posterior = fit(RaoKupper(), votes, method="laplace", num_draws=100)
    >>> [row["parameter"] for row in parameter_summary(posterior)]
    ['log_threshold']
    """

    ties: bool = True

    title: ClassVar[str] = "Rao-Kupper"
    tie_name: ClassVar[str] = "log_threshold"

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        if not self.ties:
            remedy = "without ties it is BradleyTerry()"
            raise FitError("ties", "must be True", self.ties, remedy=remedy)

    def outcome_logs(self, difference: Values, tie: Values) -> Values:
        """Return log P(outcome) of a vote; ``tie`` is log eta."""
        xp = namespace(difference)
        threshold = xp.exp(tie)
        first = log_sigmoids(difference - threshold)[0]
        second = log_sigmoids(-difference - threshold)[0]
        # log(exp(2 eta) - 1), which does not overflow. Where eta rounds to 0, so does
        # nothing else: it is log(2 eta) there.
        small = threshold < 1e-10
        safe = xp.where(small, 1.0, threshold)
        excess = 2.0 * safe + xp.log(-xp.expm1(-2.0 * safe))
        excess = xp.where(small, log(2.0) + tie, excess)
        return xp.stack([first, second, excess + first + second])

    def vote_derivatives(
        self, counts: Values, difference: Values, tie: Values
    ) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row in closed form.

        A tie counts as a win of both, and log(exp(2 eta) - 1) has, by log eta, the
        slope g = 2 eta / (1 - exp(-2 eta)) and the curvature g (1 + 2 eta - g).
        """
        xp = namespace(difference)
        threshold = xp.exp(tie)
        won, lost = counts[:, 0] + counts[:, 2], counts[:, 1] + counts[:, 2]
        first, second = difference - threshold, -difference - threshold
        by_first, by_second = won * sigmoid(-first), lost * sigmoid(-second)
        of_first, of_second = by_first * sigmoid(first), by_second * sigmoid(second)
        small = threshold < 1e-10
        safe = xp.where(small, 1.0, threshold)
        slope = xp.where(small, 1.0, -2.0 * safe / xp.expm1(-2.0 * safe))
        bend = xp.where(small, 0.0, slope * (1.0 + 2.0 * safe - slope))
        both, bends = by_first + by_second, of_first + of_second
        return RowDerivatives(
            gap=by_first - by_second,
            tie=counts[:, 2] * slope - threshold * both,
            gap_gap=-bends,
            gap_tie=threshold * (of_first - of_second),
            tie_tie=counts[:, 2] * bend - threshold * (threshold * bends + both),
        )
