"""Dueling bandits: exact simulation, regret theory, Bayesian preference models.

Nothing heavy is imported before it is used: JAX, NumPyro, CVXPY and ArviZ cost seconds.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
