"""Worlds of Yang, Ren, Dhillon and Sanghavi (2021): no total order of the arms needed.

The camera example of Section 3.4, the instances D.1 to D.3 of the experiments, and
the families C.1 and C.2 of the lower bound. D.4 is in ``random_tables``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bayesduel.errors import ChoiceWorldError
from bayesduel.instances.choice.choice_instance import ChoiceWorld
from bayesduel.instances.choice.rules import (
    GaussianRule,
    IndependentRule,
    LogitRule,
    TableRule,
)
from bayesduel.instances.generators.instance import check_num_arms, spell
from theory.arguments import arm_index, as_number, integer_from, number_that
from theory.choice.tables import ChoiceTable

_SOURCE = (
    "Yang, Ren, Dhillon and Sanghavi (2021), Combinatorial Bandits without Total Order "
    "for Arms"
)

_CAMERAS = ("Nikon", "Canon", "Sony", "digital camera", "keyboard", "shoes")

# Upper triangle of M_ij = P(i|{i,j}) - P(j|{i,j}) in instance D.3.
_PAIRS = """
0.02 0.05 0.10 0.10 0.20 0.25 0.30 0.30 0.30
0.05 0.10 0.10 0.20 0.25 0.30 0.30 0.30
0.45 0.45 0.45 0.45 0.45 0.45 0.45
-0.30 0.30 0 0 0 0
-0.30 0 0 0 0
0 0 0 0
0 0 0
0 0
0
"""


def camera() -> ChoiceWorld:
    """Return the camera example: three of six results of a search are shown.

    A result named "digital camera" is clicked by everybody who finds nothing better:
    P(DC|s) = 0.85 - sum of the others. Weak optimal-set consistency holds, a total
    order does not exist (Section 3.4).

    Returns
    -------
    ChoiceWorld
        Best set (0, 1, 2) with 0.90; every set with the digital camera has 0.85.

    Examples
    --------
    >>> world = camera()
    >>> world.best_set, world.probabilities((0, 1, 3)).round(2).tolist()
    ((0, 1, 2), [0.35, 0.3, 0.0, 0.2, 0.0, 0.0])
    """
    alone = np.array([0.35, 0.30, 0.25, 0.0, 0.01, 0.01])

    def rule(sets: NDArray[np.int64]) -> NDArray[np.float64]:
        probabilities = alone[sets]
        rest = 0.85 - probabilities.sum(axis=1, keepdims=True)
        return np.where(sets == 3, rest, probabilities)

    return ChoiceWorld(
        rule=TableRule.of(ChoiceTable.from_rule(6, 3, rule), exclusive=True),
        subset_size=3,
        name="camera",
        source=f"{_SOURCE}, Section 3.4",
        arm_names=_CAMERAS,
    )


def mnl(
    num_arms: int = 20, subset_size: int = 10, top: float = 0.96, step: float = 0.04
) -> ChoiceWorld:
    """Return D.1: multinomial logit with weights in arithmetic progression.

    v_i = top - step i for i = 0, 1, ...; P(i|s) = v_i / (1 + sum of v over s).

    Parameters
    ----------
    num_arms, subset_size : int
        n and k; 20 and 10 in the paper.
    top, step : float
        Largest weight and step; 0.96 and 0.04 in the paper.

    Returns
    -------
    ChoiceWorld
        Regret ``mnl_no_choice``.

    Examples
    --------
    >>> world = mnl()
    >>> round(1 - float(world.probabilities(world.best_set).sum()), 7)
    0.1136364
    """
    n = check_num_arms(num_arms, 1)
    weights = _progression("top", top, step, n)
    return ChoiceWorld(
        rule=LogitRule.of(weights, 1.0),
        subset_size=subset_size,
        default_notion="mnl_no_choice",
        name=spell(
            "mnl", num_arms=num_arms, subset_size=subset_size, top=top, step=step
        ),
        source=f"D.1 of {_SOURCE}",
    )


def random_utility(
    num_arms: int = 20,
    subset_size: int = 5,
    top: float = 0.96,
    step: float = 0.04,
    no_choice_mean: float = 2.0,
) -> ChoiceWorld:
    """Return D.2: Gaussian random utilities with means in arithmetic progression.

    The largest of the utilities Normal(mu_i, 1) of the offered arms and Normal(mu_0, 1)
    of no choice wins; mu_i = top - step i for i = 0, 1, ...

    Parameters
    ----------
    num_arms, subset_size : int
        n and k; 20 and 5 in the paper.
    top, step : float
        Largest mean and step; 0.96 and 0.04 in the paper.
    no_choice_mean : float
        mu_0; 2 in the paper.

    Returns
    -------
    ChoiceWorld
        Regret ``utility_sum``, a surrogate: no difference of choice probabilities.

    Examples
    --------
    >>> world = random_utility()
    >>> round(1 - float(world.probabilities(world.best_set).sum()), 6)
    0.488405
    """
    n = check_num_arms(num_arms, 1)
    top, step = (
        number_that(value, name, "a finite number", lambda _: True)
        for name, value in (("top", top), ("step", step))
    )
    means = top - step * np.arange(n)
    return ChoiceWorld(
        rule=GaussianRule.of(means, no_choice_mean),
        subset_size=subset_size,
        default_notion="utility_sum",
        name=spell(
            "random-utility",
            num_arms=num_arms,
            subset_size=subset_size,
            top=top,
            step=step,
            no_choice_mean=no_choice_mean,
        ),
        source=f"D.2 of {_SOURCE}",
    )


def preference_pairs() -> ChoiceWorld:
    """Return D.3: two of ten arms, by a preference matrix with a no-choice option.

    P(0|s) = 0.08 for the best pair and 0.10 for all others. Arm 2 looks best in most
    sets, arms 3, 4, 5 form a cycle; weak optimal-set consistency holds.

    Returns
    -------
    ChoiceWorld
        Best set (0, 1); every other pair has regret 0.02 (``no_choice``).

    Examples
    --------
    >>> world = preference_pairs()
    >>> (
    ...     world.probabilities((0, 1)).round(3)[:2].tolist(),
    ...     world.probabilities((2, 9))[2].round(3),
    ... )
    ([0.47, 0.45], np.float64(0.675))
    """
    margins = np.zeros((10, 10))
    rows, columns = np.triu_indices(10, 1)
    margins[rows, columns] = [float(entry) for entry in _PAIRS.split()]
    margins -= margins.T

    def rule(sets: NDArray[np.int64]) -> NDArray[np.float64]:
        first, second = sets.T
        some = np.where((first == 0) & (second == 1), 0.92, 0.90)
        lead = margins[first, second]
        return np.stack([(some + lead) / 2, (some - lead) / 2], axis=1)

    return ChoiceWorld(
        rule=TableRule.of(ChoiceTable.from_rule(10, 2, rule), exclusive=True),
        subset_size=2,
        default_notion="no_choice",
        name="preference-pairs",
        source=f"D.3 of {_SOURCE}",
    )


def exclusive_gap(
    num_arms: int = 10, subset_size: int = 3, gap: float = 0.05, special: int = 0
) -> ChoiceWorld:
    """Return C.1, the lower-bound instance with at most one reward per round.

    Optimal are the arm ``special`` and the last k - 1 arms; in any set optimal arms
    have probability 1/(k + 1), all others 1/(k + 1) - gap.

    Parameters
    ----------
    num_arms, subset_size : int
        Arms in total, n + k - 1 in the paper, and k.
    gap : float
        From 0 to below 1/(k + 1).
    special : int
        The arm of the first n that is optimal, numbered from 0.

    Examples
    --------
    >>> exclusive_gap(5, 2, 0.1, special=1).best_set
    (1, 4)
    """
    subset_size = integer_from(subset_size, 1, "subset_size")
    arguments = _gap_arguments(num_arms, subset_size, gap, special, subset_size + 1)
    probabilities = _gap_probabilities(*arguments, 1 / (subset_size + 1))

    def rule(sets: NDArray[np.int64]) -> NDArray[np.float64]:
        return probabilities[sets]

    table = ChoiceTable.from_rule(num_arms, subset_size, rule)
    return ChoiceWorld(
        rule=TableRule.of(table, exclusive=True),
        subset_size=subset_size,
        name=spell(
            "exclusive-gap",
            num_arms=num_arms,
            subset_size=subset_size,
            gap=gap,
            special=special,
        ),
        source=f"C.1 of {_SOURCE}",
    )


def independent_gap(
    num_arms: int = 10, subset_size: int = 3, gap: float = 0.05, special: int = 0
) -> ChoiceWorld:
    """Return C.2, the lower-bound instance with several rewards per round.

    As `exclusive_gap` with 1/2 and 1/2 - gap; the offered arms are rewarded
    independently of one another.

    Parameters
    ----------
    num_arms, subset_size, gap, special
        As in `exclusive_gap`; the gap is from 0 to below 1/2.

    Examples
    --------
    >>> independent_gap(5, 2, 0.1).probabilities((0, 1)).tolist()
    [0.5, 0.4, 0.0, 0.0, 0.0]
    """
    arguments = _gap_arguments(num_arms, subset_size, gap, special, 2)
    return ChoiceWorld(
        rule=IndependentRule.of(_gap_probabilities(*arguments, 0.5)),
        subset_size=subset_size,
        feedback="independent",
        name=spell(
            "independent-gap",
            num_arms=num_arms,
            subset_size=subset_size,
            gap=gap,
            special=special,
        ),
        source=f"C.2 of {_SOURCE}",
    )


def _gap_arguments(
    num_arms: int, subset_size: int, gap: float, special: int, parts: int
) -> tuple[int, int, float, int]:
    n = check_num_arms(num_arms)
    k = integer_from(subset_size, 1, "subset_size", n, kind=ChoiceWorldError)
    arm_index(special, n, "special")
    if special > n - k:
        raise ChoiceWorldError(
            "special",
            f"must be one of the first {n - k + 1} arms (the last {k - 1} are "
            "optimal anyway)",
            special,
        )
    rule = f"from 0 to below 1/{parts}"
    return n, k, number_that(gap, "gap", rule, lambda x: 0 <= x < 1 / parts), special


def _gap_probabilities(
    num_arms: int, subset_size: int, gap: float, special: int, high: float
) -> NDArray[np.float64]:
    probabilities = np.full(num_arms, high - gap)
    probabilities[[special, *range(num_arms - subset_size + 1, num_arms)]] = high
    return probabilities


def _progression(
    argument: str, top: float, step: float, length: int
) -> NDArray[np.float64]:
    down = as_number(step)

    def positive(first: float) -> bool:
        last = first - down * (length - 1)
        return math.isfinite(last) and min(first, last) > 0

    rule = f"such that all {length} weights from it down, step {step!r}, are positive"
    first = number_that(top, argument, rule, positive)
    return np.array([first - down * index for index in range(length)])
