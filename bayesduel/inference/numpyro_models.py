"""Draws and densities of NumPyro models: what needs JAX.

Inside the programs floats have 64 bits; the functions open that scope themselves where
they do not say otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial, wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Shaped
from numpyro import handlers
from numpyro.infer import MCMC, NUTS

from bayesduel.inference.chain_checks import check_chains
from bayesduel.inference.draws import Sampled
from bayesduel.inference.laplace import LaplaceState, laplace
from bayesduel.inference.latent import latent_of, log_probabilities
from bayesduel.inference.seeds import as_key
from bayesduel.models.base import PreferenceModel
from bayesduel.program_cache import enable_program_cache
from bayesduel.types import RunKey


def as_jax(tree: Any) -> Any:
    """Return arrays as JAX arrays, floats in 64 bits (inside the 64-bit scope)."""
    return jax.tree.map(jnp.asarray, tree)


def in_64_bits(sampler: Callable[..., Sampled]) -> Callable[..., Sampled]:
    """Let a sampler take NumPy arrays and any seed, and compute in 64 bits."""

    @wraps(sampler)
    def run(
        model: PreferenceModel, arrays: Any, rng_key: RunKey | int, *size: int,
        **options: Any,
    ) -> Sampled:  # fmt: skip
        enable_program_cache()
        with jax.enable_x64(True):
            return sampler(model, as_jax(arrays), as_key(rng_key), *size, **options)

    return run


@cache
def laplace_program() -> Callable[..., LaplaceState]:
    """Return ``laplace`` as a program, kept for data of the same shapes."""
    enable_program_cache()
    return jax.jit(
        laplace, static_argnums=0, static_argnames=("max_iterations", "tolerance")
    )


_BATCH = 256
"""Points of one call of a program, so that it is compiled once for all numbers."""


def _in_batches(
    program: Callable[[PreferenceModel, Any, Any], Any],
    model: PreferenceModel,
    arrays: Any,
    points: Any,
) -> Any:
    """Apply a program to points, the leading axis of a pytree of NumPy arrays."""

    def of(part: Any) -> Any:
        return jax.tree.map(np.asarray, program(model, arrays, as_jax(part)))

    number = len(jax.tree.leaves(points)[0])
    with jax.enable_x64(True):
        arrays = as_jax(arrays)
        if number <= _BATCH:
            return of(points)
        found = None
        for start in range(0, number, _BATCH):
            # The last batch overlaps the one before it.
            low = min(start, number - _BATCH)
            place = slice(low, low + _BATCH)
            part = of(jax.tree.map(lambda each: each[place], points))  # noqa: B023
            if found is None:
                found = jax.tree.map(
                    lambda each: np.empty((number, *each.shape[1:]), each.dtype), part
                )
            for whole, each in zip(*map(jax.tree.leaves, (found, part)), strict=True):
                whole[place] = each
        return found


@partial(jax.jit, static_argnums=0)
def _named_points(model: PreferenceModel, arrays: Any, points: Array) -> dict:
    return jax.vmap(latent_of(model, arrays).named)(points)


@partial(jax.jit, static_argnums=0)
def _log_densities(model: PreferenceModel, arrays: Any, points: Array) -> Array:
    return jax.vmap(latent_of(model, arrays).log_density)(points)


@dataclass(frozen=True, eq=False)
class NumPyroDensity:
    """The log joint density of any NumPyro model, by JAX; NumPy arrays in and out."""

    model: PreferenceModel
    arrays: Any

    def laplace(self, max_iterations: int = 100) -> LaplaceState:
        """Return the normal distribution at the mode."""
        with jax.enable_x64(True):
            arrays = as_jax(self.arrays)
            distribution = laplace_program()(
                self.model, arrays, max_iterations=max_iterations
            )
            return jax.tree.map(np.asarray, distribution)

    def named(
        self, points: Float[np.ndarray, "draw D"]
    ) -> dict[str, Shaped[np.ndarray, "draw ..."]]:
        """Return the named quantities of points."""
        return _in_batches(_named_points, self.model, self.arrays, points)

    def log_densities(
        self, points: Float[np.ndarray, "draw D"]
    ) -> Float[np.ndarray, " draw"]:
        """Return the log joint density of points."""
        return _in_batches(_log_densities, self.model, self.arrays, points)


_STATS = {
    "diverging": "diverging",
    "accept_prob": "acceptance_rate",
    "num_steps": "n_steps",
    "energy": "energy",
    "potential_energy": "lp",
}


class SamplerSettings(NamedTuple):
    """Settings of a run; hashable, so that its program is kept."""

    chains: int
    draws: int
    warmup: int
    target_acceptance: float = 0.9
    dense_mass: bool = False


@partial(jax.jit, static_argnums=(0, 1))
def run_nuts(
    model: PreferenceModel, settings: SamplerSettings, arrays: Any, rng_key: RunKey
) -> tuple[
    dict[str, Shaped[Array, "chain draw ..."]], dict[str, Shaped[Array, "chain draw"]]
]:
    """Return draws and what is known of each, (chain, draw, ...).

    The whole run is one program, kept for data of the same shapes; it can be mapped
    over data sets with ``vmap``.
    """
    kernel = NUTS(
        model,
        target_accept_prob=settings.target_acceptance,
        dense_mass=settings.dense_mass,
    )
    sampler = MCMC(
        kernel,
        num_warmup=settings.warmup,
        num_samples=settings.draws,
        num_chains=settings.chains,
        chain_method="vectorized",
        progress_bar=False,
    )
    sampler.run(rng_key, arrays, extra_fields=tuple(_STATS))
    by_chain = {"group_by_chain": True}
    return sampler.get_samples(**by_chain), sampler.get_extra_fields(**by_chain)


@in_64_bits
def sample_nuts(
    model: PreferenceModel,
    arrays: Any,
    rng_key: RunKey,
    chains: int,
    draws: int,
    *,
    num_warmup: int = 1000,
    target_acceptance: float = 0.9,
    dense_mass: bool = False,
) -> Sampled:
    """Draw by the No-U-Turn sampler, the chains side by side."""
    settings = SamplerSettings(chains, draws, num_warmup, target_acceptance, dense_mass)
    samples, fields = run_nuts(model, settings, arrays, rng_key)
    stats = {new: np.asarray(fields[old]) for old, new in _STATS.items()}
    stats["lp"] = -stats["lp"]
    found = {
        name: np.asarray(values) for name, values in samples.items() if name != "votes"
    }
    chain_check = check_chains(found, stats)
    doubts = chain_check.doubts if chain_check else ()
    remarks = [f"{each}; see diagnostics.report" for each in doubts]
    if chain_check is not None and chain_check.remark:
        remarks.append(chain_check.remark)
    return Sampled(
        draws=found,
        sample_stats=stats,
        remarks=tuple(remarks),
        extras={"num_warmup": num_warmup, "chains": chain_check},
    )


@partial(jax.jit, static_argnums=0)
def _prior_draws(model: PreferenceModel, arrays: Any, keys: Array) -> dict:
    def one(key: RunKey) -> dict[str, Array]:
        seeded = handlers.seed(model, key)
        trace = handlers.trace(seeded).get_trace(arrays)
        return {
            name: site["value"]
            for name, site in trace.items()
            if name != "votes" and site["type"] in ("sample", "deterministic")
        }

    return jax.vmap(one)(keys)


def sample_prior(
    model: PreferenceModel, arrays: Any, rng_key: RunKey, num_draws: int
) -> dict[str, Shaped[np.ndarray, "draw ..."]]:
    """Draw the named quantities from their prior, (draw, ...)."""
    with jax.enable_x64(True):
        keys = jax.random.split(rng_key, num_draws)
        return jax.tree.map(np.asarray, _prior_draws(model, as_jax(arrays), keys))


@partial(jax.jit, static_argnums=0)
def _log_prior_densities(model: PreferenceModel, arrays: Any, draws: dict) -> dict:
    def one(values: dict[str, Array]) -> dict[str, Array]:
        seeded = handlers.seed(
            handlers.substitute(model, data=values), rng_seed=jax.random.key(0)
        )
        trace = handlers.trace(seeded).get_trace(arrays)
        return {
            name: jnp.sum(site["fn"].log_prob(site["value"]))
            for name, site in trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        }

    return jax.vmap(one)(draws)


def log_prior_densities(
    model: PreferenceModel,
    arrays: Any,
    draws: dict[str, Shaped[np.ndarray, "draw ..."]],
) -> dict[str, Float[np.ndarray, " draw"]]:
    """Return the log prior density of each sampled quantity, for draws (draw, ...).

    In the quantities' own units, without the Jacobian of any transformation.
    """
    return _in_batches(_log_prior_densities, model, arrays, draws)


@partial(jax.jit, static_argnums=0)
def _outcome_logs(model: PreferenceModel, arrays: Any, draws: dict) -> Array:
    return jax.vmap(partial(log_probabilities, model, arrays))(draws)


def log_probabilities_of(
    model: PreferenceModel,
    arrays: Any,
    draws: dict[str, Shaped[np.ndarray, "draw ..."]],
) -> Float[np.ndarray, "draw row outcome"]:
    """Return log P(outcome) of every row, for every draw (draw, ...)."""
    return _in_batches(_outcome_logs, model, arrays, draws)
