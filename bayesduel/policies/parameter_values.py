"""The parameters of a policy: checked before it plays, and as plain values."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.betas import BetaArms, BetaPairs
from bayesduel.models.in_policies.names import changed_numbers, is_posterior, numbers_of
from bayesduel.ops.code_digest import is_users
from bayesduel.policies.policy import KernelPolicy, PolicyBase
from theory.arguments import one_of
from theory.validation import refuse_entries


def check_kinds(policy: PolicyBase) -> None:
    """Raise where a field of a policy of ours is of another kind than its default."""
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
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | range):
        items = map(_plain, value)
        return tuple(items) if isinstance(value, tuple) else list(items)
    return _plain(vars(value)) if is_dataclass(value) else value


def _plain_posterior(posterior: Any) -> Any:
    """Return the name of a posterior, with its fields if not all are the default."""
    if not changed_numbers(posterior):
        return posterior.name
    numbers = numbers_of(posterior).items()
    return {"name": posterior.name, **{name: _plain(value) for name, value in numbers}}


def parameters_json(policy: PolicyBase) -> str:
    """Return the fields of a policy that change its runs as a JSON object."""
    values = parameters(policy)
    for field in fields(policy):  # pyright: ignore[reportArgumentType]
        if not field.metadata.get("distribution", True):
            del values[field.name]
    return json.dumps(values, sort_keys=True, default=repr)


# --- Features of the arms -------------------------------------------------------------


def with_features[T: PolicyBase](
    policy: T, features: Float[np.ndarray, "K d"] | None
) -> T:
    """Return a policy whose models know the features of the arms of an instance."""
    # Models that have features keep them. Name and label are those of before.
    if features is None:
        return policy
    changes: dict[str, Any] = {}
    for name, value in vars(policy).items():
        if isinstance(value, PolicyBase):
            changes[name] = with_features(value, features)
        elif is_posterior(value):
            model = getattr(value, "model", None)
            if getattr(model, "lacks_features", False):
                changes[name] = replace(value, model=replace(model, features=features))  # pyright: ignore
    return replace(policy, **changes) if changes else policy  # pyright: ignore


# --- Prices of duels ------------------------------------------------------------------

# The value of a policy's ``cost`` that stands for the prices of its world
PRICES = "prices"


def reads_prices(policy: PolicyBase) -> bool:
    """Say whether a policy, or one that it is around, asks for what prices say."""
    inner = getattr(policy, "policy", None)
    if isinstance(inner, PolicyBase):
        return reads_prices(inner)
    cost = getattr(policy, "cost", None)
    return isinstance(policy, KernelPolicy) and isinstance(cost, str) and cost == PRICES


def with_prices[T: PolicyBase](policy: T, prices: Float[np.ndarray, "K K"] | None) -> T:
    """Return a policy with the prices of an instance in place of ``cost="prices"``."""
    if prices is None or not reads_prices(policy):
        return policy
    inner = getattr(policy, "policy", None)
    if isinstance(inner, PolicyBase):
        return replace(policy, policy=with_prices(inner, prices))  # pyright: ignore
    return replace(policy, cost=prices)  # pyright: ignore


def check_cost(cost: Any, words: tuple[str, ...], num_arms: int) -> None:
    """Raise unless ``cost`` is one of the words, and prices are there and finite."""
    kind = PolicyParameterError
    if isinstance(cost, np.ndarray):
        others = ~np.eye(num_arms, dtype=bool)
        bad = others & ~((cost > 0.0) & np.isfinite(cost))
        rule = "must be finite and above 0 where a policy goes by them"
        remedy = "exclude pairs that cannot be asked; give free ones a small price"
        refuse_entries(bad, cost, "prices", rule, kind=kind, remedy=remedy)
    elif one_of(cost, (*words, PRICES), "cost", kind=kind) == PRICES:
        rule = "needs prices, and the instance has none"
        remedy = (
            "give them, as PreferenceMatrix(values, prices=...), --prices FILE, "
            "next_pairs(prices=...) or Spending(arm_prices=...)"
        )
        raise kind("cost", rule, cost, remedy=remedy)


def prices_in_order(
    cost: Any, order: Int[np.ndarray, " K"]
) -> Float[np.ndarray, "K K"]:
    """Return the price of each pair in the order of a run; 1 without prices."""
    if isinstance(cost, np.ndarray):
        return cost[np.ix_(order, order)]
    return np.ones((len(order), len(order)))


def check_fields(policy: PolicyBase, num_arms: int) -> None:
    """Raise ``PolicyParameterError`` where a field has a value for each arm."""
    # Arms are relabeled in every run, and what stands in a field is not. Posteriors and
    # kernels are told the order of the arms.
    if isinstance(policy, KernelPolicy):
        return
    attributes = {
        name: value
        for kind in reversed(type(policy).__mro__)
        if is_users(kind.__module__)
        for name, value in vars(kind).items()
        if not name.startswith("__") and not hasattr(value, "__get__")
    }
    for name, value in (attributes | vars(policy)).items():
        if isinstance(value, PolicyBase):
            check_fields(value, num_arms)
        elif _is_by_arm(value, num_arms):
            raise PolicyParameterError(
                f"{type(policy).__name__}: {name}",
                f"must not hold a value for each of the {num_arms} arms: they are "
                "relabeled in every run, and it is not",
                value,
                remedy="give features to the instance, as PreferenceMatrix(values, "
                "features=...) or --features FILE, and read problem.features in start; "
                "if these are not values of arms, make them a constant of the module, "
                "or say shuffle=False (--no-shuffle)",
            )


def _is_by_arm(value: Any, num_arms: int) -> bool:
    """Say whether a value is or holds numbers, as many in a row as there are arms."""
    if hasattr(value, "__array__"):
        table = np.asarray(value)
        if table.dtype.kind in "biuf":
            return num_arms in table.shape
        value = table.tolist()
    parts = _parts(value)
    is_row = isinstance(value, list | tuple | range | Mapping)
    if is_row and len(parts) == num_arms and not hasattr(value, "_fields"):
        return any(map(_holds_numbers, parts))
    return any(_is_by_arm(part, num_arms) for part in parts)


def _holds_numbers(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.number | np.ndarray)
    return is_number or any(map(_holds_numbers, _parts(value)))


def _parts(value: Any) -> list[Any]:
    """Return what a list, a dictionary or an object consists of."""
    if isinstance(value, list | tuple | range):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    is_object = is_dataclass(value) or is_users(type(value).__module__)
    if not is_object or isinstance(value, type) or is_posterior(value):
        return []
    return list(getattr(value, "__dict__", {}).values())
