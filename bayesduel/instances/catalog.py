"""Find a matrix by name: printed in a paper, a family with parameters, or a file."""

import os
from dataclasses import dataclass

from numpy.typing import ArrayLike

from bayesduel.errors import ArgumentError, UnknownNameError, near_names
from bayesduel.instances.families import (
    FAMILIES,
    REQUIRED,
    family_parameters,
    load_family,
)
from bayesduel.instances.files import SUFFIXES, matrix_of_table, read_matrix
from bayesduel.instances.published import PUBLISHED
from theory.preferences import PreferenceMatrix


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is known about a name that `load` accepts.

    Attributes
    ----------
    name, title, source, remarks : str
        Its name, a title, the papers and tables, and what is special about it.
    num_arms : int
        K, or 0 for a family, whose size is a parameter.
    winners : tuple of int
        Copeland winners by the number of arms beaten, numbered from 0; empty for a
        family.
    arm_names : tuple of str
        Names of the arms where the source gives them, else empty.
    parameters : tuple of str
        Parameters of a family: ``key`` is required, ``key=default`` and ``[key]`` may
        be left out. Empty for a printed matrix.
    """

    name: str
    title: str
    source: str
    remarks: str = ""
    num_arms: int = 0
    winners: tuple[int, ...] = ()
    arm_names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


def names() -> tuple[str, ...]:
    """Return the names of the printed matrices.

    Returns
    -------
    tuple of str
        Names for `load` and `describe`.

    Examples
    --------
    >>> from bayesduel import instances
    >>> instances.names()[:4]
    ('cyclic', 'gap', 'multisol', 'arithmetic')
    """
    return tuple(PUBLISHED)


def family_names() -> tuple[str, ...]:
    """Return the names of the families that `load` accepts with parameters.

    Returns
    -------
    tuple of str
        Names for `load` and `describe`.

    Examples
    --------
    >>> from bayesduel import instances
    >>> "mallows" in instances.family_names()
    True
    """
    return tuple(FAMILIES)


def describe(name: str) -> Description:
    """Say where a matrix or a family comes from.

    Parameters
    ----------
    name : str
        One of `names` or `family_names`.

    Returns
    -------
    Description
        Title, source, winners, parameters.

    Examples
    --------
    >>> from bayesduel import instances
    >>> instances.describe("gap").winners
    (0,)
    >>> instances.describe("mallows").parameters
    ('num_arms', 'phi', '[seed]')
    """
    if not isinstance(name, str):
        raise _unknown("name", name)
    if name in PUBLISHED:
        entry = PUBLISHED[name]
        return Description(
            name=name,
            title=entry.title,
            source=entry.source,
            remarks=entry.remarks,
            num_arms=len(entry.table.strip().splitlines()),
            winners=entry.winners,
            arm_names=entry.arm_names,
        )
    if name in FAMILIES:
        family = FAMILIES[name]
        return Description(
            name=name,
            title=family.title,
            source=family.source,
            parameters=tuple(
                _parameter_text(key, default)
                for key, default in family_parameters(name).items()
            ),
        )
    raise _unknown("name", name)


def load(
    name_or_path: str | os.PathLike[str] | PreferenceMatrix | ArrayLike,
    *,
    repair: bool = False,
    key: str | None = None,
) -> PreferenceMatrix:
    """Return a preference matrix by name, from a file or from a table.

    Parameters
    ----------
    name_or_path : str, path-like, pandas.DataFrame or array-like (K, K)
        One of

        - a name in `names`: the matrix as printed;
        - a family in `family_names` with parameters, as in
          ``"mallows:num_arms=8,phi=0.5"``. Every family that can draw or shuffle
          takes a ``seed``. A random family needs one; the others shuffle their arms
          when a seed is given and keep their order when it is not;
        - a path: a path object, or a text that contains a path separator or ends in
          .csv, .tsv, .txt, .dat, .npy or .npz, perhaps with .gz. See `read_matrix`;
        - a table: a data frame, whose labels name the arms and whose columns are
          brought into the order of its rows, or an array. See `matrix_of_table`.
    repair : bool
        For files and tables: accept abs(p_ij + p_ji - 1) < 1e-3 and divide both by
        their sum.
    key : str, optional
        For NPZ files: which array to read.

    Returns
    -------
    PreferenceMatrix
        With its name and source.

    Raises
    ------
    ValueError
        When the name or a parameter is unknown or wrong. InvalidPreferenceError, a
        kind of ValueError, when a file holds no preference matrix.
    OSError
        When a file does not exist or cannot be read.

    Examples
    --------
    >>> from bayesduel import instances
    >>> instances.load("arxiv").num_arms
    6
    >>> instances.load("equal-gap:num_arms=3,gap=0.25").values[0].tolist()
    [0.5, 0.75, 0.75]
    >>> instances.load("uniform-random:num_arms=8,seed=3").num_arms
    8
    """
    if isinstance(name_or_path, os.PathLike):
        return read_matrix(name_or_path, key=key, repair=repair)
    if not isinstance(name_or_path, str):
        if key is not None:
            raise ArgumentError(
                "key", "must be left out: it is for NPZ files, and this is a table", key
            )
        return matrix_of_table(name_or_path, repair=repair)
    name, colon, parameters = name_or_path.partition(":")
    if key is not None and (name in PUBLISHED or name in FAMILIES):
        raise ArgumentError(
            "key", f"must be left out: it is for NPZ files, and {name!r} is a name", key
        )
    if name in PUBLISHED:
        if colon:
            raise ArgumentError(
                "name_or_path",
                f"{name!r} is a printed matrix and takes no parameters, got "
                f"{parameters!r}",
                name_or_path,
                remedy=f"load it as {name!r}",
            )
        return PUBLISHED[name].matrix()
    if name in FAMILIES:
        return load_family(name, parameters, name_or_path)
    if is_path(name_or_path):
        return read_matrix(name_or_path, key=key, repair=repair)
    raise _unknown("name_or_path", name_or_path)


def is_name(text: str) -> bool:
    """Say whether `load` takes a text for a name, with parameters or without."""
    return text.partition(":")[0] in {*PUBLISHED, *FAMILIES}


def is_path(text: str) -> bool:
    """Say whether `load` takes a text for the path of a file, not for a name."""
    if is_name(text):
        return False
    separators = (os.sep, os.altsep or os.sep)
    ends = text.lower().removesuffix(".gz").endswith(SUFFIXES)
    return ends or any(separator in text for separator in separators)


def _parameter_text(parameter: str, default: object) -> str:
    """Return ``key``, ``key=default``, or ``[key]`` for what may be left out."""
    if default is REQUIRED:
        return parameter
    return f"[{parameter}]" if default is None else f"{parameter}={default}"


def _unknown(argument: str, name: object) -> UnknownNameError:
    """Return the error for a name that is neither a matrix, a family nor a path."""
    from bayesduel.instances.choice import is_world_name, world_names

    if is_world_name(str(name)):
        return UnknownNameError(
            argument,
            f"{name!r} is a world of subset choice, no preference matrix",
            name,
            remedy=f"all matrices: {', '.join([*PUBLISHED, *FAMILIES])}",
        )
    wanted = str(name).lower().replace("_", "-").replace(" ", "-")
    known = [*PUBLISHED, *FAMILIES, *world_names()]
    return UnknownNameError(
        argument,
        f"there is no matrix called {name!r}",
        name,
        remedy=f"{near_names(wanted.partition(':')[0], known)}all: "
        f"{', '.join([*PUBLISHED, *FAMILIES])}. A file needs a path with a separator, "
        f"such as ./{name}, or one of the endings {' '.join(SUFFIXES)}",
    )
