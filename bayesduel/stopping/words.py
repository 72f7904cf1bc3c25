"""Rules for stopping as they are typed: ``anytime:delta=0.05|budget:duels=10000``."""

from dataclasses import fields
from functools import cache

from bayesduel import stopping
from bayesduel.arguments.literals import literal
from bayesduel.errors import StoppingRuleError, near_names
from bayesduel.stopping.base import FirstOf, StoppingRule


@cache
def rules() -> dict[str, type[StoppingRule]]:
    """Return the rules of the package by the words that are typed."""
    public = [getattr(stopping, name) for name in dir(stopping)]
    words = {getattr(rule, "word", ""): rule for rule in public}
    return {word: words[word] for word in sorted(words) if word}


def parse_rule(text: str) -> StoppingRule:
    """Read a rule: a name, its parameters, and others after ``|``.

    Parameters
    ----------
    text : str
        ``name:parameter=value,...``; of several rules, the first that stops decides.

    Returns
    -------
    StoppingRule

    Raises
    ------
    StoppingRuleError
        For an unknown rule or parameter, or a bad value.

    Examples
    --------
    >>> parse_rule("anytime:delta=0.05|budget:duels=1000")
    FirstOf(rules=(AnytimeEvidence(delta=0.05, width=0.0, prior=0.5, weight=None), \
Budget(duels=1000)))
    """
    whole, *others = (_one(part.strip()) for part in str(text).split("|"))
    for rule in others:
        whole = whole | rule
    return whole


def rule_text(rule: StoppingRule) -> str:
    """Return the text that :func:`parse_rule` reads as the same rule.

    Raises
    ------
    StoppingRuleError
        Where there is none, as for :class:`LookEvery` and rules of one's own.

    Examples
    --------
    >>> from bayesduel.stopping import AnytimeEvidence, Budget
    >>> rule_text(AnytimeEvidence(0.05) | Budget(1000))
    'anytime:delta=0.05|budget:duels=1000'
    """
    several = rule.rules if isinstance(rule, FirstOf) else (rule,)
    text = "|".join(_one_rule_text(part) for part in several)
    try:
        same = parse_rule(text) == rule
    except ValueError:
        same = False
    if not same:
        said = f"must be one of {', '.join(rules())}, or several of them joined by |"
        remedy = "give it in Python"
        raise StoppingRuleError("stopping", said, rule, remedy=remedy)
    return text


def _one_rule_text(rule: StoppingRule) -> str:
    if not rule.word:
        return ""
    changed = [
        f"{field.name}={getattr(rule, field.name)}"
        for field in fields(rule)  # pyright: ignore[reportArgumentType]
        if getattr(rule, field.name) != field.default
    ]
    return f"{rule.word}:{','.join(changed)}"


def _one(text: str) -> StoppingRule:
    name, _, rest = text.partition(":")
    if name not in rules():
        rule = f"must be one of {', '.join(rules())}"
        remedy = f"{near_names(name, rules())}write anytime:delta=0.05, for instance"
        raise StoppingRuleError("stopping", rule, name, remedy=remedy)
    known = {
        field.name: field.default
        for field in fields(rules()[name])  # pyright: ignore[reportArgumentType]
    }
    given = {}
    for setting in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in setting.partition("="))
        if key not in known or not equals:
            rule = f"has no parameter like that; {name} has {', '.join(known)}"
            raise StoppingRuleError("stopping", rule, setting)
        given[key] = literal(value)
    first = next(iter(known))
    if first not in given:
        rule = f"must give {first} of {name}"
        raise StoppingRuleError("stopping", rule, text, remedy=f"add {name}:{first}=")
    return rules()[name](**given)
