"""Attributes of alternatives in a user's table: which columns, and words as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from bayesduel.errors import ComparisonDataError, near_names
from bayesduel.files.user_files import number
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import composed, labels_of, shortened

_BETWEEN = "_.-: "
"""What may stand between an attribute and an alternative in a title."""

_MOST_WORDS = 50
"""Different words of an attribute that is no number."""

type Titles = list[str | None]
"""For each alternative a column, or None where an attribute is 0."""


def words_of(**given: Any) -> list[str | None]:
    """Return single titles or words, without the space around them; None stays."""
    return [
        None if each is None else composed(labels_of(name, [each])[0])
        for name, each in given.items()
    ]


def attributes_asked(given: Any) -> dict[str, tuple[str, ...] | None]:
    """Return what was asked for: attributes, perhaps with a column per alternative."""
    if isinstance(given, Mapping):
        return {
            str(name): None if titles is None else labels_of(str(name), titles)
            for name, titles in given.items()
        }
    names = labels_of("attributes", given)
    if isinstance(given, str):
        remedy = f"[{given!r}]"
        raise ComparisonDataError("attributes", "must be a list", given, remedy=remedy)
    return {composed(name): None for name in names}


def parted_titles(
    table: ColumnTable, attribute: str, left: Sequence[str] = ()
) -> dict[str, dict[str, str]]:
    """Return columns of an attribute by alternative, for either place of its name.

    ``pf1`` and ``pf_1`` are of the attribute pf and the alternative 1 ("after"),
    ``TRAIN_TT`` of TT and TRAIN ("before").
    """
    found: dict[str, dict[str, str]] = {"after": {}, "before": {}}
    for title in table.titles:
        if title in left:
            continue
        rests = {"after": title.removeprefix(attribute),
                 "before": title.removesuffix(attribute)}  # fmt: skip
        for where, rest in rests.items():
            if rest != title and rest.strip(_BETWEEN):
                found[where][rest.strip(_BETWEEN)] = title
    for titles in found.values():
        numbered = [each for each in titles if each.isdigit()]
        if len(numbered) > 1:  # And not the rest of a word, as "ass" of class and cl.
            for each in set(titles) - set(numbered):
                del titles[each]
    return found


def alternatives_in(
    table: ColumnTable, attributes: Sequence[str], left: Sequence[str]
) -> list[str]:
    """Return the alternatives that all attributes have a column for.

    ``ComparisonDataError`` if there are fewer than two.
    """
    parted = [parted_titles(table, attribute, left) for attribute in attributes]
    for where in ("after", "before"):
        common = [
            name
            for name in (parted[0][where] if parted else ())
            if all(name in each[where] for each in parted)
        ]
        if len(common) > 1:
            return common
    raise ComparisonDataError(
        table.name,
        "there are no two alternatives with a column for each of the attributes "
        f"{', '.join(attributes)}, as in price_bus and price_car; its columns are "
        f"{shortened(table.titles, 12)}",
        list(attributes),
        remedy="name the alternatives, or the columns of each attribute",
    )


def titles_of(
    table: ColumnTable,
    attribute: str,
    asked: Sequence[str] | None,
    alternatives: Sequence[str],
    left: Sequence[str],
) -> Titles:
    """Return the column of an attribute for each alternative."""
    if asked is not None:
        if len(asked) != len(alternatives):
            rule = f"must have a column for each of {', '.join(alternatives)}"
            remedy = "an empty name says that it is 0"
            raise ComparisonDataError(attribute, rule, asked, remedy=remedy)
        return [composed(title) or None for title in asked]
    for titles in parted_titles(table, attribute, left).values():
        if all(name in titles for name in alternatives):
            return [titles[name] for name in alternatives]
    rule = f"{attribute!r} has no column for each of {', '.join(alternatives)}"
    remedy = near_names(attribute, table.titles) + (
        "name its columns, with an empty name where it is 0"
    )
    raise ComparisonDataError(table.name, rule, attribute, remedy=remedy)


def values_of(
    table: ColumnTable,
    attribute: str,
    titles: Titles,
    here: Bool[np.ndarray, "row place"],
) -> tuple[list[str], Float64[np.ndarray, "row place value"]]:
    """Return an attribute as numbers, and their names: one, or one for each word.

    A column of words becomes a 1 for each word but the first in the alphabet. Read
    where something was on offer.

    ``ComparisonDataError`` for a cell that is empty, no number while others are, or
    one with a decimal comma; or too many words.
    """
    cells = np.full(here.shape, "0", dtype=object)
    for place, title in enumerate(titles):
        if title is not None:
            cells[:, place] = table[title]
    there = here & np.array([title is not None for title in titles])
    read = cells[there].tolist()
    numbers = [number(cell) for cell in read]
    bad = [at for at, each in enumerate(numbers) if each is None]
    found = np.zeros(here.shape)
    if not bad:
        found[there] = np.array(numbers, dtype=np.float64)
        return [attribute], found[:, :, None]
    empty = [at for at, cell in enumerate(read) if not cell]
    if empty or len(bad) < len(read):
        row, place = np.argwhere(there)[(empty or bad)[0]].tolist()
        words = "is empty" if empty else "is no number, as others are"
        table.refuse(str(titles[place]), row, words)
    for at, cell in enumerate(read):
        if number(cell.replace(",", ".")) is not None:
            row, place = np.argwhere(there)[at].tolist()
            table.refuse(
                str(titles[place]), row, "is a number with a comma", "write a point"
            )
    words = sorted(set(read))
    if len(words) > _MOST_WORDS:
        rule = f"{attribute!r} has {len(words)} different words, at most {_MOST_WORDS}"
        raise ComparisonDataError(table.name, f"{rule} are read", attribute)
    marks = [(cells == word) & there for word in words[1:]]
    names = [f"{attribute}={word}" for word in words[1:]]
    if not marks:
        return [], np.zeros((*here.shape, 0))
    return names, np.stack(marks, axis=2).astype(np.float64)
