"""Several values of parameters in one text, as ``d-ts:alpha=0.51..2/10``."""

import itertools
import math
import re

from bayesduel.arguments.literals import literal
from bayesduel.errors import SimulationArgumentError
from theory.arguments import as_number

_RANGE = re.compile(
    r"(?P<first>[^/|]+?)\.\.(?P<last>[^/|]+)/(?P<count>[0-9]+)(?P<log>log)?"
)
_TOGETHER = re.compile(r"&(?=\s*[A-Za-z_]\w*\s*=)")
_MOST = 1000
"""Values of a range, and texts that come of one."""


def expand(text: str) -> list[str]:
    """Return one text for each value, or combination of values, of the parameters.

    Parameters
    ----------
    text : str
        ``name:parameter=value,...``. A value may be a list, ``0.51|1|2``, or a range
        with both ends in it: ``0.51..2/10`` is ten values in equal steps,
        ``1..1000/4log`` four in equal ratios. Several such parameters are crossed, and
        the last one changes fastest; those with ``&`` in place of the comma between
        them are zipped: the first value of one goes with the first of the other.

    Raises
    ------
    SimulationArgumentError
        For a range that is none, zipped parameters with different numbers of values, or
        more than 1000 combinations.

    Examples
    --------
    >>> expand("rcs:prior=1|2,look_ahead=false")
    ['rcs:prior=1,look_ahead=false', 'rcs:prior=2,look_ahead=false']
    >>> expand("d-ts:alpha=0.5..2/4")
    ['d-ts:alpha=0.5', 'd-ts:alpha=1', 'd-ts:alpha=1.5', 'd-ts:alpha=2']
    >>> expand("d-ts:alpha=1|2&every=10..1000/2log")
    ['d-ts:alpha=1,every=10', 'd-ts:alpha=2,every=1000']
    >>> expand("d-ts")
    ['d-ts']
    """
    name, colon, rest = text.rpartition(":")
    if not colon or "=" not in rest:
        return [text]
    choices = [_together(text, part) for part in rest.split(",")]
    count = 1
    for each in choices:
        count *= len(each)
    if count > _MOST:
        raise _refused(text, f"stands for {count} combinations, more than {_MOST}")
    return [f"{name}:{','.join(each)}" for each in itertools.product(*choices)]


def _together(text: str, part: str) -> list[str]:
    """Return what stands between two commas, once for each of its values."""
    columns, counts = [], []
    for each in _TOGETHER.split(part):
        parameter, equals, value = each.partition("=")
        values = _values(text, value.strip()) if equals else [""]
        columns.append([f"{parameter}{equals}{one}" for one in values])
        counts.append(f"{len(values)} of {parameter.strip()}")
    if len({*map(len, columns)}) > 1:
        rule = f"zips {' and '.join(counts)}: as many of each must be given"
        raise _refused(text, rule)
    return [",".join(row) for row in zip(*columns, strict=True)]


def _values(text: str, value: str) -> list[str]:
    """Return the values that a text stands for; one that is plain is itself."""
    found = _RANGE.fullmatch(value)
    if found is None:
        several = [each.strip() for each in value.split("|")]
        if not all(several) and len(several) > 1:
            raise _refused(text, f"{value!r} has an empty place in its list")
        return several
    ends = [as_number(literal(found[end].strip())) for end in ("first", "last")]
    first, last = ends
    count = int(found["count"][:9])
    if not all(map(math.isfinite, ends)):
        raise _refused(text, f"{value!r} is no range of numbers")
    if not 2 <= count <= _MOST:
        raise _refused(text, f"a range has 2 to {_MOST} values, not {count}")
    if found["log"]:
        if min(ends) <= 0:
            raise _refused(text, f"{value!r} has ratios, so both ends must be above 0")
        first, last = math.log(first), math.log(last)
    shares = [place / (count - 1) for place in range(1, count - 1)]
    steps = [first * (1 - share) + last * share for share in shares]
    # Twelve digits: 0.1 + 0.2 is 0.3 here.
    inner = [f"{math.exp(each) if found['log'] else each:.12g}" for each in steps]
    return [found["first"].strip(), *inner, found["last"].strip()]


def _refused(text: str, rule: str) -> SimulationArgumentError:
    remedy = (
        "write a list as 0.5|1|2, a range as 0.5..2/4 or 1..1000/4log, and what goes "
        "together as a=1|2&b=10|20"
    )
    return SimulationArgumentError("text", rule, text, remedy=remedy)
