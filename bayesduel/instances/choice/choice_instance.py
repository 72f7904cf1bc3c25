"""A world of subset choice: who is chosen how often, and what is observed and lost."""

# Fields stand where the base class has attributes of the class and properties.
# pyright: reportIncompatibleVariableOverride=false
# pyright: reportIncompatibleMethodOverride=false

import hashlib
from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float64
from numpy.random import Generator
from numpy.typing import NDArray

from bayesduel.errors import ChoiceWorldError, errors_as
from bayesduel.instances.choice.rules import (
    ChoiceRule,
    GaussianRule,
    IndependentRule,
    LogitRule,
    TableRule,
    arm_vector,
)
from bayesduel.instances.subset_world import FEEDBACKS, SubsetWorld
from bayesduel.instances.world import FIXED_PREFERENCES, KNOWN_HORIZON, LAST_ROUND
from theory.arguments import as_number, integer_from, number_above, one_of
from theory.choice.regret import SUBSET_REGRET_NOTIONS, subset_cost
from theory.choice.tables import ChoiceTable
from theory.validation import feature_table


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
        subset = offered | (self.values == 1.0) if preferred else offered
        probabilities = rule.probabilities(subset)
        return subset_cost(self.form, offered, probabilities, self.best, self.values)


def worst_cost(cost: Cost, rule: ChoiceRule, subset_size: int) -> float | None:
    """Return the regret of the worst set of at most k arms, of rules of ours."""
    # A table is searched; otherwise the worst set is one arm, or the m <= k
    # arms with the smallest weights, means or utilities: "preferred" is (m + 1) P(b) +
    # P(0) - 1 in a set of m arms and the best arm b, and P(b), P(0) grow as an arm is
    # replaced by a weaker one.
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


MOST_SETS = 200_000  # Sets that are tabulated at most


