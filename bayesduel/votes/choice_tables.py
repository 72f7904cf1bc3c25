"""Read choices, with or without attributes of the alternatives, from users' tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError, near_names
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    composed,
    labels_of,
    refuse,
    shortened,
)
from bayesduel.votes.choices import Choices
from bayesduel.votes.tables import Table, has_comma
from theory.arguments import integer_from

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_choices", "read_long_choices", "read_wide_choices"]

_BETWEEN = "_.-: "  # What may stand between an attribute and an alternative.
_MOST_WORDS = 50  # Different words of an attribute that is no number.


def read_choices(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    choice: str = "Choice",
    arm_names: Sequence[str] | None = None,
    first_index: int = 1,
    none: int | None = None,
) -> Choices:
    """Read choices from a table with a 0/1 column for each arm.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, or a data frame.
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
    most = int(MOST_VOTES)
    first_index = integer_from(
        first_index, -most, "first_index", most, kind=ComparisonDataError
    )
    if none is not None:
        none = integer_from(none, -most, "none", most, kind=ComparisonDataError)
    table = Table(source, missing="keep")
    # A number such as -1 may stand for none.
    chosen = table.whole_numbers(choice, least=-MOST_VOTES).astype(np.int64)
    names = [each for each in table.titles if each != choice]
    names = arm_names_of(names if arm_names is None else arm_names, None)
    table.say_what_is_read({"choice": [choice], "arms": names})
    offered = np.stack(
        [table.whole_numbers(each, flags=True) for each in names], axis=1
    )
    if np.any(offered > 1):
        row, arm = np.argwhere(offered > 1)[0]
        rule = f"row {row} of column {names[arm]!r} must be 1 where the arm was on "
        rule += f"offer, else 0, but is {offered[row, arm]:g}"
        refuse(table.name, rule, float(offered[row, arm]))
    index = chosen - first_index
    fits = (index >= 0) & (index < len(names))
    is_none = np.zeros(len(chosen), dtype=bool) if none is None else chosen == none
    bad = ~fits & ~is_none
    if bad.any():
        row = int(np.argmax(bad))
        rule = f"row {row} chooses {chosen[row]}, but the {len(names)} arms are "
        refuse(table.name, f"{rule}numbered from {first_index}", int(chosen[row]))
    counts = np.zeros(offered.shape)
    counts[~is_none, index[~is_none]] = 1.0
    nobody = None if none is None else is_none
    return Choices.from_counts(offered, counts, nobody, arm_names=names)


