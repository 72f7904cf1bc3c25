"""Columns of votes: who judged them, of what, and whether the order means something."""

import json
from collections import Counter

import numpy as np
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import Comparisons, read_comparisons
from tests.votes.helpers import refused

ARMS = ("tea", "milk", "water")
RNG = np.random.default_rng(5)
PAIRS = np.array([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
FIRST, SECOND = PAIRS[RNG.integers(6, size=300)].T
SAID = RNG.choice(["left", "right", "tie"], size=300)
JUDGE = RNG.integers(9, 12, size=300)
NEUTRAL = RNG.random(300) < 0.3
TURN = RNG.choice([-1.5, 2.0], size=300)
COLUMNS = {"judge": JUDGE, "neutral": NEUTRAL, "turn": TURN}


def made(columns=COLUMNS, **options):
    first, second = ([ARMS[arm] for arm in arms] for arms in (FIRST, SECOND))
    return Comparisons.from_votes(
        first, second, SAID, arm_names=ARMS, columns=columns, **options
    )


def counted(*, order_known):
    """Count votes row by row, in plain Python."""
    counts = Counter()
    for row in range(300):
        one, other, said = int(FIRST[row]), int(SECOND[row]), str(SAID[row])
        free = bool(NEUTRAL[row]) or not order_known
        if free and one > other:
            one, other = other, one
            said = {"left": "right", "right": "left"}.get(said, said)
        key = one, other, str(JUDGE[row]), float(TURN[row])
        counts[(*key, float(NEUTRAL[row]) if order_known else None, said)] += 1
    return counts


@pytest.mark.parametrize("order_known", [True, False])
def test_rows_are_votes_with_the_same_entries(order_known):
    votes = made() if order_known else made().without_order()
    result = Counter()
    for row, counts in enumerate(votes.counts):
        neutral = votes.columns["neutral"][row] if order_known else None
        judge = votes.labels["judge"][votes.columns["judge"][row]]
        key = int(votes.first[row]), int(votes.second[row]), judge
        key = *key, votes.columns["turn"][row], neutral
        for said, number in zip(("left", "right", "tie"), counts, strict=True):
            result[(*key, said)] += int(number)
    assert +result == counted(order_known=order_known)
    assert votes.labels == {"judge": ("10", "11", "9")}
    assert ("neutral" in votes.columns) == order_known


def test_some_columns_may_stay():
    times = [float(index % 3) for index in range(len(JUDGE))]
    both = made({"judge": JUDGE, "time": times})
    stay = both.without_columns(["judge", "nobody"])
    alone = made({"judge": JUDGE})
    assert [*stay.columns] == ["judge"] and stay.labels == alone.labels
    assert stay.row_names == alone.row_names
    assert np.array_equal(stay.counts, alone.counts)
    assert both.without_columns(("time", "judge")) is both


def test_without_columns_votes_are_those_per_pair():
    plain, bare = made(None), made({"judge": JUDGE}).without_columns()
    for name in ("first", "second", "counts"):
        np.testing.assert_array_equal(getattr(bare, name), getattr(plain, name))
    assert not bare.columns and bare.order_known
    np.testing.assert_array_equal(made().wins, plain.wins)
    np.testing.assert_array_equal(made().ties, plain.ties)


def test_what_becomes_of_ties_and_covariates_keeps_the_columns():
    votes = made().with_covariates([[1.0], [0.0], [2.0]], ["heat"])
    for other in (votes.without_ties(), votes.with_split_ties()):
        assert other.labels == votes.labels and other.covariate_names == ("heat",)
        assert set(other.columns) == set(COLUMNS)
    split = votes.with_split_ties()
    judge = votes.columns["judge"]
    for label in range(3):
        expected = split.counts[split.columns["judge"] == label].sum()
        assert expected == votes.counts[judge == label].sum()
    assert votes.without_columns().covariate_names == ("heat",)


def test_rows_have_the_names_of_their_labels():
    votes = made({"judge": JUDGE, "turn": TURN})
    assert votes.row_names[0] == "tea vs milk (judge 10, turn -1.5)"
    assert "with 3 judges, turn" in repr(votes)
    assert "with" not in repr(made(None))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_files_carry_columns(tmp_path, form):
    rows = [
        {"left": ARMS[FIRST[row]], "right": ARMS[SECOND[row]], "winner": SAID[row],
         "worker": int(JUDGE[row]), "off": str(NEUTRAL[row]), "turn": float(TURN[row])}
        for row in range(300)
    ]  # fmt: skip
    path = tmp_path / f"votes.{form}"
    if form == "json":
        path.write_text(json.dumps(rows))
    else:
        lines = [",".join(rows[0]), *(",".join(map(str, r.values())) for r in rows)]
        path.write_text("\n".join(lines))
    options = {"judge": "worker", "neutral": "off", "columns": ["turn"]}
    votes = read_comparisons(path, arm_names=ARMS, **options)
    expected = made()
    for name in ("first", "second", "counts"):
        np.testing.assert_array_equal(getattr(votes, name), getattr(expected, name))
    for name in COLUMNS:
        np.testing.assert_array_equal(votes.columns[name], expected.columns[name])
    assert votes.labels == expected.labels


def test_a_judge_that_is_missing_is_refused_or_skipped(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner,by\na,b,left,x\na,b,left,\na,b,tie,y\n")
    refused(r"judge\[1\]:? is empty.*skip", read_comparisons, path, judge="by")
    votes = read_comparisons(path, judge="by", missing="skip")
    assert votes.num_votes == 2 and votes.labels == {"judge": ("x", "y")}
    path.write_text("left,right,winner,at\na,b,left,true\na,b,left,maybe\n")
    refused("row 1 of column 'at'.*'maybe'", read_comparisons, path, neutral="at")
    refused("judge:? must be the title", read_comparisons, path, judge=3)
    refused("read otherwise", read_comparisons, path, judge="at", columns=["judge"])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"judge": ["x"]}, r"judge:? must have one entry for each of the 300 votes"),
        ({"judge": ["x"] * 299 + [None]}, r"judge\[299\]:? is missing"),
        ({"turn": [1.0] * 299 + [np.nan]}, r"turn\[299\]:? must be finite"),
        ({"neutral": [2] * 300}, r"neutral\[0\]:? must be 0 or 1"),
        ({"neutral": ["no"] * 300}, r"neutral:? must be True or False"),
        ({"counts": [1] * 300}, "none of first"),
        ([1] * 300, "must be a mapping"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, words):
    refused(words, made, columns)


def test_columns_put_together_by_hand_are_checked():
    first, second = np.array([0, 0]), np.array([1, 1])
    counts, code = np.array([[1.0, 0, 0], [0, 1, 0]]), np.array([0, 1])
    names = ("a", "b")
    labels = {"judge": ("x", "y")}
    result = Comparisons(names, first, second, counts, False, columns={"judge": code},
                        labels=labels)  # fmt: skip
    assert result.wins.tolist() == [[0, 1], [1, 0]]
    broken = [
        ({"judge": code + 1}, labels, "place of a label, from 0 to 1"),
        ({"judge": code * 0}, labels, "second row of one pair"),
        ({"turn": code}, {}, "floats"),
        ({"neutral": np.array([0.0, 1.0])}, {}, "order_known=True"),
        ({}, labels, "must be dictionaries"),
    ]
    for columns, named, words in broken:
        with pytest.raises(ComparisonDataError, match=words):
            Comparisons(names, first, second, counts, columns=columns, labels=named)
