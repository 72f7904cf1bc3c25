"""Proposals where the spread of the utilities is learned: Laplace's method per scale.

The joint density of a scale and of utilities in its units is highest where there is
much room for it, which says nothing of where the scale is. So for each of many scales s
the normal distribution of the utilities given s is found, and with it the probability
of the votes given s (Tierney and Kadane 1986). That times the prior, on a grid of log
s, is the marginal posterior of the scale. Proposals take a scale from it and utilities
from the distribution that belongs to the scale. Their weights are exact, whatever the
distributions are.

References
----------
L. Tierney and J. B. Kadane, "Accurate approximations for posterior moments and marginal
densities", JASA 81 (1986).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import exp, log, pi
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from bayesduel.inference.normal_distribution import drawn_points, log_normal_density
from bayesduel.inference.proposals.normal import log_mixture_density
from bayesduel.inference.proposals.pools import Pool, Weighed
from bayesduel.inference.proposals.radial import falls_along_rays, radial_points
from bayesduel.inference.resampling import BLOCKS, HOPELESS_K, LEAST_BLOCK, systematic
from bayesduel.models.closed_forms.newton import LaplaceState, Status

if TYPE_CHECKING:
    from bayesduel.models.base import PreferenceModel
    from bayesduel.models.closed_forms.closed_density import ClosedDensity

_LOWEST, _HIGHEST = -12.0, 1.7
"""Where log s is looked for, seen from the scale of its prior: beyond is 1e-5 of it."""

_DEEP = 10.0
"""Log densities below the highest one by more than this are left out."""

_COARSE, _FINE, _MOST_LOOKS = 13, 96, 8
"""Scales that are looked at once, those of the proposals, and looks at most."""

_EVERYWHERE = 0.05
"""Share of the proposals that all scales of the grid get alike."""


class _Node(NamedTuple):
    """A scale, and the normal distribution of the utilities given it."""

    log_scale: float
    density: ClosedDensity
    distribution: LaplaceState
    log_evidence: float
    """Log probability of the votes given the scale, by Laplace's method."""


