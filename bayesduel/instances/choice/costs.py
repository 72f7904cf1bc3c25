"""What a set costs that is offered once, and the worst such set."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from bayesduel.instances.choice.rules import (
    ChoiceRule,
    GaussianRule,
    IndependentRule,
    LogitRule,
    TableRule,
)
from theory.choice.regret import subset_cost


class Cost(NamedTuple):
    """A notion of regret as ``theory.choice.subset_cost`` evaluates it."""

    form: str
    best: Any
    values: Any

    def of(
        self, rule: ChoiceRule, offered: Bool[Any, "*sets n"]
    ) -> Float[Any, "*sets"]:
        """Compute the regret of offering sets once."""
        preferred = self.form == "preferred"
        asked = offered | (self.values == 1.0) if preferred else offered
        probabilities = rule.probabilities(asked)
        return subset_cost(self.form, offered, probabilities, self.best, self.values)


def worst_cost(cost: Cost, rule: ChoiceRule, subset_size: int) -> float | None:
    """Return the regret of the worst set of at most k arms that can be offered.

    None where the rule is none of this package. Of a table by looking at all sets.
    Otherwise the worst set is a single arm, or the m <= k arms with the smallest
    weights, means or utilities:

    - "rewards": those of a set are at least the smallest of its arms alone, which is
      that of the weakest arm unless a logit world has revenues;
    - "mean": the smallest one; "sum": of m arms the m smallest;
    - "preferred" is (m + 1) P(b) + P(0) - 1 in a set of m arms and the best arm b; P(b)
      and P(0) grow as another arm is replaced by a weaker one.
    """
    if isinstance(rule, TableRule):
        rewards = np.sum(rule.by_rank * cost.values, axis=-1)
        return float(cost.best - rewards.min())
    if not isinstance(rule, LogitRule | GaussianRule | IndependentRule):
        return None
    if cost.form == "rewards" and isinstance(rule, LogitRule):
        costs = cost.of(rule, np.eye(rule.num_arms, dtype=bool))
    else:
        most = 1 if cost.form in {"rewards", "mean"} else subset_size
        rank = np.argsort(np.argsort(rule.values, kind="stable"), kind="stable")
        # One by one: a table of Gaussian utilities is large.
        costs = [cost.of(rule, rank < size) for size in range(1, most + 1)]
    # The best set has none, but for rounding.
    return max(0.0, float(np.max(costs)))
