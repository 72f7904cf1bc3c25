"""What is known of the arms: policies are told, and must not hold it themselves."""

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from bayesduel.code_digest import is_users
from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.names import is_posterior
from bayesduel.policies.policy import KernelPolicy, PolicyBase


def with_features[T: PolicyBase](
    policy: T, features: Float[np.ndarray, "K d"] | None
) -> T:
    """Return a policy whose models know the features of the arms of an instance.

    Models that have features of their own keep them. Name and label of a policy are
    those of before: it is only told for as long as it plays. Without features it comes
    back as it is.
    """
    if features is None:
        return policy
    told: dict[str, Any] = {}
    for name, value in vars(policy).items():
        if isinstance(value, PolicyBase):
            told[name] = with_features(value, features)
        elif is_posterior(value):
            model = getattr(value, "model", None)
            if getattr(model, "lacks_features", False):
                told[name] = replace(value, model=replace(model, features=features))  # pyright: ignore
    return replace(policy, **told) if told else policy  # pyright: ignore


def check_fields(policy: PolicyBase, num_arms: int) -> None:
    """Raise ``PolicyParameterError`` where a field has a value for each arm.

    Arms are relabeled in every run, and what stands in a field is not. Attributes of a
    user's class count as fields, and so does what is inside lists, dictionaries and
    objects. Posteriors and kernels are told the order of the arms.
    """
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
    return any(_is_by_arm(each, num_arms) for each in parts)


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
