"""The questions of a study: asked, open, and what the policy waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bayesduel.studies._settings import Settings

__all__ = ["PolicyEvent", "Question", "Questions", "Request"]


@dataclass(slots=True)
class Question:
    """A question that was asked, and what became of it."""

    number: int
    left: int
    right: int
    judge: str | None
    context: Any
    rule: str
    reason: str
    asked: float
    """On the clock of the study."""

    lease: float
    request: int | None = None
    """Number of the event by which the policy asked for this vote."""

    replaces: int | None = None
    replaced: bool = False
    answer: str | None = None
    first_answer: str | None = None
    """What was told first, and perhaps undone."""

    withdrawn: bool = False
    beyond: bool = False
    """Whether the budget was spent when the answer came: it is kept, but no vote."""

    answered_by: str | None = None


@dataclass(slots=True)
class Request:
    """A duel that the policy asked for, of one vote or more."""

    number: int
    duel: dict[str, Any]
    first: int
    second: int
    issued: int = 0
    resolved: int = 0
    votes: int = 0
    wins: int = 0
    """Of ``first``."""


class PolicyEvent(NamedTuple):
    """What the policy has to go through, in this order.

    With ``duel`` None it is asked, as ``program`` asked it.
    """

    number: int
    duel: dict[str, Any] | None
    first: int = 0
    second: int = 0
    votes: int = 0
    wins: int = 0
    asked_for: bool = True
    program: str | None = None


@dataclass
class Questions:
    """What an event can refer to: arms, questions, and duels of the policy."""

    settings: Settings
    arms: list[str] = field(default_factory=list)
    is_retired: list[bool] = field(default_factory=list)
    questions: dict[int, Question] = field(default_factory=dict)
    open: dict[int, Question] = field(default_factory=dict)
    """Not answered, withdrawn or asked anew."""

    requests: dict[int, Request] = field(default_factory=dict)
    """Of the policy, that wait for votes."""
