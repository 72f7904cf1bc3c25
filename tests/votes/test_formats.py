"""Votes in the shapes in which people have them."""

import json
import logging

import numpy as np
import pandas as pd
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import (
    Comparisons,
    read_choices,
    read_comparisons,
    read_long_choices,
    read_rankings,
    read_sets,
    read_table,
    read_wide_choices,
)
from tests.votes.helpers import refused, written

VOTES = [
    {"left": "tea", "right": "milk", "winner": "left", "turn": 1},
    {"left": "milk", "right": "coffee", "winner": "right", "turn": 2},
    {"left": "tea", "right": "coffee", "winner": "tie", "turn": 1},
]
COUNTS = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def in_all_formats():
    frame = pd.DataFrame(VOTES)
    return {
        "csv": frame.to_csv(index=False),
        "tsv": frame.to_csv(index=False, sep="\t"),
        "json": json.dumps(VOTES, indent=1),
        "json lines": "\n".join(map(json.dumps, VOTES)) + "\n",
        "pandas": frame.to_json(orient="records"),
    }


@pytest.mark.parametrize("name", in_all_formats())
def test_every_format_holds_the_same_votes(tmp_path, name):
    """The format is told from what is in the file, not from its name."""
    votes = read_comparisons(written(tmp_path, in_all_formats()[name]))
    assert votes.order_known and votes.arm_names == ("coffee", "milk", "tea")
    assert votes.row_names == ["milk vs coffee", "tea vs coffee", "tea vs milk"]
    assert votes.counts.tolist() == COUNTS


def test_parquet_is_left_to_pandas(tmp_path, monkeypatch):
    path = tmp_path / "votes.csv"
    path.write_bytes(b"PAR1 and what follows")
    frame = pd.DataFrame([*VOTES, {"left": "tea", "right": "milk"}])
    monkeypatch.setattr(pd, "read_parquet", lambda file: frame)
    votes = read_comparisons(path, missing="skip")
    assert votes.counts.tolist() == COUNTS

    def lacks(file):
        raise ImportError("pyarrow")

    monkeypatch.setattr(pd, "read_parquet", lacks)
    refused("install pyarrow, or save", read_comparisons, path)

    def damaged(file):
        raise OSError("no footer")

    monkeypatch.setattr(pd, "read_parquet", damaged)
    refused("cannot be read.*no footer", read_comparisons, path)


def test_fields_of_records_may_be_missing(tmp_path):
    """A field that a record lacks is missing; deep values are texts nobody reads."""
    records = [
        {"left": "a", "right": "b", "winner": "b", "chat": [{"role": "user"}]},
        {"left": 1, "right": "b", "winner": "left", "sure": True},
    ]
    votes = read_comparisons(written(tmp_path, json.dumps(records)))
    assert votes.row_names == ["1 vs b", "a vs b"]
    del records[0]["winner"]
    path = written(tmp_path, json.dumps(records))
    refused(r"row 0 has no answer.*missing=", read_comparisons, path)
    assert read_comparisons(path, missing="skip").row_names == ["1 vs b"]


def test_several_words_and_their_votes(tmp_path):
    text = "model_a,model_b,winner\n" + "".join(
        f"x,y,{word}\n"
        for word in ("A>>B", "A>B", "B>>A", "A=B", "tie (bothbad)", "A>>B", "y")
    )
    path = written(tmp_path, text)
    words = ({"A>>B": 3, "A>B": 1}, {"B>A": 1, "B>>A": 3}, ["A=B", "tie (bothbad)"])
    votes = read_comparisons(path, words=words)
    assert votes.counts.tolist() == [[7, 4, 2]]
    same = Comparisons.from_votes(["x"] * 2, ["y"] * 2, ["A>>B", "A=B"], words=words)
    assert same.counts.tolist() == [[3, 0, 1]]
    for bad, rule in [
        (("a", ["b", "c"], "c"), "'c' is there twice"),
        (("a", [], "c"), "three different ones"),
        ("abc", "three different ones"),
    ]:
        refused(rule, read_comparisons, path, words=bad)
    refused(r"row 0 is 'A>>B', but must be .*mean \(words\)", read_comparisons, path)


def test_one_of_three_columns_is_one(tmp_path):
    """As in the arena's competition: each row is a vote, and its order is known."""
    text = (
        "model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
        "x,y,1,0,0\ny,x,1,0,0\ny,x,0,0,1\n"
    )
    votes = read_comparisons(written(tmp_path, text))
    assert votes.order_known and votes.counts.tolist() == [[1, 0, 0], [1, 0, 1]]


@pytest.mark.parametrize("titles", ["home_score,away_score", "own,theirs"])
def test_scores_say_who_won(tmp_path, titles):
    text = f"home_team,away_team,{titles}\nx,y,3,1\ny,x,0,2.5\nx,y,2,2\n"
    path = written(tmp_path, text)
    scores = None if "home" in titles else ("own", "theirs")
    votes = read_comparisons(path, scores=scores)
    assert votes.order_known
    assert votes.counts.tolist() == [[1, 0, 1], [0, 1, 0]]
    with pytest.raises(ComparisonDataError, match=r"scores .* say who won, and so"):
        read_comparisons(path, scores=("own", "theirs"), winner="own")
    with pytest.raises(ComparisonDataError, match="leave ties"):
        read_comparisons(path, scores=titles.split(","), ties=["own"])


