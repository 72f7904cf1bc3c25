"""Rules that sample from a posterior of a NumPyro model: states in JAX, one file each.

Nothing here is imported before such a policy is played.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.policies.over_models.base import ModelRule, model_rule, one_round

_HOMES = {"ModelRule": ".base", "model_rule": ".base", "one_round": ".base"}

__all__ = ["ModelRule", "model_rule", "one_round"]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