class ChoiceWorld(SubsetWorld):
    """Offer up to k of n arms; some are chosen, or rewarded, with fixed probabilities.

    A :class:`bayesduel.SubsetWorld` that never changes: its state is None.

    Parameters
    ----------
    rule : ChoiceRule
        P(i|s).
    subset_size : int
        k, the largest number of arms in a set.
    feedback : {"winner", "ranking", "independent"}
        What is observed, as in :class:`bayesduel.SubsetWorld`. Rankings are drawn in
        proportion to the weights.
    name, source : str
        What it is called and where it is from.
    default_notion : str
        The notion of regret recorded when none is asked for.
    arm_names : tuple of str, optional
        Labels of the arms.
    revenues : tuple of float, optional
        What a choice of each arm earns, known to the policies; 1 by default.
    levels : int
        Independent rewards take the values 0, 1/levels, ..., 1 times
        ``largest_reward``, as a binomial share.
    largest_reward : float
        Largest reward of an arm in one round.
    depth : int, optional
        Observed places of a ranking, from 1 to k - 1; k - 1 by default (a ranking of
        the whole set).
    arm_features : array-like (n, d), optional
        What is known of every arm, for policies that use it. Nothing is assumed of how
        the probabilities depend on it.
    """

    guarantees = (FIXED_PREFERENCES, KNOWN_HORIZON)

    _: KW_ONLY
    rule: ChoiceRule
    subset_size: int
    feedback: str = "winner"
    name: str = ""
    source: str = ""
    default_notion: str = "expected_reward"
    arm_names: tuple[str, ...] | None = None
    revenues: tuple[float, ...] | None = None
    levels: int = 1
    largest_reward: float = 1.0
    depth: int | None = None
    arm_features: Any = None

    def __post_init__(self) -> None:
        kind, most = ChoiceWorldError, self.num_arms
        why, name = f"there are {most} arms", "subset_size"
        size = integer_from(self.subset_size, 1, name, most, kind=kind, why=why)
        object.__setattr__(self, "subset_size", size)
        one_of(self.feedback, FEEDBACKS, "feedback", kind=kind)
        if isinstance(self.rule, IndependentRule) and self.feedback != "independent":
            raise ChoiceWorldError(
                "feedback",
                "must be 'independent' for independent rewards",
                self.feedback,
            )
        if self.feedback == "ranking":
            _check_ranking(self)
        _check_rewards(self)
        if self.arm_names is not None and len(self.arm_names) != self.num_arms:
            raise ChoiceWorldError(
                "arm_names",
                f"must have one name per arm, {self.num_arms}",
                len(self.arm_names),
            )
        if self.revenues is not None:
            values = arm_vector("revenues", self.revenues)
            if len(values) != self.num_arms or np.any(values < 0):
                raise ChoiceWorldError(
                    "revenues",
                    f"must be {self.num_arms} numbers not below 0",
                    self.revenues,
                )
        if self.arm_features is not None:
            with errors_as(ChoiceWorldError):
                table = feature_table(self.arm_features, self.num_arms)
            table.setflags(write=False)
            object.__setattr__(self, "arm_features", table)
        self.check_notion(self.default_notion)

    @property
    def label(self) -> str:
        """Its name, or that of the class."""
        return self.name or type(self).__name__

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        return self.rule.num_arms

    @property
    def has_no_choice(self) -> bool:
        """Whether it happens that nobody of an offered set is chosen."""
        return self.feedback != "independent" and self.rule.has_no_choice

    @property
    def allows_fewer(self) -> bool:
        """Whether sets of fewer arms than k may be offered."""
        return self.rule.allows_fewer

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of everything that a result depends on."""
        digest = hashlib.sha256()
        rule = vars(self.rule)
        rest = (
            type(self.rule).__name__,
            self.subset_size,
            self.feedback,
            self.levels,
            float(self.largest_reward),
            self.places,
            self.name,
        )
        digest.update(repr(rest).encode())
        revenues = () if self.revenues is None else self.revenues
        features = self.arm_features
        known = {} if features is None else {"features": features}
        for name, values in sorted({**rule, "revenues": revenues, **known}.items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
        return digest.hexdigest()

    # As a world that never changes

    def start(self, horizon: int, rng: Generator, /) -> None:
        """Return None: there is no hidden state."""

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return a round after every horizon."""
        return LAST_ROUND

    def probabilities(self, *arguments: Any) -> Float64[np.ndarray, " n"]:
        """Compute P(i|s) of one set.

        Parameters
        ----------
        *arguments
            The set at last: a tuple of different arms, or a mask; at most k arms
            (exactly k in a world given by a table). The state, generator and round that
            go before it in a :class:`bayesduel.SubsetWorld` change nothing, and may be
            left out.

        Returns
        -------
        float64 (n,)
            0 outside the set.

        Raises
        ------
        ChoiceWorldError
            If the set cannot be offered.

        Examples
        --------
        >>> from bayesduel.instances import choice
        >>> choice.camera().probabilities((0, 1, 2)).tolist()
        [0.35, 0.3, 0.25, 0.0, 0.0, 0.0]
        """
        return self.rule.probabilities(self.mask(arguments[-1]))

    def regret(
        self, state: Any, round_: int, subset: Bool[np.ndarray, " n"], /
    ) -> dict[str, float]:
        """Compute the regret of offering a set once, by the names of notions."""
        return {
            notion: float(cost.of(self.rule, subset))
            for notion, cost in self._costs.items()
        }

    @cached_property
    def _costs(self) -> dict[str, Cost]:
        return {notion: self.cost(notion) for notion in self.notions}

    # The best set

    def mask(self, arms: Any) -> Bool[np.ndarray, " n"]:
        """Turn a set that can be offered, or its mask, into a mask, bool (n,)."""
        if isinstance(arms, np.ndarray) and arms.dtype == bool:
            arms = np.flatnonzero(arms)
        given = [int(arm) for arm in arms]
        outside = [arm for arm in given if not 0 <= arm < self.num_arms]
        if outside:
            raise ChoiceWorldError(
                "arms", f"must be from 0 to {self.num_arms - 1} in a set", outside[0]
            )
        if len(set(given)) < len(given):
            twice = next(arm for arm in given if given.count(arm) > 1)
            raise ChoiceWorldError(
                "arms",
                f"must be different in a set; arm {twice} is there more than once",
                given,
            )
        least = 1 if self.allows_fewer else self.subset_size
        if not least <= len(given) <= self.subset_size:
            raise ChoiceWorldError(
                "arms",
                f"must be a set of {least} to {self.subset_size} arms here",
                len(given),
            )
        mask = np.zeros(self.num_arms, dtype=bool)
        mask[given] = True
        return mask

    @cached_property
    def best_set(self) -> tuple[int, ...]:
        """Arms of the set of k with the largest expected reward, the first of equals.

        The k arms with the largest weights, utilities or means; by enumeration for a
        table.
        """
        values = self.rule.values
        if values is None:
            return self.table().best_set
        order = np.argsort(-values, kind="stable")[: self.subset_size]
        return tuple(sorted(order.tolist()))

    def table(self) -> ChoiceTable:
        """Tabulate P(i|s) over all sets of exactly k arms.

        Raises
        ------
        ChoiceWorldError
            If there are more than 200000 sets.
        """
        count = comb(self.num_arms, self.subset_size)
        if count > MOST_SETS:
            raise ChoiceWorldError(
                "subset_size",
                f"must leave at most {MOST_SETS} sets to be listed; of "
                f"{self.num_arms} arms there are {count}",
                self.subset_size,
            )
        sets = np.array(list(combinations(range(self.num_arms), self.subset_size)))
        offered = np.zeros((count, self.num_arms), dtype=bool)
        np.put_along_axis(offered, sets, True, axis=1)
        values = np.take_along_axis(self.rule.probabilities(offered), sets, axis=1)
        return ChoiceTable(sets, np.clip(values, 0.0, 1.0))

    # Regret

    @property
    def notions(self) -> tuple[str, ...]:
        """Notions of regret here, of ``theory.choice.SUBSET_REGRET_NOTIONS``."""
        names = ["expected_reward"] if self.feedback != "ranking" else []
        if self.has_no_choice:
            names.append("no_choice")
        if isinstance(self.rule, LogitRule):
            if self.has_no_choice:
                names += ["mnl_no_choice", "revenue"]
            names += ["winner", "topk", "choice_bandit"]
        if isinstance(self.rule, GaussianRule):
            names += ["utility_sum", "choice_bandit"]
        if isinstance(self.rule, IndependentRule):
            names.append("topk_means")
        return tuple(names)

    def check_notion(self, notion: str) -> None:
        """Raise unless a notion of regret exists here."""
        if notion not in self.notions:
            known = "is none of subset choice"
            if notion in SUBSET_REGRET_NOTIONS:
                known = "does not exist here"
            raise ChoiceWorldError(
                "regret",
                f"{notion!r} {known}",
                notion,
                remedy=f"{self.name or 'this world'} has {', '.join(self.notions)}",
            )

    def cost(self, notion: str) -> Cost:
        """Return what a notion of regret is computed from."""
        self.check_notion(notion)
        n, k = self.num_arms, self.subset_size
        form = SUBSET_REGRET_NOTIONS[notion]
        if form == "rewards":
            values = np.full(n, float(self.largest_reward))
            best_set = self.best_set
            if notion == "revenue" and self.revenues is not None:
                values = np.asarray(self.revenues, dtype=np.float64)
                best_set = self._most_revenue(values)
            best = float(np.sum(self.probabilities(best_set) * values))
            return Cost(form, best, values)
        values = self.rule.values
        assert values is not None  # The notions above say so.
        if form == "preferred":
            return Cost(form, 0.0, np.eye(n)[int(np.argmax(values))])
        if form == "mean":
            return Cost(form, float(values.max()), values)
        scale = {"topk": 1 / k, "topk_means": float(self.largest_reward)}
        values = values * scale.get(notion, 1.0)
        return Cost(form, float(np.sort(values)[-k:].sum()), values)

    def most_regret_per_round(self, notion: str) -> float | None:
        """Return the regret of the worst set that can be offered; see `worst_cost`.

        Examples
        --------
        >>> from bayesduel.instances import choice
        >>> round(choice.camera().most_regret_per_round("expected_reward"), 6)
        0.63
        """
        return worst_cost(self.cost(notion), self.rule, self.subset_size)

    def worst_rounds(self, notions: Sequence[str]) -> dict[str, float]:
        """Return `most_regret_per_round` by notion, where it is known."""
        worst = {name: self.most_regret_per_round(name) for name in notions}
        return {notion: most for notion, most in worst.items() if most is not None}

    def _most_revenue(self, revenues: NDArray[np.float64]) -> tuple[int, ...]:
        """Return the set of at most k arms with the largest expected revenue."""
        # z is reachable iff the k largest positive v_i (r_i - z) add up to v_0 z:
        # Dinkelbach's iteration.
        rule = self.rule
        assert isinstance(rule, LogitRule)
        chosen: tuple[int, ...] = ()
        revenue = -1.0
        while True:
            gain = rule.weights * (revenues - max(revenue, 0.0))
            order = np.argsort(-gain, kind="stable")[: self.subset_size]
            new = tuple(sorted(arm for arm in order.tolist() if gain[arm] > 0))
            if not new:
                return chosen or (int(np.argmax(revenues)),)
            value = float(np.sum(self.probabilities(new) * revenues))
            if value <= revenue:
                return chosen
            chosen, revenue = new, value


def _check_ranking(world: ChoiceWorld) -> None:
    rule = world.rule
    if not isinstance(rule, LogitRule) or rule.has_no_choice:
        raise ChoiceWorldError(
            "feedback",
            "must not be 'ranking' but for a logit rule with no_choice_weight=0; "
            f"this one is a {type(rule).__name__}",
            "ranking",
        )
    longest = world.subset_size - 1
    depth = longest if world.depth is None else as_number(world.depth)
    if longest < 1 or not (1 <= depth <= longest and float(depth).is_integer()):
        raise ChoiceWorldError(
            "depth", f"must be from 1 to subset_size - 1 = {longest}", world.depth
        )


def _check_rewards(world: ChoiceWorld) -> None:
    levels, largest = world.levels, world.largest_reward
    levels = integer_from(levels, 1, "levels", kind=ChoiceWorldError)
    object.__setattr__(world, "levels", levels)
    number_above(largest, 0, "largest_reward", kind=ChoiceWorldError)
    if world.feedback != "independent" and (levels != 1 or largest != 1.0):
        raise ChoiceWorldError(
            "levels, largest_reward",
            "must be left out unless feedback='independent'; a choice has reward 1",
            (levels, largest),
        )
