"""Newton's method on a log density, for NumPy arrays and inside JAX programs.

One step is written down once, in what both kinds of arrays have in common; only the
loop around it differs. Nothing here raises: a status says how a search ended. A proper
prior keeps the mode finite, also where votes alone would send a utility to infinity,
and the damping keeps every step an ascent. Open the 64-bit scope
(``jax.enable_x64(True)``) around the outermost call of a program: in 32 bits Newton's
last steps drown in rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from bayesduel.models.array_modules import Values, cholesky, namespace, scipy_module

if TYPE_CHECKING:
    from jax import Array


_HALVINGS = 16  # Lengths of a step that are tried at once: 1, 1/2, 1/4, ...
_LONGEST_STEP = 5.0  # No coordinate moves by more in the first iteration.


class Status(IntEnum):
    """How the search for a mode ended."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    """Out of iterations: the point is the best one so far."""

    NOT_CONCAVE = 2
    """The log density is not concave there: no maximum, nor a normal distribution."""

    NOT_FINITE = 3
    """The log density is not finite where the search started."""


class LaplaceState(NamedTuple):
    """A normal distribution in unconstrained coordinates: mode and curvature."""

    mode: Float[Array | np.ndarray, " D"]
    # L, lower triangular; L L^T is minus the Hessian of the log density at the mode.
    # The identity where that is not positive definite.
    factor: Float[Array | np.ndarray, "D D"]
    log_density: Float[Array | np.ndarray, ""]  # Log joint density at the mode.
    status: Int[Array | np.ndarray, ""]  # A :class:`Status`.
    iterations: Int[Array | np.ndarray, ""]


class Surface(NamedTuple):
    """A smooth function on which to climb."""

    # Its value and gradient at a point (D,).
    slope: Callable[[Values], tuple[Values, Values]]
    hessian: Callable[[Values], Values]  # Its Hessian (D, D) at a point (D,).
    heights: Callable[[Values], Values]  # Its values at points (n, D).
    # A function that is 0 at the maximum, and linear or nearly so: its value and
    # gradient at a point (D,). None where one may climb anywhere.
    level: Callable[[Values], tuple[Values, Values]] | None = None
    # The values of that function at points (n, D).
    levels: Callable[[Values], Values] | None = None


class _Search(NamedTuple):
    """Where a search stands."""

    point: Values
    value: Values
    factor: Values
    status: Values
    going: Values
    iterations: Values
    # No coordinate moves by more in the next iteration. It doubles where that was too
    # short: coefficients of features in a small unit are large.
    longest: Values


def maximize(
    surface: Surface,
    start: Values,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-14,
    going: Values = True,
) -> LaplaceState:
    """Return the normal distribution at the maximum of a function."""
    # By Newton steps that are halved until they rise, until g' (-H)^-1 g, twice the
    # height that a quadratic promises still to gain, is below a share of 1 + abs(log
    # density).
    xp = namespace(start)
    search = _Search(
        point=start,
        value=xp.zeros((), dtype=start.dtype),
        factor=xp.eye(start.shape[0], dtype=start.dtype),
        status=xp.asarray(Status.NOT_CONVERGED, dtype=xp.int32),
        going=xp.asarray(going),
        iterations=xp.asarray(0, dtype=xp.int32),
        longest=xp.asarray(_LONGEST_STEP, dtype=start.dtype),
    )
    if xp is np:
        # Steps into the far tails are tried, found wanting, and halved.
        with np.errstate(all="ignore"):
            while bool(search.going) and int(search.iterations) < max_iterations:
                search = _advance(surface, search, tolerance)
    else:
        from jax import lax

        search = lax.while_loop(
            lambda at: xp.asarray(at.going & (at.iterations < max_iterations)),
            lambda at: _advance(surface, at, tolerance),
            search,
        )
    return LaplaceState(
        mode=search.point,
        factor=search.factor,
        log_density=search.value,
        status=search.status,
        iterations=search.iterations,
    )


def newton_mode(
    log_density: Callable[[Values], Values],
    start: Values,
    *,
    gradient: Callable[[Values], Values] | None = None,
    hessian: Callable[[Values], Values] | None = None,
    max_iterations: int = 100,
) -> LaplaceState:
    """Maximize a smooth log density of a point (D,) of JAX, by :func:`maximize`."""
    import jax

    def slope(point: Values) -> tuple[Values, Values]:
        if gradient is None:
            return jax.value_and_grad(log_density)(point)
        return log_density(point), gradient(point)

    surface = Surface(
        slope=slope,
        hessian=hessian or jax.hessian(log_density),
        heights=jax.vmap(log_density),
    )
    return maximize(surface, start, max_iterations=max_iterations)


def _advance(surface: Surface, search: _Search, tolerance: float) -> _Search:
    """Take one Newton step, halved until it rises, or find that it is the last one."""
    # Where a level is kept, what rises is the height less twice the price of being off
    # it, which is an exact penalty.
    xp = namespace(search.point)
    dtype = search.point.dtype
    value, gradient = surface.slope(search.point)
    negative = -surface.hessian(search.point)
    factor = cholesky(negative)
    concave = xp.all(xp.isfinite(factor))
    identity = xp.eye(search.point.shape[0], dtype=dtype)
    damped = damped_factor(negative, identity)
    used = xp.where(concave, factor, damped)
    linalg = scipy_module(used, "linalg")
    step = linalg.cho_solve((used, True), gradient, check_finite=False)
    price = owed = xp.zeros((), dtype=dtype)
    if surface.level is not None:
        level, across = surface.level(search.point)
        way = linalg.cho_solve((used, True), across, check_finite=False)
        # Where nothing can change the level, it stays.
        room = xp.maximum(xp.sum(across * way), np.finfo(np.float64).tiny)
        price = (xp.sum(across * step) + level) / room
        step = step - price * way
        owed = 2.0 * xp.abs(price * level)
    promise = xp.sum(gradient * step) + owed
    # Far from the mode of a logistic likelihood full steps overshoot by far.
    cut = search.longest / xp.maximum(xp.max(xp.abs(step)), search.longest)
    step = step * cut

    shares = xp.asarray(2.0 ** -np.arange(_HALVINGS), dtype=dtype)

    def rises_enough(shares: Values) -> Values:
        trials = search.point[None, :] + shares[:, None] * step[None, :]
        rises = surface.heights(trials) - value
        if surface.levels is not None:
            rises = rises + owed - 2.0 * xp.abs(price * surface.levels(trials))
        # Concave functions need no more of a condition than a share of the promise.
        return rises >= 1e-4 * shares * (promise * cut)

    # The whole step is nearly always short enough; a program tries all lengths at once.
    enough = rises_enough(shares[:1] if xp is np else shares)
    if xp is np and not enough[0]:
        enough = rises_enough(shares)
    share = xp.where(xp.any(enough), shares[xp.argmax(enough)], 0.0)
    height = 1.0 + xp.abs(value)
    settled = concave & (promise <= tolerance * height)
    # At the top, rounding decides whether a step goes up: no step is an end too.
    stuck = ~xp.any(enough)
    near = concave & stuck & (promise <= 1e-10 * height)
    finite = xp.isfinite(value) & xp.all(xp.isfinite(gradient))
    status = xp.where(settled | near, int(Status.CONVERGED), int(Status.NOT_CONVERGED))
    status = xp.where(concave, status, int(Status.NOT_CONCAVE))
    status = xp.where(finite, status, int(Status.NOT_FINITE))
    over = settled | stuck | ~finite
    too_short = concave & (cut < 1.0) & (share == 1.0)
    return _Search(
        point=xp.where(over, search.point, search.point + share * step),
        value=value,
        factor=xp.where(concave, factor, identity),
        status=xp.asarray(status, dtype=xp.int32),
        going=~over,
        iterations=search.iterations + 1,
        longest=xp.where(too_short, 2.0 * search.longest, search.longest),
    )


def damped_factor(negative: Values, identity: Values) -> Values:
    """Return the Cholesky factor of minus the Hessian, raised until it has one."""
    # Gershgorin's circles bound the eigenvalues.
    xp = namespace(negative)
    diagonal = xp.diagonal(negative)
    radius = xp.sum(xp.abs(negative), axis=1) - xp.abs(diagonal)
    shift = xp.maximum(-xp.min(diagonal - radius), 0.0)
    shift = shift + 1e-3 * xp.max(xp.abs(diagonal))
    return cholesky(negative + shift * identity)
