"""Ballots in the format of PrefLib (Mattei and Walsh 2013)."""

import os
import re

import numpy as np

from bayesduel.errors import ComparisonDataError
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import number as number_of
from bayesduel.files.user_files import read_text
from bayesduel.votes.checks import MOST_VOTES, shortened
from bayesduel.votes.rankings import Rankings

SUFFIXES = (".soc", ".soi", ".toc", ".toi")
"""Orders: strict or with ties, complete or incomplete."""

_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+([0-9]{1,9})\s*:\s*(.*)")
_NUMBER = re.compile(r"#\s*NUMBER ALTERNATIVES\s*:\s*([0-9]+)\s*")
_ALTERNATIVE = re.compile(r"\s*([0-9]{1,9})\s*")
_ITEM = re.compile(r"\{([^{}]*)\}|([^{},]+)")
_BALLOT = "'number of voters: 3,1,{2,4}'"


def read_preflib(path: str | os.PathLike[str]) -> Rankings:
    r"""Read ballots from a PrefLib file of orders.

    Lines that begin with # describe the data (``ALTERNATIVE NAME 1: tea``); all others
    are ``number of voters: 3,1,{2,4}``, the best first, a tie in braces. An arm that is
    missing from a line was not judged by those voters; if it was ranked below all the
    others, add ``.with_others_last()``. In files of type toc PrefLib has often done so
    already: then the tie at the end is no opinion.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends with .soc, .soi, .toc or .toi.

    Returns
    -------
    Rankings
        With the names of the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If it is no such file; names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.toi")
    ...     _ = path.write_text(
    ...         "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: tea\n"
    ...         "# ALTERNATIVE NAME 2: milk\n# ALTERNATIVE NAME 3: coffee\n"
    ...         "5: 1,{2,3}\n2: 3,1\n"
    ...     )
    ...     read_preflib(path)
    Rankings(3 arms, 7 ballots, 2 of them different)
    """
    path = as_path("path", path, ComparisonDataError)
    if path.suffix.lower() not in SUFFIXES:
        raise ComparisonDataError(
            path.name, f"a PrefLib file of orders ends with {', '.join(SUFFIXES)}", path
        )
    names: dict[int, str] = {}
    declared = ""
    ballots: list[tuple[int, float, list[list[int]]]] = []
    text = read_text(path, error=ComparisonDataError)
    # Not splitlines(): names may hold other characters that it cuts at.
    for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        if found := _NAME.match(line):
            if int(found[1]) in names:
                where = f"{path.name}, line {number}"
                rule = f"alternative {found[1]} is named twice"
                raise ComparisonDataError(where, rule, line)
            names[int(found[1])] = found[2].strip()
        elif found := _NUMBER.fullmatch(line):
            declared = found[1].lstrip("0")
        elif line.strip() and not line.startswith("#"):
            ballots.append((number, *_ballot(path.name, number, line)))
    num_arms = len(names)
    # Compared as texts: a number of thousands of digits is no int.
    if declared not in ("", str(num_arms)) or set(names) != set(range(1, num_arms + 1)):
        there = shortened(list(map(str, sorted(names))), 20)
        raise ComparisonDataError(
            path.name,
            f"the {declared[:12] or num_arms} alternatives must be named by lines "
            f"'# ALTERNATIVE NAME k: name', k from 1; found names for {there}",
            there,
        )
    if not ballots:
        raise ComparisonDataError(path.name, f"holds no ballot such as {_BALLOT}", "")
    places = np.zeros((len(ballots), num_arms), dtype=np.int64)
    for row, (number, _, order) in enumerate(ballots):
        for place, group in enumerate(order, start=1):
            for arm in group:
                if not 1 <= arm <= num_arms or places[row, arm - 1]:
                    what = "twice" if 1 <= arm <= num_arms else "but there is none"
                    where = f"{path.name}, line {number}"
                    rule = f"alternative {arm} is ranked {what}"
                    raise ComparisonDataError(where, rule, arm)
                places[row, arm - 1] = place
    counts = [count for _, count, _ in ballots]
    arm_names = [names[arm] for arm in range(1, num_arms + 1)]
    return Rankings.from_places(places, counts=counts, arm_names=arm_names)


def _ballot(name: str, number: int, line: str) -> tuple[float, list[list[int]]]:
    """Split a line into the number of voters and groups of alternatives."""
    count, colon, order = line.partition(":")
    voters = number_of(count.strip())
    groups = [
        [_ALTERNATIVE.fullmatch(each) for each in (tied or single).split(",")]
        for tied, single in _ITEM.findall(order)
        if (tied or single).strip()
    ]
    rest = _ITEM.sub("", order).replace(",", "").strip()
    if not colon or voters is None or rest or not all(map(all, groups)):
        raise ComparisonDataError(f"{name}, line {number}:", f"must be {_BALLOT}", line)
    if not 0 <= voters <= MOST_VOTES:
        rule = f"the number of voters is not between 0 and {MOST_VOTES:.0e}"
        raise ComparisonDataError(f"{name}, line {number}", rule, count.strip())
    return voters, [[int(each[1]) for each in group if each] for group in groups]
