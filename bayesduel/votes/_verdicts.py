"""What the words in a column of winners say."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.checks import composed, labels_of, vote_counts

type Words = tuple[Any, Any, Any]
"""For the first arm, the second one, and a tie: a word, several, or how many votes each
of several counts."""

type Verdict = tuple[int, float]
"""0, 1 or 2 for the first arm, the second, or a tie; and how many votes it counts."""

_MEANT = ("the first arm", "the second arm", "a tie")


def verdicts_of(words: Any) -> dict[str, Verdict]:
    """Return what each word says, in order.

    ``ComparisonDataError`` if there are not three entries, one has no word, two share
    one, or a word counts a number of votes that is negative or not finite.
    """
    given = _entries(words)
    found: dict[str, Verdict] = {}
    for outcome, entry in enumerate(given):
        for word, votes in entry.items():
            if word in found:
                rule = f"must be three different ones, but {word!r} is there twice"
                raise ComparisonDataError("words", rule, words, index=outcome)
            found[word] = outcome, votes
    return found


def _entries(words: Any) -> list[dict[str, float]]:
    whole = [words] if isinstance(words, str | Mapping) else words
    # An array of no dimensions counts as iterable, and is not.
    many = isinstance(whole, Iterable) and getattr(whole, "ndim", 1) > 0
    entries = list(whole) if many else []
    if len(entries) != len(_MEANT) or not all(entries):
        rule = "must be three different ones: for the first arm, the second, and a tie"
        raise ComparisonDataError("words", rule, words)
    found = []
    for entry in entries:
        if isinstance(entry, Mapping):
            votes = vote_counts("words", list(entry.values())).tolist()
            found.append(dict(zip(map(composed, entry), votes, strict=True)))
            continue
        several = entry if isinstance(entry, tuple | list | set) else [entry]
        labels = map(composed, labels_of("words", list(several)))
        found.append(dict.fromkeys(labels, 1.0))
    return found


def verdict_counts(
    said: Sequence[str],
    rows: Iterable[int],
    first: Sequence[str],
    second: Sequence[str],
    verdicts: Mapping[str, Verdict],
) -> Float64[np.ndarray, "vote 3"]:
    """Return the votes of each row for its two arms, and ties.

    ``ComparisonDataError`` where a word says neither; names the row by its number among
    ``rows``.
    """
    words = set(said)
    if words <= verdicts.keys() - {""} and words.isdisjoint({*first, *second}):
        place_of = {word: place for place, word in enumerate(verdicts)}
        found, places = list(verdicts.values()), list(map(place_of.get, said))
    else:
        known: dict[tuple[str, str, str], int] = {}
        found, places = [], []
        keys = zip(said, first, second, strict=True)
        for row, key in zip(rows, keys, strict=True):
            place = known.get(key)
            if place is None:
                place = known[key] = len(found)
                found.append(_verdict(key[0], row, key[1:], verdicts))
            places.append(place)
    outcomes = np.array([outcome for outcome, _ in found], dtype=np.int64)
    votes = np.array([number for _, number in found], dtype=np.float64)
    each = np.eye(3)[outcomes] * votes[:, None]
    return each[np.array(places, dtype=np.int64)]


def _verdict(
    word: str, row: int, arms: tuple[str, str], verdicts: Mapping[str, Verdict]
) -> Verdict:
    """Return what the name of an arm, or a word, in a column of winners says.

    ``ComparisonDataError`` if it is neither, or both and they differ; names the row.
    """
    by_name = arms.index(word) if word in arms else None
    by_word = verdicts.get(word)
    if not word:
        rule = f"row {row} has no answer"
        tie = next(word for word, (outcome, _) in verdicts.items() if outcome == 2)
        remedy = f"leave the row out (missing='skip'), or write {tie!r} for a tie"
        raise ComparisonDataError("winner", rule, word, remedy=remedy)
    if by_word is None:
        if by_name is not None:
            return by_name, 1.0
        listed = ", ".join(map(repr, verdicts))
        rule = f"row {row} is {word!r}, but must be {arms[0]!r}, {arms[1]!r}, or one of"
        rule, remedy = (
            f"{rule} the words {listed}",
            "say what other words mean ({words})",
        )
        raise ComparisonDataError("winner", rule, word, remedy=remedy)
    if by_name not in (None, by_word[0]):
        raise ComparisonDataError(
            "winner",
            f"row {row} is {word!r}, which is {_MEANT[by_name]} by name, but "
            f"{_MEANT[by_word[0]]} by words={tuple(verdicts)}",
            word,
            remedy="rename the arms or the words so that only one can be meant",
        )
    return by_word