def read_long_choices(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    case: str = "id",
    alternative: str = "alternative",
    chosen: str = "chosen",
    available: str | None = None,
    none: str | None = None,
    arm_names: Sequence[str] | None = None,
    attributes: Sequence[str] = (),
    person: str | None = None,
    where: str | Sequence[str] = (),
) -> Choices:
    r"""Read choices from a table with a row for each alternative of each choice.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, or a data frame.
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
    person, none = _words_of(person=person, none=none)
    table = Table(source, names=[none, *(arm_names or ())])
    table.keep_rows(where)
    known = list(_attributes_asked(attributes))
    others = [title for title in (available, person) if title is not None]
    table.say_what_is_read(
        {"case": [case], "alternative": [alternative], "chosen": [chosen],
         "other": others, "attributes": known}
    )  # fmt: skip
    table.check_values([case, alternative, *([person] if person else [])])
    (labels,), different = table.same_labels(alternative)
    if arm_names is None:
        arm_names = [each for each in different if each != none]
    names = arm_names_of(arm_names, None)
    # None of them is the last column.
    wide = names if none is None else (*names, none)
    column = arm_positions(alternative, different, wide)[labels]
    codes, cases = table.labels(case)
    occurring, row = np.unique(codes, return_inverse=True)

    def check(fits: NDArray[np.bool_], rule: str) -> None:
        if not fits.all():
            name = cases[occurring[np.argmin(fits)]]
            refuse(table.name, f"the choice {name!r} {rule}", name)

    offered = np.zeros((len(occurring), len(wide)), dtype=np.int64)
    np.add.at(offered, (row, column), 1)
    check(offered.max(axis=1) <= 1, "names an alternative twice")
    counts, here = np.zeros(offered.shape), np.ones(table.num_rows, dtype=bool)
    counts[row, column] = table.yes_or_no(chosen)
    if available:
        here = table.yes_or_no(available)
        offered[row, column] = here
    check(counts.sum(axis=1) == 1, "must choose one alternative")
    check((counts <= offered).all(axis=1), "chooses what was not on offer")
    persons = None
    if person is not None:
        who, people = table.labels(person)
        of_case = np.zeros(len(occurring), dtype=np.int64)
        of_case[row] = who
        differ = np.bincount(row, of_case[row] != who, len(occurring))
        check(differ == 0, "is of several persons")
        persons = [people[each] for each in of_case]
    size, values, titles = len(names), [np.zeros((*offered.shape, 0))], []
    for title in known:
        # None of them has no attributes.
        read = (here & (column < size))[:, None]
        words, found = _values_of(table, title, [title], read)
        wider = np.zeros((*offered.shape, len(words)))
        wider[row, column] = found[:, 0]
        values, titles = [*values, wider], [*titles, *words]
    return Choices.from_counts(
        offered[:, :size] > 0,
        counts[:, :size],
        None if none is None else counts[:, -1],
        arm_names=names,
        attributes=np.concatenate(values, axis=2)[:, :size] if known else None,
        attribute_names=titles if known else None,
        persons=persons,
    )


def read_wide_choices(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    attributes: Sequence[str] | Mapping[str, Sequence[str] | None],
    choice: str = "choice",
    alternatives: Sequence[str] | None = None,
    available: str | Sequence[str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    none: str | None = None,
    where: str | Sequence[str] = (),
) -> Choices:
    r"""Read choices from a table with a row for each choice.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, or a data frame.
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
    person, weight, none = _words_of(person=person, weight=weight, none=none)
    table = Table(source, names=[none, *(alternatives or ())])
    table.keep_rows(where)
    asked = _attributes_asked(attributes)
    choice = composed(choice)
    left = [title for title in (choice, person, weight) if title is not None]
    if alternatives is None:
        alternatives = _alternatives_in(table, asked, left)
    names = arm_names_of(alternatives, None)
    offers: list[str | None] = []
    if isinstance(available, str):
        offers = _titles_of(table, available, None, names, left)
    elif available is not None:
        columns = labels_of("available", available)
        offers = _titles_of(table, "available", columns, names, left)
    shown = [_titles_of(table, name, own, names, left) for name, own in asked.items()]
    read = [title for each in [*shown, offers] for title in each if title]
    table.say_what_is_read({"choice": left, "attributes": read})
    here = np.ones((table.num_rows, len(names)), dtype=bool)
    for place, title in enumerate(offers):
        if title is not None:
            here[:, place] = table.yes_or_no(title)
    table.check_values([choice, *([person] if person else [])])
    (codes,), labels = table.same_labels(choice)
    known: dict[str, str | None] = {f"{choice}{name}": name for name in names}
    if not any(name.isdigit() for name in names):
        known |= {str(place + 1): name for place, name in enumerate(names)}
    known |= {name: name for name in names} | ({} if none is None else {none: None})
    words = f"is none of the alternatives {', '.join(names)}"
    remedy = "leave such rows out by a condition ({where})"
    fits = np.array([label in known for label in labels])[codes]
    table.check(choice, fits, words, remedy)
    values, titles = [np.zeros((*here.shape, 0))], []
    for name, columns in zip(asked, shown, strict=True):
        words, found = _values_of(table, name, columns, here)
        values, titles = [*values, found], [*titles, *words]
    try:
        return Choices.from_attributes(
            np.concatenate(values, axis=2),
            [known[labels[code]] for code in codes],
            available=here,
            persons=None if person is None else table.texts(person).tolist(),
            weight=None if weight is None else table.numbers(weight),
            arm_names=names,
            attribute_names=titles,
            outside=none is not None,
        )
    except ComparisonDataError as error:
        raise table.in_rows_of_file(error) from error


def _words_of(**given: Any) -> list[str | None]:
    """Return single titles or words, without the space around them; None stays."""
    return [
        None if each is None else composed(labels_of(name, [each])[0])
        for name, each in given.items()
    ]


def _attributes_asked(given: Any) -> dict[str, tuple[str, ...] | None]:
    """Return attributes, perhaps with a column per alternative."""
    if isinstance(given, Mapping):
        return {
            str(name): None if titles is None else labels_of(str(name), titles)
            for name, titles in given.items()
        }
    names = labels_of("attributes", given)
    if isinstance(given, str):
        refuse("attributes", "must be a list", given, remedy=f"[{given!r}]")
    return {composed(name): None for name in names}


