"""Who stands where: one row per arm, the best first."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesduel.errors import FitError
from bayesduel.models import winners
from bayesduel.models.comparisons import Comparisons

if TYPE_CHECKING:
    from bayesduel.models.posterior import Posterior


def standings(posterior: "Posterior", probability: float = 0.9) -> xr.Dataset:
    """Return the table that one wants of a fit, the best arm first.

    Parameters
    ----------
    posterior : Posterior
        A fit.
    probability : float
        Of the central intervals, in (0, 1).

    Returns
    -------
    xarray.Dataset (arm)
        ``rank_lower`` and ``rank_upper``; ``score`` with ``score_lower`` and
        ``score_upper``; ``p_best``; and, for ``Comparisons``, ``comparisons``,
        ``wins``, ``losses`` and ``ties``. The score is the utility minus the mean
        utility of all arms, since votes say nothing about a common shift, and
        ``p_best`` the probability of the largest one. Without utilities the score is
        the mean probability of beating another arm, and ``p_best`` the probability of
        beating every one of them. ``attrs["score"]`` and ``attrs["p_best"]`` say which.
        Arms are ordered by mean score; equal ones by position.

    Raises
    ------
    FitError
        For a probability out of range.

    Examples
    --------
    >>> from bayesduel.models import Comparisons, PairwiseBeta, fit, standings
    >>> votes = Comparisons.from_wins([[0, 2], [8, 0]], arm_names=["tea", "coffee"])
    >>> table = standings(fit(PairwiseBeta(), votes))
    >>> table["arm"].values.tolist(), table["wins"].values.tolist()
    (['coffee', 'tea'], [8.0, 2.0])
    """
    if not 0.0 < probability < 1.0:
        raise FitError(f"probability must lie in (0, 1), got {probability!r}")
    utilities = posterior.model.utilities(posterior.flat_draws())
    best = posterior.winner_probabilities()
    if utilities is None:
        scores = np.concatenate(
            [winners.borda_scores(block) for block in posterior.matrices()]
        )
        score, chances = "probability of beating another arm", best["condorcet"]
        chosen, order = "beats every other arm", "borda"
    else:
        scores = utilities - utilities.mean(axis=1, keepdims=True)
        score, chances = "utility", best["best_utility"]
        chosen, order = "largest utility", "utility"
    ranks = posterior.rank_intervals(probability, by=order)
    tail = (1.0 - probability) / 2.0
    low, high = np.quantile(scores, [tail, 1.0 - tail], axis=0)
    mean = scores.mean(axis=0)
    columns = {
        "rank_lower": ranks["lower"].values,
        "rank_upper": ranks["upper"].values,
        "score": mean,
        "score_lower": low,
        "score_upper": high,
        "p_best": chances.values,
    }
    if isinstance(posterior.data, Comparisons):
        wins, ties = posterior.data.wins, posterior.data.ties
        columns |= {
            "comparisons": (wins + wins.T + ties).sum(axis=1),
            "wins": wins.sum(axis=1),
            "losses": wins.sum(axis=0),
            "ties": ties.sum(axis=1),
        }
    table = xr.Dataset(
        {name: ("arm", values) for name, values in columns.items()},
        coords={"arm": list(posterior.arm_names)},
        attrs={"probability": probability, "score": score, "p_best": chosen},
    )
    return table.isel(arm=np.argsort(-mean, kind="stable"))
