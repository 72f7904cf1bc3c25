"""Who wins, in several senses, in draws of preference matrices."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, Int, Real
from scipy.special import entr

Matrices = Float[np.ndarray, "draw K K"]


def copeland_counts(matrices: Matrices) -> Int[np.ndarray, "draw K"]:
    """Return how many others each arm beats."""
    return np.sum(matrices > 0.5, axis=2)


def borda_scores(matrices: Matrices) -> Float[np.ndarray, "draw K"]:
    """Return the mean probability of beating one of the others."""
    return (matrices.sum(axis=2) - 0.5) / (matrices.shape[2] - 1)


SCORES: dict[str, Callable[[Matrices], np.ndarray]] = {
    "borda": borda_scores,
    "copeland": copeland_counts,
}


def scores_of(blocks: Iterable[Matrices]) -> dict[str, Real[np.ndarray, "draw K"]]:
    """Return all :data:`SCORES`, by name, looking at each matrix once."""
    found = [{name: of(block) for name, of in SCORES.items()} for block in blocks]
    return {name: np.concatenate([each[name] for each in found]) for name in SCORES}


def winner_shares(
    scores: dict[str, Real[np.ndarray, "draw K"]],
) -> dict[str, Float[np.ndarray, " K"]]:
    """Return the share of draws in which each arm is a winner, from :func:`scores_of`.

    ``condorcet``: it beats all others. ``copeland``: no arm beats more; all arms that
    share the first place count. ``borda``: the largest score.
    """
    beaten, borda = scores["copeland"], scores["borda"]
    first = {
        "condorcet": beaten == beaten.shape[1] - 1,
        "copeland": beaten == beaten.max(axis=1, keepdims=True),
        "borda": borda == borda.max(axis=1, keepdims=True),
    }
    return {name: np.mean(each, axis=0) for name, each in first.items()}


def winner_shares_by_utility(
    utilities: Float[np.ndarray, "draw K"],
) -> dict[str, Float[np.ndarray, " K"]]:
    """Return :func:`winner_shares` where the larger utility always wins.

    The arms with the largest one then share all first places, and a single one beats
    all others. K numbers per draw say it, in place of K^2.
    """
    first = utilities == utilities.max(axis=1, keepdims=True)
    alone = first & (first.sum(axis=1, keepdims=True) == 1)
    shared = first.mean(axis=0)
    return {"condorcet": alone.mean(axis=0), "copeland": shared, "borda": shared}


def condorcet_exists(condorcet: Float[np.ndarray, " K"], num_draws: int) -> float:
    """Return the share of draws in which some arm beats all others.

    No two do, so it is the sum of the arms' shares, but for their rounding.
    """
    return round(float(condorcet.sum()) * num_draws) / num_draws


def ranks_of(scores: Real[np.ndarray, "draw K"]) -> Int[np.ndarray, "draw K"]:
    """Return 1 plus the number of arms with a larger score."""
    ordered = np.sort(scores, axis=1)
    return np.stack(
        [
            1 + scores.shape[1] - np.searchsorted(row, values, side="right")
            for row, values in zip(ordered, scores, strict=True)
        ]
    )


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
