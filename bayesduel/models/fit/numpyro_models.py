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
    """The unknown quantities of a model as one flat, unconstrained vector.

    All members can be used inside ``jit`` and ``vmap``.
    """

    size: int  # D, the number of unconstrained coordinates.
    # Log joint density of a point (D,) and the votes, in unconstrained coordinates.
    log_density: Callable[[Array], Array]
    # Named quantities, derived ones included, of a point (D,).
    named: Callable[[Array], dict[str, Array]]


def latent_of(model: PreferenceModel, arrays: Any) -> Latent:
    """Lay out the unknown quantities of ``model`` given ``arrays``.

    Coordinates are ordered by name. Without prior draws: the layout needs shapes only.
    """

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
    model: PreferenceModel,
    arrays: Any,
    start: Float[Array, " D"] | None = None,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-14,
) -> LaplaceState:
    """Approximate the posterior of a model by a normal distribution.

    Parameters
    ----------
    model : PreferenceModel
        A NumPyro model with its prior.
    arrays : pytree
        ``model.arrays(data)``, or arrays of those shapes made by a program.
    start : float64 (D,), optional
        Where to start, in unconstrained coordinates ordered by name; 0 by default. A
        policy passes the last mode, and then needs very few iterations.
    max_iterations, tolerance
        As in :func:`bayesduel.models.newton.maximize`.

    Returns
    -------
    LaplaceState
        Never nan: see its ``status``.
    """
    latent = latent_of(model, arrays)
    return newton_mode(
        latent.log_density,
        jnp.zeros(latent.size) if start is None else start,
        hessian=model.hessian(arrays),
        max_iterations=max_iterations,
        tolerance=tolerance,
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
    return jax.jit(
        laplace, static_argnums=0, static_argnames=("max_iterations", "tolerance")
    )


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


_BATCH = 256
"""Points of one call of a program, so that it is compiled once for all numbers."""


def _of_many(
    program: Callable[..., Any], model: PreferenceModel, arrays: Any, points: Any
) -> Any:
    # Applied to points, the leading axis of a pytree of NumPy arrays.
    number = len(jax.tree.leaves(points)[0])
    with jax.enable_x64(True):
        arrays = as_jax(arrays)

        def part(start: int) -> Any:
            batch = jax.tree.map(lambda leaf: leaf[start : start + _BATCH], points)
            return jax.tree.map(np.asarray, program(model, arrays, as_jax(batch)))

        if number <= _BATCH:
            return part(0)
        whole = None
        for start in range(0, number, _BATCH):
            # The last batch overlaps the one before it.
            start = min(start, number - _BATCH)
            values = part(start)
            if whole is None:
                whole = jax.tree.map(
                    lambda leaf: np.empty((number, *leaf.shape[1:]), leaf.dtype), values
                )
            leaves = map(jax.tree.leaves, (whole, values))
            for every, batch in zip(*leaves, strict=True):
                every[start : start + _BATCH] = batch
        return whole


@partial(jax.jit, static_argnums=0)
def _named_points(model: PreferenceModel, arrays: Any, points: Array) -> dict:
    return jax.vmap(latent_of(model, arrays).named)(points)


@partial(jax.jit, static_argnums=0)
def _log_densities(model: PreferenceModel, arrays: Any, points: Array) -> Array:
    return jax.vmap(latent_of(model, arrays).log_density)(points)


@partial(jax.jit, static_argnums=0)
def _outcome_logs(model: PreferenceModel, arrays: Any, draws: dict) -> Array:
    return jax.vmap(partial(log_probabilities, model, arrays))(draws)


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
        return _of_many(_named_points, self.model, self.arrays, points)

    def log_densities(
        self, points: Float[np.ndarray, "draw D"]
    ) -> Float[np.ndarray, " draw"]:
        """Return the log joint density of points."""
        return _of_many(_log_densities, self.model, self.arrays, points)


def log_probabilities_of(
    model: PreferenceModel,
    arrays: Any,
    draws: dict[str, Shaped[np.ndarray, "draw ..."]],
) -> Float[np.ndarray, "draw row outcome"]:
    """Return log P(outcome) of every row, for every draw (draw, ...)."""
    return _of_many(_outcome_logs, model, arrays, draws)


def log_prior_densities(
    model: PreferenceModel,
    arrays: Any,
    draws: dict[str, Shaped[np.ndarray, "draw ..."]],
) -> dict[str, Float[np.ndarray, " draw"]]:
    """Return the log prior density of each sampled quantity, for draws (draw, ...).

    In the quantities' own units, without the Jacobian of any transformation.
    """
    return _of_many(_prior_logs, model, arrays, draws)


@partial(jax.jit, static_argnums=0)
def _prior_logs(model: PreferenceModel, arrays: Any, draws: dict) -> dict:
    def one(values: dict[str, Array]) -> dict[str, Array]:
        substituted = handlers.substitute(model, data=values)
        seeded = handlers.seed(substituted, rng_seed=jax.random.key(0))
        trace = handlers.trace(seeded).get_trace(arrays)
        return {
            name: jnp.sum(site["fn"].log_prob(site["value"]))
            for name, site in trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        }

    return jax.vmap(one)(draws)


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
