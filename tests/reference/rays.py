"""Draws on rays from a mode by bisection, one function for every density."""

import numpy as np


def points_on_rays(heights, mode, ways, depth):
    """Move points on their ways from the mode, as the module ``modes`` says.

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

    def excess(share):
        """By how much the fall is above what it shall be."""
        small = 1e-4 * share
        shares = np.stack([share, share + small, share - small])
        points = mode + shares[:, :, None] * ways
        fallen, beyond, before = top - heights(np.concatenate(points)).reshape(3, -1)
        slope = (beyond - before) / (2.0 * small)
        root = np.sqrt(2.0 * fallen)
        weight = (len(mode) - 1) * np.log(share * depth / root)
        weight += np.log(root * depth / slope)
        decayed = 0.5 * half * np.exp(np.minimum(2.0 * weight / half + 1.0, 0.0))
        wanted = np.where(weight < -0.5 * half, decayed, half + weight)
        return fallen - wanted

    low, high = np.full_like(depth, -12.0), np.full_like(depth, 6.0)
    for _ in range(34):  # To a billionth.
        middle = 0.5 * (low + high)
        over = excess(np.exp(middle)) > 0
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return mode + np.exp(low)[:, None] * ways
