"""Matrices in which the arms have a known order: by formula, without noise.

Every function here returns an `GeneratedInstance` with the arms shuffled by `rng`.
Without shuffling, arm 0 is the best one, arm 1 the next and so on.
"""

import numpy as np

from bayesduel.errors import ArgumentError
from bayesduel.instances.generators.instance import (
    GeneratedInstance,
    check_num_arms,
    from_upper_triangle,
    make_instance,
    spell,
)
from theory.arguments import number_that, true_or_false
from theory.preferences import PreferenceMatrix


def linear_order(
    rng: np.random.Generator | None,
    num_arms: int,
    step: float,
    *,
    clip: bool = False,
    shuffle: bool = True,
) -> GeneratedInstance:
    """Return p_ij = 1/2 + step (j - i).

    A total order with strong stochastic transitivity (SST) and the stochastic
    triangle inequality (STI). Eight arms with step 0.05 are the matrix Arithmetic of
    Komiyama, Honda, Kashima and Nakagawa (2015).

    Parameters
    ----------
    rng : numpy.random.Generator or None
    num_arms : int
    step : float
        Positive. Without `clip`, step (K - 1) must not exceed 1/2.
    clip : bool
        Cut the probabilities off at 0 and 1 instead of raising an error. SST
        survives; distant arms become equally good against the same opponent.
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.linear_order(None, 3, 0.25, shuffle=False).matrix.values
    array([[0.5 , 0.75, 1.  ],
           [0.25, 0.5 , 0.75],
           [0.  , 0.25, 0.5 ]])
    """
    num_arms = check_num_arms(num_arms)
    step = number_that(step, "step", "positive", lambda x: x > 0)
    true_or_false(clip, "clip")
    # 1e-12: steps such as 0.1 times 5 may end a rounding error above 1/2.
    if not clip and step * (num_arms - 1) > 0.5 + 1e-12:
        raise ArgumentError(
            "step",
            f"must be at most 1/2 / (num_arms - 1) = {0.5 / (num_arms - 1):.6g} for "
            f"{num_arms} arms",
            step,
            remedy="pass clip=True to cut probabilities off at 0 and 1",
        )
    arm = np.arange(num_arms)
    upper = np.minimum(0.5 + step * (arm[None, :] - arm[:, None]), 1.0)
    return make_instance(
        from_upper_triangle(upper),
        rng,
        shuffle=shuffle,
        name=spell("linear-order", num_arms=num_arms, step=step),
        source="p_ij = 1/2 + step (j - i); Komiyama et al. (2015), COLT",
    )


def equal_gap(
    rng: np.random.Generator | None, num_arms: int, gap: float, *, shuffle: bool = True
) -> GeneratedInstance:
    """Return p_ij = 1/2 + gap for every i better than j.

    A total order in which every duel is equally hard. SST and STI hold.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    num_arms : int
    gap : float
        In (0, 1/2].
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.equal_gap(None, 3, 0.25, shuffle=False).matrix.values
    array([[0.5 , 0.75, 0.75],
           [0.25, 0.5 , 0.75],
           [0.25, 0.25, 0.5 ]])
    """
    num_arms = check_num_arms(num_arms)
    gap = number_that(gap, "gap", "in (0, 1/2]", lambda x: 0 < x <= 0.5)
    return make_instance(
        from_upper_triangle(np.full((num_arms, num_arms), 0.5 + gap)),
        rng,
        shuffle=shuffle,
        name=spell("equal-gap", num_arms=num_arms, gap=gap),
        source="p_ij = 1/2 + gap for i < j",
    )


def hard_condorcet(
    rng: np.random.Generator | None, num_arms: int, *, shuffle: bool = True
) -> GeneratedInstance:
    """Return p_ij = 1/2 + j / (2 K) for i better than j, j counted from 1.

    The gap depends only on the position of the worse arm; the two best arms are the
    hardest pair, with 1/2 + 1/K. After Urvoy, Clérot, Féraud and Naamane (2013),
    Section 5.2.1, as a public implementation describes it; not compared with the
    paper itself.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    num_arms : int
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.hard_condorcet(None, 4, shuffle=False).matrix.values[0]
    array([0.5  , 0.75 , 0.875, 1.   ])
    """
    num_arms = check_num_arms(num_arms)
    worse = np.arange(1, num_arms + 1) / (2 * num_arms)
    return make_instance(
        from_upper_triangle(np.broadcast_to(0.5 + worse, (num_arms, num_arms))),
        rng,
        shuffle=shuffle,
        name=spell("hard-condorcet", num_arms=num_arms),
        source="Urvoy et al. (2013), Generic Exploration and K-armed Voting Bandits, "
        "ICML, Section 5.2.1",
    )


