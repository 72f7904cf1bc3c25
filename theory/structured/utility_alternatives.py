"""The utilities that are hardest to tell from the truth, one vector per rival.

For a rival a and duels w the inner program of the bound is

    c_a(w) = min over theta' with theta'_a = theta'_best  of  sum of w_e f_e(x'_e),

with x'_e the difference of utilities of pair e and f_e(x) = KL(p_e, F(x)), convex. The
equality is eliminated, theta' = B_a beta, and Newton's method runs for all rivals at
once.

*Certificate from below.* Let y_e be multipliers of the pairs with B_a^T A^T y = 0,
where A takes utilities to differences. Then sum of y_e x'_e = 0 for every alternative,
so c_a(w) >= sum of w_e min over x of [f_e(x) - (y_e / w_e) x]: minima of functions of
one variable, each enclosed between two points with slopes of different sign. The y_e
that Newton's last step predicts satisfies the equality up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.errors import ProgramError
from theory.structured.truth import Truth, UtilityModel

if TYPE_CHECKING:
    from jaxtyping import Float64

_MAXIMAL_STEPS = 200
# Half of Newton's decrement, in units of the constraint "sum >= 1", before a last step:
# divergences are as far off as its root.
_DECREMENT = 1e-12
# Of the largest diagonal entry: pairs that are hardly asked leave directions open.
_RIDGE = 1e-14
_ENCLOSURE = 1e-5


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Minimizers for one allocation, R of them, one per rival."""

    weights: NDArray[np.float64]  # (E,): The allocation.
    beta: NDArray[np.float64]  # (R, n): Coordinates of the utilities.
    utilities: NDArray[np.float64]  # (R, K): The alternatives theta'.
    divergences: NDArray[np.float64]  # (R, E): KL(p_e, p'_e).
    values: NDArray[np.float64]  # (R,): Their sums with the weights: c_a, from above.
    slopes: NDArray[np.float64]  # (R, E): f'_e(x'_e).
    hessian: NDArray[np.float64]  # (R, n, n): Of the sum, by beta.
    # (R, n): What Newton's method would still subtract from beta.
    step: NDArray[np.float64]


class UtilityOracle:
    """Solve the inner programs of all ``rivals``, the arms but the best one.

    ``differences``, (R, E, n), lead from the coordinates of an alternative to
    differences on the pairs.
    """

    def __init__(self, truth: Truth, model: UtilityModel) -> None:
        self.truth, self.link = truth, model.link
        self.rivals = np.delete(np.arange(truth.num_arms), truth.best)
        # The directions in which a rival and the best arm stay equal.
        self.bases = np.stack(
            [
                model.directions
                @ np.linalg.qr(model.directions[a, :, None], mode="complete")[0][:, 1:]
                for a in self.rivals
            ]
        )
        self.differences = self.bases[:, truth.behind] - self.bases[:, truth.ahead]
        fitted = [np.linalg.lstsq(b, model.utilities)[0] for b in self.bases]
        self.start: Float64[np.ndarray, "R n"] = np.stack(fitted)

    def solve(
        self, weights: Float64[np.ndarray, " E"], start: Float64[np.ndarray, "R n"]
    ) -> Alternatives:
        """Run Newton's method; steps change no difference by much more than 1."""
        beta, last = start, False
        for _ in range(_MAXIMAL_STEPS):
            x, slopes, hessian, step, decrement = self._newton(weights, beta)
            if last:
                return self._alternatives(weights, beta, x, slopes, hessian, step)
            last = bool(decrement.max(initial=0.0) <= _DECREMENT)
            size = np.abs(np.matmul(self.differences, step[..., None])).max(axis=(1, 2))
            safe = np.log1p(size) / np.maximum(size, np.finfo(float).tiny)
            beta = beta - np.where(size > 0, safe, 1.0)[:, None] * step
        raise ProgramError(
            f"no nearest alternative was found in {_MAXIMAL_STEPS} steps of Newton's "
            "method: pairs next to a tie, or prices far apart, can be too much for "
            "floating point."
        )

    def lower_values(self, found: Alternatives) -> Float64[np.ndarray, " R"]:
        """Return a lower bound on c_a(w) for every rival; minus infinity if unproved.

        Up to the rounding of B_a^T A^T y = 0.
        """
        p, link, w = self.truth.shares, self.link, found.weights
        u = found.utilities
        x = u[:, self.truth.behind] - u[:, self.truth.ahead]
        along = np.matmul(self.differences, found.step[..., None])[..., 0]
        target = found.slopes - link.curvature(p, x) * along
        z = x - along
        for _ in range(4):
            z = z - (link.slope(p, z) - target) / link.curvature(p, z)
        error = np.abs(link.slope(p, z) - target)
        enclosed = (link.slope(p, z - _ENCLOSURE) < target) & (
            link.slope(p, z + _ENCLOSURE) > target
        )
        # Convex: over the enclosure it falls below its value at z by no more.
        least = self.truth.divergences(link.probability(z)) - target * (z - x)
        least = least - _ENCLOSURE * error
        return np.where(
            (enclosed | (w == 0)).all(axis=1), (w * least).sum(axis=1), -np.inf
        )

    def curvature_factor(self, found: Alternatives) -> Float64[np.ndarray, "R n E"]:
        """Return M with M_a^T M_a = minus the second derivative of c_a by the duels."""
        root = np.linalg.cholesky(found.hessian)
        mixed = np.swapaxes(self.differences, 1, 2) * found.slopes[:, None, :]
        return np.linalg.solve(root, mixed)

    def _newton(
        self, weights: Float64[np.ndarray, " E"], beta: Float64[np.ndarray, "R n"]
    ) -> tuple[NDArray[np.float64], ...]:
        truth = self.truth
        x = np.matmul(self.differences, beta[..., None])[..., 0]
        slopes = self.link.slope(truth.shares, x)
        pull = (weights * slopes)[:, None, :]
        gradient = np.matmul(pull, self.differences)[:, 0]
        pairs = weights * self.link.curvature(truth.shares, x)
        arms = np.arange(truth.num_arms)
        laplacian = np.zeros((len(x), truth.num_arms, truth.num_arms))
        laplacian[:, truth.behind, truth.ahead] = -pairs
        laplacian[:, truth.ahead, truth.behind] = -pairs
        laplacian[:, arms, arms] = -laplacian.sum(axis=2)
        turned = np.swapaxes(self.bases, 1, 2)
        hessian = np.matmul(np.matmul(turned, laplacian), self.bases)
        diagonal = np.arange(hessian.shape[1])
        largest = hessian[:, diagonal, diagonal].max(axis=1, initial=0.0)
        hessian[:, diagonal, diagonal] += _RIDGE * largest[:, None]
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        return x, slopes, hessian, step, (gradient * step).sum(axis=1) / 2

    def _alternatives(
        self,
        weights: NDArray[np.float64],
        beta: NDArray[np.float64],
        x: NDArray[np.float64],
        slopes: NDArray[np.float64],
        hessian: NDArray[np.float64],
        step: NDArray[np.float64],
    ) -> Alternatives:
        divergences = self.truth.divergences(self.link.probability(x))
        return Alternatives(
            weights=weights,
            beta=beta,
            utilities=np.matmul(self.bases, beta[..., None])[..., 0],
            divergences=divergences,
            values=divergences @ weights,
            slopes=slopes,
            hessian=hessian,
            step=step,
        )
