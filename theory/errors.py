"""Errors of the package.

Every text names the argument, the rule, the offending value with its index, and a
remedy.
"""


class InvalidPreferenceError(ValueError):
    """A preference matrix, or a question about it, breaks a rule."""


class TieError(InvalidPreferenceError):
    """A tied pair stands where the theory assumes that there is none."""


class ProgramError(RuntimeError):
    """A linear program was not solved, or its certificate does not hold."""
