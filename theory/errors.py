"""Errors of the package.

Every text names the argument, the rule, the offending value with its index, and a
remedy.
"""


class InvalidPreferenceError(ValueError):
    """A preference matrix, or a question about it, breaks a rule."""


class ArgumentTypeError(InvalidPreferenceError, TypeError):
    """An argument is of a type that cannot be read."""


class TieError(InvalidPreferenceError):
    """A tied pair stands where the theory assumes that there is none."""


class ProgramError(RuntimeError):
    """A linear program was not solved, or its certificate does not hold."""
