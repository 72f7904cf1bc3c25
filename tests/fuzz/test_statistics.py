"""Models, diagnostics, figures and analysis answer, or refuse in our own words.

As in ``test_functions.py``, for everything in ``tests/fuzz/targets``. What would
sample for long is replaced; what is closed or small is computed.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesduel.errors import DisconnectedComparisonsWarning
from bayesduel.models.base import PreferenceModel
from bayesduel.models.fit import fitting
from tests.fuzz.fuzzing import (
    MANY_EXAMPLES,
    WRONG_NUMBERS,
    StartedError,
    short_text,
    started,
)
from tests.fuzz.targets import PACKAGES, TARGETS
from tests.fuzz.targets.values import FILES, WRONG, Made
from tests.fuzz.test_functions import check

RECORDS = {
    "models": {"Fit", "GroupFits", "ModeFit"},
    "diagnostics": {"Calibration", "Report", "Transitivity"},
    "plots": {"StyledFigure"},
    "analysis": {
        *("AnchoredBound", "Difference", "FinalRegret", "Measurement", "Ranking"),
        *("PairedIntervals", "RankedPolicy", "Slope", "Summary", "SummaryRow"),
        *("AuditRow", "AuditedRule", "StoppingAudit", "SimulatedBayesRegret"),
    },
    "papers": {"SubmatrixConstants", "SubmatrixRow"},
}
"""Classes of results, which nobody but a function makes."""

FOREIGN = {
    f"StyledFigure.{name}" for name in ("draw", "get_tightbbox", "savefig", "set")
}
"""Methods of matplotlib."""

FOR_MODELS = {
    *("PreferenceModel", "Votes", "Votes.differences", "Votes.incidence"),
    *("Votes.ordered", "Votes.size"),
    *("Votes.laplacian", "count_votes", "derived", "register_arrays", "sample"),
}
"""Functions that a user's model calls with arguments from the package."""

STARTED = (
    "bayesduel.analysis.simulated.bayes_regret.run_chunk",
    "bayesduel.analysis.simulated.stopping_audits.decisions",
    "bayesduel.experiments.execute.execute",
    "bayesduel.models.checks.calibration.sample_prior",
    "bayesduel.models.checks.cross_validation._refits",
    "bayesduel.models.fit.datatree.sample_prior",
)
"""Where a valid request begins to compute."""


@contextmanager
def nothing_long_runs() -> Iterator[None]:
    """Go to a folder of small files, and replace whatever samples."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        stack.enter_context(chdir(folder))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        stack.enter_context(mock.patch.object(fitting, "_sampler", starting))
        for each in STARTED:
            stack.enter_context(mock.patch(each, started))
        yield


sampler = fitting._sampler


def starting(method: str) -> Any:
    """Return what stands for a sampler; a fit reads its options."""
    return wraps(sampler(method))(started)


def made(value: Any) -> Any:
    """Return a value, and those in a list, made where they have to be."""
    if isinstance(value, list):
        return [made(each) for each in value]
    return value.make() if isinstance(value, Made) else value


def call(name: str, given: dict[str, Any]) -> None:
    """Make one call."""
    target = TARGETS[name]
    arguments = {key: made(each) for key, each in {**given, **target.fixed}.items()}
    text = ", ".join(f"{key}={short_text(value)}" for key, value in given.items())
    with nothing_long_runs():
        check((f"{name}({text})", partial(target.function, **arguments)))


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a target and its arguments; mostly one of them is wrong."""
    name = draw(st.sampled_from(sorted(TARGETS)))
    target = TARGETS[name]
    needed, given = target.needed(), {}
    for key, values in target.values.items():
        kind = draw(st.integers(0, 9))
        if kind < 4 and key not in needed:
            continue
        if kind < 6:
            given[key] = values[0]
        elif kind < 8:
            given[key] = draw(st.sampled_from(values))
        else:
            wrong = WRONG_NUMBERS if draw(st.booleans()) else WRONG
            given[key] = draw(st.sampled_from(wrong))
    return name, given


def own_methods(kind: type) -> dict[str, Any]:
    """Return what a class, and what it inherits from its own folder, defines."""
    folder = kind.__module__.rpartition(".")[0]
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.rpartition(".")[0] == folder:
            found |= vars(each)
    return found


def public_parts(package: Any) -> Iterator[str]:
    """Yield what somebody can call with arguments: functions, classes, methods."""
    for name in package.__all__:
        each = getattr(package, name)
        if not isinstance(each, type):
            yield name
            continue
        yield name
        for method, function in own_methods(each).items():
            if method.startswith("_") and method != "__call__":
                continue
            function = getattr(function, "__func__", function)
            if inspect.isfunction(function):
                if len(inspect.signature(function).parameters) > 1:
                    yield f"{name}.{method}"


@pytest.mark.parametrize("name", PACKAGES)
def test_everything_public_is_fuzzed(name):
    package, _ = PACKAGES[name]
    parts = {
        part
        for part in public_parts(package)
        # The library calls methods of models with arguments that it made itself.
        if not ("." in part and issubclass(owner(package, part), PreferenceModel))
    }
    targets = {key.partition(".")[2] for key in TARGETS if key.startswith(f"{name}.")}
    assert parts - RECORDS[name] - FOREIGN - FOR_MODELS == targets
    assert RECORDS[name] <= parts


def owner(package: Any, part: str) -> type:
    return getattr(package, part.split(".")[0])


def test_every_argument_is_fuzzed():
    for name, target in TARGETS.items():
        signature = inspect.signature(target.function).parameters.values()
        named = {each.name for each in signature if each.kind is not each.VAR_KEYWORD}
        assert named <= set(target.values) | set(target.fixed), name
        assert target.needed() <= set(target.values), name


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_the_first_values_are_right(name):
    target = TARGETS[name]
    given = {key: target.values[key][0] for key in target.needed()}
    arguments = {key: made(each) for key, each in {**given, **target.fixed}.items()}
    # A long computation that starts has accepted its arguments.
    with nothing_long_runs(), suppress(StartedError):
        target.function(**arguments)


SAMPLE = settings(max_examples=60)


@SAMPLE
@given(calls())
def test_a_sample_of_calls(one):
    call(*one)


@pytest.mark.slow
@settings(max_examples=MANY_EXAMPLES)
@given(calls())
def test_calls(one):
    call(*one)
