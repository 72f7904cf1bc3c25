"""Votes as data frames, read back."""

import numpy as np

from bayesduel.votes import Choices, Comparisons, Rankings, read_comparisons


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
