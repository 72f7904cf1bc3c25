"""Settings of a study: checked once, stored in its first event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, asdict, dataclass, fields
from typing import Any, Self

from bayesduel.arguments.control_characters import refuse_control_characters
from bayesduel.errors import ArgumentError, StudyError, near_names
from bayesduel.models.base import PreferenceModel
from bayesduel.models.catalog import kind_of, word_of, words
from bayesduel.models.linear_utilities import LinearUtilities
from bayesduel.models.multinomial_logit import MultinomialLogit
from bayesduel.votes.checks import arm_names_of, composed
from theory.arguments import (
    integer_from,
    number_that,
    one_of,
    seed_of,
    share_of,
    short_repr,
    true_or_false,
    width_of,
)

RULES = ("information", "balanced")
"""Ways to ask for pairs that are no policies: they learn, and exploit nothing."""

SET_RULES = ("d-ts", "logit-ts", "balanced")  # Ways to ask for sets.
STOPS = ("anytime", "posterior", "judges")  # Rules that may end the asking.
MOST_ARMS = 4096  # Tables of all pairs are kept.
MOST_SHOWN = 9  # Arms at once: a key for each.
LEASE = 3600.0  # Seconds.

_MOST_CONTEXTS, _LONGEST_CONTEXT = 10**4, 50_000
_LONGEST_LEASE = 10.0**9
_MOST = 1e12  # Largest number of seconds, and largest amount of money.

_OF_PAIRS = {
    "anytime": ("its bets are on single pairs", "stop by 'posterior' or 'judges'"),
    "both_orders": (
        "no second order puts each of more than two arms in every place",
        "leave it out: cards are dealt in random order, and status says how often a "
        "judge chose each of them",
    ),
    "comparisons": ("its votes are choices", "take choices()"),
    "forecast": (
        "no compiled rule asks for sets and looks at the posterior after each vote",
        "give budget, or look at status() as votes come in",
    ),
    "audit_stopping": (
        "the rules that it measures look at pairs",
        "look at status(), or simulate with bayesduel.compare",
    ),
    "merge_arms": ("a set may have shown both", "retire one of them"),
}
"""Why it is for studies of pairs alone, and what to do instead."""

_LATER = ("judging", "spending", "stop_when", "contexts", "choose_from", "worst")
"""Fields that the first event of an older file may lack."""


def _number(value: Any, name: str, rule: str, fits: Callable[[float], bool]) -> float:
    return number_that(value, name, rule, fits, kind=StudyError)


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
            one_of(self.both_orders, ("tie", "nothing"), "both_orders", kind=StudyError)
        integer_from(self.gold_least, 1, "gold_least", kind=StudyError)
        for name, rule, fits in (
            ("gold_share", "in [0, 1)", lambda share: 0 <= share < 1),
            ("gold_threshold", "in [0, 1]", lambda share: 0 <= share <= 1),
            ("quickest", "a number of seconds of at least 0",
             lambda seconds: 0 <= seconds <= _MOST),
        ):  # fmt: skip
            self.__dict__[name] = _number(getattr(self, name), name, rule, fits)


@dataclass(frozen=True)
class Spending:
    """Costs of answers, and the budget.

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
        known = self.__dict__
        if self.cost is not None:
            rule = f"a number above 0, at most {_MOST:g}"
            known["cost"] = _number(self.cost, "cost", rule, lambda x: 0 < x <= _MOST)
        known["price"] = checked_price(self.price, "price")
        try:
            prices = dict(self.arm_prices)
        except (TypeError, ValueError) as error:
            rule = "must map names of arms to prices"
            raise StudyError("arm_prices", rule, self.arm_prices) from error
        for name in prices:
            if not isinstance(name, str):
                raise StudyError("arm_prices", "must be by names of arms", name)
        known["arm_prices"] = tuple(
            (name, checked_price(price, f"arm_prices[{name!r}]"))
            for name, price in prices.items()
        )


def checked_price(value: Any, argument: str) -> float:
    """Return a price."""
    rule = f"a number from 0 to {_MOST:g}"
    return _number(value, argument, rule, lambda price: 0.0 <= price <= _MOST)


