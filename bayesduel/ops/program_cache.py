"""Compiled programs on disk, so that no program is compiled twice on one machine.

Compiling a policy takes seconds, running it often less. JAX keeps what it compiled in a
folder if it is told to (its documentation: "Persistent compilation cache"): it finds a
program by its text, the versions and the options, locks the folder, and removes what
was not used for longest. Here it is told to, unless the user has told it something: in
processes of the command and of workers, which are ours. The settings of JAX hold for a
whole process, so in one of the user's they are left alone unless the variable below is
set.
"""

import hashlib
import os
import platform
import re
import shutil
import sys
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

# A folder, "off", or empty, for the user's folder for caches; that is also what unset
# means in processes of ours
VARIABLE = "BAYESDUEL_CACHE"
_process_is_ours = False

# A program takes about 0.1 MB: room for every policy on a hundred sizes
_MOST_BYTES = 2**30
_LEAST_SECONDS = 0.2  # Seconds of compiling below which a program is not kept

# Programs of other versions or machines are removed after so long without use
_FORGOTTEN_DAYS = 60

# Names of folders with the programs of one machine and certain versions
_OURS = re.compile(r"(jaxlib|numba)-[^/]+-[0-9a-f]{12}")

# Linux allows a process 65,530 memory mappings; a program of JAX takes 500 to 800
_MOST_MAPPINGS = 30_000
_COMPILES = "ops.scalar.compiled", "from numba", "import numba"
_IMPORTED = re.compile(r"^from ((?:bayesduel|theory)\.[\w.]+) import", re.MULTILINE)


def enable_program_cache() -> Path | None:
    """Keep compiled programs of JAX on disk from now on; return the folder, or None."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None and not _process_is_ours:
        return None
    return _keep_programs(wanted or "")


def own_process() -> None:
    """Say that this process is ours: no code of the user's has settings in it."""
    global _process_is_ours
    _process_is_ours = True


@cache
def _keep_programs(wanted: str) -> Path | None:
    import jax

    if jax.config.jax_compilation_cache_dir or wanted.lower() == "off":
        return None
    folder = _folder(wanted, _machine())
    if folder is None:
        return None
    _remove_unfinished(folder)
    options = {
        "jax_persistent_cache_min_compile_time_secs": _LEAST_SECONDS,
        "jax_compilation_cache_max_size": _MOST_BYTES,
        "jax_compilation_cache_dir": str(folder),
    }
    for name, value in options.items():
        if name.upper() not in os.environ:
            jax.config.update(name, value)
    return folder


def kernel_folder(kernel: str) -> Path | None:
    """Return where Numba keeps a compiled kernel; None where nothing is kept."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted.lower() == "off":
        return None
    return _folder(wanted, _kernels(), kernel)


def drop_programs_if_many() -> bool:
    """Drop all programs of JAX before there are too many; say whether that was done."""
    # XLA ends a process that gets no further memory mapping. Programs that are dropped
    # are compiled again, or read from the disk.
    if "jax" not in sys.modules:
        return False
    try:
        num_mappings = Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:  # Not Linux.
        return False
    if num_mappings > _MOST_MAPPINGS:
        sys.modules["jax"].clear_caches()
    return num_mappings > _MOST_MAPPINGS


def study_folder() -> Path | None:
    """Return where what long studies add up to is kept; None where nothing is."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted.lower() == "off":
        return None
    folder = _root(wanted) / "studies"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


@cache
def _kernels() -> str:
    """Name the versions, the processor, and the sources of all kernels."""
    digest = hashlib.sha256(_machine().encode())
    root = Path(__file__).parent.parent
    sources = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        # Compiled functions have a mark, which is imported.
        is_compiled = any(words in text for words in _COMPILES)
        if is_compiled or "scalar" in str(path.relative_to(root)):
            sources[path] = text
            # Constants of the modules that it names are compiled into it.
            for module in _IMPORTED.findall(sources[path]):
                source = root.parent.joinpath(*module.split(".")).with_suffix(".py")
                if source.is_file():
                    sources[source] = source.read_text(encoding="utf-8")
    for path in sorted(sources):
        digest.update(sources[path].encode())
    parts = [version("numba"), version("llvmlite"), version("numpy")]
    digest.update("\n".join(parts).encode())
    return f"numba-{version('numba')}-{digest.hexdigest()[:12]}"


def _root(wanted: str) -> Path:
    from platformdirs import user_cache_path

    return Path(wanted).expanduser() if wanted else user_cache_path("bayesduel")


def _folder(wanted: str, programs: str, kernel: str = "") -> Path | None:
    """Make the folder of this machine and these versions, if that is possible."""
    mine = _root(wanted) / "programs" / programs
    try:
        (mine / kernel).mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    with suppress(OSError):
        os.utime(mine)
    _forget_others(mine)
    return mine / kernel if os.access(mine / kernel, os.W_OK | os.X_OK) else None


def _machine() -> str:
    """Name the versions and the processor: machines may share a home directory."""
    parts = [version("jax"), version("jaxlib"), platform.machine()]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        known = ("flags", "features", "model name")
        parts += sorted({line for line in lines if line.lower().startswith(known)})
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
    return f"jaxlib-{version('jaxlib')}-{digest}"


def _remove_unfinished(folder: Path) -> None:
    """Remove programs that a killed process left without a note of their use."""
    from filelock import FileLock, Timeout

    with suppress(OSError, Timeout), FileLock(folder / ".lockfile", timeout=2):
        for program in folder.glob("*-cache"):
            used = program.name.removesuffix("-cache") + "-atime"
            if not (folder / used).exists():
                program.unlink(missing_ok=True)


@cache
def _forget_others(mine: Path) -> None:
    """Remove the folders beside one that nobody has used for long; once per process."""
    forgotten = time.time() - _FORGOTTEN_DAYS * 86_400
    for folder in mine.parent.iterdir():
        with suppress(OSError):
            is_old = folder.stat().st_mtime < forgotten
            if folder != mine and _OURS.fullmatch(folder.name) and is_old:
                shutil.rmtree(folder)
