"""Regret bounds of subset choice without a total order of the arms.

Yang, Ren, Dhillon and Sanghavi (2021): n arms, sets of k arms are offered, every
offered arm returns a reward, and the index rule of their Algorithm 1 offers the k arms
with the largest C/N + Bmax sqrt(alpha log T / N). Regret of a round: expected reward of
the best set minus that of the set offered, "expected_reward". Natural logarithms. The
assumption on the choice probabilities is checked by
`theory.choice.tables.find_inconsistency`.
"""

from __future__ import annotations

import math
from typing import Any

from theory.arguments import (
    instance_of,
    integer_from,
    number_above,
    number_from,
    one_of,
    true_or_false,
)
from theory.choice.tables import ChoiceTable, find_inconsistency, find_missing_set
from theory.errors import ArgumentError
from theory.regret_bound import PowerTerm, RegretBound
from theory.theorems.catalog import theorem

_REGRET = "expected_reward"
_CONSISTENT = "weak optimal-set consistency"
_PAPER = "Yang, Ren, Dhillon and Sanghavi (2021)"
_POLICY = "UCB-no-order"
_ASSUMPTIONS = (_CONSISTENT, "rewards 0 or 1", "alpha >= 2", "log T >= 5")
# Lemma 7 uses log T >= 5.
_MINIMUM_HORIZON = math.ceil(math.exp(5))
# Theorem 3 follows from its lemmas for sets of at most so many arms.
_LARGEST_PROVED_SET = 6


def subset_gap_bound(
    num_arms: int,
    set_size: int,
    gap: float,
    *,
    alpha: float = 2.0,
    form: str = "lemmas",
) -> RegretBound:
    """Compute the gap-dependent bound of the index rule without total order.

    (4 sqrt(10) k^(3/2) + 5 k^2 (k - 1)) alpha n log T / eps + n + 2 k n 149^(2 - 2
    alpha), or as printed 8 alpha k^(3/2) n log T / eps + 30 alpha k^2 n log T / eps +
    n.

    Parameters
    ----------
    num_arms, set_size : int
        n and k, 1 <= k <= n.
    gap : float
        eps > 0: expected reward of the best set minus that of the second best.
    alpha : float
        Width of the index, at least 2.
    form : {"lemmas", "printed"}
        "lemmas": what Lemmas 7 and 8 give without Lemma 13, see the notes. "printed":
        Theorem 3.

    Returns
    -------
    RegretBound
        Regret "expected_reward", rewards 0 or 1, at the end of a run whose horizon the
        rule was told. From T = 149 on, because the proof uses log T >= 5. Kind "upper";
        the printed form is "unproved" for k >= 7.

    Notes
    -----
    Two steps of the printed proof do not hold. Lemma 8 with the constant 40 of Lemma 7
    gives 2 sqrt(40) = 4 sqrt(10) = 12.6 in the first term, not 8. Lemma 13 needs the
    sum over i < l of 4 delta_il (Delta_l + eps) / (Delta_i + eps)^2 to be at most 2,
    and Lemma 15 proves that for the sum over the second index; with P_1, ..., P_(k - 1)
    all eps above P_k the one needed is k - 1. Without Lemma 13, delta_lk <= Delta_l and
    Lemma 7 give 10 alpha l k n log T / eps per arm l, in sum the first form. It is
    below the printed bound for k <= 6, which is proved by that; for larger sets the
    factor k^2 of Theorem 3 is not proved.

    The lemmas hold while no confidence bound fails. By Lemma 11 one of n arms fails
    after one of T plays with probability at most 2 n T^(1 - 2 alpha); then a run costs
    at most k T. The last term is the largest value of the product, at T = 149.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Theorem 3.

    Examples
    --------
    >>> bound = subset_gap_bound(6, 3, 0.05)
    >>> round(bound.log_coefficient, 3), round(bound.constant, 6), bound.kind
    (37374.41, 6.001622, 'upper')
    >>> subset_gap_bound(20, 7, 0.05, form="printed").kind
    'unproved'
    """
    n, k = _sizes(num_arms, set_size)
    eps, width = number_above(gap, 0.0, "gap"), number_from(alpha, 2, "alpha")
    factors = {
        "lemmas": 4 * math.sqrt(10) * k**1.5 + 5 * k**2 * (k - 1),
        "printed": 8 * k**1.5 + 30 * k**2,
    }
    one_of(form, factors, "form")
    lemmas = form == "lemmas"
    proved = lemmas or k <= _LARGEST_PROVED_SET
    failure = 2 * k * n * float(_MINIMUM_HORIZON) ** (2 - 2 * width) if lemmas else 0.0
    return RegretBound(
        name="UCB without total order" + ("" if lemmas else ", as printed"),
        log_coefficient=factors[form] * width * n / eps,
        constant=n + failure,
        kind="upper" if proved else "unproved",
        regret=_REGRET,
        assumptions=_ASSUMPTIONS,
        remainder="" if proved else "Lemma 13 is not proved",
        source=f"{_PAPER}, " + ("Lemmas 7 and 8" if lemmas else "Theorem 3"),
        minimum_horizon=_MINIMUM_HORIZON,
        **_of_policy(width),
    )


