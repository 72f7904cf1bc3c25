"""The protocol of a policy: four functions of one run, in NumPy."""

from collections.abc import Callable
from dataclasses import field
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.arguments.named_objects import (
    FrozenClass,
    other_signature,
    title_with_changes,
)
from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.policies.registry import registered_label, registered_name


class Problem(NamedTuple):
    """The problem that a policy meets in a run, known before its first round.

    Arms are numbered from 0, in the order of the run: they are relabeled at random in
    each run unless told otherwise, and ``features`` and ``revenues`` with them.

    Attributes
    ----------
    num_arms : int
        Number of arms K.
    horizon : int
        Rounds of the run.
    features : float64 (K, d) or None
        Features of the arms, a row for each; None where the instance has none.
    subset_size : int
        The largest number of arms in an offered set; 2 in duels.
    revenues : float64 (K,) or None
        The revenue of a choice of each arm; None in duels.
    num_features : int
        Number of features d of an arm, whether fixed or new in every round; 0 where
        there are none, or the world does not say it.
    """

    num_arms: int
    horizon: int
    features: Float[np.ndarray, "K d"] | None = None
    subset_size: int = 2
    revenues: Float[np.ndarray, " K"] | None = None
    num_features: int = 0


class Duel(NamedTuple):
    """Self-duels of a champion and then a duel, as one choice of a policy.

    ``champion`` meets itself for ``idle_rounds`` rounds, in which nothing is learnt;
    then, if ``explores``, ``first`` meets ``second`` for one round; for as many as it
    says, where the policy declares ``explores_in_bulk``. Only the horizon cuts it
    short.
    """

    champion: int
    idle_rounds: int
    first: int
    second: int
    explores: int = 1


class Wins(NamedTuple):
    """How many of several rounds of one pair the first arm won."""

    won: int
    rounds: int


