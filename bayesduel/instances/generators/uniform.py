"""Random matrices with uniform entries."""

import numpy as np
from numpy.typing import NDArray

from bayesduel.instances.generators.instance import (
    GeneratedInstance,
    check_generator,
    check_num_arms,
    from_upper_triangle,
    make_instance,
    spell,
)
from theory.arguments import number_that, one_of

WINNERS = ("unique_copeland", "condorcet", "any")
"""Conditions on the winner that `uniform_random` knows."""

# Smaller gaps are not drawn: a preference matrix reads gaps below 1e-8 as ties
_TIE = 2e-8


def uniform_random(
    rng: np.random.Generator,
    num_arms: int,
    *,
    winner: str = "unique_copeland",
    min_gap: float = 0.0,
    shuffle: bool = True,
) -> GeneratedInstance:
    """Draw p_ij uniformly from (0, 1) for i < j, given a condition on the winner.

    After Agrawal and Chaporkar (2019), Section 4, who say that the matrix is random
    and its Copeland winner unique; that the entries are uniform is an interpretation.

    The distribution is that of drawing whole matrices until one meets the condition.
    Signs and sizes of the gaps are independent and the condition concerns the signs
    only, so only the signs are drawn again. Given a Condorcet winner, the winner is
    uniform and all pairs without it are free, so nothing is drawn twice: plain
    rejection would succeed with probability K 2^(1-K) only.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws signs, sizes, then the order of the arms.
    num_arms : int
    winner : {"unique_copeland", "condorcet", "any"}
        Exactly one Copeland winner; an arm that beats all others; no condition.
    min_gap : float
        In [0, 1/2). Draws under the further condition abs(p_ij - 1/2) >= min_gap.
        Gaps below 2e-8 are never drawn, so there are no ties.
    shuffle : bool
        Relabel the arms at random. The distribution is the same either way.

    Returns
    -------
    GeneratedInstance
        The matrix and the permutation; unshuffled, the arms stand as drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances import generators
    >>> instance = generators.uniform_random(
    ...     np.random.default_rng(3), 8, winner="condorcet"
    ... )
    >>> int(instance.matrix.wins.max())
    7
    """
    num_arms = check_num_arms(num_arms)
    min_gap = number_that(min_gap, "min_gap", "in [0, 1/2)", lambda x: 0 <= x < 0.5)
    one_of(winner, WINNERS, "winner")
    check_generator(rng)
    signs = _signs(rng, num_arms)
    if winner == "condorcet":
        best = rng.integers(num_arms)
        signs[best, :], signs[:, best] = 1.0, -1.0
        signs[best, best] = 0.0
    while winner == "unique_copeland":
        wins = (signs > 0).sum(axis=1)
        if (wins == wins.max()).sum() == 1:
            break
        signs = _signs(rng, num_arms)
    sizes = rng.uniform(max(min_gap, _TIE), 0.5, (num_arms, num_arms))
    return make_instance(
        from_upper_triangle(0.5 + signs * sizes),
        rng,
        shuffle=shuffle,
        name=spell("uniform-random", num_arms=num_arms, winner=winner, min_gap=min_gap),
        source="uniform entries; after Agrawal and Chaporkar (2019), KLUCB Approach to "
        "Copeland Bandits, Section 4",
    )


def _signs(rng: np.random.Generator, num_arms: int) -> NDArray[np.float64]:
    """Draw a tournament: an antisymmetric matrix of fair signs, diagonal 0."""
    above = np.triu(rng.integers(2, size=(num_arms, num_arms)) * 2.0 - 1.0, 1)
    return above - above.T