def subset_gap_free_bound(
    num_arms: int, set_size: int, *, alpha: float = 2.0
) -> RegretBound:
    """Compute the bound of the index rule without total order for any gap.

    2 sqrt(alpha k n T log T) + 15 k^2 sqrt(alpha n T log T).

    Parameters
    ----------
    num_arms, set_size, alpha
        As in `subset_gap_bound`.

    Returns
    -------
    RegretBound
        Regret "expected_reward", rewards 0 or 1, at the end of a run whose horizon the
        rule was told; kind "upper". From T = 149 on, because the proof uses log T >= 5,
        and from T = n on, see the notes.

    Notes
    -----
    The proof splits the arms of the best set by their Delta_l. Lemma 7 gives at most 2
    k^2 sqrt(alpha n T log T) for those with the larger Delta_l (printed as 5), the
    others cost at most 10 k^2 sqrt(alpha n T log T). What is left of the factor 15
    exceeds the n of Lemma 8, which is not printed, and what a failing confidence bound
    costs, see `subset_gap_bound`.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Theorem 4.

    Examples
    --------
    >>> subset_gap_free_bound(6, 3).formula
    '479.6 T^0.5 (log T)^0.5'
    """
    n, k = _sizes(num_arms, set_size)
    width = number_from(alpha, 2, "alpha")
    factor = 2 * math.sqrt(width * k * n) + 15 * k**2 * math.sqrt(width * n)
    return RegretBound(
        name="UCB without total order, any gap",
        log_coefficient=0.0,
        power_terms=(PowerTerm(factor, 0.5, 0.5),),
        kind="upper",
        regret=_REGRET,
        assumptions=_ASSUMPTIONS,
        source=f"{_PAPER}, Theorem 4",
        minimum_horizon=max(_MINIMUM_HORIZON, n),
        **_of_policy(width),
    )


def bounded_reward_order(
    num_arms: int,
    set_size: int,
    gap: float | None = None,
    *,
    largest_reward: float = 1.0,
    alpha: float = 2.0,
) -> RegretBound:
    """Return the order of growth of the index rule for rewards in [0, Bmax].

    alpha k^2 Bmax^2 n log T / eps with a gap, k^2 Bmax sqrt(alpha n T log T) without
    one; the corollary states the smaller of the two.

    Parameters
    ----------
    num_arms, set_size, alpha
        As in `subset_gap_bound`.
    gap : float, optional
        The same.
    largest_reward : float
        Bmax > 0.

    Returns
    -------
    RegretBound
        Regret "expected_reward"; kind "order only".

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Corollary 10.

    Examples
    --------
    >>> bounded_reward_order(6, 3, 0.05, largest_reward=2.0).formula
    '8640 log T'
    >>> bounded_reward_order(6, 3, largest_reward=2.0).formula
    '62.35 T^0.5 (log T)^0.5'
    """
    n, k = _sizes(num_arms, set_size)
    width = number_from(alpha, 2, "alpha")
    top = number_above(largest_reward, 0.0, "largest_reward")
    growth = 0.0
    terms: tuple[PowerTerm, ...] = ()
    if gap is None:
        terms = (PowerTerm(k**2 * top * math.sqrt(width * n), 0.5, 0.5),)
    else:
        growth = width * k**2 * top**2 * n / number_above(gap, 0.0, "gap")
    return RegretBound(
        name="UCB without total order, rewards up to a bound",
        log_coefficient=growth,
        power_terms=terms,
        kind="order only",
        regret=_REGRET,
        assumptions=(
            "weak optimal-set consistency of the expected rewards",
            "rewards between 0 and a known bound",
            "alpha >= 2",
        ),
        remainder="unspecified constant factor",
        source=f"{_PAPER}, Corollary 10",
        **_of_policy(width),
    )


