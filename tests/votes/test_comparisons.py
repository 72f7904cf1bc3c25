"""Votes, choices and rankings: what is counted, refused, and read back from tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import Choices, Comparisons, Rankings, read_comparisons
from tests.votes.helpers import refused

WINS = [[0, 7, 2], [3, 0, 0], [5, 0, 0]]
CROSSTAB = pd.DataFrame(
    [[0, 2, 1], [1, 0, 3]], index=["a", "b"], columns=["a", "b", "c"]
)
"""A table of winners (rows) and losers (columns); c never won."""


def test_wins_come_back():
    votes = Comparisons.from_wins(WINS, arm_names=["a", "b", "c"])
    assert votes.wins.tolist() == WINS
    assert votes.counts.tolist() == [[7, 3, 0], [2, 5, 0], [0, 0, 0]]
    assert votes.row_names == ["a vs b", "a vs c", "b vs c"]
    assert repr(votes) == "Comparisons(3 arms, 2 of 3 pairs, 17 votes)"
    assert votes.without_empty_pairs().row_names == ["a vs b", "a vs c"]
    assert (votes.num_votes, votes.has_ties, votes.is_whole) == (17, False, True)


def test_many_pairs_are_kept_in_numbers_that_seldom_change():
    """Up to 4096 pairs all are rows, beyond a power of two: with all the votes."""
    rng = np.random.default_rng(5)
    numbers = set()
    for voted in (1, 50, 4000, 4096, 4097, 6000, 8128):
        wins = np.zeros((128, 128))
        row, column = np.triu_indices(128, 1)
        chosen = rng.permutation(len(row))[:voted]
        wins[row[chosen], column[chosen]] = 1.0
        votes = Comparisons.from_wins(wins)
        assert np.array_equal(votes.wins, wins)
        assert f"{voted} of 8128 pairs" in repr(votes)
        numbers.add(len(votes.counts))
    assert numbers == {4096, 8128}


def test_ties_come_back():
    ties = np.zeros((3, 3))
    ties[1, 2] = ties[2, 1] = 4
    votes = Comparisons.from_wins(WINS, ties=ties)
    assert votes.ties.tolist() == ties.tolist()
    assert votes.num_votes == 21
    assert votes.without_ties().num_votes == 17
    split = votes.with_split_ties()
    assert split.wins[1, 2] == split.wins[2, 1] == 2
    assert not split.has_ties and split.num_votes == 21


def test_votes_are_counted_with_names_weights_and_ties():
    votes = Comparisons.from_votes(
        ["a", "b", "c", "a", "b"],
        ["b", "a", "a", "b", "a"],
        ["left", "b", "tie", "right", "left"],
        weight=[1, 2, 1, 1, 0.5],
    )
    # Shown first: a over b once, b over a once; b shown first won 2.5 times.
    assert votes.order_known
    assert votes.row_names == ["a vs b", "b vs a", "c vs a"]
    assert votes.counts.tolist() == [[1, 1, 0], [2.5, 0, 0], [0, 0, 1]]
    pooled = votes.without_order()
    assert pooled.row_names == ["a vs b", "a vs c"]
    assert pooled.counts.tolist() == [[1, 3.5, 0], [0, 0, 1]]
    assert not pooled.is_whole


def test_words_that_are_names_are_read_only_where_both_agree():
    """Arms 1, 2, 3 and the words 1, 2, 0: a cell may have two readings."""
    words = ("1", "2", "0")
    votes = Comparisons.from_votes(
        ["1", "2", "3"], ["2", "3", "2"], ["1", "0", "1"], words=words
    )
    assert votes.row_names == ["1 vs 2", "2 vs 3", "3 vs 2"]
    assert votes.counts.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    for first, second, winner in (("2", "1", "1"), ("3", "1", "1"), ("2", "1", "2")):
        with pytest.raises(ComparisonDataError, match="row 1 is '[12]', which is the"):
            Comparisons.from_votes(
                ["1", first], ["3", second], ["0", winner], words=words
            )
    refused("but a tie by words", Comparisons.from_votes, ["tie"], ["a"], ["tie"])
    with pytest.raises(ComparisonDataError, match="three different"):
        Comparisons.from_votes(["a"], ["b"], ["x"], words=("x", "y", "x"))


def test_two_spellings_of_a_name_are_one_arm():
    one, other = "Zo\u00eb", "Zoe\u0308"
    votes = Comparisons.from_votes([one, "tea"], ["tea", other], ["left", one])
    assert votes.arm_names == (one, "tea")
    assert votes.wins.tolist() == [[0, 2], [0, 0]]
    table = Comparisons.from_wins([[0, 1], [2, 0]], arm_names=[other, "b"])
    assert table.arm_names == (one, "b")
    with pytest.raises(ComparisonDataError, match="different"):
        Comparisons.from_wins([[0, 1], [2, 0]], arm_names=[one, other])
    assert Rankings.from_orders([[one, "tea"], ["tea", other]]).num_arms == 2
    choices = Choices.from_subsets([[one, "tea"], [other, "tea"]], [other, one])
    assert choices.counts[0].tolist() == [2, 0, 0]


@pytest.mark.parametrize("around", [" ", "\ufeff \u2060"])
def test_space_around_a_name_is_no_part_of_it(tmp_path, around):
    """In files and in Python; characters within a name stay."""
    name = "fam\u200dily"
    columns = [f"{around}tea{around}", "tea"], [name, f"{name}{around}"]
    votes = Comparisons.from_votes(*columns, [f"tea{around}", name])
    path = tmp_path / "v.csv"
    rows = [f"{columns[0][0]},{name},tea{around}", f"tea,{columns[1][1]},{name}"]
    path.write_text("\n".join(["left,right,winner", *rows]), encoding="utf-8")
    for item in (votes, read_comparisons(path)):
        assert item.arm_names == (name, "tea")
        assert item.counts.tolist() == [[1, 1, 0]]
    orders = [["tea", name], [f"tea{around}", f"{around}{name}"]]
    assert Rankings.from_orders(orders).counts.tolist() == [2]


def test_a_pair_has_one_row():
    votes = Comparisons.from_votes("aab", "bba", "aba")
    assert votes.counts.tolist() == [[1, 1, 0], [0, 1, 0]]
    one = np.array([0, 0])
    with pytest.raises(ComparisonDataError, match="second row of one pair"):
        Comparisons(("a", "b"), one, one + 1, votes.counts, order_known=True)
    refused(r"first\[1\] must be the lower", replace, votes, order_known=False)
    subsets = np.ones((2, 2), bool)
    with pytest.raises(ComparisonDataError, match=r"offered\[1\] .* of one subset"):
        Choices(("a", "b"), subsets, np.ones((2, 3)), outside=True)
    with pytest.raises(ComparisonDataError, match=r"places\[1\] .* of one ballot"):
        Rankings(("a", "b"), subsets.astype(np.int64), np.ones(2))
    assert votes.without_order().counts.tolist() == [[2, 1, 0]]


def test_parts():
    votes = Comparisons.from_wins(
        [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]], arm_names="abcd"
    )
    assert votes.parts() == [["a", "b"], ["c", "d"]]
    assert votes.strong_parts()[0] == ["c", "d"]
    assert len(votes.strong_parts()) == 3
    ties = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert len(Comparisons.from_wins(votes.wins, ties=ties).strong_parts()) == 1


from_wins, from_rows = Comparisons.from_wins, Comparisons.from_rows
from_votes, from_orders = Comparisons.from_votes, Rankings.from_orders
from_places, from_counts = Rankings.from_places, Choices.from_counts
from_subsets = Choices.from_subsets


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: from_wins([[0, -1], [0, 0]]), "not be negative, got -1"),
        (lambda: from_wins([[0, np.nan], [0, 0]]), "finite"),
        (lambda: from_wins([[0, 1, 2], [0, 0, 1]]), "square"),
        (lambda: from_wins(None), "wins must be a number, got None"),
        (lambda: from_wins([[0, "1_0"], [1, 0]]), "wins\\[0, 0\\] .*got '.'"),
        (lambda: from_wins([[0, 1], [1]]), "rows equally long"),
        (lambda: from_wins([[0, 1e16], [1, 0]]), "at most 1e\\+15, got 1e"),
        (lambda: from_rows("ab", [0.5], [1], [[1, 0, 0]]),
         r"first\[0\] must be a whole number, got 0.5"),
        (lambda: from_rows("ab", [0], [1], [[1, 0]]), "3 columns"),
        (lambda: from_places([[1, np.nan]]), "must be finite"),
        (lambda: from_counts([["no", 1]], [[0, 1]]), "must be a number"),
        (lambda: from_wins([[0]]), "at least two arms"),
        (lambda: from_wins([[1, 2], [3, 0]]), "ignore_self=True"),
        (lambda: from_wins([[0, 1], [1, 0]], ties=[[0, 1], [2, 0]]), "symmetric"),
        (lambda: from_wins([[0, 1], [1, 0]], arm_names=["a", "a"]), "different"),
        (lambda: from_wins([[0, 1], [1, 0]], arm_names=["a"]), "each of the 2 arms"),
        (lambda: from_votes(["tea"], ["cofee"], ["tea"], arm_names=["tea", "coffee"]),
         r"second\[0\]: names the unknown arm 'cofee'; did you mean coffee"),
        (lambda: from_votes("aa", "bb", "ac"), "winner: row 1 is 'c'"),
        (lambda: from_votes(["a"], ["b"], ["a"], weight=[-2]),
         r"weight\[0\] must not be negative"),
        (lambda: from_votes(["a"], ["b"], ["a", "b"]), "equally long"),
        (lambda: from_rows("ab", [0], [2], [[1, 0, 0]]), r"second\[0\] must be an arm"),
        (lambda: from_wins([[0, 1], [1, 0]]).with_covariates([[1.0]]),
         "one row for each of the 2 arms"),
        (lambda: from_orders([["a", "b", "a"]]), "ranks 'a' twice"),
        (lambda: from_places([[1, -2]]), "negative"),
        (lambda: from_places([[1, 2]], counts=[1, 2]), "each of the ballots"),
        (lambda: from_counts([[1, 1, 0]], [[1, 0, 2]]), "was not on offer"),
        (lambda: from_counts([[1, 0]], [[1, 0]]), "leaves no choice"),
        (lambda: from_subsets([["a", "a", "b"]], ["a"]),
         r"subset 0\[1\]: offers 'a' twice"),
        (lambda: from_votes(["a", "a"], ["b", "b"], ["a", None]),
         r"winner\[1] is missing.*dropna\(\)"),
        (lambda: from_votes(["a"], ["b"], [float("nan")]), r"winner\[0\] is missing"),
        (lambda: from_votes(["a"], np.ma.masked_all(1, "U1"), ["a"]),
         r"second\[0\] is missing"),
        (lambda: from_wins(CROSSTAB), "its rows lack c, .*reindex"),
        (lambda: from_subsets([["a", "b"]], [None], outside=False), "outside=False"),
        (lambda: from_subsets([["a", "b"]], ["a"], worst=["a"]), "is the best, too"),
        (lambda: from_counts([[1, 1]], [[1, 0]], worst=[1]), "True or False for each"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_in_words(call, words):
    refused(words, call)


def test_rankings_become_pairs():
    ballots = Rankings.from_orders(
        [["a", "b", "c"], ["c", ("a", "b")], ["b", "a"]], counts=[3, 2, 1]
    )
    pairs = ballots.to_comparisons()
    assert pairs.wins.tolist() == [[0, 3, 3], [1, 0, 3], [2, 2, 0]]
    assert pairs.ties[0, 1] == 2
    # Arms that are not on a ballot rank behind those that are.
    completed = ballots.with_others_last().to_comparisons()
    assert completed.wins[1, 2] == 4 and completed.wins[0, 2] == 4


def test_equal_ballots_are_pooled():
    ballots = Rankings.from_places([[1, 2, 5], [1, 2, 3], [2, 1, 0]], counts=[1, 4, 2])
    assert ballots.places.tolist() == [[1, 2, 3], [2, 1, 0]]
    assert ballots.counts.tolist() == [5, 2]
    assert ballots.restricted_to(["0", "1"]).places.tolist() == [[1, 2], [2, 1]]


def test_choices_are_counted_per_subset():
    choices = Choices.from_subsets(
        [["a", "b"], ["b", "a"], ["b", "c"], ["b", "c"]],
        ["a", "b", None, "c"],
        weight=[1, 2, 3, 4],
    )
    assert choices.offered.tolist() == [[False, True, True], [True, True, False]]
    assert choices.counts.tolist() == [[0, 0, 4, 3], [1, 2, 0, 0]]
    assert choices.outside and choices.parts() == [["a", "b", "c"]]


def test_choices_fall_into_parts_without_an_outside_option():
    subsets = [["a", "b"], ["c", "d"]]
    assert len(Choices.from_subsets(subsets, ["a", "c"]).parts()) == 2
    assert len(Choices.from_subsets(subsets, ["a", "c"], outside=True).parts()) == 1


def test_a_number_is_one_label_however_it_is_written():
    """pandas makes 7.0 of 7 where a cell of its column is empty; True is no number."""
    votes = Comparisons.from_votes([1, True, "2.0"], [2.0, 1, "1.0"], ["left"] * 3)
    assert votes.arm_names == ("1", "2", "True")
    assert votes.wins.tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
    series = pd.Series([7.0, 9.0, None, 8.0]), pd.Series([8, 7, 9, 9])
    chosen = series[0].notna()
    mixed = Comparisons.from_votes(*(s[chosen] for s in series), ["left"] * 3)
    assert mixed.arm_names == ("7", "8", "9")
    # Versions are not numbers, and 007 is not 7.
    other = Comparisons.from_votes(["1.0", "007"], ["1.1", "7"], ["1.0", "7"])
    assert other.arm_names == ("007", "1.0", "1.1", "7")
    assert other.with_covariates(
        pd.DataFrame({"x": range(4)}, index=["1.1", "1.0", 7.0, "007"])
    ).covariates[:, 0].tolist() == [3, 1, 0, 2]


def test_comparisons_are_read_back_from_their_table(tmp_path):
    votes = Comparisons.from_votes(
        ["tea", "fizzy milk", "tea", "ale"],
        ["fizzy milk", "tea", "ale", "tea"],
        ["left", "left", "tie", "left"],
        columns={"judge": ["Ada", "Ada", "Bo", "Bo"]},
    )
    table = votes.to_dataframe()
    assert table.columns.tolist() == ["first", "second", "wins_first", "wins_second",
                                      "ties", "judge"]  # fmt: skip
    assert table["judge"].value_counts().to_dict() == {"Ada": 2, "Bo": 2}
    table.to_csv(tmp_path / "votes.csv", index=False)
    again = read_comparisons(tmp_path / "votes.csv", order_known=True, judge="judge")
    order = [again.arm_names.index(name) for name in votes.arm_names]
    np.testing.assert_array_equal(again.wins[np.ix_(order, order)], votes.wins)
    np.testing.assert_array_equal(again.ties[np.ix_(order, order)], votes.ties)


def test_choices_and_ballots_keep_every_vote():
    choices = Choices.from_subsets(
        [["a b", "c"], ["a b", "d"], ["a b", "c"], ["a b", "c"]],
        ["c", None, "c", "a b"],
    )
    table = choices.to_dataframe()
    assert table["count"].sum() == choices.num_votes == 4
    kinds = zip(table["offered"], table["chosen"].fillna(""), strict=True)
    rows = dict(zip(kinds, table["count"], strict=True))
    assert rows == {(("a b", "c"), "c"): 2, (("a b", "c"), "a b"): 1,
                    (("a b", "d"), ""): 1}  # fmt: skip
    ballots = Rankings.from_orders([["a", "b"], ["a", "b"], ["b", "a"]])
    table = ballots.to_dataframe()
    assert table["count"].sum() == 3
    assert table.loc[table["count"] == 2, ["a", "b"]].to_numpy().tolist() == [[1, 2]]
