"""The world ``pool``: arms that arrive at given rounds."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.arguments.named_objects import title_with_changes
from bayesduel.errors import ArgumentError
from bayesduel.instances.catalog import load_matrix
from bayesduel.instances.world import (
    CONDORCET_WINNER,
    FIXED_PREFERENCES,
    KNOWN_HORIZON,
    LAST_ROUND,
    World,
)
from bayesduel.instances.worlds.costs import costs_of_arms, digest_of, label_without
from theory.arguments import integer_from, items_of, number_above, true_or_false
from theory.preferences import PreferenceMatrix


class Pool(World):
    """A pool of arms that grows: some are there from the start, others arrive.

    No policy knows of an arm before it arrives. Then the policy begins anew with one
    more arm, from the counts of all votes so far, as a :class:`bayesduel.Player` does
    whose ``add_arm`` is called.

    Parameters
    ----------
    num_arms : int
        K, where no matrix is given.
    first : int
        Arms that are there from round 1 on, at least 2. Which ones, and the order of
        the others, is drawn in each run.
    every : int
        Rounds from one arrival to the next; the first is in round ``every + 1``.
    scale : float
        Standard deviation of the utilities, where no matrix is given.
    anew : bool
        Let policies forget all votes whenever an arm arrives.
    matrix : preference matrix, or the name or file of one
        Preferences of all arms. Without one every run draws utilities u from a normal
        distribution, and arm i is preferred to j with probability 1 / (1 + exp(u_j -
        u_i)).
    arrivals : sequence of K int, or a text such as ``"1;1;1;500;900"``
        The first round of each arm, in place of ``first`` and ``every``; at least two
        of them 1.

    Raises
    ------
    ArgumentError
        If a parameter is out of range, or the arrivals do not fit the arms.

    Notes
    -----
    *Regret* is against the best arm among those that are there: the Condorcet winner of
    these or, where there is none, each of their Copeland winners. Arm i costs c(i) =
    max(0, P(w beats i) - 1/2), for the best arm w for which this is least. Showing i
    and j costs (c(i) + c(j)) / 2 under ``dynamic``, and min(c(i), c(j)) under ``weak``.

    *What is drawn.* Before round 1, K normal numbers where no matrix is given, and the
    order in which arms arrive where that is not given; nothing later but the answers.

    *Who can play.* Policies that begin from counts. Those that plan in bulk, as the
    batched ones, and contextual ones need ``anew``. Policies over NumPyro models, with
    delayed feedback or under a monitor are refused, and so are rules for stopping.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances.worlds import Pool
    >>> world = Pool(matrix="gap", arrivals=[1, 1, 100, 50, 100])
    >>> state = world.start(1000, np.random.default_rng(0))
    >>> [int(world.unchanged_until(state, 1)), world.first_rounds(state).tolist()]
    [49, [1, 1, 100, 50, 100]]
    >>> Pool(num_arms=6, first=3).label
    'pool:num_arms=6,first=3'
    """

    title = "pool"
    source = (
        "Kleinberg, Niculescu-Mizil and Sharma (2010), Machine Learning, for regret "
        "against the arms that are there"
    )
    notions = ("dynamic", "weak")
    compiled = True

    num_arms: int = 10
    first: int = 5
    every: int = 1000
    scale: float = 1.0
    anew: bool = False
    matrix: Any = ""
    arrivals: Any = ""

    def __post_init__(self) -> None:
        true_or_false(self.anew, "anew")
        number_above(self.scale, 0, "scale")
        value = self.matrix
        if isinstance(value, os.PathLike):
            object.__setattr__(self, "matrix", os.fspath(value))
        elif not isinstance(value, str | PreferenceMatrix):
            object.__setattr__(self, "matrix", load_matrix(value))
        if self._values is not None:
            object.__setattr__(self, "num_arms", len(self._values))
        integer_from(self.num_arms, 2, "num_arms", 1000)
        integer_from(self.first, 2, "first")
        integer_from(self.every, 1, "every")
        given = self.arrivals
        if isinstance(given, str):
            given = [_whole(arrival) for arrival in given.split(";") if arrival.strip()]
        given = tuple(
            integer_from(arrival, 1, f"arrivals[{position}]")
            for position, arrival in enumerate(items_of(given, "arrivals"))
        )
        if given and (len(given) != self.num_arms or sorted(given)[1] != 1):
            raise ArgumentError(
                "arrivals",
                f"must be the first rounds of {self.num_arms} arms, two of them 1",
                self.arrivals,
                remedy="give a round for each arm, 1 where it is there from the start",
            )
        object.__setattr__(self, "arrivals", given or "")

    @cached_property
    def _values(self) -> Float[np.ndarray, "K K"] | None:
        """Entries of the matrix; None where each run draws another one."""
        given = self.matrix
        if isinstance(given, str) and not given:
            return None
        return load_matrix(given).values

    @property
    def label(self) -> str:
        """Name in results, without the size of a given matrix."""
        if self._values is None:
            return title_with_changes(self)
        return label_without(self, "num_arms")

    @property
    def checksum(self) -> str:
        """Digest of the parameters and of the matrix."""
        values = np.zeros(0) if self._values is None else self._values
        numbers = self.num_arms, self.first, self.every, self.scale, self.anew
        return digest_of(self.title, *map(float, numbers), values, self.arrivals)

    @property
    def guarantees(self) -> tuple[str, ...]:  # pyright: ignore
        """Assumptions of policies that hold here, between two arrivals."""
        values, transitive = self._values, True
        if values is not None:
            # In a transitive order every pool has a Condorcet winner.
            beats = np.sort(((values - values.T) > 0).sum(axis=1))
            transitive = bool((beats == np.arange(len(values))).all())
        winner = (CONDORCET_WINNER,) if transitive else ()
        return FIXED_PREFERENCES, *winner, KNOWN_HORIZON

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return matrix, costs by pools, first rounds of pools and arms, and pool."""
        number = self.num_arms
        if self._values is None:
            utilities = self.scale * rng.normal(size=number)
            values = 1.0 / (1.0 + np.exp(utilities - utilities[:, None]))
        else:
            values = np.array(self._values)
        if self.arrivals:
            rounds = np.array(self.arrivals, dtype=np.int64)
        else:
            late = np.maximum(np.arange(number) - (self.first - 1), 0)
            rounds = np.empty(number, dtype=np.int64)
            rounds[rng.permutation(number)] = 1 + late * self.every
        starts = np.unique(rounds)
        costs = np.full((len(starts), number), 0.5)
        for pool, begin in enumerate(starts):
            there = np.flatnonzero(rounds <= begin)
            costs[pool, there] = costs_of_arms(values[np.ix_(there, there)])
        return values, costs, starts, rounds, np.zeros(1, dtype=np.int64)

    def first_rounds(self, state: Any, /) -> Int[np.ndarray, " K"]:
        """Return the first round of each arm."""
        return state[3]

    def advance(self, state: Any, rng: Generator, round_: int, /) -> None:
        """Go on to the pool of the round."""
        _, _, starts, _, current = state
        while current[0] + 1 < len(starts) and starts[current[0] + 1] <= round_:
            current[0] += 1

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return the last round before the next arrival."""
        _, _, starts, _, current = state
        following = current[0] + 1
        return starts[following] - 1 if following < len(starts) else LAST_ROUND

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the entry of the matrix."""
        return state[0][first, second]

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return dynamic and weak regret; 1/2 of an arm that is not there."""
        _, costs, _, _, current = state
        one, two = costs[current[0], first], costs[current[0], second]
        return (one + two) / 2, min(one, two)


def _whole(text: str) -> Any:
    """Return a number in a text; what is none stays as it is, to be refused."""
    return int(text) if text.strip().isdigit() else text
