"""The world ``piecewise``: matrices that change at given rounds."""

from __future__ import annotations

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.arguments.named_objects import title_with_changes
from bayesduel.errors import ArgumentError
from bayesduel.files.user_files import read_text
from bayesduel.instances.catalog import is_path, load_matrix
from bayesduel.instances.world import (
    CONDORCET_WINNER,
    FIXED_PREFERENCES,
    KNOWN_HORIZON,
    LAST_ROUND,
    World,
)
from bayesduel.instances.worlds.costs import (
    array_of_file,
    costs_of_arms,
    digest_of,
    label_without,
    matrices_of,
)
from theory.arguments import integer_from, number_that, one_of

MOST_ENTRIES = 10**7  # Entries of all random matrices together: 80 MB

# The least probability with which the winner of a random segment beats an arm
LEAST = 0.55


class Piecewise(World):
    """Preference matrices M_1, ..., M_S that change at given rounds.

    In a round t of segment s, arm i is preferred to j with probability
    M_s(i, j). There are three ways to say what the matrices are: ``matrices``
    and ``changes``; a ``file`` that holds them; or neither, for random matrices.

    Parameters
    ----------
    num_arms : int
        K of random matrices. Given matrices have their own number.
    segments : int
        S of random matrices.
    delta : float
        In (0, 0.55]: at each change of random matrices, one probability of the winner
        of the segment before changes by exactly ``delta``.
    seed : int
        Seed of random matrices. They are the same in all runs.
    spacing : str
        ``"even"``: random segments of equal length, which begin at rounds
        floor(s T / S) + 1. ``"geometric"``: they begin at about T^(s / S), so every one
        is longer than the one before by the same factor.
    file : str
        A TOML file with tables ``[[segments]]``, each with a ``matrix`` (rows of
        numbers, a name, or the path of a file from the folder of the TOML file) and,
        from the second on, the round ``start`` in which it begins. Or an NPZ file with
        the arrays ``matrices`` (S, K, K) and ``changes`` (S - 1,).
    matrices : sequence of S matrices, or names of them
        Each as :func:`bayesduel.load` reads it; they have the same number of arms.
    changes : sequence of S - 1 int
        Increasing rounds, from 2 on, in which the second and each later matrix begins.

    Raises
    ------
    ArgumentError
        If matrices and rounds of change do not fit, or a parameter is out of range.

    Notes
    -----
    *Regret.* The best arm of a round is the Condorcet winner of its matrix. Where there
    is none, each Copeland winner is a best arm. Arm i costs c(i) = max(0, P(w beats i)
    - 1/2), for the best arm w for which this is least. Showing i and j costs (c(i) +
    c(j)) / 2 under ``dynamic``, and min(c(i), c(j)) under ``weak``.

    *What is drawn.* Nothing in a run but the answers. Random matrices follow the
    authors' program of [1]_: the winner of a segment is a random arm other than the
    winner before it; it beats each arm with a probability uniform in [0.55, 1], and a
    random one with exactly 0.55; other entries are uniform in [0, 1]. Then one entry
    of the winner before is its old value plus or minus ``delta``.

    References
    ----------
    .. [1] Kolpaczki, Hüllermeier and Bengs (2024), Piecewise-Stationary Dueling
       Bandits, Transactions on Machine Learning Research.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances.worlds import Piecewise
    >>> world = Piecewise(num_arms=4, segments=3)
    >>> world.segment_starts(horizon=900).tolist()
    [1, 301, 601]
    >>> world.label
    'piecewise:num_arms=4,segments=3'
    >>> better = [[0.5, 0.8, 0.9], [0.2, 0.5, 0.6], [0.1, 0.4, 0.5]]
    >>> Piecewise(matrices=[better, np.array(better).T], changes=[1000]).num_arms
    3
    """

    title = "piecewise"
    source = "Kolpaczki, Hüllermeier and Bengs (2024), TMLR"
    notions = ("dynamic", "weak")
    compiled = True

    num_arms: int = 5
    segments: int = 10
    delta: float = 0.3
    seed: int = 0
    spacing: str = "even"
    file: str = ""
    matrices: Any = ""
    changes: Any = ""

    def __post_init__(self) -> None:
        one_of(self.spacing, ("even", "geometric"), "spacing")
        integer_from(self.seed, 0, "seed")
        if self.is_given:
            matrices, changes = self._given
            object.__setattr__(self, "num_arms", matrices.shape[1])
            if not self.file:
                object.__setattr__(self, "matrices", matrices)
                object.__setattr__(self, "changes", tuple(changes.tolist()))
            return
        if not _is_empty(self.changes):
            raise ArgumentError(
                "changes", "needs matrices", self.changes, remedy="give matrices, too"
            )
        integer_from(self.num_arms, 3, "num_arms", 1000)
        most = MOST_ENTRIES // self.num_arms**2
        integer_from(self.segments, 1, "segments", most)
        rule = f"in (0, {LEAST}]"
        number_that(self.delta, "delta", rule, lambda value: 0 < value <= LEAST)

    @property
    def is_given(self) -> bool:
        """Whether the matrices are the user's own, not random."""
        return bool(self.file) or not _is_empty(self.matrices)

    @property
    def label(self) -> str:
        """Name in results, without the size of given matrices."""
        if self.is_given:
            return label_without(self, "num_arms")
        return title_with_changes(self)

    @property
    def checksum(self) -> str:
        """Digest of the matrices and of the rounds of change."""
        words = "" if self.is_given else self.spacing
        return digest_of(self.title, self.segment_matrices, self._given_changes, words)

    @property
    def guarantees(self) -> tuple[str, ...]:  # pyright: ignore
        """Assumptions of policies that hold here."""
        winners = {_condorcet_winner(matrix) for matrix in self.segment_matrices}
        fixed = (FIXED_PREFERENCES,) if len(self.segment_matrices) == 1 else ()
        same = (CONDORCET_WINNER,) if len(winners - {None}) == len(winners) == 1 else ()
        return (*fixed, *same, KNOWN_HORIZON)

    @cached_property
    def segment_matrices(self) -> Float[np.ndarray, "S K K"]:
        """Matrices of the segments, float64 (S, K, K)."""
        if self.is_given:
            return self._given[0]
        return random_segments(self.num_arms, self.segments, self.delta, self.seed)

    def segment_starts(self, horizon: int) -> Int[np.ndarray, " S"]:
        """Return the first round of each segment.

        Raises ``ArgumentError`` for a horizon with fewer rounds than random segments.
        """
        if self.is_given:
            return np.concatenate([[1], self._given_changes])
        count = self.segments
        if horizon < count:
            raise ArgumentError(
                "segments",
                f"must be at most the horizon, {horizon}",
                count,
                remedy="take fewer segments, or more rounds",
            )
        if self.spacing == "even":
            return np.array([s * int(horizon) // count + 1 for s in range(count)])
        starts = [1]
        for s in range(1, count):
            # No segment is empty, here or later.
            start = max(round(horizon ** (s / count)), starts[-1] + 1)
            starts.append(min(start, horizon - (count - 1 - s)))
        return np.array(starts, dtype=np.int64)

    @property
    def _given_changes(self) -> Int[np.ndarray, " changes"]:
        return self._given[1] if self.is_given else np.zeros(0, dtype=np.int64)

    @cached_property
    def _given(self) -> tuple[Float[np.ndarray, "S K K"], Int[np.ndarray, " changes"]]:
        if self.file and not (_is_empty(self.matrices) and _is_empty(self.changes)):
            raise ArgumentError(
                "file",
                "must not be given with matrices or changes",
                self.file,
                remedy="leave one out",
            )
        if not self.file:
            matrices, changes, argument = self.matrices, self.changes, "matrices"
        elif self.file.lower().endswith(".toml"):
            (matrices, changes), argument = _of_toml(self.file), "file"
        else:
            arrays = array_of_file(self.file, "file")
            lacking = {"matrices", "changes"} - {*arrays}
            if lacking:
                raise ArgumentError(
                    "file",
                    f"has no array {' and no array '.join(sorted(lacking))}",
                    self.file,
                    remedy="write numpy.savez(file, matrices=..., changes=...)",
                )
            matrices, changes, argument = arrays["matrices"], arrays["changes"], "file"
        if isinstance(matrices, str):
            matrices = [matrices]
        table = [
            load_matrix(entry).values if isinstance(entry, str) else entry
            for entry in matrices
        ]
        checked = matrices_of(table, argument)
        rounds = [] if _is_empty(changes) else np.asarray(changes).ravel().tolist()
        for index, entry in enumerate(rounds):
            before = rounds[index - 1] if index else 1
            number = integer_from(entry, 2, "changes")
            if number <= before:
                raise ArgumentError(
                    "changes",
                    f"must be above the round before it, {before}",
                    entry,
                    index=index,
                    remedy="sort them; the first matrix begins in round 1",
                )
        if len(rounds) != len(checked) - 1:
            raise ArgumentError(
                "changes",
                f"must be {len(checked) - 1} rounds for {len(checked)} matrices",
                changes,
                remedy="give the first round of each matrix but the first",
            )
        return checked, np.array(rounds, dtype=np.int64)

    # --- The methods of a world -------------------------------------------------------

    def start(self, horizon: int, rng: Generator, /) -> Any:
        """Return matrices, costs of arms, first rounds, and the present segment."""
        matrices = np.array(self.segment_matrices)
        costs = np.array([costs_of_arms(matrix) for matrix in matrices])
        return matrices, costs, self.segment_starts(horizon), np.zeros(1, np.int64)

    def advance(self, state: Any, rng: Generator, round_: int, /) -> None:
        """Go on to the segment of the round."""
        _, _, starts, current = state
        while current[0] + 1 < len(starts) and starts[current[0] + 1] <= round_:
            current[0] += 1

    def unchanged_until(self, state: Any, round_: int, /) -> int:
        """Return the last round of the segment."""
        _, _, starts, current = state
        following = current[0] + 1
        return starts[following] - 1 if following < len(starts) else LAST_ROUND

    def probability(
        self, state: Any, rng: Generator, round_: int, first: int, second: int, /
    ) -> float:
        """Return the entry of the matrix of the segment."""
        matrices, _, _, current = state
        return matrices[current[0], first, second]

    def regret(self, state: Any, round_: int, first: int, second: int, /) -> Any:
        """Return dynamic and weak regret."""
        _, costs, _, current = state
        one, two = costs[current[0], first], costs[current[0], second]
        return (one + two) / 2, min(one, two)


def random_segments(
    num_arms: int, segments: int, delta: float, seed: int
) -> Float[np.ndarray, "S K K"]:
    """Draw matrices whose Condorcet winner changes from segment to segment."""
    rng = np.random.default_rng(seed)
    table = np.empty((segments, num_arms, num_arms))
    winner = -1
    for s in range(segments):
        before = winner
        winner = int(rng.integers(num_arms))
        while winner == before:
            winner = int(rng.integers(num_arms))
        upper = np.triu(rng.random((num_arms, num_arms)), 1)
        table[s] = upper + np.tril(1 - upper.T, -1) + np.eye(num_arms) / 2
        others = [arm for arm in range(num_arms) if arm != winner]
        for arm in others:
            _set(table[s], winner, arm, LEAST + (1 - LEAST) * rng.random())
        nearest = int(rng.choice(others))
        _set(table[s], winner, nearest, LEAST)
        if s == 0:
            continue
        for arm in rng.permutation([arm for arm in range(num_arms) if arm != before]):
            old = table[s - 1, before, arm]
            # The new winner keeps beating all others, and one of them with 0.55.
            free = arm != winner or nearest != before
            highest = 1 - LEAST if arm == winner else 1.0
            new = [x for x in (old - delta, old + delta) if 0 <= x <= highest and free]
            if new:
                _set(table[s], before, arm, new[int(rng.integers(len(new)))])
                break
    table.setflags(write=False)
    return table


def _set(matrix: Float[np.ndarray, "K K"], i: int, j: int, value: float) -> None:
    matrix[i, j], matrix[j, i] = value, 1 - value


def _condorcet_winner(matrix: Float[np.ndarray, "K K"]) -> int | None:
    beats = (matrix - matrix.T > 0).sum(axis=1)
    best = int(beats.argmax())
    return best if beats[best] == len(matrix) - 1 else None


def _is_empty(value: Any) -> bool:
    return np.size(value) == 0 or (isinstance(value, str) and not value)


def _of_toml(path: str) -> tuple[list[Any], list[Any]]:
    """Read the tables ``[[segments]]``."""
    try:
        content = tomllib.loads(read_text(Path(path), error=ArgumentError))
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError(
            "file", f"is no TOML: {error}", path, remedy="mend the file"
        ) from error
    tables = content.get("segments", [])
    if not tables or any(not isinstance(entry, dict) for entry in tables):
        raise ArgumentError(
            "file",
            "must have tables [[segments]], each with a matrix",
            path,
            remedy="write them as in the description of Piecewise",
        )
    matrices, changes = [], []
    for index, table in enumerate(tables):
        allowed = {"matrix", "start"}
        if "matrix" not in table or not {*table} <= allowed:
            raise ArgumentError(
                "file",
                f"[[segments]] must have a matrix, and a start; got {sorted(table)}",
                path,
                index=index,
                remedy="write matrix = [[0.5, ...], ...] or a name",
            )
        matrix = table["matrix"]
        if isinstance(matrix, str) and is_path(matrix):
            matrix = str(Path(path).parent / matrix)
        matrices.append(matrix)
        if index == 0 and table.get("start", 1) != 1:
            raise ArgumentError(
                "file",
                "must begin in round 1",
                path,
                index=0,
                remedy="leave out start in the first table",
            )
        if index:
            changes.append(table.get("start"))
    return matrices, changes
