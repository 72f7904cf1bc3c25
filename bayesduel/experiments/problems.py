"""Compared instances: arms of a preference matrix, or sets of a world of choice.

Both answer the same questions here; nothing else asks which of the two it has.
"""

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np
import xarray as xr
from jaxtyping import Float, Int, Shaped
from numpy.typing import ArrayLike

from bayesduel import instances, policies
from bayesduel.errors import (
    AssumptionWarning,
    SimulationArgumentError,
    UnknownNameError,
    errors_about,
    near_and_all,
)
from bayesduel.instances.choice.catalog import is_world_name, load_world
from bayesduel.instances.subset_world import SubsetWorld, check_subset_world
from bayesduel.instances.world import KNOWN_HORIZON, World, WorldBase, check_world
from bayesduel.policies.parameter_values import check_fields, with_features, with_prices
from bayesduel.policies.policy import PolicyBase, declared
from bayesduel.policies.policy_around import innermost, manner_of
from bayesduel.policies.subset_base import OfferingPolicy
from theory import REGRET_NOTIONS, PreferenceMatrix
from theory.arguments import short_repr
from theory.preferences import as_preference_matrix

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld
    from bayesduel.simulation.runs import Environment

type Instance = PreferenceMatrix | World | SubsetWorld
"""An instance that answers duels, or offers of subsets."""

_PACKAGE = str(Path(__file__).resolve().parent.parent)

_TRIAL_HORIZON = 1000
"""Horizon of the round that is played to learn the notions of regret of a world."""

type InstanceLike = Instance | str | ArrayLike
"""A matrix or its values, a world of subset choice, or the name or file of one."""

_FEW_SETS = 1000
"""Results hold the table of a world with at most so many sets, for its theorems."""

Variables = dict[str, tuple[tuple[str, ...], Shaped[np.ndarray, "..."]]]
"""Dimensions and values by the name of a variable of results."""

Ledger = Mapping[str, Shaped[np.ndarray, "run checkpoint ..."]]
Recommended = Shaped[np.ndarray, "run ..."]


@dataclass(frozen=True)
class ComparedInstance(ABC):
    """A matrix or a world, as experiments and their results ask about it."""

    instance: Any

    words: ClassVar[str]
    """The kind of instance, in words."""

    axes: ClassVar[tuple[str, ...]]
    """Dimensions of the results that count arms."""

    played: ClassVar[str]
    """The variable of results that says what was played up to each checkpoint."""

    known_notions: ClassVar[Sequence[str]]
    """Notions of regret that there are; see ``theory``."""

    usual_notions: ClassVar[tuple[str, ...]]
    """Notions of regret that are recorded when none is asked for."""

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

    def regret_exists(self, notion: str) -> None:  # noqa: B027
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
        self, ledger: Ledger, recommendation: Recommended, notions: Sequence[str]
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
            rule = f"there is no notion {short_repr(notion)}"
            remedy = near_and_all(short_repr(notion), known)
            raise UnknownNameError("regret", rule, notion, remedy=remedy)
        with errors_about("regret", notion):
            self.regret_exists(notion)


class PairProblem(ComparedInstance):
    """Duels of the arms of a preference matrix."""

    instance: PreferenceMatrix
    words = "a preference matrix"
    axes = ("arm", "opponent")
    played = "plays"
    known_notions = REGRET_NOTIONS
    usual_notions = ("copeland",)

    def regret_exists(self, notion: str) -> None:
        """Raise ``InvalidPreferenceError`` where a winner is missing."""
        self.instance.regret_per_pair(notion)

    def check_policy(
        self, policy: PolicyBase, horizon: int, *, shuffle: bool = True
    ) -> None:
        """Raise for a policy that offers sets, and for its bad parameters."""
        features = self.instance.features
        _check_plays_duels(self, policy, features, horizon, shuffle=shuffle)
        _check_contextual(policy, self.name, has_features=features is not None)

    def environment(self, notions: tuple[str, ...], *, shuffle: bool) -> "Environment":
        """Return duels; regret follows from what was played."""
        from bayesduel.simulation import PairwiseEnvironment

        values = np.array(self.instance.values)
        known = self.instance.features, self.instance.prices
        return PairwiseEnvironment(values, shuffle, *known)

    def measured(
        self, ledger: Ledger, recommendation: Recommended, notions: Sequence[str]
    ) -> Variables:
        """Return regret, rounds of every pair, and the recommended arm."""
        plays = ledger["plays"]
        matrix = self.instance
        total = [
            weighted_sum(plays, matrix.regret_per_pair(notion)) for notion in notions
        ]
        return _pair_variables(np.stack(total), plays, recommendation)

    def variables(self) -> Variables:
        """Return the matrix, with features of the arms and prices if there are any."""
        pairs = "arm", "opponent"
        content: Variables = {"preference": (pairs, np.array(self.instance.values))}
        if self.instance.features is not None:
            content["features"] = (("arm", "feature"), self.instance.features)
        if self.instance.prices is not None:
            content["prices"] = (pairs, self.instance.prices)
        return content


