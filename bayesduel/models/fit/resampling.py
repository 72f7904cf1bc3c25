"""Importance resampling: draws from an approximation become draws from the posterior.

Proposals come from a normal distribution near the posterior p, and a quarter of them
from Student's distribution of the same mean and shape, so that the tails of p are
reached where they are heavier than normal ones (Hesterberg 1995). With q the mixture of
both, weights p / q, their largest ones smoothed by a generalized Pareto distribution,
say how often each proposal is to be kept, and the shape k of that distribution whether
they can be trusted (Vehtari et al. 2024).

Kept draws are found by systematic resampling (Kitagawa 1996) out of four times as many
proposals: the expected number of copies of a proposal is exactly proportional to its
weight, and nothing is kept twice unless its weight is above the share of one kept draw.

The smoothing is that of ``arviz_stats``, which the tests hold it against. It is written
down here because ArviZ cannot be imported without xarray and pandas, which takes ten
times as long as a fit.

References
----------
A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, "Pareto smoothed importance
sampling", JMLR 25 (2024). J. Zhang and M. A. Stephens, "A new and efficient estimation
method for the generalized Pareto distribution", Technometrics 51 (2009).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from bayesduel.errors import ArgumentError

# Pareto k up to which importance sampling is trusted (Vehtari et al. 2024).
GOOD_K = 0.7
FINITE_VARIANCE_K = 0.5  # Pareto k up to which weights have a variance.

BLOCKS = 4
"""Proposals come in blocks as large as the number of draws to be kept; the last one has
the heavy tails."""

# So that the tail of the weights is seen even where few draws are kept.
LEAST_BLOCK = 1000
HOPELESS = 0.005  # Effective share of normal proposals below which no more are made.
HOPELESS_K = 1.0  # Pareto k of a few proposals above which no more are made.

_LEAST_EFFECTIVE = 400  # Equal draws that are enough for the quantiles of a posterior.

_LARGEST_SHIFT = 0.1
"""Largest tolerated error of the mean of approximate draws, in standard deviations: it
lowers the coverage of a 0.9 interval by 0.002."""

_LARGEST_SPREAD = 1.1  # Ratio of standard deviations, one way or the other.
_LEAST_TAIL = 5  # Weights without which no distribution is fitted.
# The prior of k counts as so many weights with such a k (appendix G).
_PRIOR_WEIGHT, _PRIOR_SHAPE = 10.0, 0.5
# Zhang and Stephens' grid of the other parameter: m = 30 + sqrt(n) points.
_GRID, _GRID_SCALE = 30, 3.0
_NOTHING = 700.0  # A log weight this far below the largest one is none.
_SAME = 1e-9  # Log weights that differ by less than this differ by rounding.


@dataclass(frozen=True)
class Correction:
    """How far the fitted distribution is from the posterior, and what was done then.

    Attributes
    ----------
    wanted : bool
        Whether the draws were to be resampled by importance.
    resampled : bool
        Whether they were. If not they are draws from the fitted distribution itself.
    proposals : str
        Out of what: "normal", a mixture of the fitted distribution and one with heavier
        tails, or "radial", points along rays from the mode.
    pareto_k : float
        Shape of the tail of the weights; inf where there are none to speak of.
    num_proposals : int
        Proposals that were weighed.
    effective_proposals : float
        (sum w)^2 / sum w^2: as many independent draws say as much of a mean.
    largest_weight : float
        In units of the mean weight.
    num_different : int
        Different points among the draws.
    shift : float
        Largest difference of a mean, weighted minus plain, in weighted standard
        deviations: how far the fitted distribution itself is off. Says little where k
        is large.
    shifted : str
        The quantity whose mean that is.
    spread : float
        The ratio, plain over weighted, of the standard deviations that differ most.
    """

    wanted: bool
    resampled: bool
    proposals: str
    pareto_k: float
    num_proposals: int
    effective_proposals: float
    largest_weight: float
    num_different: int
    shift: float
    shifted: str
    spread: float

    @property
    def trusted(self) -> bool:
        """Whether the draws were resampled, by weights that can be trusted."""
        return self.resampled and self.has_good_weights

    @property
    def has_good_weights(self) -> bool:
        """Whether the weights can be trusted: see :func:`can_trust`."""
        return can_trust(self.pareto_k, self.num_proposals, self.largest_weight)

    @property
    def fits(self) -> bool:
        """Whether what was fitted is so close that draws from it need no weights."""
        near = 1.0 / _LARGEST_SPREAD <= self.spread <= _LARGEST_SPREAD
        return self.has_good_weights and self.shift <= _LARGEST_SHIFT and near

    @property
    def doubts(self) -> tuple[str, ...]:
        """Doubts about draws that do not fit the posterior well."""
        if self.trusted:
            if self.effective_proposals >= _LEAST_EFFECTIVE:
                return ()
            return (
                f"of {self.num_proposals} proposals only about "
                f"{self.effective_proposals:.0f} matter, so that intervals and "
                "probabilities are rough",
            )
        plain = not self.wanted and not self.resampled
        if plain and self.fits:
            return ()
        off = (
            f"by up to {self.shift:.2f} standard deviations), and were not to be "
            "resampled"
            if plain
            else f"by {self.shift:.2f} standard deviations or more), and no weights "
            "could correct them: intervals and probabilities may be far off"
        )
        return (
            "the draws are those of a normal distribution that does not fit the "
            f"posterior (Pareto k {self.pareto_k:.2f}; means are off {off}",
        )

    @property
    def remedy(self) -> str:
        """A remedy against doubts."""
        if self.wanted:
            return "use method='nuts' (--method nuts)"
        return "leave out resample=False"


def good_k(number: int) -> float:
    """Return up to which Pareto k weights of so many draws are good."""
    # Vehtari et al. 2024, section 3.2.4.
    return min(1.0 - 1.0 / np.log10(number), GOOD_K) if number > 10 else GOOD_K


def can_trust(k: float, number: int, largest_weight: float) -> bool:
    """Whether Pareto k is good, or no weight is above that of four mean proposals."""
    # Where all weights are about equal k only describes the last few of them.
    return k <= good_k(number) or largest_weight <= BLOCKS


def smoothed_weights(
    log_weight: Float[np.ndarray, " draw"],
) -> tuple[Float[np.ndarray, " draw"], float]:
    """Return weights that add up to 1, their tail smoothed, and Pareto k."""
    finite = np.isfinite(log_weight)
    number = len(log_weight)
    if not np.any(finite):
        return np.full(number, 1.0 / number), np.inf
    relative = np.where(finite, log_weight, -np.inf)
    relative = np.maximum(relative - relative.max(), -_NOTHING)
    tail = np.sort(relative)[-_tail_length(number) - 1 :]
    k = 0.0
    if np.ptp(tail) > _SAME:
        relative, k = smoothed_log_weights(relative)
    weights = np.exp(relative - np.max(relative))
    return weights / weights.sum(), np.inf if np.isnan(k) else float(k)


def effective_number(weights: Float[np.ndarray, " draw"]) -> float:
    """Return 1 / sum w^2 of weights that add up to 1."""
    return float(1.0 / np.sum(np.square(weights)))


def systematic(
    rng: np.random.Generator, weights: Float[np.ndarray, " proposal"], number: int
) -> Int[np.ndarray, " draw"]:
    """Pick ``number`` proposals: floor or ceiling of number * weight times each."""
    places = (rng.random() + np.arange(number)) / number
    picked = np.searchsorted(np.cumsum(weights), places)
    picked = np.minimum(picked, len(weights) - 1)
    rng.shuffle(picked)
    return picked


def largest_shift(
    fitted: dict[str, Shaped[np.ndarray, "number ..."]],
    values: dict[str, Shaped[np.ndarray, "draw ..."]],
    weights: Float[np.ndarray, " draw"],
) -> tuple[float, str, float]:
    """Return the largest shift of a mean by the weights, its name, and the spread."""
    worst, name, spread = 0.0, "", 1.0
    for key, array in values.items():
        flat = array.reshape(len(array), -1)
        own_flat = fitted[key].reshape(len(fitted[key]), -1)
        plain, weighted = own_flat.mean(axis=0), weights @ flat
        width = np.sqrt(weights @ np.square(flat) - np.square(weighted))
        fitted_width = own_flat.std(axis=0)
        varies = (width > 1e-12 * (1.0 + np.abs(weighted))) & (fitted_width > 0)
        if not np.any(varies):
            continue
        width, fitted_width = (
            np.where(varies, width, 1.0),
            np.where(varies, fitted_width, 1.0),
        )
        shift = np.where(varies, np.abs(weighted - plain) / width, 0.0)
        index = int(np.argmax(shift))
        if shift[index] >= worst:
            worst = float(shift[index])
            name = f"{key}[{index}]" if array.ndim > 1 else key
        ratio = fitted_width / width
        far = ratio[int(np.argmax(np.abs(np.log(ratio))))]
        if abs(np.log(far)) > abs(np.log(spread)):
            spread = float(far)
    return worst, name, spread


def smoothed_log_weights(
    log_weight: Float[np.ndarray, " draw"],
) -> tuple[Float[np.ndarray, " draw"], float]:
    """Replace the largest weights by Pareto-distributed order statistics."""
    length = _tail_length(len(log_weight))
    if length < _LEAST_TAIL:
        rule = "must have 25 or more entries"
        raise ArgumentError("log_weight", rule, len(log_weight))
    logs = log_weight - np.max(log_weight)
    order = np.argsort(logs)
    places = order[-length:]
    tail = logs[places]
    if tail[-1] - tail[0] < np.finfo(float).tiny:
        rule = "must differ in its largest entries, but they are equal"
        raise ArgumentError("log_weight", rule, log_weight)
    cutoff = np.exp(logs[order[-length - 1]])
    k, scale = _pareto_distribution(np.exp(tail) - cutoff)
    if np.isfinite(k):
        middle = (np.arange(length) + 0.5) / length
        if scale <= 0.0:
            quantiles = np.full_like(middle, np.nan)
        elif k == 0.0:
            quantiles = -scale * np.log1p(-middle)
        else:
            quantiles = scale * np.expm1(-k * np.log1p(-middle)) / k
        # No weight becomes larger than the largest one was.
        logs[places] = np.minimum(np.log(cutoff + quantiles), tail[-1])
    return logs - _log_sum(logs), k


def _tail_length(number: int) -> int:
    # Weights that make up the tail: min(S / 5, 3 sqrt(S)).
    return int(3.0 * np.sqrt(number)) if number > 225 else number // 5


def _pareto_distribution(excess: Float[np.ndarray, " n"]) -> tuple[float, float]:
    # Shape k and scale for sorted excesses: posterior means on a grid (Zhang and
    # Stephens 2009), with k drawn towards 1/2. Both nan where the first quartile is not
    # above the least one: no such distribution has that. k is inf where the fit is no
    # number.
    number = len(excess)
    quartile = excess[int(number / 4 + 0.5) - 1]
    if quartile <= excess[0]:
        return np.nan, np.nan
    size = _GRID + int(np.sqrt(number))
    steps = np.arange(1, size + 1) - 0.5
    grid = (1.0 - np.sqrt(size / steps)) / (_GRID_SCALE * quartile) + 1.0 / excess[-1]
    shape = np.mean(np.log1p(-grid[:, None] * excess), axis=1)
    height = number * (np.log(-grid / shape) - shape - 1.0)
    weight = np.exp(height - _log_sum(height))
    matters = weight >= 10.0 * np.finfo(float).eps
    weight, grid = weight[matters], grid[matters]
    rate = np.sum(grid * weight) / np.sum(weight)
    log_share = np.mean(np.log1p(-rate * excess))
    k = (number * log_share + _PRIOR_WEIGHT * _PRIOR_SHAPE) / (number + _PRIOR_WEIGHT)
    if np.isnan(k):
        return np.inf, np.nan
    return float(k), float(-log_share / rate)


def _log_sum(logs: np.ndarray) -> float:
    top = np.max(logs)
    return float(top + np.log(np.sum(np.exp(logs - top))))
