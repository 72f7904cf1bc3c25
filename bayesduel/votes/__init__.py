"""What was answered: comparisons, ballots and choices, and readers of users' files.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.votes.choices import Choices
    from bayesduel.votes.comparisons import Comparisons
    from bayesduel.votes.files import read_choices, read_comparisons
    from bayesduel.votes.preflib import read_preflib
    from bayesduel.votes.rankings import Rankings

_HOMES = {
    "Choices": "choices",
    "Comparisons": "comparisons",
    "Rankings": "rankings",
    "read_choices": "files",
    "read_comparisons": "files",
    "read_preflib": "preflib",
}

__all__ = [
    "Choices",
    "Comparisons",
    "Rankings",
    "read_choices",
    "read_comparisons",
    "read_preflib",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.votes.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.votes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
