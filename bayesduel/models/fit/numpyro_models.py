"""NumPyro models: densities, Laplace's method, Markov chains, predictions.

All that needs JAX. Inside the programs floats have 64 bits; the functions open that
scope themselves where they do not say otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial, wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Shaped
from numpyro import handlers
from numpyro.distributions.transforms import biject_to
from numpyro.infer import MCMC, NUTS
from numpyro.infer.util import constrain_fn, potential_energy

from bayesduel.models.base import PreferenceModel, register_arrays
from bayesduel.models.conditional_logit import AttributedChoices
from bayesduel.models.fit.chain_checks import check_chains
from bayesduel.models.fit.draws import Sampled, as_key
from bayesduel.models.fit.proposals import points_of
from bayesduel.models.multinomial_logit import OfferedChoices
from bayesduel.models.newton import LaplaceState, newton_mode
from bayesduel.models.vote_arrays import Votes
from bayesduel.ops.program_cache import enable_program_cache
from bayesduel.types import RunKey

# Here and not where they are defined: that needs no JAX.
register_arrays(Votes)
register_arrays(OfferedChoices)
register_arrays(AttributedChoices)


class Latent(NamedTuple):
    """The unknown quantities of a model as one flat, unconstrained vector."""

    size: int  # D, the number of unconstrained coordinates.
    # Log joint density of a point (D,) and the votes, in unconstrained coordinates.
    log_density: Callable[[Array], Array]
    # Named quantities, derived ones included, of a point (D,).
    named: Callable[[Array], dict[str, Array]]


def latent_of(model: PreferenceModel, arrays: Any) -> Latent:
    """Lay out the unknown quantities of ``model`` given ``arrays``."""

    def prototype() -> dict[str, Array]:
        seeded = handlers.seed(model, rng_seed=jax.random.key(0))
        trace = handlers.trace(seeded).get_trace(arrays)
        return {
            name: biject_to(site["fn"].support).inv(site["value"])
            for name, site in trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        }

    shapes = jax.eval_shape(prototype)
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    flat, unravel = ravel_pytree(zeros)

    def log_density(point: Float[Array, " D"]) -> Float[Array, ""]:
        return -jnp.asarray(potential_energy(model, (arrays,), {}, unravel(point)))

    def named(point: Float[Array, " D"]) -> dict[str, Array]:
        values = constrain_fn(
            model, (arrays,), {}, unravel(point), return_deterministic=True
        )
        return {name: value for name, value in values.items() if name != "votes"}

    return Latent(size=flat.shape[0], log_density=log_density, named=named)


def log_probabilities(
    model: PreferenceModel, arrays: Any, values: dict[str, Float[Array, "..."]]
) -> Float[Array, "row outcome"]:
    """Return log P(outcome) of every row, given the named quantities."""
    substituted = handlers.substitute(model, data=values)
    # The seed serves quantities that `values` leaves out; there are none.
    with handlers.block():
        seeded = handlers.seed(substituted, rng_seed=jax.random.key(0))
        return jnp.asarray(seeded(arrays))


def laplace(
    model: PreferenceModel, arrays: Any, *, max_iterations: int = 100
) -> LaplaceState:
    """Approximate the posterior of a model by a normal distribution."""
    latent = latent_of(model, arrays)
    return newton_mode(
        latent.log_density,
        jnp.zeros(latent.size),
        hessian=model.hessian(arrays),
        max_iterations=max_iterations,
    )


def draw_points(
    rng_key: RunKey, state: LaplaceState, num_draws: int
) -> Float[Array, "draw D"]:
    """Draw from the normal distribution; consumes ``rng_key``."""
    shape = (num_draws, state.mode.shape[0])
    normal = jax.random.normal(rng_key, shape, dtype=state.mode.dtype)
    return points_of(state, normal)


@cache
def laplace_program() -> Callable[..., LaplaceState]:
    """Return ``laplace`` as a program, kept for data of the same shapes."""
    enable_program_cache()
    return jax.jit(laplace, static_argnums=0, static_argnames="max_iterations")


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


# Points of one call of a program, so that it is compiled once for all numbers.
_BATCH = 256


def _of_many(of_one: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of a model, its arrays and a point take many points of NumPy."""

    @partial(jax.jit, static_argnums=0)
    def program(model: PreferenceModel, arrays: Any, points: Any) -> Any:
        return jax.vmap(partial(of_one, model, arrays))(points)

    @wraps(of_one)
    def run(model: PreferenceModel, arrays: Any, points: Any) -> Any:
        number = len(jax.tree.leaves(points)[0])

        def part(start: int) -> Any:
            batch = jax.tree.map(lambda leaf: leaf[start : start + _BATCH], points)
            return jax.tree.map(np.asarray, program(model, arrays, as_jax(batch)))

        with jax.enable_x64(True):
            arrays = as_jax(arrays)
            parts = [part(at) for at in range(0, number - _BATCH + 1, _BATCH)]
            if (rest := number % _BATCH) or not parts:
                # The last batch overlaps the one before it.
                last = part(max(number - _BATCH, 0))
                parts.append(jax.tree.map(lambda leaf: leaf[-rest:], last))
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)

    return run


