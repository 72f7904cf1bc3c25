"""The experiments of the papers: recipes, statements, verdicts, figures, and Table 1.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.papers.figures import reproduction
    from bayesduel.papers.random_submatrices import (
        SubmatrixConstants,
        SubmatrixRow,
        submatrix_constants,
    )

_HOMES = {
    "SubmatrixConstants": ".random_submatrices",
    "SubmatrixRow": ".random_submatrices",
    "reproduction": ".figures",
    "submatrix_constants": ".random_submatrices",
}

__all__ = [
    "SubmatrixConstants",
    "SubmatrixRow",
    "reproduction",
    "submatrix_constants",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES)
