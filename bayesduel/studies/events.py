"""Events of a study: what each kind holds, and the checksums that chain them.

A kind is a named tuple. Its fields are the members of the JSON body, and their
annotations say what a value must be; a field without a default is required. Members
that no field names are kept: a newer version wrote them, and a checksum vouches for it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from functools import cache
from itertools import permutations
from json.encoder import encode_basestring_ascii
from typing import Annotated, Any, NamedTuple, Self, get_args, get_type_hints

from bayesduel.arguments.control_characters import json_text, visible
from bayesduel.errors import StudyError

ANSWERS = ("left", "right", "tie", "skip")  # Answers to a question about two arms.
BEGINNING = ""  # The checksum before the first event.

RESTORE = (
    "see what is sound with bayesduel study check, or restore a copy; one of a study "
    "that is open is made by bayesduel study copy"
)
_SEE = "see what is sound with: bayesduel study check FILE"


def broken(number: int, what: str) -> StudyError:
    """Return the error of an event that cannot be believed."""
    rule = f"event {number} of the study is broken: {what}"
    return StudyError("study", rule, number, remedy=_SEE)


def missing(number: int) -> StudyError:
    """Return the error of an event that is not there."""
    rule = f"event {number} of the study is missing"
    return StudyError("study", rule, number, remedy=RESTORE)


def short(value: Any) -> str:
    """Return a value as errors show it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Event(NamedTuple):
    """One line of the history of a study.

    Attributes
    ----------
    number : int
        From 1, without gaps.
    time : float
        Seconds since 1970 by the clock of the writer.
    kind : str
    body : dict
        Its content; see the kinds of this module.
    digest : str
        SHA-256 of this event and, through the one before, of all before it.
    """

    number: int
    time: float
    kind: str
    body: dict[str, Any]
    digest: str = ""

    def as_json(self) -> str:
        """Return the event as one line."""
        known = self._asdict()
        del known["digest"]
        return json_text(known)

    def shown(self) -> Event:
        """Return the event with control characters of names written out."""
        for value in self.body.values():
            kind = type(value)
            # Most events hold nothing else, and there are very many.
            if not (
                kind is int or kind is float or kind is str and value.isprintable()
            ):
                return self._replace(body=_visible(self.body, lines=False))
        return self


def _visible(value: Any, *, lines: bool) -> Any:
    if isinstance(value, str):
        return visible(value, lines=lines)
    if isinstance(value, dict):
        # Contexts, such as prompts, may have several lines.
        return {
            _visible(name, lines=lines): _visible(
                item, lines=lines or name in ("context", "contexts")
            )
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_visible(item, lines=lines) for item in value]
    return value


