"""Finding a policy: by name, by text, by a class of one's own."""

from dataclasses import fields, replace
from importlib import import_module
from typing import Any

from bayesduel.arguments.named_objects import (
    NamedKind,
    as_kind,
    default_object,
    is_own_name,
    read_parameters,
    refuse_parameter,
    usual_value,
    word_of,
)
from bayesduel.errors import PolicyParameterError, UnknownNameError, near_and_all
from bayesduel.models.in_policies.names import (
    field_default,
    is_posterior,
    numbers_named,
    numbers_of,
    with_numbers,
)
from bayesduel.policies.parameter_values import (
    check_policy,
    parameters,
    parameters_json,
)
from bayesduel.policies.policy import PolicyBase
from bayesduel.policies.policy_around import DelayedFeedback, WithoutSelfDuels
from bayesduel.policies.registry import entry, modules, registered_names
from bayesduel.policies.subset_base import OfferingPolicy
from theory.arguments import short_repr

_POLICIES = NamedKind(
    "policy", PolicyBase, PolicyParameterError, "d-ts:alpha=0.6,prior=2"
)


# Names that are not in the registry: of policies around any of those in it. By the
# names of their modules, which look up the policy inside here.
AROUND = {"mdb": ("bayesduel.policies.change.monitored_dueling", "MonitoredDueling")}


def names() -> tuple[str, ...]:
    """Return the names of all policies of dueling bandits.

    Examples
    --------
    >>> from bayesduel import policies
    >>> "d-ts" in policies.names()
    True
    """
    return tuple(name for name in registered_names() if not _offers_subsets(name))


def subset_names() -> tuple[str, ...]:
    """Return the names of all policies that offer subsets.

    Examples
    --------
    >>> from bayesduel import policies
    >>> "ucb-no-order" in policies.subset_names()
    True
    """
    return tuple(filter(_offers_subsets, registered_names()))


def _offers_subsets(name: str) -> bool:
    """Say so of a policy; one of ours need not be imported for that."""
    if name in modules():
        return modules()[name].startswith("bayesduel.policies.subsets.")
    return issubclass(entry(name).kind, OfferingPolicy)


def get(name: str, **parameters: Any) -> PolicyBase:
    """Return the policy called ``name``, with some of its parameters changed.

    Parameters
    ----------
    name : str
        One of :func:`names` or :func:`subset_names`.
    **parameters
        Fields of the policy; the others keep their defaults. A policy of dueling
        bandits takes two more parameters. With ``every=n`` it is told the outcomes only
        every n rounds (:class:`DelayedFeedback`). ``self_duels=False`` leaves out duels
        of an arm with itself (:class:`WithoutSelfDuels`).

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message suggests similar names.
    PolicyParameterError
        For a parameter that the policy does not have, or a value of the wrong kind.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rucb", alpha=1.0)
    RelativeUCB(alpha=1.0, look_ahead=True)
    >>> policies.get("rucb", every=100).label
    'RUCB, told every 100 rounds'
    """
    return _changed(name, _default(name, "name", name), parameters)


def _default(name: Any, argument: str, given: Any) -> PolicyBase:
    """Return a registered policy as it is by default; ``argument`` gave its name."""
    known = registered_names()
    if isinstance(name, str) and name in AROUND:
        module, kind = AROUND[name]
        return getattr(import_module(module), kind)()
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(
            argument,
            f"there is no policy {short_repr(name)}",
            given,
            remedy=f"{near_and_all(name, known)}; one of your own is module:Class",
        )
    return entry(name).default


def _changed(name: str, default: PolicyBase, parameters: dict[str, Any]) -> PolicyBase:
    """Return ``default`` with other parameters, those around a policy included."""
    known = {field.name for field in fields(default)}  # pyright: ignore
    takes_features, every = not isinstance(default, OfferingPolicy), None
    if takes_features and "every" in parameters and "every" not in known:
        every = _as_kind(name, "every", parameters.pop("every"), 1)
    self_duels = True
    if takes_features and "self_duels" in parameters and "self_duels" not in known:
        self_duels = _as_kind(name, "self_duels", parameters.pop("self_duels"), True)
    numbers = {
        parameter: _as_kind(name, parameter, value, usual_value(default, parameter))
        for parameter, value in parameters.items()
        if parameter in known
    }
    policy = replace(default, **numbers)  # pyright: ignore[reportArgumentType]
    rest = {key: value for key, value in parameters.items() if key not in known}
    policy = _with_posterior(name, policy, rest)
    if not self_duels:
        policy = WithoutSelfDuels(policy)
    return policy if every is None else DelayedFeedback(policy, every)


def _with_posterior(
    name: str, policy: PolicyBase, parameters: dict[str, Any]
) -> PolicyBase:
    """Change the fields of the posteriors of a policy, which count as its own."""
    known = set(vars(policy))
    for holder, value in vars(policy).items():
        if not is_posterior(value):
            continue
        numbers = numbers_of(value)
        known |= set(numbers)
        own_numbers = {key: parameters[key] for key in parameters if key in numbers}
        parameters = {
            key: parameters[key] for key in parameters if key not in own_numbers
        }
        if own_numbers:
            changed = with_numbers(value, own_numbers)
            policy = replace(policy, **{holder: changed})  # pyright: ignore
    for parameter, value in parameters.items():
        refuse_parameter(name, parameter, value, known, PolicyParameterError)
    return policy


