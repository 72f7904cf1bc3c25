"""Models of preferences, as NumPyro functions, one file each.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.models.bradley_terry import BradleyTerry
    from bayesduel.models.multinomial_logit import MultinomialLogit
    from bayesduel.models.pairwise_beta import PairwiseBeta
    from bayesduel.models.plackett_luce import PlackettLuce
    from bayesduel.models.thurstone import Thurstone

_HOMES = {
    "BradleyTerry": "bradley_terry",
    "MultinomialLogit": "multinomial_logit",
    "PairwiseBeta": "pairwise_beta",
    "PlackettLuce": "plackett_luce",
    "Thurstone": "thurstone",
}

__all__ = [
    "BradleyTerry",
    "MultinomialLogit",
    "PairwiseBeta",
    "PlackettLuce",
    "Thurstone",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
