"""Tables as survey tools, spreadsheets and arenas write them, read without guessing."""

import bz2
import gzip
import io
import json
import lzma
import tracemalloc
import zipfile

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


def written(folder, text, name="votes.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


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
    by_place = MAXDIFF.replace("tea,ale\nP02", "1,3\nP02").replace(
        "cola,milk\n", "4,1\n"
    )
    by_place = by_place.replace("milk,tea,ale\n", "milk,1,3\n")
    by_title = by_place.replace(",1,3\n", ",item1,item3\n").replace(
        ",4,1\n", ",item4,item1\n"
    )
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
        (
            "a1,a2,b1,b2,best\ntea,ale,tea,milk,tea\nale,tea,ale,milk,ale\n",
            "could be a1, a2 or b1, b2",
        ),
        (
            "q1,q2,best\np1,x1,tea\np2,x2,ale\np3,x3,tea\n",
            "'q1' was taken.*never picked|picks 'tea', but shows",
        ),
        ("i1,i2,note\ntea,ale,x\n", "no column 'best'"),
        ("i1,i2,best\ntea,ale,tea\ntea,ale,\n", "row 1 .*has no value.*skip"),
    ],
)
def test_sets_that_cannot_be_told_are_refused(tmp_path, text, words):
    path = written(tmp_path, text)
    if words is None:  # Named columns are never doubted.
        titles = path.read_text().splitlines()[0].split(",")[2:6]
        assert read_sets(path, shown=titles).num_arms == 5
        return
    with pytest.raises(ComparisonDataError, match=words):
        read_sets(path)


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
        with pytest.raises(ComparisonDataError, match=f"row 1 .*{word}.*missing='keep"):
            read_comparisons(votes)
        assert read_comparisons(votes, missing="skip").num_votes == 2
        if column != "winner":
            kept = read_comparisons(votes, missing="keep")
            assert word in kept.arm_names and kept.num_votes == 3
    rows[2]["left"] = ""
    with pytest.raises(ComparisonDataError, match="row 2 of column 'left' has no val"):
        read_comparisons(pd.DataFrame(rows), missing="keep")


def test_an_empty_cell_of_an_arm_is_named_with_a_way_forward(tmp_path):
    path = written(tmp_path, "id,a,b,winner\n1,x,y,a\n2,x,,a\n")
    with pytest.raises(
        ComparisonDataError, match=r"row 1 of column 'b' has no value.*missing='skip'"
    ):
        read_comparisons(path)


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
    ("condition", "kept"),
    [
        ("id=7", [1, 2]),
        ("id = 007", [0]),
        ("id=1.1", [4]),
        ("id!=1.10", [0, 1, 2, 4]),
        ("turn=1", [0]),
        ("turn<3", [0, 1]),
        ("turn>=3", [2, 3]),
        ("turn>2.5", [2, 3]),
        ("turn=", [4]),
        ("turn!=", [0, 1, 2, 3]),
        ("sure=true", [0, 2, 3]),
        ("sure=False", [1, 4]),
        ("day>=2024-01-05", [0, 1, 4]),
        ("day<2024", [2]),
        ("said=so=x", [0, 2]),
        ("said=so!='x'", [1, 3, 4]),
        (["turn>1", "sure=true"], [2, 3]),
    ],
)
def test_conditions_compare_text_with_text_and_numbers_with_numbers(
    tmp_path, condition, kept
):
    if condition == "day<2024":
        with pytest.raises(ComparisonDataError, match="row 0 of column 'day' is no nu"):
            keep_rows(FILTERED, condition)
        return
    assert keep_rows(FILTERED, condition).index.tolist() == kept
    if "sure" not in str(condition) and "turn=1" != condition:
        read = read_table(written(tmp_path, FILTERED.to_csv(index=False)))
        assert keep_rows(read, condition).index.tolist() == kept


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
    with pytest.raises(ComparisonDataError, match="may be one of the arms"):
        read_comparisons(path, arms=("x_id", "y_id"))


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
        read = read_comparisons(
            votes, arms=("x", "y"), wins=("Answer.a", "Answer.b"), ties=["Answer.same"]
        )
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
    frame = pd.DataFrame(
        {"left": ["a", "b", "NA"], "right": ["b", "c", "c"], "winner": ["left"] * 3}
    )
    frame.to_stata(tmp_path / "votes.dta", write_index=False)
    frame.to_excel(tmp_path / "votes.xlsx", index=False)
    for name in ("votes.dta", "votes.xlsx"):
        with pytest.raises(ComparisonDataError, match="row 2 of column 'left'.*'NA'"):
            read_comparisons(tmp_path / name)
        assert read_comparisons(tmp_path / name, missing="keep").num_arms == 4
    (tmp_path / "bad.xlsx").write_bytes((tmp_path / "votes.xlsx").read_bytes()[:900])
    with pytest.raises(ComparisonDataError, match=r"bad\.xlsx"):
        read_comparisons(tmp_path / "bad.xlsx")