def mallows(
    rng: np.random.Generator | None, num_arms: int, phi: float, *, shuffle: bool = True
) -> GeneratedInstance:
    """Return the pairwise probabilities of a Mallows model.

    A ranking at Kendall distance d from the central one has a probability in
    proportion to phi^d. For i ranked m = j - i places before j

        p_ij = (m + 1) / (1 - phi^(m+1)) - m / (1 - phi^m)

    (Mallows 1957; Busa-Fekete, Hüllermeier and Szörényi 2014, ICML). It is computed
    in the equal form sum_{z=1}^m z phi^(z-1) / ([m] [m+1]), [m] = sum_{z<m} phi^z,
    which has positive terms only and so keeps its digits as phi approaches 1.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    num_arms : int
    phi : float
        Dispersion in [0, 1). 0 is a fixed ranking (p_ij = 1), towards 1 all rankings
        become equally likely.
    shuffle : bool

    Examples
    --------
    Neighbors in the central ranking are won with probability 1 / (1 + phi):

    >>> from bayesduel.instances import generators
    >>> generators.mallows(None, 4, 0.25, shuffle=False).matrix.values[0, 1]
    np.float64(0.8)
    """
    num_arms = check_num_arms(num_arms)
    phi = number_that(phi, "phi", "in [0, 1)", lambda x: 0 <= x < 1)
    powers = phi ** np.arange(num_arms)
    partial_sums = np.cumsum(powers)  # [1], [2], ..., [K]
    numerators = np.cumsum(np.arange(1, num_arms) * powers[:-1])
    beats_by_distance = np.minimum(
        numerators / (partial_sums[:-1] * partial_sums[1:]), 1.0
    )
    arm = np.arange(num_arms)
    distance = np.maximum(arm[None, :] - arm[:, None], 1)
    return make_instance(
        from_upper_triangle(beats_by_distance[distance - 1]),
        rng,
        shuffle=shuffle,
        name=spell("mallows", num_arms=num_arms, phi=phi),
        source="Mallows (1957), Non-null Ranking Models, Biometrika 44",
    )


def zoghi500(num_arms: int = 500, p_win: float = 0.75) -> PreferenceMatrix:
    """Return the Copeland instance with 500 arms; its paper prints signs only.

    Three Copeland winners, arms 0, 1 and 2, beat each other in a cycle (0 beats 1
    beats 2 beats 0) and beat everybody else; the other arms are totally ordered. For
    500 arms the numbers of arms beaten are 498, 498, 498, 496, 495, ..., 0, which
    fixes the sign of every pair (Zoghi, Karnin, Whiteson and de Rijke 2015; Wu and
    Liu 2016, Appendix D.1.2). The probabilities were not published: every pair is won
    with `p_win` here, and 0.75 is our own choice.

    Parameters
    ----------
    num_arms : int
        K, at least 3.
    p_win : float
        In (1/2, 1].

    Returns
    -------
    PreferenceMatrix
        In the order above; not shuffled.

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.zoghi500(num_arms=6).values
    array([[0.5 , 0.75, 0.25, 0.75, 0.75, 0.75],
           [0.25, 0.5 , 0.75, 0.75, 0.75, 0.75],
           [0.75, 0.25, 0.5 , 0.75, 0.75, 0.75],
           [0.25, 0.25, 0.25, 0.5 , 0.75, 0.75],
           [0.25, 0.25, 0.25, 0.25, 0.5 , 0.75],
           [0.25, 0.25, 0.25, 0.25, 0.25, 0.5 ]])
    """
    num_arms = check_num_arms(num_arms, 3)
    p_win = number_that(p_win, "p_win", "in (1/2, 1]", lambda x: 0.5 < x <= 1)
    upper = np.full((num_arms, num_arms), p_win)
    upper[0, 2] = 1.0 - p_win
    return PreferenceMatrix(
        from_upper_triangle(upper),
        name=spell("zoghi500", num_arms=num_arms, p_win=p_win),
        source="Zoghi et al. (2015), Copeland Dueling Bandits, NIPS (order of the "
        "arms); the probabilities are not published and were chosen here",
    )
