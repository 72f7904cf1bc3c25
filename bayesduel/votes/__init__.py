"""What was answered: comparisons, ballots and choices, and readers of users' files.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.votes.arm_tables import read_covariates
    from bayesduel.votes.best_worst import read_best_worst
    from bayesduel.votes.choice_files import (
        read_choices,
        read_long_choices,
        read_wide_choices,
    )
    from bayesduel.votes.choices import Choices
    from bayesduel.votes.comparisons import Comparisons
    from bayesduel.votes.files import read_comparisons
    from bayesduel.votes.preflib import read_preflib
    from bayesduel.votes.rankings import Rankings

_HOMES = {
    "Choices": ".choices",
    "Comparisons": ".comparisons",
    "Rankings": ".rankings",
    "read_best_worst": ".best_worst",
    "read_choices": ".choice_files",
    "read_comparisons": ".files",
    "read_covariates": ".arm_tables",
    "read_long_choices": ".choice_files",
    "read_preflib": ".preflib",
    "read_wide_choices": ".choice_files",
}

__all__ = [
    "Choices",
    "Comparisons",
    "Rankings",
    "read_best_worst",
    "read_choices",
    "read_comparisons",
    "read_covariates",
    "read_long_choices",
    "read_preflib",
    "read_wide_choices",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
