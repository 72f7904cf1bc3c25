"""Preference matrices: those of papers, families, and your own files.

``load("gap")`` returns a matrix of a paper, ``load("mallows:num_arms=8,phi=0.5")`` a
member of a family, and ``load("mine.csv")`` the matrix of a file. Arms are numbered
from 0, and entry (i, j) of a matrix is the probability that arm i beats arm j. The
``worlds`` of subset choice are listed below.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
