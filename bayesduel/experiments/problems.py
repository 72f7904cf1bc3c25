"""What is compared: arms of a preference matrix, or sets of a world of subset choice.

Both answer the same questions here; nothing else asks which of the two it has.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import xarray as xr
from jaxtyping import Float, Int, Shaped
from numpy.typing import ArrayLike

from bayesduel import instances, policies
from bayesduel.errors import (
    SimulationArgumentError,
    UnknownNameError,
    errors_about,
    near_and_all,
)
from bayesduel.instances.choice import ChoiceWorld
from bayesduel.instances.choice.catalog import is_world_name, load_world
from bayesduel.instances.subset_world import SubsetWorld, check_subset_world
from bayesduel.policies.arm_features import check_fields, with_features
from bayesduel.policies.policy import PolicyBase
from bayesduel.policies.subset_base import OfferingPolicy
from theory import REGRET_NOTIONS, PreferenceMatrix
from theory.arguments import short_repr
from theory.preferences import as_preference_matrix

if TYPE_CHECKING:
    from bayesduel.simulation.environments import Environment

type Instance = PreferenceMatrix | SubsetWorld
"""What answers: duels, or offers of subsets."""

type InstanceLike = Instance | str | ArrayLike
"""A matrix or its values, a world of subset choice, or the name or file of one."""

_FEW_SETS = 1000
"""Results hold the table of a world with at most so many sets, for its theorems."""

_SHORT_HORIZON = 1000
"""Of the round in which a world is asked which notions of regret it has."""

Variables = dict[str, tuple[tuple[str, ...], Shaped[np.ndarray, "..."]]]
"""Dimensions and values by the name of a variable of results."""


@dataclass(frozen=True)
class ComparedInstance(ABC):
    """A matrix or a world, as experiments and their results ask about it."""

    instance: Any

    words: ClassVar[str]
    """What the instance is."""

    axes: ClassVar[tuple[str, ...]]
    """Dimensions of the results that count arms."""

    played: ClassVar[str]
    """The variable of results that says what was played up to each checkpoint."""

    @property
    def name(self) -> str:
        """Name in results; without one of its own it is called by its size."""
        name = self.instance.name or f"{self.instance.num_arms}-arms"
        return name.replace("/", "-")

    @property
    def arm_labels(self) -> Any:
        """The names of the arms, or their numbers."""
        if self.instance.arm_names is None:
            return np.arange(self.instance.num_arms)
        return list(self.instance.arm_names)

    @property
    def default_notions(self) -> tuple[str, ...]:
        """Notions of regret that are recorded when none is asked for."""
        return (self.default_notion,)

    @property
    @abstractmethod
    def known_notions(self) -> Sequence[str]:
        """Notions of regret that there are; see ``theory``."""

    @property
    @abstractmethod
    def default_notion(self) -> str:
        """Notion of regret that is recorded when none is asked for."""

    @abstractmethod
    def regret_exists(self, notion: str) -> None:
        """Raise a ``ValueError`` unless a known notion is defined here."""

    @abstractmethod
    def check_policy(
        self, policy: PolicyBase, horizon: int, *, shuffle: bool = True
    ) -> None:
        """Raise where a policy cannot play here; warn outside its theory."""

    @abstractmethod
    def environment(self, notions: tuple[str, ...], *, shuffle: bool) -> "Environment":
        """Return what answers in a simulation."""

    @abstractmethod
    def measured(
        self,
        ledger: Mapping[str, Shaped[np.ndarray, "run checkpoint ..."]],
        recommendation: Shaped[np.ndarray, "run ..."],
        notions: Sequence[str],
    ) -> Variables:
        """Return the variables of some runs, from what the simulator has counted."""

    @abstractmethod
    def variables(self) -> Variables:
        """Return what results hold of the instance itself."""

    def dataset(self) -> xr.Dataset:
        """Return the node of the instance: what it is and where it comes from."""
        name, source = self.instance.name, self.instance.source
        return xr.Dataset(
            self.variables(),
            coords=dict.fromkeys(self.axes, self.arm_labels),
            attrs={"name": name or "", "source": source or ""},
        )

    def attributes(self, notions: Sequence[str]) -> dict[str, Any]:
        """Return what the provenance of results says of the instance."""
        return {}

    def check_notion(self, notion: Any) -> None:
        """Raise unless a notion of regret is known, and defined here."""
        known = self.known_notions
        if not isinstance(notion, str) or notion not in known:
            raise UnknownNameError(
                "regret",
                f"there is no notion {short_repr(notion)}",
                notion,
                remedy=near_and_all(short_repr(notion), known),
            )
        with errors_about("regret", notion):
            self.regret_exists(notion)


class PairProblem(ComparedInstance):
    """Duels of the arms of a preference matrix."""

    instance: PreferenceMatrix
    words = "a preference matrix"
    axes = ("arm", "opponent")
    played = "plays"

    @property
    def known_notions(self) -> Sequence[str]:
        """Those of duels."""
        return REGRET_NOTIONS

    @property
    def default_notion(self) -> str:
        """Copeland regret."""
        return "copeland"

    def regret_exists(self, notion: str) -> None:
        """Raise ``InvalidPreferenceError`` where a winner is missing."""
        self.instance.regret_per_pair(notion)

    def check_policy(
        self, policy: PolicyBase, horizon: int, *, shuffle: bool = True
    ) -> None:
        """Raise for a policy that offers sets, and for its bad parameters."""
        if isinstance(policy, OfferingPolicy):
            raise SimulationArgumentError(
                "policies",
                f"{policy.label} offers sets, but {self.name} is {self.words}",
                policy,
                remedy=f"policies that ask for duels: {', '.join(policies.names())}",
            )
        if shuffle:
            check_fields(policy, self.instance.num_arms)
        told = with_features(policy, self.instance.features)
        told.check(self.instance.num_arms, horizon)

    def environment(self, notions: tuple[str, ...], *, shuffle: bool) -> "Environment":
        """Return duels; regret follows from what was played."""
        from bayesduel.simulation import PairwiseEnvironment

        values = np.array(self.instance.values)
        return PairwiseEnvironment(values, shuffle, self.instance.features)

    def measured(
        self,
        ledger: Mapping[str, Shaped[np.ndarray, "run checkpoint ..."]],
        recommendation: Shaped[np.ndarray, "run ..."],
        notions: Sequence[str],
    ) -> Variables:
        """Return regret, rounds of every pair, and the recommended arm."""
        plays = ledger["plays"]
        matrix = self.instance
        total = [weighted_sum(plays, matrix.regret_per_pair(each)) for each in notions]
        return {
            "regret": (("notion", "run", "checkpoint"), np.stack(total)),
            "plays": (("run", "checkpoint", "arm", "opponent"), plays),
            "recommendation": (("run",), recommendation.astype(np.int64)),
        }

    def variables(self) -> Variables:
        """Return the matrix, and the features of the arms where there are any."""
        matrix = {"preference": (("arm", "opponent"), np.array(self.instance.values))}
        if self.instance.features is None:
            return matrix
        return matrix | {"features": (("arm", "feature"), self.instance.features)}


class SubsetProblem(ComparedInstance):
    """Offers of sets in a world of subset choice."""

    instance: SubsetWorld
    words = "a world of subset choice"
    axes = ("arm",)
    played = "offers"

    @cached_property
    def _notions(self) -> tuple[str, ...]:
        """Notions of regret of a world; the names are known once it has played."""
        world = self.instance
        return world.notions or check_subset_world(world, _SHORT_HORIZON)

    @property
    def known_notions(self) -> Sequence[str]:
        """Those of choices out of subsets, or of a world of one's own."""
        from theory.choice import SUBSET_REGRET_NOTIONS

        is_published = isinstance(self.instance, ChoiceWorld)
        return tuple(SUBSET_REGRET_NOTIONS) if is_published else self._notions

    @property
    def default_notion(self) -> str:
        """The notion of the world's source, or the first one."""
        return self.default_notions[0]

    @property
    def default_notions(self) -> tuple[str, ...]:
        """That notion; of a world of one's own all notions."""
        world = self.instance
        if isinstance(world, ChoiceWorld):
            return (world.default_notion,)
        return self._notions

    def regret_exists(self, notion: str) -> None:
        """Raise ``ChoiceWorldError`` where the feedback defines no such regret."""
        if isinstance(self.instance, ChoiceWorld):
            self.instance.check_notion(notion)

    def check_policy(
        self, policy: PolicyBase, horizon: int, *, shuffle: bool = True
    ) -> None:
        """Raise for a policy that asks for duels, or cannot read the feedback."""
        if not isinstance(policy, OfferingPolicy):
            listed = ", ".join(policies.subset_names())
            raise SimulationArgumentError(
                "policies",
                f"{policy.label} asks for duels, but {self.name} is {self.words}",
                policy,
                remedy=f"policies that offer sets: {listed}",
            )
        if shuffle:
            check_fields(policy, self.instance.num_arms)
        if not isinstance(self.instance, ChoiceWorld):
            check_subset_world(self.instance, horizon)
        policy.check_world(self.instance, horizon)

    def environment(self, notions: tuple[str, ...], *, shuffle: bool) -> "Environment":
        """Return offers; regret of every notion is added up as they are made."""
        from bayesduel.simulation import SubsetEnvironment

        return SubsetEnvironment(self.instance, notions, shuffle)

    def measured(
        self,
        ledger: Mapping[str, Shaped[np.ndarray, "run checkpoint ..."]],
        recommendation: Shaped[np.ndarray, "run ..."],
        notions: Sequence[str],
    ) -> Variables:
        """Return regret, rounds of every arm, the recommended and the best set."""
        total = np.moveaxis(ledger["regret"], -1, 0)
        return {
            "regret": (("notion", "run", "checkpoint"), total),
            "offers": (("run", "checkpoint", "arm"), ledger["offers"]),
            "recommendation": (("run", "arm"), recommendation),
            **self.variables(),
        }

    def variables(self) -> Variables:
        """Return the best set, and where sets are few the probabilities of all."""
        world, found = self.instance, {}
        if world.arm_features is not None:
            found["features"] = (("arm", "feature"), np.asarray(world.arm_features))
        if isinstance(world, ChoiceWorld):
            found["best_set"] = (("arm",), world.mask(world.best_set))
            if comb(world.num_arms, world.subset_size) <= _FEW_SETS:
                table = world.table()
                found["choice_sets"] = (("set", "place"), table.sets)
                found["choice_probabilities"] = (("set", "place"), table.probabilities)
        return found

    def attributes(self, notions: Sequence[str]) -> dict[str, Any]:
        """Return the largest regret of one round, where it is known."""
        if not isinstance(self.instance, ChoiceWorld):
            return {}
        worst = self.instance.worst_rounds(notions)
        return {"most_regret_per_round": json.dumps(worst)}


