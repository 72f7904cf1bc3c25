"""The likeliest world in which a rival is as good as the leader.

Of a log density with the mode m that is the point where it is largest among all at
which two arms have the same utility: the nearest edge of what speaks for the leader. By
how much it falls up to there decides how likely a draw is to prefer the rival.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float

from bayesduel.models.closed_forms.newton import Search, Surface, advance
from bayesduel.posteriors.pair_models import PointDensity

_TOLERANCE = 1e-13
"""A step that promises no more of the height, as a share of it, was the last one."""


class LevelWorld(NamedTuple):
    """A world in which two arms are level."""

    preference: Float[Array, "K K"]  # P(i beats j) there, nobody shown first.
    # By how much the log density is below that of the mode, at least 0.
    fall: Float[Array, ""]


def level_point(
    density: PointDensity,
    log_density: Callable[[Float[Array, " D"]], Float[Array, ""]],
    mode: Float[Array, " D"],
    gaps: Callable[[Float[Array, "draw D"]], Float[Array, " draw"]],
    differ: Bool[Array, ""],
    most_steps: int,
) -> Float[Array, " D"]:
    """Return the point where a log density is largest and a gap is 0.

    By Newton's method from the mode, at most ``most_steps`` steps, which are halved
    until they rise. The first one ends where a normal distribution would be largest. Of
    ``density`` the Hessian is used; ``log_density`` is the same function, where many
    points are quickly looked at. ``gaps`` is linear, or nearly so. The mode itself
    where the arms do not ``differ``.
    """

    def level(point: Array) -> tuple[Array, Array]:
        return jax.value_and_grad(lambda at: gaps(at[None])[0])(point)

    surface = Surface(
        slope=jax.value_and_grad(log_density),
        hessian=lambda point: density.gradient_and_hessian(point)[1],
        heights=jax.vmap(log_density),
        level=level,
        levels=gaps,
    )

    def going(search: Search) -> Array:
        return jnp.asarray(search.going & (search.iterations < most_steps))

    start = Search.at(mode)._replace(going=differ)
    step = partial(advance, surface, tolerance=_TOLERANCE)
    return jnp.asarray(lax.while_loop(going, step, start).point)
