"""Who wins, in several senses, in draws of preference matrices."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, Int, Real, Shaped
from scipy.special import entr

Matrices = Float[np.ndarray, "draw K K"]
Parts = Sequence[Int[np.ndarray, " arm"]]
"""Arms that votes connect, a part each; every arm is in one."""


SCORES: dict[str, Callable[[Matrices], np.ndarray]] = {
    # The mean probability of beating one of the others, and how many an arm beats.
    "borda": lambda matrices: (matrices.sum(axis=2) - 0.5) / (matrices.shape[2] - 1),
    "copeland": lambda matrices: np.sum(matrices > 0.5, axis=2),
}


def scores_of(
    blocks: Iterable[Matrices], parts: Parts | None = None
) -> dict[str, Real[np.ndarray, "draw K"]]:
    """Return all :data:`SCORES`, by name, looking at each matrix once."""

    def within_parts(score: Callable, block: Matrices) -> np.ndarray:
        if parts is None or len(parts) == 1:
            return score(block)
        values = np.full(block.shape[:2], np.nan)
        for part in parts:
            if len(part) > 1:
                values[:, part] = score(block[:, part[:, None], part])
        return values

    by_block = [
        {name: within_parts(score, block) for name, score in SCORES.items()}
        for block in blocks
    ]
    return {
        name: np.concatenate([block[name] for block in by_block]) for name in SCORES
    }


def over_parts(
    parts: Parts, of: Callable[[Any], dict[str, Any]]
) -> dict[str, Shaped[np.ndarray, " K"]]:
    """Return what a function says of the arms of each part by themselves."""
    if len(parts) == 1:
        return of(slice(None))
    by_name: dict[str, np.ndarray] = {}
    num_arms = sum(map(len, parts))
    for part in parts:
        for name, values in of(part).items():
            every = by_name.setdefault(name, np.full(num_arms, np.nan))
            if len(part) > 1:
                every[part] = values
    return by_name


def centered(
    part_of: Int[np.ndarray, " K"], utilities: Float[np.ndarray, "draw K"]
) -> Float[np.ndarray, "draw K"]:
    """Return utilities minus the mean of their part; nan for an arm alone in it."""
    leads = np.full(utilities.shape, np.nan)
    for number in np.unique(part_of):
        part = np.flatnonzero(part_of == number)
        if len(part) > 1:
            leads[:, part] = utilities[:, part]
            leads[:, part] -= utilities[:, part].mean(axis=1, keepdims=True)
    return leads


def ordering_scores(fit: Any) -> tuple[str, Shaped[np.ndarray, "draw K"]]:
    """Return what the arms of a fit are ordered by, and that in every draw."""
    utilities = fit.model.utilities(fit.flat_draws())
    if utilities is None:
        return "borda", fit.scores["borda"]
    return "utility", centered(fit.part_of, utilities)


def winner_shares(
    scores: dict[str, Real[np.ndarray, "draw K"]],
) -> dict[str, Float[np.ndarray, " K"]]:
    """Return the share of draws in which each arm is a winner, in several senses."""
    beaten, borda = scores["copeland"], scores["borda"]
    first = {
        "condorcet": beaten == beaten.shape[1] - 1,
        "copeland": beaten == beaten.max(axis=1, keepdims=True),
        "borda": borda == borda.max(axis=1, keepdims=True),
    }
    return {name: np.mean(is_first, axis=0) for name, is_first in first.items()}


def winner_shares_by_utility(
    utilities: Float[np.ndarray, "draw K"],
) -> dict[str, Float[np.ndarray, " K"]]:
    """Return :func:`winner_shares` where the larger utility always wins."""
    first = utilities == utilities.max(axis=1, keepdims=True)
    alone = first & (first.sum(axis=1, keepdims=True) == 1)
    shared = first.mean(axis=0)
    shares = {"condorcet": alone.mean(axis=0), "copeland": shared, "borda": shared}
    return shares | best_utility(utilities)


def best_utility(
    utilities: Float[np.ndarray, "draw K"],
) -> dict[str, Float[np.ndarray, " K"]]:
    """Return the share of draws in which each arm has the largest utility."""
    first = utilities == utilities.max(axis=1, keepdims=True)
    return {"best_utility": np.mean(first / first.sum(axis=1, keepdims=True), axis=0)}


def condorcet_exists(
    condorcet: Float[np.ndarray, " K"], num_draws: int, num_parts: int
) -> float:
    """Return the share of draws in which some arm beats all others; nan for parts."""
    if num_parts > 1:
        return float("nan")
    return round(float(condorcet.sum()) * num_draws) / num_draws


def ranks_of(scores: Real[np.ndarray, "draw K"]) -> Int[np.ndarray, "draw K"]:
    """Return 1 plus the number of arms with a larger score."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    first = np.ones(scores.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    places = np.where(first, np.arange(1, scores.shape[1] + 1), 0)
    ranks = np.empty(scores.shape, dtype=np.int64)
    # Equal scores share the place of the first of them.
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=1), axis=1)
    return ranks


def rank_summary(
    scores: Real[np.ndarray, "draw K"], probability: float
) -> dict[str, Shaped[np.ndarray, " K"]]:
    """Return the mean and the central interval of the rank of each arm."""
    ranks = ranks_of(scores)
    tail = (1.0 - probability) / 2.0
    # Quantiles that are ranks themselves and hold at least that much.
    low = np.quantile(ranks, tail, axis=0, method="lower")
    high = np.quantile(ranks, 1.0 - tail, axis=0, method="higher")
    return {
        "mean": ranks.mean(axis=0),
        "lower": low.astype(np.int64),
        "upper": high.astype(np.int64),
    }


def information(
    blocks: Iterable[Float[np.ndarray, "draw ... outcome"]],
) -> Float64[np.ndarray, "..."]:
    """Return H(mean of p) - mean of H(p) over draws of probabilities p, in nats."""
    total: Any = 0.0
    entropy: Any = 0.0
    number = 0
    for block in blocks:
        total = total + block.sum(axis=0)
        entropy = entropy + entr(block).sum(axis=-1).sum(axis=0)
        number += len(block)
    gain = entr(total / number).sum(axis=-1) - entropy / number
    # Not negative but for rounding.
    return np.maximum(gain, 0.0)