def body_text(body: dict[str, Any]) -> str:
    """Return the body of an event as it is stored."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def chained(before: str, number: int, time: float, kind: str, text: str) -> str:
    """Return the checksum of an event, given that of the one before."""
    # As json.dumps writes these five in a list, in half the time.
    before, when, kind, text = map(
        encode_basestring_ascii, (before, time.hex(), kind, text)
    )
    whole = f"[{before}, {number}, {when}, {kind}, {text}]"
    return hashlib.sha256(whole.encode()).hexdigest()


# Answers


def answers_to(number: int, *, worst: bool = False) -> tuple[str, ...]:
    """Return the possible answers about so many arms: of a set, the best card."""
    if number == 2:
        return ANSWERS
    cards = [*map(str, range(1, number + 1))]
    if worst:
        cards = [",".join(both) for both in permutations(cards, 2)]
    return (*cards, "skip")


@cache
def named_places(answer: str) -> tuple[int, ...]:
    """Return the places from 0 of the arms that an answer names: best, then worst."""
    if answer in ANSWERS:
        return (ANSWERS.index(answer),) if answer in ANSWERS[:2] else ()
    return tuple(int(card) - 1 for card in answer.split(","))


class VoteRow(NamedTuple):
    """Votes between the same arms: choices of each of them; of a pair also ties."""

    arms: tuple[int, ...]  # Both are the same once they were merged: nothing counts.
    counts: tuple[int, ...]
    ties_for_first: int = 0  # Ties that are votes for the first arm to policies.
    key: str = ""  # Identifies the vote in other studies.
    worst: bool = False  # The worst of what the best left: not a vote by itself.

    @property
    def num_votes(self) -> int:
        """Number of votes."""
        return 0 if self.worst else sum(self.counts)

    def written(self, arms: Any = None) -> list[Any]:
        """Return what an event holds: five numbers of a pair, lists of a set."""
        shown = self.arms if arms is None else arms
        if len(self.arms) < len(self.counts):
            return [*shown, *self.counts]
        return [[*shown], [*self.counts], *([True] if self.worst else [])]

    @classmethod
    def of_numbers(cls, row: list[Any]) -> Self:
        """Return the row that an event holds."""
        arms, counts, *worst = [row[:2], row[2:]] if len(row) == 5 else row
        return cls((*arms,), (*counts,), worst=bool(worst))


# Checks of values


def _is_number(value: Any) -> bool:
    # An integer may be too large to be a float at all.
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _all(is_right: Any) -> Any:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    return isinstance(value, dict) and all(
        name in value and is_right(value[name]) for name, is_right in schema.items()
    )


def _is_row(value: Any) -> bool:
    if not isinstance(value, list) or len(value) == 5:
        return isinstance(value, list) and all(map(_is_whole, value))
    has_lists = len(value) in (2, 3) and all(map(_all(_is_whole), value[:2]))
    return has_lists and value[2:] in ([], [True])


def _is_positive(value: Any) -> bool:
    return _is_whole(value) and value > 0


_DUEL = {
    **dict.fromkeys(
        ("champion", "exploit", "first", "second", "round", "idle"), _is_whole
    ),
    "votes": _is_positive,
}


def _is_duel(value: Any) -> bool:
    scalars = _all(lambda item: type(item) is bool or _is_number(item))
    return (
        _fits(value, _DUEL)
        and value["first"] != value["second"]
        and _is_text(value.get("program", ""))
        and ("program" not in value or scalars(value.get("note")))
    )


_RATE = {
    "rule": _is_text, "false_stops": _is_whole,
    **dict.fromkeys(("false_share", "false_lower", "false_upper"), _is_number),
    "undecided_share": _is_number,
    "median_votes": lambda value: value is None or _is_number(value),
}  # fmt: skip

Text = Annotated[str, _is_text]
Whole = Annotated[int, _is_whole]
Positive = Annotated[int, _is_positive]
Number = Annotated[float, _is_number]
Price = Annotated[float, lambda value: _is_number(value) and value >= 0]
Share = Annotated[float, lambda value: _is_number(value) and 0 < value < 1]
YesOrNo = Annotated[bool, lambda value: type(value) is bool]
Texts = Annotated[list[str], _all(_is_text)]
Wholes = Annotated[list[int], _all(_is_whole)]
Duel = Annotated[dict[str, Any], _is_duel]
Rows = Annotated[list[Any], _all(_is_row)]
Rates = Annotated[
    list[Any], _all(lambda rate: _fits(rate, _RATE) and rate.keys() == _RATE.keys())
]
Anything = Annotated[Any, lambda value: True]


# Kinds of events, beside "created", which holds the settings of the study


class Asked(NamedTuple):
    """A question about arms, by their numbers."""

    question: Positive
    left: Whole
    right: Whole
    rule: Text
    reason: Text
    lease: Number
    judge: Text | None = None
    context: Anything = None
    also: Wholes | None = None
    request: Positive | None = None
    replaces: Positive | None = None
    twin_of: Positive | None = None
    duel: Duel | None = None
    information: Number | None = None

    @property
    def arms(self) -> tuple[int, ...]:
        """All that is shown, from the left to the right."""
        return (self.left, self.right, *(self.also or ()))

    def about(self, arms: Any) -> Asked:
        """Return the question about other arms, or in another order."""
        left, right, *also = arms
        return self._replace(left=left, right=right, also=also or None)


class GoldAsked(NamedTuple):
    """A question whose answer is known."""

    question: Positive
    gold: Whole
    lease: Number
    judge: Text | None = None
    context: Anything = None
    swapped: YesOrNo | None = None
    order: Wholes | None = None

    @property
    def places(self) -> tuple[int, ...]:
        """Places in the names of the gold question, in the order shown."""
        if self.order is not None:
            return tuple(self.order)
        return (1, 0) if self.swapped else (0, 1)


class Answered(NamedTuple):
    """An answer to a question."""

    question: Positive
    answer: Text
    judge: Text | None = None
    by: Text | None = None


class Withdrawn(NamedTuple):
    """A question is taken back, with its answer."""

    question: Positive
    judge: Text | None = None
    by: Text | None = None


class Undone(NamedTuple):
    """An answer is taken back."""

    question: Positive
    judge: Text | None = None
    by: Text | None = None


class ArmAdded(NamedTuple):
    """An arm is compared from now on."""

    name: Text
    share: Share | None = None
    by: Text | None = None


class ArmRetired(NamedTuple):
    """An arm is compared no more."""

    name: Text
    by: Text | None = None


class ArmRestored(NamedTuple):
    """An arm is compared again."""

    name: Text
    by: Text | None = None


class ArmRenamed(NamedTuple):
    """An arm gets another name."""

    name: Text
    to: Text
    by: Text | None = None


class ArmsMerged(NamedTuple):
    """Two arms become one."""

    name: Text
    into: Text
    by: Text | None = None


class Imported(NamedTuple):
    """Votes from elsewhere."""

    source: Text
    counts: Rows
    keys: Texts | None = None
    by: Text | None = None

    @property
    def rows(self) -> list[VoteRow]:
        """The votes."""
        return [*map(VoteRow.of_numbers, self.counts)]


class ImportUndone(NamedTuple):
    """Votes from elsewhere are taken back."""

    event: Positive
    by: Text | None = None


class GoldAdded(NamedTuple):
    """It is known which arm is best; of a set, also which is worst."""

    better: Text
    worse: Text
    also: Texts | None = None
    by: Text | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The best one, the others, and the worst."""
        return (self.better, *(self.also or ()), self.worse)


