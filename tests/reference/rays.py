"""Draws on rays from a mode by bisection, one function for every density."""

import numpy as np


def points_on_rays(heights, mode, ways, depth):
    """Move points on their ways from the mode as ``bayesduel.posteriors.rays`` says.

    With F the fall of the log density, R = sqrt(2 F) and r the distance in units of
    |z|, the share s of a way solves F = |z|^2 / 2 + log v, v = (r / R)^(D - 1) dr / dR;
    half of |z|^2 / 2 is taken away at most in proportion, and the rest decays.

    Parameters
    ----------
    heights : callable
        Log densities (draw,) of points (draw, D).
    mode : float (D,)
    ways : float (draw, D)
        L^-T z.
    depth : float (draw,)
        |z|.

    Returns
    -------
    float (draw, D)
    """
    top, half = heights(mode[None])[0], 0.5 * depth**2

    def fall(share):
        points = mode + share[..., None] * ways
        return top - heights(points.reshape(-1, len(mode))).reshape(share.shape)

    def excess(share):
        """By how much the fall is above what it shall be."""
        small, fallen = 1e-4 * share, fall(share)
        slope = (fall(share + small) - fall(share - small)) / (2.0 * small)
        root = np.sqrt(2.0 * fallen)
        weight = (len(mode) - 1) * np.log(share * depth / root)
        weight += np.log(root * depth / slope)
        decayed = 0.5 * half * np.exp(np.minimum(2.0 * weight / half + 1.0, 0.0))
        wanted = np.where(weight < -0.5 * half, decayed, half + weight)
        return fallen - wanted

    low, width = np.full_like(depth, -12.0), 18.0
    for _ in range(9):  # Into sixteen parts, to a billionth: calls cost, not points.
        width /= 16
        inner = low + width * np.arange(1, 16)[:, None]
        over = excess(np.exp(inner)) > 0
        low = low + width * np.argmax(np.vstack([over, np.ones_like(over[:1])]), axis=0)
    return mode + np.exp(low)[:, None] * ways
