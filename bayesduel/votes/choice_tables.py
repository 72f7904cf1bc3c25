"""Read choices from users' tables: out of sets, or of alternatives with attributes."""

from __future__ import annotations

import json
import logging
import os
import re
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
    joined_labels,
    labels_of,
    refuse,
    shortened,
)
from bayesduel.votes.choices import Choices
from bayesduel.votes.tables import Table, has_comma
from theory.arguments import integer_from

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_choices", "read_long_choices", "read_sets", "read_wide_choices"]

_LOGGER = logging.getLogger(__name__)

_BETWEEN = "_.-: "  # Separators of an attribute and an alternative.
_MOST_WORDS = 50  # Different words of an attribute that is no number.
# Columns of a table that ``Study.export_votes`` has written.
_OF_A_STUDY = ("shown", "winner", "counts")
_NUMBERED = re.compile(r"(.*?)[ _.-]*([0-9]+|[a-z])", re.IGNORECASE | re.DOTALL)
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


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
    names = [title for title in table.titles if title != choice]
    names = arm_names_of(names if arm_names is None else arm_names, None)
    table.say_what_is_read({"choice": [choice], "arms": names})
    offered = np.stack(
        [table.whole_numbers(name, flags=True) for name in names], axis=1
    )
    if np.any(offered > 1):
        row, arm = np.argwhere(offered > 1)[0]
        rule = f"row {row} of column {names[arm]!r} must be 1 where the arm was on "
        rule += f"offer, else 0, but is {offered[row, arm]:g}"
        refuse(table.name, rule, float(offered[row, arm]))
    index = chosen - first_index
    is_none = np.zeros(len(chosen), dtype=bool) if none is None else chosen == none
    bad = ((index < 0) | (index >= len(names))) & ~is_none
    if bad.any():
        row = int(np.argmax(bad))
        rule = f"row {row} chooses {chosen[row]}, but the {len(names)} arms are "
        refuse(table.name, f"{rule}numbered from {first_index}", int(chosen[row]))
    picked = np.where(is_none, len(names), index)
    return _choices_of(names, offered > 0, picked, has_none=none is not None)


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
    >>> import pandas as pd
    >>> rows = [(1, "bus", 1), (1, "car", 0)]
    >>> read_long_choices(pd.DataFrame(rows, columns=["id", "alternative", "chosen"]))
    Choices(2 arms, 1 subsets, 1 choices)
    """
    person, none = _words_of(person=person, none=none)
    arm_names = None if arm_names is None else arm_names_of(arm_names, None)
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
        arm_names = [name for name in different if name != none]
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
    counts, here = np.zeros(offered.shape), np.ones(len(table.rows), dtype=bool)
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
        persons = [people[code] for code in of_case]
    values, titles = None, None
    if known:
        # None of them has no attributes.
        read = (here & (column < len(names)))[:, None]
        columns = {title: [title] for title in known}
        titles, of_rows = _attributes_of(table, columns, read)
        values = np.zeros((*offered.shape, len(titles)))
        values[row, column] = of_rows[:, 0]
        values = values[:, : len(names)]
    return _choices_of(
        names, offered[:, : len(names)] > 0, counts.argmax(axis=1),
        has_none=none is not None, attributes=values, attribute_names=titles,
        persons=persons,
    )  # fmt: skip


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
    >>> import pandas as pd
    >>> rows = [("bus", 1.5, 4), ("car", 2, 2.5)]
    >>> table = pd.DataFrame(rows, columns=["choice", "price_bus", "price_car"])
    >>> read_wide_choices(table, attributes=["price"])
    Choices(2 arms, 2 choices, 1 attributes)
    """
    person, weight, none = _words_of(person=person, weight=weight, none=none)
    if alternatives is not None:
        alternatives = labels_of("alternatives", alternatives)
    table = Table(source, names=[none, *(alternatives or ())])
    table.keep_rows(where)
    columns = _attributes_asked(attributes)
    choice = composed(choice)
    left = [title for title in (choice, person, weight) if title is not None]
    if alternatives is None:
        alternatives = _alternatives_in(table, columns, left)
    names = arm_names_of(alternatives, None)
    offers: list[str | None] = []
    if isinstance(available, str):
        offers = _titles_of(table, available, None, names, left)
    elif available is not None:
        named = labels_of("available", available)
        offers = _titles_of(table, "available", named, names, left)
    shown = {
        name: _titles_of(table, name, titles, names, left)
        for name, titles in columns.items()
    }
    read = [title for titles in [*shown.values(), offers] for title in titles if title]
    table.say_what_is_read({"choice": left, "attributes": read})
    here = np.ones((len(table.rows), len(names)), dtype=bool)
    for index, title in enumerate(offers):
        if title is not None:
            here[:, index] = table.yes_or_no(title)
    table.check_values([choice, *([person] if person else [])])
    (codes,), labels = table.same_labels(choice)
    known = {f"{choice}{name}": at for at, name in enumerate(names)}
    if not any(name.isdigit() for name in names):
        known |= {str(at + 1): at for at in range(len(names))}
    known |= {name: at for at, name in enumerate(names)}
    known |= {} if none is None else {none: len(names)}
    words = f"is none of the alternatives {', '.join(names)}"
    remedy = "leave such rows out by a condition ({where})"
    picked = np.array([known.get(label, -1) for label in labels])[codes]
    table.check(choice, picked >= 0, words, remedy)
    titles, values = _attributes_of(table, shown, here)
    try:
        return _choices_of(
            names, here, picked, has_none=none is not None,
            attributes=values, attribute_names=titles,
            persons=None if person is None else table.texts(person).tolist(),
            weights=1.0 if weight is None else table.numbers(weight),
        )  # fmt: skip
    except ComparisonDataError as error:
        # Rows that were left out count in the file.
        row = error.index
        at = int(table.rows[row]) if isinstance(row, int) else row
        raise error.renamed(error.argument, at) from error


