"""The protocol of a policy that offers subsets: four functions of one run, in NumPy."""

import warnings
from dataclasses import field
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.random import Generator

from bayesduel.errors import AssumptionWarning, SimulationArgumentError
from bayesduel.policies.policy import FrozenPolicy, PolicyBase, Problem

if TYPE_CHECKING:
    from bayesduel.instances.subset_world import SubsetWorld

_MOST_SETS_CHECKED = 20_000
"""Tables up to this many sets are searched for a violated assumption."""


class Offer(NamedTuple):
    """A set of arms, and the number of rounds for which it is offered.

    ``subset`` marks the arms that are offered for ``rounds`` rounds, or, with
    ``until_no_choice``, until the first round in which nothing is chosen, that one
    included, but for ``rounds`` rounds at most. Only the horizon cuts it short; and a
    ranking of several arms is always for one round.
    """

    subset: Bool[np.ndarray, " n"]
    rounds: int = 1
    until_no_choice: bool = False


class OfferingPolicy(PolicyBase):
    """Base of every policy that offers subsets."""

    feedbacks: ClassVar[tuple[str, ...]] = ("winner", "independent")
    """Kinds of feedback that the rule can read."""

    offers_fewer: ClassVar[bool] = False
    """Whether sets of fewer than k arms are offered."""

    least_size: ClassVar[int] = 1
    """Arms that a set must have to teach anything."""

    reads_revenues: ClassVar[bool] = False
    """Whether the rule maximizes revenues, where a world has them."""

    needs_no_choice: ClassVar[bool] = False
    """Whether the rule waits for rounds in which nobody is chosen."""

    assumes_consistency: ClassVar[bool] = False
    """Whether the theory asks for weak optimal-set consistency."""

    def check_world(self, world: "SubsetWorld", horizon: int) -> None:
        """Raise where this policy cannot play in a world; warn outside its theory."""
        name = world.name or "this world"
        if world.feedback not in self.feedbacks:
            raise _misfit(
                self,
                f"needs the feedback {' or '.join(self.feedbacks)}, but {name} gives "
                f"{world.feedback}",
                "use a world that gives it",
            )
        if world.subset_size < self.least_size:
            raise _misfit(
                self,
                f"learns from choices among at least {self.least_size} arms, but sets "
                f"of {name} have {world.subset_size}",
                "use a world of larger sets",
            )
        fewer = self.offers_fewer or (
            self.reads_revenues and world.revenues is not None
        )
        if fewer and not world.allows_fewer:
            raise _misfit(
                self,
                f"offers sets of fewer than k arms, but {name} is a table of sets of "
                f"exactly {world.subset_size}",
                "use a world that knows smaller sets, such as multinomial logit",
            )
        if self.needs_no_choice and not world.has_no_choice:
            raise _misfit(
                self,
                f"offers a set until nobody is chosen, which never happens in {name}",
                "use a world with a no-choice option",
            )
        self.check(world.num_arms, horizon)
        self.warn_about(world)

    def warn_about(self, world: "SubsetWorld") -> None:
        """Warn (``AssumptionWarning``) where the world is outside the theory."""
        from bayesduel.instances.choice import ChoiceWorld

        small = comb(world.num_arms, world.subset_size) <= _MOST_SETS_CHECKED
        if not self.assumes_consistency or not isinstance(world, ChoiceWorld):
            return
        # With one number per arm the order of the arms is the same in all sets.
        if not small or world.rule.values is not None:
            return
        from theory.choice.tables import find_inconsistency

        worse = find_inconsistency(world.table())
        if worse is not None:
            warnings.warn(
                f"{self.label} assumes that an arm of the best set is chosen at least "
                f"as often in every other set; in {world.name or 'this world'} arm "
                f"{worse.arm} is chosen with probability {worse.probability:.6g} in "
                f"the set {worse.offered}, and with {worse.in_best_set:.6g} in the "
                "best set. Its regret bounds do not apply",
                AssumptionWarning,
                stacklevel=2,
            )


class SubsetPolicy(OfferingPolicy, FrozenPolicy):
    """Decides which subset is offered next: a rule of one run, as a paper prints it.

    As :class:`bayesduel.Policy`: a subclass is a frozen dataclass by itself, and
    defines :meth:`start`, :meth:`choose`, :meth:`update` and :meth:`recommend`. A set
    is a mask over the arms, a NumPy array of bool.

    Parameters
    ----------
    compiled : bool
        Let Numba compile ``choose``, ``update`` and ``recommend``, as there.
    """

    compiled: bool = field(
        default=False, kw_only=True, metadata={"distribution": False}
    )

    def start(self, problem: Problem, rng: Generator, /) -> Any:
        """Return the state before the first round; never compiled."""
        raise NotImplementedError

    def choose(self, state: Any, rng: Generator, round_: int, /) -> Any:
        """Return the set that is offered in ``round_``, counted from 1.

        A mask, bool (n,), or an :class:`Offer` for many rounds.
        """
        raise NotImplementedError

    def update(
        self,
        state: Any,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
        /,
    ) -> None:
        """Take in what came of an offer; ``round_`` is the last round of it.

        ``rounds`` is how many rounds were played, at least 1, and ``rewards`` the sum
        of the rewards of every arm in them, 0 for those that were not offered. What one
        round gives is said by the world. Both arrays are written over later: copy what
        shall stay.
        """
        raise NotImplementedError

    def recommend(self, state: Any, rng: Generator, /) -> Any:
        """Return the set that the policy believes to be best, as a mask."""
        raise NotImplementedError


def _misfit(policy: OfferingPolicy, words: str, remedy: str) -> SimulationArgumentError:
    """Return the error of a policy that means nothing in a world."""
    rule = f"{policy.label} {words}"
    return SimulationArgumentError("policies", rule, policy, remedy=remedy)


def warn_above_one(label: str, world: "SubsetWorld") -> None:
    """Warn where rewards exceed the 1 that a confidence bound assumes."""
    if world.largest_reward > 1.0:
        warnings.warn(
            f"{label} assumes rewards in [0, 1]; those of {world.name or 'this world'} "
            f"reach {world.largest_reward:g}",
            AssumptionWarning,
            stacklevel=3,
        )
