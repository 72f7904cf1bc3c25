"""Random submatrices of a large matrix, uniform over those without nearly tied pairs.

Submatrix n of a seed is a function of both and of nothing else: it is the same
whichever others are drawn, in whatever order, by however many processes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import integer_from, number_that, seed_of
from theory.errors import ArgumentError
from theory.preferences import PreferenceMatrix, as_preference_matrix

MAX_DRAWS = 1_000_000  # Subsets to try before giving up on a submatrix
_FIRST_BATCH = 64
_LARGEST_BATCH = 16_384


class SubmatrixDraw(NamedTuple):
    """One random submatrix, and which arms it has.

    Attributes
    ----------
    arms : int64 (size,)
        The chosen arms of the large matrix, numbered from 0, in random order.
    num_draws : int
        Subsets that were tried, this one included.
    """

    arms: NDArray[np.int64]
    num_draws: int


@dataclass(frozen=True, eq=False)
class SubmatrixSampler:
    """Draw random submatrices in which no pair is nearly tied.

    The distribution is that of rejection: subsets of `size` arms, uniform over all of
    them, are drawn until one has abs(P(i beats j) - 1/2) >= `min_gap` for all of its
    pairs. Komiyama, Honda and Nakagawa (2016), Section 5, exclude such submatrices of
    the MSLR matrix with 0.005 for 16 arms and do not say how they draw.

    Attributes
    ----------
    matrix : PreferenceMatrix
        The large matrix.
    size : int
        Arms of a submatrix.
    min_gap : float
        Smallest admissible gap.
    seed : int
        With a number, it decides a submatrix.

    Notes
    -----
    A tied pair is never admissible, also for ``min_gap=0``: bounds are not defined
    there. Arms that are too close to too many others to be in any such submatrix are
    left out of the drawing, which changes the number of draws and not the distribution.
    `bayesduel.instances.random_submatrix` grows its subset instead and so needs fewer
    draws; its distribution is another one.

    Examples
    --------
    >>> from bayesduel.instances import SubmatrixSampler, load
    >>> sampler = SubmatrixSampler.of(load("sushi"), 4, min_gap=0.05, seed=1)
    >>> part = sampler.submatrix(0)
    >>> part.num_arms, bool(abs(part.gaps[0, 1:]).min() >= 0.05)
    (4, True)
    """

    matrix: PreferenceMatrix
    size: int
    min_gap: float
    seed: int
    _arms: NDArray[np.int64]
    _admissible: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        matrix: PreferenceMatrix | ArrayLike,
        size: int,
        *,
        min_gap: float = 0.0,
        seed: int = 0,
    ) -> "SubmatrixSampler":
        """Check the request and find the arms that can be drawn.

        Parameters
        ----------
        matrix : PreferenceMatrix or array-like (K, K)
            The large matrix.
        size : int
            Arms of a submatrix, from 2 to K.
        min_gap : float
            In [0, 1/2).
        seed : int
            At least 0.

        Raises
        ------
        ValueError
            Also when too few arms keep this distance from enough others for any
            submatrix to exist.
        """
        whole = as_preference_matrix(matrix)
        size = integer_from(size, 2, "size")
        if size > whole.num_arms:
            rule = f"must be at most {whole.num_arms}, the arms of the matrix"
            raise ArgumentError("size", rule, size)
        min_gap = number_that(min_gap, "min_gap", "in [0, 1/2)", lambda x: 0 <= x < 0.5)
        seed = seed_of(seed, "seed")
        admissible = (np.abs(whole.gaps) >= min_gap) & (whole.gaps != 0)
        # Drop arms with too few admissible partners until none is left.
        arms = np.arange(len(admissible), dtype=np.int64)
        while arms.size:
            partners = admissible[np.ix_(arms, arms)].sum(axis=1)
            enough = partners >= size - 1
            if enough.all():
                break
            arms = arms[enough]
        if arms.size < size:
            raise ArgumentError(
                "min_gap",
                f"{min_gap} leaves no submatrix of {size} arms: {arms.size} of the "
                f"{whole.num_arms} arms are that far from 1/2 against {size - 1} "
                "others that are, too",
                min_gap,
                remedy="ask for a smaller gap or a smaller size",
            )
        return cls(whole, size, min_gap, seed, arms, admissible[np.ix_(arms, arms)])

    def draw(self, number: int) -> SubmatrixDraw:
        """Draw the arms of submatrix ``number``, from 0.

        Raises
        ------
        ValueError
            When none of `MAX_DRAWS` subsets was admissible.
        """
        number = integer_from(number, 0, "number")
        # The spawn key is hashed apart from the seed: no two pairs share a stream.
        stream = np.random.SeedSequence(self.seed, spawn_key=(number,))
        generator = np.random.default_rng(stream)
        tried, batch = 0, _FIRST_BATCH
        while tried < MAX_DRAWS:
            batch = min(batch, MAX_DRAWS - tried)
            uniforms = generator.random((batch, self.size))
            arms = _first_admissible(self._admissible, uniforms)
            if arms is not None:
                row, chosen = arms
                return SubmatrixDraw(self._arms[chosen], tried + row + 1)
            tried += batch
            batch = min(2 * batch, _LARGEST_BATCH)
        raise ArgumentError(
            "min_gap",
            f"none of {MAX_DRAWS} random subsets of {self.size} arms keeps a distance "
            f"of {self.min_gap} from 1/2 (number {number} of seed {self.seed})",
            self.min_gap,
            remedy="ask for a smaller gap or a smaller size",
        )

    def submatrix(self, number: int) -> PreferenceMatrix:
        """Return submatrix ``number``, as `draw` draws its arms.

        It has the arm names of the large matrix, or the numbers of its arms.
        """
        arms = self.draw(number).arms
        labels = self.matrix.arm_names or range(self.matrix.num_arms)
        return PreferenceMatrix(
            self.matrix.values[np.ix_(arms, arms)],
            arm_names=[str(labels[arm]) for arm in arms],
            source=self.matrix.source,
        )


def _first_admissible(
    admissible: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> tuple[int, NDArray[np.int64]] | None:
    """Return the first row whose shuffle begins with an admissible subset, and that."""
    num_arms, size = len(admissible), uniforms.shape[1]
    rows = np.arange(len(uniforms))
    order = np.tile(np.arange(num_arms, dtype=np.int64), (len(uniforms), 1))
    for position in range(size):
        steps = uniforms[rows, position] * (num_arms - position)
        picked = position + steps.astype(np.int64)
        here = np.arange(rows.size)
        chosen = order[here, picked]
        order[here, picked] = order[:, position]
        order[:, position] = chosen
        fits = admissible[chosen[:, None], order[:, :position]].all(axis=1)
        rows, order = rows[fits], order[fits]
        if not rows.size:
            return None
    return int(rows[0]), order[0, :size]
