"""Naming a winner: how strongly duels speak for one, and what that costs at least.

`theory.identification.bound` has the least cost, with the test of the rules that stop
at it, `theory.identification.evidence` what may be looked at after every duel.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
