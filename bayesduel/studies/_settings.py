"""What a study is made with: checked once, stored in its first event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from bayesduel.arguments.control_characters import refuse_control_characters
from bayesduel.errors import ArgumentError, StudyError, near_names
from bayesduel.models.base import PreferenceModel
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.linear_utilities import LinearUtilities
from bayesduel.models.multinomial_logit import MultinomialLogit
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.models.thurstone import Thurstone
from bayesduel.studies.terms import Judging, Spending, body_of, checked_stops
from bayesduel.votes.checks import arm_names_of, composed
from theory.arguments import (
    integer_from,
    number_that,
    seed_of,
    share_of,
    short_repr,
    true_or_false,
    width_of,
)

__all__ = ["MODELS", "RULES", "Settings", "checked_name"]

RULES = ("information", "balanced")
"""Ways to ask that are no policies: they learn, and exploit nothing."""

SET_RULES = ("d-ts", "logit-ts", "balanced")
"""Ways to ask for sets; see :class:`bayesduel.studies._set_rules.SetRule`."""

MOST_SHOWN = 9
"""Arms at once: a key for each."""

MODELS: dict[str, type[PreferenceModel]] = {
    "beta": PairwiseBeta,
    "bradley-terry": BradleyTerry,
    "thurstone": Thurstone,
    "linear": LinearUtilities,
    "multinomial-logit": MultinomialLogit,
}
"""What may be assumed of the votes, by name."""

MOST_ARMS = 4096
"""Tables of all pairs are kept."""

_MOST_CONTEXTS, _LONGEST_CONTEXT = 10**4, 50_000

_MOST_SECONDS = 10.0**9

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
"""What the first event of a file may lack."""


@dataclass(frozen=True)
class Settings:
    """What was asked for when the study was made; see ``Study.create``."""

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

    @classmethod
    def checked(
        cls,
        arms: Iterable[str],
        policy: str | None,
        model: str | PreferenceModel | None,
        delta: float,
        width: float,
        budget: int | None,
        seed: int,
        floor: int,
        lease: float,
        blocked: Iterable[tuple[str, str]],
        judging: Judging | None = None,
        spending: Spending | None = None,
        stop_when: Iterable[str] = (),
        contexts: Iterable[str] = (),
        choose_from: int = 2,
        worst: bool = False,
        *,
        is_new: bool = False,
    ) -> Self:
        """Check everything but the policy, which needs JAX to be known.

        What ``is_new`` has no control characters; older files may hold some.
        """
        names = _checked_names(arms, "arms", is_new=is_new)
        if len(names) > MOST_ARMS:
            rule = f"must be at most {MOST_ARMS}"
            raise StudyError("arms", rule, len(names))
        most = min(MOST_SHOWN, len(names))
        shown = integer_from(choose_from, 2, "choose_from", most, kind=StudyError)
        if policy is None:
            policy = "d-ts+" if shown == 2 else SET_RULES[0]
        if model is None:
            model = "beta" if shown == 2 else "multinomial-logit"
        if not isinstance(policy, str):
            rule = "must be the name of a policy, such as 'd-ts+'"
            raise StudyError("policy", rule, policy)

        def is_time(value: float) -> bool:
            return 0.0 < value <= _MOST_SECONDS

        if budget is not None:
            budget = integer_from(budget, 1, "budget", kind=StudyError)
        seconds = f"a number of seconds above 0, at most {_MOST_SECONDS:g}"
        found = cls(
            arms=names,
            policy=policy,
            model=_checked_model(model, len(names)),
            delta=share_of(delta, "delta", kind=StudyError),
            width=width_of(width, "width", kind=StudyError),
            budget=budget,
            seed=seed_of(seed, "seed", kind=StudyError),
            floor=integer_from(floor, 0, "floor", 10**6, kind=StudyError),
            lease=number_that(lease, "lease", seconds, is_time, kind=StudyError),
            blocked=_checked_pairs(blocked, names),
            judging=_terms("judging", judging, Judging),
            spending=_checked_spending(spending, names),
            stop_when=checked_stops(stop_when),
            contexts=_checked_contexts(contexts, is_new=is_new),
            choose_from=shown,
            worst=true_or_false(worst, "worst", kind=StudyError),
        )
        found._check_sets()
        return found

    def _check_sets(self) -> None:
        """Refuse what means nothing for the number of arms that are shown."""
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

    def check_of_pairs(self, what: str, *, unless: bool = False) -> None:
        """Refuse something that needs two arms at a time."""
        if self.choose_from > 2 and not unless:
            why, remedy = _OF_PAIRS[what]
            rule = "for studies of pairs alone, and this one shows sets of "
            rule += f"{self.choose_from}: {why}"
            raise StudyError(what, rule, self.choose_from, remedy=remedy)

    def as_body(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        title = next(name for name in MODELS if MODELS[name] is type(self.model))
        default = MODELS[title]()
        changed = {
            name: value
            for name, value in asdict(self.model).items()  # pyright: ignore
            if value != getattr(default, name)
        }
        for name in ("judging", "spending"):
            found[name] = body_of(found[name])
        if self.choose_from == 2:
            del found["choose_from"]
        # What no older version knows is left out where nothing is said of it.
        found = {
            name: each for name, each in found.items() if name not in _LATER or each
        }
        return found | {"model": {"name": title, **changed}}

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """Return the settings that an event holds."""
        known = {
            each.name: body[each.name]
            for each in fields(cls)
            if each.name in body or each.name not in _LATER
        }
        known["judging"] = Judging(**body.get("judging", {}))
        known["spending"] = Spending(**body.get("spending", {}))
        model = dict(body["model"])
        kind = MODELS[model.pop("name")]
        known["model"] = kind(**{name: _frozen(each) for name, each in model.items()})
        return cls.checked(**known)


def _terms[T: (Judging, Spending)](argument: str, given: T | None, kind: type[T]) -> T:
    if given is None:
        return kind()
    if not isinstance(given, kind):
        rule = f"must be a {kind.__name__}(...), or None"
        raise StudyError(argument, rule, given)
    return given


def _checked_spending(given: Spending | None, names: tuple[str, ...]) -> Spending:
    found = _terms("spending", given, Spending)
    for name, _ in found.arm_prices:
        checked_arm(name, names, "arm_prices")
    return found


def _checked_contexts(contexts: Any, *, is_new: bool) -> tuple[str, ...]:
    if isinstance(contexts, str) or not isinstance(contexts, Iterable):
        rule = "must be a sequence of texts"
        raise StudyError("contexts", rule, contexts)
    given, seen = list(contexts), set()
    for place, each in enumerate(given):
        if is_new:
            refuse_control_characters(
                each, "contexts", StudyError, index=place, lines=True
            )
        is_text = isinstance(each, str) and 0 < len(each) <= _LONGEST_CONTEXT
        if not is_text or each in seen:
            rule = f"must be a text of at most {_LONGEST_CONTEXT} characters, each once"
            raise StudyError("contexts", rule, each, index=place)
        seen.add(each)
    if len(given) > _MOST_CONTEXTS:
        rule = f"must be at most {_MOST_CONTEXTS}"
        raise StudyError("contexts", rule, len(given))
    return tuple(given)


def checked_name(name: Any, taken: Iterable[str], argument: str = "name") -> str:
    """Return the name of another arm."""
    known = list(taken)
    # Alone it is too few, and whatever stands beside it may be its name.
    refuse_control_characters(composed(name), argument, StudyError)
    found = _checked_names([name, f"{name} and another"], argument)[0]
    if found in known:
        rule, remedy = "must be new", "retired arms keep their names"
        raise StudyError(argument, rule, name, remedy=remedy)
    return found


def _checked_names(
    names: Iterable[Any], argument: str, *, is_new: bool = False
) -> tuple[str, ...]:
    if is_new and isinstance(names, Iterable):
        names = [*names]
        for place, name in enumerate(names):
            refuse_control_characters(composed(name), argument, StudyError, index=place)
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


def _checked_model(model: Any, num_arms: int) -> PreferenceModel:
    if isinstance(model, str) and model in MODELS:
        model = MODELS[model]()
    if not isinstance(model, PreferenceModel) or type(model) not in MODELS.values():
        # The last one is of sets, and taken for them by itself.
        rule = f"must be one of {', '.join(MODELS)}, or a model such as BradleyTerry()"
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
    found = []
    for index, pair in enumerate(pairs):
        both = tuple(pair) if isinstance(pair, tuple | list) else ()
        if len(both) != 2 or both[0] == both[1]:
            rule = "must be two different arms"
            raise StudyError("blocked", rule, pair, index=index)
        for name in both:
            checked_arm(name, names, "blocked")
        found.append((both[0], both[1]))
    return tuple(found)


def _frozen(value: Any) -> Any:
    """Return lists as tuples, as the fields of models are."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
