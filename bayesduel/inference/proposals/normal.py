"""Proposals around one point: normal, with heavier tails, along rays from a mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from bayesduel.inference.normal_distribution import (
    drawn_points,
    log_heavy_density,
    log_normal_density,
)
from bayesduel.inference.proposals.pools import Pool, Weighed
from bayesduel.inference.proposals.radial import falls_along_rays, radial_points
from bayesduel.inference.resampling import (
    BLOCKS,
    HOPELESS,
    HOPELESS_K,
    LEAST_BLOCK,
    effective_number,
)
from bayesduel.models.base import Density
from bayesduel.models.closed_forms.newton import LaplaceState


def log_mixture_density(
    distribution: LaplaceState, points: Float[np.ndarray, "draw D"]
) -> Float[np.ndarray, " draw"]:
    """Return the normal log density, a quarter of it with heavy tails."""
    share = 1.0 / BLOCKS
    return np.logaddexp(
        np.log1p(-share) + log_normal_density(distribution, points),
        np.log(share) + log_heavy_density(distribution, points),
    )


@dataclass(frozen=True)
class NormalProposer:
    """Proposes points from a normal distribution, and others that reach further.

    Attributes
    ----------
    target : Density
        The posterior.
    distribution : LaplaceState
        The normal distribution, as NumPy arrays.
    at_mode : bool
        Whether its mean is the mode of the posterior: rays begin there.
    """

    target: Density
    distribution: LaplaceState
    at_mode: bool

    def plain(self, rng: np.random.Generator, number: int) -> Pool:
        """Draw from the normal distribution."""
        pool = self._block(rng, number)
        density = log_normal_density(self.distribution, pool.points)
        return pool._replace(log_weight=pool.lp - density)

    def better(self, rng: np.random.Generator, plain: Weighed) -> Iterator[Weighed]:
        """Add heavy tails; draw along rays where the posterior falls along them."""
        number = len(plain.weights)
        # Where next to none of the proposals matters, more are made for nothing.
        if effective_number(plain.weights) > HOPELESS * number:
            yield Weighed.of(self._completed(rng, plain.pool), "normal", self.mixed)
        if self.at_mode and self.rays_suit(rng):
            yield Weighed.of(self.radial(rng, number), "radial", self.radial)

    def mixed(self, rng: np.random.Generator, number: int) -> Pool:
        """Return blocks of so many, the last of them with heavy tails."""
        return self._completed(rng, self._block(rng, number))

    def _completed(self, rng: np.random.Generator, first: Pool) -> Pool:
        """Return the same, after a first block."""
        number = len(first.lp)
        more = [self._block(rng, number) for _ in range(BLOCKS - 2)]
        heavy = self._block(rng, number, heavy=True)
        pool = Pool.joined([first, *more, heavy])
        density = log_mixture_density(self.distribution, pool.points)
        return pool._replace(log_weight=pool.lp - density)

    def _block(
        self, rng: np.random.Generator, number: int, *, heavy: bool = False
    ) -> Pool:
        points = drawn_points(rng, self.distribution, number, heavy=heavy)
        named, lp = self.target.named(points), self.target.log_densities(points)
        return Pool(points, named, lp, np.zeros(number))

    def radial(self, rng: np.random.Generator, number: int) -> Pool:
        """Return as many blocks of points along rays from the mode.

        Some weigh little, so that few draws need as many proposals as more would.
        """
        return self._along_rays(rng, BLOCKS * max(number, 4 * LEAST_BLOCK))

    def _along_rays(self, rng: np.random.Generator, number: int) -> Pool:
        points, log_weight = radial_points(rng, self.target, self.distribution, number)
        named, lp = self.target.named(points), self.target.log_densities(points)
        return Pool(points, named, lp, log_weight)

    def rays_suit(self, rng: np.random.Generator) -> bool:
        """Whether a few points along rays do not speak against many of them."""
        few = Weighed.of(self._along_rays(rng, LEAST_BLOCK))
        there = few.pool.points[np.isfinite(few.pool.log_weight)]
        return few.pareto_k <= HOPELESS_K and falls_along_rays(
            self.target, self.distribution, there
        )
