"""Draws from a normal distribution near the posterior, resampled by importance.

Random numbers are NumPy's and what is done with them is NumPy's too. A model in closed
form (:meth:`PreferenceModel.closed_form`) is fitted without importing JAX or NumPyro;
for any other one JAX computes the mode, the densities and the named quantities.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.base import PreferenceModel
from bayesduel.models.closed_forms import ClosedDensity
from bayesduel.models.fit.draws import Sampled, generator_of, in_chains
from bayesduel.models.fit.proposals import NormalProposer, Pool, ScaleProposer
from bayesduel.models.fit.resampling import (
    BLOCKS,
    FINITE_VARIANCE_K,
    LEAST_BLOCK,
    Correction,
    can_trust,
    effective_number,
    largest_shift,
    systematic,
)
from bayesduel.models.newton import Status

if TYPE_CHECKING:
    from bayesduel.types import RunKey

# Rows of all proposals together, from which a few of them are timed; these few.
_MANY_LOGS, _TIMED = 2**28, 100
_LEAST_WEIGHED = 25  # Draws whose weights say how far the normal distribution is off.

_REMARKS = {
    Status.NOT_CONVERGED: "Newton's method ended before it reached the mode;"
    " raise max_iterations, or use method='nuts' (--method nuts)",
    Status.NOT_CONCAVE: "the posterior is not concave where Newton's method ended, so"
    " no normal distribution fits there; use method='nuts' (--method nuts)",
    Status.NOT_FINITE: "the log density is not finite; look at the prior scales"
    " (--prior-scale)",
}


def density_of(model: PreferenceModel, arrays: Any) -> Any:
    """Return the log joint density: in closed form, or by NumPyro and JAX."""
    closed = model.closed_form(arrays)
    if closed is not None:
        return closed
    from bayesduel.models.fit.numpyro_models import NumPyroDensity

    return NumPyroDensity(model, arrays)


def expected_seconds(model: PreferenceModel, arrays: Any, num_draws: int) -> float:
    """Return about how long the weights of so many draws by laplace take."""
    density, proposals = model.closed_form(arrays), BLOCKS * max(num_draws, LEAST_BLOCK)
    known = isinstance(density, ClosedDensity)
    if not known or density.num_rows * proposals < _MANY_LOGS:
        return 0.0
    points = np.zeros((_TIMED, density.size))
    seconds = 0.0
    for _ in range(2):  # Once to compile what there is to be compiled.
        began = time.perf_counter()
        density.log_densities(points)
        seconds = time.perf_counter() - began
    return seconds / _TIMED * proposals


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
    """Draw from the normal distribution around the mode; resample by importance."""
    rng = generator_of(rng_key)
    proposer = ScaleProposer.of(model, arrays, max_iterations)
    extras: dict[str, Any]
    if proposer is not None:
        status = proposer.status
        extras = {"num_unknown": 1 + len(proposer.nodes[0].distribution.mode)}
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
        (chains, draws),
        resample=resample,
        converged=converged,
        remarks=() if converged else (_REMARKS[status],),
        extras=extras,
    )


def from_approximation(
    proposer: NormalProposer | ScaleProposer,
    rng: np.random.Generator,
    size: tuple[int, int],
    *,
    resample: bool,
    remarks: tuple[str, ...] = (),
    extras: dict[str, Any],
    **rest: Any,
) -> Sampled:
    """Draw from a fitted distribution; resample where the weights can be trusted."""
    chains, number = size[0], size[0] * size[1]
    # With fewer than 25 weights nothing is known of their tail.
    many = max(number, LEAST_BLOCK if resample else _LEAST_WEIGHED)
    plain = pool = proposer.plain(rng, many)
    good: list[Pool] = []
    for better in proposer.better(rng, plain) if resample else ():
        weights, k = better.smoothed
        if can_trust(k, len(weights), len(weights) * np.max(weights)):
            good.append(better)
            pool = min(good, key=lambda candidate: candidate.smoothed[1])
            # Above k = 1/2 the variance of the weights is infinite, and the error of a
            # mean several times what their effective number says, though it vanishes
            # as the pool grows.
            if k <= FINITE_VARIANCE_K:
                pool = better
                break
    (weights, k), propose = pool.smoothed, pool.propose
    index = np.arange(number)
    if propose is not None:
        index = systematic(rng, weights, number)
    shift, shifted, spread = largest_shift(plain.named, pool.named, weights)
    correction = Correction(
        wanted=resample,
        resampled=propose is not None,
        proposals=pool.kind,
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

    def fresh(rng_key: RunKey | int, number: int) -> dict[str, np.ndarray]:
        rng = generator_of(rng_key)
        if propose is None:
            return proposer.plain(rng, number).named
        again = propose(rng, max(number, LEAST_BLOCK))
        return again.chosen(systematic(rng, again.smoothed[0], number))

    return Sampled(
        draws=in_chains(pool.chosen(index), chains),
        sample_stats=in_chains(stats, chains),
        fresh=fresh,
        remarks=(*remarks, *(f"{doubt}; {correction.remedy}" for doubt in doubts)),
        extras={**extras, "correction": correction},
        **rest,
    )
