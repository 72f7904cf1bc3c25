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
    draw_heavy_points,
    draw_points,
    laplace,
    log_heavy_density,
    log_normal_density,
)
from bayesduel.models.latent import latent_of, log_probabilities
from bayesduel.models.resampling import (
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
    resample: bool = True,
) -> Sampled:
    """Draw from the normal law around the mode; resample by importance."""
    state = laplace_program()(model, arrays, max_iterations=max_iterations)
    status = Status(int(state.status))

    return from_approximation(
        model,
        arrays,
        rng_key,
        (chains, draws),
        state,
        resample=resample,
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


class _Proposals(NamedTuple):
    """Points, the first of them from the normal law, and log densities there."""

    named: dict[str, Any]
    lp: Float[np.ndarray | Array, " draw"]
    log_normal: Float[np.ndarray | Array, " draw"]
    log_heavy: Float[np.ndarray | Array, " draw"]

    @classmethod
    def joined(cls, blocks: "list[_Proposals]") -> "_Proposals":
        return jax.tree.map(lambda *each: np.concatenate(each), *blocks)

    def log_weight(self) -> Float[np.ndarray, " draw"]:
        """Log posterior minus log density of the mixture that all come from."""
        share = 1.0 / BLOCKS
        mixture = np.logaddexp(
            np.log1p(-share) + self.log_normal, np.log(share) + self.log_heavy
        )
        return np.asarray(self.lp - mixture)

    def kept(self, index: np.ndarray) -> dict[str, np.ndarray]:
        return {name: values[index] for name, values in self.named.items()}


@dataclass(frozen=True)
class _Proposer:
    """Proposes points from a normal law, and some from one with heavier tails."""

    model: PreferenceModel
    arrays: Any
    law: LaplaceState

    def block(
        self, key: RunKey, number: int, draw: Callable = draw_points
    ) -> _Proposals:
        with jax.enable_x64(True):
            points = draw(key, self.law, number)
            found = _Proposals(
                _named_points(self.model, self.arrays, points),
                _log_densities(self.model, self.arrays, points),
                log_normal_density(self.law, points),
                log_heavy_density(self.law, points),
            )
            return jax.tree.map(np.asarray, found)

    def pool(self, key: RunKey, first: _Proposals) -> _Proposals:
        """Add blocks as large as the first one, the last of them with heavy tails."""
        number = len(first.lp)
        *keys, key_heavy = jax.random.split(key, BLOCKS - 1)
        more = [self.block(each, number) for each in keys]
        heavy = self.block(key_heavy, number, draw_heavy_points)
        return _Proposals.joined([first, *more, heavy])

    def resampled(self, key: RunKey, number: int) -> dict[str, np.ndarray]:
        key_first, key_more, key_pick = jax.random.split(key, 3)
        found = self.pool(key_more, self.block(key_first, max(number, LEAST_BLOCK)))
        weights, _ = smoothed_weights(found.log_weight())
        return found.kept(systematic(generator_of(key_pick), weights, number))

    def plain(self, key: RunKey, number: int) -> dict[str, np.ndarray]:
        return self.block(key, number).named


def from_approximation(
    model: PreferenceModel,
    arrays: Any,
    rng_key: RunKey,
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
    size : (int, int)
        Chains, and draws of each.
    law : LaplaceState
        Its mean and curvature.
    resample : bool
        Otherwise, and where Pareto k is above its bound, the draws are those of the
        normal law itself, and ``log_weight`` among the ``sample_stats`` weighs them.
    """
    proposer = _Proposer(model, arrays, law)
    chains, number = size[0], size[0] * size[1]
    key_first, key_more, key_pick = jax.random.split(rng_key, 3)
    first = proposer.block(key_first, max(number, LEAST_BLOCK) if resample else number)
    log_weight = np.asarray(first.lp - first.log_normal)
    found, (weights, k) = first, smoothed_weights(log_weight)
    resampled = False
    # Where next to none of the proposals matters, more of them are made for nothing.
    if resample and effective_number(weights) > HOPELESS * len(weights):
        pool = proposer.pool(key_more, first)
        mended, mended_k = smoothed_weights(pool.log_weight())
        resampled = can_trust(mended_k, len(mended), len(mended) * np.max(mended))
        if resampled:
            found, weights, k = pool, mended, mended_k
    index = np.arange(number)
    if resampled:
        index = systematic(generator_of(key_pick), weights, number)
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
    stats = {"lp": np.asarray(found.lp)[index]}
    if not resampled:
        stats["log_weight"] = log_weight[index]
    return Sampled(
        draws=_in_chains(found.kept(index), chains),
        sample_stats=_in_chains(stats, chains),
        fresh=proposer.resampled if resampled else proposer.plain,
        extras={**extras, "correction": correction},
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


@partial(jax.jit, static_argnums=0)
def log_prior_densities(
    model: PreferenceModel, arrays: Any, draws: dict[str, Array]
) -> dict[str, Float[Array, " draw"]]:
    """Return the log prior density of each sampled quantity, for draws (draw, ...).

    In the quantities' own units, without the Jacobian of any transformation.
    """

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

    return jax.lax.map(one, draws, batch_size=256)


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
