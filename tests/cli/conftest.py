"""A command line whose simulator is a fake: instant, with known numbers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import bayesduel
import bayesduel.experiments.checks  # Needs the true policies: before they go.
from bayesduel.cli import app
from bayesduel.errors import AssumptionWarning, PolicyParameterError
from bayesduel.policies.subset_base import SubsetPolicy
from tests import fake_results as fake


@dataclass(frozen=True)
class FakePolicy:
    """A policy with one number and one switch."""

    name: str
    alpha: float = 0.51
    look_ahead: bool = True

    title = "a fake"

    def check(self, num_arms, horizon):
        if self.alpha <= 0.5:
            raise PolicyParameterError(f"alpha must be above 0.5, got {self.alpha}")

    @property
    def label(self):
        label = self.name.upper()
        return label if self.alpha == 0.51 else f"{label} (alpha={self.alpha})"


@dataclass(frozen=True)
class FakeSubsetPolicy(SubsetPolicy):
    """A policy that offers sets, of worlds that it is told to doubt."""

    key: str
    doubts: bool = False

    title = "a fake for sets"

    def warn_about(self, world):
        if self.doubts:
            warnings.warn(f"{self.label} doubts", AssumptionWarning, stacklevel=2)

    @property
    def label(self):
        return self.key.upper()


NAMES = ("d-ts", "d-ts+", "rucb", "rmed1", "ecw-rmed")


SUBSET_NAMES = ("cucb", "doubtful")


def parse(text):
    name, _, rest = text.partition(":")
    if name in SUBSET_NAMES:
        return FakeSubsetPolicy(name, doubts=name == "doubtful")
    parameters = dict(part.split("=") for part in rest.split(",") if part)
    unknown = set(parameters) - {"alpha", "look_ahead"}
    if unknown:
        raise ValueError(f"unknown parameter {min(unknown)!r}; did you mean alpha?")
    return FakePolicy(
        name,
        float(parameters.get("alpha", 0.51)),
        parameters.get("look_ahead", "true") == "true",
    )


@dataclass
class FakeEngine:
    """Stands for ``bayesduel.experiments``: records calls, returns made-up trees."""

    calls: list[SimpleNamespace] = field(default_factory=list)
    failed: dict = field(default_factory=dict)
    error: BaseException | None = None
    happens: Callable[[], object] = lambda: None
    """What happens in the middle of a comparison."""

    def compare(self, environments, policies, **options):
        self.calls.append(
            SimpleNamespace(environments=environments, policies=policies, **options)
        )
        self.happens()
        if self.error is not None:
            raise self.error
        # Of a world nothing but the tree's layout is made up.
        matrices = {
            each.name: getattr(each, "values", np.full((each.num_arms,) * 2, 0.5))
            for each in environments
        }
        rounds = options.get("checkpoints") or fake.decade_grid(options["horizon"])
        labels = [policy.label for policy in policies]
        settings = {"rounds": rounds, "num_runs": options["num_runs"]}
        notions = options.get("regret", ("copeland",))
        if notions is not None:
            return fake.comparison(
                matrices, labels, failed=self.failed, notions=notions, **settings
            )
        parts = {
            each.name: fake.comparison(
                {each.name: matrices[each.name]},
                labels,
                notions=(each.regret,),
                **settings,
            )[each.name]
            for each in environments
        }
        return xr.DataTree.from_dict(parts)


def install(monkeypatch, name, **contents):
    """Put a module in the place of a submodule of bayesduel."""
    module = ModuleType(f"bayesduel.{name}")
    module.__dict__.update(contents)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(bayesduel, name, module, raising=False)


@pytest.fixture
def engine(monkeypatch):
    """Return a fake simulator behind the command line, with fake policies."""
    found = FakeEngine()
    install(monkeypatch, "experiments", compare=found.compare)
    install(
        monkeypatch,
        "policies",
        names=lambda: NAMES,
        subset_names=lambda: SUBSET_NAMES,
        get=lambda name, **parameters: (
            FakeSubsetPolicy(name)
            if name in SUBSET_NAMES
            else FakePolicy(name, **parameters)
        ),
        parse=parse,
        parameters=lambda policy: {
            key: value
            for key, value in vars(policy).items()
            if key not in ("name", "key")
        },
    )
    return found


@pytest.fixture
def run(monkeypatch):
    """Return a function that runs the command line with arguments."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")

    def runs(*arguments):
        return CliRunner().invoke(app, [str(each) for each in arguments])

    return runs
