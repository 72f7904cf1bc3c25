"""Find what a policy plays in by name: matrices, families of them, and worlds."""

import os
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from bayesduel.arguments.named_objects import is_own_name, word_of
from bayesduel.instances.choice.catalog import is_world_name, load_world
from bayesduel.instances.families import FAMILIES, REQUIRED, family_parameters
from bayesduel.instances.matrices import (
    family_names,
    is_name,
    is_path,
    load_matrix,
    names,
    unknown_name,
)
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
                _parameter_text(key, default)
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


def _parameter_text(parameter: str, default: object) -> str:
    """Return ``key``, ``key=default``, or ``[key]`` for what may be left out."""
    if default is REQUIRED:
        return parameter
    return f"[{parameter}]" if default is None else f"{parameter}={default}"
