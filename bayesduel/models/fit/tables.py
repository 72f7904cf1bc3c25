"""Who stands where: one row per arm, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from bayesduel.errors import FitError, near_names
from bayesduel.models.argument_checks import check_posterior, check_probability
from bayesduel.models.base import axes_of, entries_of
from bayesduel.models.fit import winners
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import number_that, one_of

if TYPE_CHECKING:
    import xarray as xr
    from jaxtyping import Float64, Shaped


# Points of Elo's scale in a unit of utility: 400 of them are odds of 10 to 1.
ELO = 400.0 / np.log(10.0)

ELO_MEAN = 1500.0


def standings(
    posterior: Any,
    probability: float = 0.9,
    *,
    scale: str = "utility",
    anchor: tuple[str, float] | None = None,
    cluster: str | None = None,
) -> xr.Dataset:
    """Return scores, intervals and ranks of all arms, the best arm first.

    Parameters
    ----------
    posterior : Fit
    probability : float
        Of the central intervals, in (0, 1).
    scale : {"utility", "elo"}
        The unit of the score: utility, or 400 / log(10) points of Elo's scale for each
        unit of it, on which the mean of all arms is 1500.
    anchor : (str, float), optional
        An arm, and the score that it shall have. Scores of the others are then as
        uncertain as their difference from it.
    cluster : str, optional
        A column that the votes carry, such as ``judge``, for standard errors of the
        scores that allow for votes which hang together: ``error`` is the model's, by
        the curvature at the mode, and ``error_clustered`` that of
        :meth:`Fit.clustered_errors`. Of fits by laplace.

    Returns
    -------
    xarray.Dataset (arm)
        ``part``, ``rank_lower`` and ``rank_upper``; ``rank_shared``, 1 plus the number
        of arms that are better with more than ``probability``: arms that the votes
        cannot separate get the same rank; ``score`` with ``score_lower`` and
        ``score_upper``; ``p_best``; and, for ``Comparisons``, ``comparisons``,
        ``wins``, ``losses`` and ``ties``. The score is the utility minus the mean
        utility of all arms, since votes say nothing about a common shift, and
        ``p_best`` the probability of the largest one. Without utilities the score is
        the mean probability of beating another arm, and ``p_best`` the probability of
        beating every one of them. ``attrs["score"]`` and ``attrs["p_best"]`` say which;
        ``attrs["condorcet_exists"]`` is the probability that some arm beats all others.
        Arms are ordered by mean score; equal ones by position. Where votes leave them
        in several parts (``attrs["parts"]``: their number; ``part``: that of an arm,
        from 1, the largest first), rank, score and ``p_best`` are those among the arms
        of the same part, which stand together; nan where an arm is alone in its part.

    Examples
    --------
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit, standings
    >>> votes = Comparisons.from_wins([[0, 2], [8, 0]], arm_names=["tea", "coffee"])
    >>> table = standings(fit(PairwiseBeta(), votes))
    >>> table["arm"].values.tolist(), table["wins"].values.tolist()
    (['coffee', 'tea'], [8.0, 2.0])
    """
    names, columns, words = standing_columns(
        posterior, probability, scale=scale, anchor=anchor, cluster=cluster
    )
    return by_arm(names, columns, {"probability": probability, **words})


def by_arm(
    names: Sequence[str],
    columns: Mapping[str, Shaped[np.ndarray, " K"]],
    about: dict[str, Any],
) -> xr.Dataset:
    """Return columns (K,) as a data set along the arms."""
    import xarray as xr

    return xr.Dataset(
        {name: ("arm", values) for name, values in columns.items()},
        coords={"arm": list(names)},
        attrs=about,
    )


def votes_of_arms(data: Comparisons) -> dict[str, Float64[np.ndarray, " K"]]:
    """Return how many votes each arm is in, won, lost and tied, by column."""
    totals = np.zeros((data.num_arms, 3))
    np.add.at(totals, data.first, data.counts)
    np.add.at(totals, data.second, data.counts[:, [1, 0, 2]])
    votes = {"comparisons": totals.sum(axis=1)}
    return votes | dict(zip(("wins", "losses", "ties"), totals.T, strict=True))


def standing_columns(
    posterior: Any,
    probability: float,
    *,
    scale: str = "utility",
    anchor: tuple[str, float] | None = None,
    cluster: str | None = None,
) -> tuple[list[str], dict[str, Shaped[np.ndarray, " K"]], dict[str, Any]]:
    """Return :func:`standings` as plain values: names of arms, columns, attributes."""
    check_posterior(posterior)
    probability = check_probability(probability)
    order, scores = winners.ordering_scores(posterior)
    best = posterior.winner_shares()
    one_of(scale, ("utility", "elo"), "scale", kind=FitError)
    if order == "borda":
        if scale != "utility" or anchor is not None:
            rule = "must be left out: the model has no utilities"
            raise FitError("scale and anchor", rule, (scale, anchor))
        score, probabilities = "probability of beating another arm", best["condorcet"]
        chosen = "beats every other arm"
    else:
        scores = _on_scale(posterior, scores, scale, anchor)
        score, probabilities = scale, best["best_utility"]
        chosen = "largest utility"
    _, ranks = posterior.ranks(probability, by=order)
    low, high = interval(scores, probability)
    mean = scores.mean(axis=0)
    errors: dict[str, np.ndarray] = {}
    if cluster is not None:

        def scores_at(named: Mapping[str, Any]) -> np.ndarray:
            utilities = posterior.model.utilities(named)
            centered = winners.centered(posterior.part_of, utilities)
            return _on_scale(posterior, centered, scale, anchor)

        both = posterior._both_errors(cluster, lambda named: {"": scores_at(named)})
        errors = {name: error[""] for name, error in both.items()}
    columns = {
        "part": posterior.part_of + 1,
        "rank_lower": ranks["lower"],
        "rank_upper": ranks["upper"],
        "rank_shared": _shared_ranks(posterior.part_of, scores, probability),
        "score": mean,
        "score_lower": low,
        "score_upper": high,
        **errors,
        "p_best": probabilities,
    }
    if isinstance(posterior.data, Comparisons):
        columns |= votes_of_arms(posterior.data)
    places = np.lexsort((-mean, posterior.part_of))  # Equal ones by position.
    names = [posterior.arm_names[arm] for arm in places]
    words = {
        "score": score,
        "p_best": chosen,
        "parts": len(posterior.parts),
        "condorcet_exists": winners.condorcet_exists(
            best["condorcet"], posterior.num_draws, len(posterior.parts)
        ),
    }
    return names, {name: column[places] for name, column in columns.items()}, words


def _shared_ranks(
    part_of: np.ndarray, scores: np.ndarray, probability: float
) -> np.ndarray:
    # 1 plus the number of arms of the part that are better for sure. By a normal
    # distribution of the difference of two scores: a count of draws for each pair would
    # take minutes for a thousand arms.
    mean = scores.mean(axis=0)
    apart = scores - mean
    shared = apart.T @ apart / len(scores)
    variances = np.diagonal(shared)
    variance = np.maximum(variances[:, None] + variances - 2.0 * shared, 0.0)
    lead = mean - mean[:, None]
    sure = lead > ndtri(probability) * np.sqrt(variance)
    near = part_of[:, None] == part_of
    ranks = 1 + np.sum(sure & (lead > 0) & near, axis=1)
    alone = near.sum(axis=1) == 1
    return np.where(alone, np.nan, ranks) if alone.any() else ranks


def _on_scale(
    posterior: Any,
    scores: Shaped[np.ndarray, "draw K"],
    scale: str,
    anchor: tuple[str, float] | None,
) -> Shaped[np.ndarray, "draw K"]:
    unit, level = 1.0, 0.0
    if scale == "elo":
        unit, level = ELO, ELO_MEAN
        if not posterior.model.in_log_odds:
            name = type(posterior.model).__name__
            rule = f"is for logistic models alone, and {name} is none"
            raise FitError("scale", rule, scale)
    if anchor is None:
        return unit * scores + level
    if not isinstance(anchor, tuple) or len(anchor) != 2:
        raise FitError("anchor", "must be an arm and its score", anchor)
    name, level = anchor
    rule = "from -1e6 to 1e6"
    number_that(level, "anchor", rule, lambda n: abs(n) <= 1e6, kind=FitError)
    if name not in posterior.arm_names:
        near = near_names(str(name), posterior.arm_names)
        raise FitError("anchor", "must be an arm", name, remedy=near)
    if len(posterior.parts) > 1:
        rule = f"needs votes that connect all arms, which are in {len(posterior.parts)}"
        raise FitError("anchor", f"{rule} parts", name)
    arm = list(posterior.arm_names).index(name)
    return unit * (scores - scores[:, arm : arm + 1]) + level


PARAMETERS = {
    "first_advantage": "utility that the arm shown first gains",
    "log_tie": "log nu; of two equal arms a share nu / (2 + nu) of the votes are ties",
    "log_threshold": "log of the difference of utilities below which votes are ties",
    "scale": "standard deviation of utilities, or of their residual",
    "coefficient": "utility per unit of the covariate or attribute",
    "contest_effect": "utility that one unit more of it adds in a contest",
    "constant": "utility of the alternative beside its attributes",
    "spread": "standard deviation of the coefficient among persons",
    "judge_spread": "standard deviation of the judges' biases",
    "judge_bias": "utility that the arm shown first gains more by this judge",
    "discrimination": "what this judge multiplies differences of utilities by",
    "discrimination_spread": "standard deviation of its logarithm among judges",
}
"""Meanings of quantities of stock models that belong to no arm."""


def parameter_summary(
    posterior: Any, probability: float = 0.9, *, cluster: str | None = None
) -> list[dict[str, Any]]:
    """Return the quantities of a fit that the table of arms does not show.

    The advantage of the arm shown first, the tie parameter, a learned scale,
    coefficients of covariates, and every unknown quantity of a model of one's own: an
    entry for each number in it. What belongs to single arms is left out where the
    model has utilities, and what belongs to single pairs always.

    Parameters
    ----------
    posterior : Fit
    probability : float
        Of the central intervals, in (0, 1).
    cluster : str, optional
        As in :func:`standings`: adds ``error`` and ``error_clustered``.

    Returns
    -------
    list of dict
        ``parameter``, with the labels of its place where it is one of many, such as
        ``bias[judge 3]`` (a number from 0 along an axis that the model does not name);
        ``mean``, ``lower``, ``upper``, and in words ``meaning``. Empty where the model
        has none.

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.inference import fit, parameter_summary
    >>> votes = Comparisons.from_votes(["a", "b"], ["b", "a"], ["left", "tie"])
    >>> model = BradleyTerry(ties=True, order_effect=True)
    >>> rows = parameter_summary(fit(model, votes, method="laplace"))
    >>> [row["parameter"] for row in rows]
    ['first_advantage', 'log_tie']
    """
    check_posterior(posterior)
    probability = check_probability(probability)
    model, flat = posterior.model, posterior.flat_draws()
    shown = {("pair",)} | ({("arm",)} if model.utilities(flat) is not None else set())
    errors: dict[str, dict[str, np.ndarray]] = {}
    if cluster is not None:
        errors = posterior._both_errors(cluster)
    rows = []
    for name, draws in sorted(flat.items()):
        if name in model.auxiliary or axes_of(model, name, draws.ndim - 1) in shown:
            continue
        values = draws.reshape(len(draws), -1)
        low, high = interval(values, probability)
        labels = entries_of(model, posterior.data, name, draws.shape[1:])
        for index, label in enumerate(labels):
            rows.append(
                {
                    "parameter": label,
                    "mean": float(values[:, index].mean()),
                    "lower": float(low[index]),
                    "upper": float(high[index]),
                    **{
                        kind: float(error[name].reshape(-1)[index])
                        for kind, error in errors.items()
                    },
                    "meaning": PARAMETERS.get(name, ""),
                }
            )
    return rows


def interval(
    values: Shaped[np.ndarray, "draw K"], probability: float
) -> Shaped[np.ndarray, "2 K"]:
    """Return the ends of the central interval of draws, (2, ...)."""
    tail = (1.0 - probability) / 2.0
    return np.quantile(values, [tail, 1.0 - tail], axis=0)
