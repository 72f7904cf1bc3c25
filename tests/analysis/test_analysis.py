"""Slopes, summaries and anchored bounds, on result trees with known numbers."""

import math

import numpy as np
import pytest

from bayesduel.analysis import (
    anchored_bound,
    lower_bound,
    measurements,
    rankings,
    regret_dataframe,
    slope,
    summary,
)
from bayesduel.analysis.slopes import last_decades
from bayesduel.analysis.text import format_number, format_rounds, format_with_error
from tests import fake_results as fake
from theory import copeland_lower_bound

ROUNDS = np.array([100, 1000, 10_000, 100_000])


def exact_node(constants, level=7.0):
    """Return a node whose run r has regret constants[r] * log t + level."""
    node = fake.policy_node(rounds=ROUNDS, num_runs=len(constants))
    regret = np.outer(constants, np.log(ROUNDS)) + level
    node["regret"] = (("notion", "run", "checkpoint"), regret[None])
    return node


def test_slope_is_the_mean_over_runs_with_its_standard_error():
    constants = [60.0, 66.0, 75.0]
    measured_slope = slope(exact_node(constants), 1000, 100_000)
    assert measured_slope.value == pytest.approx(67.0, rel=1e-12)
    expected = np.std(constants, ddof=1) / math.sqrt(3)
    assert measured_slope.standard_error == pytest.approx(expected, rel=1e-10)
    assert (
        measured_slope.from_round,
        measured_slope.to_round,
        measured_slope.num_runs,
    ) == (1000, 100_000, 3)
    assert float(measured_slope) == measured_slope.value


def test_slope_uses_only_the_two_checkpoints():
    node = exact_node([10.0, 20.0])
    node["regret"][:, :, 0] = 12345.0
    node["regret"][:, :, 2] = -99.0
    assert slope(node, 1000, 100_000).value == pytest.approx(15.0)
    assert slope(node, 100, 100_000).value < 0


def test_slope_of_one_run_has_an_infinite_standard_error():
    measured_slope = slope(exact_node([66.0]), 100, 100_000)
    assert measured_slope.value == pytest.approx(66.0)
    assert measured_slope.standard_error == math.inf
    assert "1 run" in str(measured_slope)


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        ((500, 100_000), "from_round must .* 100 and 1000, got 500;"),
        ((1000, 200_000), "to_round must .* is 100000, got 200000;"),
        ((5, 100_000), "from_round must .* is 100, got 5;"),
        ((1000, 1000), "must come before"),
    ],
)
def test_slope_names_the_nearest_checkpoints(rounds, words):
    with pytest.raises(ValueError, match=words):
        slope(exact_node([1.0, 2.0]), *rounds)


def test_slope_of_another_notion():
    node = fake.policy_node(notions=("copeland", "borda"))
    first, last = 10_000, 10**6
    ratio = slope(node, first, last, "borda").value / slope(node, first, last).value
    assert ratio == pytest.approx(2.0)
    with pytest.raises(ValueError, match="recorded, copeland, borda, got 'weak'"):
        slope(node, first, last, notion="weak")


def test_slope_of_a_tree_needs_one_policy():
    tree = fake.comparison(labels=("D-TS", "RUCB"))
    with pytest.raises(ValueError, match="2 .*mslr5-condorcet/D-TS"):
        slope(tree, 10_000, 10**6)
    assert slope(tree["mslr5-condorcet/D-TS"], 10_000, 10**6).num_runs == 40


def test_measurements_keep_order_matrix_and_failures():
    tree = fake.comparison(
        {"a": fake.CONDORCET, "b": fake.TIED},
        ("RUCB", "D-TS"),
        failed={("b", "D-TS"): "boom"},
    )
    measured = measurements(tree)
    assert [(item.instance, item.policy) for item in measured] == [
        ("a", "RUCB"), ("a", "D-TS"), ("b", "RUCB"), ("b", "D-TS"),
    ]  # fmt: skip
    assert measured[3].error == "boom"
    assert not measured[0].error
    assert np.array_equal(measured[2].preference, fake.TIED)
    with pytest.raises(ValueError, match="boom"):
        measured[3].regret()
    with pytest.raises(ValueError, match="no policy"):
        measurements(fake.environment_node(fake.CONDORCET, "only a matrix"))


def test_last_decades_ends_before_the_horizon():
    assert last_decades(ROUNDS) == (1000, 100_000)
    assert last_decades(np.array([90, 100])) == (90, 100)
    assert last_decades(np.array([1, 10**9])) == (1, 10**9)
    assert last_decades(fake.decade_grid(10**6), 4.0) == (100, 10**6)
    with pytest.raises(ValueError, match="at least two"):
        last_decades(np.array([100]))


def test_summary_statistics_of_the_last_checkpoint():
    constants = np.array([40.0, 60.0, 66.0, 75.0, 80.0])
    node = exact_node(constants, level=0.0)
    row = summary(node).rows[0]
    final = constants * math.log(100_000)
    assert row.regret.mean == pytest.approx(final.mean())
    assert row.regret.std == pytest.approx(final.std(ddof=1))
    assert row.regret.standard_error == pytest.approx(final.std(ddof=1) / math.sqrt(5))
    assert row.regret.median == pytest.approx(final[2])
    assert row.regret.quantile_10 == pytest.approx(np.quantile(final, 0.1))
    assert row.regret.quantile_90 == pytest.approx(np.quantile(final, 0.9))
    assert (row.slope.from_round, row.slope.to_round) == (1000, 100_000)
    row = summary(node, from_round=100, to_round=10_000).rows[0]
    assert (row.slope.from_round, row.slope.to_round) == (100, 10_000)