def parse_policy(text: str) -> PolicyBase:
    """Read a policy with parameters, as the command line writes it.

    Parameters
    ----------
    text : str
        ``name`` or ``name:parameter=value,parameter=value``. A policy of one's own is
        named ``module:Class`` or ``module:Class:parameter=value``.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.parse_policy("d-ts:alpha=0.6,look_ahead=false").alpha
    0.6
    >>> policies.parse_policy("ecw-rmed:every=300").label
    'ECW-RMED, told every 300 rounds'
    """
    if not isinstance(text, str):
        rule = "must be the name of a policy, a text"
        raise UnknownNameError("text", rule, text, remedy="such as 'd-ts'")
    name, _, rest = text.strip().partition(":")
    name = name.strip().lower()
    known = registered_names()
    if name not in (*known, *AROUND) and is_own_name(text):
        default, rest = default_object(text, _POLICIES)
        parameters = _parameters(text, rest, default)
        return _changed(type(default).__name__, default, parameters)
    default = _default(name, "text", text)
    return _changed(name, default, _parameters(text, rest, default))


def _parameters(text: str, rest: str, default: PolicyBase) -> dict[str, Any]:
    def word(parameter: str, value: str) -> str | None:
        known = getattr(default, parameter, None)  # A word stays one, even "inf".
        is_word = isinstance(known, str) or is_posterior(known)
        return value.lower() if is_word else None

    return read_parameters(text, rest, _POLICIES, word)


def policy_text(policy: PolicyBase) -> str:
    """Return the text that :func:`parse_policy` reads as the same policy."""
    inner, around = check_policy(policy), {}
    if isinstance(inner, DelayedFeedback):
        inner, around["every"] = inner.policy, inner.every
    if isinstance(inner, WithoutSelfDuels):
        inner, around["self_duels"] = inner.policy, False
    kind = type(inner)
    ours = kind.__module__.partition(".")[0] == "bayesduel"
    text = inner.name if ours else f"{kind.__module__}:{kind.__qualname__}"
    try:
        # Words first: which numbers a posterior has depends on its name.
        text = _with_changes(text, inner, words=True)
        text = _with_changes(text, inner, words=False)
        text = _extended(text, around)
        # A script is another module in the process that reads this.
        same = kind.__module__ != "__main__" and _same(parse_policy(text), policy)
    except ValueError:
        same = False
    if not same:
        raise PolicyParameterError(
            "policy",
            f"no text names the policy {policy.label}",
            policy,
            remedy="make it by name, as policies.parse_policy does, from numbers and "
            "words; a "
            "policy of your own needs a module and a default for each parameter",
        )
    return text


def _with_changes(text: str, policy: PolicyBase, *, words: bool) -> str:
    """Add the parameters in which a policy differs from what a text stands for."""
    usual = settable(parse_policy(text))
    changes = {
        name: value
        for name, value in settable(policy).items()
        if isinstance(value, str) == words and usual.get(name) != value
    }
    return _extended(text, changes)


def _extended(text: str, changes: dict[str, Any]) -> str:
    words = [f"{name}={word_of(value)}" for name, value in changes.items()]
    if not words:
        return text
    return f"{text}{',' if '=' in text else ':'}{','.join(words)}"


def _same(first: PolicyBase, second: PolicyBase) -> bool:
    """Say whether results of two policies are of one kind."""
    kinds = type(first) is type(second) and first.label == second.label
    return kinds and parameters_json(first) == parameters_json(second)


def settable(policy: PolicyBase) -> dict[str, Any]:
    """Return what can be set by name, the parameters of a posterior among it."""
    settings = parameters(policy)
    for name, value in vars(policy).items():
        if is_posterior(value):
            settings |= {name: value.name, **numbers_of(value)}
    if settings.get("compiled") == getattr(type(policy), "compiled", None):
        settings.pop("compiled", None)
    return settings


def usual_parameters(name: str) -> dict[str, Any]:
    """Return :func:`settable` of a registered policy, without importing JAX."""
    entered = entry(name)
    given = {field.name: field_default(field) for field in fields(entered.kind)}
    given |= entered.parameters
    word = given.get("posterior")
    if not isinstance(word, str):
        return settable(entered.default)
    given.pop("compiled", None)
    return given | numbers_named(word)


def name_of(policy: PolicyBase) -> str:
    """Return the registered name that fits ``policy`` best, or its class's name.

    Among forms of one class, the one that shares the most parameters.
    """
    return check_policy(policy).name


def label_of(policy: PolicyBase) -> str:
    """Return the acronym, with the parameters that are not the default ones.

    Of a policy that is not registered, its title with them.
    """
    return check_policy(policy).label


def _as_kind(policy: str, parameter: str, value: Any, default: Any) -> Any:
    """Check ``value`` against the kind of the default; ints become floats."""
    if is_posterior(default) and (isinstance(value, str) or is_posterior(value)):
        # By its name too; which others a policy takes, it checks itself.
        return default if value == default.name else value
    return as_kind(policy, parameter, value, default, PolicyParameterError)