def test_square_tables(tmp_path):
    wins = np.array([[0, 5, 2], [1, 0, 0], [4, 3, 0]])
    names = ["b", "a", "c"]
    frame = pd.DataFrame(wins, index=names, columns=names)[["a", "b", "c"]]
    votes = read_comparisons(written(tmp_path, frame.to_csv()))
    order = [1, 0, 2]
    assert votes.arm_names == ("a", "b", "c") and not votes.order_known
    assert votes.wins.tolist() == wins[np.ix_(order, order)].tolist()
    same = read_comparisons(written(tmp_path, frame.to_csv()), arm_names=names)
    assert same.wins.tolist() == wins.tolist()
    blank = frame.astype(object)
    for name in names:
        blank.loc[name, name] = "-"
    assert read_comparisons(written(tmp_path, blank.to_csv())).num_votes == wins.sum()
    frame.loc["a", "a"] = 2
    with pytest.raises(ComparisonDataError, match="'a' 2 votes against itself"):
        read_comparisons(written(tmp_path, frame.to_csv()))


def test_rows_by_a_condition(tmp_path):
    """Numbers are numbers, and an error names the row of the file."""
    path = written(tmp_path, json.dumps([*VOTES, {"left": "tea", "right": "tea"}]))
    votes = read_comparisons(path, where=["turn = 1", "left='tea'"])
    assert votes.row_names == ["tea vs coffee", "tea vs milk"]
    assert read_comparisons(path, where="turn>1").row_names == ["milk vs coffee"]
    refused("COLUMN=VALUE.*one of left, right", read_comparisons, path, where="tourn=1")
    refused("must be COLUMN=VALUE", read_comparisons, path, where="1")
    with pytest.raises(ComparisonDataError, match="none of the 4 rows; column 'left'"):
        read_comparisons(path, where="left=water")
    with pytest.raises(ComparisonDataError, match="none of the 4 rows.*repeat where"):
        read_comparisons(path, where="turn == 1 and left == 'tea'")
    refused("row 3 has no answer", read_comparisons, path, where="left=tea")
    broken = written(tmp_path, "left,right,winner\na,b,a\na,b,b\nc,c,c\n")
    with pytest.raises(
        ComparisonDataError, match=r"row\[2\]: compares 'c' with itself"
    ):
        read_comparisons(broken, where="winner!=a")


def test_rows_without_an_answer_are_left_out_and_counted(tmp_path, caplog):
    text = "left,right,winner\na,b,a\na,b,NA\n,b,b\na,c,c\n"
    path = written(tmp_path, text)
    refused("row 1 is 'NA'", read_comparisons, path)
    assert read_comparisons(path, missing="skip").num_votes == 2
    assert "2 of 4 rows left out" in caplog.text
    text = "a,b,wins_a,wins_b,ties\nx,y,3,1,\nx,z,,2,1\ny,z,1,0,2\n"
    counts = written(tmp_path, text)
    assert read_comparisons(counts, missing="skip", ties=["ties"]).num_votes == 3
    refused("missing must be one of", read_comparisons, path, missing="drop")


def test_names_that_look_alike_are_told(tmp_path, caplog):
    text = "left,right,winner\nTea,tea ,left\n Green  tea,green\u00a0Tea,left\n"
    with caplog.at_level(logging.WARNING):
        votes = read_comparisons(written(tmp_path, text))
    assert votes.num_arms == 4
    assert "'Tea' and 'tea' differ in capitals and spaces alone" in caplog.text
    assert "'Green  tea' and 'green\\xa0Tea' differ" in caplog.text


def test_best_and_worst_of_several(tmp_path):
    text = "i1,i2,i3,i4,best,worst\na,b,c,d,b,d\nc,a,b,,c,b\nd,a,,,d,a\n"
    votes = read_sets(written(tmp_path, text))
    rows = zip(votes.row_names, votes.counts.tolist(), strict=True)
    assert sorted(rows) == [
        ("a | b (worst)", [0, 1, 0, 0, 0]),
        ("a | b | c", [0, 0, 1, 0, 0]),
        ("a | b | c | d", [0, 1, 0, 0, 0]),
        ("a | c | d (worst)", [0, 0, 0, 1, 0]),
        ("a | d", [0, 0, 0, 1, 0]),
    ]
    shown = ["i1", "i2", "i3", "i4"]
    best = read_sets(written(tmp_path, text), worst=None, shown=shown)
    assert best.worst is None and best.num_votes == 3
    gaps = written(tmp_path, text + "a,b,c,,a,\na,b,c,,,a\n", "gaps.csv")
    assert read_sets(gaps, missing="skip").counts.tolist() == votes.counts.tolist()
    assert read_sets(gaps, where="worst=b").num_votes == 2
    for row, words in [
        ("a,b,c,,d,a", "row 3 picks 'd', but shows a, b, c"),
        ("a,b,b,,a,b", "row 3 shows an arm twice"),
        ("a,b,c,,a,a", "picks 'a' as best and as worst"),
    ]:
        with pytest.raises(ComparisonDataError, match=words):
            read_sets(written(tmp_path, text + row + "\n"))
    with pytest.raises(ComparisonDataError, match="unknown arm 'd'"):
        read_sets(written(tmp_path, text), arm_names=["a", "b", "c"])