def test_summary_says_in_words_that_a_tie_leaves_no_bound():
    table = summary(fake.comparison({"arxiv": fake.TIED}, ("D-TS",)))
    row = table.rows[0]
    assert row.lower_bound is None
    assert row.ratio is None
    assert row.note == "lower bound: not defined (tie between 3 and 5)"
    assert row.slope is not None
    assert "not defined (tie between 3 and 5)" in str(table)


def test_summary_of_one_run_or_one_checkpoint():
    one_run = summary(fake.comparison(labels=("D-TS",), num_runs=1)).rows[0]
    assert one_run.regret.standard_error == math.inf
    assert one_run.regret.std == math.inf
    one_point = summary(
        fake.comparison(labels=("D-TS",), rounds=np.array([1000]))
    ).rows[0]
    assert one_point.slope is None
    assert "two checkpoints" in one_point.note


def test_summary_text_says_seed_version_and_failures():
    key = ("mslr5-condorcet", "RUCB")
    table = summary(fake.comparison(labels=("D-TS", "RUCB"), failed={key: "boom"}))
    good, bad = table.rows
    assert good.regret is not None and bad.regret is None
    assert bad.error == "boom"
    text = str(table)
    assert "seed 1, bayesduel 0.1.0" in text
    assert "RUCB failed: boom" in text
    lines = text.splitlines()
    assert lines[0].startswith("instance")
    assert lines[1].startswith("mslr5-condorcet")


def test_anchored_bound_has_the_slope_of_the_bound():
    optimum = copeland_lower_bound(fake.CONDORCET)
    line = anchored_bound(optimum, 10_000, 300.0)
    values = line([10_000, 10_000 * math.e])
    assert values[0] == pytest.approx(300.0)
    assert values[1] - values[0] == pytest.approx(optimum.value, rel=1e-9)
    assert anchored_bound(optimum.bound, 10_000, 300.0)(10**6) == pytest.approx(
        300.0 + optimum.value * math.log(100)
    )


def test_lower_bound_names_arms_and_counts_ties():
    arms = ("a", "b", "c", "d", "e", "f")
    assert lower_bound(fake.TIED, arms)[1].endswith("(tie between d and f)")
    halves = np.full((3, 3), 0.5)
    assert lower_bound(halves)[1].endswith("(tie between 0 and 1 and 2 more)")


def test_numbers_and_rounds_are_written_for_readers():
    """More of them stand in the docstrings."""
    for value, error, text in (
        (66.0, 9.96, "66 ± 10"),
        (1.2345, 0.0123, "1.23 ± 0.01"),
        (5.0, 0.0, "5.00 ± 0"),
        (5.0, math.inf, "5.00 (1 run)"),
    ):
        assert format_with_error(value, error) == text
    assert format_number(0.0) == "0"
    rounds = (10**12, 2 * 10**5, 123456, 1000)
    written = ["10^12", "2·10^5", "123456", "1000"]
    assert [format_rounds(item) for item in rounds] == written


def test_frames_hold_what_the_tables_print():
    tree = fake.comparison(
        {"mslr5-condorcet": fake.CONDORCET, "arxiv": fake.TIED},
        labels=("D-TS", "RUCB"),
        failed={("arxiv", "RUCB"): "it broke"},
    )
    rows = summary(tree)
    frame = rows.to_dataframe()
    assert len(frame) == len(rows.rows) == 4
    first, broken = rows.rows[0], frame.iloc[3]
    assert first.regret is not None and first.slope is not None
    assert frame.loc[0, "regret_mean"] == first.regret.mean
    assert frame.loc[0, "regret_quantile_90"] == first.regret.quantile_90
    assert frame.loc[0, "slope"] == first.slope.value
    assert frame.loc[0, "slope_from_round"] == first.slope.from_round
    assert frame["lower_bound"].isna().tolist() == [False, False, True, True]
    assert broken["error"] == "it broke" and math.isnan(broken["slope_standard_error"])
    (ranking,) = rankings(tree)
    ranks = ranking.to_dataframe().set_index("policy")
    for policy in ranking.policies:
        assert ranks.loc[policy.policy, "mean"] == policy.mean
        assert ranks.loc[policy.policy, "worst_rank"] == policy.worst_rank
    (pair,) = ranking.differences_to_dataframe().to_dict("records")
    assert pair["verdict"] == ranking.differences[0].verdict
    assert (pair["instance"], pair["notion"]) == ("mslr5-condorcet", "copeland")


def test_regret_in_long_form_keeps_every_run_and_checkpoint():
    tree = fake.comparison(labels=("D-TS", "RUCB"), num_runs=3)
    tree["mslr5-condorcet/D-TS"]["run"] = [7, 8, 9]
    frame = regret_dataframe(tree)
    for label in ("D-TS", "RUCB"):
        node = tree[f"mslr5-condorcet/{label}"]
        given = frame[frame["policy"] == label]
        table = given.pivot(index="run", columns="checkpoint", values="regret")
        assert table.index.tolist() == node["run"].values.tolist()
        assert table.columns.tolist() == node["checkpoint"].values.tolist()
        np.testing.assert_array_equal(table, node["regret"].values[0])
    assert regret_dataframe(tree["mslr5-condorcet/RUCB"]).equals(
        frame[frame["policy"] == "RUCB"].reset_index(drop=True)
    )
    with pytest.raises(ValueError, match="was recorded.*got 'weak'"):
        regret_dataframe(tree, notion="weak")
    failed = fake.comparison(
        labels=("D-TS",), failed={("mslr5-condorcet", "D-TS"): "it broke"}
    )
    assert regret_dataframe(failed).empty