class PolicyBase:
    """Base of every policy: its names, and a check of its parameters."""

    @property
    def name(self) -> str:
        """Name in the registry, or that of the class."""
        return registered_name(self) or type(self).__name__

    @property
    def label(self) -> str:
        """Acronym, with the parameters that are not the default ones.

        Without one, what the class says of itself as ``title``, or its name.
        """
        return registered_label(self) or title_with_changes(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` where a parameter does not fit the problem.

        Called once, on concrete values, before anything is played. Here what fields
        are declared to be: see :func:`checked`.
        """
        # A subclass may have another default, but no other values.
        checks = {
            field.name: field.metadata["check"]
            for kind in reversed(type(self).__mro__)
            for field in vars(kind).get("__dataclass_fields__", {}).values()
            if "check" in field.metadata
        }
        for name, (check, given, more) in checks.items():
            named = {"argument": name, "kind": PolicyParameterError}
            check(getattr(self, name), *given, **named, **more)


def checked(default: Any, check: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """Declare a parameter with its default, and a check of ``theory.arguments``."""
    # ``alpha: float = checked(0.51, number_above, 0.5)``.
    return field(default=default, metadata={"check": (check, given, more)})


DRAWS = "draws"  # Several questions at once are independent draws of the policy

# Each of several questions at once is the choice after likely answers to the others:
# for a policy whose choice is a function of the counts and the round
LIKELY_ANSWERS = "likely answers"

# Names that a class may declare, with their defaults: its name in words, whether its
# rule reads the horizon (is not "anytime"), whether it asks for several rounds of a
# pair at once, how it asks several questions that are answered in parallel (``DRAWS``
# or ``LIKELY_ANSWERS``; else it knows what it has asked, and not the answers, as with
# delayed feedback), whether it is given the features of every round, what it assumes of
# its world (of :data:`bayesduel.instances.world.GUARANTEES`), and the numbers that it
# reports of a finished run, as ``info(state)``
DECLARED = {
    "title": "",
    "in_batches": "",
    "needs_horizon": False,
    "explores_in_bulk": False,
    "contextual": False,
    "assumes": (),
    "info": lambda state: {},
}


def declared(policy: PolicyBase, name: str) -> Any:
    """Return what the class of a policy declares, or what holds without."""
    return getattr(policy, name, DECLARED[name])


class FrozenPolicy(PolicyBase, FrozenClass):
    """A policy whose annotated fields are its parameters."""


class KernelPolicy(FrozenPolicy):
    """A policy whose rule is a kernel for Numba, or JAX over a NumPyro model."""

    assumes = (FIXED_PREFERENCES,)

    def scalar_kernel(self) -> Any:
        """Return the ``ScalarKernel`` that plays it run after run, or None."""
        # Classes that inherit this method may have another rule, and are not played so.
        return None

    def over_model(self) -> Any:
        """Return the ``ModelRule`` that plays it over a NumPyro model, or None."""
        return None


def kernel_of(policy: PolicyBase) -> Any:
    """Return the kernel that plays a policy, or None."""
    if "scalar_kernel" not in vars(type(policy)):
        return None
    return policy.scalar_kernel()  # pyright: ignore[reportAttributeAccessIssue]


def over_model(policy: PolicyBase) -> Any:
    """Return what plays a policy over a NumPyro model, or None."""
    if "over_model" not in vars(type(policy)):
        return None
    return policy.over_model()  # pyright: ignore[reportAttributeAccessIssue]


def has_kernel_above(policy: Any) -> bool:
    """Say whether a class that a policy inherits from defines a kernel."""
    above = [base for base in type(policy).__mro__[1:] if base is not KernelPolicy]
    return any("scalar_kernel" in vars(base) for base in above)


class Policy(FrozenPolicy):
    """Decides which arms meet next: a rule of one run, as a paper prints it.

    A subclass is a frozen dataclass by itself: its annotated fields are parameters, to
    be set by name in Python and on the command line. It defines :meth:`start`,
    :meth:`choose`, :meth:`update` and :meth:`recommend`; that is all. Arms are numbered
    from 0, and are relabeled at random in each run unless told otherwise. So no field
    may hold a value for each arm: what is known of the arms are the features of the
    instance, which :meth:`start` finds in the order of the run.

    Parameters
    ----------
    compiled : bool
        Let Numba compile ``choose``, ``update`` and ``recommend``, which makes a round
        of the example below some 40 times as fast. These methods must use only the part
        of Python and NumPy that Numba supports. They may call functions, but no other
        methods. Everything that changes must be in ``state``, which is an array or a
        tuple of arrays. Fields must be numbers, strings or arrays. Compilation changes
        no random number. So a run stays the same as long as NumPy and Numba round in
        the same way; a sum of eight or more numbers may differ in its last digit. A
        class with ``compiled = True`` is compiled by default.

    Notes
    -----
    ``rng`` is a generator of NumPy, seeded for each run by the seed and the number of
    the run. ``state`` is whatever :meth:`start` returns; the other methods change it in
    place.

    If a class has ``contextual = True``, ``choose`` and ``update`` get the features
    of the round as their last argument: ``features`` is float64 (K, d), with a row for
    each arm in the order of the run. The instance must have features: those of a
    :class:`bayesduel.World` may be new in every round, those of a matrix never are.

    A class may also declare what its theory ``assumes`` of the world (see
    ``bayesduel.instances.world.GUARANTEES``). If a world does not guarantee it, an
    ``AssumptionWarning`` is issued.

    A class may also define ``info(self, state)``. It returns a dictionary from names to
    numbers about a finished run, with the same names for every run. The results hold
    them as variables. It is never compiled.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesduel
    >>> class Greedy(bayesduel.Policy):
    ...     epsilon: float = 0.1
    ...
    ...     def start(self, problem, rng):
    ...         return np.ones((problem.num_arms, problem.num_arms))
    ...
    ...     def choose(self, wins, rng, round_):
    ...         if rng.random() < self.epsilon:
    ...             return rng.integers(len(wins)), rng.integers(len(wins))
    ...         leader = (wins / (wins + wins.T)).sum(axis=1).argmax()
    ...         return leader, leader
    ...
    ...     def update(self, wins, rng, round_, first, second, won):
    ...         wins[(first, second) if won else (second, first)] += 1
    ...
    ...     def recommend(self, wins, rng):
    ...         return (wins / (wins + wins.T)).sum(axis=1).argmax()
    >>> Greedy(epsilon=0.2).label
    'Greedy:epsilon=0.2'
    >>> result = bayesduel.simulate("cyclic", Greedy(), num_runs=4, horizon=1000)
    """

    compiled: bool = field(
        default=False, kw_only=True, metadata={"distribution": False}
    )

    def start(self, problem: Problem, rng: Generator, /) -> Any:
        """Return the state before the first round; never compiled.

        Features that later methods need must be put into the state.
        """
        raise NotImplementedError

    def choose(self, state: Any, rng: Generator, round_: int, /) -> Any:
        """Return the pair that meets in ``round_``, counted from 1, or a :class:`Duel`.

        A pair of an arm with itself is exploitation, and nothing is learned from it.
        """
        raise NotImplementedError

    def update(
        self,
        state: Any,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: Any,
        /,
    ) -> None:
        """Take in that ``first`` has won or lost against ``second`` in ``round_``.

        It is called only for comparisons of different arms. ``won`` is true or false.
        If the class has ``explores_in_bulk = True``, ``won`` is a :class:`Wins`, and
        ``round_`` is the last of its rounds. There may be fewer than were asked for:
        the horizon cuts them, and people may leave questions of a study without an
        answer, even all.
        """
        raise NotImplementedError

    def recommend(self, state: Any, rng: Generator, /) -> Any:
        """Return the arm that the policy believes to be best."""
        raise NotImplementedError


RULE = ("start", "choose", "update", "recommend")  # The functions that make a rule


def check_rule(policy: PolicyBase) -> None:
    """Raise where a policy lacks a function of its rule, or one takes other things."""
    kind = type(policy)
    # That of duels or that of sets: what says which functions rules have.
    protocol = next(base for base in kind.__mro__ if FrozenPolicy in base.__bases__)
    lacking = [name for name in RULE if getattr(kind, name) is getattr(protocol, name)]
    if lacking:
        raise PolicyParameterError(
            "policy",
            f"{kind.__name__} has no {' and no '.join(lacking)}, but must define "
            f"{', '.join(RULE)}",
            policy,
            remedy="write it as in the example of bayesduel.Policy",
        )
    for name in RULE:
        wanted = list(signature(getattr(protocol, name)).parameters)[1:]
        if declared(policy, "contextual") and name in ("choose", "update"):
            wanted.append("features")
        if given := other_signature(getattr(policy, name), wanted):
            fields = ""
            if name == "start":
                fields = f"; the problem has {', '.join(Problem._fields)}"
            elif "features" in given and "features" not in wanted:
                fields = (
                    ", or say contextual = True in the class, so that choose and "
                    "update are given the features of the round"
                )
            raise PolicyParameterError(
                "policy",
                f"{name} of {kind.__name__} must take ({', '.join(wanted)}), and takes "
                f"{given}",
                policy,
                remedy=f"write def {name}(self, {', '.join(wanted)}){fields}",
            )
