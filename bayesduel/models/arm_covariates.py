"""What covariates can tell: which arms they connect, and how far."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64

from bayesduel.votes.checks import components, shortened
from bayesduel.votes.comparisons import Comparisons

_LEAST_REACH = 0.25
"""Standard deviation of what a covariate adds to utilities, before any vote. Below, a
thousand votes do not outweigh the prior."""

_ROUNDING = 1e-6
"""Of differences of covariates, in units of the largest value."""


def joined_by_covariates(data: Comparisons, parts: list[list[str]]) -> list[list[str]]:
    """Join parts of arms whose utilities differ by what votes tell.

    Votes tell the directions of coefficients in which compared arms differ. Two arms
    can be compared where they do not differ in any other direction.
    """
    table, unknown = _unknown_directions(data)
    place = {name: arm for arm, name in enumerate(data.arm_names)}
    some = table[[place[part[0]] for part in parts]] @ unknown
    close = np.abs(some[:, None] - some).max(axis=2, initial=0.0) <= _ROUNDING
    groups = components(close, "weak", [str(at) for at in range(len(parts))])
    joined = [[name for at in group for name in parts[int(at)]] for group in groups]
    return sorted(
        (sorted(part, key=place.__getitem__) for part in joined),
        key=len,
        reverse=True,
    )


def _unknown_directions(
    data: Comparisons,
) -> tuple[Float64[np.ndarray, "K d"], Float64[np.ndarray, "d unknown"]]:
    """Return scaled covariates, and directions in which no compared arms differ."""
    voted = data.counts.sum(axis=1) > 0
    table = data.covariates / np.maximum(np.abs(data.covariates).max(axis=0), 1e-300)
    steps = table[data.first[voted]] - table[data.second[voted]]
    sizes, directions = np.linalg.eigh(steps.T @ steps)
    return table, directions[:, sizes <= _ROUNDING**2 * max(sizes.max(), 1.0)]


def untold_coefficients(data: Comparisons) -> tuple[str, ...]:
    """Say how many directions of the coefficients no vote tells of.

    Covariates are collinear, or the same for all arms that were compared.
    """
    table, unknown = _unknown_directions(data)
    if not unknown.shape[1]:
        return ()
    untold = np.abs(unknown).max(axis=1) > _ROUNDING
    names = [
        name for name, each in zip(data.covariate_names, untold, strict=True) if each
    ]
    number = table.shape[1]
    return (
        f"votes tell {number - unknown.shape[1]} of {number} directions "
        f"of the coefficients; along the others, which {shortened(names)} have a part "
        "in, arms that were compared do not differ (the covariates are constant or "
        "collinear there), and coefficients are as uncertain as their prior",
    )


def narrow_covariates(
    names: tuple[str, ...],
    covariates: Float64[np.ndarray, "K d"],
    scale: float,
    option: str = "",
) -> tuple[str, ...]:
    """Say which covariates the prior of their coefficients hardly lets matter.

    ``scale`` is its standard deviation, ``option`` the one of the command that sets it.
    """
    sizes = np.std(covariates, axis=0)
    # Of a constant, which no factor makes matter, rounding may leave something.
    sizes[sizes <= 1e-12 * np.abs(covariates).max(axis=0, initial=0.0)] = 0.0
    setting = f"covariate_scale{option}"
    return _narrow(names, sizes, "standard deviation over arms", scale, setting)


def narrow_effects(data: Comparisons, scale: float) -> tuple[str, ...]:
    """Say which covariates of the contest the prior of an effect hardly lets matter."""
    names, votes = data.contest_covariates, data.counts.sum(axis=1)
    table = np.stack([data.columns[name] for name in names], axis=1)
    sizes = np.sqrt(votes @ table**2 / max(votes.sum(), 1.0))
    setting = "contest_scale (--contest-scale)"
    return _narrow(names, sizes, "root mean square over votes", scale, setting)


def _narrow(
    names: tuple[str, ...],
    sizes: Float64[np.ndarray, " d"],
    measure: str,
    scale: float,
    setting: str,
) -> tuple[str, ...]:
    """Say what to multiply by; a column of zeros is no matter of its unit."""
    narrow = [
        (name, size, 10.0 ** round(-np.log10(size * scale)))
        for name, size in zip(names, sizes.tolist(), strict=True)
        if 0.0 < size * scale < _LEAST_REACH
    ]
    if not narrow:
        return ()
    small = ", ".join(f"{name} ({size:.2g})" for name, size, _ in narrow)
    factors = ", ".join(f"{name} by {factor:g}" for name, _, factor in narrow)
    wide = scale * max(factor for *_, factor in narrow)
    return (
        f"the prior hardly lets {shortened([name for name, *_ in narrow])} matter, and "
        f"shrinks what votes tell of it: the {measure} is {small}, and a coefficient "
        f"per unit has the standard deviation {scale:g} before any vote; multiply "
        f"{factors} (its coefficient is divided by that), or widen the prior: "
        f"{setting} {wide:g}",
    )
