"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Deterministic, NumPy arrays in and out, natural logarithms. Arms are numbered from 0.
"""

from theory.errors import InvalidPreferenceError, ProgramError, TieError
from theory.preferences import PreferenceMatrix
from theory.regret_notions import REGRET_NOTIONS

__all__ = [
    "REGRET_NOTIONS",
    "InvalidPreferenceError",
    "PreferenceMatrix",
    "ProgramError",
    "TieError",
]
