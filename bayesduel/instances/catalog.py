"""Find what a policy plays in by name: matrices, families of them, and worlds."""

import os
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from bayesduel.arguments.named_objects import is_own_name, word_of
from bayesduel.errors import ArgumentError, UnknownNameError, near_names
from bayesduel.instances.choice.catalog import (
    is_world_name,
    load_world,
    world_names,
)
from bayesduel.instances.families import (
    FAMILIES,
    REQUIRED,
    family_parameters,
    load_family,
)
from bayesduel.instances.files import SUFFIXES, matrix_of_table, read_matrix
from bayesduel.instances.published import PUBLISHED
from bayesduel.instances.world import WorldBase
from bayesduel.instances.worlds.lookup import (
    WORLDS,
    default_world,
    parse_world,
    settable_fields,
    world_text,
)
from theory.preferences import PreferenceMatrix

__all__ = [
    "Description",
    "describe",
    "family_names",
    "is_name",
    "is_path",
    "load",
    "load_matrix",
    "names",
    "world_text",
]


def names() -> tuple[str, ...]:
    """Return the names of the matrices that are printed in papers.

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


def load_matrix(
    name_or_path: str | os.PathLike[str] | PreferenceMatrix | ArrayLike,
    *,
    repair: bool = False,
    key: str | None = None,
) -> PreferenceMatrix:
    """Return a preference matrix by name, from a file or from a table."""
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
    raise unknown_name("name_or_path", name_or_path)


def is_name(text: str) -> bool:
    """Say whether a text is a name, with parameters or without."""
    return text.partition(":")[0] in {*PUBLISHED, *FAMILIES, *WORLDS}


def is_path(text: str) -> bool:
    """Say whether a text is the path of a file, and no name."""
    if is_name(text) or is_own_name(text):
        return False
    separators = (os.sep, os.altsep or os.sep)
    ends = text.lower().removesuffix(".gz").endswith(SUFFIXES)
    return ends or any(separator in text for separator in separators)


def unknown_name(argument: str, name: object) -> UnknownNameError:
    """Return the error for a name that is neither a matrix, a family nor a path."""
    changes = str(name).partition(":")[0] in WORLDS or is_own_name(str(name))
    if changes or is_world_name(str(name)):
        kind = "a world" if changes else "a world of subset choice"
        return UnknownNameError(
            argument,
            f"{name!r} is {kind}, no preference matrix",
            name,
            remedy=f"all matrices: {', '.join([*PUBLISHED, *FAMILIES])}",
        )
    wanted = str(name).lower().replace("_", "-").replace(" ", "-")
    known = [*PUBLISHED, *FAMILIES, *WORLDS, *world_names()]
    return UnknownNameError(
        argument,
        f"there is no matrix or world called {name!r}",
        name,
        remedy=f"{near_names(wanted.partition(':')[0], known)}all: "
        f"{', '.join([*PUBLISHED, *FAMILIES, *WORLDS])}. A file needs a path with a "
        f"separator, such as ./{name}, or one of the endings {' '.join(SUFFIXES)}",
    )


@dataclass(frozen=True, kw_only=True)
class Description:
    """A description of a name that `load` accepts.

    Attributes
    ----------
    name, title, source, remarks : str
        Its name, a title, the papers and tables, and what is special about it.
    num_arms : int
        K, or 0 for a family or a world, whose size is a parameter.
    winners : tuple of int
        Copeland winners by the number of arms beaten, numbered from 0; empty for a
        family or a world.
    arm_names : tuple of str
        Names of the arms where the source gives them, else empty.
    parameters : tuple of str
        Parameters of a family or a world: ``key`` is required, ``key=default`` and
        ``[key]`` may be left out. Empty for a printed matrix.
    """

    name: str
    title: str
    source: str
    remarks: str = ""
    num_arms: int = 0
    winners: tuple[int, ...] = ()
    arm_names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


def describe(name: str) -> Description:
    """Say where a matrix, a family or a world comes from.

    Parameters
    ----------
    name : str
        One of `names`, `family_names` or `world_names`.

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
        raise unknown_name("name", name)
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
                key
                if default is REQUIRED
                else (f"[{key}]" if default is None else f"{key}={default}")
                for key, default in family_parameters(name).items()
            ),
        )
    if name in WORLDS:
        world = default_world(name)
        return Description(
            name=name,
            title=WORLDS[name].title,
            source=world.source,
            parameters=tuple(
                f"{key}={word_of(value)}" if value != "" else f"[{key}]"
                for key, value in settable_fields(world).items()
            ),
        )
    raise unknown_name("name", name)


def load(
    name_or_path: str | os.PathLike[str] | PreferenceMatrix | WorldBase | ArrayLike,
    *,
    repair: bool = False,
    key: str | None = None,
) -> Any:
    """Return a preference matrix or a world by name, from a file or from a table.

    Parameters
    ----------
    name_or_path : str, path-like, pandas.DataFrame or array-like (K, K)
        One of

        - a name in `names`: the matrix as printed;
        - a family in `family_names` with parameters, as in
          ``"mallows:num_arms=8,phi=0.5"``. Every family that can draw or shuffle
          takes a ``seed``. A random family needs one; the others shuffle their arms
          when a seed is given and keep their order when it is not;
        - a world of duels that change (:mod:`bayesduel.instances.worlds`) or of subset
          choice (:mod:`bayesduel.instances.choice`), with parameters, as in
          ``"drifting:speed=0.001"``;
        - a world of your own: ``"module:Class"``, or an object in a module, with
          parameters, as in ``"mine:Drift:speed=1e-4"``;
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
    PreferenceMatrix, World or SubsetWorld
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
    >>> instances.load("drifting:speed=0.001").label
    'drifting:speed=0.001'
    >>> instances.load("uniform-random:num_arms=8,seed=3").num_arms
    8
    """
    if isinstance(name_or_path, WorldBase):
        return name_or_path
    if isinstance(name_or_path, str):
        text = name_or_path.strip()
        name = text.partition(":")[0].strip()
        if name not in {*PUBLISHED, *FAMILIES}:
            if name in WORLDS or (is_own_name(text) and not is_world_name(text)):
                return parse_world(text)
            if is_world_name(text):
                return load_world(text)
    return load_matrix(name_or_path, repair=repair, key=key)
