"""Snapshots of long studies in the user's cache: they open without a replay.

A snapshot is a shortcut and no part of a study: it is used only where the checksum of
all events before it is that of the file, and may be removed at any time. Python objects
are kept as they are (pickled), which nobody but the owner of the cache may write.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bayesduel.files.folders import renamed_when_whole
from bayesduel.ops.program_cache import study_folder
from bayesduel.studies.disk import PRIVATE
from bayesduel.version import __version__

EVERY = 5000  # Events: so many are replayed in a fraction of a second.

EVERY_TOLD = 100
"""Votes and questions that a policy goes through in a third of a second."""

_FORGOTTEN_SECONDS = 60 * 86_400.0


class Snapshot(NamedTuple):
    """The state after ``number`` events, and a checksum of these."""

    number: int
    prefix: str
    payload: Any


def load(path: Path, what: str) -> Snapshot | None:
    """Return the snapshot of the study at a path, None where there is nothing sound."""
    file = _file(path, what)
    if file is None:
        return None
    try:
        with file.open("rb") as stream:
            # Whoever else may write here could let us run anything.
            status = os.fstat(stream.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return None
            head = json.loads(stream.readline())
            if head.pop("program") != _program():
                return None
            data = stream.read()
        if head.pop("sum") != hashlib.sha256(data).hexdigest():
            return None
        with without_collector():
            snapshot = Snapshot(**head, payload=pickle.loads(data))
        os.utime(file)
    except Exception:  # A damaged file, or one of anything else, is as good as none.
        return None
    return snapshot


def save(path: Path, what: str, snapshot: Snapshot) -> None:
    """Keep a snapshot, if that is possible."""
    file = _file(path, what)
    if file is None:
        return
    try:
        data = pickle.dumps(snapshot.payload, pickle.HIGHEST_PROTOCOL)
    except Exception:  # The state of a user's policy may hold anything.
        return
    number, prefix, _ = snapshot
    head = {"number": number, "prefix": prefix, "program": _program()}
    head["sum"] = hashlib.sha256(data).hexdigest()
    with suppress(OSError):
        with renamed_when_whole(file, PRIVATE) as unfinished:
            unfinished.write_bytes(json.dumps(head).encode() + b"\n" + data)
        for entry in file.parent.iterdir():
            if entry.stat().st_mtime < time.time() - _FORGOTTEN_SECONDS:
                entry.unlink()


def _file(path: Path, what: str) -> Path | None:
    folder = study_folder() if hasattr(os, "geteuid") else None
    if folder is None:
        return None
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:24]
    return folder / f"{name}.{what}"


@cache
def _program() -> str:
    # Names the sources that a snapshot depends on: any may change what events mean.
    digest = hashlib.sha256(f"{__version__}\n".encode())
    root = Path(__file__).resolve().parents[1]
    for source in sorted(root.rglob("*.py")):
        state = source.stat()
        name = source.relative_to(root)
        digest.update(f"{name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


@contextmanager
def without_collector() -> Iterator[None]:
    """Let nothing look for garbage while very many objects are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
