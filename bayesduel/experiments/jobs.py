"""What is carried out: jobs, what comes of them, and sweeps that are cut into jobs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from bayesduel.errors import OutputFolderError
from bayesduel.experiments.owned_folder import OwnedFolder, write_part
from bayesduel.files.folders import MARKER, OWN


class Job(Protocol):
    """A part of a sweep, for one process; it travels there as a pickle."""

    @property
    def name(self) -> str:
        """Name that no other job of the same sweep has."""
        ...

    @property
    def words(self) -> str:
        """What a progress bar calls it."""
        ...

    @property
    def program(self) -> Hashable | None:
        """What decides whether a process has compiled this before; None: nothing is.

        A text is the name of what takes seconds to compile, unless it is on the disk.
        """
        ...

    def run(self, on_progress: Callable[[float], None] | None = None) -> Any:
        """Return what is computed; tell ``on_progress`` which share of it is done.

        A job that lasts long may return a :class:`Cut`.
        """
        ...


@dataclass(frozen=True)
class Cut:
    """What a job returns that has done a part of itself only."""

    done: Job
    value: Any
    """Of what is done."""

    rest: Job
    share: float
    """How much of the job is done."""


@dataclass(frozen=True)
class JobResult:
    """What came of a job: a value, or the exception that ended it.

    A value that stands in a folder is not held here, but read when it is asked for.
    """

    job: Any
    held: Any = None
    failure: Exception | None = None
    read: Callable[[], Any] | None = None

    @property
    def value(self) -> Any:
        """What the job computed; None if it failed."""
        return self.held if self.read is None else self.read()


@dataclass(frozen=True)
class Written:
    """What a worker sends in place of a value that it has written to a folder."""

    file: str


@dataclass(frozen=True)
class PartWriter:
    """Writes results where they are computed; it travels there as a pickle."""

    folder: Path
    ending: str
    to_bytes: Callable[[Any], bytes | memoryview]

    def __call__(self, job: Job, value: Any) -> Written:
        """Write what a job computed.

        Raises ``OutputFolderError`` if the folder is not seen from here.
        """
        if not (self.folder / OWN / MARKER).is_file():
            raise OutputFolderError(
                "shared",
                f"the workers do not see {self.folder}",
                self.folder,
                remedy="name a folder on a disk that they share, or leave it out",
            )
        data = self.to_bytes(value)
        return Written(write_part(self.folder, job.name, self.ending, data))


class Sweep(ABC):
    """What is cut into jobs, and how their results are kept and read back."""

    kind: ClassVar[str]
    """What the marker of a folder calls its results."""

    ending: ClassVar[str]
    """Of the files of single jobs."""

    ends_with_failure: ClassVar[bool] = False
    """Whether a job that fails ends them all; else it is part of the result."""

    @property
    @abstractmethod
    def file(self) -> str:
        """Name of the finished file."""

    @property
    def superseded(self) -> Sequence[str]:
        """Names of finished files that this one takes the place of."""
        return ()

    @abstractmethod
    def request(self) -> Mapping[str, Any]:
        """Return what was asked for, for the marker of the folder."""

    @abstractmethod
    def read_back(self, folder: OwnedFolder) -> list[JobResult]:
        """Return what a folder holds of this sweep.

        Raises ``OutputFolderError`` if its fingerprint is another one, or going on
        would delete something.
        """

    @abstractmethod
    def jobs(self, workers: int, finished: Sequence[Any]) -> Sequence[Any]:
        """Return the jobs that the finished ones leave."""

    @staticmethod
    @abstractmethod
    def to_bytes(value: Any) -> bytes | memoryview:
        """Return the file of what a job computed."""

    @staticmethod
    @abstractmethod
    def from_bytes(data: bytes) -> Any:
        """Read what :meth:`to_bytes` gave."""

    @abstractmethod
    def assemble(self, finished: Sequence[JobResult]) -> Any:
        """Return everything that is finished."""

    @abstractmethod
    def to_file(self, found: Any) -> tuple[bytes | memoryview, Mapping[str, Any]]:
        """Return the finished file, and entries for the marker."""

    def request_files(self) -> Mapping[str, bytes]:
        """Return what the folder holds from the beginning, by the names of files."""
        return {}

    def extra_files(self, found: Any) -> Mapping[str, bytes]:
        """Return what stands beside the finished file, by the names of files."""
        return {}

    def joined(
        self, finished: Sequence[JobResult], last: JobResult
    ) -> tuple[JobResult, Sequence[JobResult]] | None:
        """Return what several finished jobs are in one, and which; None if nothing.

        It is kept in their place. Asked whenever one more, the last, is finished.
        """
        return None

    @staticmethod
    def left(job: Any, is_kept: Callable[[str], bool]) -> Any:
        """Return what is left of a job to do; None if all of it is kept.

        ``is_kept`` says so of the name of a job, or of what one was cut into.
        """
        return None if is_kept(job.name) else job

    def plan(self) -> bytes | memoryview | None:
        """Return a file from which parts can be joined without the request, if any."""
        return None

    def check_plan(self, folder: OwnedFolder, plan: bytes) -> None:
        """Refuse to add a part to parts of something else, before it is computed.

        Raises ``OutputFolderError`` if :meth:`plan` would say something else.
        """
        return

    def is_whole(self, found: Any) -> bool:
        """Say whether no job failed, so that single files are of no use any more."""
        return True


def refuse_others(
    folder: OwnedFolder,
    what: str,
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    words: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise ``OutputFolderError`` where two fingerprints differ.

    ``words`` says what a reader calls an entry, where that is not its name.
    """
    for name in {**ours, **theirs}:
        one, other = theirs.get(name), ours.get(name)
        if one != other:
            numbers = isinstance(one, int | float) and isinstance(other, int | float)
            called = words.get(name, name)
            both = f"{called} ({one}, not {other})" if numbers else called
            raise OutputFolderError(
                "out",
                f"{folder.path} holds {what} with another {both}",
                folder.path,
                remedy="ask for the same, replace it ({overwrite}), or name another "
                "folder",
            )
