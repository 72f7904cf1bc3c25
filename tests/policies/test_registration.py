"""Policies enter the registry where they are written; users' policies too."""

import re
from itertools import groupby
from pathlib import Path

import pytest

import bayesduel
from bayesduel import policies
from bayesduel.policies import registry
from bayesduel.policies.subset_base import OfferingPolicy
from bayesduel.policies.thompson.double_thompson import DoubleThompson


@pytest.fixture
def own_registry(monkeypatch):
    """Let a test register what the others never see."""
    registry.entries()  # What is imported registers once.
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))


class ExploreFirst(bayesduel.Policy):
    rounds: int = 100


def test_a_class_of_ones_own_registers_and_is_found(own_registry):
    before = policies.names()
    kind = policies.register("explore-first", acronym="Explore first")(ExploreFirst)
    kind = policies.register(
        "explore-first-long", acronym="Explore first, long", rounds=1000
    )(kind)
    assert kind is ExploreFirst
    assert policies.names() == (*before, "explore-first", "explore-first-long")
    assert policies.parse_policy("explore-first:rounds=50") == ExploreFirst(rounds=50)
    assert policies.get("explore-first", rounds=50).label == "Explore first:rounds=50"
    assert policies.get("explore-first-long").label == "Explore first, long"
    assert policies.get("explore-first-long").name == "explore-first-long"


def test_a_name_belongs_to_one_class(own_registry):
    with pytest.raises(ValueError, match="DoubleThompson, got 'd-ts'; choose another"):
        policies.register("d-ts", acronym="D-TS")(ExploreFirst)
    # A module that is loaded again registers its class again.
    policies.register("d-ts", acronym="D-TS")(DoubleThompson)


def test_the_table_says_where_every_policy_is_written():
    folder = Path(policies.__file__).parent
    written = {
        name: path.relative_to(folder).with_suffix("").as_posix().replace("/", ".")
        for path in folder.rglob("*.py")
        for name in re.findall(r'^@register\(\s*"([^"]+)"', path.read_text(), re.M)
    }
    assert written == registry.MODULES
    for name, entry in registry.entries().items():
        assert entry.kind.__module__ == f"bayesduel.policies.{registry.MODULES[name]}"
        assert issubclass(entry.kind, OfferingPolicy) == (
            name in policies.subset_names()
        )


def test_families_are_listed_one_after_the_other():
    families = [registry.entries()[name].family for name in policies.names()]
    runs = [family for family, _ in groupby(families)]
    assert runs == [*dict.fromkeys(families)]
    assert runs[0] == "thompson" and runs[-1] == ""
    assert {registry.entries()[x].family for x in policies.subset_names()} == {
        "subsets"
    }
