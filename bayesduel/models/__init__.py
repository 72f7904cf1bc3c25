"""Posterior models of preferences: data, NumPyro models, and :func:`fit`.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.models.bradley_terry import BradleyTerry
    from bayesduel.models.choices import Choices
    from bayesduel.models.comparison_files import read_choices, read_comparisons
    from bayesduel.models.comparisons import Comparisons
    from bayesduel.models.fitting import fit
    from bayesduel.models.multinomial_logit import MultinomialLogit
    from bayesduel.models.pairwise_beta import PairwiseBeta
    from bayesduel.models.plackett_luce import PlackettLuce
    from bayesduel.models.posterior import Posterior
    from bayesduel.models.preflib import read_preflib
    from bayesduel.models.rankings import Rankings
    from bayesduel.models.standing_table import parameters, standings
    from bayesduel.models.thurstone import Thurstone

_HOMES = {
    "BradleyTerry": "bradley_terry",
    "Choices": "choices",
    "Comparisons": "comparisons",
    "MultinomialLogit": "multinomial_logit",
    "PairwiseBeta": "pairwise_beta",
    "PlackettLuce": "plackett_luce",
    "Posterior": "posterior",
    "Rankings": "rankings",
    "Thurstone": "thurstone",
    "fit": "fitting",
    "parameters": "standing_table",
    "read_choices": "comparison_files",
    "read_comparisons": "comparison_files",
    "read_preflib": "preflib",
    "standings": "standing_table",
}

__all__ = [
    "BradleyTerry",
    "Choices",
    "Comparisons",
    "MultinomialLogit",
    "PairwiseBeta",
    "PlackettLuce",
    "Posterior",
    "Rankings",
    "Thurstone",
    "fit",
    "parameters",
    "read_choices",
    "read_comparisons",
    "read_preflib",
    "standings",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
