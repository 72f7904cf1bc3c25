"""The Hessian of pairwise models of utilities, in closed form.

Automatic differentiation takes a pass over all rows for every arm. But a row depends on
the utilities through one difference only, so its share of the Hessian is a number,
written into four places. With 2,000 arms and 20,000 pairs that is the difference
between a second and hours.
"""

from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float
from numpyro.distributions import constraints
from numpyro.distributions.transforms import biject_to


class _Model(Protocol):
    """What is read of a model."""

    @property
    def prior_scale(self) -> float: ...

    @property
    def zero_sum(self) -> bool: ...

    @property
    def ties(self) -> bool: ...

    @property
    def tie_scale(self) -> float: ...

    @property
    def order_effect(self) -> bool: ...

    @property
    def order_scale(self) -> float: ...

    def logs_of_rows(self, difference: Array, tie: Array) -> Array: ...


def pairwise_hessian(model: _Model, votes: Any) -> Callable[[Array], Array]:
    """Return the Hessian of the log joint density as a function of a point.

    Parameters
    ----------
    model : PairwiseUtilityModel
        Without a learned scale, and without covariates.
    votes : Votes
        Its data, as arrays.

    Returns
    -------
    callable
        From unconstrained coordinates (D,), ordered by name (first_advantage, the tie
        parameter, utility), to the Hessian (D, D).
    """
    extras = int(model.order_effect) + int(model.ties)
    counts = jnp.asarray(votes.counts)
    happened = counts > 0
    spread = _identity
    if model.zero_sum:
        spread = biject_to(constraints.zero_sum(1))

    def total(difference: Array, tie: Array) -> Array:
        logs = model.logs_of_rows(difference, tie)
        return jnp.sum(jnp.where(happened, counts * jnp.where(happened, logs, 0.0), 0))

    def hessian(point: Float[Array, " D"]) -> Float[Array, "D D"]:
        rest = point[extras:]
        utility = spread(rest)
        difference = utility[votes.first] - utility[votes.second]
        if model.order_effect:
            difference = difference + point[0]
        tie = jnp.full_like(difference, point[extras - 1] if model.ties else 0.0)
        ones, zeros = jnp.ones_like(difference), jnp.zeros_like(difference)
        slopes = jax.grad(total, argnums=(0, 1))
        inputs = (difference, tie)
        # Rows do not meet: one direction gives the second derivatives of all.
        by_gap, by_gap_and_tie = jax.jvp(slopes, inputs, (ones, zeros))[1]
        by_tie = jax.jvp(slopes, inputs, (zeros, ones))[1][1]
        matrix = _laplacian(votes, by_gap)
        columns = []
        if model.order_effect:
            columns.append(_incidence(votes, by_gap))
        if model.ties:
            columns.append(_incidence(votes, by_gap_and_tie))
        pull = _transposed(spread, rest)
        inner = jax.vmap(pull)(jax.vmap(pull)(matrix).T)
        inner = inner - jnp.eye(rest.shape[0]) / model.prior_scale**2
        if not extras:
            return inner
        corner = _corner(model, by_gap, by_gap_and_tie, by_tie)
        side = jnp.stack([pull(column) for column in columns])
        return jnp.block([[corner, side], [side.T, inner]])

    return hessian


def _identity(values: Array) -> Array:
    return values


def _transposed(spread: Callable[[Array], Array], like: Array) -> Callable:
    """Return the transpose of a linear map."""
    _, pull = jax.vjp(spread, like)
    return lambda vector: pull(vector)[0]


def _laplacian(votes: Any, weight: Array) -> Float[Array, "K K"]:
    """Return sum over rows of weight (e_first - e_second)(e_first - e_second)^T."""
    num_arms = votes.num_arms
    square = jnp.zeros((num_arms, num_arms), dtype=weight.dtype)
    square = square.at[votes.first, votes.second].add(-weight)
    own = jnp.zeros(num_arms, dtype=weight.dtype)
    own = own.at[votes.first].add(weight).at[votes.second].add(weight)
    arms = np.arange(num_arms)
    return (square + square.T).at[arms, arms].add(own)


def _incidence(votes: Any, weight: Array) -> Float[Array, " K"]:
    """Return sum over rows of weight (e_first - e_second)."""
    column = jnp.zeros(votes.num_arms, dtype=weight.dtype)
    return column.at[votes.first].add(weight).at[votes.second].add(-weight)


def _corner(model: _Model, by_gap: Array, mixed: Array, by_tie: Array) -> Array:
    """Return the Hessian of the order effect and the tie parameter."""
    order = jnp.sum(by_gap) - 1.0 / model.order_scale**2
    tie = jnp.sum(by_tie) - 1.0 / model.tie_scale**2
    both = jnp.sum(mixed)
    if model.order_effect and model.ties:
        return jnp.stack([jnp.stack([order, both]), jnp.stack([both, tie])])
    return (order if model.order_effect else tie)[None, None]
