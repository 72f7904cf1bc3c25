"""Contextual policies by dense linear algebra: the likelihood by SciPy, all pairs."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


class LinearTwin:
    """All duels as a list; theta by BFGS from zero, matrices from their definitions."""

    def __init__(self, size, ridge=1.0):
        self.size, self.ridge = size, ridge
        self.gaps, self.won = np.zeros((0, size)), np.zeros(0)
        self.weights = np.zeros(0)

    def tell(self, gap, won, weight=1.0):
        self.gaps = np.vstack([self.gaps, gap])
        self.won = np.append(self.won, won)
        self.weights = np.append(self.weights, weight)

    def theta(self):
        def loss(theta):
            u = self.gaps @ theta
            value = self.weights @ (np.logaddexp(0, u) - self.won * u)
            slope = self.weights * (expit(u) - self.won)
            return (
                value + self.ridge / 2 * theta @ theta,
                self.gaps.T @ slope + self.ridge * theta,
            )

        options = {"gtol": 1e-10, "maxiter": 10_000}
        return minimize(loss, np.zeros(self.size), jac=True, options=options).x

    def counted(self):
        """Return ridge I + sum w z z'."""
        scaled = self.weights[:, None] * self.gaps
        return self.ridge * np.eye(self.size) + self.gaps.T @ scaled

    def curvature(self):
        """Return ridge I + sum w s'(theta z) z z'."""
        share = expit(self.gaps @ self.theta())
        scaled = (self.weights * share * (1 - share))[:, None] * self.gaps
        return self.ridge * np.eye(self.size) + self.gaps.T @ scaled


def norms(features, matrix):
    """Return |x_i - x_j| of all pairs, in the norm of the inverse of a matrix."""
    gaps = features[:, None] - features[None]
    solved = np.linalg.solve(matrix, gaps[..., None])[..., 0]
    return np.sqrt(np.maximum((gaps * solved).sum(-1), 0))


def pair_index(features, theta, matrix, width):
    """Return the index of all pairs, of MaxPairUCB and GINOP."""
    utility = features @ theta
    return utility[:, None] + utility + width * norms(features, matrix)


def possible_winners(features, theta, matrix, width):
    """Return the candidates of MaxInP."""
    utility = features @ theta
    gap = utility[:, None] - utility + width * norms(features, matrix)
    return np.flatnonzero((gap >= 0).all(axis=1))


def layers_of_vacdb(features, thetas, matrices, width):
    """Return the layer that asks, -1 for none, and the pairs that may be shown."""
    arms, most = np.arange(len(features)), len(thetas)
    for layer in range(1, most + 1):
        theta, matrix = thetas[layer - 1], matrices[layer - 1]
        norm = norms(features[arms], matrix)
        if norm.max() <= 2.0**-most:
            index = pair_index(features[arms], theta, matrix, width)
            best = np.argwhere(index >= index.max() - 1e-9)
            return -1, {tuple(sorted(arms[pair])) for pair in best}
        if norm.max() > 2.0**-layer:
            pairs = np.argwhere(norm > 2.0**-layer)
            return layer, {tuple(sorted(arms[pair])) for pair in pairs}
        utility = features[arms] @ theta
        arms = arms[utility >= utility.max() - 2.0**-layer * width]
    raise AssertionError
