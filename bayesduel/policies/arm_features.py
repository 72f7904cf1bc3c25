"""Telling a policy what is known of the arms that it plays with."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from bayesduel.policies.policy import PolicyBase
from bayesduel.posteriors.names import is_posterior


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
