"""Differences from a reference arm, with intervals of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri

from bayesduel.errors import FitError, near_names
from bayesduel.inference.fits.fitted import check_posterior
from bayesduel.inference.tables import ELO
from bayesduel.models.argument_checks import check_probability
from bayesduel.votes.checks import shortened
from theory.arguments import number_that, one_of

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.inference.fits.fitted import FitBase


def contrasts(
    posterior: FitBase,
    reference: str,
    *,
    probability: float = 0.9,
    equivalent: float | None = None,
    scale: str = "utility",
) -> xr.Dataset:
    """Return how far every arm is from a reference arm, the best arm first.

    The interval of a difference is no difference of intervals: two arms whose intervals
    overlap may be told apart all the same.

    Parameters
    ----------
    posterior : Fit
    reference : str
        Name of an arm, such as what is used today.
    probability : float
        Of the central intervals, in (0, 1).
    equivalent : float, optional
        Differences up to this do not matter; in units of what is compared.
    scale : {"utility", "elo"}
        The unit of utilities, as in :func:`standings`.

    Returns
    -------
    xarray.Dataset (arm)
        ``mean``, ``lower`` and ``upper`` of the utility of the arm minus that of the
        reference; without utilities, of the probability that it beats the reference,
        minus 1/2. ``p_better``, that the difference is above 0, and, where
        ``equivalent`` is given, ``p_equivalent``, that it is at most as large either
        way. nan for arms that no votes connect with the reference.
        ``attrs["difference"]`` says what the difference is one of.

    Raises
    ------
    FitError
        For an unknown arm, or a number out of range.

    Examples
    --------
    >>> from bayesduel.inference import contrasts, fit
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]], arm_names=["tea", "milk"])
    >>> found = contrasts(fit(BradleyTerry(), votes), "milk", equivalent=0.2)
    >>> found["arm"].values.tolist(), float(found["mean"].sel(arm="milk"))
    (['tea', 'milk'], 0.0)
    >>> bool(found["p_equivalent"].sel(arm="tea") < 0.3)
    True
    """
    check_posterior(posterior)
    probability = check_probability(probability)
    one_of(scale, ("utility", "elo"), "scale", kind=FitError)
    names = list(posterior.arm_names)
    if not isinstance(reference, str) or reference not in names:
        near = near_names(reference, names) if isinstance(reference, str) else ""
        remedy = f"{near}the arms: {shortened(names)}"
        raise FitError("reference", "must be an arm", reference, remedy=remedy)
    arm = names.index(reference)
    utilities = posterior.model.utilities(posterior.flat_draws())
    if utilities is None:
        blocks = [each[:, :, arm] for each in posterior.matrices()]
        apart, scale = np.concatenate(blocks) - 0.5, "probability"
    else:
        apart = np.asarray(utilities) - np.asarray(utilities)[:, [arm]]
        apart = apart * (ELO if scale == "elo" else 1.0)
    tail = (1.0 - probability) / 2.0
    low, high = np.quantile(apart, [tail, 1.0 - tail], axis=0)
    columns = {
        "mean": apart.mean(axis=0),
        "lower": low,
        "upper": high,
        "p_better": np.mean(apart > 0, axis=0),
    }
    if equivalent is not None:
        _check_equivalent(equivalent)
        columns["p_equivalent"] = np.mean(np.abs(apart) <= equivalent, axis=0)
    far = posterior.part_of != posterior.part_of[arm]
    columns = {name: np.where(far, np.nan, each) for name, each in columns.items()}
    order = np.argsort(-columns["mean"], kind="stable")
    return _dataset(
        [names[at] for at in order],
        {name: each[order] for name, each in columns.items()},
        reference,
        probability,
        scale,
    )


def contrast_table(
    arms: list[str],
    reference: str,
    mean: Float[np.ndarray, " arm"],
    spread: Float[np.ndarray, " arm"],
    probability: float,
    equivalent: float | None,
) -> xr.Dataset:
    """Return the same for differences that are normal, of standard deviation spread."""
    wide = float(ndtri(0.5 + probability / 2.0))
    safe = np.where(spread > 0, spread, 1.0)
    better = np.where(spread > 0, ndtr(mean / safe), 0.0)
    columns = {
        "mean": mean,
        "lower": mean - wide * spread,
        "upper": mean + wide * spread,
        "p_better": better,
    }
    if equivalent is not None:
        _check_equivalent(equivalent)
        near = ndtr((equivalent - mean) / safe) - ndtr((-equivalent - mean) / safe)
        columns["p_equivalent"] = np.where(spread > 0, near, 1.0)
    return _dataset(arms, columns, reference, probability, "utility")


def _check_equivalent(value: object) -> None:
    number_that(
        value,
        "equivalent",
        "from 0 to 1e6",
        lambda each: 0.0 <= each <= 1e6,
        kind=FitError,
    )


def _dataset(
    arms: list[str],
    columns: dict[str, Float[np.ndarray, " arm"]],
    reference: str,
    probability: float,
    what: str,
) -> xr.Dataset:
    import xarray as xr

    return xr.Dataset(
        {name: ("arm", values) for name, values in columns.items()},
        coords={"arm": arms},
        attrs={
            "reference": reference,
            "probability": probability,
            "difference": what,
        },
    )
