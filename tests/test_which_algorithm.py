"""The page that recommends algorithms agrees with its own figures."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bayesduel import plots, policies

PAGE = Path(__file__).parents[1] / "docs" / "which_algorithm.md"
FALSE_ALARM = 1e-3  # The rate for each of a dozen comparisons.

pytestmark = pytest.mark.skipif(
    not PAGE.is_file(), reason="the documentation is not part of the distribution"
)


def cells():
    text = PAGE.read_text("utf-8")
    return re.findall(r"^```\{code-cell\} ipython3\n(.*?)^```", text, re.DOTALL | re.M)


def test_every_name_on_the_page_is_of_a_policy():
    text = PAGE.read_text("utf-8")
    questions = text.partition("stop at the first one")[2].partition("\n\nFor each")[0]
    named = re.findall(r"`([a-z][a-z0-9+-]*)(?::[^`]*)?`", questions)
    assert len(named) > 10
    assert set(named) <= {*policies.names(), *policies.subset_names(), "mdb"}


@pytest.mark.slow
def test_no_figure_shows_a_policy_ahead_of_the_one_that_is_recommended(monkeypatch):
    """The one named first in a figure, beside all others in the same runs."""
    first, *others = cells()
    shown = []
    monkeypatch.setattr(
        plots, "regret", lambda result, notion, **rest: shown.append((result, notion))
    )
    world = {}
    exec(first, world)
    for cell in others:
        exec(cell, world)
    assert len(shown) == len(others) >= 9
    for result, notion in shown:
        nodes = [node for node in result.subtree if "regret" in node]
        regret = [node["regret"].sel(notion=notion).values[:, -1] for node in nodes]
        for node, values in zip(nodes[1:], regret[1:], strict=True):
            excess = regret[0] - values
            error = excess.std(ddof=1) / np.sqrt(excess.size)
            limit = stats.t.isf(FALSE_ALARM, excess.size - 1)
            assert excess.mean() <= limit * error, (nodes[0].path, node.path)
