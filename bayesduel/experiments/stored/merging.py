"""Joining the parts of a sweep that several processes have written."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments import results
from bayesduel.experiments.comparison import Comparison
from bayesduel.experiments.jobs import JobResult
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.request.arguments import check_format
from bayesduel.experiments.store import PLAN, SweepFolder
from bayesduel.experiments.stored.run_ranges import Place
from bayesduel.files.folders import as_path, read_marker

_REQUEST = "experiment.toml"
"""What was asked for, where a folder holds it."""


def merge(out: Path | str, *, format: str = results.NETCDF) -> xr.DataTree:
    """Join the parts of a comparison that several processes have written to a folder.

    They are those of ``compare(..., part="3/10", out=out)``. Nothing is simulated: the
    folder says itself what all parts make together. Joining again changes nothing.

    Parameters
    ----------
    out : path
        The folder of all parts.
    format : {"netcdf", "zarr"}
        Of the finished file, as in :func:`bayesduel.compare`.

    Returns
    -------
    xarray.DataTree
        As :func:`bayesduel.compare` returns it without parts, and in the folder the
        file that it writes.

    Raises
    ------
    OutputFolderError
        If there are no parts (as in the folder of a comparison by one process), some
        are missing (it names them, and what does them),
        they are not of one request, or one of them is being written. Nothing in the
        folder has changed then.

    Examples
    --------
    >>> import tempfile
    >>> import bayesduel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("1/2", "2/2"):
    ...         asked = bayesduel.Experiment("gap", "rucb", num_runs=2, horizon=9)
    ...         _ = asked.run(out=folder, part=part)
    ...     sorted(bayesduel.merge(folder)["gap"].children)
    ['RUCB']
    """
    path = as_path("out", out)
    check_format(format)
    marker = read_marker(path)
    if marker is None:
        raise OutputFolderError(
            "out",
            f"{path} holds no results of compare",
            path,
            remedy="name the folder that the parts were written to",
        )
    with OwnedFolder.claim(path, kind=Comparison.kind, resume=True) as owned:
        if plan := owned.part(PLAN):
            asked = Comparison.from_plan(plan, marker["request"], format)
            stored = asked.read_back(owned)
            _check_complete(asked, stored, path, int(marker["parts"]))
            folder = SweepFolder(asked, owned, resume=True)
            found = asked.assemble(folder.joined(stored))
            folder.finish(found)
            return found
    if {*results.FILE_NAMES.values()} & {*marker["sha256"]}:
        if "parts" not in marker:
            raise OutputFolderError(
                "out",
                f"{path} holds the results of one command, and no parts of a sweep",
                path,
                remedy="they are whole: bayesduel plot draws them, and "
                "bayesduel.load_results reads them; parts are what compare --part "
                "writes",
            )
        return results.load(path)
    raise OutputFolderError(
        "out",
        f"{path} holds no parts",
        path,
        remedy="an interrupted comparison goes on with {resume}",
    )


def _check_complete(
    asked: Comparison, stored: Sequence[JobResult], path: Path, count: int
) -> None:
    """Raise ``OutputFolderError`` if jobs of some parts are missing."""
    done: dict[Place, list[range]] = {}
    for each in stored:
        done.setdefault(each.job.place, []).append(each.job.runs)
    gaps: dict[Place, list[range]] = {}
    for place, runs in asked.cut(1, done):
        gaps.setdefault(place, []).append(runs)
    counts: Counter[int] = Counter()
    for index, (place, runs) in enumerate(asked.cut(count, {})):
        counts[index % count + 1] += any(
            runs.start < gap.stop and gap.start < runs.stop
            for gap in gaps.get(place, ())
        )
    if missing := sorted(+counts):
        raise OutputFolderError(
            "out",
            f"{path} lacks {counts.total()} jobs of {len(missing)} of its {count} "
            f"parts: {_listed(missing)}",
            path,
            remedy=f"do each of them again, {_how(path, f'{missing[0]}/{count}')}",
        )


def _how(path: Path, part: str) -> str:
    """Say what does a part."""
    request = path / _REQUEST
    if not request.is_file():
        return f"by the same request with part={part}"
    return f"bayesduel compare --config {request} --out {path} --part {part}"


def _listed(numbers: Sequence[int]) -> str:
    """Write ascending numbers as arrays of jobs take them: 1,3-5."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(
        str(first) if first == last else f"{first}-{last}" for first, last in spans
    )
