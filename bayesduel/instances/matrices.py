"""Find a preference matrix: printed in a paper, a family with parameters, or a file."""

import os

from numpy.typing import ArrayLike

from bayesduel.arguments.named_objects import is_own_name
from bayesduel.errors import ArgumentError, UnknownNameError, near_names
from bayesduel.instances.families import (
    FAMILIES,
    load_family,
)
from bayesduel.instances.files import SUFFIXES, matrix_of_table, read_matrix
from bayesduel.instances.published import PUBLISHED
from bayesduel.instances.worlds.lookup import WORLDS
from theory.preferences import PreferenceMatrix


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


def load_matrix(
    name_or_path: str | os.PathLike[str] | PreferenceMatrix | ArrayLike,
    *,
    repair: bool = False,
    key: str | None = None,
) -> PreferenceMatrix:
    """Return a preference matrix by name, from a file or from a table.

    As :func:`bayesduel.instances.load`, which also knows worlds: they are refused here.
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
    from bayesduel.instances.choice import is_world_name, world_names

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
