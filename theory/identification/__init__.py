"""Naming a winner: how strongly duels speak for one, and what that costs at least.

`theory.identification.bound` has the least cost, with the test of the rules that stop
at it, `theory.identification.evidence` what may be looked at after every duel.
"""

from theory.identification.bound import counts_suffice
from theory.identification.evidence import likelihood_evidence

__all__ = ["counts_suffice", "likelihood_evidence"]