def _choices_of(
    names: tuple[str, ...],
    offered: NDArray[np.bool_],
    picked: NDArray[np.int64],
    *,
    has_none: bool,
    weights: Any = 1.0,
    **known: Any,
) -> Choices:
    """Return choices by the place of what was picked; the last one is none of them."""
    counts = np.zeros((len(picked), len(names) + 1))
    counts[np.arange(len(picked)), picked] = weights
    none = counts[:, -1] if has_none else None
    return Choices.from_counts(offered, counts[:, :-1], none, arm_names=names, **known)


def _words_of(**given: Any) -> list[str | None]:
    """Return single titles or words, without the space around them; None stays."""
    return [
        None if word is None else composed(labels_of(name, [word])[0])
        for name, word in given.items()
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
    """Return columns of an attribute by alternative, for either place of its name."""
    parted: list[dict[str, str]] = []
    for remove in (str.removeprefix, str.removesuffix):
        rests = {
            remove(title, attribute).strip(_BETWEEN): title
            for title in table.titles
            if title not in left and remove(title, attribute) != title
        }
        rests.pop("", None)
        numbered = {name: title for name, title in rests.items() if name.isdigit()}
        # And not the rest of a word, as "ass" of class and cl.
        parted.append(numbered if len(numbered) > 1 else rests)
    return parted


def _alternatives_in(
    table: Table, columns: Mapping[str, Any], left: Sequence[str]
) -> list[str]:
    """Return the alternatives that all attributes have a column for."""
    attributes = [name for name, titles in columns.items() if titles is None]
    parted = [_parted_titles(table, attribute, left) for attribute in attributes]
    for first, *others in zip(*parted, strict=True):
        common = [name for name in first if all(name in titles for titles in others)]
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
    named: Sequence[str] | None,
    alternatives: Sequence[str],
    left: Sequence[str],
) -> list[str | None]:
    """Return the column of an attribute for each alternative, None where it is 0."""
    listed = ", ".join(alternatives)
    if named is not None:
        if len(named) != len(alternatives):
            rule = f"must have a column for each of {listed}"
            remedy = "an empty name says that it is 0"
            refuse(attribute, rule, named, remedy=remedy)
        return [composed(title) or None for title in named]
    for titles in _parted_titles(table, attribute, left):
        if all(name in titles for name in alternatives):
            return [titles[name] for name in alternatives]
    rule = f"{attribute!r} has no column for each of {listed}"
    remedy = near_names(attribute, table.titles)
    remedy += "name its columns, with an empty name where it is 0"
    refuse(table.name, rule, attribute, remedy=remedy)


