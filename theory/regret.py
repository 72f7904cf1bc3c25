"""Regret of one duel, for every notion of regret between two arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.arguments import one_of, true_or_false
from theory.errors import InvalidPreferenceError

if TYPE_CHECKING:
    from jaxtyping import Float64


REGRET_NOTIONS: tuple[str, ...] = (
    "copeland",
    "copeland_losses",
    "copeland_zoghi",
    "copeland_binary",
    "borda",
    "condorcet_mean",
    "condorcet_sum",
    "condorcet_max",
    "weak",
    "weak_binary",
    "strong_binary",
)
"""Names of the notions; those after "borda" need a Condorcet winner."""

_NEED_WINNER = REGRET_NOTIONS[REGRET_NOTIONS.index("borda") + 1 :]


def pair_regret(
    values: Float64[np.ndarray, "K K"],
    gaps: Float64[np.ndarray, "K K"],
    notion: str,
    *,
    include_self: bool = False,
) -> Float64[np.ndarray, "K K"]:
    """Compute the regret of one duel of every pair.

    Parameters
    ----------
    values : float (K, K)
        A preference matrix that was checked before.
    gaps : float (K, K)
        Its antisymmetric part; exactly 0 where two arms tie.
    notion : str
        One of `REGRET_NOTIONS`. With beats_i and L_i the numbers of arms that i beats
        and that beat i, zeta_i = beats_i / (K - 1), w the Condorcet winner, and gap_i
        = gaps[w, i], a duel of a and b costs

        - ``copeland``: max zeta - (zeta_a + zeta_b) / 2 (Wu and Liu 2016, eq. 1).
        - ``copeland_losses``: (L_a + L_b - 2 min L) / (2 (K - 1)) (Komiyama et al.
          2016, section 2). The same as ``copeland`` unless arms tie.
        - ``copeland_zoghi``: twice ``copeland`` (Zoghi et al. 2015).
        - ``copeland_binary``: 1 unless both arms are Copeland winners by beats.
        - ``borda``: max b - (b_a + b_b) / 2, where b_i is the mean of values[i, j] over
          the other arms, or over all K arms with `include_self` (Agrawal and Chaporkar
          2019).
        - ``condorcet_mean``: (gap_a + gap_b) / 2 (Komiyama et al. 2015).
        - ``condorcet_sum``: gap_a + gap_b, the strong regret of Yue et al. 2012.
        - ``condorcet_max``: max(gap_a, gap_b).
        - ``weak``: min(gap_a, gap_b) (Yue et al. 2012).
        - ``weak_binary``: 1 unless one of the two is w (Chen and Frazier 2017).
        - ``strong_binary``: 1 unless both are w (Chen and Frazier 2017).
    include_self : bool
        As in `theory.PreferenceMatrix.regret_per_pair`, which asks for this.
    """
    true_or_false(include_self, "include_self")
    one_of(notion, REGRET_NOTIONS, "notion", kind=InvalidPreferenceError)
    num_arms = len(values)
    beats, losses = (gaps > 0).sum(axis=1), (gaps < 0).sum(axis=1)
    if notion == "borda":
        means = (values.sum(axis=1) - 0.5) / (num_arms - 1)
        lacks = values.mean(axis=1) if include_self else means
        lacks = lacks.max() - lacks
    elif notion in _NEED_WINNER:
        winners = np.flatnonzero(beats == num_arms - 1)
        if winners.size == 0:
            raise InvalidPreferenceError(
                "notion",
                "must be 'copeland' or 'borda' for a matrix without a Condorcet "
                "winner, an arm that beats all others",
                notion,
            )
        # The gap of the winner is exactly 0, that of every other arm is positive.
        lacks = gaps[winners[0]]
    elif notion == "copeland_losses":
        lacks = (losses - losses.min()) / (num_arms - 1)
    else:
        # From a difference of integers: exactly 0 for winners.
        lacks = (beats.max() - beats) / (num_arms - 1)
    first, second = lacks[:, None], lacks[None, :]
    if notion in ("condorcet_sum", "copeland_zoghi"):
        return first + second
    if notion == "condorcet_max":
        return np.maximum(first, second)
    if notion == "weak":
        return np.minimum(first, second)
    if notion == "weak_binary":
        return ((first > 0) & (second > 0)).astype(np.float64)
    if notion in ("strong_binary", "copeland_binary"):
        return ((first > 0) | (second > 0)).astype(np.float64)
    return (first + second) / 2
