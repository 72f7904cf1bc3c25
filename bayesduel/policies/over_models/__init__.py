"""Rules that sample from a posterior of a NumPyro model: states in JAX, one file each.

Nothing here is imported before such a policy is played.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
