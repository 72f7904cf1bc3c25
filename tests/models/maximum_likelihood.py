"""Maximum-likelihood estimates by SciPy, of a plain NumPy log likelihood."""

from collections.abc import Callable

import numpy as np
from scipy import optimize


def maximum_likelihood(
    log_likelihood: Callable[[np.ndarray], float], start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return estimates, standard errors by second differences, and the maximum."""

    def minus(point):
        return -log_likelihood(point)

    best = optimize.minimize(minus, start, method="BFGS").x
    steps = 1e-4 * np.eye(len(start))
    hessian = np.array(
        [
            [
                minus(best + one + other)
                - minus(best + one - other)
                - minus(best - one + other)
                + minus(best - one - other)
                for other in steps
            ]
            for one in steps
        ]
    )
    covariance = np.linalg.inv(hessian / 4e-8)
    # Two steps of Newton's method, to the last digits.
    for _ in range(2):
        slope = [(minus(best + step) - minus(best - step)) / 2e-4 for step in steps]
        best = best - covariance @ slope
    return best, np.sqrt(np.diag(covariance)), log_likelihood(best)
