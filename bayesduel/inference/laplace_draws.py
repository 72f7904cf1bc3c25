"""Draws from a normal law near the posterior, resampled by importance.

Random numbers are NumPy's and what is done with them is NumPy's too. A model in closed
form (:meth:`PreferenceModel.closed_form`) is fitted without importing JAX or NumPyro;
for any other one JAX computes the mode, the densities and the named quantities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from bayesduel.inference.draws import Sampled, in_chains
from bayesduel.inference.normal_law import (
    drawn_points,
    log_heavy_density,
    log_normal_density,
)
from bayesduel.inference.radial import radial_points
from bayesduel.inference.resampling import (
    BLOCKS,
    HOPELESS,
    HOPELESS_K,
    LEAST_BLOCK,
    Correction,
    can_trust,
    effective_number,
    largest_shift,
    smoothed_weights,
    systematic,
)
from bayesduel.inference.seeds import generator_of
from bayesduel.models.base import Density, PreferenceModel
from bayesduel.models.newton import LaplaceState, Status

if TYPE_CHECKING:
    from bayesduel.types import RunKey

    Propose = Callable[[np.random.Generator, int], "_Pool"]
    """Makes blocks of so many proposals."""


_REMARKS = {
    Status.NOT_CONVERGED: "Newton's method ran out of steps before it reached the mode;"
    " raise max_iterations, or use method='nuts'",
    Status.NOT_CONCAVE: "the posterior is not concave where Newton's method ended, so"
    " no normal law fits there; use method='nuts'",
    Status.NOT_FINITE: "the log density is not finite; look at the prior scales",
}


def density_of(model: PreferenceModel, arrays: Any) -> Density:
    """Return the log joint density: in closed form, or by NumPyro and JAX."""
    closed = model.closed_form(arrays)
    if closed is not None:
        return closed
    from bayesduel.inference.numpyro_models import NumPyroDensity

    return NumPyroDensity(model, arrays)


def sample_laplace(
    model: PreferenceModel,
    arrays: Any,
    rng_key: RunKey | int,
    chains: int,
    draws: int,
    *,
    max_iterations: int = 100,
    resample: bool = True,
) -> Sampled:
    """Draw from the normal law around the mode; resample by importance."""
    target = density_of(model, arrays)
    law = target.laplace(max_iterations)
    status = Status(int(law.status))
    return from_approximation(
        target,
        generator_of(rng_key),
        (chains, draws),
        law,
        resample=resample,
        at_mode=status is Status.CONVERGED,
        converged=status is Status.CONVERGED,
        remarks=() if status is Status.CONVERGED else (_REMARKS[status],),
        extras={"laplace": law},
    )


class _Pool(NamedTuple):
    """Proposals, and what each weighs."""

    named: dict[str, np.ndarray]
    lp: Float[np.ndarray, " draw"]
    log_weight: Float[np.ndarray, " draw"]
    """Log posterior minus log density of the law that they come from."""

    def kept(self, index: np.ndarray) -> dict[str, np.ndarray]:
        return {name: values[index] for name, values in self.named.items()}


class _Proposals(NamedTuple):
    """Points, the first of them from the normal law, and log densities there."""

    named: dict[str, np.ndarray]
    lp: Float[np.ndarray, " draw"]
    log_normal: Float[np.ndarray, " draw"]
    log_heavy: Float[np.ndarray, " draw"]

    @classmethod
    def joined(cls, blocks: list[_Proposals]) -> _Pool:
        named, *logs = zip(*blocks, strict=True)
        together = {
            name: np.concatenate([each[name] for each in named]) for name in named[0]
        }
        lp, log_normal, log_heavy = map(np.concatenate, logs)
        share = 1.0 / BLOCKS
        mixture = np.logaddexp(np.log1p(-share) + log_normal, np.log(share) + log_heavy)
        return _Pool(together, lp, lp - mixture)


@dataclass(frozen=True)
class _Proposer:
    """Proposes points from a normal law, and others that reach further."""

    target: Density
    law: LaplaceState

    def block(
        self, rng: np.random.Generator, number: int, *, heavy: bool = False
    ) -> _Proposals:
        points = drawn_points(rng, self.law, number, heavy=heavy)
        return _Proposals(
            self.target.named(points),
            self.target.log_densities(points),
            log_normal_density(self.law, points),
            log_heavy_density(self.law, points),
        )

    def mixed(self, rng: np.random.Generator, number: int) -> _Pool:
        """Return blocks of so many, the last of them with heavy tails."""
        return self.completed(rng, self.block(rng, number))

    def completed(self, rng: np.random.Generator, first: _Proposals) -> _Pool:
        """Return the same, after a first block."""
        number = len(first.lp)
        more = [self.block(rng, number) for _ in range(BLOCKS - 2)]
        heavy = self.block(rng, number, heavy=True)
        return _Proposals.joined([first, *more, heavy])

    def radial(self, rng: np.random.Generator, number: int) -> _Pool:
        """Return as many blocks of points along rays from the mode.

        Some weigh little, so that few draws need as many proposals as more would.
        """
        return self._along_rays(rng, BLOCKS * max(number, 4 * LEAST_BLOCK))

    def _along_rays(self, rng: np.random.Generator, number: int) -> _Pool:
        points, log_weight = radial_points(rng, self.target, self.law, number)
        named, lp = self.target.named(points), self.target.log_densities(points)
        return _Pool(named, lp, log_weight)

    def rays_suit(self, rng: np.random.Generator) -> bool:
        """Whether a few points along rays do not speak against many of them."""
        few = _Weighed.of(self._along_rays(rng, LEAST_BLOCK))
        return few.pareto_k <= HOPELESS_K

    def resampled(
        self, propose: Propose, rng_key: RunKey | int, number: int
    ) -> dict[str, np.ndarray]:
        rng = generator_of(rng_key)
        found = propose(rng, max(number, LEAST_BLOCK))
        weights, _ = smoothed_weights(found.log_weight)
        return found.kept(systematic(rng, weights, number))

    def plain(self, rng_key: RunKey | int, number: int) -> dict[str, np.ndarray]:
        return self.block(generator_of(rng_key), number).named


class _Weighed(NamedTuple):
    """Proposals with their weights, and what makes more of them if they are good."""

    pool: _Pool
    weights: Float[np.ndarray, " draw"]
    pareto_k: float
    propose: Propose | None

    @classmethod
    def of(cls, pool: _Pool, propose: Propose | None = None) -> _Weighed:
        return cls(pool, *smoothed_weights(pool.log_weight), propose)

    @property
    def is_good(self) -> bool:
        largest = len(self.weights) * np.max(self.weights)
        return can_trust(self.pareto_k, len(self.weights), largest)


def from_approximation(
    target: Density,
    rng: np.random.Generator,
    size: tuple[int, int],
    law: LaplaceState,
    *,
    resample: bool,
    at_mode: bool = False,
    remarks: tuple[str, ...] = (),
    extras: dict[str, Any],
    **rest: Any,
) -> Sampled:
    """Draw from a normal law; resample by importance where weights can be trusted.

    Parameters
    ----------
    target : Density
        The posterior that the law stands for.
    rng : numpy.random.Generator
        Used up.
    size : (int, int)
        Chains, and draws of each.
    law : LaplaceState
        Its mean and curvature, as NumPy arrays.
    resample : bool
        Otherwise, and where Pareto k is above its bound, the draws are those of the
        normal law itself, and ``log_weight`` among the ``sample_stats`` weighs them.
    at_mode : bool
        Whether the mean of the law is the mode of the posterior: then proposals along
        rays are made where normal ones do not do.
    remarks : tuple of str
        What is known already; a doubt about the draws is added.
    """
    proposer = _Proposer(target, law)
    chains, number = size[0], size[0] * size[1]
    first = proposer.block(rng, max(number, LEAST_BLOCK) if resample else number)
    found = _Weighed.of(_Pool(first.named, first.lp, first.lp - first.log_normal))
    # Where next to none of the proposals matters, more of them are made for nothing.
    if resample and effective_number(found.weights) > HOPELESS * len(first.lp):
        mixed = _Weighed.of(proposer.completed(rng, first), proposer.mixed)
        found = mixed if mixed.is_good else found
    if resample and at_mode and found.propose is None and proposer.rays_suit(rng):
        radial = _Weighed.of(proposer.radial(rng, len(first.lp)), proposer.radial)
        found = radial if radial.is_good else found
    pool, weights, k, propose = found
    index = np.arange(number)
    if propose is not None:
        index = systematic(rng, weights, number)
    shift, shifted, spread = largest_shift(first.named, pool.named, weights)
    correction = Correction(
        wanted=resample,
        resampled=propose is not None,
        proposals="radial" if propose == proposer.radial else "normal",
        pareto_k=k,
        num_proposals=len(weights),
        effective_proposals=effective_number(weights),
        largest_weight=float(len(weights) * np.max(weights)),
        num_different=len(np.unique(index)),
        shift=shift,
        shifted=shifted,
        spread=spread,
    )
    stats, doubts = {"lp": pool.lp[index]}, correction.doubts
    if propose is None:
        stats["log_weight"] = pool.log_weight[index]
    return Sampled(
        draws=in_chains(pool.kept(index), chains),
        sample_stats=in_chains(stats, chains),
        fresh=partial(proposer.resampled, propose) if propose else proposer.plain,
        remarks=(*remarks, *(f"{each}; use method='nuts'" for each in doubts)),
        extras={**extras, "correction": correction},
        **rest,
    )
