"""Worlds of subset choice from one's own numbers; ``name`` is theirs in results."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from bayesduel.instances.choice.choice_instance import ChoiceWorld
from bayesduel.instances.choice.rules import (
    GaussianRule,
    IndependentRule,
    LogitRule,
    TableRule,
    arm_vector,
)
from theory.arguments import one_of
from theory.choice.tables import ChoiceTable


def multinomial_logit(
    weights: ArrayLike,
    subset_size: int,
    *,
    no_choice_weight: float = 1.0,
    revenues: Sequence[float] | None = None,
    name: str = "logit",
) -> ChoiceWorld:
    """Return a world with P(i|s) = v_i / (v_0 + sum of v_j over s).

    Parameters
    ----------
    weights : array-like (n,)
        v_i > 0.
    subset_size : int
        k, the largest set.
    no_choice_weight : float
        v_0 >= 0; 0 if somebody is always chosen (choice bandits, Plackett-Luce).
    revenues : sequence of float, optional
        What a choice of each arm earns; 1 by default.

    Returns
    -------
    ChoiceWorld
        Regret ``mnl_no_choice``; ``revenue`` with revenues, ``winner`` without a
        no-choice option.

    Examples
    --------
    >>> multinomial_logit([0.9, 0.5, 0.2], 2).best_set
    (0, 1)
    """
    rule = LogitRule.of(weights, no_choice_weight)
    regret = "mnl_no_choice" if rule.has_no_choice else "winner"
    if revenues is not None:
        revenues = tuple(arm_vector("revenues", revenues).tolist())
    return ChoiceWorld(
        rule=rule,
        subset_size=subset_size,
        revenues=revenues,
        default_notion="revenue" if revenues is not None else regret,
        name=name,
    )


def plackett_luce(
    weights: ArrayLike,
    subset_size: int,
    *,
    depth: int | None = None,
    name: str = "plackett-luce",
) -> ChoiceWorld:
    """Return a world in which offered sets are ranked.

    Arms are drawn without replacement with probabilities in proportion to their
    weights; the ``depth`` first are observed in order.

    Parameters
    ----------
    weights : array-like (n,)
        Positive.
    subset_size : int
        k.
    depth : int, optional
        Observed places, k - 1 (the whole ranking) by default.

    Returns
    -------
    ChoiceWorld
        Regret ``topk``.

    Examples
    --------
    >>> plackett_luce([0.9, 0.5, 0.2], 2).places
    1
    """
    return ChoiceWorld(
        rule=LogitRule.of(weights, 0.0),
        subset_size=subset_size,
        feedback="ranking",
        depth=depth,
        default_notion="topk",
        name=name,
    )


def gaussian_utility(
    means: ArrayLike,
    subset_size: int,
    *,
    no_choice_mean: float | None = None,
    name: str = "gaussian",
) -> ChoiceWorld:
    """Return a world in which the largest of independent normal utilities is chosen.

    Parameters
    ----------
    means : array-like (n,)
        Mean utilities; all variances are 1.
    subset_size : int
        k, the largest set.
    no_choice_mean : float, optional
        Mean utility of choosing nothing; without it somebody is always chosen.

    Returns
    -------
    ChoiceWorld
        Regret ``utility_sum``.

    Examples
    --------
    >>> gaussian_utility([0.5, 0.0, -0.3], 2).probabilities((0, 1))[0].round(4)
    np.float64(0.6382)
    """
    return ChoiceWorld(
        rule=GaussianRule.of(means, no_choice_mean),
        subset_size=subset_size,
        default_notion="utility_sum",
        name=name,
    )


def choice_table(
    table: ChoiceTable, *, feedback: str = "winner", name: str = "table"
) -> ChoiceWorld:
    """Return a world given by the probabilities of all sets of k arms.

    Parameters
    ----------
    table : theory.choice.tables.ChoiceTable
        P(i|s) of every set of k out of n arms.
    feedback : {"winner", "independent"}
        One offered arm at most is chosen, or every arm is rewarded for itself.

    Returns
    -------
    ChoiceWorld
        Regret ``expected_reward``.

    Raises
    ------
    ChoiceWorldError
        If a set is missing, or (with one winner) has probabilities above 1 together.

    Examples
    --------
    >>> table = ChoiceTable(
    ...     [[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.3, 0]]
    ... )
    >>> choice_table(table).best_set
    (0, 1)
    """
    one_of(feedback, ("winner", "independent"), "feedback")
    return ChoiceWorld(
        rule=TableRule.of(table, exclusive=feedback != "independent"),
        subset_size=table.set_size,
        feedback=feedback,
        name=name,
    )


def independent_rewards(
    means: ArrayLike,
    subset_size: int,
    *,
    levels: int = 1,
    largest_reward: float = 1.0,
    name: str = "independent",
) -> ChoiceWorld:
    """Return a world in which every offered arm has a reward of its own.

    The reward of arm i is ``largest_reward`` times a Binomial(levels, means[i]) share:
    0 or 1 by default, any bounded grid with more levels.

    Parameters
    ----------
    means : array-like (n,)
        Mean rewards as shares of the largest one.
    subset_size : int
        k, the largest set.
    levels : int
        Number of steps from no reward to the largest.
    largest_reward : float
        Largest reward of an arm in one round.

    Returns
    -------
    ChoiceWorld
        Regret ``topk_means``.

    Examples
    --------
    >>> independent_rewards([0.9, 0.5, 0.2], 2, largest_reward=2.0).cost(
    ...     "topk_means"
    ... ).best
    2.8
    """
    return ChoiceWorld(
        rule=IndependentRule.of(means),
        subset_size=subset_size,
        feedback="independent",
        levels=levels,
        largest_reward=largest_reward,
        default_notion="topk_means",
        name=name,
    )
