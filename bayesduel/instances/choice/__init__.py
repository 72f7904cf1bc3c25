"""Worlds of subset choice: the papers' own, and worlds from one's own numbers.

``load_world("camera")`` returns a published world; ``multinomial_logit``,
``gaussian_utility``, ``choice_table``, ``independent_rewards`` and ``plackett_luce``
make others. Each returns a `ChoiceWorld`. Arms are numbered from 0.
"""

from bayesduel.instances.choice.catalog import (
    WorldDescription,
    describe_world,
    is_world_name,
    load_world,
    world_names,
)
from bayesduel.instances.choice.choice_instance import ChoiceWorld
from bayesduel.instances.choice.custom import (
    choice_table,
    gaussian_utility,
    independent_rewards,
    multinomial_logit,
    plackett_luce,
)
from bayesduel.instances.choice.published import (
    camera,
    exclusive_gap,
    independent_gap,
    mnl,
    preference_pairs,
    random_utility,
)
from bayesduel.instances.choice.random_tables import random_table
from bayesduel.instances.choice.rules import (
    ChoiceRule,
    GaussianRule,
    IndependentRule,
    LogitRule,
    TableRule,
)

__all__ = [
    "ChoiceRule",
    "GaussianRule",
    "IndependentRule",
    "LogitRule",
    "ChoiceWorld",
    "TableRule",
    "WorldDescription",
    "camera",
    "choice_table",
    "describe_world",
    "exclusive_gap",
    "gaussian_utility",
    "independent_gap",
    "independent_rewards",
    "is_world_name",
    "load_world",
    "mnl",
    "multinomial_logit",
    "plackett_luce",
    "preference_pairs",
    "random_table",
    "random_utility",
    "world_names",
]