TEXT = b"left,right,winner\na,b,left\n"


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip"])
def test_compressed_files_and_bombs(tmp_path, kind):
    def packed(content):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("votes.csv", content)
        return {"gz": gzip.compress(content), "bz2": bz2.compress(content),
                "xz": lzma.compress(content), "zip": file.getvalue()}[kind]  # fmt: skip

    path = tmp_path / f"votes.csv.{kind}"
    path.write_bytes(packed(TEXT))
    assert read_comparisons(path).num_votes == 1
    path.write_bytes(packed(TEXT * 200)[:-30])
    with pytest.raises(ComparisonDataError, match="cut off or damaged|votes.csv.zip"):
        read_comparisons(path)
    bomb = packed(b"0" * 10**8)
    path.write_bytes(bomb)
    tracemalloc.start()
    with pytest.raises(ComparisonDataError, match="unpacks to more than"):
        read_comparisons(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1.5e8


def test_names_that_look_alike_are_said_with_their_codes(caplog):
    names = ["gpt-4", "gpt\u20114", "gpt\u20134", "claude"]
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
    rows = [
        dict(zip(("model_1", "model_2", "g1_winner", "g2_winner"), row, strict=True))
        for row in answers
    ]
    path = written(tmp_path, json.dumps(rows), "votes.json")
    winner = ("g1_winner", "g2_winner")
    votes = read_comparisons(path, winner=winner)
    found = dict(zip(votes.row_names, votes.counts.tolist(), strict=True))
    assert votes.order_known and found == {
        "m1 vs m2": [1, 0, 1], "m2 vs m1": [0, 1, 1], "m2 vs m3": [1, 0, 0],
        "m3 vs m2": [1, 0, 0], "m1 vs m3": [0, 0, 1], "m3 vs m1": [1, 0, 0],
    }  # fmt: skip
    tie = read_comparisons(path, winner=winner, both_orders="tie")
    assert tie.counts.tolist() == [[1, 0, 1], [0, 0, 1], [0, 0, 1]]
    nothing = read_comparisons(path, winner=winner, both_orders="nothing")
    assert nothing.counts.tolist() == [[1, 0, 1]] and not nothing.order_known
    rows[0]["g2_winner"] = "error"
    path = written(tmp_path, json.dumps(rows), "votes.json")
    with pytest.raises(ComparisonDataError, match="row 0 is 'error'"):
        read_comparisons(path, winner=winner)
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
    with pytest.raises(ComparisonDataError, match="row 2 ranks no arm.*skip"):
        read_rankings(path, places=places)
    twice = written(tmp_path, FORMS.replace("ale,tea,,", "ale,ale,,"))
    with pytest.raises(ComparisonDataError, match="row 1 of column '2nd choice' names"):
        read_rankings(twice)
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
    with pytest.raises(ComparisonDataError, match="holds dates, ids or texts"):
        read_comparisons(frame)
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
