"""Instances of Agarwal, Ghuge and Nagarajan (2022), Batched Dueling Bandits, ICML.

SYN-CD is from their experiments (Section 5); the others are the family behind their
lower bound (Appendix C). All contain exact ties, and algorithms that assume
p_ij != 1/2 may never finish on them. SST and STI hold throughout.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesduel.errors import ArgumentError
from bayesduel.instances.generators.instance import (
    GeneratedInstance,
    check_generator,
    check_num_arms,
    make_instance,
    spell,
)
from theory.arguments import arm_index, integer_from, number_that
from theory.preferences import PreferenceMatrix
from theory.theorems.batched import hard_gap

_SOURCE = "Agarwal, Ghuge and Nagarajan (2022), Batched Dueling Bandits, ICML"


def syn_cd(
    rng: np.random.Generator, num_arms: int = 100, *, shuffle: bool = True
) -> GeneratedInstance:
    """Draw SYN-CD: one arm beats all others by the same random margin, the rest tie.

    The margin is uniform on (0, 1/2) and the winner is uniform (Section 5).

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the margin, then the order of the arms.
    num_arms : int
        K, at least 2; 100 in the paper.
    shuffle : bool
        Relabel the arms at random. Without it the winner is arm 0.

    Returns
    -------
    GeneratedInstance
        The matrix and the permutation; the winner stands where the permutation is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances import generators
    >>> matrix, permutation = generators.syn_cd(np.random.default_rng(5))
    >>> matrix.condorcet_winner == int(np.argmin(permutation))
    True
    """
    num_arms = check_num_arms(num_arms)
    margin = check_generator(rng).uniform(1e-7, 0.5)  # (0, 1/2) without its 0
    values = np.full((num_arms, num_arms), 0.5)
    _raise_arm(values, 0, margin)
    return make_instance(
        values,
        rng,
        shuffle=shuffle,
        name=spell("syn-cd", num_arms=num_arms),
        source=f"SYN-CD of {_SOURCE}, Section 5",
    )


def batched_gap(
    batch: int, *, num_arms: int = 100, num_batches: int = 16, horizon: float = 1e5
) -> float:
    """Return the gap Delta_j = sqrt(K) / (24 B) * T^(-(j-1) / (2 B)).

    Appendix C of Agarwal et al. (2022).

    Parameters
    ----------
    batch : int
        j, from 1 to `num_batches`.
    num_arms, num_batches : int
        K at least 2 and B at least 1, with sqrt(K) <= 6 B, so that 2 Delta_1 <= 1/2.
    horizon : float
        T, at least 1.

    Returns
    -------
    float
        The gap.

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> [round(generators.batched_gap(j), 6) for j in (1, 2, 3, 4)]
    [0.026042, 0.018173, 0.012681, 0.00885]
    """
    num_arms = check_num_arms(num_arms)
    num_batches = integer_from(num_batches, 1, "num_batches")
    batch = integer_from(batch, 1, "batch")
    if batch > num_batches:
        raise ArgumentError(
            "batch",
            f"must be at most num_batches = {num_batches}",
            batch,
            remedy="batches are numbered from 1",
        )
    horizon = number_that(horizon, "horizon", "at least 1", lambda x: x >= 1)
    if num_arms > 36 * num_batches**2:
        raise ArgumentError(
            "num_batches",
            f"must be at least sqrt(num_arms) / 6 for {num_arms} arms, so that no "
            "probability exceeds 1",
            num_batches,
            remedy=f"use at least {math.ceil(math.sqrt(num_arms) / 6)} batches",
        )
    return hard_gap(num_arms, horizon, num_batches, batch)


def batched_all_ties(num_arms: int = 100) -> PreferenceMatrix:
    """Return the instance F of the batched lower bound: every entry is 1/2.

    Appendix C of Agarwal et al. (2022). No arm beats any other, so every notion of
    regret that exists for it is 0.

    Parameters
    ----------
    num_arms : int

    Returns
    -------
    PreferenceMatrix
        Float64 (K, K).

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.batched_all_ties(2).values
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    num_arms = check_num_arms(num_arms)
    return PreferenceMatrix(
        np.full((num_arms, num_arms), 0.5),
        name=spell("batched-all-ties", num_arms=num_arms),
        source=f"F of {_SOURCE}, Appendix C",
    )


def batched_one_winner(
    batch: int,
    winner: int,
    *,
    num_arms: int = 100,
    num_batches: int = 16,
    horizon: float = 1e5,
) -> PreferenceMatrix:
    """Return E(j, k): arm k beats every other arm by Delta_j, the others tie.

    Appendix C of Agarwal et al. (2022); Delta_j is `batched_gap`.

    Parameters
    ----------
    batch : int
        j, from 1 to `num_batches`.
    winner : int
        k, the Condorcet winner, numbered from 0.
    num_arms, num_batches, horizon
        As in `batched_gap`.

    Returns
    -------
    PreferenceMatrix
        Float64 (K, K).

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.batched_one_winner(1, 7).condorcet_winner
    7
    """
    return _levels(
        "batched-one-winner",
        "E(j, k)",
        batch,
        {"winner": winner},
        num_arms=num_arms,
        num_batches=num_batches,
        horizon=horizon,
    )


def batched_two_levels(
    batch: int,
    runner_up: int,
    winner: int,
    *,
    num_arms: int = 100,
    num_batches: int = 16,
    horizon: float = 1e5,
) -> PreferenceMatrix:
    """Return Q(j, k, l): arm l beats all by 2 Delta_j, arm k all but l by Delta_j.

    Appendix C of Agarwal et al. (2022); Delta_j is `batched_gap`. The remaining arms
    tie. Q(j, k, k) is E(j, k), as in the paper.

    Parameters
    ----------
    batch : int
        j, from 1 to `num_batches`.
    runner_up : int
        k, numbered from 0.
    winner : int
        l, the Condorcet winner, numbered from 0.
    num_arms, num_batches, horizon
        As in `batched_gap`.

    Returns
    -------
    PreferenceMatrix
        Float64 (K, K).

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> matrix = generators.batched_two_levels(1, runner_up=2, winner=7)
    >>> matrix.condorcet_winner, int(matrix.wins[2])
    (7, 98)
    """
    return _levels(
        "batched-two-levels",
        "Q(j, k, l)",
        batch,
        {"runner_up": runner_up, "winner": winner},
        num_arms=num_arms,
        num_batches=num_batches,
        horizon=horizon,
    )


def _levels(
    family: str, symbol: str, batch: int, arms: dict[str, int], **problem: Any
) -> PreferenceMatrix:
    """Let the first arm beat the others by a gap, the second all by twice of it."""
    gap = batched_gap(batch, **problem)
    num_arms = check_num_arms(problem["num_arms"])
    arms = {name: arm_index(arm, num_arms, name) for name, arm in arms.items()}
    values = np.full((num_arms, num_arms), 0.5)
    # Q(j, k, k) has one level.
    for level, arm in enumerate(dict.fromkeys(arms.values()), start=1):
        _raise_arm(values, arm, level * gap)
    return PreferenceMatrix(
        values,
        name=spell(family, batch=batch, **arms, **problem),
        source=f"{symbol} of {_SOURCE}, Appendix C",
    )


def _raise_arm(values: NDArray[np.float64], arm: int, gap: float) -> None:
    """Let `arm` beat every other arm by `gap`, in place."""
    values[arm, :] = 0.5 + gap
    values[:, arm] = 0.5 - gap
    values[arm, arm] = 0.5
