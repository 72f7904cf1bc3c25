"""Draws from a normal law near the posterior, resampled by importance.

Random numbers are NumPy's and what is done with them is NumPy's too. A model in closed
form (:meth:`PreferenceModel.closed_form`) is fitted without importing JAX or NumPyro;
for any other one JAX computes the mode, the densities and the named quantities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from bayesduel.inference.draws import Sampled, in_chains
from bayesduel.inference.normal_law import (
    drawn_points,
    log_heavy_density,
    log_normal_density,
)
from bayesduel.inference.resampling import (
    BLOCKS,
    HOPELESS,
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
        converged=status is Status.CONVERGED,
        remarks=() if status is Status.CONVERGED else (_REMARKS[status],),
        extras={"laplace": law},
    )


class _Proposals(NamedTuple):
    """Points, the first of them from the normal law, and log densities there."""

    named: dict[str, np.ndarray]
    lp: Float[np.ndarray, " draw"]
    log_normal: Float[np.ndarray, " draw"]
    log_heavy: Float[np.ndarray, " draw"]

    @classmethod
    def joined(cls, blocks: list[_Proposals]) -> _Proposals:
        named, *logs = zip(*blocks, strict=True)
        together = {
            name: np.concatenate([each[name] for each in named]) for name in named[0]
        }
        return cls(together, *map(np.concatenate, logs))

    def log_weight(self) -> Float[np.ndarray, " draw"]:
        """Log posterior minus log density of the mixture that all come from."""
        share = 1.0 / BLOCKS
        mixture = np.logaddexp(
            np.log1p(-share) + self.log_normal, np.log(share) + self.log_heavy
        )
        return self.lp - mixture

    def kept(self, index: np.ndarray) -> dict[str, np.ndarray]:
        return {name: values[index] for name, values in self.named.items()}


@dataclass(frozen=True)
class _Proposer:
    """Proposes points from a normal law, and some from one with heavier tails."""

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

    def pool(self, rng: np.random.Generator, first: _Proposals) -> _Proposals:
        """Add blocks as large as the first one, the last of them with heavy tails."""
        number = len(first.lp)
        more = [self.block(rng, number) for _ in range(BLOCKS - 2)]
        heavy = self.block(rng, number, heavy=True)
        return _Proposals.joined([first, *more, heavy])

    def resampled(self, rng_key: RunKey | int, number: int) -> dict[str, np.ndarray]:
        rng = generator_of(rng_key)
        found = self.pool(rng, self.block(rng, max(number, LEAST_BLOCK)))
        weights, _ = smoothed_weights(found.log_weight())
        return found.kept(systematic(rng, weights, number))

    def plain(self, rng_key: RunKey | int, number: int) -> dict[str, np.ndarray]:
        return self.block(generator_of(rng_key), number).named


def from_approximation(
    target: Density,
    rng: np.random.Generator,
    size: tuple[int, int],
    law: LaplaceState,
    *,
    resample: bool,
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
    """
    proposer = _Proposer(target, law)
    chains, number = size[0], size[0] * size[1]
    first = proposer.block(rng, max(number, LEAST_BLOCK) if resample else number)
    log_weight = first.lp - first.log_normal
    found, (weights, k) = first, smoothed_weights(log_weight)
    resampled = False
    # Where next to none of the proposals matters, more of them are made for nothing.
    if resample and effective_number(weights) > HOPELESS * len(weights):
        pool = proposer.pool(rng, first)
        mended, mended_k = smoothed_weights(pool.log_weight())
        resampled = can_trust(mended_k, len(mended), len(mended) * np.max(mended))
        if resampled:
            found, weights, k = pool, mended, mended_k
    index = np.arange(number)
    if resampled:
        index = systematic(rng, weights, number)
    share = 1.0 - resampled / BLOCKS
    shift, shifted, spread = largest_shift(found.named, weights, share)
    correction = Correction(
        resampled=resampled,
        pareto_k=k,
        num_proposals=len(weights),
        effective_proposals=effective_number(weights),
        largest_weight=float(len(weights) * np.max(weights)),
        num_different=len(np.unique(index)),
        shift=shift,
        shifted=shifted,
        spread=spread,
    )
    stats = {"lp": found.lp[index]}
    if not resampled:
        stats["log_weight"] = log_weight[index]
    return Sampled(
        draws=in_chains(found.kept(index), chains),
        sample_stats=in_chains(stats, chains),
        fresh=proposer.resampled if resampled else proposer.plain,
        extras={**extras, "correction": correction},
        **rest,
    )
