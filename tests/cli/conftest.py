"""A command line whose simulator is a fake: instant, with known numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import bayesduel
from bayesduel.experiments import execute
from bayesduel.experiments.folder import RunFolder
from tests import fake_results as fake
from tests.command_line import invoke
from tests.figures import drawn, saved_undrawn, whole_fits

__all__ = ["drawn", "engine", "run", "saved_undrawn", "whole_fits"]


VOTES = """left,right,winner,times
tea,milk,left,7
milk,tea,left,2
tea,water,tea,9
water,milk,tie,3
milk,water,right,4
water,tea,left,1
milk,tea,tie,2
"""


@pytest.fixture
def votes(tmp_path):
    """Return a file of votes on three drinks."""
    path = tmp_path / "drinks.csv"
    path.write_text(VOTES, encoding="utf-8")
    return path


@dataclass
class FakeEngine:
    """Stands for ``run_experiment``: records calls, returns made-up trees."""

    calls: list[SimpleNamespace] = field(default_factory=list)
    failed: dict = field(default_factory=dict)
    error: BaseException | None = None
    happens: Callable[[], object] = lambda: None
    """Something that happens in the middle of a comparison."""

    def run(self, experiment, *, out=None, resume=False, overwrite=False, **options):
        if out is not None:
            folder = RunFolder.claim(
                out, kind="comparison", resume=resume, overwrite=overwrite
            )
            folder.release()
        folder = {"out": out, "resume": resume, "overwrite": overwrite}
        self.calls.append(SimpleNamespace(**vars(experiment), **folder, **options))
        self.happens()
        if self.error is not None:
            raise self.error
        # For a world only the layout of the tree is made.
        matrices = {
            instance.name: getattr(
                instance, "values", np.full((instance.num_arms,) * 2, 0.5)
            )
            for instance in experiment.instances
        }
        parts = {
            name: fake.comparison(
                {name: matrices[name]}, experiment.labels, failed=self.failed,
                notions=notions, rounds=experiment.checkpoints,
                num_runs=experiment.num_runs,
            )
            for name, notions in experiment.notions.items()
        }  # fmt: skip
        trees = {name: part[name] for name, part in parts.items()}
        root = next(iter(parts.values())).to_dataset()
        return xr.DataTree(root, children=trees)


def install(monkeypatch, name, **contents):
    """Put a module in the place of a submodule of bayesduel."""
    import_module(f"bayesduel.{name}")  # Else the package would look for the fake one.
    module = ModuleType(f"bayesduel.{name}")
    module.__dict__.update(contents)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(bayesduel, name, module, raising=False)


@pytest.fixture
def engine(monkeypatch):
    """Return a fake simulator behind the command line."""
    result = FakeEngine()
    monkeypatch.setattr(execute, "run_experiment", result.run)
    return result


@pytest.fixture
def run(monkeypatch):
    """Return a function that runs the command line, which ends with ``code``."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")

    def runs(*arguments, code=0, typed=None):
        result = invoke([str(argument) for argument in arguments], input=typed)
        assert result.exit_code == code, result.output
        return result

    return runs


@pytest.fixture
def refused(run):
    """Return a function that types a line which is refused in one line."""

    def refused(*line, words):
        result = run(*line, code=2)
        assert result.stdout == "" and "Traceback" not in result.stderr
        *_, last = result.stderr.splitlines()
        assert last.startswith("error: ") and words in last and len(last) < 999

    return refused
