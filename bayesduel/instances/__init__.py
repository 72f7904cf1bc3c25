"""Preference matrices: the papers' instances, families of them, and users' files.

``load("gap")`` returns a printed matrix, ``load("mallows:num_arms=8,phi=0.5")`` a
member of a family, ``load("mine.csv")`` a file. Arms are numbered from 0, and entry
(i, j) of a matrix is the probability that arm i beats arm j. ``worlds`` has those of
subset choice.
"""

from bayesduel.instances import choice, generators
from bayesduel.instances.catalog import (
    Description,
    describe,
    family_names,
    load,
    names,
)
from bayesduel.instances.files import matrix_of_table, read_matrix, read_prices
from bayesduel.instances.generators import GeneratedInstance
from bayesduel.instances.mslr import (
    MSLR_SELECTIONS,
    mslr_submatrix,
    random_submatrix,
)
from bayesduel.instances.submatrices import SubmatrixDraw, SubmatrixSampler

__all__ = [
    "MSLR_SELECTIONS",
    "Description",
    "GeneratedInstance",
    "SubmatrixDraw",
    "SubmatrixSampler",
    "choice",
    "describe",
    "family_names",
    "generators",
    "load",
    "matrix_of_table",
    "mslr_submatrix",
    "names",
    "random_submatrix",
    "read_matrix",
    "read_prices",
]
