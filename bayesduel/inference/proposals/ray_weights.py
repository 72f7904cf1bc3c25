"""What a point on a ray from the mode weighs, for NumPy arrays and in JAX programs."""

from __future__ import annotations

from bayesduel.models.array_modules import Values, namespace


def log_ray_weight(size: int, depth: Values, distance: Values, slope: Values) -> Values:
    """Return the log weight of a point at which the posterior has fallen as far as |z|.

    It makes up for the density of such points, N(z) (|z| / r)^(D - 1) d|z|/dr in the
    coordinates in which the fitted distribution is standard normal, where that of the
    posterior is proportional to N(z).

    Parameters
    ----------
    size : int
        D, the number of coordinates.
    depth : float (draw,)
        |z|, the root of twice the fall.
    distance : float (draw,)
        r, in those coordinates or in multiples of them that all points share.
    slope : float (draw,)
        d|z|/dr.

    Returns
    -------
    float (draw,)
    """
    xp = namespace(depth)
    return (size - 1) * xp.log(distance / depth) - xp.log(slope)
