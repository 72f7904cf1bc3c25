"""The parameters of a policy as plain values: for results, studies and labels."""

import json
from dataclasses import fields
from typing import Any

import numpy as np

from bayesduel.policies.checks import check_policy
from bayesduel.policies.policy import PolicyBase
from bayesduel.posteriors.names import changed_numbers, is_posterior, numbers_of


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
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


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
    return json.dumps(found, sort_keys=True)