def test_long_tables_of_choices(tmp_path):
    """The same choices as a wide table; rows of a choice need not be together."""
    wide = "Choice,bus,car,train\n2,1,1,0\n3,1,1,1\n0,0,1,1\n"
    long = (
        "id,alternative,chosen,here,cost\n"
        "x,bus,0,1,2\ny,train,1,1,1\nx,car,1,1,2\nx,train,0,0,9\n"
        "y,bus,0,1,3\ny,car,no,1,3\nz,stay,TRUE,1,0\nz,car,0,1,0\nz,train,0,1,4\n"
        "x,stay,0,1,0\ny,stay,0,1,0\n"
    )
    one = read_choices(written(tmp_path, wide, "wide.csv"), none=0)
    path = written(tmp_path, long)
    options = {"available": "here", "none": "stay"}
    other = read_long_choices(path, **options)
    assert other.arm_names == one.arm_names and other.outside
    assert other.offered.tolist() == one.offered.tolist()
    assert other.counts.tolist() == one.counts.tolist()
    for old, new, words in [
        ("x,car,1", "x,car,0", "the choice 'x' must choose one alternative"),
        ("x,bus,0,1", "x,bus,1,1", "the choice 'x' must choose one"),
        ("x,train,0", "x,car,0", "the choice 'x' names an alternative twice"),
        ("y,train,1", "y,train,maybe", "row 1 of column 'chosen' must be 1 or 0"),
    ]:
        broken = written(tmp_path, long.replace(old, new), "broken.csv")
        refused(words, read_long_choices, broken, **options)


@pytest.mark.parametrize("kind", ["csv", "json lines"])
def test_columns_that_nobody_reads_change_nothing(tmp_path, caplog, kind):
    """They are not made into texts, and are read where a rule asks for them."""
    frame = pd.DataFrame(VOTES * 3)
    frame.insert(0, "id", [f"vote {row}" for row in range(9)])
    frame["note"] = ['so, "they"\nsay', "d\u00e9j\u00e0 vu", ""] * 3
    text = frame.to_csv(index=False)
    if kind == "json lines":
        text = frame.to_json(orient="records", lines=True)
    path = written(tmp_path, text)
    whole = read_table(path)
    assert "unread" not in whole.attrs and whole["id"][8] == "vote 8"
    for options in ({}, {"where": "note!="}, {"judge": "id"}, {"columns": ["turn"]}):
        caplog.clear()
        one, output = read_comparisons(path, **options), caplog.messages
        caplog.clear()
        other = read_comparisons(whole, **options)
        assert one.row_names == other.row_names and output == caplog.messages
        np.testing.assert_array_equal(one.counts, other.counts)
    if kind == "csv":
        for more, cells in ((",x", 7), (",,", 8)):
            longer = written(tmp_path, text.rstrip("\n") + f"{more}\n")
            refused(f"row 8 has {cells} cells", read_comparisons, longer)


def test_json_lines_may_be_empty_and_lack_fields(tmp_path):
    lines = [json.dumps(vote) for vote in VOTES * 4]
    late = lines[:5] + ["", '{"left": "ale", "later": 1}'] + lines[5:] + [""]
    frame = read_table(written(tmp_path, "\n".join(late)))
    assert len(frame) == 13 and frame["later"][5] == 1 and frame["later"][4] is None
    assert frame["left"].tolist()[6:] == [vote["left"] for vote in (VOTES * 4)[5:]]
    late[9] = '{"left": 3'
    with pytest.raises(ComparisonDataError, match="is no JSON: line 10"):
        read_table(written(tmp_path, "\n".join(late)))
    late[9] = "[1]"
    with pytest.raises(ComparisonDataError, match="row 8 must be a record"):
        read_table(written(tmp_path, "\n".join(late)))


@pytest.mark.parametrize(
    ("read", "name"),
    [(read_comparisons, "arm_names"), (read_rankings, "arm_names"),
     (read_sets, "arm_names"), (read_long_choices, "arm_names"),
     (read_wide_choices, "alternatives")],
)  # fmt: skip
@pytest.mark.parametrize("names", [-1, b"ab"])
def test_names_that_are_no_sequence_are_refused(read, name, names):
    more = {"attributes": ["x"]} if read is read_wide_choices else {}
    with pytest.raises(ComparisonDataError, match=f"{name} must be a sequence of name"):
        read(pd.DataFrame(VOTES), **{name: names}, **more)
