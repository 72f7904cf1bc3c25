"""Events of a study, one line of its history each, chained by a checksum."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from itertools import permutations
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

from bayesduel.arguments.control_characters import json_text, visible

__all__ = ["ANSWERS", "BEGINNING", "Event", "answers_to", "body_text", "chained",
           "gold_names", "gold_order", "named_places"]  # fmt: skip

ANSWERS = ("left", "right", "tie", "skip")
"""What may be said of two arms."""

BEGINNING = ""
"""The checksum before the first event."""


def answers_to(number: int, *, worst: bool = False) -> tuple[str, ...]:
    """Return what may be said of so many arms: of more than two, which card is best.

    With ``worst`` which one is best, a comma, and which one is worst.
    """
    if number == 2:
        return ANSWERS
    cards = [*map(str, range(1, number + 1))]
    if worst:
        cards = [",".join(both) for both in permutations(cards, 2)]
    return (*cards, "skip")


@cache
def named_places(answer: str) -> tuple[int, ...]:
    """Return which arms an answer names, from 0: the best one, and then the worst."""
    if answer in ANSWERS:
        return (ANSWERS.index(answer),) if answer in ANSWERS[:2] else ()
    return tuple(int(card) - 1 for card in answer.split(","))


def gold_names(body: dict[str, Any]) -> tuple[str, ...]:
    """Return what a gold question shows: the best one, the others, at last the worst.

    Which of the others is the worst counts only where judges name it.
    """
    return (body["better"], *body.get("also", ()), body["worse"])


def gold_order(body: dict[str, Any]) -> tuple[int, ...]:
    """Return the places of these in the order in which they are shown."""
    if "order" in body:
        return tuple(body["order"])
    return (1, 0) if body["swapped"] else (0, 1)


class Event(NamedTuple):
    """One line of the history of a study."""

    number: int
    """From 1, without gaps."""

    time: float
    """Seconds since 1970, as the clock of the writer had it."""

    kind: str
    body: dict[str, Any]
    digest: str = ""
    """SHA-256 of this event and, through the one before, of all before it."""

    def as_json(self) -> str:
        """Return the event as one line."""
        known = self._asdict()
        del known["digest"]
        return json_text(known)

    def shown(self) -> Event:
        """Return the event with control characters of names written out.

        Older versions took them in names, and whatever prints a name would do what they
        say. Checksums are of the event as it is stored.
        """
        for each in self.body.values():
            kind = type(each)
            # Of most events there is nothing else, and there are very many.
            if not (kind is int or kind is float or kind is str and each.isprintable()):
                return self._replace(body=_visible(self.body, lines=False))
        return self


_TEXTS = ("context", "contexts")
"""Fields that may have several lines, such as prompts."""


def _visible(value: Any, *, lines: bool) -> Any:
    if isinstance(value, str):
        return visible(value, lines=lines)
    if isinstance(value, dict):
        return {
            _visible(name, lines=lines): _visible(each, lines=lines or name in _TEXTS)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_visible(each, lines=lines) for each in value]
    return value


def body_text(body: dict[str, Any]) -> str:
    """Return the body of an event as it is stored."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def chained(before: str, number: int, time: float, kind: str, text: str) -> str:
    """Return the checksum of an event, given that of the one before."""
    # As json.dumps writes these five in a list, in half the time.
    parts = map(encode_basestring_ascii, (before, time.hex(), kind, text))
    before, when, kind, text = parts
    whole = f"[{before}, {number}, {when}, {kind}, {text}]"
    return hashlib.sha256(whole.encode()).hexdigest()