def problem_of(instance: Instance) -> ComparedInstance:
    """Return the questions that can be asked about an instance."""
    if isinstance(instance, PreferenceMatrix):
        return PairProblem(instance)
    return SubsetProblem(instance)


def read_instance(value: InstanceLike) -> Instance:
    """Return a matrix or a world from what a user gives for one.

    Raises
    ------
    ValueError
        For an unknown name, a wrong parameter or no preference matrix.
    OSError
        For a file that cannot be read.
    """
    if isinstance(value, str):
        return load_world(value) if is_world_name(value) else instances.load(value)
    if isinstance(value, PreferenceMatrix):
        return value
    return value if isinstance(value, SubsetWorld) else as_preference_matrix(value)


def weighted_sum(
    plays: Int[np.ndarray, "run checkpoint K K"], per_pair: Float[np.ndarray, "K K"]
) -> Float[np.ndarray, "run checkpoint"]:
    """Return plays times regret, summed over pairs, float64 (run, checkpoint).

    ``plays`` are rounds per unordered pair (upper triangle) and of self-duels
    (diagonal).

    A matrix product adds up in blocks that depend on the number of runs, so its last
    bits would depend on how the runs were cut into jobs. Here each step is a sum or a
    product of single numbers.
    """
    total = np.zeros(plays.shape[:2])
    for row, column in zip(*np.nonzero(per_pair), strict=True):
        if column >= row:  # Plays stand in the upper triangle.
            total += plays[:, :, row, column] * per_pair[row, column]
    return total