def _pair_variables(
    regret: Float[np.ndarray, "notion run checkpoint"],
    plays: Int[np.ndarray, "run checkpoint K K"],
    recommendation: Shaped[np.ndarray, " run"],
) -> Variables:
    return {
        "regret": (("notion", "run", "checkpoint"), regret),
        "plays": (("run", "checkpoint", "arm", "opponent"), plays),
        "recommendation": (("run",), recommendation.astype(np.int64)),
    }


class WorldProblem(ComparedInstance):
    """Duels in a world that answers and charges as it likes."""

    instance: World
    words = "a world of duels"
    axes = ("arm", "opponent")
    played = "plays"

    @cached_property
    def known_notions(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Those that the world defines."""
        return check_world(self.instance, _TRIAL_HORIZON)

    @property
    def usual_notions(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All notions of the world."""
        return tuple(self.known_notions)

    def check_policy(
        self, policy: PolicyBase, horizon: int, *, shuffle: bool = True
    ) -> None:
        """Raise where a policy cannot play; warn where it assumes too much."""
        world = self.instance
        check_world(world, horizon)
        from bayesduel.policies.contextual.linear_thompson import in_world

        policy = in_world(policy, world)
        _check_plays_duels(self, policy, world.arm_features, horizon, shuffle=shuffle)
        has_features = world.arm_features is not None or world.defines("features")
        _check_contextual(policy, self.name, has_features=has_features)
        if world.defines("first_rounds"):
            from bayesduel.simulation.driver import check_arrivals

            check_arrivals(world, policy, horizon)
        _warn_of_assumptions(policy, world, self.name)

    def environment(self, notions: tuple[str, ...], *, shuffle: bool) -> "Environment":
        """Return the world, with room for all its notions of regret."""
        from bayesduel.simulation.runs import WorldEnvironment

        return WorldEnvironment(self.instance, len(self.known_notions), shuffle)

    def measured(
        self, ledger: Ledger, recommendation: Recommended, notions: Sequence[str]
    ) -> Variables:
        """Return regret, rounds of every pair, and the recommended arm."""
        places = [self.known_notions.index(notion) for notion in notions]
        total = np.moveaxis(ledger["regret"], -1, 0)[places]
        return _pair_variables(total, ledger["plays"], recommendation)

    def variables(self) -> Variables:
        """Return the features of the arms, where they are fixed."""
        features = self.instance.arm_features
        if features is None:
            return {}
        return {"features": (("arm", "feature"), np.array(features))}

    def attributes(self, notions: Sequence[str]) -> dict[str, Any]:
        """Return the lower bounds that the world provides, by notions."""
        return _bounds_of(self.instance)


class SubsetProblem(ComparedInstance):
    """Offers of sets in a world of subset choice."""

    instance: SubsetWorld
    words = "a world of subset choice"
    axes = ("arm",)
    played = "offers"

    @cached_property
    def known_notions(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Those of choices out of subsets, or that the world defines."""
        if _has_formulas(self.instance):
            from theory.choice import SUBSET_REGRET_NOTIONS

            return tuple(SUBSET_REGRET_NOTIONS)
        return check_subset_world(self.instance, _TRIAL_HORIZON)

    @property
    def usual_notions(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of a published world, all notions of another one."""
        if _has_formulas(self.instance):
            return (self.instance.default_notion,)
        return tuple(self.known_notions)

    def regret_exists(self, notion: str) -> None:
        """Raise ``ChoiceWorldError`` where the feedback defines no such regret."""
        if _has_formulas(self.instance):
            self.instance.check_notion(notion)

    def check_policy(
        self, policy: PolicyBase, horizon: int, *, shuffle: bool = True
    ) -> None:
        """Raise for a policy that asks for duels, or cannot read the feedback."""
        if not isinstance(policy, OfferingPolicy):
            listed = ", ".join(policies.subset_names())
            rule = f"{policy.label} asks for duels, but {self.name} is {self.words}"
            remedy = f"policies that offer sets: {listed}"
            raise SimulationArgumentError("policies", rule, policy, remedy=remedy)
        if shuffle:
            check_fields(policy, self.instance.num_arms)
        world = self.instance
        if not _has_formulas(world):
            check_subset_world(world, horizon)
        has_features = world.arm_features is not None or world.defines("features")
        _check_contextual(policy, self.name, has_features=has_features)
        policy.check_world(world, horizon)
        _warn_of_assumptions(policy, world, self.name)

    def environment(self, notions: tuple[str, ...], *, shuffle: bool) -> "Environment":
        """Return offers; regret of every notion is added up as they are made."""
        from bayesduel.simulation import SubsetEnvironment

        return SubsetEnvironment(self.instance, notions, shuffle)

    def measured(
        self, ledger: Ledger, recommendation: Recommended, notions: Sequence[str]
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
        world, content = self.instance, {}
        if world.arm_features is not None:
            content["features"] = (("arm", "feature"), np.asarray(world.arm_features))
        if _has_formulas(world):
            content["best_set"] = (("arm",), world.mask(world.best_set))
            if comb(world.num_arms, world.subset_size) <= _FEW_SETS:
                table = world.table()
                content["choice_sets"] = (("set", "place"), table.sets)
                content["choice_probabilities"] = (
                    ("set", "place"),
                    table.probabilities,
                )
        return content

    def attributes(self, notions: Sequence[str]) -> dict[str, Any]:
        """Return the largest regret of one round, or the lower bounds of a world."""
        if not _has_formulas(self.instance):
            return _bounds_of(self.instance)
        worst = self.instance.worst_rounds(notions)
        return {"most_regret_per_round": json.dumps(worst)}


def _check_plays_duels(
    problem: ComparedInstance,
    policy: PolicyBase,
    features: Float[np.ndarray, "K d"] | None,
    horizon: int,
    *,
    shuffle: bool,
) -> None:
    """Raise for a policy that offers sets, and for its bad parameters."""
    num_arms = problem.instance.num_arms
    if isinstance(policy, OfferingPolicy):
        rule = f"{policy.label} offers sets, but {problem.name} is {problem.words}"
        remedy = f"policies that ask for duels: {', '.join(policies.names())}"
        raise SimulationArgumentError("policies", rule, policy, remedy=remedy)
    if shuffle:
        check_fields(policy, num_arms)
    prices = getattr(problem.instance, "prices", None)
    with_prices(with_features(policy, features), prices).check(num_arms, horizon)


def _has_formulas(world: SubsetWorld) -> "TypeGuard[ChoiceWorld]":
    """Say whether a world knows its best set and what any set costs."""
    from bayesduel.instances.choice import ChoiceWorld

    return isinstance(world, ChoiceWorld)


def _bounds_of(world: WorldBase) -> dict[str, str]:
    """Return the lower bounds that a world provides, by notions, if any."""
    bounds = {name: float(value) for name, value in world.theory().items()}
    return {"lower_bounds": json.dumps(bounds)} if bounds else {}


def _warn_of_assumptions(policy: PolicyBase, world: WorldBase, name: str) -> None:
    """Warn where a policy assumes what a world does not guarantee."""
    # A monitor is there for what the policy inside does not expect.
    rule = policy if manner_of(policy).monitored else innermost(policy)
    assumed = [*declared(rule, "assumes")]
    if declared(rule, "needs_horizon"):
        assumed.append(KNOWN_HORIZON)
    lacking = [
        assumption for assumption in assumed if assumption not in world.guarantees
    ]
    if lacking:
        warnings.warn(
            f"{policy.label} assumes {' and '.join(lacking)}, which {name} "
            "does not guarantee: its regret bounds do not apply there",
            AssumptionWarning,
            skip_file_prefixes=(_PACKAGE,),
        )


def _check_contextual(policy: PolicyBase, name: str, *, has_features: bool) -> None:
    """Raise where a contextual policy has no features, or is told late."""
    if not declared(innermost(policy), "contextual"):
        return
    if not has_features:
        rule = f"{policy.label} is contextual, but {name} has no features of the arms"
        remedy = (
            "give them, as PreferenceMatrix(values, features=...) or "
            "{features}, or take a world with features"
        )
        raise SimulationArgumentError("policies", rule, policy, remedy=remedy)
    if manner_of(policy).every > 1:
        rule = (
            f"{policy.label} is contextual and must be told at once: the features of "
            "a round are not kept"
        )
        remedy = "leave out every="
        raise SimulationArgumentError("policies", rule, policy, remedy=remedy)


def problem_of(instance: Instance) -> ComparedInstance:
    """Return the questions that can be asked about an instance."""
    if isinstance(instance, PreferenceMatrix):
        return PairProblem(instance)
    if isinstance(instance, World):
        problem = WorldProblem(instance)
        # Refuse what is no world before anything else is asked about it.
        _ = problem.known_notions
        return problem
    return SubsetProblem(instance)


def read_instance(value: InstanceLike) -> Instance:
    """Return a matrix or a world from what a user gives for one."""
    if isinstance(value, type) and issubclass(value, WorldBase):
        rule, remedy = "must be a world, not its class", f"write {value.__name__}()"
        raise SimulationArgumentError("instances", rule, value, remedy=remedy)
    if isinstance(value, str):
        value = load_world(value) if is_world_name(value) else instances.load(value)
    if not isinstance(value, PreferenceMatrix | WorldBase):
        value = as_preference_matrix(value)
    return value  # pyright: ignore[reportReturnType]


def weighted_sum(
    plays: Int[np.ndarray, "run checkpoint K K"], per_pair: Float[np.ndarray, "K K"]
) -> Float[np.ndarray, "run checkpoint"]:
    """Return plays times regret, summed over pairs, float64 (run, checkpoint)."""
    # The last bits of a matrix product would depend on how runs are cut into jobs.
    total = np.zeros(plays.shape[:2])
    for row, column in zip(*np.nonzero(per_pair), strict=True):
        if column >= row:  # Plays stand in the upper triangle.
            total += plays[:, :, row, column] * per_pair[row, column]
    return total
