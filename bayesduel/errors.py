"""Everything this toolkit raises on purpose.

All of them say which argument broke which rule, with the value, and what to do.
"""

from theory.errors import InvalidPreferenceError, ProgramError


class BayesduelError(Exception):
    """Common base of the errors below."""


class PolicyParameterError(BayesduelError, ValueError):
    """A policy's parameter is out of range or does not fit the problem."""


class UnknownNameError(BayesduelError, ValueError):
    """No policy, notion or data set has that name."""


class SimulationArgumentError(BayesduelError, ValueError):
    """A run count, horizon, checkpoint or seed that cannot be simulated."""


class OutputFolderError(BayesduelError, ValueError):
    """A folder that results cannot be written to."""


class OutputWriteError(BayesduelError, RuntimeError):
    """Results could not be written, as when a disk is full."""


class DamagedPartWarning(UserWarning):
    """A stored part is not what was written; names the file, which is left out."""


class ComparisonDataError(BayesduelError, ValueError):
    """A table of comparisons, choices or rankings that cannot be read as one."""


class FitError(BayesduelError, ValueError):
    """A model, a method and data that do not go together, or a fit asked too much."""


class DisconnectedComparisonsWarning(UserWarning):
    """Some arms were never compared, even indirectly; names the parts."""


class ChoiceWorldError(BayesduelError, ValueError):
    """A world of subset choice that cannot exist, or a question about it."""


class AssumptionWarning(UserWarning):
    """A policy meets a world outside its theory; names the set that shows it."""


class SimulationError(BayesduelError, RuntimeError):
    """A run stopped with a status; names run and round."""


__all__ = [
    "AssumptionWarning",
    "BayesduelError",
    "ChoiceWorldError",
    "ComparisonDataError",
    "DamagedPartWarning",
    "DisconnectedComparisonsWarning",
    "FitError",
    "InvalidPreferenceError",
    "OutputFolderError",
    "OutputWriteError",
    "PolicyParameterError",
    "ProgramError",
    "SimulationArgumentError",
    "SimulationError",
    "UnknownNameError",
]
