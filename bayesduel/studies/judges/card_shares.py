"""How often a judge chose each card of a set: whether they prefer a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bayesduel.ops.shares import share_interval
from bayesduel.studies.replay.questions import Question
from bayesduel.studies.stored.events import named_places

__all__ = ["CardShare", "card_shares", "card_words"]

_ERROR = 0.05
"""Of all intervals of a judge together."""


@dataclass(frozen=True)
class CardShare:
    """How often a judge named the arm on one card.

    Attributes
    ----------
    chosen : int
    share, lower, upper : float or None
        Of the answers that named a card, with its exact interval (Clopper and Pearson);
        the intervals of all cards hold together with probability 95 % (Bonferroni).
        Cards are dealt in random order, so that a judge without a preference for a
        place has 1/k. None without an answer.
    """

    chosen: int
    share: float | None
    lower: float | None
    upper: float | None


def card_shares(
    answered: Iterable[Question], size: int, *, worst: bool = False
) -> tuple[CardShare, ...]:
    """Return how often each card was named the best, or the worst; () of pairs."""
    if size == 2:
        return ()
    named = [named_places(each.answer or "skip") for each in answered]
    counts = Counter(places[-1 if worst else 0] for places in named if places)
    number = counts.total()
    found = []
    for card in range(size):
        chosen = counts[card]
        low = high = share = None
        if number:
            share = chosen / number
            low, high = share_interval(chosen, number, 1.0 - _ERROR / size)
        found.append(CardShare(chosen, share, low, high))
    return tuple(found)


def card_words(name: str, shares: tuple[CardShare, ...], what: str) -> list[str]:
    """Say which cards a judge prefers or avoids: their intervals do not hold 1/k."""
    number = sum(each.chosen for each in shares)
    even = 1.0 / max(1, len(shares))
    return [
        f"{name} names card {card} the {what} in {each.share:.0%} of {number} answers "
        f"({each.lower:.0%} to {each.upper:.0%}), where {even:.0%} would be even"
        for card, each in enumerate(shares, 1)
        if each.lower is not None
        and each.upper is not None
        and not each.lower <= even <= each.upper
    ]
