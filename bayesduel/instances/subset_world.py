"""Worlds of subset choice: what answers offered sets, and what an offer costs.

:class:`SubsetWorld` is to sets what :class:`bayesduel.World` is to pairs: weights that
drift, tastes that change, features that are new in every round. The published worlds
of choice are written in it (:class:`bayesduel.instances.choice.ChoiceWorld`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float64
from numpy.random import Generator

from bayesduel.errors import ArgumentError
from bayesduel.instances.world import WorldBase, check_world
from theory.arguments import LARGEST_INTEGER, integer_from, number_above, one_of

# Kinds of feedback on an offered set, see :class:`SubsetWorld`
FEEDBACKS = ("winner", "ranking", "independent")

# Probabilities may be so far below 0, and their sums so far from 1, by rounding
_FAR = 1e-9

# The sum and the largest of rewards where at most one arm is chosen
_ONE = ((0.0, 0.0), (1.0, 1.0))


class SubsetWorld(WorldBase):
    """Answers offers of sets, and says what each round costs.

    Every subclass is turned into a frozen dataclass. Its annotated fields are
    parameters, which are set by name in Python and on the command line (``-i
    mine:Buffet:speed=1e-3``). It defines ``num_arms`` and ``subset_size`` (the largest
    number of arms in a set) as fields or properties, :meth:`start`,
    :meth:`probabilities` and :meth:`regret`; the other methods are optional. A set is a
    mask over the arms, a NumPy array of bool. Methods see the arms in the numbering of
    the world, from 0. For the policies, the simulator relabels them at random. Every
    policy of sets plays in every such world; the methods, and the policies there, are
    played in plain Python.

    Attributes
    ----------
    feedback : {"winner", "ranking", "independent"}
        What is observed. "winner": at most one offered arm is chosen and has reward 1.
        "ranking": the ``depth`` first arms of a full ranking, drawn without replacement
        with probabilities in proportion to those of the set (Plackett-Luce); the arm at
        place x has the reward ``depth - x``, counted from 0, all others 0.
        "independent": every offered arm has its own reward.
    has_no_choice : bool
        Whether it happens that nobody is chosen: where it does not, the probabilities
        of a set add up to 1. By default true for "winner", else false.
    allows_fewer : bool
        Whether sets of fewer than ``subset_size`` arms may be offered; true by default.
    revenues : sequence of float, optional
        Revenue of a choice of each arm, known to the policies; 1 by default.
    levels, largest_reward : int, float
        Independent rewards take the values 0, 1/levels, ..., 1 times
        ``largest_reward``, as a binomial share.
    depth : int, optional
        Observed places of a ranking; by default ``subset_size - 1``, all of it.
    notions, guarantees, arm_features, arm_names, source
        As in :class:`bayesduel.World`.

    Notes
    -----
    Every run has two random generators, which depend only on the seed and the number of
    the run. The world draws from one. The policy and the answers draw from the other.
    So the hidden state of run r takes the same path for every policy, provided that the
    world draws the same number of random numbers in every round.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesduel
    >>> class Buffet(bayesduel.SubsetWorld):
    ...     speed: float = 0.01
    ...     num_arms: int = 6
    ...     subset_size: int = 3
    ...
    ...     def start(self, horizon, rng):
    ...         return rng.normal(size=self.num_arms)
    ...
    ...     def advance(self, tastes, rng, round_):
    ...         tastes += self.speed * rng.normal(size=len(tastes))
    ...
    ...     def probabilities(self, tastes, rng, round_, subset):
    ...         weights = np.where(subset, np.exp(tastes), 0.0)
    ...         return weights / (1 + weights.sum())
    ...
    ...     def regret(self, tastes, round_, subset):
    ...         weights = np.exp(tastes)
    ...         best = np.sort(weights)[-self.subset_size :].sum()
    ...         offered = weights[subset].sum()
    ...         return best / (1 + best) - offered / (1 + offered)
    >>> Buffet(speed=0.1).label
    'Buffet:speed=0.1'
    >>> result = bayesduel.simulate(Buffet(), "random-subsets", num_runs=2, horizon=200)
    >>> result["offers"].dims
    ('run', 'checkpoint', 'arm')
    """

    feedback: ClassVar[str] = "winner"
    allows_fewer: ClassVar[bool] = True
    revenues: ClassVar[Any] = None
    levels: ClassVar[int] = 1
    largest_reward: ClassVar[float] = 1.0
    depth: ClassVar[int | None] = None

    _chance = "probabilities"

    # Fields or properties of every subclass.
    num_arms: ClassVar[int]
    subset_size: ClassVar[int]

    @property
    def has_no_choice(self) -> bool:
        """Whether it happens that nobody of an offered set is chosen."""
        return self.feedback == "winner"

    @property
    def places(self) -> int:
        """Observed places of a ranking; 1 for the other kinds of feedback."""
        if self.feedback != "ranking":
            return 1
        return self.depth or self.subset_size - 1

    def probabilities(
        self, state: Any, rng: Generator, round_: int, subset: Bool[np.ndarray, " n"], /
    ) -> Float[np.ndarray, " n"]:
        """Return the probability that each arm of a set is chosen, float64 (n,).

        0 outside the set. What is missing from 1 is the probability that nobody is
        chosen. For the feedback "independent" the mean rewards as shares of the largest
        one, each from 0 to 1. Not asked again for the same set before
        ``unchanged_until``.
        """
        raise NotImplementedError

    def answer(
        self, state: Any, rng: Generator, round_: int, subset: Bool[np.ndarray, " n"], /
    ) -> Float[np.ndarray, " n"]:
        """Return the rewards (n,) of one round, in place of :meth:`probabilities`.

        Optional, for worlds that react to the history. Called once for every round, in
        order.
        """
        raise NotImplementedError

    def regret(self, state: Any, round_: int, subset: Bool[np.ndarray, " n"], /) -> Any:
        """Return the regret of one round in which a set is offered.

        A number, or several: a dictionary by the names of notions, or a tuple or array
        in the order of ``notions``.
        """
        raise NotImplementedError


def check_subset_world(world: SubsetWorld, horizon: int) -> tuple[str, ...]:
    """Play one round of a world, and return its notions of regret."""
    kind, num_arms = type(world).__name__, getattr(world, "num_arms", None)
    size = getattr(world, "subset_size", None)
    most = num_arms if isinstance(num_arms, int) else LARGEST_INTEGER
    integer_from(size, 1, f"{kind}: subset_size", most, kind=ArgumentError)
    one_of(world.feedback, FEEDBACKS, f"{kind}: feedback", kind=ArgumentError)
    integer_from(world.levels, 1, f"{kind}: levels", kind=ArgumentError)
    number_above(world.largest_reward, 0, f"{kind}: largest_reward", kind=ArgumentError)
    if world.feedback == "ranking":
        longest = world.subset_size - 1
        integer_from(world.places, 1, f"{kind}: depth", longest, kind=ArgumentError)

    def example() -> tuple[Bool[np.ndarray, " n"]]:
        return (np.arange(world.num_arms) < world.subset_size,)

    notions = check_world(world, horizon, example, as_probabilities)
    if world.revenues is not None and np.shape(world.revenues) != (world.num_arms,):
        raise ArgumentError(
            f"{kind}: revenues",
            f"must be one number for each of the {world.num_arms} arms",
            world.revenues,
            remedy="leave them out if all arms have the same",
        )
    if world.defines("answer"):
        (subset,) = example()
        rng = np.random.default_rng(0)
        state = world.start(horizon, rng)
        world.advance(state, rng, 1)
        as_rewards(world, subset, world.answer(state, rng, 1, subset))
    return notions


def as_probabilities(
    world: SubsetWorld, subset: Bool[np.ndarray, " n"], values: Any
) -> Float64[np.ndarray, " n"]:
    """Return what :meth:`SubsetWorld.probabilities` has returned, clipped at 0."""
    argument = f"{type(world).__name__}: probabilities"
    table = _by_arm(argument, values, subset)
    if (table < -_FAR).any():
        arm = int(table.argmin())
        raise ArgumentError(
            argument, "must not be negative", float(table[arm]), index=arm
        )
    if world.feedback == "independent":
        if (table > 1 + _FAR).any():
            arm = int(table.argmax())
            raise ArgumentError(
                argument,
                "must be means from 0 to 1, as shares of the largest reward",
                float(table[arm]),
                index=arm,
                remedy="divide them by largest_reward",
            )
        return np.maximum(table, 0.0)
    total = float(table.sum())
    if total > 1 + _FAR:
        raise ArgumentError(
            argument,
            "must add up to at most 1 where at most one arm is chosen",
            total,
            remedy="say feedback = 'independent' if several arms can be rewarded",
        )
    if total < 1 - _FAR and not world.has_no_choice:
        raise ArgumentError(
            argument,
            "must add up to 1 where somebody is always chosen",
            total,
            remedy="divide them by their sum, or say has_no_choice = True",
        )
    if world.feedback == "ranking" and (table[subset] <= 0).any():
        raise ArgumentError(
            argument,
            "must be positive for all arms of a set that is ranked",
            values,
            remedy="give arms that are never first a small probability",
        )
    return np.maximum(table, 0.0)


def as_rewards(
    world: SubsetWorld, subset: Bool[np.ndarray, " n"], values: Any
) -> Float64[np.ndarray, " n"]:
    """Return what :meth:`SubsetWorld.answer` has returned."""
    argument = f"{type(world).__name__}: answer"
    rewards = _by_arm(argument, values, subset)
    most = {"winner": 1.0, "ranking": world.places}.get(
        world.feedback, world.largest_reward
    )
    if rewards.min() < 0 or rewards.max() > most:
        raise ArgumentError(
            argument,
            f"must be rewards from 0 to {most:g}",
            values,
            remedy="see feedback and largest_reward of the world",
        )
    if world.feedback == "winner" and (rewards.sum(), rewards.max()) not in _ONE:
        raise ArgumentError(
            argument,
            "must have reward 1 for at most one arm, and else 0",
            values,
            remedy="say feedback = 'independent' if several arms can be rewarded",
        )
    return rewards


def _by_arm(
    argument: str, values: Any, subset: Bool[np.ndarray, " n"]
) -> Float64[np.ndarray, " n"]:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.shape != subset.shape:
        shape = f" of shape {np.shape(values)}" if hasattr(values, "shape") else ""
        raise ArgumentError(
            argument,
            f"must return one number for each of the {len(subset)} arms{shape}",
            values,
            remedy="return a NumPy array (n,), 0 outside the set",
        )
    if not np.isfinite(table).all():
        arm = int(np.argmin(np.isfinite(table)))
        raise ArgumentError(
            argument, "must be finite numbers", float(table[arm]), index=arm
        )
    if table[~subset].any():
        arm = int(np.argmax(~subset & (table != 0)))
        raise ArgumentError(
            argument,
            "must be 0 for arms outside the set",
            float(table[arm]),
            index=arm,
            remedy="return np.where(subset, values, 0.0)",
        )
    return table