def _parted_titles(
    table: Table, attribute: str, left: Sequence[str]
) -> list[dict[str, str]]:
    """Return columns of an attribute by alternative, for either place of its name.

    ``pf1`` and ``pf_1`` are of the attribute pf and the alternative 1, in the first,
    ``TRAIN_TT`` of TT and TRAIN, in the second.
    """
    found: list[dict[str, str]] = []
    for remove in (str.removeprefix, str.removesuffix):
        rests = {
            remove(title, attribute).strip(_BETWEEN): title
            for title in table.titles
            if title not in left and remove(title, attribute) != title
        }
        rests.pop("", None)
        numbered = {name: title for name, title in rests.items() if name.isdigit()}
        # And not the rest of a word, as "ass" of class and cl.
        found.append(numbered if len(numbered) > 1 else rests)
    return found


def _alternatives_in(
    table: Table, asked: Mapping[str, Any], left: Sequence[str]
) -> list[str]:
    """Return the alternatives that all attributes have a column for."""
    attributes = [name for name, titles in asked.items() if titles is None]
    parted = [_parted_titles(table, attribute, left) for attribute in attributes]
    for first, *others in zip(*parted, strict=True):
        common = [name for name in first if all(name in each for each in others)]
        if len(common) > 1:
            return common
    rule = (
        "there are no two alternatives with a column for each of the attributes "
        f"{', '.join(attributes)}, as in price_bus and price_car; its columns are "
        f"{shortened(table.titles, 12)}"
    )
    remedy = "name the alternatives, or the columns of each attribute"
    refuse(table.name, rule, attributes, remedy=remedy)


def _titles_of(
    table: Table,
    attribute: str,
    asked: Sequence[str] | None,
    alternatives: Sequence[str],
    left: Sequence[str],
) -> list[str | None]:
    """Return the column of an attribute for each alternative, None where it is 0."""
    listed = ", ".join(alternatives)
    if asked is not None:
        if len(asked) != len(alternatives):
            rule = f"must have a column for each of {listed}"
            remedy = "an empty name says that it is 0"
            refuse(attribute, rule, asked, remedy=remedy)
        return [composed(title) or None for title in asked]
    for titles in _parted_titles(table, attribute, left):
        if all(name in titles for name in alternatives):
            return [titles[name] for name in alternatives]
    rule = f"{attribute!r} has no column for each of {listed}"
    remedy = near_names(attribute, table.titles)
    remedy += "name its columns, with an empty name where it is 0"
    refuse(table.name, rule, attribute, remedy=remedy)


def _values_of(
    table: Table, attribute: str, titles: Sequence[str | None], here: NDArray[np.bool_]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return an attribute as numbers, and their names: one, or one for each word.

    A column of words becomes a 1 for each word but the first in the alphabet. Cells
    are read where something was on offer.
    """
    cells = np.full(here.shape, "0", dtype=object)
    for place, title in enumerate(titles):
        if title is not None:
            cells[:, place] = table.texts(title)
    there = here & np.array([title is not None for title in titles])
    read = cells[there].tolist()
    numbers = table.numbers_in(attribute, read)
    bad = np.flatnonzero(np.isnan(numbers)).tolist()
    if not bad:
        found = np.zeros(here.shape)
        found[there] = numbers
        return [attribute], found[:, :, None]
    empty = [at for at, cell in enumerate(read) if not cell]
    if empty or len(bad) < len(read) or has_comma(read[bad[0]]):
        at = (empty or bad)[0]
        row, place = np.argwhere(there)[at].tolist()
        words, remedy = "is empty" if empty else "is no number, as others are", ""
        if has_comma(read[at]):
            words, remedy = "is a number with a comma", "write a point"
        table.refuse(str(titles[place]), row, words, remedy)
    words = sorted(set(read))
    if len(words) > _MOST_WORDS:
        rule = f"{attribute!r} has {len(words)} different words, at most {_MOST_WORDS}"
        refuse(table.name, f"{rule} are read", attribute)
    marks = [(cells == word) & there for word in words[1:]]
    names = [f"{attribute}={word}" for word in words[1:]]
    return names, np.stack([*marks, there], axis=2)[:, :, :-1].astype(np.float64)
