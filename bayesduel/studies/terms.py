"""What is agreed with judges, and what they may cost: checked once, kept for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bayesduel.errors import StudyError
from theory.arguments import integer_from, number_that, one_of

__all__ = ["STOPS", "Judging", "Spending", "body_of", "checked_price", "checked_stops"]

STOPS = ("anytime", "posterior", "judges")
"""Rules that may end the asking."""

_ORDERS = ("tie", "nothing")
_MOST = 1e12
"""Of seconds, and of money."""


@dataclass(frozen=True)
class Judging:
    """How judges are asked and checked.

    Parameters
    ----------
    both_orders : {"tie", "nothing"}, optional
        Ask every question of the same judge in both orders, and count the two answers
        as one vote. It says what two answers are that contradict each other: a tie, or
        no vote, which uses up the budget of votes all the same.
    gold_share : float
        Share of the questions of each judge whose answer is known, in [0, 1).
    gold_threshold : float
        Share of them that must be answered rightly, in [0, 1]; judges below it are set
        aside: their answers are kept, but are no votes.
    gold_least : int
        Answers to gold questions before a judge is set aside.
    quickest : float
        Seconds; answers that took less are counted as too fast to have read the
        question. They stay votes.

    Raises
    ------
    StudyError
        If a value is out of its range.

    Examples
    --------
    >>> Judging(both_orders="tie").gold_share
    0.1
    """

    both_orders: str | None = None
    gold_share: float = 0.1
    gold_threshold: float = 0.7
    gold_least: int = 5
    quickest: float = 1.0

    def __post_init__(self) -> None:
        """Check the values."""
        if self.both_orders is not None:
            one_of(self.both_orders, _ORDERS, "both_orders", kind=StudyError)
        _keep(self, "gold_share", "in [0, 1)", lambda share: 0 <= share < 1)
        _keep(self, "gold_threshold", "in [0, 1]", lambda share: 0 <= share <= 1)
        integer_from(self.gold_least, 1, "gold_least", kind=StudyError)
        rule = "a number of seconds of at least 0"
        _keep(self, "quickest", rule, lambda seconds: 0 <= seconds <= _MOST)


@dataclass(frozen=True)
class Spending:
    """What answers cost, and how much may be spent.

    An answer is paid when it is first told, to a gold question as well, by the judge's
    own price or ``price``, and the prices of the two arms that are shown. What is
    undone, withdrawn or skipped was paid. No question is asked whose answer would cost
    more than is left; a late answer to a question that was asked anew is paid, too.

    Parameters
    ----------
    cost : float, optional
        That may be spent, above 0, in whatever unit the prices have.
    price : float
        Of an answer, at least 0.
    arm_prices : mapping of str to float
        What showing an arm costs, by its name; 0 for all others.

    Raises
    ------
    StudyError
        If a value is out of its range.

    Examples
    --------
    >>> Spending(cost=20, price=0.02, arm_prices={"large": 0.1}).arm_prices
    (('large', 0.1),)
    """

    cost: float | None = None
    price: float = 0.0
    arm_prices: Mapping[str, float] | tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        if self.cost is not None:
            rule = f"a number above 0, at most {_MOST:g}"
            _keep(self, "cost", rule, lambda cost: 0 < cost <= _MOST)
        object.__setattr__(self, "price", checked_price(self.price, "price"))
        object.__setattr__(self, "arm_prices", _checked_prices(self.arm_prices))


def body_of(terms: Judging | Spending) -> dict[str, Any]:
    """Return what of terms differs from the usual ones, as plain values."""
    usual = asdict(type(terms)())
    return {name: each for name, each in asdict(terms).items() if each != usual[name]}


def checked_price(value: Any, argument: str) -> float:
    """Return a price."""

    def is_price(price: float) -> bool:
        return 0.0 <= price <= _MOST

    rule = f"a number from 0 to {_MOST:g}"
    return number_that(value, argument, rule, is_price, kind=StudyError)


def checked_stops(rules: Any) -> tuple[str, ...]:
    """Return the rules that end the asking together."""
    if isinstance(rules, str) or not isinstance(rules, Iterable):
        rule = f"must be a sequence of some of {', '.join(STOPS)}"
        raise StudyError("stop_when", rule, rules)
    found = tuple(rules)
    for place, each in enumerate(found):
        if each not in STOPS or each in found[:place]:
            rule = f"must be one of {', '.join(STOPS)}, each once"
            raise StudyError("stop_when", rule, each, index=place)
    return found


def _checked_prices(prices: Any) -> tuple[tuple[str, float], ...]:
    try:
        pairs = dict(prices)
    except (TypeError, ValueError) as error:
        rule = "must map names of arms to prices"
        raise StudyError("arm_prices", rule, prices) from error
    for name in pairs:
        if not isinstance(name, str):
            raise StudyError("arm_prices", "must be by names of arms", name)
    return tuple(
        (name, checked_price(each, f"arm_prices[{name!r}]"))
        for name, each in pairs.items()
    )


def _keep(
    terms: Judging | Spending, name: str, rule: str, fits: Callable[[float], bool]
) -> None:
    """Keep a value as a number for which the rule holds."""
    found = number_that(getattr(terms, name), name, rule, fits, kind=StudyError)
    object.__setattr__(terms, name, found)
