"""A command line whose simulator is a fake: instant, with known numbers."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import pytest
from typer.testing import CliRunner

import bayesduel
from bayesduel.cli import app
from bayesduel.errors import PolicyParameterError
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


NAMES = ("d-ts", "d-ts+", "rucb", "rmed1", "ecw-rmed")


def parse(text):
    name, _, rest = text.partition(":")
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

    def compare(self, environments, policies, **options):
        self.calls.append(
            SimpleNamespace(environments=environments, policies=policies, **options)
        )
        if self.error is not None:
            raise self.error
        matrices = {matrix.name: matrix.values for matrix in environments}
        rounds = options.get("checkpoints") or fake.decade_grid(options["horizon"])
        return fake.comparison(
            matrices,
            [policy.label for policy in policies],
            failed=self.failed,
            rounds=rounds,
            num_runs=options["num_runs"],
            notions=options.get("regret", ("copeland",)),
        )


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
        get=lambda name, **parameters: FakePolicy(name, **parameters),
        parse=parse,
        parameters=lambda policy: {
            "alpha": policy.alpha,
            "look_ahead": policy.look_ahead,
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
