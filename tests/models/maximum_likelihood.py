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

    rough = optimize.minimize(minus, start, method="BFGS").x
    options = {"xatol": 1e-9, "fatol": 1e-9, "maxiter": 200 * len(start)}
    found = optimize.minimize(minus, rough, method="Nelder-Mead", options=options)
    best, steps = found.x, 1e-4 * np.eye(len(start))
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
    return best, np.sqrt(np.diag(covariance)), -found.fun
