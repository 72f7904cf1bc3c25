"""The world ``corrupted``: an adversary reverses some answers of another world."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import ArgumentError
from bayesduel.instances.families import FAMILIES
from bayesduel.instances.matrices import is_path, load_matrix
from bayesduel.instances.published import PUBLISHED
from bayesduel.instances.world import KNOWN_HORIZON, LAST_ROUND, World
from bayesduel.instances.worlds.costs import digest_of
from bayesduel.instances.worlds.lookup import parse_world
from theory.arguments import integer_from, one_of
from theory.preferences import PreferenceMatrix


class Corrupted(World):
    """A world in which an adversary reverses the first ``budget`` answers of a kind.

    An adversary with a budget C sees who is compared and what the answer would be. It
    turns the first C answers of one kind, and then nothing: C answers of a run are
    wrong, or fewer if the run has not as many of that kind.

    Parameters
    ----------
    world : matrix or World, or the name or file of one
        What answers. In a text, parameters of this world are separated by semicolons:
        ``corrupted:world=drifting:speed=0.1;num_arms=8,budget=50``.
    budget : int
        C, the number of answers that are reversed in a run, not negative.
    kind : str
        ``"better"``: answers in which the better arm wins, the one that is preferred
        with a probability above 1/2. ``"any"``: all answers.

    Raises
    ------
    ArgumentError
        If a parameter is out of range, or ``kind="better"`` and the world does not say
        which arm is better, as it has no ``probability``.

    Notes
    -----
    *Regret* is that of the world inside: what the arms are worth does not change. A
    preference matrix has ``copeland`` and, with a Condorcet winner, ``condorcet_mean``
    and ``weak`` (see ``theory.REGRET_NOTIONS``).

    *What is drawn.* The state of the world inside, as without corruption, and one coin
    for each comparison. Answers depend on the history, so policies that assume fixed
    preferences are warned.

    References
    ----------
    Agarwal, Agarwal and Patil (2021), Stochastic Dueling Bandits with Adversarial
    Corruption, ALT.

    Examples
    --------
    >>> import bayesduel
    >>> from bayesduel.instances.worlds import Corrupted
    >>> Corrupted(budget=50).notions
    ('copeland', 'condorcet_mean', 'weak')
    >>> bayesduel.load("corrupted:world=drifting:speed=0.1;num_arms=8").num_arms
    8
    """

    title = "corrupted"
    source = "Agarwal, Agarwal and Patil (2021), ALT"

    world: Any = "arithmetic"
    budget: int = 100
    kind: str = "better"

    def __post_init__(self) -> None:
        integer_from(self.budget, 0, "budget")
        one_of(self.kind, ("better", "any"), "kind")
        if not isinstance(self.world, str | World | PreferenceMatrix):
            object.__setattr__(self, "world", load_matrix(self.world))
        inner = self.inner
        if (
            self.kind == "better"
            and isinstance(inner, World)
            and not inner.defines("probability")
        ):
            raise ArgumentError(
                "kind",
                f"must be 'any' around {inner.label}, which has no probability",
                self.kind,
                remedy="write kind=any",
            )

    @cached_property
    def inner(self) -> PreferenceMatrix | World:
        """The world that answers without corruption."""
        if not isinstance(self.world, str):
            return self.world
        text = self.world.replace(";", ",")
        name = text.partition(":")[0]
        is_matrix = name in PUBLISHED or name in FAMILIES or is_path(text)
        world = load_matrix(text) if is_matrix else parse_world(text)
        if not isinstance(world, PreferenceMatrix | World):
            raise ArgumentError(
                "world",
                f"must be a world of duels, but {world.label} is one of subset choice",
                self.world,
                remedy="name a matrix or a subclass of bayesduel.World",
            )
        return world

    @property
    def num_arms(self) -> int:
        """Number of arms K of the world inside."""
        return self.inner.num_arms  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def arm_names(self) -> tuple[str, ...] | None:  # pyright: ignore
        """Names of the arms of the world inside."""
        return self.inner.arm_names

    @property
    def arm_features(self) -> Float[np.ndarray, "K d"] | None:
        """Features of the arms of the world inside."""
        inner = self.inner
        return inner.arm_features if isinstance(inner, World) else inner.features

    @property
    def num_features(self) -> int:
        """Number of features of the world inside."""
        return int(getattr(self.inner, "num_features", 0))

    @property
    def notions(self) -> tuple[str, ...]:  # pyright: ignore
        """Notions of regret of the world inside."""
        return self.inner.notions if isinstance(self.inner, World) else (*self._tables,)

    @property
    def guarantees(self) -> tuple[str, ...]:  # pyright: ignore
        """Assumptions of policies that hold here."""
        inner = self.inner
        known = inner.guarantees if isinstance(inner, World) else (KNOWN_HORIZON,)
        return tuple(each for each in known if each == KNOWN_HORIZON)

    @property
    def checksum(self) -> str:
        """Digest of the world inside, the budget and the kind."""
        return digest_of(self.title, self.inner.checksum, int(self.budget), self.kind)

    @cached_property
    def _tables(self) -> dict[str, Float[np.ndarray, "K K"]]:
        """Regret of each pair of a matrix, by notion."""
        matrix: Any = self.inner
        names = ["copeland"]
        if matrix.condorcet_winner is not None:
            names += ["condorcet_mean", "weak"]
        return {name: matrix.regret_per_pair(name) for name in names}

    def defines(self, method: str) -> bool:
        """Say whether this world has an optional method: features if the inner has."""
        if method == "features":
            inner = self.inner
            varies = isinstance(inner, World) and inner.defines(method)
            return varies or self.arm_features is not None
        if method == "first_rounds":
            return isinstance(self.inner, World) and self.inner.defines(method)
        return super().defines(method)

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return the state of the world inside, and the budget."""
        inner = self.inner
        hidden = inner.start(horizon, rng) if isinstance(inner, World) else None
        return hidden, np.array([self.budget])

    def advance(self, state: Any, rng: Generator, round_: int, /) -> None:
        """Let the world inside change."""
        if isinstance(self.inner, World):
            self.inner.advance(state[0], rng, round_)

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return what the world inside says."""
        if isinstance(self.inner, World):
            return self.inner.unchanged_until(state[0], round_)
        return LAST_ROUND

    @property
    def anew(self) -> bool:
        """Whether policies forget all votes whenever an arm arrives."""
        return getattr(self.inner, "anew", False)

    def first_rounds(self, state: Any, /) -> Int[np.ndarray, " K"]:
        """Return what the world inside says."""
        inner: Any = self.inner
        return inner.first_rounds(state[0])

    def answer(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> bool:
        """Draw an answer, and turn it if it is of the kind and budget is left."""
        hidden, left = state
        inner = self.inner
        share = 0.5  # Not asked for where only the answer counts.
        reacts = isinstance(inner, World) and inner.defines("answer")
        if not isinstance(inner, World):
            share = inner.values[first, second]
        elif self.kind == "better" or not reacts:
            share = inner.probability(hidden, rng, round_, first, second)
        if isinstance(inner, World) and reacts:
            won = bool(inner.answer(hidden, rng, round_, first, second))
        else:
            won = bool(rng.random() < share)
        better = share > 0.5 if won else share < 0.5
        if left[0] > 0 and (self.kind == "any" or better):
            left[0] -= 1
            return not won
        return won

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return the regret of the world inside."""
        if isinstance(self.inner, World):
            return self.inner.regret(state[0], round_, first, second)
        return {name: table[first, second] for name, table in self._tables.items()}

    def features(
        self, state: Any, rng: Generator, round_: int, /
    ) -> Float[np.ndarray, "K d"]:
        """Return the features of the world inside."""
        inner, table = self.inner, self.arm_features
        if isinstance(inner, World) and inner.defines("features"):
            return inner.features(state[0], rng, round_)
        if table is None:
            raise ArgumentError(
                "world", "must have features for a contextual policy", self.world
            )
        return table