@_of_many
def _named_points(model: PreferenceModel, arrays: Any, point: Array) -> dict:
    return latent_of(model, arrays).named(point)


@_of_many
def _log_densities(model: PreferenceModel, arrays: Any, point: Array) -> Array:
    return latent_of(model, arrays).log_density(point)


@dataclass(frozen=True, eq=False)
class NumPyroDensity:
    """The log joint density of any NumPyro model, by JAX; NumPy arrays in and out."""

    model: PreferenceModel
    arrays: Any

    def laplace(self, max_iterations: int = 100) -> LaplaceState:
        """Return the normal distribution at the mode."""
        with jax.enable_x64(True):
            distribution = laplace_program()(
                self.model, as_jax(self.arrays), max_iterations=max_iterations
            )
            return jax.tree.map(np.asarray, distribution)

    def named(
        self, points: Float[np.ndarray, "draw D"]
    ) -> dict[str, Shaped[np.ndarray, "draw ..."]]:
        """Return the named quantities of points."""
        return _named_points(self.model, self.arrays, points)

    def log_densities(
        self, points: Float[np.ndarray, "draw D"]
    ) -> Float[np.ndarray, " draw"]:
        """Return the log joint density of points."""
        return _log_densities(self.model, self.arrays, points)


@_of_many
def log_probabilities_of(
    model: PreferenceModel, arrays: Any, draw: dict
) -> Float[Array, "row outcome"]:
    """Return log P(outcome) of every row, for every draw (draw, ...)."""
    return log_probabilities(model, arrays, draw)


@_of_many
def log_prior_densities(model: PreferenceModel, arrays: Any, draw: dict) -> dict:
    """Return the log prior density of each sampled quantity, for draws (draw, ...)."""
    substituted = handlers.substitute(model, data=draw)
    seeded = handlers.seed(substituted, rng_seed=jax.random.key(0))
    return {
        name: jnp.sum(site["fn"].log_prob(site["value"]))
        for name, site in handlers.trace(seeded).get_trace(arrays).items()
        if site["type"] == "sample" and not site["is_observed"]
    }


@partial(jax.jit, static_argnums=0)
def _prior_draws(model: PreferenceModel, arrays: Any, keys: Array) -> dict:
    def one(key: RunKey) -> dict[str, Array]:
        trace = handlers.trace(handlers.seed(model, key)).get_trace(arrays)
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
    """Return draws and what is known of each, (chain, draw, ...)."""
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
    named = {name: np.asarray(values) for name, values in samples.items()}
    named.pop("votes", None)
    check = check_chains(named, stats)
    doubts = check.doubts if check else ()
    remarks = [f"{doubt}; see diagnostics.report" for doubt in doubts]
    if check is not None and check.remark:
        remarks.append(check.remark)
    return Sampled(
        draws=named,
        sample_stats=stats,
        remarks=tuple(remarks),
        extras={"num_warmup": num_warmup, "chains": check},
    )
