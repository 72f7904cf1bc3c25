"""What was answered: comparisons, ballots and choices, and readers of users' files.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.lazy import lazily

if TYPE_CHECKING:
    from bayesduel.votes.arm_tables import read_covariates
    from bayesduel.votes.choices import Choices
    from bayesduel.votes.comparisons import Comparisons
    from bayesduel.votes.files import read_choices, read_comparisons
    from bayesduel.votes.preflib import read_preflib
    from bayesduel.votes.rankings import Rankings

_HOMES = {
    "Choices": ".choices",
    "Comparisons": ".comparisons",
    "Rankings": ".rankings",
    "read_choices": ".files",
    "read_comparisons": ".files",
    "read_covariates": ".arm_tables",
    "read_preflib": ".preflib",
}

__all__ = [
    "Choices",
    "Comparisons",
    "Rankings",
    "read_choices",
    "read_comparisons",
    "read_covariates",
    "read_preflib",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
