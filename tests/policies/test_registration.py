"""Policies enter the registry where they are written; users' policies too."""

from itertools import groupby

import pytest

import bayesduel
from bayesduel import policies
from bayesduel.policies import registry
from bayesduel.policies.subset_base import OfferingPolicy
from bayesduel.policies.thompson.double_thompson import DoubleThompson


@pytest.fixture
def own_registry(monkeypatch):
    """Let a test register what the others never see."""
    registry.entries()  # Imported modules register once.
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


def test_every_policy_is_found_where_it_is_written():
    modules = registry.modules()
    assert [*modules][:4] == ["d-ts", "d-ts+", "pure-d-ts", "bt-ts"]
    assert len(modules) > 40
    for name, entry in registry.entries().items():
        assert entry.kind.__module__ == modules[name]
        assert issubclass(entry.kind, OfferingPolicy) == (
            name in policies.subset_names()
        )


def test_a_policy_is_entered_by_its_file_alone(monkeypatch, tmp_path):
    """Its module is found in the source, and not imported for that."""
    monkeypatch.setattr(registry, "__file__", str(tmp_path / "registry.py"))
    for name, text in {
        "kept.py": '@register("kept", acronym="K")\nclass Kept: ...\n',
        "ucb/new.py": """
def register_nothing(): '@register("no")'
@register(
    "new-long", acronym="New, long", rounds=100
)
@register("new", acronym="New")
class New: 1 / 0
@register("newer", acronym="Newer")
class Newer: 1 / 0
""",
        "thompson/old.py": '@register("old", acronym="Old")\nclass Old: 1 / 0\n',
        "axes/other.py": '@register("other", acronym="O")\nclass Other: 1 / 0\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    result = registry.modules.__wrapped__()
    assert [*result] == ["old", "new", "new-long", "newer", "other", "kept"]
    assert result["new-long"] == "bayesduel.policies.ucb.new"


def test_families_are_listed_one_after_the_other():
    families = [registry.entries()[name].family for name in policies.names()]
    runs = [family for family, _ in groupby(families)]
    assert runs == [*dict.fromkeys(families)]
    assert runs[0] == "thompson" and runs[-1] == ""
    assert {registry.entries()[x].family for x in policies.subset_names()} == {
        "subsets"
    }
