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
    from bayesduel.models.choice_models.conditional_logit import ConditionalLogit
    from bayesduel.models.choice_models.mixed_logit import MixedLogit
    from bayesduel.models.judged_bradley_terry import JudgedBradleyTerry
    from bayesduel.models.linear_utilities import LinearUtilities
    from bayesduel.models.multinomial_logit import MultinomialLogit
    from bayesduel.models.own_models import NumPyroModel, from_numpyro
    from bayesduel.models.pairwise_beta import PairwiseBeta
    from bayesduel.models.plackett_luce import PlackettLuce
    from bayesduel.models.rao_kupper import RaoKupper
    from bayesduel.models.thurstone import Thurstone
    from bayesduel.models.vote_arrays import Votes

_HOMES = {
    "BradleyTerry": ".bradley_terry",
    "ConditionalLogit": ".choice_models.conditional_logit",
    "JudgedBradleyTerry": ".judged_bradley_terry",
    "LinearUtilities": ".linear_utilities",
    "MixedLogit": ".choice_models.mixed_logit",
    "MultinomialLogit": ".multinomial_logit",
    "NumPyroModel": ".own_models",
    "PairwiseBeta": ".pairwise_beta",
    "PlackettLuce": ".plackett_luce",
    "PreferenceModel": ".base",
    "RaoKupper": ".rao_kupper",
    "Thurstone": ".thurstone",
    "Votes": ".vote_arrays",
    "count_votes": ".base",
    "derived": ".base",
    "from_numpyro": ".own_models",
    "register_arrays": ".base",
    "sample": ".base",
}

__all__ = [
    "BradleyTerry",
    "ConditionalLogit",
    "JudgedBradleyTerry",
    "LinearUtilities",
    "MixedLogit",
    "MultinomialLogit",
    "NumPyroModel",
    "PairwiseBeta",
    "PlackettLuce",
    "PreferenceModel",
    "RaoKupper",
    "Thurstone",
    "Votes",
    "count_votes",
    "derived",
    "from_numpyro",
    "register_arrays",
    "sample",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
