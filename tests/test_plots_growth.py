"""Figures of growth: slopes beside their lines, and the bound they should reach."""

import numpy as np
import pytest

from bayesduel import plots
from bayesduel.analysis import slope
from tests import fake_results as fake
from tests.figures import all_text, dashed


def test_slopes_are_written_beside_the_lines():
    tree = fake.comparison(horizons=dict.fromkeys(
        [("mslr5-condorcet", label) for label in fake.POLICIES], 10**12
    ))  # fmt: skip
    figure = plots.slopes(tree, from_round=10**6)
    text = all_text(figure)
    for label in fake.POLICIES:
        found = slope(tree[f"mslr5-condorcet/{label}"], 10**6, 10**12)
        assert f"{found.value:.1f} ± {found.standard_error:.1f}" in text
        assert label in text
    assert "66.8" in text
    assert "$10^{6}$ to $10^{12}$" in text
    lines = dashed(figure.axes[0])
    assert len(lines) == len(fake.POLICIES)
    for line in lines:
        rounds, values = line.get_data()
        grown = (values[1] - values[0]) / np.log(rounds[1] / rounds[0])
        assert grown == pytest.approx(66.769318, rel=1e-6)


def test_slopes_by_default_from_the_square_root_of_the_horizon():
    tree = fake.comparison(horizons={("mslr5-condorcet", "D-TS"): 10**8},
                           labels=("D-TS",))  # fmt: skip
    assert "$10^{4}$ to $10^{8}$" in all_text(plots.slopes(tree))


def test_slopes_refuse_several_environments():
    with pytest.raises(ValueError, match="for one environment"):
        plots.slopes(fake.comparison(fake.TWO_MATRICES))
    plots.slopes(fake.comparison(fake.TWO_MATRICES)["mslr5-condorcet"])


def test_slopes_without_a_bound():
    figure = plots.slopes(fake.comparison({"arxiv": fake.TIED}, ("D-TS", "RUCB")))
    assert "not defined" in all_text(figure)
    assert not dashed(figure.axes[0])
    figure = plots.slopes(fake.comparison(), bound=None)
    assert "lower bound" not in all_text(figure)
