"""Thurstone's model of paired comparisons, with ties, an order effect, covariates."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import ClassVar

from bayesduel.models.array_modules import Values, namespace, scipy_module
from bayesduel.models.closed_forms import RowDerivatives
from bayesduel.models.utilities import PairwiseUtilityModel

_SQRT2 = sqrt(2.0)
_HALF_LOG_2_PI = 0.5 * log(2.0 * pi)


@dataclass(frozen=True, kw_only=True)
class Thurstone(PairwiseUtilityModel):
    r"""Thurstone's case V: the larger of two normal impressions wins.

    P(i beats j) = Phi((u_i - u_j) / sqrt(2)): each arm makes an impression
    Normal(u_i, 1), independently at every vote (Thurstone 1927; probit).

    With ``ties``: a tie if the impressions differ by less than a threshold, log
    threshold ~ Normal(0, tie_scale) (Glenn and David 1960). With ``order_effect``
    u_i - u_j grows by ``first_advantage`` for the arm shown first.

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`.
    ties, tie_scale, order_effect, order_scale, covariates, covariate_scale, residual
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.
    contest_covariates, contest_scale
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.

    References
    ----------
    L. L. Thurstone, "A law of comparative judgment", Psychological Review 34 (1927).
    W. A. Glenn and H. A. David, "Ties in paired-comparison experiments using a modified
    Thurstone-Mosteller model", Biometrics 16 (1960).

    Examples
    --------
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import Thurstone
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(Thurstone(), votes, method="laplace", num_draws=100)
    >>> bool(posterior.probability_of_beating().sel(arm="0", opponent="2") > 0.7)
    True
    """

    title: ClassVar[str] = "Thurstone"
    word: ClassVar[str] = "thurstone"
    in_log_odds: ClassVar[bool] = False
    tie_name: ClassVar[str] = "log_threshold"

    def outcome_logs(self, difference: Values, tie: Values) -> Values:
        """Return log P(outcome); ``tie`` is the logarithm of the threshold."""
        xp = namespace(difference)
        log_ndtr = scipy_module(difference, "special").log_ndtr
        if not self.ties:
            return log_ndtr(xp.stack([difference, -difference]) / _SQRT2)
        threshold = xp.exp(tie)
        beyond = xp.stack([difference - threshold, -difference - threshold])
        decided = log_ndtr(beyond / _SQRT2)
        upper = log_ndtr(_edges(difference, threshold)[0])
        # The other edge is where the arm behind would win.
        lower = xp.where(difference < 0.0, decided[0], decided[1])
        tied = upper + xp.log1p(-xp.exp(lower - upper))
        return xp.stack([decided[0], decided[1], tied])

    def vote_derivatives(
        self, counts: Values, difference: Values, tie: Values
    ) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row in closed form.

        With x = (d - t) / sqrt(2), t the threshold, and h = phi(x) / Phi(x), the first
        derivative of log Phi is h and the second one -h (h + x).
        """
        xp = namespace(difference)
        zero = xp.zeros_like(difference)
        threshold = xp.exp(tie) if self.ties else zero
        won = _hazard((difference - threshold) / _SQRT2)
        lost = _hazard((-difference - threshold) / _SQRT2)
        win, loss = (_parts(counts[:, outcome], hazard) for outcome, hazard in
                     enumerate((won, lost)))  # fmt: skip
        gap = (win[0] - loss[0]) / _SQRT2
        gap_gap = (win[1] + loss[1]) / 2.0
        if not self.ties:
            return RowDerivatives(gap, zero, gap_gap, zero, zero)
        slope = -(win[0] + loss[0]) / _SQRT2
        log_tied = self.outcome_logs(difference, tie)[2]
        tied = _of_ties(counts[:, 2], difference, threshold, log_tied)
        by_threshold = slope + tied.tie
        return RowDerivatives(
            gap=gap + tied.gap,
            tie=threshold * by_threshold,
            gap_gap=gap_gap + tied.gap_gap,
            gap_tie=threshold * (tied.gap_tie - (win[1] - loss[1]) / 2.0),
            tie_tie=threshold * (threshold * (gap_gap + tied.tie_tie) + by_threshold),
        )


def _edges(difference: Values, threshold: Values) -> tuple[Values, Values]:
    """Return a and b with P(tie) = Phi(a) - Phi(b), from the side where it is small."""
    size = difference * _sign(difference)
    return (threshold - size) / _SQRT2, (-threshold - size) / _SQRT2


def _sign(difference: Values) -> Values:
    return namespace(difference).where(difference < 0.0, -1.0, 1.0)


def _hazard(values: Values) -> tuple[Values, Values]:
    xp = namespace(values)
    log_probability = scipy_module(values, "special").log_ndtr(values)
    slope = xp.exp(-0.5 * values**2 - _HALF_LOG_2_PI - log_probability)
    return slope, -slope * (slope + values)


def _parts(counts: Values, derivatives: tuple[Values, ...]) -> tuple[Values, ...]:
    xp = namespace(counts)
    happened = counts > 0
    return tuple(
        xp.where(happened, counts * xp.where(happened, derivative, 0.0), 0.0)
        for derivative in derivatives
    )


def _of_ties(
    counts: Values, difference: Values, threshold: Values, log_tied: Values
) -> RowDerivatives:
    xp = namespace(difference)
    upper, lower = _edges(difference, threshold)
    height = log_tied + _HALF_LOG_2_PI
    at_upper = xp.exp(-0.5 * upper**2 - height)
    at_lower = xp.exp(-0.5 * lower**2 - height)
    by_size = (at_lower - at_upper) / _SQRT2
    by_threshold = (at_upper + at_lower) / _SQRT2
    apart = (lower * at_lower - upper * at_upper) / 2.0
    mixed = (upper * at_upper + lower * at_lower) / 2.0
    sign = _sign(difference)
    derivatives = (
        sign * by_size,
        by_threshold,
        apart - by_size**2,
        sign * (mixed - by_size * by_threshold),
        apart - by_threshold**2,
    )
    return RowDerivatives(*_parts(counts, derivatives))
