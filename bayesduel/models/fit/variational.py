"""Variational inference: the closest normal distribution, by NumPyro's SVI."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax import Array
from jax.scipy.linalg import solve_triangular
from numpyro import distributions as dist
from numpyro import handlers
from numpyro.infer import SVI, Trace_ELBO, autoguide, init_to_value
from numpyro.optim import Adam

from bayesduel.models.base import PreferenceModel, sample
from bayesduel.models.fit.draws import Sampled, generator_of
from bayesduel.models.fit.laplace_draws import from_approximation
from bayesduel.models.fit.numpyro_models import (
    NumPyroDensity,
    in_64_bits,
    laplace_program,
    latent_of,
)
from bayesduel.models.fit.proposals import NormalProposer, points_of
from bayesduel.models.newton import LaplaceState
from bayesduel.types import RunKey

_GUIDES = {
    "multivariate-normal": autoguide.AutoMultivariateNormal,
    "normal": autoguide.AutoDiagonalNormal,
}
"""Families of distributions for "svi"."""


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _closest_normal(
    model: PreferenceModel,
    family: str,
    num_steps: int,
    step_size: float,
    arrays: Any,
    state: LaplaceState,
    rng_key: RunKey,
) -> tuple[LaplaceState, Array]:
    """Minimize the evidence bound; return the distribution, and all losses."""
    # For z, where the point is mode + L^-T z: there the Laplace approximation is
    # standard normal, as a guide is at first, however differently quantities are
    # scaled.
    density, size = latent_of(model, arrays).log_density, state.mode.shape[0]

    def white() -> None:
        flat = dist.ImproperUniform(dist.constraints.real_vector, (), (size,))
        white_point = sample("white_point", flat)
        # Blocked: the quantities of the model itself are no sites of this one.
        with handlers.block():
            joint = density(points_of(state, white_point[None, :])[0])
        numpyro.factor("joint", joint)

    start = init_to_value(values={"white_point": jnp.zeros(size)})
    guide = _GUIDES[family](white, init_loc_fn=start, init_scale=1.0)
    rate = Adam(lambda step: step_size * 0.01 ** (step / num_steps))
    svi = SVI(white, guide, rate, Trace_ELBO(num_particles=8))
    result = svi.run(rng_key, num_steps, progress_bar=False)
    posterior = guide.get_posterior(result.params)
    normal = family == "normal"
    scale = jnp.diag(posterior.scale) if normal else posterior.scale_tril
    # z = mean + S e and x = mode + L^-T z: the precision of x is (L S^-T)(L S^-T)^T.
    root = solve_triangular(scale, state.factor.T, lower=True).T
    distribution = state._replace(
        mode=points_of(state, posterior.mean[None, :])[0],
        factor=jnp.linalg.cholesky(root @ root.T),
    )
    return distribution, result.losses


@in_64_bits
def sample_svi(
    model: PreferenceModel,
    arrays: Any,
    rng_key: RunKey,
    chains: int,
    draws: int,
    *,
    guide: str = "multivariate-normal",
    num_steps: int = 2000,
    step_size: float = 0.02,
    resample: bool = True,
) -> Sampled:
    """Draw from the closest member of a family (stochastic variational inference)."""
    key_fit, key_draw = jax.random.split(rng_key)
    state = laplace_program()(model, arrays)
    distribution, losses = jax.tree.map(
        np.asarray,
        _closest_normal(model, guide, num_steps, step_size, arrays, state, key_fit),
    )
    # The last two tenths are finite and agree within 4 standard errors, or 0.1 nats.
    tenth = max(len(losses) // 10, 2)
    last, before = losses[-tenth:], losses[-2 * tenth : -tenth]
    settled = bool(np.all(np.isfinite(losses[-2 * tenth :])))
    if settled:
        noise = np.sqrt((np.var(last) + np.var(before)) / tenth)
        apart = abs(np.mean(before) - np.mean(last))
        settled = bool(apart <= max(4.0 * noise, 0.1))
    remark = (
        "the evidence bound was still moving at the end; raise num_steps, or lower "
        "step_size"
    )
    return from_approximation(
        NormalProposer(NumPyroDensity(model, arrays), distribution, at_mode=False),
        generator_of(key_draw),
        (chains, draws),
        resample=resample,
        converged=settled,
        remarks=() if settled else (remark,),
        extras={"losses": losses},
    )
