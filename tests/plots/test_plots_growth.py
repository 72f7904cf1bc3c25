"""Figures of growth: slopes beside their lines, and the bound they should reach."""

import numpy as np
import pytest

from bayesduel import plots
from bayesduel.analysis import slope, summary
from tests import fake_results as fake
from tests.figures import all_text, dashed
from theory import RegretBound, condorcet_lower_bound
from theory.theorems import ccb_order, double_thompson_refined_bound, rmed1_bound


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


def test_the_slope_of_the_figure_is_that_of_the_table():
    """One default for both: the last two decades."""
    tree = fake.comparison(horizons={("mslr5-condorcet", "D-TS"): 10**8},
                           labels=("D-TS",))  # fmt: skip
    text = all_text(plots.slopes(tree))
    (row,) = summary(tree).rows
    assert (row.slope.from_round, row.slope.to_round) == (10**6, 10**8)
    assert "$10^{6}$ to $10^{8}$" in text
    assert f"{row.slope.value:.1f} ± {row.slope.standard_error:.1f}" in text


def test_slopes_refuse_several_environments():
    with pytest.raises(ValueError, match="for one instance"):
        plots.slopes(fake.comparison(fake.TWO_MATRICES))


def test_slopes_without_a_bound():
    figure = plots.slopes(fake.comparison({"arxiv": fake.TIED}, ("D-TS",)))
    assert "not defined" in all_text(figure)
    assert not dashed(figure.axes[0])
    figure = plots.slopes(fake.comparison(labels=("D-TS",)), bound=None)
    assert "lower bound" not in all_text(figure)


def upper_of(policy, coefficient=70.0, **changes):
    fields = {"kind": "asymptotic upper", "regret": "copeland", "policy": policy}
    return RegretBound(
        name="a bound", log_coefficient=coefficient, **(fields | changes)
    )


def test_upper_bound_starts_on_the_line_of_its_policy():
    figure = plots.slopes(fake.comparison(), bound=upper_of("D-TS"), from_round=1000)
    (line,) = dashed(figure.axes[0])
    mean = fake.comparison()["mslr5-condorcet/D-TS/regret"].sel(checkpoint=1000).mean()
    assert line.get_ydata()[0] == pytest.approx(float(mean))
    text = all_text(figure)
    assert "upper bound" in text and "lower bound" not in text
    assert "a bound (asymptotic upper): 70.0 per log-round" in text.replace("\n", " ")


def test_slopes_refuse_bounds_that_are_no_slopes_of_theirs():
    tree = fake.comparison()
    cases = [
        (ccb_order(fake.CONDORCET), "CCB is 'order only'"),
        (upper_of("", kind="upper"), "must be asymptotic"),
        (double_thompson_refined_bound(fake.CONDORCET), "log log T"),
        (rmed1_bound(fake.CONDORCET), "condorcet_mean regret"),
        (upper_of("CCB"), "a bound is of CCB, not shown"),
        (3.0, "must be theory.RegretBounds"),
    ]
    for bound, text in cases:
        with pytest.raises(ValueError, match=text):
            plots.slopes(tree, bound=bound)


def test_slopes_of_another_regret_have_the_bound_of_that_regret():
    tree = fake.comparison(notions=("condorcet_mean", "borda"))
    lines = dashed(plots.slopes(tree, notion="condorcet_mean").axes[0])
    assert len(lines) == len(fake.POLICIES)
    constant = condorcet_lower_bound(fake.CONDORCET).log_coefficient
    for line in lines:
        rounds, values = line.get_data()
        assert values[1] - values[0] == pytest.approx(constant * np.log(100))
        assert list(rounds) == [10**4, 10**6]
    row = summary(tree, notion="condorcet_mean").rows[0]
    assert row.lower_bound == pytest.approx(constant)
    assert row.lower_bound_winner == 0 and not row.note