def subset_lower_order(
    num_arms: int, set_size: int, gap: float, *, one_reward: bool = True
) -> RegretBound:
    """Return the order of the lower bound for subset choice.

    n log T / (k eps) if at most one offered arm is rewarded per round, n log T / eps if
    several may be. It is no bound for one given instance: for every algorithm there is
    an instance with this gap that costs as much.

    Parameters
    ----------
    num_arms, set_size, gap
        As in `subset_gap_bound`.
    one_reward : bool
        Whether at most one offered arm is rewarded per round.

    Returns
    -------
    RegretBound
        Regret "expected_reward"; kind "order only".

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Theorem 9.

    Examples
    --------
    >>> subset_lower_order(6, 3, 0.05).formula
    '40 log T'
    """
    n, k = _sizes(num_arms, set_size)
    eps = number_above(gap, 0.0, "gap")
    true_or_false(one_reward, "one_reward")
    rewards = "at most one reward" if one_reward else "several rewards"
    return RegretBound(
        name=f"subset lower bound, {rewards} per round",
        log_coefficient=n / (k * eps if one_reward else eps),
        kind="order only",
        regret=_REGRET,
        assumptions=(f"{rewards} per round", "for some instance with this gap"),
        remainder="unspecified constant factor",
        source=f"{_PAPER}, Theorem 9",
    )


@theorem("UCB without total order", policy=_POLICY, about=ChoiceTable)
def choice_table_bounds(
    table: ChoiceTable, *, alpha: float = 2.0
) -> tuple[RegretBound, RegretBound]:
    """Compute the bounds of the index rule without total order for a table.

    Parameters
    ----------
    table : ChoiceTable
        Choice probabilities of all sets of k out of n arms: the rule may offer any of
        them, and one that is not in the table could be the best.
    alpha : float
        Width of the index, at least 2.

    Returns
    -------
    (RegretBound, RegretBound)
        `theory.theorems.subset_gap_bound` with the gap of the table, and
        `theory.theorems.subset_gap_free_bound`.

    Raises
    ------
    ValueError
        If a set is not in the table (it is named), the table is not weakly optimal-set
        consistent (the set and the arm are named), there is no gap, because several
        sets are best or there is one set only, or alpha is below 2.

    Examples
    --------
    >>> table = ChoiceTable(
    ...     [[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.3, 0]]
    ... )
    >>> [bound.kind for bound in choice_table_bounds(table)]
    ['upper', 'upper']
    """
    missing = find_missing_set(instance_of(table, ChoiceTable, "table"))
    if missing is not None:
        raise ArgumentError(
            "table",
            f"must have the probabilities of all sets of {table.set_size} out of "
            f"{table.num_arms} arms; lacks {missing}",
            table,
            remedy="add its row, or use subset_gap_free_bound if the sets that are "
            "missing are known to be consistent",
        )
    violation = find_inconsistency(table)
    if violation:
        raise ArgumentError(
            "table",
            f"must have weak optimal-set consistency: arm {violation.arm} in set "
            f"{violation.offered} at least the probability that it has in the best set "
            f"{table.best_set}, {violation.in_best_set:.10g}",
            violation.probability,
        )
    if len(table.sets) == 1:
        raise ArgumentError(
            "table",
            "must have a second set for the gap-dependent bound; this one is the only "
            "one, so no round has regret",
            table.best_set,
        )
    if table.gap == 0:
        raise ArgumentError(
            "table",
            "must have a single best set for the gap-dependent bound; another is as "
            "good",
            table.best_set,
            remedy="use subset_gap_free_bound",
        )
    return (
        subset_gap_bound(table.num_arms, table.set_size, table.gap, alpha=alpha),
        subset_gap_free_bound(table.num_arms, table.set_size, alpha=alpha),
    )


def _of_policy(alpha: float) -> dict[str, Any]:
    """Return what the bounds of the index rule have in common."""
    condition = f"alpha = {alpha:g}"
    return {"policy": _POLICY, "condition": condition, "anytime": False}


def _sizes(num_arms: object, set_size: object) -> tuple[int, int]:
    n = integer_from(num_arms, 1, "num_arms")
    return n, integer_from(set_size, 1, "set_size", n)
