"""The parameters of a policy: checked before it plays, and as plain values."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.betas import BetaArms, BetaPairs
from bayesduel.models.in_policies.names import changed_numbers, is_posterior, numbers_of
from bayesduel.policies.policy import PolicyBase


def check_kinds(policy: PolicyBase) -> None:
    """Raise where a field of a policy of ours is of another kind than its default.

    Before anything else is asked of it: even its label compares fields with defaults.
    """
    if type(policy).__module__.split(".")[0] != "bayesduel":
        return
    for field in fields(policy):  # pyright: ignore[reportArgumentType]
        value, kind = getattr(policy, field.name), type(field.default)
        if field.name == "policy":
            check_policy(value)
            check_kinds(value)
        elif kind in _KINDS and not _is_of_kind(value, kind):
            name = f"{type(policy).__name__}: {field.name}"
            raise PolicyParameterError(name, f"must be {_KINDS[kind]}", value)


def check_policy(value: Any) -> Any:
    """Return ``value`` if it is a policy."""
    if not isinstance(value, PolicyBase) or not is_dataclass(value):
        rule = "must be a policy, such as policies.get('d-ts')"
        raise PolicyParameterError("policy", rule, value)
    return value


_KINDS = {
    bool: "true or false",
    float: "a number",
    int: "an integer below 2^63",
    str: "a word",
}


def _is_of_kind(value: Any, kind: type) -> bool:
    if kind is str:
        return isinstance(value, str)
    if getattr(value, "shape", None) == ():
        dtype = str(getattr(value, "dtype", ""))
        return dtype.startswith(_DTYPES[kind])
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if not isinstance(value, int | float):
        return False
    # An integer beyond 64 bits fits into no array.
    whole = isinstance(value, int) or value.is_integer()
    return kind is float or (whole and abs(value) < 2**63)


_DTYPES = {
    bool: ("bool",),
    int: ("int", "uint"),
    float: ("float", "int", "uint"),
}


def check_beta(posterior: Any, kind: type[BetaPairs | BetaArms], num_arms: int) -> None:
    """Raise unless ``posterior`` is a Beta per pair, or per arm, that fits."""
    if not isinstance(posterior, kind):
        one = "pair" if kind is BetaPairs else "arm"
        rule = (
            f"must be a Beta distribution per {one}, such as {kind.__name__}(prior=2)"
        )
        raise PolicyParameterError("posterior", rule, posterior)
    posterior.check(num_arms)


def parameters(policy: PolicyBase) -> dict[str, Any]:
    """Return the fields of a policy as plain Python values.

    A policy within a policy becomes a dictionary of its name and its fields.
    """
    check_policy(policy)
    values = {
        field.name: getattr(policy, field.name)
        for field in fields(policy)  # pyright: ignore[reportArgumentType]
    }
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, PolicyBase):
        return {"name": value.name, **parameters(value)}
    if is_posterior(value):
        return _plain_posterior(value)
    if callable(value):  # As of a model of one's own; its code is told by a digest.
        return getattr(value, "__qualname__", type(value).__qualname__)
    if hasattr(value, "__array__"):  # A data frame, too.
        return np.asarray(value).tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | range):
        found = map(_plain, value)
        return tuple(found) if isinstance(value, tuple) else list(found)
    return _plain(vars(value)) if is_dataclass(value) else value


def _plain_posterior(posterior: Any) -> Any:
    """Return the name of a posterior, with its fields if not all are the default."""
    if not changed_numbers(posterior):
        return posterior.name
    found = numbers_of(posterior).items()
    return {"name": posterior.name, **{name: _plain(value) for name, value in found}}


def parameters_json(policy: PolicyBase) -> str:
    """Return the fields of a policy as a JSON object, but for those of no consequence.

    Whether a rule is compiled is a matter of speed.
    """
    found = parameters(policy)
    for each in fields(policy):  # pyright: ignore[reportArgumentType]
        if not each.metadata.get("distribution", True):
            del found[each.name]
    return json.dumps(found, sort_keys=True, default=repr)
