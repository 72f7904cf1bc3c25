"""Models of preferences, as NumPyro functions, one file each.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.models.base import (
        PreferenceModel,
        count_votes,
        derived,
        register_arrays,
        sample,
    )
    from bayesduel.models.bradley_terry import BradleyTerry
    from bayesduel.models.multinomial_logit import MultinomialLogit
    from bayesduel.models.pairwise_beta import PairwiseBeta
    from bayesduel.models.plackett_luce import PlackettLuce
    from bayesduel.models.thurstone import Thurstone
    from bayesduel.models.vote_arrays import Votes

_HOMES = {
    "BradleyTerry": ".bradley_terry",
    "MultinomialLogit": ".multinomial_logit",
    "PairwiseBeta": ".pairwise_beta",
    "PlackettLuce": ".plackett_luce",
    "PreferenceModel": ".base",
    "Thurstone": ".thurstone",
    "Votes": ".vote_arrays",
    "count_votes": ".base",
    "derived": ".base",
    "register_arrays": ".base",
    "sample": ".base",
}

__all__ = [
    "BradleyTerry",
    "MultinomialLogit",
    "PairwiseBeta",
    "PlackettLuce",
    "PreferenceModel",
    "Thurstone",
    "Votes",
    "count_votes",
    "derived",
    "register_arrays",
    "sample",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
