"""Worlds: what answers the questions of a policy, and what a round costs.

A preference matrix is a world that never changes. :class:`World` is the base class of
any other: preferences that drift or break, adversaries, features that are new in every
round. The simulator plays every policy of pairs in every world.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.arguments.named_objects import (
    FrozenClass,
    other_signature,
    title_with_changes,
    value_text,
)
from bayesduel.errors import ArgumentError, BayesduelError
from bayesduel.ops.code_digest import code_digest

FIXED_PREFERENCES = "fixed preferences"
CONDORCET_WINNER = "a Condorcet winner"
KNOWN_HORIZON = "a known horizon"

# Assumptions of policies that a world may guarantee
GUARANTEES = (FIXED_PREFERENCES, CONDORCET_WINNER, KNOWN_HORIZON)

# A round after every horizon: ``unchanged_until`` of a world that never changes
LAST_ROUND = 2**62

# The name of the notion of regret of a world that returns a plain number
UNNAMED_NOTION = "regret"


class WorldBase(FrozenClass):
    """Names and optional methods of worlds of pairs and of worlds of sets.

    See :class:`bayesduel.World` and :class:`bayesduel.SubsetWorld`.
    """

    notions: ClassVar[tuple[str, ...]] = ()
    guarantees: ClassVar[tuple[str, ...]] = (KNOWN_HORIZON,)
    arm_names: ClassVar[tuple[str, ...] | None] = None
    source: ClassVar[str] = ""

    _chance: ClassVar[str]  # The method that ``answer`` may replace

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        # Fields may be arrays, which the methods of a dataclass cannot compare.
        cls.__eq__, cls.__hash__ = WorldBase.__eq__, WorldBase.__hash__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.checksum == other.checksum  # pyright: ignore[reportAttributeAccessIssue]

    def __hash__(self) -> int:
        return hash(self.checksum)

    @property
    def arm_features(self) -> Float[np.ndarray, "K d"] | None:
        """Features of the arms that hold in all rounds of all runs."""
        return None

    @property
    def label(self) -> str:
        """Name in results: of the class, with the fields that are not the default."""
        return title_with_changes(self)

    @property
    def name(self) -> str:
        """Name in results, the same as :attr:`label`."""
        return self.label

    @property
    def checksum(self) -> str:
        """Digest of the parameters and, of a user's class, of its code."""
        values = {
            field.name: _canonical(getattr(self, field.name))
            for field in fields(self)  # pyright: ignore[reportArgumentType]
            if field.name != "compiled"
        }
        kind = f"{type(self).__module__}.{type(self).__qualname__}"
        text = json.dumps([kind, values, code_digest(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return the hidden state before the first round of a run; never compiled."""
        raise NotImplementedError

    def advance(self, state: Any, rng: Generator, round_: int, /) -> None:
        """Change the state for ``round_``, before anything else is asked about it.

        Optional. Called once for every round from 1 on, in order, also where an arm
        duels itself; but not for rounds up to ``unchanged_until``.
        """

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return the last round with the same probabilities, regret and features.

        Optional, by default ``round_``: everything may change in every round. A long
        stretch in which an arm duels itself, or one set is offered, costs one call of
        ``regret`` for every part of it in which nothing changes.
        """
        return round_

    def features(
        self, state: Any, rng: Generator, round_: int, /
    ) -> Float[np.ndarray, "K d"]:
        """Return the features of the arms in ``round_``, a row for each.

        Optional, for contextual policies: those that declare ``contextual = True``
        receive them in ``choose`` and ``update``.
        """
        raise NotImplementedError

    def theory(self) -> Mapping[str, float]:
        """Return lower bounds: the constant of log T for notions of regret, by name.

        Optional. Tables and figures show no bound without it.
        """
        return {}

    def defines(self, method: str) -> bool:
        """Say whether the class of this world defines an optional method."""
        kinds = (kind for kind in type(self).__mro__ if method in vars(kind))
        # Worlds of sets have fewer optional methods than those of duels.
        owner = next(kinds, WorldBase)
        return WorldBase not in (owner, *owner.__bases__)


class World(WorldBase):
    """Answers comparisons, and says what each round costs.

    A subclass is a frozen dataclass by itself: its annotated fields are parameters, to
    be set by name in Python and on the command line (``-i mine:Drift:speed=1e-4``). It
    defines ``num_arms`` as a field or a property, :meth:`start`, :meth:`probability`
    and :meth:`regret`; the other methods are optional. Methods see the arms as the
    world numbers them, from 0; the simulator relabels them at random for the policies.

    Parameters
    ----------
    compiled : bool
        Let Numba compile all methods but ``start``, as for :class:`bayesduel.Policy`:
        they must use only the part of Python and NumPy that Numba supports, may call
        functions but no other methods, and keep what changes in ``state``, an array or
        a tuple of arrays. Compilation changes no random number. A compiled world and a
        compiled policy are compiled into one program. If the policy is plain Python,
        both run in Python.

    Attributes
    ----------
    notions : tuple of str
        Names of the notions of regret if ``regret`` returns several numbers. They need
        not be declared if ``regret`` returns a dictionary.
    guarantees : tuple of str
        What policies may assume here, of ``"fixed preferences"``,
        ``"a Condorcet winner"`` and ``"a known horizon"``. A policy that assumes
        more still plays, with an ``AssumptionWarning``. By default a known horizon.
    arm_names : tuple of str or None
        Names of the arms in tables and figures.
    source : str
        The source of the world, as a citation.

    Notes
    -----
    If the features are the same in all rounds of all runs, the world returns them in a
    property ``arm_features``, float64 (K, d). Policies then find them in
    ``problem.features`` before the first round. If features are new in every round, the
    world gives their number in a field or property ``num_features``. Policies find it
    in ``problem.num_features``, and those of this package need it.

    Every run has two generators, both functions of the seed and the number of the run:
    the world draws from one, and the policy and the coins of the answers from another.
    So the hidden state of run r takes the same path whatever policy plays in it, if it
    draws as many numbers in every round.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesduel
    >>> class Drift(bayesduel.World):
    ...     speed: float = 1e-3
    ...     num_arms: int = 5
    ...
    ...     def start(self, horizon, rng):
    ...         return np.sort(rng.normal(size=self.num_arms))[::-1].copy()
    ...
    ...     def probability(self, state, rng, round_, first, second):
    ...         gap = (state[first] - state[second]) * np.cos(self.speed * round_)
    ...         return 1 / (1 + np.exp(-gap))
    ...
    ...     def regret(self, state, round_, first, second):
    ...         utility = state * np.cos(self.speed * round_)
    ...         return utility.max() - (utility[first] + utility[second]) / 2
    >>> Drift(speed=0.01).label
    'Drift:speed=0.01'
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", bayesduel.errors.AssumptionWarning)
    ...     result = bayesduel.simulate(Drift(), "rucb", num_runs=2, horizon=200)
    >>> result["regret"].dims
    ('notion', 'run', 'checkpoint')
    """

    _chance = "probability"

    compiled: bool = field(
        default=False, kw_only=True, metadata={"distribution": False}
    )

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the probability that ``first`` is preferred to ``second``.

        It is not called if an arm meets itself.
        """
        raise NotImplementedError

    def answer(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> bool:
        """Return whether ``first`` is preferred, in place of :meth:`probability`.

        Optional, for worlds that react to the history. Called once for every comparison
        of different arms, in the order in which they are played.
        """
        raise NotImplementedError

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return the regret of a round in which two arms meet, or an arm meets itself.

        A number, or several: a dictionary by the names of notions, or a tuple or array
        in the order of ``notions`` (compiled worlds return no dictionary).
        """
        raise NotImplementedError

    def first_rounds(self, state: Any, /) -> Int[np.ndarray, " K"]:
        """Return the first round of each arm in a run, int (K,); never compiled.

        Optional, asked once after :meth:`start`. At least two arms are there from round
        1 on. No policy knows of an arm before it arrives. When it arrives, the policy
        begins anew with one more arm. It begins with the counts of all votes so far, or
        without them if the world has a field ``anew`` that is True.
        """
        raise NotImplementedError


class FixedWorld(World):
    """A preference matrix as a world: with features for contextual policies."""

    values: Any
    table: Any = None
    compiled = True
    guarantees = GUARANTEES

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return len(self.values)

    @property
    def arm_features(self) -> Float[np.ndarray, "K d"] | None:
        """Features of the arms."""
        return self.table

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return no hidden state."""
        return np.zeros(0)

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return a round after every horizon."""
        return LAST_ROUND

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the entry of the matrix."""
        return self.values[first, second]

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return 0: the regret of a matrix follows from the plays."""
        return 0.0


def _canonical(value: Any) -> Any:
    checksum = getattr(value, "checksum", None)
    if checksum is not None:
        return checksum
    if hasattr(value, "__array__") or isinstance(value, list | tuple):
        array = np.asarray(value)
        if array.dtype.kind in "biufU":
            digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
            return [array.dtype.str, list(array.shape), digest]
    return value if isinstance(value, str | int | float | bool) else value_text(value)


# Methods whose arguments are checked
_METHODS = (
    ("start", "advance", "unchanged_until", "probability", "probabilities")
    + ("answer", "regret", "features", "theory", "first_rounds")
)  # fmt: skip


def costs_of(
    world: WorldBase, value: Any, *, check_finite: bool = True
) -> dict[str, float]:
    """Return what :meth:`World.regret` has returned, by the names of notions."""
    if isinstance(value, Mapping):
        costs = dict(value)
    elif np.ndim(value) == 0:
        names = world.notions or (UNNAMED_NOTION,)
        costs = {names[0]: value} if len(names) == 1 else {}
    else:
        values = list(value)
        costs = (
            dict(zip(world.notions, values, strict=True))
            if len(world.notions) == len(values)
            else {}
        )
    if world.notions and tuple(costs) != world.notions or not costs:
        raise ArgumentError(
            f"{type(world).__name__}: regret",
            "must return a number, a dictionary of numbers by the names of notions, or "
            f"one number for each of the notions {list(world.notions)}",
            value,
            remedy="declare notions = (...) in the class, or return a dictionary",
        )
    for notion, cost in costs.items():
        if not isinstance(notion, str) or (check_finite and not np.isfinite(cost)):
            raise ArgumentError(
                f"{type(world).__name__}: regret",
                "must be a finite number, or several by the names of notions",
                {notion: cost},
                remedy="return the regret of one round",
            )
    return {notion: float(cost) for notion, cost in costs.items()}


def _check_probability(world: Any, first: int, second: int, value: Any) -> None:
    if not 0 <= value <= 1:
        raise ArgumentError(
            f"{type(world).__name__}: probability",
            "must be a number from 0 to 1",
            value,
            remedy="see probability(state, rng, 1, 0, 1)",
        )


def check_world(
    world: WorldBase,
    horizon: int,
    example: Callable[[], tuple[Any, ...]] = lambda: (0, 1),
    check_chance: Callable[..., Any] = _check_probability,
) -> tuple[str, ...]:
    """Play one round of a world, so that errors come early; return its notions."""
    kind = type(world).__name__
    num_arms: Any = getattr(world, "num_arms", None)
    whole = isinstance(num_arms, int | np.integer) and not isinstance(num_arms, bool)
    if not whole or num_arms < 2:
        raise ArgumentError(
            f"{kind}: num_arms",
            "must be a number of arms, at least 2",
            num_arms,
            remedy="write num_arms: int = 5 in the class, or a property",
        )
    lacking = [name for name in ("start", "regret") if not world.defines(name)]
    chance = world._chance
    if not world.defines(chance) and not world.defines("answer"):
        lacking.append(chance)
    if lacking:
        raise ArgumentError(
            "instances",
            f"{kind} has no {' and no '.join(lacking)}, but must define start, "
            f"{chance} (or answer) and regret",
            world,
            remedy="write it as in the example of bayesduel."
            f"{'World' if isinstance(world, World) else 'SubsetWorld'}",
        )
    protocol = next(x for x in type(world).__mro__ if WorldBase in x.__bases__)
    for name in _METHODS:
        if not hasattr(protocol, name) or not world.defines(name):
            continue
        wanted = [*signature(getattr(protocol, name)).parameters][1:]
        if given := other_signature(getattr(world, name), wanted):
            raise ArgumentError(
                f"{kind}: {name}",
                f"must take ({', '.join(wanted)}), and takes {given}",
                world,
                remedy=f"write def {name}(self, {', '.join(wanted)})",
            )
    unknown = [
        guarantee for guarantee in world.guarantees if guarantee not in GUARANTEES
    ]
    if unknown:
        raise ArgumentError(
            f"{kind}: guarantees",
            f"must be among {', '.join(GUARANTEES)}",
            unknown[0],
            remedy="leave it out",
        )
    check_features(world, "arm_features", world.arm_features)
    rng, method = np.random.default_rng(0), "start"
    try:
        state = world.start(horizon, rng)
        method = "advance"
        world.advance(state, rng, 1)
        method = "unchanged_until"
        last = world.unchanged_until(state, 1)
        if world.defines("features"):
            method = "features"
            check_features(world, method, world.features(state, rng, 1))
        if world.defines("first_rounds"):
            method = "first_rounds"
            arrivals_of(world, state)  # pyright: ignore[reportArgumentType]
        method, given = "regret", example()
        costs = costs_of(world, getattr(world, method)(state, 1, *given))
        method = "answer" if world.defines("answer") else chance
        value = getattr(world, method)(state, rng, 1, *given)
        if method == chance:
            check_chance(world, *given, value)
    except (BayesduelError, ArgumentError):
        raise
    except Exception as error:
        raise ArgumentError(
            f"{kind}: {method}",
            f"must work in round 1, but raised {type(error).__name__}: {error}",
            world,
            remedy="mend the method; round 1 is tried before anything is simulated",
        ) from error
    if not isinstance(last, int | np.integer) or last < 1:
        raise ArgumentError(
            f"{kind}: unchanged_until",
            "must return a round that is not before the one it is asked about",
            last,
            remedy="return round_ where everything may change in the next round",
        )
    return tuple(costs)


def arrivals_of(world: World, state: Any) -> Int[np.ndarray, " K"]:
    """Return the first round of each arm, of which two must be there from the start."""
    given = np.asarray(world.first_rounds(state))
    number = world.num_arms  # pyright: ignore[reportAttributeAccessIssue]
    fits = given.dtype.kind in "iu" and given.shape == (number,)
    if not fits or given.min() < 1 or (given == 1).sum() < 2:
        raise ArgumentError(
            f"{type(world).__name__}: first_rounds",
            f"must be the first rounds of {number} arms, from 1 on, two of them 1",
            given,
            remedy="return an array of integers",
        )
    return given.astype(np.int64)


def check_features(world: WorldBase, method: str, table: Any) -> None:
    """Raise ``ArgumentError`` unless a table has a row of numbers for each arm."""
    if table is None:
        return
    shape, num_arms = np.shape(table), getattr(world, "num_arms", 0)
    if len(shape) != 2 or shape[0] != num_arms or not np.all(np.isfinite(table)):
        raise ArgumentError(
            f"{type(world).__name__}: {method}",
            f"must be finite numbers (K, d), one row for each of the {num_arms} arms",
            table,
            remedy="return a NumPy array of two axes",
        )
