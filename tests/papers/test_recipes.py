"""The recipes of the papers' figures: complete, and about what exists."""

import pytest

from bayesduel import instances, policies
from bayesduel.errors import UnknownNameError
from bayesduel.instances import choice
from bayesduel.papers import recipes
from bayesduel.papers.claims import check_claim
from bayesduel.papers.figures import _bounds
from bayesduel.papers.reproducing import FIXED_ORDER, PanelResult
from theory import REGRET_NOTIONS
from theory.choice import SUBSET_REGRET_NOTIONS

ALL = recipes.all_names()
KINDS = ("regret", "spread", "exploitation", "games", "games-by-arms", "delays")


def test_the_figures_of_the_papers_are_there():
    assert {"dts-1", "dts-2", "dts-3", "dts-4", "dts-5", "dts-6", "dts-7", "cw-rmed-1",
            "cw-rmed-2", "batched-1", "batched-2", "sup-klucb-a", "sup-klucb-b"} \
        <= set(recipes.names())  # fmt: skip
    with pytest.raises(UnknownNameError, match="no figure 'dts-99'; .*all: batch"):
        recipes.load("dts-99")


@pytest.mark.parametrize("name", ALL)
def test_environments_exist(name):
    recipe = recipes.load(name)
    assert recipe.kind in KINDS
    assert recipe.notion in (*REGRET_NOTIONS, *SUBSET_REGRET_NOTIONS)
    keys = [panel.key for panel in recipe.panels]
    assert len(set(keys)) == len(keys)
    assert len({panel.label for panel in recipe.panels}) == len(keys)
    for panel in recipe.panels:
        ((kind, what),) = panel.instance.items()
        if kind == "matrix":
            assert instances.load(what).num_arms > 1
        elif kind == "world":
            world = instances.choice.load_world(what)
            world.check_notion(recipe.notion)
            for text in panel.policies:
                policies.parse_policy(text).check_world(world, panel.horizon)
        elif kind == "mslr":
            assert what in instances.MSLR_SELECTIONS
        elif kind == "mslr_random":
            assert set(what) == {"arms", "min_gap", "winner", "seed"}
        else:
            assert set(what) == {"count", "fewest_arms", "most_arms", "seed"}
        assert (kind == "games") == recipe.kind.startswith("games")
        assert panel.runs >= 10
        assert panel.horizon >= 10**5


@pytest.mark.parametrize("name", ALL)
def test_policies_exist_and_statements_are_about_what_is_measured(name):
    recipe = recipes.load(name)
    assert not recipe.missing and recipe.claims
    panels = {panel.key: panel for panel in recipe.panels}
    for panel in recipe.panels:
        labels = [policies.parse_policy(text).label for text in panel.policies]
        assert len(set(labels)) == len(labels)
        assert set(panel.unshuffled) <= set(panel.policies)
        assert not set(panel.optional) & set(panel.policies)
    for claim in recipe.claims:
        assert check_claim(claim, "", {}, notion=recipe.notion) == []
        assert claim.panels and not claim.text.endswith(".")
        for key in claim.panels:
            panel = panels[key]
            assert claim.at <= panel.horizon
            there = {*panel.policies, *panel.optional}
            there |= {text + FIXED_ORDER for text in panel.unshuffled}
            assert set(claim.first) | set(claim.second) <= there
        if claim.kind in ("similar", "spread"):
            assert 0 < claim.tolerance < 1
        if claim.kind in ("less", "less-spread", "more-diverse"):
            assert not set(claim.first) & set(claim.second)


def test_bounds_of_the_figures_are_those_of_their_worlds():
    """As the recipes say: above all that can be lost at these horizons."""
    panels = [PanelResult(panel, {}, ()) for panel in recipes.load("subset-1").panels]
    result = _bounds(panels)
    assert set(result) == {item.panel.label for item in panels}
    for item in panels:
        gap, free = result[item.panel.label]
        assert "Lemmas 7 and 8" in gap.source and "Theorem 4" in free.source
        table = choice.load_world(item.panel.instance["world"]).table()
        most = item.panel.horizon * (table.totals.max() - table.totals.min())
        assert min(gap(item.panel.horizon), free(item.panel.horizon)) > most