def _attributes_of(
    table: Table, columns: Mapping[str, Sequence[str | None]], here: NDArray[np.bool_]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return attributes, by their columns, in one table, and their names."""
    parts = [_values_of(table, *column, here) for column in columns.items()]
    values = [np.zeros((*here.shape, 0)), *(numbers for _, numbers in parts)]
    return [word for words, _ in parts for word in words], np.concatenate(
        values, axis=2
    )


def _values_of(
    table: Table, attribute: str, titles: Sequence[str | None], here: NDArray[np.bool_]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return an attribute as numbers, and their names: one, or one for each word."""
    cells = np.full(here.shape, "0", dtype=object)
    for index, title in enumerate(titles):
        if title is not None:
            cells[:, index] = table.texts(title)
    there = here & np.array([title is not None for title in titles])
    read = cells[there].tolist()
    numbers = table.numbers_in(attribute, read)
    bad = np.flatnonzero(np.isnan(numbers)).tolist()
    if not bad:
        values = np.zeros(here.shape)
        values[there] = numbers
        return [attribute], values[:, :, None]
    empty = [at for at, cell in enumerate(read) if not cell]
    if empty or len(bad) < len(read) or has_comma(read[bad[0]]):
        at = (empty or bad)[0]
        row, index = np.argwhere(there)[at].tolist()
        words, remedy = "is empty" if empty else "is no number, as others are", ""
        if has_comma(read[at]):
            words, remedy = "is a number with a comma", "write a point"
        table.refuse(str(titles[index]), row, words, remedy)
    words = sorted(set(read))
    if len(words) > _MOST_WORDS:
        rule = f"{attribute!r} has {len(words)} different words, at most {_MOST_WORDS}"
        refuse(table.name, f"{rule} are read", attribute)
    marks = [(cells == word) & there for word in words[1:]]
    names = [f"{attribute}={word}" for word in words[1:]]
    return names, np.stack([*marks, there], axis=2)[:, :, :-1].astype(np.float64)


def read_sets(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    shown: Sequence[str] | None = None,
    best: str = "best",
    worst: str | None = "worst",
    where: str | Sequence[str] = (),
    missing: str = "refuse",
    arm_names: Sequence[str] | None = None,
) -> Choices:
    r"""Read a table whose rows show several arms, and name the best, or the worst too.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, or a data frame. One that
        ``Study.export_votes`` has written of a study of sets is known by its columns,
        and needs no names; its answers that are no votes are left out.
    shown : sequence of str, optional
        Columns with the names of the arms that were shown; an empty cell is none. By
        default a column "shown" of lists, or numbered columns such as item1, item2,
        item3, or a, b, c, if there is one such group.
    best : str
        Column with the arm that was picked as the best: its name, the title of its
        column, or its place in ``shown`` from 1. By default "best" or "most".
    worst : str or None
        Column with the worst; nobody was asked for it where there is no such column.
        By default "worst" or "least".
    where : str or sequence of str
        Conditions on the columns, as in :func:`read_comparisons`.
    missing : {"refuse", "skip", "keep"}
        How to treat rows without a best, or without a worst where it was asked for;
        as in :func:`read_comparisons`.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.

    Returns
    -------
    Choices
        The best out of all that were shown, and the worst out of the others.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing or could be others, an arm is shown twice in a row, or
        one was picked that was not shown, or the same as best and worst; names the row,
        from 0.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame([["p1", "tea", "milk", "ale", "milk", "ale"]])
    >>> frame.columns = ["respondent", "item1", "item2", "item3", "best", "worst"]
    >>> read_sets(frame).row_names
    ['ale | tea (worst)', 'ale | milk | tea']
    """
    arm_names = None if arm_names is None else arm_names_of(arm_names, None)
    table = Table(source, missing=missing, names=arm_names)
    table.keep_rows(where)
    is_listed = shown is None and "shown" in table.titles
    is_export = is_listed and all(title in table.titles for title in _OF_A_STUDY)
    if is_export:
        best = "winner"
        table.keep_rows("counts=true")
        table.skip_missing([best], say=False)
    if best == "best":
        best = table.usual("best") or table.usual("most") or best
    if worst == "worst":
        worst = table.usual("worst") or table.usual("least")
    if worst == best:
        refuse("worst", "must be another column than that of the best", worst)
    picked = [title for title in (best, worst) if title is not None]
    if is_export:
        table.labels(best)
    else:
        if missing == "skip":
            table.skip_missing(picked)
        table.check_values(picked)
    said = [table.texts(title).tolist() for title in picked]
    if is_listed:
        rows = [_listed(table, row) for row in range(len(table.rows))]
    else:
        titles = _shown(table, picked, shown)
        read = {"shown": titles, "best": picked[:1], "worst": picked[1:]}
        table.say_what_is_read(read)
        columns, names = table.same_labels(*titles)
        cells = [np.array([*names, ""], dtype=object)[codes] for codes in columns]
        given = list(zip(*(column.tolist() for column in cells), strict=True))
        said = _answers(table, picked, said, titles, given)
        if shown is None:
            _check_guess(table, titles, given, said)
        rows = [[arm for arm in row if arm] for row in given]
    names = {arm for row in rows for arm in row}
    arms = arm_names_of(sorted(names) if arm_names is None else arm_names, None)
    for at, row in enumerate(rows):
        both = [column[at] for column in said if column[at] or not is_export]
        where = f"row {int(table.rows[at])}"
        listed = ", ".join(row)
        if len(set(row)) < len(row):
            refuse(table.name, f"{where} shows an arm twice: {listed}", row)
        if len(row) < 2:
            rule = f"{where} shows fewer than two arms, which leaves no choice"
            refuse(table.name, rule, row)
        for arm in both:
            if arm not in row:
                refuse(table.name, f"{where} picks {arm!r}, but shows {listed}", arm)
        if len(set(both)) < len(both):
            rule = f"{where} picks {both[0]!r} as best and as worst"
            refuse(table.name, rule, both)
    last = None if worst is None else [answer or None for answer in said[-1]]
    return Choices.from_subsets(rows, said[0], worst=last, arm_names=arms)


def _groups_of(titles: Sequence[str]) -> list[list[str]]:
    """Return groups of titles that differ in a number or a letter alone."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for title in titles:
        match = _NUMBERED.fullmatch(title)
        if match and (match[2].isdigit() or not match[1] or match[1] != title[:-1]):
            # A letter counts where it stands alone, or after a separator.
            groups.setdefault((match[1], match[2].isdigit()), []).append(title)
    groups["one", True] = [title for title in titles if title.lower() in _WORDS]
    return [group for group in groups.values() if len(group) > 1]


def _shown(
    table: Table, picked: Sequence[str], shown: Sequence[str] | None
) -> list[str]:
    """Return the columns of the arms that were shown: those named, or numbered ones."""
    if shown is not None:
        return [str(title) for title in labels_of("shown", shown)]
    others = [title for title in table.titles if title not in picked]
    groups = _groups_of(others)
    if len(groups) > 1:
        # Such as item1, item2 and rating1, rating2: those that hold what was picked.
        said = {name for title in picked for name in table.labels(title)[1]}
        held = []
        for group in groups:
            names = {name for title in group for name in table.labels(title)[1]}
            # 7.0 and 7 are one label.
            both = set.intersection(*map(set, joined_labels([*said], [*names])))
            if both or said & {*group}:
                held.append(group)
        # Numbers may also be places in any of them.
        places = {str(at + 1) for at in range(max(map(len, groups)))}
        is_place = {*joined_labels([*said])[0]} <= places
        groups = held if len(held) == 1 and not is_place else groups
    if len(groups) == 1:
        return groups[0]
    what = f"could be {' or '.join(map(shortened, groups))}"
    what = what if groups else "are unknown"
    rule = f"the columns of the arms that were shown {what}"
    remedy = f"name them with shown ({{arms}}), out of {shortened(others, 12)}"
    refuse(table.name, rule, others, remedy=remedy)


def _answers(
    table: Table,
    picked: Sequence[str],
    said: list[list[str]],
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> list[list[str]]:
    """Return the arms that each row picks: by name, or by column or place for all."""
    said = joined_labels(*said)
    position = {str(at + 1): at for at in range(len(titles))}
    position |= {title: at for at, title in enumerate(titles)}
    pairs = [list(zip(column, rows, strict=True)) for column in said]
    meant = [
        [row[position[answer]] if answer in position else "" for answer, row in column]
        for column in pairs
    ]
    is_place = all(map(all, meant))
    if not all(answer in row for column in pairs for answer, row in column):
        return meant if is_place else said
    if is_place and meant != said:
        _LOGGER.warning(
            "%s: the answers in %s are names of arms, and could be places from 1 to %d "
            "as well; they were read as names",
            table.name,
            " and ".join(picked),
            len(titles),
        )
    return said


def _check_guess(
    table: Table,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    answers: Sequence[Sequence[str]],
) -> None:
    """Refuse columns that were guessed, but hold no arms: none is ever picked."""
    picked = {arm for column in answers for arm in column}
    columns = dict(zip(titles, zip(*rows, strict=True), strict=True))
    for title, cells in columns.items():
        others = {arm for name in titles if name != title for arm in columns[name]}
        if len({*cells}) == len(rows) > 2 and not {*cells} & (picked | others):
            rule = f"column {title!r} was taken for one of the arms that were shown, "
            rule += "but differs in every row, and is never picked"
            remedy = "name the columns of the arms with shown ({arms})"
            refuse(table.name, rule, title, remedy=remedy)


def _listed(table: Table, row: int) -> list[str]:
    try:
        names = json.loads(table.text_at("shown", row))
    except ValueError:
        names = None
    if not isinstance(names, list):
        table.refuse("shown", row, "is no list of names as JSON")
    return [str(name) for name in names]
