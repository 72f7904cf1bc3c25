"""Draws from a normal distribution near the posterior, resampled by importance.

Random numbers are NumPy's and what is done with them is NumPy's too. A model in closed
form (:meth:`PreferenceModel.closed_form`) is fitted without importing JAX or NumPyro;
for any other one JAX computes the mode, the densities and the named quantities.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.inference.draws import Sampled, in_chains
from bayesduel.inference.proposals.learned_scale import ScaleProposer
from bayesduel.inference.proposals.normal import NormalProposer
from bayesduel.inference.proposals.pools import Proposer, Weighed, draw_again
from bayesduel.inference.resampling import (
    FINITE_VARIANCE_K,
    LEAST_BLOCK,
    Correction,
    effective_number,
    largest_shift,
    systematic,
)
from bayesduel.inference.seeds import generator_of
from bayesduel.models.base import Density, PreferenceModel
from bayesduel.models.closed_forms.newton import Status

if TYPE_CHECKING:
    from bayesduel.types import RunKey


_LEAST_WEIGHED = 25
"""Draws whose weights say how far the normal distribution is off."""

_REMARKS = {
    Status.NOT_CONVERGED: "Newton's method ended before it reached the mode;"
    " raise max_iterations, or use method='nuts' (--method nuts)",
    Status.NOT_CONCAVE: "the posterior is not concave where Newton's method ended, so"
    " no normal distribution fits there; use method='nuts' (--method nuts)",
    Status.NOT_FINITE: "the log density is not finite; look at the prior scales"
    " (--prior-scale)",
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
    """Draw from the normal distribution around the mode; resample by importance.

    Where a scale is learned, from those of the utilities given many scales.
    """
    rng, size = generator_of(rng_key), (chains, draws)
    by_scale = ScaleProposer.of(model, arrays, max_iterations)
    if by_scale is not None:
        proposer, status = by_scale, by_scale.status
        extras: dict[str, Any] = {"num_unknown": by_scale.num_unknown}
    else:
        target = density_of(model, arrays)
        distribution = target.laplace(max_iterations)
        status = Status(int(distribution.status))
        extras = {"laplace": distribution, "num_unknown": len(distribution.mode)}
        at_mode = status is Status.CONVERGED
        proposer = NormalProposer(target, distribution, at_mode=at_mode)
    converged = status is Status.CONVERGED
    return from_approximation(
        proposer,
        rng,
        size,
        resample=resample,
        converged=converged,
        remarks=() if converged else (_REMARKS[status],),
        extras=extras,
    )


def from_approximation(
    proposer: Proposer,
    rng: np.random.Generator,
    size: tuple[int, int],
    *,
    resample: bool,
    remarks: tuple[str, ...] = (),
    extras: dict[str, Any],
    **rest: Any,
) -> Sampled:
    """Draw from a fitted distribution; resample where the weights can be trusted.

    Parameters
    ----------
    proposer : Proposer
        The distribution, and others that reach further.
    rng : numpy.random.Generator
        Used up.
    size : (int, int)
        Chains, and draws of each.
    resample : bool
        Otherwise, and where Pareto k is above its bound, the draws are those of the
        fitted distribution itself, and ``log_weight`` among the ``sample_stats`` weighs
        them.
    remarks : tuple of str
        What is known already; a doubt about the draws is added.
    """
    chains, number = size[0], size[0] * size[1]
    # With fewer than 25 weights nothing is known of their tail.
    many = max(number, LEAST_BLOCK if resample else _LEAST_WEIGHED)
    plain = Weighed.of(proposer.plain(rng, many))
    better = proposer.better(rng, plain) if resample else ()
    found = _first_good(better) or plain
    pool, weights, k, kind, propose = found
    index = np.arange(number)
    if propose is not None:
        index = systematic(rng, weights, number)
    shift, shifted, spread = largest_shift(plain.pool.named, pool.named, weights)
    correction = Correction(
        wanted=resample,
        resampled=propose is not None,
        proposals=kind,
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
        fresh=partial(draw_again, propose) if propose else partial(_plain, proposer),
        remarks=(*remarks, *(f"{each}; {correction.remedy}" for each in doubts)),
        extras={**extras, "correction": correction},
        **rest,
    )


def _first_good(pools: Iterable[Weighed]) -> Weighed | None:
    """Return the first pool whose weights have a variance, else the best good one.

    Above k = 1/2 their variance is infinite, and the error of a mean several times what
    their effective number says, though it vanishes as the pool grows.
    """
    good: list[Weighed] = []
    for pool in pools:
        if pool.is_good:
            good.append(pool)
            if pool.pareto_k <= FINITE_VARIANCE_K:
                break
    return min(good, key=lambda pool: pool.pareto_k, default=None)


def _plain(
    proposer: Proposer, rng_key: RunKey | int, number: int
) -> dict[str, np.ndarray]:
    return proposer.plain(generator_of(rng_key), number).named
