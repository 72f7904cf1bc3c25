"""Cross-validation that leaves out whole pairs, by fitting the rest again."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray
from scipy.special import betaln

from bayesduel.diagnostics._elpd import array_stats, elpd_of, log_sum_exp
from bayesduel.errors import FitError
from bayesduel.inference.laplace import draw_points, laplace, log_normal_density
from bayesduel.inference.latent import latent_of, log_probabilities
from bayesduel.inference.numpyro_models import as_jax
from bayesduel.inference.predictions import pairs_of
from bayesduel.inference.seeds import as_key
from bayesduel.models.argument_checks import (
    check_numbers,
)
from bayesduel.models.base import PreferenceModel, check_model
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.models.vote_arrays import Votes, with_counts
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import seed_of


def leave_pairs_out(
    model: PreferenceModel,
    data: Comparisons,
    *,
    num_draws: int = 2000,
    rng_key: int = 0,
) -> Any:
    """Estimate how well the votes of a pair are predicted without any vote on it.

    Another question than :func:`~bayesduel.diagnostics.loo`: will the model tell
    something about pairs that were never compared? Every pair is left out by fitting
    the rest again: in closed form for ``PairwiseBeta`` (whose answer is its prior),
    else by Laplace's method with importance weights, all refits side by side.

    Parameters
    ----------
    model : PreferenceModel
        Of pairwise comparisons.
    data : Comparisons
        Votes; both orders of a pair are left out together.
    num_draws : int
        Draws per refit.
    rng_key : int

    Returns
    -------
    arviz_stats ELPDDataLOO
        Pointwise values along ``pair``: log P(all its votes, in some order | the
        rest). ``pareto_k`` is that of the importance weights.

    Raises
    ------
    FitError
        If fewer than two pairs have votes, the model is about other data, or an
        argument is out of range.
    """
    check_model(model)
    if not isinstance(data, Comparisons):
        raise FitError("data", "must be Comparisons, to leave pairs out", data)
    data = data.without_empty_pairs()
    arrays = model.arrays(data)
    num_pairs = data.num_arms * (data.num_arms - 1) // 2
    num_draws = check_numbers(
        "num_draws", num_draws, min(num_pairs, len(data.first)) * data.num_arms
    )
    key = as_key(seed_of(rng_key, "rng_key", kind=FitError))
    sides = pairs_of(model, data, arrays)
    if sides is None:
        raise FitError(
            "model",
            "must know the pair of each row, but the arrays of "
            f"{type(model).__name__} lack the fields first and second, numbers of "
            "arms",
            model,
        )
    low, high = np.minimum(*sides), np.maximum(*sides)
    pairs, member = np.unique(low * data.num_arms + high, return_inverse=True)
    if len(pairs) < 2:
        raise FitError(
            "data", "must hold at least 2 pairs, to leave one out", len(pairs)
        )
    if "exact" in model.methods and isinstance(model, PairwiseBeta):
        values = _beta_pairs(model, arrays, member, len(pairs))
        return elpd_of(values, values, np.zeros(len(pairs)), "pair", num_draws)
    keys = jax.random.split(key, len(pairs))
    with jax.enable_x64(True):
        logs, weights = _refits(
            model, num_draws, as_jax(arrays), jnp.asarray(member), keys
        )
    logs, weights = np.asarray(logs), np.asarray(weights)
    smooth, k = array_stats.psislw(-weights, r_eff=1.0, axis=-1)
    values = log_sum_exp(smooth + logs, axis=1)
    plain = log_sum_exp(logs, axis=1, b=1.0 / num_draws)
    return elpd_of(values, plain, np.asarray(k), "pair", num_draws)


@partial(jax.jit, static_argnums=(0, 1))
def _refits(
    model: PreferenceModel, num_draws: int, arrays: Any, member: Array, keys: Array
) -> tuple[Array, Array]:
    """Return log P(votes of the pair) and log weights, (pair, draw)."""

    def one(pair: Array, key: Array) -> tuple[Array, Array]:
        out = (member == pair)[:, None]
        rest = with_counts(arrays, jnp.where(out, 0.0, arrays.counts))
        state = laplace(model, rest)
        points = draw_points(key, state, num_draws)
        latent = latent_of(model, rest)

        def look(point: Array) -> tuple[Array, Array]:
            logs = log_probabilities(model, arrays, latent.named(point))
            chosen = out & (arrays.counts > 0)
            votes = jnp.sum(jnp.where(chosen, arrays.counts * logs, 0.0))
            return votes, latent.log_density(point)

        votes, joint = jax.vmap(look)(points)
        return votes, joint - log_normal_density(state, points)

    return jax.lax.map(
        lambda each: one(*each), (jnp.unique(member, size=keys.shape[0]), keys)
    )


def _beta_pairs(
    model: PairwiseBeta, arrays: Votes, member: NDArray, num_pairs: int
) -> NDArray[np.float64]:
    """Log probability of all votes of each pair under the prior."""
    values = np.zeros(num_pairs)
    for pair in range(num_pairs):
        own = np.where((member == pair)[:, None], np.asarray(arrays.counts), 0.0)
        before = model.exact_posterior(replace(arrays, counts=0.0 * own))
        after = model.exact_posterior(replace(arrays, counts=own))
        values[pair] = np.sum(
            betaln(after.for_first, after.for_second)
            - betaln(before.for_first, before.for_second)
        ) + np.sum(betaln(after.tie, after.no_tie) - betaln(before.tie, before.no_tie))
    return values