@dataclass(frozen=True)
class Settings:
    """The settings of a study, checked; see ``Study.create``."""

    arms: tuple[str, ...]
    policy: str
    model: PreferenceModel
    delta: float
    width: float
    budget: int | None
    seed: int
    floor: int
    lease: float
    blocked: tuple[tuple[str, str], ...]
    judging: Judging = Judging()
    spending: Spending = Spending()
    stop_when: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    choose_from: int = 2
    worst: bool = False
    is_new: InitVar[bool] = False

    def __post_init__(self, is_new: bool) -> None:
        """Check the values, and put the defaults in their places."""
        known, error = self.__dict__, StudyError
        names = known["arms"] = _checked_names(self.arms, "arms", is_new=is_new)
        if len(names) > MOST_ARMS:
            raise StudyError("arms", f"must be at most {MOST_ARMS}", len(names))
        most = min(MOST_SHOWN, len(names))
        shown = integer_from(self.choose_from, 2, "choose_from", most, kind=error)
        if self.policy is None:
            known["policy"] = "d-ts+" if shown == 2 else SET_RULES[0]
        if self.model is None:
            known["model"] = "beta" if shown == 2 else "multinomial-logit"
        if not isinstance(self.policy, str):
            rule = "must be the name of a policy, such as 'd-ts+'"
            raise StudyError("policy", rule, self.policy)
        if self.budget is not None:
            known["budget"] = integer_from(self.budget, 1, "budget", kind=error)
        known["model"] = checked_model(self.model, len(names))
        known["delta"] = share_of(self.delta, "delta", kind=error)
        known["width"] = width_of(self.width, "width", kind=error)
        known["seed"] = seed_of(self.seed, "seed", kind=error)
        known["floor"] = integer_from(self.floor, 0, "floor", 10**6, kind=error)
        seconds = f"a number of seconds above 0, at most {_LONGEST_LEASE:g}"
        known["lease"] = _number(
            self.lease, "lease", seconds, lambda value: 0.0 < value <= _LONGEST_LEASE
        )
        known["blocked"] = _checked_pairs(self.blocked, names)
        for name, kind in (("judging", Judging), ("spending", Spending)):
            given = getattr(self, name)
            if given is not None and not isinstance(given, kind):
                rule = f"must be a {kind.__name__}(...), or None"
                raise StudyError(name, rule, given)
            known[name] = given or kind()
        for name, _ in known["spending"].arm_prices:
            checked_arm(name, names, "arm_prices")
        rule = f"must be one of {', '.join(STOPS)}, each once"
        known["stop_when"] = _checked_texts(
            "stop_when", self.stop_when, rule, STOPS.__contains__,
            f"must be a sequence of some of {', '.join(STOPS)}",
        )  # fmt: skip
        rule = f"must be a text of at most {_LONGEST_CONTEXT} characters, each once"
        known["contexts"] = _checked_texts(
            "contexts", self.contexts, rule,
            lambda text: 0 < len(text) <= _LONGEST_CONTEXT,
            "must be a sequence of texts", is_new=is_new,
        )  # fmt: skip
        if len(known["contexts"]) > _MOST_CONTEXTS:
            rule = f"must be at most {_MOST_CONTEXTS}"
            raise StudyError("contexts", rule, len(known["contexts"]))
        known["choose_from"] = shown
        known["worst"] = true_or_false(self.worst, "worst", kind=error)
        self._check_sets()

    def _check_sets(self) -> None:
        # Refuse what means nothing for the number of arms that are shown.
        is_logit = isinstance(self.model, MultinomialLogit)
        if self.choose_from == 2:
            if self.worst:
                rule = "must be False for pairs, whose worst is the other one"
                raise StudyError("worst", rule, True, remedy="give choose_from")
            if is_logit:
                rule, remedy = "must be one of pairs", "take BradleyTerry()"
                raise StudyError("model", rule, self.model, remedy=remedy)
            return
        if self.policy not in SET_RULES:
            rule = f"must be one of {', '.join(SET_RULES)} where sets are shown"
            raise StudyError("policy", rule, self.policy)
        if not is_logit:
            rule = "must be MultinomialLogit(...) where sets are shown"
            raise StudyError("model", rule, self.model, remedy="leave it out")
        for name in ("floor", "width", "blocked"):
            if getattr(self, name):
                rule = "must be left out where sets are shown"
                raise StudyError(name, rule, getattr(self, name))
        self.check_of_pairs("anytime", unless="anytime" not in self.stop_when)
        self.check_of_pairs("both_orders", unless=self.judging.both_orders is None)

    @property
    def num_orders(self) -> int:
        """How many questions become one vote."""
        return 1 if self.judging.both_orders is None else 2

    def check_of_pairs(self, what: str, *, unless: bool = False) -> None:
        """Refuse something that needs two arms at a time."""
        if self.choose_from > 2 and not unless:
            why, remedy = _OF_PAIRS[what]
            rule = "for studies of pairs alone, and this one shows sets of "
            rule += f"{self.choose_from}: {why}"
            raise StudyError(what, rule, self.choose_from, remedy=remedy)

    def as_body(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        body = {field.name: getattr(self, field.name) for field in fields(self)}
        title = word_of(type(self.model))
        for name, usual in (
            ("model", type(self.model)()),
            ("judging", Judging()),
            ("spending", Spending()),
        ):
            body[name] = {
                key: value
                for key, value in asdict(body[name]).items()
                if value != getattr(usual, key)
            }
        body["model"] = {"name": title, **body["model"]}
        if self.choose_from == 2:
            del body["choose_from"]
        # Settings that older versions do not know are left out if they are empty.
        return {
            name: value for name, value in body.items() if name not in _LATER or value
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """Return the settings that an event holds."""
        known = {
            field.name: body[field.name]
            for field in fields(cls)
            if field.name in body or field.name not in _LATER
        }
        known["judging"] = Judging(**body.get("judging", {}))
        known["spending"] = Spending(**body.get("spending", {}))
        model = dict(body["model"])
        kind = kind_of(model.pop("name"))
        known["model"] = kind(**{name: _frozen(value) for name, value in model.items()})
        return cls(**known)


def _checked_texts(
    name: str, given: Any, rule: str, fits: Any, whole: str, *, is_new: bool = False
) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise StudyError(name, whole, given)
    texts: dict[str, None] = {}
    for index, text in enumerate(given):
        if is_new:
            refuse_control_characters(text, name, StudyError, index=index, lines=True)
        if not isinstance(text, str) or text in texts or not fits(text):
            raise StudyError(name, rule, text, index=index)
        texts[text] = None
    return tuple(texts)


def checked_name(name: Any, taken: Iterable[str], argument: str = "name") -> str:
    """Return the name of another arm."""
    # Alone it is too few, and whatever stands beside it may be its name.
    refuse_control_characters(composed(name), argument, StudyError)
    checked = _checked_names([name, f"{name} and another"], argument)[0]
    if checked in taken:
        rule, remedy = "must be new", "retired arms keep their names"
        raise StudyError(argument, rule, name, remedy=remedy)
    return checked


def _checked_names(
    names: Iterable[Any], argument: str, *, is_new: bool = False
) -> tuple[str, ...]:
    if is_new and isinstance(names, Iterable):
        names = [*names]
        for index, name in enumerate(names):
            refuse_control_characters(composed(name), argument, StudyError, index=index)
    try:
        return arm_names_of(names, None)
    except ArgumentError as error:
        raise error.renamed(argument, error.index).as_kind(StudyError) from error


def checked_arm(name: Any, known: Iterable[str], argument: str = "name") -> int:
    """Return the position of an arm by its name."""
    names = list(known)
    if name not in names:
        rule = "must be an arm of the study"
        near = near_names(str(name), names).removesuffix(" ")
        remedy = near or f"name one of {short_repr(names)}, or add it first"
        raise StudyError(argument, rule, name, remedy=remedy)
    return names.index(name)


def checked_model(model: Any, num_arms: int) -> PreferenceModel:
    """Return a model, perhaps by its name, for votes on so many arms."""
    if isinstance(model, str) and model in words():
        model = kind_of(model)()
    if not isinstance(model, PreferenceModel) or not word_of(type(model)):
        # Those of sets are taken for them by themselves.
        rule = f"must be one of {', '.join(words())}, or a model such as BradleyTerry()"
        raise StudyError("model", rule, model)
    if getattr(model, "contest_covariates", False):
        rule, remedy = "must be without covariates of the contest", "answers carry none"
        raise StudyError("model", rule, model, remedy=remedy)
    if getattr(model, "order_effect", False):
        rule, remedy = "must be without order effect", "the order shown is balanced"
        raise StudyError("model", rule, model, remedy=remedy)
    if isinstance(model, LinearUtilities) and len(model.features or ()) != num_arms:
        rule = f"must have features of each of the {num_arms} arms"
        remedy = "take LinearUtilities(features), with a row per arm in their order"
        raise StudyError("model", rule, model, remedy=remedy)
    return model


def _checked_pairs(
    pairs: Iterable[tuple[str, str]], names: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    checked = []
    for index, pair in enumerate(pairs):
        both = tuple(pair) if isinstance(pair, tuple | list) else ()
        if len(both) != 2 or both[0] == both[1]:
            rule = "must be two different arms"
            raise StudyError("blocked", rule, pair, index=index)
        for name in both:
            checked_arm(name, names, "blocked")
        checked.append((both[0], both[1]))
    return tuple(checked)


def _frozen(value: Any) -> Any:
    # Lists as tuples, as the fields of models are.
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
