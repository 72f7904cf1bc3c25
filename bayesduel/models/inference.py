"""Draws from posteriors: exact, Laplace, variational, and Hamiltonian Monte Carlo.

Every function takes a model, its arrays and a key, and returns :class:`Sampled`. They
are called inside the 64-bit scope.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float
from numpyro import handlers
from numpyro.infer import MCMC, NUTS

from bayesduel.models.base import PreferenceModel
from bayesduel.models.laplace import (
    LaplaceState,
    Status,
    draw_points,
    laplace,
    log_normal_density,
)
from bayesduel.models.latent import latent_of, log_probabilities
from bayesduel.types import RunKey

Fresh = Callable[[RunKey, int], dict[str, np.ndarray]]
"""Draws any number of times from the law that was fitted."""


@dataclass(frozen=True)
class Sampled:
    """What a method leaves behind."""

    draws: dict[str, np.ndarray]
    """Named quantities, (chain, draw, ...)."""

    sample_stats: dict[str, np.ndarray] = field(default_factory=dict)
    """What is known about each draw, (chain, draw)."""

    fresh: Fresh | None = None
    """New draws, where the fitted law allows them."""

    converged: bool = True
    remarks: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    """What is special to the method."""


def generator_of(rng_key: RunKey) -> np.random.Generator:
    """Return a NumPy generator seeded by a key; consumes it."""
    return np.random.default_rng(np.asarray(jax.random.key_data(rng_key)))


def sample_exact(
    model: PreferenceModel, arrays: Any, rng_key: RunKey, chains: int, draws: int
) -> Sampled:
    """Draw independently from the posterior in closed form."""
    posterior = model.exact_posterior(arrays)

    def fresh(key: RunKey, number: int) -> dict[str, np.ndarray]:
        return posterior.sample(generator_of(key), number)

    flat = fresh(rng_key, chains * draws)
    return Sampled(
        draws=_in_chains(flat, chains),
        fresh=fresh,
        extras={"posterior": posterior},
    )


@cache
def laplace_program() -> Callable[..., LaplaceState]:
    """Return ``laplace`` as a program, kept for data of the same shapes."""
    return jax.jit(
        laplace, static_argnums=0, static_argnames=("max_iterations", "tolerance")
    )


@partial(jax.jit, static_argnums=0)
def _named_points(model: PreferenceModel, arrays: Any, points: Array) -> dict:
    return jax.vmap(latent_of(model, arrays).named)(points)


@partial(jax.jit, static_argnums=0)
def _log_densities(model: PreferenceModel, arrays: Any, points: Array) -> Array:
    return jax.lax.map(latent_of(model, arrays).log_density, points, batch_size=256)


def sample_laplace(
    model: PreferenceModel,
    arrays: Any,
    rng_key: RunKey,
    chains: int,
    draws: int,
    *,
    max_iterations: int = 100,
) -> Sampled:
    """Draw from the normal law around the mode."""
    state = laplace_program()(model, arrays, max_iterations=max_iterations)
    status = Status(int(state.status))
    points = draw_points(rng_key, state, chains * draws)
    return from_approximation(
        model,
        arrays,
        points,
        log_normal_density(state, points),
        chains,
        partial(draw_points, state=state),
        converged=status is Status.CONVERGED,
        remarks=() if status is Status.CONVERGED else (_LAPLACE_REMARKS[status],),
        extras={"laplace": jax.tree.map(np.asarray, state)},
    )


_LAPLACE_REMARKS = {
    Status.NOT_CONVERGED: "Newton's method ran out of steps before it reached the mode;"
    " raise max_iterations, or use method='nuts'",
    Status.NOT_CONCAVE: "the posterior is not concave where Newton's method ended, so"
    " no normal law fits there; use method='nuts'",
    Status.NOT_FINITE: "the log density is not finite; look at the prior scales",
}


def from_approximation(
    model: PreferenceModel,
    arrays: Any,
    points: Array,
    log_law: Array,
    chains: int,
    draw: Callable[..., Array],
    **rest: Any,
) -> Sampled:
    """Name the draws, and weigh them by posterior over approximation."""
    log_joint = _log_densities(model, arrays, points)

    def fresh(key: RunKey, number: int) -> dict[str, np.ndarray]:
        with jax.enable_x64(True):
            new = draw(key, num_draws=number)
            return jax.tree.map(np.asarray, _named_points(model, arrays, new))

    flat = jax.tree.map(np.asarray, _named_points(model, arrays, points))
    stats = {
        "lp": np.asarray(log_joint),
        "log_weight": np.asarray(log_joint - log_law),
    }
    return Sampled(
        draws=_in_chains(flat, chains),
        sample_stats=_in_chains(stats, chains),
        fresh=fresh,
        **rest,
    )


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
) -> tuple[dict[str, Array], dict[str, Array]]:
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
    return Sampled(
        draws={
            name: np.asarray(values)
            for name, values in samples.items()
            if name != "votes"
        },
        sample_stats=stats,
        extras={"num_warmup": num_warmup},
    )


def sample_prior(
    model: PreferenceModel, arrays: Any, rng_key: RunKey, num_draws: int
) -> dict[str, np.ndarray]:
    """Draw the named quantities from their prior, (draw, ...)."""

    def one(key: RunKey) -> dict[str, Array]:
        seeded = handlers.seed(model, key)
        trace = handlers.trace(seeded).get_trace(arrays)
        return {
            name: site["value"]
            for name, site in trace.items()
            if name != "votes" and site["type"] in ("sample", "deterministic")
        }

    with jax.enable_x64(True):
        keys = jax.random.split(rng_key, num_draws)
        return jax.tree.map(np.asarray, jax.jit(jax.vmap(one))(keys))


def _in_chains(flat: dict[str, np.ndarray], chains: int) -> dict[str, np.ndarray]:
    return {
        name: values.reshape(chains, -1, *values.shape[1:])
        for name, values in flat.items()
    }


@partial(jax.jit, static_argnums=0)
def outcome_logs(
    model: PreferenceModel, arrays: Any, draws: dict[str, Array]
) -> Float[Array, "draw row outcome"]:
    """Return log P(outcome) of every row for every draw."""
    return jax.lax.map(partial(log_probabilities, model, arrays), draws, batch_size=256)


def as_jax(tree: Any) -> Any:
    """Return arrays as JAX arrays, floats in 64 bits (inside the 64-bit scope)."""
    return jax.tree.map(jnp.asarray, tree)
