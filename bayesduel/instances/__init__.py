"""Preference matrices: the papers' instances, families of them, and users' files.

``load("gap")`` returns a printed matrix, ``load("mallows:num_arms=8,phi=0.5")`` a
member of a family, ``load("mine.csv")`` a file. Arms are numbered from 0, and entry
(i, j) of a matrix is the probability that arm i beats arm j. ``worlds`` has those of
subset choice.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
