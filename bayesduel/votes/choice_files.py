"""Read choices from users' tables."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._choice_attributes import (
    alternatives_in,
    attributes_asked,
    titles_of,
    values_of,
    words_of,
)
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    composed,
    different_labels,
    labels_of,
)
from bayesduel.votes.choices import Choices
from theory.arguments import integer_from

__all__ = ["read_choices", "read_long_choices", "read_wide_choices"]


def _index(argument: str, value: Any) -> int:
    """Return the number that stands for an arm, or for none of them, in a file."""
    most = int(MOST_VOTES)
    return integer_from(value, -most, argument, most, kind=ComparisonDataError)


def read_choices(
    path: str | os.PathLike[str],
    *,
    choice: str = "Choice",
    arm_names: Sequence[str] | None = None,
    first_index: int = 1,
    none: int | None = None,
) -> Choices:
    """Read choices from a table with a 0/1 column for each arm.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file in UTF-8 with a header, perhaps compressed with gzip.
    choice : str
        Column with the number of the chosen arm among the columns of arms.
    arm_names : sequence of str, optional
        The columns of arms, 1 where an arm was on offer; by default all but ``choice``.
    first_index : int
        The number of the first arm.
    none : int, optional
        The number that means that none was chosen. Without it there is no such option.

    Returns
    -------
    Choices
        Counted per subset.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, or an arm was chosen that was not on offer.
    """
    table = ColumnTable(path)
    first_index = _index("first_index", first_index)
    none = None if none is None else _index("none", none)
    # A number such as -1 may stand for none.
    chosen = table.whole_numbers(choice, least=-MOST_VOTES).astype(np.int64)
    names = [each for each in table.titles if each != choice]
    names = list(arm_names_of(names if arm_names is None else arm_names, None))
    table.unread([choice, *names])
    offered = np.stack([table.whole_numbers(each) for each in names], axis=1)
    if np.any(offered > 1):
        row, arm = np.argwhere(offered > 1)[0]
        raise ComparisonDataError(
            table.name,
            f"row {row} of column {names[arm]!r} must be 1 where the arm was on "
            f"offer, else 0, but is {offered[row, arm]:g}",
            float(offered[row, arm]),
        )
    is_none = np.zeros(len(chosen), dtype=bool) if none is None else chosen == none
    index = chosen - first_index
    bad = ~is_none & ((index < 0) | (index >= len(names)))
    if np.any(bad):
        row = int(np.argmax(bad))
        raise ComparisonDataError(
            table.name,
            f"row {row} chooses {chosen[row]}, but the {len(names)} arms are "
            f"numbered from {first_index}",
            int(chosen[row]),
        )
    counts = np.zeros(offered.shape)
    counts[np.flatnonzero(~is_none), index[~is_none]] = 1.0
    return Choices.from_counts(
        offered > 0, counts, None if none is None else is_none, arm_names=names
    )


def read_long_choices(
    path: str | os.PathLike[str],
    *,
    case: str = "id",
    alternative: str = "alternative",
    chosen: str = "chosen",
    available: str | None = None,
    none: str | None = None,
    arm_names: Sequence[str] | None = None,
    attributes: Sequence[str] = (),
    person: str | None = None,
    where: str | None = None,
) -> Choices:
    r"""Read choices from a table with a row for each alternative of each choice.

    Parameters
    ----------
    path : str or path-like
        A table as :func:`read_comparisons` reads it.
    case : str
        Column that is the same in all rows of one choice. They may stand anywhere.
    alternative : str
        Column with the name of the alternative.
    chosen : str
        Column with 1 where the alternative was chosen, else 0: one of each choice.
    available : str, optional
        Column with 1 where the alternative was on offer, else 0. Without it all rows
        were.
    none : str, optional
        The alternative that stands for "none of them". Without it there is no such
        option.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name but ``none`` is an error.
    attributes : sequence of str
        Columns with what is known of the alternative: numbers, or words, which become
        a 1 for each word but the first in the alphabet (``fuel=gas``).
    person : str, optional
        Column with who chose.
    where : str, optional
        A condition on the columns, as in :func:`read_comparisons`.

    Returns
    -------
    Choices
        Counted per subset; one by one where attributes or persons are read.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, an alternative is there twice in a choice, none or
        several are chosen, or one that was not on offer.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "trips.csv")
    ...     _ = path.write_text("id,alternative,chosen\n1,bus,1\n1,car,0\n")
    ...     read_long_choices(path)
    Choices(2 arms, 1 subsets, 1 choices)
    """
    table = ColumnTable(path)
    person, none = words_of(person=person, none=none)
    if where is not None:
        table.keep_where(where)
    known = list(attributes_asked(attributes))
    others = [title for title in (available, person) if title is not None]
    table.unread([case, alternative, chosen, *others, *known])
    labels = table[alternative]
    if arm_names is None:
        arm_names = different_labels([each for each in labels if each != none])
    names = arm_names_of(arm_names, None)
    # None of them is the last column.
    wide = names if none is None else (*names, none)
    column = arm_positions(alternative, labels, wide)
    cases = {name: row for row, name in enumerate(dict.fromkeys(table[case]))}
    row = np.array([cases[name] for name in table[case]])
    marks = {title: _marks(table, title) for title in (chosen, available) if title}
    offered = np.zeros((len(cases), len(wide)), dtype=np.int64)
    np.add.at(offered, (row, column), 1)
    _check_cases(table, cases, offered.max(axis=1) <= 1, "names an alternative twice")
    here = marks[available] if available else np.ones(table.num_rows, dtype=bool)
    offered[row, column] = here
    counts = np.zeros(offered.shape)
    counts[row, column] = marks[chosen]
    fits = counts.sum(axis=1) == 1
    _check_cases(table, cases, fits, "must choose one alternative")
    on_offer = (counts <= offered).all(axis=1)
    _check_cases(table, cases, on_offer, "chooses what was not on offer")
    size = len(names)
    nothing = None if none is None else counts[:, -1]
    values = np.zeros((len(cases), len(wide), 0))
    titles: list[str] = []
    persons = None if person is None else _persons(table, person, cases, row)
    # None of them has no attributes.
    read = here & (column < size)
    for title in known:
        words, found = values_of(table, title, [title], read[:, None])
        wider = np.zeros((*offered.shape, len(words)))
        wider[row, column] = found[:, 0]
        values, titles = np.concatenate([values, wider], axis=2), [*titles, *words]
    return Choices.from_counts(
        offered[:, :size] > 0,
        counts[:, :size],
        nothing,
        arm_names=names,
        attributes=values[:, :size] if known else None,
        attribute_names=titles if known else None,
        persons=persons,
    )


def _persons(
    table: ColumnTable, title: str, cases: dict[str, int], row: NDArray[np.int64]
) -> list[str]:
    """Return who made each choice, who must be one and the same in all its rows."""
    people = table[title]
    # Of the last row of each choice.
    last = dict(zip(row.tolist(), people, strict=True))
    fits = np.ones(len(cases), dtype=bool)
    for place, each in zip(row.tolist(), people, strict=True):
        fits[place] &= each == last[place]
    _check_cases(table, cases, fits, "is of several persons")
    return [last[place] for place in range(len(cases))]


def read_wide_choices(
    path: str | os.PathLike[str],
    *,
    attributes: Sequence[str] | Mapping[str, Sequence[str] | None],
    choice: str = "choice",
    alternatives: Sequence[str] | None = None,
    available: str | Sequence[str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    none: str | None = None,
    where: str | None = None,
) -> Choices:
    r"""Read choices from a table with a row for each choice.

    Parameters
    ----------
    path : str or path-like
        A table as :func:`read_comparisons` reads it.
    attributes : sequence of str, or mapping
        Attributes, each with a column per alternative. The columns of ``price`` for the
        alternatives ``1`` and ``2`` are ``price1`` and ``price2``, ``price_1`` and
        ``price_2``, or ``1_price`` and ``2_price``. A mapping names them itself:
        ``{"wait": ["wait_bus", ""]}``, empty where the attribute is 0. Numbers, or
        words, which become a 1 for each word but the first in the alphabet.
    choice : str
        Column with the chosen alternative: its name, perhaps after the title of the
        column (``choice3``), or its number from 1 on.
    alternatives : sequence of str, optional
        By default all that have a column for each attribute.
    available : str or sequence of str, optional
        Columns with 1 where an alternative was on offer, else 0, in the order of the
        alternatives; or what they have in common, as an attribute has.
    person : str, optional
        Column with who chose.
    weight : str, optional
        Column that says how many times a choice counts.
    none : str, optional
        What stands in ``choice`` for "none of them"; without it none could be chosen.
    where : str, optional
        A condition on the columns, as in :func:`read_comparisons`.

    Returns
    -------
    Choices
        One by one, in the order of the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, or a cell is none of what it may be; names the row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "trips.csv")
    ...     text = "choice,price_bus,price_car\nbus,1.5,4\ncar,2,2.5\n"
    ...     _ = path.write_text(text)
    ...     read_wide_choices(path, attributes=["price"])
    Choices(2 arms, 2 choices, 1 attributes)
    """
    table = ColumnTable(path)
    if where is not None:
        table.keep_where(where)
    asked = attributes_asked(attributes)
    choice = composed(choice)
    person, weight, none = words_of(person=person, weight=weight, none=none)
    left = [title for title in (choice, person, weight) if title is not None]
    if alternatives is None:
        plain = [name for name, titles in asked.items() if titles is None]
        alternatives = alternatives_in(table, plain, left)
    names = arm_names_of(alternatives, None)
    shown = [titles_of(table, name, own, names, left) for name, own in asked.items()]
    offers = []
    if isinstance(available, str):
        offers = titles_of(table, available, None, names, left)
    elif available is not None:
        columns = labels_of("available", available)
        offers = titles_of(table, "available", columns, names, left)
    read = [title for each in [*shown, offers] for title in each if title]
    table.unread([*left, *read])
    here = np.ones((table.num_rows, len(names)), dtype=bool)
    for place, title in enumerate(offers):
        if title is not None:
            here[:, place] = _marks(table, title)
    chosen = _chosen(table, choice, names, none)
    values, titles = [np.zeros((*here.shape, 0))], []
    for name, columns in zip(asked, shown, strict=True):
        words, found = values_of(table, name, columns, here)
        values, titles = [*values, found], [*titles, *words]
    with table.in_rows_of_file():
        return Choices.from_attributes(
            np.concatenate(values, axis=2),
            chosen,
            available=here,
            persons=None if person is None else table[person],
            weight=None if weight is None else table.numbers(weight),
            arm_names=names,
            attribute_names=titles,
            outside=none is not None,
        )


def _chosen(
    table: ColumnTable, choice: str, names: Sequence[str], none: str | None
) -> list[str | None]:
    """Return the chosen alternative of every row, None for none of them."""
    cells = table[choice]
    known: dict[str, str | None] = {f"{choice}{name}": name for name in names}
    numbered = {str(place + 1): name for place, name in enumerate(names)}
    if not any(name.isdigit() for name in names):
        known |= numbered
    known |= {name: name for name in names}
    known |= {} if none is None else {none: None}
    for row, cell in enumerate(cells):
        if cell not in known:
            words = f"is none of the alternatives {', '.join(names)}"
            table.refuse(
                choice, row, words, "leave such rows out by a condition (where)"
            )
    return [known[cell] for cell in cells]


def _marks(table: ColumnTable, title: str) -> NDArray[np.bool_]:
    """Return a column of 0 and 1, which may be written as words."""
    words = {"0": False, "1": True, "false": False, "true": True, "no": False}
    words |= {"yes": True, "0.0": False, "1.0": True}
    found = np.zeros(table.num_rows, dtype=bool)
    for row, cell in enumerate(table[title]):
        if cell.lower() not in words:
            rule = f"row {row} of column {title!r} must be 1 or 0, but is {cell!r}"
            raise ComparisonDataError(table.name, rule, cell)
        found[row] = words[cell.lower()]
    return found


def _check_cases(
    table: ColumnTable, cases: dict[str, int], fits: NDArray[np.bool_], rule: str
) -> None:
    if not fits.all():
        name = list(cases)[int(np.argmax(~fits))]
        raise ComparisonDataError(table.name, f"the choice {name!r} {rule}", name)
