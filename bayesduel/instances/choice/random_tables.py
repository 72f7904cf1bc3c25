"""D.4 of Yang et al. (2021): a random table with weak optimal-set consistency."""

from itertools import combinations
from math import comb, factorial

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import ChoiceWorldError
from bayesduel.instances.choice.choice_instance import MOST_SETS, ChoiceWorld
from bayesduel.instances.choice.rules import TableRule
from bayesduel.instances.generators.instance import (
    check_generator,
    check_num_arms,
    spell,
)
from theory.arguments import integer_from
from theory.choice.tables import ChoiceTable


def random_table(
    rng: np.random.Generator, num_arms: int = 10, subset_size: int = 5
) -> ChoiceWorld:
    """Draw D.4: the best set, and then every other set given that it is no better.

    The arms 0, ..., k - 1 are best, with P(a|s*) uniform on (0, 1/k). For every other
    set s, P(a|s) is uniform on (P(a|s*), 1/k) for arms of both sets and on (0, 1/k) for
    the others, given that the sum does not exceed that of s*.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the table.
    num_arms, subset_size : int
        n and k; 10 and 5 in the paper.

    Returns
    -------
    ChoiceWorld
        Regret ``expected_reward``. (The regret is printed with the opposite sign.)

    Raises
    ------
    ValueError
        If k > n, or there are more than 200000 sets.

    Notes
    -----
    The paper draws a set again until it is accepted, which takes forever for a set that
    shares k - 1 arms with s* and misses one with a tiny probability. The same
    distribution is the uniform one on {0 <= x <= w, sum x <= c}, x the excess over the
    lower ends. It is drawn by rejection from the box or from the simplex, whichever is
    smaller.

    Examples
    --------
    >>> import numpy as np
    >>> random_table(np.random.default_rng(0)).best_set
    (0, 1, 2, 3, 4)
    """
    generator = check_generator(rng)
    n = check_num_arms(num_arms)
    k = integer_from(subset_size, 1, "subset_size")
    if k > n or comb(n, k) > MOST_SETS:
        raise ChoiceWorldError(
            "subset_size",
            f"must be at most num_arms = {n}, with at most {MOST_SETS} sets",
            k,
        )
    sets = np.array(list(combinations(range(n), k)))
    best = generator.uniform(0.0, 1 / k, k)
    probabilities = np.empty(sets.shape)
    probabilities[0] = best  # The first set in lexicographic order.
    for row in range(1, len(sets)):
        arms = sets[row]
        lower = np.where(arms < k, best[np.minimum(arms, k - 1)], 0.0)
        slack = best.sum() - lower.sum()
        excess = uniform_below(generator, 1 / k - lower, slack)
        probabilities[row] = lower + excess
    return ChoiceWorld(
        rule=TableRule.of(ChoiceTable(sets, probabilities), exclusive=True),
        subset_size=k,
        name=spell("random-table", num_arms=n, subset_size=k),
        source="D.4 of Yang, Ren, Dhillon and Sanghavi (2021), Combinatorial Bandits "
        "without Total Order for Arms",
    )


def uniform_below(
    rng: np.random.Generator, widths: Float64[np.ndarray, " k"], total: float
) -> Float64[np.ndarray, " k"]:
    """Draw a uniform point of [0, widths] with coordinates of at most this sum."""
    k = len(widths)
    in_box = np.prod(widths) <= total**k / factorial(k)
    while True:
        if in_box:
            point = rng.uniform(0.0, widths)
            accepted = point.sum() <= total
        else:
            point = total * rng.dirichlet(np.ones(k + 1))[:k]
            accepted = np.all(point <= widths)
        if accepted:
            return point
