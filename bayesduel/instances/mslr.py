"""Parts of the 136-ranker MSLR matrix, which users bring themselves.

The matrix of Zoghi, Karnin, Whiteson and de Rijke (2015), Copeland Dueling Bandits,
compares the 136 features of the Microsoft learning-to-rank data as rankers under a
click model. It has no licence that allows shipping it; the papers' selections from it
are facts and stand here.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from bayesduel.errors import ArgumentError
from bayesduel.instances.files import read_matrix
from bayesduel.instances.generators.instance import GeneratedInstance, check_generator
from theory.arguments import integer_from, one_of, width_of
from theory.preferences import PreferenceMatrix, as_preference_matrix

_NUM_RANKERS = 136

# Ranker (numbered from 1): Copeland count within the selection, as printed.
_TABLE_9 = {
    "16-condorcet": """
        10(0), 22(6), 36(12), 58(9), 59(10), 66(5), 67(3), 68(4), 77(2), 98(1),
        109(11), 112(7), 115(15), 116(13), 117(8), 125(14)""",
    "32-condorcet": """
        7(9), 21(26), 24(12), 28(5), 32(13), 35(24), 37(15), 38(19), 43(6), 44(4),
        45(10), 48(21), 52(3), 56(28), 61(29), 68(8), 71(27), 73(20), 82(14), 85(25),
        87(17), 91(11), 96(1), 99(2), 100(0), 105(7), 112(16), 115(31), 117(18),
        121(30), 123(22), 133(23)""",
    "16-non-condorcet": """
        2(6), 21(11), 42(4), 60(14), 67(5), 70(8), 79(3), 90(12), 91(7), 98(0), 99(1),
        103(2), 106(14), 109(10), 117(9), 130(14)""",
    "32-non-condorcet": """
        4(8), 8(4), 12(24), 16(1), 20(0), 24(13), 28(7), 32(14), 36(25), 40(26), 44(6),
        48(18), 52(5), 56(28), 60(30), 64(22), 68(10), 72(16), 76(19), 80(21), 84(12),
        88(17), 92(9), 96(3), 100(2), 104(11), 108(23), 112(15), 116(28), 120(30),
        124(20), 128(29)""",
}


def _read(cells: str) -> Mapping[int, int]:
    pairs = (cell.strip().rstrip(")").split("(") for cell in cells.split(","))
    return MappingProxyType({int(ranker): int(count) for ranker, count in pairs})


MSLR_SELECTIONS: Mapping[str, Mapping[int, int]] = MappingProxyType(
    {name: _read(cells) for name, cells in _TABLE_9.items()}
)
"""Selections of Wu and Liu (2016), Table 9: ranker, numbered from 1 as printed, to the
number of other chosen rankers that it beats. The paper leaves out pairs closer to 1/2
than 0.003, but its list ``32-non-condorcet``, every fourth ranker from 4 to 128, holds
nine closer ones."""


def mslr_submatrix(
    matrix: PreferenceMatrix | ArrayLike | str | os.PathLike[str],
    selection: str,
    *,
    check_counts: bool = True,
) -> PreferenceMatrix:
    """Return a part of the MSLR matrix that Wu and Liu (2016) experimented on.

    Parameters
    ----------
    matrix : PreferenceMatrix, array (136, 136) or path
        The matrix of the informational click model, or the file that holds it.
    selection : {"16-condorcet", "32-condorcet", "16-non-condorcet", "32-non-condorcet"}
        A key of `MSLR_SELECTIONS` (Table 9 of the paper).
    check_counts : bool
        Compare the numbers of arms beaten with the printed ones; False takes the same
        rankers out of another matrix of 136 rankers.

    Returns
    -------
    PreferenceMatrix
        16 or 32 arms named by the rankers' numbers, counted from 1 as in the paper.

    Raises
    ------
    ValueError
        When the selection is unknown, the matrix has not 136 arms, or the counts
        differ from the printed ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances import mslr_submatrix
    >>> ties = np.full((136, 136), 0.5)
    >>> mslr_submatrix(ties, "16-condorcet", check_counts=False).num_arms
    16
    """
    one_of(selection, MSLR_SELECTIONS, "selection")
    whole = _as_matrix(matrix)
    if whole.num_arms != _NUM_RANKERS:
        raise ArgumentError(
            "matrix",
            f"must have {_NUM_RANKERS} arms",
            whole.num_arms,
            remedy="give the whole MSLR matrix",
        )
    printed = MSLR_SELECTIONS[selection]
    arms = np.array(list(printed)) - 1
    part = PreferenceMatrix(
        whole.values[np.ix_(arms, arms)],
        name=f"mslr-{selection}",
        arm_names=tuple(str(ranker) for ranker in printed),
        source=_joined(
            "selection of Wu and Liu (2016), Double Thompson Sampling for Dueling "
            "Bandits, NIPS, Table 9",
            whole.source,
        ),
    )
    if check_counts:
        for (ranker, count), num_wins in zip(printed.items(), part.wins, strict=True):
            if count != num_wins:
                raise ArgumentError(
                    "matrix",
                    "must be the one of the informational click model, in which "
                    f"ranker {ranker} beats {count} of the selected rankers",
                    num_wins,
                    remedy="pass check_counts=False to select from another matrix",
                )
    return part


def random_submatrix(
    rng: np.random.Generator,
    matrix: PreferenceMatrix | ArrayLike | str | os.PathLike[str],
    num_arms: int,
    *,
    min_gap: float = 0.0,
    winner: str = "any",
    max_tries: int = 1000,
) -> GeneratedInstance:
    """Choose arms of a large matrix at random, without nearly tied pairs.

    Komiyama, Honda and Nakagawa (2016), Section 5, excluded pairs with
    abs(p_ij - 1/2) below 0.005 (16 arms) or 0.0005 (64 arms); Wu and Liu (2016),
    Appendix D.1.3, below 0.003. Neither says how the subsets were drawn. Here the arms
    are visited in a random order, and an arm joins when it is at least `min_gap` away
    from 1/2 against all that have joined; this is repeated until the subset is large
    enough and its winner as wanted. The distribution is not uniform over the admissible
    subsets.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the orders.
    matrix : PreferenceMatrix, array (K, K) or path
        The large matrix, or the file that holds it.
    num_arms : int
        Arms to choose, at least 2 and at most K.
    min_gap : float
        In [0, 1/2).
    winner : {"any", "condorcet", "no_condorcet"}
        Whether the subset must have, or must not have, a Condorcet winner.
    max_tries : int
        Orders to try.

    Returns
    -------
    GeneratedInstance
        The submatrix, and in ``permutation`` the chosen arms of the large matrix,
        numbered from 0, in the order in which they stand.

    Raises
    ------
    ValueError
        When an argument breaks the rules above, or no subset was found.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances import load, random_submatrix
    >>> instance = random_submatrix(
    ...     np.random.default_rng(1), load("sushi"), 4, min_gap=0.05
    ... )
    >>> instance.matrix.condorcet_winner is not None
    True
    """
    check_generator(rng)
    whole = _as_matrix(matrix)
    num_arms = integer_from(num_arms, 2, "num_arms", whole.num_arms)
    max_tries = integer_from(max_tries, 1, "max_tries")
    min_gap = width_of(min_gap, "min_gap")
    one_of(winner, ("any", "condorcet", "no_condorcet"), "winner")
    far_apart = np.abs(whole.gaps) >= min_gap
    for _ in range(max_tries):
        # Take arms in a random order unless they are too close to one already taken.
        taken: list[int] = []
        for arm in rng.permutation(whole.num_arms):
            if far_apart[arm, taken].all():
                taken.append(arm)
            if len(taken) == num_arms:
                break
        arms = np.array(taken)
        if len(arms) < num_arms:
            continue
        part = whole.values[np.ix_(arms, arms)]
        beats_all = ((part > 0.5).sum(axis=1) == num_arms - 1).any()
        if winner != "any" and beats_all != (winner == "condorcet"):
            continue
        names = whole.arm_names or tuple(str(arm) for arm in range(whole.num_arms))
        chosen = PreferenceMatrix(
            part,
            name=_joined(whole.name, f"{num_arms} random arms", " "),
            arm_names=tuple(names[arm] for arm in arms),
            source=_joined("random subset", whole.source),
        )
        return GeneratedInstance(chosen, arms.astype(np.int64))
    raise ArgumentError(
        "max_tries",
        f"must suffice to find a subset of {num_arms} arms with min_gap={min_gap} "
        f"and winner={winner!r}, but none was found",
        max_tries,
        remedy="ask for fewer arms, a smaller gap or more tries",
    )


def _as_matrix(
    matrix: PreferenceMatrix | ArrayLike | str | os.PathLike[str],
) -> PreferenceMatrix:
    """Read a file, check an array, return a matrix as it is."""
    if isinstance(matrix, str | os.PathLike):
        return read_matrix(matrix)
    return as_preference_matrix(matrix)


def _joined(first: str | None, second: str | None, separator: str = "; ") -> str:
    """Join what is there."""
    return separator.join(text for text in (first, second) if text)
