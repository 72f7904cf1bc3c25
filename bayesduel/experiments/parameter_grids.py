"""Several values of parameters in one text, as ``d-ts:alpha=0.51..2/10``."""

import itertools
import re

from bayesduel.errors import SimulationArgumentError
from bayesduel.literals import literal

_RANGE = re.compile(r"(?P<first>[^/|]+?)\.\.(?P<last>[^/|]+)/(?P<count>[0-9]+)")
_MOST = 1000
"""Values of a range, and texts that come of one."""


def expand(text: str) -> list[str]:
    """Return one text for each value, or combination of values, of the parameters.

    Parameters
    ----------
    text : str
        ``name:parameter=value,...``. A value may be a list, ``0.51|1|2``, or a range
        of equal steps with both ends in it, ``0.51..2/10`` (ten values). Several such
        parameters are crossed, and the last one changes fastest.

    Raises
    ------
    SimulationArgumentError
        For a range that is none, or more than 1000 combinations.

    Examples
    --------
    >>> expand("rcs:prior=1|2,look_ahead=false")
    ['rcs:prior=1,look_ahead=false', 'rcs:prior=2,look_ahead=false']
    >>> expand("d-ts:alpha=0.5..2/4")
    ['d-ts:alpha=0.5', 'd-ts:alpha=1', 'd-ts:alpha=1.5', 'd-ts:alpha=2']
    >>> expand("d-ts")
    ['d-ts']
    """
    name, colon, rest = text.rpartition(":")
    if not colon or "=" not in rest:
        return [text]
    choices = []
    for part in rest.split(","):
        parameter, equals, value = part.partition("=")
        values = _values(text, value.strip()) if equals else [""]
        choices.append([f"{parameter}{equals}{each}" for each in values])
    count = 1
    for each in choices:
        count *= len(each)
    if count > _MOST:
        raise _refused(text, f"stands for {count} combinations, more than {_MOST}")
    return [f"{name}:{','.join(each)}" for each in itertools.product(*choices)]


def _values(text: str, value: str) -> list[str]:
    """Return the values that a text stands for; one that is plain is itself."""
    found = _RANGE.fullmatch(value)
    if found is None:
        several = [each.strip() for each in value.split("|")]
        if not all(several) and len(several) > 1:
            raise _refused(text, f"{value!r} has an empty place in its list")
        return several
    first, last = (literal(found[end].strip()) for end in ("first", "last"))
    count = int(found["count"])
    numbers = all(isinstance(end, int | float) for end in (first, last))
    if not numbers or isinstance(first, bool) or isinstance(last, bool):
        raise _refused(text, f"{value!r} is no range of numbers")
    if not 2 <= count <= _MOST:
        raise _refused(text, f"a range has 2 to {_MOST} values, not {count}")
    step = (float(last) - float(first)) / (count - 1)
    # Twelve digits: 0.1 + 0.2 is 0.3 here.
    inner = [f"{float(first) + place * step:.12g}" for place in range(1, count - 1)]
    return [found["first"].strip(), *inner, found["last"].strip()]


def _refused(text: str, rule: str) -> SimulationArgumentError:
    remedy = "write a list as 0.5|1|2, a range as 0.5..2/4"
    return SimulationArgumentError.of("", rule, text, remedy=remedy)


__all__ = ["expand"]
