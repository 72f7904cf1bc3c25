"""Tables as survey tools, spreadsheets and arenas write them, read without guessing."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tracemalloc
import zipfile
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import (
    keep_rows,
    read_comparisons,
    read_long_choices,
    read_rankings,
    read_sets,
    read_table,
    read_wide_choices,
)
from bayesduel.votes.tables import MISSING
from tests.votes.helpers import refused, written


def in_formats(frame, folder, monkeypatch):
    """The same frame as each kind of file, and as itself."""
    frame.to_csv(folder / "votes.csv", index=False)
    frame.to_json(folder / "votes.json", orient="records")
    frame.to_json(folder / "lines.jsonl", orient="records", lines=True)
    frame.to_excel(folder / "votes.xlsx", index=False)
    (folder / "votes.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(pd, "read_parquet", lambda file: frame.copy())
    names = ("votes.csv", "votes.json", "lines.jsonl", "votes.xlsx", "votes.parquet")
    return {name: folder / name for name in names} | {"frame": frame}


MAXDIFF = """respondent,block,item1,item2,item3,item4,best,worst
P01,1,tea,milk,ale,water,tea,ale
P02,2,milk,ale,water,cola,cola,milk
P03,1,tea,cola,ale,milk,tea,ale
"""


def test_columns_of_a_maxdiff_table_are_the_numbered_ones(tmp_path, caplog):
    votes = read_sets(written(tmp_path, MAXDIFF))
    assert votes.arm_names == ("ale", "cola", "milk", "tea", "water")
    assert votes.num_votes == 6
    assert "not read: columns 'respondent', 'block'" in caplog.text
    by_place = MAXDIFF.replace("tea,ale\nP02", "1,3\nP02")
    by_place = by_place.replace("cola,milk\n", "4,1\n")
    by_place = by_place.replace("milk,tea,ale\n", "milk,1,3\n")
    by_title = by_place.replace(",1,3\n", ",item1,item3\n")
    by_title = by_title.replace(",4,1\n", ",item4,item1\n")
    most = MAXDIFF.replace("best,worst", "most,least")
    for text in (by_place, by_title, most):
        same = read_sets(written(tmp_path, text))
        assert same.counts.tolist() == votes.counts.tolist()
        assert same.offered.tolist() == votes.offered.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MAXDIFF.replace("item", "thing-a-").replace("thing-a-1", "z"), None),
        ("who,x,yy,zzz,best\nann,tea,ale,milk,tea\n", "are unknown; name them"),
        ("a1,a2,b1,b2,best\ntea,ale,tea,milk,tea\nale,tea,ale,milk,ale\n",
         "could be a1, a2 or b1, b2"),
        ("q1,q2,best\np1,x1,tea\np2,x2,ale\np3,x3,tea\n",
         "'q1' was taken.*never picked|picks 'tea', but shows"),
        ("i1,i2,note\ntea,ale,x\n", "no column 'best'"),
        ("i1,i2,best\ntea,ale,tea\ntea,ale,\n", "row 1 .*has no value.*skip"),
    ],
)  # fmt: skip
def test_sets_that_cannot_be_told_are_refused(tmp_path, text, words):
    path = written(tmp_path, text)
    if words is None:  # Named columns are never doubted.
        titles = path.read_text().splitlines()[0].split(",")[2:6]
        assert read_sets(path, shown=titles).num_arms == 5
        return
    refused(words, read_sets, path)


@pytest.mark.parametrize("kind", ["votes.csv", "votes.json", "lines.jsonl",
                                  "votes.xlsx", "votes.parquet", "frame"])  # fmt: skip
def test_one_empty_cell_makes_no_new_arms(tmp_path, monkeypatch, caplog, kind):
    """pandas writes 7 as 7.0 where a cell of the column is empty."""
    frame = pd.DataFrame(
        {"left": [7, 9, None, 8], "right": [8, 7, 9, 9], "winner": ["left"] * 4}
    )
    votes = in_formats(frame, tmp_path, monkeypatch)[kind]
    data = read_comparisons(votes, missing="skip")
    assert data.arm_names == ("7", "8", "9")
    assert data.wins.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    frame = frame.assign(winner=["7.0", "9.0", "9", "8.0"])
    assert read_comparisons(frame, missing="skip").wins.tolist() == data.wins.tolist()
    assert "7.0 and 7" in caplog.text


def test_ids_of_files_with_decimal_commas_are_ids(tmp_path):
    """pandas writes 7,0 there."""
    frame = pd.DataFrame({"left": [7, 9, None, 8], "right": [8, 7, 9, 9]})
    frame["winner"] = frame["left"]
    frame["1st choice"], frame["2nd choice"] = frame["left"], frame["right"]
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    votes = read_comparisons(path, missing="skip")
    assert votes.wins.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert read_comparisons(path, where=["left=7", "winner=7.0"]).num_votes == 1
    ballots = read_rankings(path)
    assert ballots.arm_names == ("7", "8", "9") and ballots.num_votes == 3
    sets = pd.DataFrame({"a1": [7, 9, 7], "a2": [8, 8, None], "a3": [9, 7, 8]})
    sets.assign(best=[7, 9, 8]).to_csv(path, index=False, sep=";", decimal=",")
    assert read_sets(path).arm_names == ("7", "8", "9")


def test_labels_that_look_like_numbers_stay_apart(tmp_path):
    """007 is not 7, 1.10 is not 1.1, and versions keep their names."""
    text = "left,right,winner\n007,7,left\n1.10,1.1,left\n1.0,2,right\n"
    names = read_comparisons(written(tmp_path, text)).arm_names
    assert names == ("007", "1.0", "1.1", "1.10", "2", "7")
    floats = read_comparisons(written(tmp_path, "left,right,winner\n1.0,2.0,left\n"))
    assert floats.arm_names == ("1", "2")


@pytest.mark.parametrize("word", sorted(MISSING - {""}))
@pytest.mark.parametrize("column", ["left", "right", "winner"])
def test_words_for_nothing_are_missing_in_each_column(tmp_path, word, column):
    rows = [{"left": "a", "right": "b", "winner": "left"} for _ in range(3)]
    rows[1][column] = word
    frame = pd.DataFrame(rows)
    paths = written(tmp_path, frame.to_csv(index=False)), frame
    for votes in (*paths, written(tmp_path, json.dumps(rows), "votes.json")):
        refused(f"row 1 .*{word}.*missing='keep", read_comparisons, votes)
        assert read_comparisons(votes, missing="skip").num_votes == 2
        if column != "winner":
            chosen = read_comparisons(votes, missing="keep")
            assert word in chosen.arm_names and chosen.num_votes == 3
    rows[2]["left"] = ""
    with pytest.raises(ComparisonDataError, match="row 2 of column 'left' has no val"):
        read_comparisons(pd.DataFrame(rows), missing="keep")


def test_an_empty_cell_of_an_arm_is_named_with_a_way_forward(tmp_path):
    path = written(tmp_path, "id,a,b,winner\n1,x,y,a\n2,x,,a\n")
    refused(r"row 1 of column 'b' has no value.*missing='skip'", read_comparisons, path)


@pytest.mark.parametrize("form", ["scores", "counts", "words"])
def test_a_table_of_both_sides_is_told_and_counts_once_when_asked(
    tmp_path, caplog, form
):
    rng = np.random.default_rng(1)
    pairs = [rng.permutation(4)[:2].tolist() for _ in range(30)]
    goals = rng.integers(4, size=(30, 2)).tolist()
    games = [("abcd"[i], "abcd"[j], x, y) for (i, j), (x, y) in zip(pairs, goals)]  # noqa: B905
    both = games + [(j, i, y, x) for i, j, x, y in games]
    frame = pd.DataFrame(both, columns=["home", "away", "home_score", "away_score"])
    single = read_comparisons(frame[:30])
    if form == "counts":
        frame.columns = ["a", "b", "wins_a", "wins_b"]
        single = read_comparisons(frame[:30])
    elif form == "words":
        sign = np.sign(frame["home_score"] - frame["away_score"])
        frame = frame[["home", "away"]].assign(
            winner=sign.map({1: "left", -1: "right", 0: "tie"})
        )
    assert "mirror image" not in caplog.text
    twice = read_comparisons(frame)
    assert "each row has its mirror image" in caplog.text
    assert twice.num_votes == 2 * single.num_votes
    caplog.clear()
    assert read_comparisons(frame, mirrored="twice").num_votes == twice.num_votes
    once = read_comparisons(frame, mirrored="once")
    assert "mirror" not in caplog.text and not once.order_known
    np.testing.assert_array_equal(once.wins, single.wins)
    np.testing.assert_array_equal(once.ties, single.ties)
    changed = frame[1:]
    read_comparisons(changed)
    assert "mirror" not in caplog.text
    with pytest.raises(ComparisonDataError, match="some rows of the table have no mi"):
        read_comparisons(changed, mirrored="once")


def test_soft_preferences_from_both_sides_are_told(caplog):
    rows = [("a", "b", 0.9), ("b", "a", 0.1), ("b", "c", 0.3), ("c", "b", 0.7)]
    frame = pd.DataFrame(rows, columns=["x", "y", "p"])
    options = {"arms": ("x", "y"), "soft": ("p", 0, 1)}
    read_comparisons(frame, **options)
    assert "each row has its mirror image" in caplog.text
    once = read_comparisons(frame, mirrored="once", **options)
    np.testing.assert_allclose(once.counts[:, :2], [[0.1, 0.9], [0.7, 0.3]])


def test_votes_of_other_judges_are_no_mirror_image(caplog):
    frame = pd.DataFrame(
        [["a", "b", "left", "ann"], ["b", "a", "right", "bob"]],
        columns=["left", "right", "winner", "who"],
    )
    read_comparisons(frame, judge="who")
    assert "mirror" not in caplog.text
    read_comparisons(frame)
    assert "mirror" in caplog.text


FILTERED = pd.DataFrame(
    {
        "id": ["007", "7", "7.0", "1.10", "1.1"],
        "turn": [1, 2, 3, 10, None],
        "sure": [True, False, True, True, False],
        "day": ["2024-01-05", "2024-02-01", "2023-12-31", "", "2024-06-01"],
        "said=so": ["x", "y", "x", "z", None],
    }
)


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ("id=7", [1, 2]), ("id = 007", [0]), ("id=1.1", [4]),
        ("id!=1.10", [0, 1, 2, 4]), ("turn=1", [0]), ("turn<3", [0, 1]),
        ("turn>=3", [2, 3]), ("turn>2.5", [2, 3]), ("turn=", [4]),
        ("turn!=", [0, 1, 2, 3]), ("sure=true", [0, 2, 3]), ("sure=False", [1, 4]),
        ("day>=2024-01-05", [0, 1, 4]), ("day<2024", None), ("said=so=x", [0, 2]),
        ("said=so!='x'", [1, 3, 4]), (["turn>1", "sure=true"], [2, 3]),
    ],
)  # fmt: skip
def test_conditions_compare_text_with_text_and_numbers_with_numbers(
    tmp_path, condition, chosen
):
    if chosen is None:
        refused("row 0 of column 'day' is no nu", keep_rows, FILTERED, condition)
        return
    assert keep_rows(FILTERED, condition).index.tolist() == chosen
    if "sure" not in str(condition) and "turn=1" != condition:
        read = read_table(written(tmp_path, FILTERED.to_csv(index=False)))
        assert keep_rows(read, condition).index.tolist() == chosen


@pytest.mark.parametrize(
    "condition",
    [
        "@pd.io.common.os.system('touch {}')==1",
        "id.str.len()==@pd.io.common.os.system('touch {}')",
        "id.to_csv('{}')==1",
        "__import__('os').system('touch {}')",
        "@pd.read_pickle('{}')==1",
        "id=@pd.io.common.os.system('touch {}')",
    ],
)
def test_a_condition_executes_nothing(tmp_path, condition):
    target = tmp_path / "touched"
    rows = "id,alternative,chosen,a1,a2,best,choice,left,right,winner\n"
    path = written(tmp_path, rows + "1,x,1,x,y,x,1,x,y,left\n1,y,0,x,y,x,1,x,y,left\n")
    readers = [
        read_comparisons,
        read_sets,
        read_long_choices,
        lambda votes, where: read_wide_choices(votes, attributes=["a"], where=where),
        lambda votes, where: keep_rows(read_table(votes), where),
    ]
    for reader in readers:
        with pytest.raises(ComparisonDataError, match="where"):
            reader(path, where=condition.format(target))
        assert not target.exists()


def test_cells_that_nobody_needs_are_not_read(tmp_path, monkeypatch):
    """Lists of pyarrow are arrays; cells of any length stand in other columns."""
    frame = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"]})
    frame["winner"] = ["model_a", "tie (bothbad)"]
    frame["conversation_a"] = [np.array([{"role": "user"}] * 2, dtype=object)] * 2
    path = tmp_path / "arena.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr(pd, "read_parquet", lambda file: frame)
    assert read_comparisons(path).counts.tolist() == [[1, 0, 0], [0, 0, 1]]
    long = frame.assign(conversation_a="x, " * 100_000)
    path = written(tmp_path, long.to_csv(index=False))
    assert read_comparisons(path).counts.tolist() == [[1, 0, 0], [0, 0, 1]]
    labelled = frame.assign(judge=frame["conversation_a"])
    assert read_comparisons(labelled, judge="judge").labels["judge"] == (
        '[{"role": "user"}, {"role": "user"}]',
    )


def test_titles_of_the_arms_are_words_before_left_and_right(tmp_path):
    text = "right,left,winner\na,b,left\na,b,right\na,b,a\n"
    votes = read_comparisons(written(tmp_path, text), arms=("right", "left"))
    assert votes.counts.tolist() == [[2, 1, 0]]
    text = "tie,draw,winner\na,b,draw\n"
    votes = read_comparisons(written(tmp_path, text), arms=("tie", "draw"))
    assert votes.counts.tolist() == [[0, 1, 0]]


def test_scores_may_be_negative(tmp_path):
    text = "a,b,score_a,score_b\nx,y,-3.25,-4\ny,z,-1e3,0\nz,x,-2,-2\n"
    votes = read_comparisons(written(tmp_path, text))
    assert votes.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    "titles",
    ["winner_name,loser_name", "chosen_model,rejected_model", "Winner X,Loser X"],
)
def test_winners_and_losers_by_any_usual_name(tmp_path, titles):
    path = written(tmp_path, f"{titles},x_id,y_id\na,b,1,2\nb,c,2,3\n")
    arms = tuple(titles.split(","))
    for options in ({"arms": arms}, {"arms": arms, "winner": arms[0]}):
        votes = read_comparisons(path, **options)
        assert votes.wins.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        assert not votes.order_known
    turned = read_comparisons(path, arms=arms[::-1])
    assert turned.wins.tolist() == votes.wins.tolist()
    refused("may be one of the arms", read_comparisons, path, arms=("x_id", "y_id"))


def test_soft_preferences_are_weights_of_both_outcomes(tmp_path):
    text = "generator_1,generator_2,preference\nref,m,1.99\nref,m,1.2\nm,ref,1.5\n"
    path = written(tmp_path, text)
    votes = read_comparisons(path)
    assert votes.row_names == ["m vs ref", "ref vs m"]
    np.testing.assert_allclose(votes.counts, [[0.5, 0.5, 0], [0.81, 1.19, 0]])
    same = read_comparisons(path, soft=("preference", 1, 2))
    np.testing.assert_array_equal(same.counts, votes.counts)
    with pytest.raises(ComparisonDataError, match="row 0 .*not between 0 and 1.*soft"):
        read_comparisons(path, soft=("preference", 0, 1))
    with pytest.raises(ComparisonDataError, match="soft must be a column and the val"):
        read_comparisons(path, soft="preference")


def test_true_and_false_are_wins(tmp_path, monkeypatch):
    frame = pd.DataFrame({"x": ["a", "b", "c"], "y": ["b", "c", "a"]})
    frame["Answer.a"], frame["Answer.b"] = [True, False, False], [False, True, False]
    frame["Answer.same"] = [False, False, True]
    for votes in in_formats(frame, tmp_path, monkeypatch).values():
        columns = {"arms": ("x", "y"), "wins": ("Answer.a", "Answer.b")}
        read = read_comparisons(votes, **columns, ties=["Answer.same"])
        assert read.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert read.order_known
        with pytest.raises(ComparisonDataError, match="look like numbers of ties"):
            read_comparisons(votes, arms=("x", "y"), wins=("Answer.a", "Answer.b"))


@pytest.mark.parametrize("written_as", ["1", "1.0"])
def test_words_are_numbers_however_they_are_written(tmp_path, written_as):
    text = "left,right,winner\na,b,1.0\nb,a,2.0\na,b,1.5\na,b,1\n"
    words = (written_as, written_as.replace("1", "2"), "1.5")
    votes = read_comparisons(written(tmp_path, text), words=words)
    assert votes.counts.tolist() == [[2, 0, 1], [0, 1, 0]]


TITLES = ("left", "right", "winner", "n")


@pytest.mark.parametrize(
    ("separator", "weight", "options", "read"),
    [
        (";", "1,5", {}, 1.5),
        ("sep=;", "1,5", {}, 1.5),
        ("sep=\t", "1.5", {}, 1.5),
        (",", "1,5", {"decimal": ","}, 1.5),
        (";", "1,000", {"decimal": ","}, 1),
        # It may be a thousand, or nobody said that it is a decimal sign.
        (";", "1,000", {}, None),
        (";", "1,5", {"decimal": "."}, None),
        (",", "1,5", {}, None),
        ("\t", "1,5", {}, None),
    ],
)
def test_decimal_commas(tmp_path, separator, weight, options, read):
    sign = separator.removeprefix("sep=")
    rows = TITLES, ("a", "b", "left", f'"{weight}"'), ("a", "b", "right", "2")
    text = (separator + "\n") * (sign != separator)
    path = written(tmp_path, text + "\n".join(map(sign.join, rows)) + "\n")
    if read is None:
        with pytest.raises(ComparisonDataError, match=r"row 0 .*comma.*decimal=','"):
            read_comparisons(path, weight="n", **options)
        return
    votes = read_comparisons(path, weight="n", **options)
    assert votes.counts.tolist() == [[read, 2, 0]]


def test_stata_and_excel_files_and_their_missing_cells(tmp_path):
    arms = {"left": ["a", "b", "NA"], "right": ["b", "c", "c"]}
    frame = pd.DataFrame(arms).assign(winner="left")
    frame.to_stata(tmp_path / "votes.dta", write_index=False)
    frame.to_excel(tmp_path / "votes.xlsx", index=False)
    for name in ("votes.dta", "votes.xlsx"):
        refused("row 2 of column 'left'.*'NA'", read_comparisons, tmp_path / name)
        assert read_comparisons(tmp_path / name, missing="keep").num_arms == 4
    (tmp_path / "bad.xlsx").write_bytes((tmp_path / "votes.xlsx").read_bytes()[:900])
    refused(r"bad\.xlsx", read_comparisons, tmp_path / "bad.xlsx")


TEXT = b"left,right,winner\na,b,left\n"


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip"])
def test_compressed_files_and_bombs(tmp_path, kind):
    def zipped(content):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("votes.csv", content)
        return file.getvalue()

    packed = {
        "gz": partial(gzip.compress, compresslevel=1), "zip": zipped,
        "bz2": partial(bz2.compress, compresslevel=1),
        "xz": partial(lzma.compress, preset=0),
    }[kind]  # fmt: skip

    path = tmp_path / f"votes.csv.{kind}"
    path.write_bytes(packed(TEXT))
    assert read_comparisons(path).num_votes == 1
    path.write_bytes(packed(TEXT * 200)[:-30])
    refused("cut off or damaged|votes.csv.zip", read_comparisons, path)
    bomb = packed(b"0" * 10**8)
    path.write_bytes(bomb)
    tracemalloc.start()
    refused("unpacks to more than", read_comparisons, path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1.5e8


def test_names_that_look_alike_are_said_with_their_codes(caplog):
    names = ["gpt-4", "gpt\u20114", "gpt\u20134", "llama"]
    frame = pd.DataFrame({"left": names, "right": ["x"] * 4, "winner": ["left"] * 4})
    assert read_comparisons(frame).num_arms == 5
    assert r"'gpt-4' and 'gpt\u20114' and 'gpt\u20134' differ hardly" in caplog.text


def test_square_tables_with_draws(tmp_path):
    text = ",A,B,C\nA,x,1,0.5\nB,0,x,1/2\nC,0.5,\u00bd,x\n"
    votes = read_comparisons(written(tmp_path, text))
    assert votes.wins.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert votes.ties.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    more = read_comparisons(written(tmp_path, ",A,B\nA,-,2.5\nB,0.5,-\n"))
    assert more.counts.tolist() == [[2, 0, 1]]
    for table, words in [
        (",A,B\nA,,1.5\nB,1.5,\n", "1.5 to 1.5 for A and B, which may be wins or dr"),
        (",A,B\nA,,0.5\nB,1,\n", "half a vote to one of A and B"),
        (",A,B\nA,,0.3\nB,0.7,\n", "is no whole number"),
    ]:
        with pytest.raises(ComparisonDataError, match=words):
            read_comparisons(written(tmp_path, table))


def test_both_orders_in_one_row(tmp_path):
    """As MT-Bench writes its judgments: the second answer is of the swapped order."""
    answers = [("m1", "m2", "model_1", "model_1"), ("m2", "m3", "model_1", "model_2"),
               ("m1", "m3", "tie", "model_2"), ("m2", "m1", "tie", "tie")]  # fmt: skip
    titles = ("model_1", "model_2", "g1_winner", "g2_winner")
    rows = [dict(zip(titles, row, strict=True)) for row in answers]
    path = written(tmp_path, json.dumps(rows), "votes.json")
    winner = ("g1_winner", "g2_winner")
    votes = read_comparisons(path, winner=winner)
    result = dict(zip(votes.row_names, votes.counts.tolist(), strict=True))
    assert votes.order_known and result == {
        "m1 vs m2": [1, 0, 1], "m2 vs m1": [0, 1, 1], "m2 vs m3": [1, 0, 0],
        "m3 vs m2": [1, 0, 0], "m1 vs m3": [0, 0, 1], "m3 vs m1": [1, 0, 0],
    }  # fmt: skip
    tie = read_comparisons(path, winner=winner, both_orders="tie")
    assert tie.counts.tolist() == [[1, 0, 1], [0, 0, 1], [0, 0, 1]]
    nothing = read_comparisons(path, winner=winner, both_orders="nothing")
    assert nothing.counts.tolist() == [[1, 0, 1]] and not nothing.order_known
    rows[0]["g2_winner"] = "error"
    path = written(tmp_path, json.dumps(rows), "votes.json")
    refused("row 0 is 'error'", read_comparisons, path, winner=winner)
    left = read_comparisons(path, winner=winner, where="g2_winner!=error")
    assert left.num_votes == 6


FORMS = """Timestamp,1st choice,2nd choice,3rd choice,Your order [tea],Your order [ale]
2024,tea,ale,milk,1st,2nd
2024,ale,tea,,2,1
2024,milk,,,,
"""


def test_rankings_as_columns_of_choices_and_as_a_grid(tmp_path):
    path = written(tmp_path, FORMS)
    ballots = read_rankings(path)
    assert ballots.arm_names == ("ale", "milk", "tea")
    assert sorted(ballots.places.tolist()) == [[1, 0, 2], [2, 3, 1]]
    places = ["Your order [tea]", "Your order [ale]"]
    grid = read_rankings(path, places=places, missing="skip")
    assert grid.arm_names == ("tea", "ale") and grid.num_votes == 2
    assert sorted(grid.places.tolist()) == [[1, 2], [2, 1]]
    refused("row 2 ranks no arm.*skip", read_rankings, path, places=places)
    twice = written(tmp_path, FORMS.replace("ale,tea,,", "ale,ale,,"))
    refused("row 1 of column '2nd choice' names", read_rankings, twice)
    with pytest.raises(ComparisonDataError, match="row 1 .* is no place such as 1"):
        read_rankings(written(tmp_path, FORMS.replace(",2,1\n", ",best,1\n")),
                      places=places)  # fmt: skip
    only = "name,tea,ale\nx,1,1\ny,2,1\n"
    with pytest.raises(ComparisonDataError, match="name columns of arms"):
        read_rankings(written(tmp_path, only))
    tied = read_rankings(written(tmp_path, only), places=["tea", "ale"])
    assert sorted(tied.places.tolist()) == [[1, 1], [2, 1]]


@pytest.mark.parametrize(
    "names",
    [
        ("2024-01-05", "2024-01-06T10:00"),
        ("1.2.2024", "31.12.24"),
        ("0d9f6a9c-1b1f-4c5e-9a53-0d7c6d2f7f11", "0d9f6a9c1b1f4c5e9a530d7c6d2f7f12"),
        ("an answer " * 30, "another one " * 30),
    ],
)
def test_dates_ids_and_texts_are_no_arms_unless_named(names):
    """Guessed columns of texts or ids; those that are named are never doubted."""
    rows = [("x", *names), ("y", *names[::-1])]
    frame = pd.DataFrame(rows, columns=["winner", "a", "b"]).assign(winner="a")
    refused("holds dates, ids or texts", read_comparisons, frame)
    assert read_comparisons(frame, arms=("a", "b")).num_arms == 2


def test_rows_of_another_length_are_refused(tmp_path):
    for row, words in [
        ("a,b,left,x,y", "row 1 has 5 cells, the header 3"),
        ("a,b,left,x", "row 1 has 4 cells, the header 3"),
        ("a,b", "row 1 has no answer"),
        ('a,b,"left', "not closed"),
    ]:
        text = f"left,right,winner\na,b,left\n{row}\n"
        with pytest.raises(ComparisonDataError, match=words):
            read_comparisons(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # pandas leaves out what is too much of a first row.
        ("left,right,winner\na,b,left,x,y\na,b,left\n", "row 0 has more cells"),
        ("left,right,winner" + ",c" * 600_000 + "\na,b,left\n", "header of more than"),
        ("# votes of May\nleft,right,winner\na,b,left\n", "row 0 .*lines above"),
    ],
)
def test_a_first_row_that_is_too_long_loses_nothing(tmp_path, text, words):
    with pytest.raises(ComparisonDataError, match=words):
        read_comparisons(written(tmp_path, text))


def test_separators_and_titles_in_other_hands(tmp_path, caplog):
    wanted = [[1, 0, 0], [0, 1, 0]]
    for text in (
        "left|right|winner\na|b|left\nb|c|c\n",
        "left,right,winner,\na,b,left,\nb,c,c,\n",
        "\ufeffLeft , RIGHT,Winner\r\na, b,left\r\nb,c,c\r\n",
        'left,right,winner,"note; with;\nmany; semi;colons;"\na,b,left,\nb,c,c,\n',
        '"SEP=;"\nleft;right;winner\na;b;left\nb;c;c\n',
        "Team A,Team B,Wins A,Wins B,Draws\na,b,1,0,0\nb,c,0,1,0\n",
        "HomeTeam,AwayTeam,Home Goals,Away Goals\na,b,2,0\nb,c,1,3\n",
    ):
        votes = read_comparisons(written(tmp_path, text))
        assert votes.counts.tolist() == wanted, text
    assert caplog.text.count("not read") == 1
    for text in (
        "Left,left,right,winner\nz,x,y,x\n",
        "A,B,left,right,winner\n1,2,x,y,x\n",
    ):
        assert read_comparisons(written(tmp_path, text)).arm_names == ("x", "y")
    twice = written(tmp_path, "Left,LEFT,right,winner\nz,x,y,x\n")
    refused("none of the usual columns", read_comparisons, twice)


@pytest.mark.parametrize("point", ["1.000", "12.500"])
def test_points_beside_decimal_commas_may_be_thousands(tmp_path, point):
    text = f"left;right;winner;n\na;b;left;{point}\n"
    path = written(tmp_path, text)
    for decimal in (None, ","):
        with pytest.raises(ComparisonDataError, match="may be a thousand.*decimal='.'"):
            read_comparisons(path, weight="n", decimal=decimal)
    votes = read_comparisons(path, weight="n", decimal=".")
    assert votes.num_votes == float(point)
    frame = pd.DataFrame({"left": ["a"], "right": ["b"], "winner": ["a"], "n": [1.125]})
    assert read_comparisons(frame, weight="n", decimal=",").num_votes == 1.125
    other = written(tmp_path, "left;right;winner;n\na;b;left;1.000\na;b;left;1.5\n")
    assert read_comparisons(other, weight="n").num_votes == 2.5


@pytest.mark.parametrize("label", [1.2345678901234567e18, "1.23457E+15", 1e17])
def test_numbers_that_lost_digits_are_no_names(label):
    """pandas rounds ids where a cell is empty, and Excel those of over 15 digits."""
    frame = pd.DataFrame({"left": [7, label], "right": [8, 9], "winner": ["left"] * 2})
    frame = frame.astype(object)
    refused("row 1 of column 'left' .*digits.*lost", read_comparisons, frame)
    exact = frame.assign(left=[7, 1234567890123456789])
    assert "1234567890123456789" in read_comparisons(exact).arm_names


def test_json_says_what_it_is_and_where_it_breaks(tmp_path):
    rows = [{"left": "a", "right": "b", "winner": "left"}] * 3
    lines = "\n".join(map(json.dumps, rows))
    frame = pd.DataFrame(rows)
    for text, words in [
        (f'{lines}\n\n{{"left": 5\n', "line 5"),
        ('[{"left": ' + "1" * 5000 + "}]", "is no JSON: line 1: .*digits"),
        (json.dumps({"data": rows}), "no list of records.*orient='records'"),
        (frame.to_json(), "no list of records"),
        (frame.to_json(orient="split"), "no list of records"),
        ('[{"left": "a", " left": "z", "right": "b", "winner": "a"}]', "both called"),
    ]:
        with pytest.raises(ComparisonDataError, match=words):
            read_comparisons(written(tmp_path, text, "votes.json"))


def test_sheets_that_are_not_read_are_named(tmp_path, caplog):
    frame = pd.DataFrame({"left": ["a"], "right": ["b"], "winner": ["left"]})
    path = tmp_path / "votes.xlsx"
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="May", index=False)
        frame.to_excel(book, sheet_name="June", index=False)
    assert read_comparisons(path).num_votes == 1
    assert "only the first sheet of the workbook is read, 'May'; not read: June" in (
        caplog.text
    )
    frame[:0].to_excel(path, index=False)
    refused("needs a header and at least one", read_comparisons, path)


@pytest.mark.parametrize("condition", ["turn<b", "turn>", "turn>='x'", "id<2,x"])
def test_numbers_are_compared_with_numbers(condition):
    with pytest.raises(ComparisonDataError, match="must compare column"):
        keep_rows(FILTERED.assign(turn=[1, 2, 3, 10, 4], id=range(5)), condition)


def test_conditions_know_decimal_commas_and_quotes(tmp_path):
    text = "left;right;winner;n;said\na;b;left;10,5;'x'\na;b;right;9,5;x\n"
    path = written(tmp_path, text)
    for condition in ("n>10,0", "n>10", "said='x'"):
        chosen = read_comparisons(path, where=condition)
        assert chosen.counts.tolist() == [[1, 0, 0]], condition
    assert read_comparisons(path, where="said!='x'").counts.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (";A;B\nA;;1,5\nB;0,5;\n", [[1, 0, 1]]),
        (",A,B\nA,,1\u00bd\nB,\u00bd,\n", [[1, 0, 1]]),
        (",A,B\nA,*,=\nB,=,*\n", [[0, 0, 1]]),
        (",A,B,C\nA,,3,\nB,2,,1\nC,,4,\n", [[3, 2, 0], [1, 4, 0]]),
        # Two votes, whose winners are words.
        ("winner,left,right\nleft,x,y\nright,y,7\n", [[1, 0, 0], [0, 1, 0]]),
        ("winner,left,right\nleft,7,8\nright,8,9\n", [[1, 0, 0], [0, 1, 0]]),
    ],
)
def test_cross_tables_of_other_kinds(tmp_path, text, counts):
    assert read_comparisons(written(tmp_path, text)).counts.tolist() == counts
    broken = written(tmp_path, ",A,B,C\nA,,3,\nB,2,,1\nC,0,4,\n")
    refused("'A' won against 'C'|'C' won against", read_comparisons, broken)


@pytest.mark.parametrize("one", ["1", "1.0", "true", "True"])
def test_a_row_of_marks_has_one_winner(tmp_path, one):
    none = {"1": "0", "1.0": "0.0", "true": "false", "True": "False"}[one]
    titles = "model_a,model_b,winner_model_a,winner_model_b,winner_tie"
    text = f"{titles}\nx,y,{none},{none},{one}\nx,y,{one},{one},{none}\n"
    with pytest.raises(ComparisonDataError, match="row 1 .* another column of the row"):
        read_comparisons(written(tmp_path, text))


def test_truth_as_words_in_any_format(tmp_path, monkeypatch):
    frame = pd.DataFrame({"left": ["a"] * 3, "right": ["b"] * 3})
    frame["winner"] = [True, False, False]
    for words in ((True, False, "tie"), ("true", "false", "tie"), ("TRUE", "FALSE", 0)):
        for votes in in_formats(frame, tmp_path, monkeypatch).values():
            read = read_comparisons(votes, words=words)
            assert read.counts.tolist() == [[1, 2, 0]]
    numbers = read_comparisons(frame.assign(winner=[1, 2, 0]), words=(1, 2, 0))
    assert numbers.counts.tolist() == [[1, 1, 1]]


def test_sides_say_nothing_where_a_row_holds_both_orders(tmp_path):
    path = written(tmp_path, "a,b,g1,g2\nx,y,left,left\n")
    refused("row 0 is 'left', but must be", read_comparisons, path, winner=("g1", "g2"))


RATED = """r,item1,item2,item3,score1,score2,score3,best,worst
1,tea,ale,milk,5,4,1,{}
2,cola,tea,ale,3,4,2,{}
3,milk,cola,tea,1,2,3,{}
"""


def test_answers_tell_which_columns_were_shown(tmp_path, caplog):
    """Not numbers: they may be places in any of the groups, or scores."""
    names = written(tmp_path, RATED.format("tea,milk", "tea,ale", "milk,tea"))
    votes = read_sets(names)
    assert votes.arm_names == ("ale", "cola", "milk", "tea")
    titles = RATED.format("item1,item3", "item2,item3", "item1,item3")
    same = read_sets(written(tmp_path, titles))
    assert same.counts.tolist() == votes.counts.tolist()
    places = written(tmp_path, RATED.format("1,3", "2,3", "1,3"))
    refused("item3 or score1.*name them", read_sets, places)
    same = read_sets(places, shown=["item1", "item2", "item3"])
    assert same.counts.tolist() == votes.counts.tolist()
    assert "could be places" not in caplog.text
    ids = "a1,a2,a3,best\n2,3,1,1\n1,3,2,3\n"
    assert read_sets(written(tmp_path, ids)).counts.tolist() == [[1, 0, 1, 0]]
    assert "could be places from 1 to 3 as well; they were read as names" in caplog.text


def test_sets_of_floats_lists_and_capitals(tmp_path):
    """One empty cell makes floats of ids, which are still the ids that were picked."""
    frame = pd.DataFrame({"i1": [21, 22, None], "i2": [23, 23, 21], "i3": [25, 26, 23]})
    votes = read_sets(frame.assign(best=[21, 22, 23]))
    # The first column holds another arm in each row, and none that was picked.
    assert read_sets(frame.assign(best=["i2"] * 3)).num_votes == 3
    assert votes.arm_names == ("21", "22", "23", "25", "26")
    two = frame.assign(best=[21.0, 22.0, 23.0], id1=[100, 101, 102], id2=[5, 6, 7])
    assert read_sets(two).counts.tolist() == votes.counts.tolist()
    capitals = MAXDIFF.replace("item", "Item").replace("best,worst", "Most,Least")
    assert read_sets(written(tmp_path, capitals)).num_votes == 6
    lists = json.dumps([{"shown": ["a", "b"], "best": "a"}])
    assert read_sets(written(tmp_path, lists, "sets.json")).row_names == ["a | b"]
    path = written(tmp_path, "i1,i2,best\na,b,a\n,b,b\n")
    refused("row 1 shows fewer than two", read_sets, path)
    refused("no column 'last'", read_sets, path, worst="last")


@pytest.mark.parametrize(
    "titles",
    ["Q [1st choice],Q [2nd choice]", "Q [First],Q [Second]", "Choice #1,Choice #2",
     "1st,2nd", "1. choice,2. choice"],
)  # fmt: skip
def test_columns_of_ranks(tmp_path, titles):
    path = written(tmp_path, f"when,{titles}\n2024,tea,ale\n2025,ale,tea\n")
    ballots = read_rankings(path)
    assert ballots.arm_names == ("ale", "tea") and ballots.num_votes == 2
    assert sorted(ballots.places.tolist()) == [[1, 2], [2, 1]]
    two = written(tmp_path, "1st choice,2nd choice,rank 1,rank 2\na,b,c,d\n")
    refused("name columns of arms", read_rankings, two)


@pytest.mark.parametrize("row", ["90,80,70", "5,4,4", "1,1,2"])
def test_ratings_are_no_places_unless_named(tmp_path, row):
    path = written(
        tmp_path, f"when,Q [a],Q [b],Q [c]\n1,1st choice,Rank 2,3 (last)\n2,{row}\n"
    )
    refused("row 1 of Q .*may be ratings.*places", read_rankings, path)
    named = read_rankings(path, places=["Q [a]", "Q [b]", "Q [c]"])
    assert named.num_votes == 2


def test_choices_of_floats_and_names_for_nothing(tmp_path):
    wide = "who,choice,price1,price2\n7,1.0,1.5,4\n8,2.0,2,2.5\n"
    path = written(tmp_path, wide)
    assert read_wide_choices(path, attributes=["price"]).counts[:, :2].tolist() == [
        [1, 0],
        [0, 1],
    ]
    for column, text in (("choice", "8,,2"), ("who", ",2.0,2")):
        path = written(tmp_path, wide.replace("8,2.0,2", text))
        with pytest.raises(
            ComparisonDataError, match=rf"row 1 .*{column}.*no value.*where"
        ):
            read_wide_choices(path, attributes=["price"], person="who")
    for word in ("None", "NA"):
        long = f"id,alternative,chosen\n1,bus,0\n1,car,0\n1,{word},1\n"
        path = written(tmp_path, long)
        assert read_long_choices(path, none=word).counts.tolist() == [[0, 0, 1]]
        refused(r"row 2 .*no value.*\(where\)$", read_long_choices, path)
    rows = [["NA", "b", "left"], ["b", "NA", "left"]]
    frame = pd.DataFrame(rows, columns=["left", "right", "winner"])
    named = read_comparisons(frame, arm_names=["b", "NA"])
    assert named.wins.tolist() == [[0, 1], [1, 0]]


def test_no_row_is_left(tmp_path):
    path = written(tmp_path, "left,right,winner\na,b,\n,b,left\n")
    refused(
        "no row with a value in each of left", read_comparisons, path, missing="skip"
    )


@pytest.mark.parametrize("cells", [10**3, 10**9])
def test_parquet_files_that_unpack_to_too_much(tmp_path, monkeypatch, cells):
    """pyarrow, which is not needed here, is asked before it reads anything."""
    kinds = {"left": "BYTE_ARRAY", "turn": "INT64", "talk.list.element": "BYTE_ARRAY"}
    leaves = [SimpleNamespace(path=p, physical_type=k) for p, k in kinds.items()]
    part = SimpleNamespace(total_uncompressed_size=10, num_values=cells)
    group = SimpleNamespace(column=lambda at: part)
    about = SimpleNamespace(
        num_row_groups=2,
        num_columns=3,
        row_group=lambda at: group,
        schema=SimpleNamespace(column=leaves.__getitem__),
    )
    reader = SimpleNamespace(ParquetFile=lambda file: SimpleNamespace(metadata=about))
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(parquet=reader))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", reader)
    frame = pd.DataFrame({"left": ["a"], "right": ["b"], "winner": ["left"]})
    options = {}
    monkeypatch.setattr(
        pd, "read_parquet", lambda file, **how: options.update(how) or frame
    )
    path = tmp_path / "votes.parquet"
    path.write_bytes(b"PAR1")
    if cells > 10**6:
        refused(r"votes\.parquet.* unpacks to .* 6e\+09 cells", read_comparisons, path)
        assert not options
    else:
        assert read_comparisons(path).num_votes == 1
        assert options["read_dictionary"] == ["left", "talk.list.element"]
