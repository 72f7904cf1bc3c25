"""Families of preference matrices: by formula or drawn at random.

A function that draws or shuffles takes a ``numpy.random.Generator`` as its first
argument and returns a `GeneratedInstance`, the matrix together with the permutation of
its arms. The fixed instances `zoghi500` and ``batched_*`` return the matrix itself.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
