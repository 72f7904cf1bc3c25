"""Settings and fixtures of all tests. Imports no JAX: the tests of theory need none."""

import gc
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import checked_annotations
from tests.chromium import BROWSER

# Nearly all that importing and collecting make stays.
gc.disable()

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("BAYESDUEL_SHARED", ROOT.parent / "shared"))

# The variable is jaxtyping's own; without the check a test says that it is off.
if os.environ.get("JAXTYPING_DISABLE") != "1":
    checked_annotations.install()

# A shell lets what it runs in the background ignore Ctrl-C, with all that this starts;
# tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with suppress(ValueError):  # Not in the main thread.
        signal.signal(signal.SIGINT, signal.default_int_handler)

# Figures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# Texts are broken alike in every terminal.
os.environ["COLUMNS"] = "80"

# Our own code never relies on arrays of different rank meeting silently. JAX reads the
# variable when it is imported, here or in a worker process.
os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_numpy_rank_promotion", "raise")

# Most of the time of the tests goes into compiling: worker processes and later runs
# share what is compiled. A program is found by its text, so none can be stale. Small
# ones too: thousands of them take longer than all large ones. Without JAX's limit of
# size, for which it locks the folder, and reads thousands of files to add one.
COMPILED = ROOT / ".pytest_cache" / "compiled"
MOST_COMPILED = 2**31
"""Bytes; a run leaves some hundred million."""
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

# Likewise kernels, which are found by all their sources.
os.environ.setdefault("BAYESDUEL_CACHE", str(ROOT / ".pytest_cache" / "kernels"))

# Where Python is told to write no bytecode, as in containers, every process of a test
# would compile our sources anew, and pytest all tests. Those of libraries are compiled
# when the environment is made: a folder of its own would do that again, for 8 seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


class _Hasty(sqlite3.Connection):
    """A connection that does not wait for the disk: nobody pulls the plug of a test.

    Waiting took three quarters of the time of the tests of studies. What a killed
    process has written is there all the same.
    """

    def execute(self, command: str, *given: Any) -> sqlite3.Cursor:
        if command.startswith("PRAGMA synchronous="):
            command = "PRAGMA synchronous=OFF"
        return super().execute(command, *given)


sqlite3.connect = partial(sqlite3.connect, factory=_Hasty)

# `fast` draws the same examples every time, so that a failure can be repeated;
# HYPOTHESIS_PROFILE=nightly looks further. No deadline: the first call may compile.
_slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "fast",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=_slow_is_fine,
)
settings.register_profile(
    "nightly",
    max_examples=400,
    deadline=None,
    print_blob=True,
    suppress_health_check=_slow_is_fine,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def pytest_configure(config: pytest.Config) -> None:
    """Remove compiled programs when those of old versions have piled up."""
    if hasattr(config, "workerinput"):  # The process that started this one has.
        return
    with suppress(FileNotFoundError):  # Another session is at it.
        programs = [*COMPILED.glob("*")]
        if sum(each.stat().st_size for each in programs) > MOST_COMPILED:
            for each in programs:
                each.unlink()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read the shared data; skip them where there is none."""
    for item in items:
        if "shared_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)
        if item.get_closest_marker("shared") and not SHARED.is_dir():
            item.add_marker(pytest.mark.skip(reason=f"needs the data in {SHARED}"))


def pytest_collection_finish() -> None:
    """Let Python look for unreachable cycles seldom, and not among what stays.

    Tracing and compiling make millions of objects, and nearly all go without its help:
    it took three hundredths of the time of the tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests that need an accelerator or a browser where there is none."""
    checked_annotations.look_again()
    if item.get_closest_marker("browser") and BROWSER is None:
        pytest.skip("needs Chromium")
    if item.get_closest_marker("gpu"):
        import jax

        if jax.default_backend() == "cpu":
            pytest.skip("needs an accelerator")


_num_finished = count(1)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Keep compiled programs below what a process can hold.

    When what the test has patched is itself again: this reads a file.
    """
    if next(_num_finished) % 20 == 0 and "jax" in sys.modules:
        from bayesduel.ops.program_cache import drop_programs_if_many

        if drop_programs_if_many():
            gc.collect()  # Programs in cycles go as well.


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[None]:
    """Turn a skip into a failure where everything must run (BAYESDUEL_REQUIRE_ALL=1).

    Only outside data, accelerators and browsers may be missing there.
    """
    report = yield
    if (
        os.environ.get("BAYESDUEL_REQUIRE_ALL") == "1"
        and report.skipped
        and not hasattr(report, "wasxfail")
        and not item.get_closest_marker("shared")
        and not item.get_closest_marker("gpu")
        and not item.get_closest_marker("browser")
    ):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def project_dir() -> Path:
    """Return the root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Return the folder of data beside the checkout (marks its tests as `shared`)."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the data in {SHARED}")
    return SHARED


@pytest.fixture
def in_python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python play rules and kernels, to the same digits, and compile none of them.

    Not in slow tests, which play more. ``tests/simulation/test_uncompiled.py`` compares
    the two forms.
    """
    from tests.compiling import play_in_python

    if request.node.get_closest_marker("slow") is None:
        play_in_python(monkeypatch)


@pytest.fixture
def hardly_optimized(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile twice as fast what then runs several times slower, here and in children.

    For slow tests of many programs that run for a moment.
    """
    import jax

    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    option = "jax_disable_most_optimizations"
    before = jax.config.read(option)
    jax.config.update(option, True)
    yield
    jax.config.update(option, before)


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python play kernels, to the same digits as compiled ones.

    For tests of few duels: compiling one takes seconds.
    """
    from tests.compiling import play_in_python

    play_in_python(monkeypatch)


@pytest.fixture
def strict_jax() -> Iterator[None]:
    """Let JAX refuse mixed dtypes and a key that is used twice.

    For policies, environments and the simulator; NumPyro's samplers fail under both.
    """
    import jax

    with jax.numpy_dtype_promotion("strict"), jax.debug_key_reuse(True):
        yield