@dataclass(frozen=True)
class ScaleProposer:
    """Proposes scales of a grid, moved within its steps, and utilities given them."""

    nodes: tuple[_Node, ...]
    probabilities: Float[np.ndarray, " node"]
    """Of the scales, in the marginal posterior."""

    step: float
    """Of the grid of log scales."""

    prior_scale: float

    @classmethod
    def of(
        cls, model: PreferenceModel, arrays: Any, max_iterations: int
    ) -> ScaleProposer | None:
        """Find the distributions; None without a learned scale or a closed form."""
        if model.at_scale(arrays, 1.0) is None:
            return None
        prior_scale = float(model.prior_scale)  # pyright: ignore
        find = partial(_nodes, model, arrays, max_iterations)
        low, high = log(prior_scale) + _LOWEST, log(prior_scale) + _HIGHEST
        for _ in range(_MOST_LOOKS):
            grid = np.linspace(low, high, _COARSE)
            heights = _heights(find(grid), prior_scale)
            near = np.flatnonzero(heights > heights.max() - _DEEP)
            low, high = grid[max(near[0] - 1, 0)], grid[min(near[-1] + 1, _COARSE - 1)]
            if 2 * len(near) >= _COARSE:
                break
        grid = np.linspace(low, high, _FINE)
        nodes = find(grid)
        heights = _heights(nodes, prior_scale)
        found = np.exp(heights - heights.max())
        step = float(grid[1] - grid[0])
        return cls(tuple(nodes), found / found.sum(), step, prior_scale)

    @property
    def status(self) -> Status:
        """How the searches for the modes ended: as the worst of those that matter."""
        matter = np.flatnonzero(self.probabilities > 1e-3 * self.probabilities.max())
        return Status(
            max(int(self.nodes[place].distribution.status) for place in matter)
        )

    @property
    def num_unknown(self) -> int:
        """Unknown quantities of the model."""
        return 1 + len(self.nodes[0].distribution.mode)

    def plain(self, rng: np.random.Generator, number: int) -> Pool:
        """Draw from the mixture of the normal distributions, in random order."""

        def draw(node: _Node, count: int) -> tuple[np.ndarray, np.ndarray]:
            points = drawn_points(rng, node.distribution, count)
            return points, log_normal_density(node.distribution, points)

        pool, order = self._pool(rng, number, draw, 0.0), rng.permutation(number)
        logs = pool.lp[order], pool.log_weight[order]
        return Pool(pool.points[order], pool.kept(order), *logs)

    def better(self, rng: np.random.Generator, plain: Weighed) -> Iterator[Weighed]:
        """Add heavy tails; draw along rays from the mode given each scale."""
        number = len(plain.weights)
        yield Weighed.of(self.mixed(rng, number), "normal", self.mixed)
        if self._rays_suit(rng):
            yield Weighed.of(self.radial(rng, number), "radial", self.radial)

    def mixed(self, rng: np.random.Generator, number: int) -> Pool:
        """Return blocks of so many, about a quarter of them with heavy tails."""

        def draw(node: _Node, count: int) -> tuple[np.ndarray, np.ndarray]:
            heavy = rng.binomial(count, 1.0 / BLOCKS)
            points = np.concatenate(
                [
                    drawn_points(rng, node.distribution, count - heavy),
                    drawn_points(rng, node.distribution, heavy, heavy=True),
                ]
            )
            return points, log_mixture_density(node.distribution, points)

        return self._pool(rng, BLOCKS * number, draw)

    def radial(self, rng: np.random.Generator, number: int) -> Pool:
        """Return as many blocks of points along rays."""
        return self._along_rays(rng, BLOCKS * max(number, 4 * LEAST_BLOCK))

    def _along_rays(self, rng: np.random.Generator, number: int) -> Pool:

        def draw(node: _Node, count: int) -> tuple[np.ndarray, np.ndarray]:
            points, weight = radial_points(rng, node.density, node.distribution, count)
            height = node.density.log_densities(points) - node.log_evidence
            return points, height - weight

        return self._pool(rng, number, draw)

    def _rays_suit(self, rng: np.random.Generator) -> bool:
        """Whether a few points along rays do not speak against many of them."""
        few = Weighed.of(self._along_rays(rng, LEAST_BLOCK))
        top = self.nodes[int(np.argmax(self.probabilities))]
        points, weight = radial_points(
            rng, top.density, top.distribution, LEAST_BLOCK // 4
        )
        return few.pareto_k <= HOPELESS_K and falls_along_rays(
            top.density, top.distribution, points[np.isfinite(weight)]
        )

    def _pool(
        self,
        rng: np.random.Generator,
        number: int,
        draw: Callable[[_Node, int], tuple[np.ndarray, np.ndarray]],
        everywhere: float = _EVERYWHERE,
    ) -> Pool:
        """Draw points of each node, given its log density of them; weigh them."""
        shares = (1.0 - everywhere) * self.probabilities + everywhere / len(self.nodes)
        chosen = systematic(rng, shares, number)
        counts = np.bincount(chosen, minlength=len(self.nodes))
        blocks = []
        for place in np.flatnonzero(counts):
            node, count = self.nodes[place], int(counts[place])
            points, log_density = draw(node, count)
            log_scale = node.log_scale + self.step * (rng.random(count) - 0.5)
            log_density = log_density + log(shares[place])
            blocks.append(self._weighed(node, points, log_scale, log_density))
        return Pool.joined(blocks)

    def _weighed(
        self,
        node: _Node,
        points: Float[np.ndarray, "draw D"],
        log_scale: Float[np.ndarray, " draw"],
        log_density: Float[np.ndarray, " draw"],
    ) -> Pool:
        """Weigh points of a node, each with a scale of its own close to the node's."""
        density, scale = node.density, np.exp(log_scale)
        own = points[:, density.coordinates.extras :]
        squares = 0.5 * np.sum(np.square(own), axis=1)
        moved = squares * (exp(-2.0 * node.log_scale) - np.exp(-2.0 * log_scale))
        moved -= own.shape[1] * (log_scale - node.log_scale)
        joint = density.log_densities(points) + moved
        joint += _log_prior(log_scale, self.prior_scale)
        named = density.named(points)
        named["scale"] = scale
        # With covariates the scale is that of the residuals.
        scaled = named.pop("residual", named["utility"])
        named["standard_utility"] = scaled / scale[:, None]
        # Of utilities in units of the scale, which are the coordinates of the model.
        lp = joint + own.shape[1] * log_scale
        return Pool(points, named, lp, joint - log_density)


def _nodes(
    model: PreferenceModel,
    arrays: Any,
    max_iterations: int,
    grid: Float[np.ndarray, " node"],
) -> list[_Node]:
    """Find the distribution given each scale, from the mode given the one before."""
    nodes: list[_Node] = []
    start: np.ndarray | None = None
    for log_scale in grid.tolist():
        density = model.at_scale(arrays, exp(log_scale))
        assert density is not None
        distribution = density.laplace(max_iterations, start)
        volume = np.sum(np.log(np.diagonal(distribution.factor)))
        evidence = (
            distribution.log_density
            + 0.5 * len(distribution.mode) * log(2.0 * pi)
            - volume
        )
        nodes.append(_Node(log_scale, density, distribution, float(evidence)))
        start = np.asarray(distribution.mode)
    return nodes


def _heights(nodes: list[_Node], prior_scale: float) -> Float[np.ndarray, " node"]:
    """Return the log marginal posterior density of the log scales."""
    grid = np.array([node.log_scale for node in nodes])
    evidence = np.array([node.log_evidence for node in nodes])
    return evidence + _log_prior(grid, prior_scale)


def _log_prior(
    log_scale: Float[np.ndarray, " draw"], prior_scale: float
) -> Float[np.ndarray, " draw"]:
    """Return the log density of the logarithm of a half-normal scale."""
    squares = 0.5 * np.square(np.exp(log_scale) / prior_scale)
    return log_scale - squares + 0.5 * log(2.0 / pi) - log(prior_scale)
