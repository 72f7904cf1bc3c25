"""Proposals near a posterior, and what each of them weighs.

A proposer draws from the distribution that was fitted to a posterior, and from others
that reach further: a mixture with heavier tails, and points along rays from the mode.
The weight of a proposal is the posterior density over that of its distribution.

**Rays.** Let U be minus the log posterior and m its minimum. A standard normal z points
into the direction u = L^-T z / |z|, and is moved to the distance r at which the
posterior has fallen as far as the normal distribution would have,

    U(m + r u) - U(m) = |z|^2 / 2.

Where a utility is held back by the prior alone, the posterior is far wider on one side
of the mode than on the other, and no distribution that is symmetric around the mode
reaches it; these points do. In the coordinates in which the fitted distribution is
standard normal, their density is N(z) (|z| / r)^(D - 1) d|z|/dr, and that of the
posterior is proportional to N(z), so that a point weighs (r / |z|)^(D - 1) / (d|z|/dr).

**A learned scale.** The joint density of a scale and of utilities in its units is
highest where there is much room for it, which says nothing of where the scale is. So
for each of many scales s the normal distribution of the utilities given s is found, and
with it the probability of the votes given s (Tierney and Kadane 1986). That times the
prior, on a grid of log s, is the marginal posterior of the scale. Proposals take a
scale from it and utilities from the distribution that belongs to the scale. Their
weights are exact, whatever the distributions are.

References
----------
L. Tierney and J. B. Kadane, "Accurate approximations for posterior moments and marginal
densities", JASA 81 (1986).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, lgamma, log, pi
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Shaped

from bayesduel.models.array_modules import Values, namespace, scipy_module
from bayesduel.models.fit.resampling import (
    BLOCKS,
    HOPELESS,
    HOPELESS_K,
    LEAST_BLOCK,
    effective_number,
    smoothed_weights,
    systematic,
)
from bayesduel.models.newton import LaplaceState, Status

if TYPE_CHECKING:
    from bayesduel.models.base import PreferenceModel
    from bayesduel.models.closed_forms import ClosedDensity

_FREEDOM = 5.0  # Degrees of freedom of Student's distribution.
# Most steps of a search along a ray, and multiples of |z| at which it is given up.
_MOST_STEPS, _FARTHEST = 100, 2.0**60
# Share of |z| up to which it meets the fall; Newton's last step makes that 1e-10.
_CLOSE = 1e-5
_STEP = 1e-4  # Relative distance of the points that give the derivative along a ray.
_BLOCK = 2**21  # Coordinates of the points whose rays are searched at once.
# Shares of the way to a point at which the posterior must have fallen further.
_LOOKED_AT = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# Where log s is looked for, seen from the scale of its prior: beyond is 1e-5 of it.
_LOWEST, _HIGHEST = -12.0, 1.7
_DEEP = 10.0  # Log densities below the highest one by more than this are left out.
# Scales that are looked at once, those of the proposals, and looks at most.
_COARSE, _FINE, _MOST_LOOKS = 13, 96, 8
_EVERYWHERE = 0.05  # Share of the proposals that all scales of the grid get alike.


def points_of(distribution: LaplaceState, white: Values) -> Values:
    """Return mode + L^-T z for rows z; it turns standard normal points into others."""
    linalg = scipy_module(white, "linalg")
    moved = linalg.solve_triangular(distribution.factor, white.T, trans=1, lower=True)
    return distribution.mode[None, :] + moved.T


def log_normal_density(distribution: LaplaceState, points: Values) -> Values:
    """Return the normal log density at points (draw, D), (draw,)."""
    xp = namespace(points)
    scaled = (points - distribution.mode[None, :]) @ distribution.factor
    return _log_normal(distribution, xp.sum(xp.square(scaled), axis=1))


def _log_normal(distribution: LaplaceState, squares: Values) -> Values:
    # Given the squared distances from the mode, in the scale of the distribution.
    xp, size = namespace(squares), distribution.mode.shape[0]
    volume = xp.sum(xp.log(xp.diagonal(distribution.factor)))
    return volume - 0.5 * size * log(2.0 * pi) - 0.5 * squares


def _log_mixture(
    distribution: LaplaceState, log_normal: Float[np.ndarray, " draw"]
) -> Float[np.ndarray, " draw"]:
    # Log density of a mixture: a normal distribution, and with weight 1/4 a Student's t
    # of the same mean and curvature, given the logarithm of the first.
    size, share = len(distribution.mode), 1.0 / BLOCKS
    middle = _log_normal(distribution, np.float64(0.0))
    squares = 2.0 * (middle - log_normal)
    power = 0.5 * (_FREEDOM + size)
    height = lgamma(power) - lgamma(0.5 * _FREEDOM) - 0.5 * size * log(pi * _FREEDOM)
    height += middle + 0.5 * size * log(2.0 * pi)
    log_heavy = height - power * np.log1p(squares / _FREEDOM)
    return np.logaddexp(np.log1p(-share) + log_normal, np.log(share) + log_heavy)


def _drawn_points(
    rng: np.random.Generator,
    distribution: LaplaceState,
    number: int,
    *,
    heavy: bool = False,
) -> tuple[Float[np.ndarray, "draw D"], Float[np.ndarray, " draw"]]:
    # Points, and their log density in the normal distribution, from either of both.
    white = rng.standard_normal((number, len(distribution.mode)))
    if heavy:
        chi_square = rng.chisquare(_FREEDOM, number)
        white = white * np.sqrt(_FREEDOM / chi_square)[:, None]
    log_normal = _log_normal(distribution, np.sum(np.square(white), axis=1))
    return points_of(distribution, white), log_normal


def log_ray_weight(size: int, depth: Values, distance: Values, slope: Values) -> Values:
    """Return log weights of points on rays, given |z|, r and d|z|/dr, all (draw,)."""
    xp = namespace(depth)
    return (size - 1) * xp.log(distance / depth) - xp.log(slope)


def radial_points(
    rng: np.random.Generator, target: Any, distribution: LaplaceState, number: int
) -> tuple[
    Float[np.ndarray, "draw D"], Float[np.ndarray, " draw"], Float[np.ndarray, " draw"]
]:
    """Draw along rays from the mode; return points, log densities and log weights."""
    size = len(distribution.mode)
    points, lp, log_weight = np.empty((number, size)), *np.empty((2, number))
    block = max(1, _BLOCK // size)
    for start in range(0, number, block):
        part = slice(start, min(start + block, number))
        white = rng.standard_normal((part.stop - start, size))
        block_points = _points_along(target, distribution, white)
        points[part], lp[part], log_weight[part] = block_points
    return points, lp, log_weight


def _points_along(
    target: Any, distribution: LaplaceState, white: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    depth = np.linalg.norm(white, axis=1)
    rays = points_of(distribution, white / depth[:, None]) - distribution.mode
    top = float(distribution.log_density)

    def fallen(distance: np.ndarray, which: np.ndarray) -> np.ndarray:
        # How far the normal distribution would have to be left for such a fall.
        along = rays if len(which) == len(rays) else rays[which]
        heights = target.log_densities(distribution.mode + distance[:, None] * along)
        fall = np.where(np.isnan(heights), np.inf, top - heights)
        return np.sqrt(2.0 * np.maximum(fall, 0.0))

    distance, met = _crossings(fallen, depth)
    log_weight = np.full(len(depth), -np.inf)
    which = np.flatnonzero(met)
    middle, width = distance[which], _STEP * distance[which]
    above, below = (fallen(middle + way * width, which) for way in (1.0, -1.0))
    with np.errstate(all="ignore"):  # Where the fall is infinite beside the point.
        slope = (above - below) / (2.0 * width)
        # A step of Newton's method, for which everything is at hand.
        moved = middle - (0.5 * (above + below) - depth[which]) / slope
        near = np.abs(moved - middle) <= 2.0 * width
        middle = np.where(near, moved, middle)
        weight = log_ray_weight(len(distribution.mode), depth[which], middle, slope)
        usable = np.isfinite(slope) & (slope > 0)
    distance[which] = middle
    log_weight[which] = np.where(usable, weight, -np.inf)
    lp = top - 0.5 * np.square(depth)
    return distribution.mode + distance[:, None] * rays, lp, log_weight


def _crossings(
    fallen: Callable[[np.ndarray, np.ndarray], np.ndarray], depth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    # Where an increasing function of a distance is about ``depth``, for many at once,
    # and where that is met. For a normal posterior the function is the distance, so the
    # first guess is ``depth`` and the second one in proportion; then the method of
    # Illinois, after doubling where no end is known.
    low, below = np.zeros_like(depth), -depth
    high, above = np.full_like(depth, np.inf), np.full_like(depth, np.inf)
    distance, side = depth.copy(), np.zeros_like(depth)
    going = np.arange(len(depth))
    for step in range(_MOST_STEPS):
        value = fallen(distance[going], going) - depth[going]
        under = value < 0
        # The end that stays for a second time counts half, so that it moves next.
        above[going] *= np.where(under & (side[going] < 0), 0.5, 1.0)
        below[going] *= np.where(~under & (side[going] > 0), 0.5, 1.0)
        side[going] = np.where(under, -1.0, 1.0)
        short, far = going[under], going[~under]
        low[short], below[short] = distance[short], value[under]
        high[far], above[far] = distance[far], value[~under]
        close = np.abs(value) <= _CLOSE * depth[going]
        lost = distance[going] >= _FARTHEST * depth[going]
        going = going[~(close | lost)]
        if not len(going):
            break
        start, end = low[going], high[going]
        with np.errstate(all="ignore"):  # Where no end is known, or it is infinite.
            near = depth[going] / (depth[going] + below[going])
            growth = near if step == 0 else 2.0
            share = -below[going] / (above[going] - below[going])
            share = np.where(np.isfinite(above[going]), share, 0.5)
            inside = start + (end - start) * np.clip(share, 0.0, 1.0)
        beyond = start * np.clip(growth, 1.0, 2.0)
        distance[going] = np.where(np.isfinite(end), inside, beyond)
    return distance, np.isfinite(high) | (np.abs(below) <= _CLOSE * depth)


def _number_on_rays(number: int) -> int:
    # Some weigh little, so that few draws need as many proposals as more would.
    return BLOCKS * max(number, 4 * LEAST_BLOCK)


def _rays_suit(
    few: Pool,
    target: Any,
    distribution: LaplaceState,
    points: np.ndarray,
    lp: np.ndarray,
) -> bool:
    # Whether the weights of a few points on rays do not speak against many of them, and
    # the posterior only falls on the way to points, of log density lp, and beyond them.
    # So it does where it is log-concave. Otherwise a ray may meet a height several
    # times, and the weights would know of one place only.
    if few.smoothed[1] > HOPELESS_K:
        return False
    mode, top = np.asarray(distribution.mode), float(distribution.log_density)
    ways, known = points - mode, {0.0: np.full(len(points), top), 1.0: lp}
    heights = [
        target.log_densities(mode + share * ways) if share not in known
        else known[share]
        for share in _LOOKED_AT
    ]  # fmt: skip
    with np.errstate(invalid="ignore"):  # Where minus infinity is reached twice.
        rises: np.ndarray = np.diff(np.stack(heights), axis=0)
    return not np.any(rises > 1e-9 * (1.0 + abs(top)))


@dataclass(frozen=True)
class Pool:
    """Proposals, and what each weighs."""

    points: Float[np.ndarray, "draw D"]
    lp: Float[np.ndarray, " draw"]
    # Log posterior minus log density of the distribution that they come from.
    log_weight: Float[np.ndarray, " draw"]
    # Returns the named quantities of points.
    naming: Callable[[np.ndarray], dict[str, np.ndarray]]
    kind: str = "normal"
    # Makes more of them, if they are good.
    propose: Callable[[np.random.Generator, int], Pool] | None = None

    @cached_property
    def smoothed(self) -> tuple[Float[np.ndarray, " draw"], float]:
        """The weights, smoothed, which add up to 1, and their Pareto k."""
        return smoothed_weights(self.log_weight)

    @cached_property
    def named(self) -> dict[str, Shaped[np.ndarray, "draw ..."]]:
        """The named quantities of all proposals."""
        return self.naming(self.points)

    def chosen(
        self, index: Int[np.ndarray, " chosen"]
    ) -> dict[str, Shaped[np.ndarray, "chosen ..."]]:
        """Return the named quantities of some proposals."""
        return {name: values[index] for name, values in self.named.items()}


@dataclass(frozen=True)
class NormalProposer:
    """Proposes points around one point."""

    target: Any
    distribution: LaplaceState
    at_mode: bool

    def plain(self, rng: np.random.Generator, number: int) -> Pool:
        """Draw from the normal distribution."""
        points, log_normal = _drawn_points(rng, self.distribution, number)
        lp = self.target.log_densities(points)
        return Pool(points, lp, lp - log_normal, self.target.named)

    def better(self, rng: np.random.Generator, plain: Pool) -> Iterator[Pool]:
        """Add heavy tails; draw along rays where the posterior falls along them."""
        number = len(plain.lp)
        # Where next to none of the proposals matters, more are made for nothing.
        if effective_number(plain.smoothed[0]) > HOPELESS * number:
            yield self._mixed(rng, number, plain)
        if not self.at_mode:
            return
        few = self._along_rays(rng, number, LEAST_BLOCK)
        there = np.isfinite(few.log_weight)
        near = few.points[there], few.lp[there]
        if _rays_suit(few, self.target, self.distribution, *near):
            yield self._along_rays(rng, number)

    def _mixed(
        self, rng: np.random.Generator, number: int, first: Pool | None = None
    ) -> Pool:
        # Blocks of so many, the last of them with heavy tails.
        first = first or self.plain(rng, number)
        blocks = [(first.points, first.lp - first.log_weight)]
        for heavy in (False,) * (BLOCKS - 2) + (True,):
            blocks.append(_drawn_points(rng, self.distribution, number, heavy=heavy))
        points, log_normal = map(np.concatenate, zip(*blocks, strict=True))
        more = self.target.log_densities(points[number:])
        lp = np.concatenate([first.lp, more])
        log_weight = lp - _log_mixture(self.distribution, log_normal)
        return Pool(points, lp, log_weight, self.target.named, propose=self._mixed)

    def _along_rays(
        self, rng: np.random.Generator, number: int, proposals: int | None = None
    ) -> Pool:
        proposals = proposals or _number_on_rays(number)
        drawn = radial_points(rng, self.target, self.distribution, proposals)
        return Pool(*drawn, self.target.named, "radial", self._along_rays)


class _Node(NamedTuple):
    """A scale, and the normal distribution of the utilities given it."""

    log_scale: float
    density: ClosedDensity
    distribution: LaplaceState
    log_evidence: float  # Log probability of the votes, by Laplace's method.


@dataclass(frozen=True)
class ScaleProposer:
    """Proposes scales of a grid, moved within its steps, and utilities given them."""

    nodes: list[_Node]
    # Marginal posterior probabilities of the scales.
    probabilities: Float[np.ndarray, " node"]
    step: float  # Step of the grid of log scales.
    prior_scale: float

    @classmethod
    def of(
        cls, model: PreferenceModel, arrays: Any, max_iterations: int
    ) -> ScaleProposer | None:
        """Find the distributions; None without a learned scale or a closed form."""
        if model.at_scale(arrays, 1.0) is None:
            return None
        prior_scale = float(model.prior_scale)  # pyright: ignore

        def look(grid: np.ndarray) -> tuple[list[_Node], np.ndarray]:
            # Log marginal posterior densities, too.
            nodes = _nodes(model, arrays, max_iterations, grid)
            evidence = np.array([node.log_evidence for node in nodes])
            return nodes, evidence + _log_prior(grid, prior_scale)

        low, high = log(prior_scale) + _LOWEST, log(prior_scale) + _HIGHEST
        for _ in range(_MOST_LOOKS):
            grid = np.linspace(low, high, _COARSE)
            _, heights = look(grid)
            near = np.flatnonzero(heights > heights.max() - _DEEP)
            low, high = grid[max(near[0] - 1, 0)], grid[min(near[-1] + 1, _COARSE - 1)]
            if 2 * len(near) >= _COARSE:
                break
        grid = np.linspace(low, high, _FINE)
        nodes, heights = look(grid)
        shares = np.exp(heights - heights.max())
        return cls(nodes, shares / shares.sum(), float(grid[1] - grid[0]), prior_scale)

    @property
    def status(self) -> Status:
        """How the searches for the modes ended: as the worst of those that matter."""
        matter = np.flatnonzero(self.probabilities > 1e-3 * self.probabilities.max())
        return Status(max(int(self.nodes[node].distribution.status) for node in matter))

    def plain(self, rng: np.random.Generator, number: int) -> Pool:
        """Draw from the mixture of the normal distributions, in random order."""

        def draw(node: _Node, count: int) -> tuple[np.ndarray, np.ndarray]:
            return _drawn_points(rng, node.distribution, count)

        pool, order = self._pool(rng, number, draw, 0.0), rng.permutation(number)
        logs, named = (pool.lp[order], pool.log_weight[order]), pool.chosen(order)
        return Pool(pool.points[order], *logs, lambda _: named)

    def better(self, rng: np.random.Generator, plain: Pool) -> Iterator[Pool]:
        """Add heavy tails; draw along rays from the mode given each scale."""
        number = len(plain.lp)
        yield self._mixed(rng, number)
        few = self._along_rays(rng, number, LEAST_BLOCK)
        top = self.nodes[int(np.argmax(self.probabilities))]
        target, distribution = top.density, top.distribution
        *near, weight = radial_points(rng, target, distribution, LEAST_BLOCK // 4)
        there = np.isfinite(weight)
        if _rays_suit(few, target, distribution, *(values[there] for values in near)):
            yield self._along_rays(rng, number)

    def _mixed(self, rng: np.random.Generator, number: int) -> Pool:
        # Blocks of so many, about a quarter of them with heavy tails.
        def draw(node: _Node, count: int) -> tuple[np.ndarray, np.ndarray]:
            heavy = rng.binomial(count, 1.0 / BLOCKS)
            blocks = [
                _drawn_points(rng, node.distribution, count - heavy),
                _drawn_points(rng, node.distribution, heavy, heavy=True),
            ]
            points, log_normal = map(np.concatenate, zip(*blocks, strict=True))
            return points, _log_mixture(node.distribution, log_normal)

        return replace(self._pool(rng, BLOCKS * number, draw), propose=self._mixed)

    def _along_rays(
        self, rng: np.random.Generator, number: int, proposals: int | None = None
    ) -> Pool:
        def draw(node: _Node, count: int) -> tuple[np.ndarray, np.ndarray]:
            of_node = node.density, node.distribution
            points, lp, weight = radial_points(rng, *of_node, count)
            return points, lp - node.log_evidence - weight

        pool = self._pool(rng, proposals or _number_on_rays(number), draw)
        return replace(pool, kind="radial", propose=self._along_rays)

    def _pool(
        self,
        rng: np.random.Generator,
        number: int,
        draw: Callable[[_Node, int], tuple[np.ndarray, np.ndarray]],
        everywhere: float = _EVERYWHERE,
    ) -> Pool:
        # Points of each node, given its log density of them, each with a scale of its
        # own close to the node's.
        shares = (1.0 - everywhere) * self.probabilities + everywhere / len(self.nodes)
        chosen = systematic(rng, shares, number)
        counts = np.bincount(chosen, minlength=len(self.nodes))
        blocks = []
        for index in np.flatnonzero(counts):
            node, count = self.nodes[index], int(counts[index])
            points, log_density = draw(node, count)
            log_scale = node.log_scale + self.step * (rng.random(count) - 0.5)
            density, scale = node.density, np.exp(log_scale)
            free = points[:, density.coordinates.extras :]
            squares = 0.5 * np.sum(np.square(free), axis=1)
            moved = squares * (exp(-2.0 * node.log_scale) - np.exp(-2.0 * log_scale))
            moved -= free.shape[1] * (log_scale - node.log_scale)
            joint = density.log_densities(points) + moved
            joint += _log_prior(log_scale, self.prior_scale)
            named = density.named(points)
            named["scale"] = scale
            # With covariates the scale is that of the residuals.
            scaled = named.pop("residual", named["utility"])
            named["standard_utility"] = scaled / scale[:, None]
            # Density of utilities in units of the scale, the model's coordinates.
            lp = joint + free.shape[1] * log_scale
            log_weight = joint - (log_density + log(shares[index]))
            blocks.append((points, lp, log_weight, named))
        points, lp, log_weight, names = zip(*blocks, strict=True)
        together = {
            name: np.concatenate([named[name] for named in names]) for name in names[0]
        }
        logs = np.concatenate(lp), np.concatenate(log_weight)
        return Pool(np.concatenate(points), *logs, lambda _: together)


def _nodes(
    model: PreferenceModel, arrays: Any, max_iterations: int, grid: np.ndarray
) -> list[_Node]:
    # The distribution given each scale, from the mode given the one before.
    nodes: list[_Node] = []
    start: np.ndarray | None = None
    for log_scale in grid.tolist():
        density = model.at_scale(arrays, exp(log_scale))
        assert density is not None
        distribution = density.laplace(max_iterations, start)
        start = np.asarray(distribution.mode)
        volume = np.sum(np.log(np.diagonal(distribution.factor)))
        height = distribution.log_density + 0.5 * len(start) * log(2.0 * pi)
        nodes.append(_Node(log_scale, density, distribution, float(height - volume)))
    return nodes


def _log_prior(log_scale: np.ndarray, prior_scale: float) -> np.ndarray:
    # Log density of the logarithm of a half-normal scale.
    squares = 0.5 * np.square(np.exp(log_scale) / prior_scale)
    return log_scale - squares + 0.5 * log(2.0 / pi) - log(prior_scale)
