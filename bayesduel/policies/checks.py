"""Checks of what a policy is given, before anything is played."""

from dataclasses import fields, is_dataclass
from typing import Any

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import PolicyBase
from bayesduel.posteriors.beta_arms import BetaArms
from bayesduel.posteriors.beta_pairs import BetaPairs


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


_DTYPES = {bool: ("bool",), int: ("int", "uint"), float: ("float", "int", "uint")}


def check_beta(posterior: Any, kind: type[BetaPairs | BetaArms], num_arms: int) -> None:
    """Raise unless ``posterior`` is a Beta per pair, or per arm, that fits."""
    if not isinstance(posterior, kind):
        one = "pair" if kind is BetaPairs else "arm"
        rule = (
            f"must be a Beta distribution per {one}, such as {kind.__name__}(prior=2)"
        )
        raise PolicyParameterError("posterior", rule, posterior)
    posterior.check(num_arms)
