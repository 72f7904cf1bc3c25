"""Regret of offering a set of arms once, for every notion between sets.

Every notion takes one of four forms with a number and a vector, so that a simulator can
evaluate it for a set that it has never seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theory._arrays import AnyArrayLike, floating, is_concrete
from theory.arguments import number_from, one_of
from theory.errors import ArgumentError

if TYPE_CHECKING:
    from jaxtyping import Float


SUBSET_REGRET_NOTIONS: dict[str, str] = {
    "expected_reward": "rewards",
    "mnl_no_choice": "rewards",
    "no_choice": "rewards",
    "revenue": "rewards",
    "utility_sum": "sum",
    "topk": "sum",
    "topk_means": "sum",
    "winner": "mean",
    "choice_bandit": "preferred",
}
"""Notions of regret between sets, and the form of each (see `subset_cost`).

- ``expected_reward``: expected reward of the best set minus that of the offered one
  (Yang et al. 2021).
- ``mnl_no_choice``, ``no_choice``: P(0|s) - P(0|s*), the probability that nothing is
  chosen; the same number in a world with one winner (Yang et al. 2021, D.1 and D.3).
- ``revenue``: largest expected revenue minus that of the offered set (Agrawal et al.
  2019).
- ``utility_sum``: sum of the mean utilities of the k best arms minus that of the
  offered ones (Yang et al. 2021, D.2); a surrogate, no difference of probabilities.
- ``topk``: the same with the weights of multinomial logit, divided by k (Saha and
  Gopalan 2019); ``topk_means``: with the mean rewards of independent arms.
- ``winner``: weight of the best arm minus the mean weight of the offered ones (Saha and
  Gopalan 2019).
- ``choice_bandit``: sum over offered arms i of p(b) - p(i) in the offered set with the
  best arm b added (Agarwal, Johnson and Agarwal 2020; the form was not compared with
  the paper).
"""

# Forms of a cost, see `subset_cost`
SUBSET_REGRET_FORMS: tuple[str, ...] = ("rewards", "sum", "mean", "preferred")


def subset_cost(
    form: str,
    offered: AnyArrayLike,
    choice_probabilities: AnyArrayLike,
    best: AnyArrayLike,
    values: AnyArrayLike,
) -> Float[Any, "*sets"]:
    """Compute the regret of offering a set in one round.

    Parameters
    ----------
    form : str
        - "rewards": best - sum of values_i P(i|s) over the offered arms.
        - "sum": best - sum of values_i.
        - "mean": best - mean of values_i.
        - "preferred": sum of P(b) - P(i) in the set with arm b added; `values` is 1 at
          b and 0 elsewhere, `probabilities` are those of the enlarged set.
    offered : bool array (..., n)
        Which arms are offered.
    choice_probabilities : float array (..., n)
        Choice probabilities.
    best : float array ()
        The number that is subtracted from; not read by "preferred".
    values : float array (n,)
        One number per arm.

    Returns
    -------
    float array (...)

    Examples
    --------
    >>> import numpy as np
    >>> offered = np.array([True, False, True])
    >>> probabilities = np.array([0.5, 0.0, 0.25])
    >>> round(float(subset_cost("rewards", offered, probabilities, 0.9, np.ones(3))), 6)
    0.15
    >>> float(
    ...     subset_cost("sum", offered, probabilities, 2.0, np.array([1.0, 0.8, 0.5]))
    ... )
    0.5
    """
    one_of(form, SUBSET_REGRET_FORMS, "form")
    if is_concrete(offered) or not hasattr(offered, "__array_namespace__"):
        # Sets that NumPy holds can be checked, and the numbers of arms against them.
        is_mask = isinstance(offered, np.ndarray) and offered.dtype == np.bool_
        if not is_mask or not offered.ndim or not offered.any(axis=-1).all():
            raise ArgumentError(
                "offered",
                "must be an array of bool (..., n) with at least one arm per set",
                offered,
            )
        tables = (
            floating(choice_probabilities, "choice_probabilities")[1],
            floating(values, "values")[1],
        )
        for name, table in zip(("choice_probabilities", "values"), tables, strict=True):
            if tuple(table.shape) not in (offered.shape, offered.shape[-1:]):
                raise ArgumentError(
                    name,
                    f"must have one number per arm of offered, shape {offered.shape}",
                    tuple(table.shape),
                )
            if is_concrete(table) and not np.isfinite(table).all():
                raise ArgumentError(name, "must be finite", table)
        number_from(best, -np.inf, "best")
        choice_probabilities, values = tables
    xp = offered.__array_namespace__()
    if form == "rewards":
        return best - xp.sum(
            xp.where(offered, choice_probabilities * values, 0.0), axis=-1
        )
    total = xp.sum(xp.where(offered, values, 0.0), axis=-1)
    size = xp.sum(xp.astype(offered, values.dtype), axis=-1)
    if form == "sum":
        return best - total
    if form == "mean":
        return best - total / size
    leader = xp.sum(choice_probabilities * values, axis=-1)
    return size * leader - xp.sum(xp.where(offered, choice_probabilities, 0.0), axis=-1)