class JudgeSet(NamedTuple):
    """The terms of a judge."""

    name: Text
    limit: Whole | None = None
    arms: Texts | None = None
    price: Price | None = None
    trusted: YesOrNo | None = None
    by: Text | None = None


class Audited(NamedTuple):
    """How often the rules for stopping err in simulations."""

    policy: Text
    model: Text
    arms: Texts
    votes: Number
    delta: Number
    width: Number
    budget: Whole
    look_every: Whole
    num_runs: Whole
    seed: Whole
    rates: Rates
    remarks: Texts


Record = (
    Asked | GoldAsked | Answered | Withdrawn | Undone | ArmAdded | ArmRetired
    | ArmRestored | ArmRenamed | ArmsMerged | Imported | ImportUndone | GoldAdded
    | JudgeSet | Audited
)  # fmt: skip

# "gold asked" is GoldAsked.
_KINDS: dict[str, type[Record]] = {
    re.sub("(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower(): kind
    for kind in get_args(Record)
}
NAMES = {kind: name for name, kind in _KINDS.items()}


@cache
def _schema(kind: type[Record]) -> tuple[list[str], dict[str, Any]]:
    # The names of required fields, and by field what checks a value.
    hints = get_type_hints(kind, include_extras=True)
    checks = {
        name: next(
            part.__metadata__[0]
            for part in (hint, *get_args(hint))
            if hasattr(part, "__metadata__")
        )
        for name, hint in hints.items()
    }
    return [name for name in checks if name not in kind._field_defaults], checks


def record_of(event: Event) -> Record:
    """Return what an event holds."""
    kind, body = _KINDS.get(event.kind), event.body
    if kind is None:
        rule = (
            f"event {event.number} is of the unknown kind {event.kind!r}; a newer "
            "version wrote it, or it is damaged"
        )
        remedy = f"update bayesduel, or {_SEE}"
        raise StudyError("study", rule, event.kind, remedy=remedy)
    required, checks = _schema(kind)
    for name in required:
        if name not in body:
            raise broken(event.number, f"it has no {name}")
    for name, value in body.items():
        if name in checks and not checks[name](value):
            raise broken(event.number, f"its {name} is {short(value)}")
    return kind(*map(body.get, kind._fields))  # pyright: ignore[reportArgumentType]


def check_names(event: Event) -> None:
    """Refuse fields that no version without checksums wrote."""
    kind = _KINDS.get(event.kind)
    for name in event.body if kind else ():
        if name not in kind._fields:  # pyright: ignore[reportOptionalMemberAccess]
            raise broken(event.number, f"it has an unknown field {short(name)}")
