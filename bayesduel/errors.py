"""Everything this toolkit raises on purpose.

What is wrong with an argument is an ``ArgumentError``: it holds the argument, the rule,
the value, its index and what to do, and makes its text of them. Where none is to blame,
as when a disk is full or a run stops, there is a text alone: these are ``RuntimeError``
or, as the system raises them, an ``OSError``.
"""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from theory.errors import (
    ArgumentError,
    InvalidPreferenceError,
    ProgramError,
    errors_about,
    errors_as,
)


class BayesduelError(Exception):
    """Base class of all errors of this package."""


class PolicyParameterError(BayesduelError, ArgumentError):
    """A policy's parameter is out of range or does not fit the problem."""


class UnknownNameError(BayesduelError, ArgumentError):
    """No policy, notion or data set has that name."""


class SimulationArgumentError(BayesduelError, ArgumentError):
    """A run count, horizon, checkpoint or seed that cannot be simulated."""


class StoppingRuleError(BayesduelError, ArgumentError):
    """A rule for stopping has wrong parameters, or does not fit what it stops."""


class OutputFolderError(BayesduelError, ArgumentError):
    """A folder that results cannot be written to."""


class OutputWriteError(BayesduelError, RuntimeError):
    """Results could not be written, as when a disk is full."""


class ExecutorError(BayesduelError, RuntimeError):
    """The executor of a sweep has gone away, as when a scheduler is restarted."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep, or what else a signal to end raised.

    Attributes
    ----------
    finished : list of Chunk
        The chunks that are finished.
    partial : object
        The same, put together; only when asked for, since that may take long.
    """

    def __init__(
        self,
        error: KeyboardInterrupt,
        finished: list[Any],
        assemble: Callable[[list[Any]], Any],
    ) -> None:
        super().__init__(*error.args)
        self.__dict__.update(vars(error))
        self.finished = finished
        self._assemble = assemble

    @cached_property
    def partial(self) -> Any:
        """The finished results, put together."""
        return self._assemble(self.finished)


class DamagedPartWarning(UserWarning):
    """A stored chunk was changed or damaged; its file is named and left out."""


class ComparisonDataError(BayesduelError, ArgumentError):
    """A table of comparisons, choices or rankings that cannot be read as one."""


class FitError(BayesduelError, ArgumentError):
    """A model, a method and data do not go together, or a fit lacks what is asked.

    Raised by :func:`bayesduel.inference.fit`, by models, and by functions that read a
    fit. Usual causes are a method that the model does not have, data of another kind
    than the model is fitted to, and a quantity that the fit does not contain. The text
    names the argument, the rule and the value, and often a remedy. Arguments are
    checked before the computation begins.

    Attributes
    ----------
    argument, rule, value, index, remedy
        The parts of the text; see :class:`ArgumentError`.

    Examples
    --------
    >>> from bayesduel.inference import fit
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]])
    >>> try:
    ...     fit(BradleyTerry(), votes, method="exact")
    ... except FitError as error:
    ...     print(error)
    method: BradleyTerry has laplace, svi, nuts (its posterior has no closed form)
    """


class MissingGlyphWarning(UserWarning):
    """No installed font has some characters of a figure; names them."""


class DisconnectedComparisonsWarning(UserWarning):
    """Some arms were never compared, even indirectly; names the parts."""


class NarrowPriorWarning(UserWarning):
    """A prior is so narrow that a feature, which is named, hardly matters."""


class ChoiceWorldError(BayesduelError, ArgumentError):
    """A world of subset choice, or a question about it, breaks a rule."""


class AssumptionWarning(UserWarning):
    """A policy meets a world outside its theory; names the set that shows it."""


class StudyError(BayesduelError, ArgumentError):
    """A study cannot be created or read, or refuses what it is told."""


class StudyFileError(StudyError):
    """The file of a study is missing, locked, damaged or replaced."""


class SimulationError(BayesduelError, RuntimeError):
    """A run stopped with a status; names run and round."""


def near_names(name: str, known: Iterable[str]) -> str:
    """Return "did you mean a or b? ", or nothing where no name is near.

    Examples
    --------
    >>> near_names("copland", ["copeland", "borda"])
    'did you mean copeland? '
    """
    near = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}? " if near else ""


def near_and_all(name: object, known: Iterable[str]) -> str:
    """Return what is to be done about a name that is not known.

    Examples
    --------
    >>> near_and_all("Copland", ["copeland", "borda"])
    'did you mean copeland? all: copeland, borda'
    """
    names = tuple(known)
    return f"{near_names(str(name).lower(), names)}all: {', '.join(names)}"


__all__ = [
    "ArgumentError",
    "AssumptionWarning",
    "BayesduelError",
    "ChoiceWorldError",
    "ComparisonDataError",
    "DamagedPartWarning",
    "DisconnectedComparisonsWarning",
    "FitError",
    "InvalidPreferenceError",
    "NarrowPriorWarning",
    "OutputFolderError",
    "OutputWriteError",
    "PolicyParameterError",
    "ProgramError",
    "SimulationArgumentError",
    "SimulationError",
    "StoppingRuleError",
    "StudyError",
    "StudyFileError",
    "UnknownNameError",
    "near_names",
    "errors_about",
    "errors_as",
]
