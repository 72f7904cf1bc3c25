"""The experiments of the papers: recipes, statements, verdicts, figures, and Table 1.

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.papers.figures import reproduction
    from bayesduel.papers.random_submatrices import (
        SubmatrixConstants,
        SubmatrixRow,
        submatrix_constants,
    )

_HOMES = {
    "SubmatrixConstants": "random_submatrices",
    "SubmatrixRow": "random_submatrices",
    "reproduction": "figures",
    "submatrix_constants": "random_submatrices",
}

__all__ = [
    "SubmatrixConstants",
    "SubmatrixRow",
    "reproduction",
    "submatrix_constants",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesduel.papers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bayesduel.papers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
