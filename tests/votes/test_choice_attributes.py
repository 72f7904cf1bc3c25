"""Choices with attributes: from arrays, and from long and wide tables."""

import numpy as np
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import Choices, read_long_choices, read_wide_choices
from tests.command_line import invoke
from tests.figures import saved_undrawn  # noqa: F401
from tests.votes.helpers import refused, written

WIDE = """who,choice,pf1,pf_2,fuel1,fuel2,here1,here2,times
ann,1,7.5,3,gas,oil,1,1,2
ann,choice2,4,-1e1,oil,coal,1,1,1
bob,none,,8,,gas,0,1,1
"""
LONG = """id,who,alternative,chosen,pf,fuel,here
1,ann,1,1,7.5,gas,1
1,ann,2,0,3,oil,1
2,ann,1,0,4,oil,1
3,bob,2,0,8,gas,1
2,ann,2,1,-10,coal,1
1,ann,none,0,,,1
2,ann,none,0,,,1
3,bob,none,1,,,1
3,bob,1,0,,,0
"""
DECIMAL_COMMAS = """id;who;alternative;chosen;pf;here
1;ann;1;1;7,5;1
1;ann;2;0;3,5;1
"""
ATTRIBUTES = [
    [[7.5, 1, 0], [3, 0, 1]],
    [[4, 0, 1], [-10, 0, 0]],
    [[0, 0, 0], [8, 1, 0]],
]
NAMES = ("pf", "fuel=gas", "fuel=oil")


def check(choices):
    assert choices.arm_names == ("1", "2") and choices.attribute_names == NAMES
    np.testing.assert_array_equal(choices.attributes, ATTRIBUTES)
    assert choices.offered.tolist() == [[True, True], [True, True], [False, True]]
    assert choices.person_names == ("ann", "bob")
    assert choices.persons.tolist() == [0, 0, 1] and choices.outside
    assert "3 attributes, 2 persons" in repr(choices)
    assert choices.row_names[2] == "choice 2 by bob"


def test_wide_tables(tmp_path):
    path = written(tmp_path, WIDE)
    options = {"attributes": ["pf", "fuel"], "person": "who", "none": "none"}
    choices = read_wide_choices(path, available="here", **options)
    check(choices)
    assert choices.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    named = {"pf": ["pf1", "pf_2"], "fuel": None, "zero": ["", "pf_2"]}
    again = read_wide_choices(
        path, attributes=named, available=["here1", "here2"], weight="times",
        person="who", none="none", alternatives=["1", "2"],
    )  # fmt: skip
    np.testing.assert_array_equal(again.attributes[:, :, :3], ATTRIBUTES)
    assert again.attributes[:, :, 3].tolist() == [[0, 3], [0, -10], [0, 8]]
    assert again.counts.sum(axis=1).tolist() == [2, 1, 1]
    chosen = read_wide_choices(path, where="who == 'ann'", **options)
    assert chosen.num_votes == 2 and chosen.outside


def test_names_before_attributes_and_numbered_choices(tmp_path):
    """As in Swissmetro: TRAIN_TT and SM_TT, and a choice that is 1 or 2."""
    path = written(tmp_path, "CHOICE,TRAIN_TT,SM_TT\n2,10,20\n1,30,40\n")
    choices = read_wide_choices(path, choice="CHOICE", attributes=["TT"])
    assert choices.arm_names == ("TRAIN", "SM") and not choices.outside
    assert choices.counts.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert choices.attributes[:, :, 0].tolist() == [[10, 20], [30, 40]]
    # "class" is no column of the attribute cl, nor "ass" an alternative.
    path = written(tmp_path, "choice,class,cl1,cl2\n1,high,5,6\n2,low,7,8\n")
    assert read_wide_choices(path, attributes=["cl"]).arm_names == ("1", "2")


def test_long_tables(tmp_path):
    path = written(tmp_path, LONG)
    options = {"attributes": ["pf", "fuel"], "person": "who", "none": "none"}
    choices = read_long_choices(path, available="here", **options)
    check(choices)
    assert choices.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    plain = read_long_choices(path, available="here", none="none")
    assert plain.attributes is None and plain.offered.shape == (2, 2)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (WIDE, {"attributes": ["pg"]}, "no two alternatives"),
        (WIDE, {"attributes": ["pf", "fuel"]}, "row 2 of column 'choice'"),
        (WIDE, {"attributes": "pf"}, "must be a list"),
        (WIDE.replace("7.5", "x"), {"attributes": ["pf"], "available": "here",
                                    "none": "none"}, "row 0 of column 'pf1' is no"),
        (WIDE, {"attributes": ["pf"], "none": "none"}, "'pf1' is empty"),
        (WIDE, {"attributes": {"pf": ["pf1"]}, "alternatives": ["1", "2"]}, "for each"),
        (WIDE, {"attributes": ["who"], "alternatives": ["1", "2"]}, "has no column"),
        (WIDE, {"attributes": ["pf"], "available": "here", "none": "none",
                "weight": "who"}, "is no number"),
    ],
)  # fmt: skip
def test_wide_tables_that_cannot_be_read(tmp_path, text, options, words):
    with pytest.raises(ComparisonDataError, match=words):
        read_wide_choices(written(tmp_path, text), **options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LONG.replace("2,ann,2", "2,bob,2"), "'2' is of several persons"),
        (LONG.replace("7.5", ""), "row 0 of column 'pf' is empty"),
        (
            DECIMAL_COMMAS.replace(";", "\t"),
            "row 0 of column 'pf' is a number with a comma: '7,5'",
        ),
    ],
)
def test_long_tables_that_cannot_be_read(tmp_path, text, words):
    with pytest.raises(ComparisonDataError, match=words):
        read_long_choices(
            written(tmp_path, text), attributes=["pf"], person="who",
            available="here", none="none",
        )  # fmt: skip


def test_files_with_semicolons_have_decimal_commas(tmp_path, caplog):
    path = written(tmp_path, DECIMAL_COMMAS)
    choices = read_long_choices(path, attributes=["pf"])
    assert choices.attributes[0, :, 0].tolist() == [7.5, 3.5]
    assert "decimal commas" in caplog.text


def test_arrays_are_read_where_something_was_on_offer():
    price = np.array([[1.0, np.nan], [2.0, 3.0]])
    available = [[1, 0], [1, 1]]
    choices = Choices.from_attributes(price, [None, 1], available=available)
    assert choices.attributes[:, :, 0].tolist() == [[1, 0], [2, 3]]
    assert choices.counts.tolist() == [[0, 0, 1], [0, 1, 0]]
    assert choices.attribute_names == ("attribute 0",) and choices.persons is None
    weighted = Choices.from_attributes(
        price[1:], ["1"], weight=[2.5], outside=True, persons=[7]
    )
    assert weighted.counts.tolist() == [[0, 2.5, 0]] and not weighted.is_whole
    assert weighted.person_names == ("7",) and weighted.outside


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Choices.from_attributes([[1, np.inf]], [0]), "must be finite"),
        (lambda: Choices.from_attributes([1, 2], [0]), "the shape"),
        (lambda: Choices.from_attributes([[1, 2]], [0, 1]), "equally long"),
        (lambda: Choices.from_attributes([[1, 2]], [1], available=[[1, 0]]),
         "not on offer|leaves no choice"),
        (lambda: Choices.from_attributes([[1, 2]], [None], outside=False),
         "outside=False"),
        (lambda: Choices.from_attributes([[1, 2]], [1], attribute_names=["a", "b"]),
         "1 different names"),
        (lambda: Choices.from_attributes([[1, 2]], [1], persons=["a", "b"]), "1 rows"),
        (lambda: Choices.from_counts([[1, 1]], [[1, 0]], attribute_names=["a"]),
         "needs attributes"),
        (lambda: Choices(("a", "b"), np.ones((1, 2), bool), np.ones((1, 3)), True,
                         np.ones((1, 2, 1)), ()), "attributes must be an array"),
        (lambda: Choices(("a", "b"), np.ones((1, 2), bool), np.ones((1, 3)), True,
                         persons=np.array([1]), person_names=("x",)),
         "the place of a person"),
    ],
)  # fmt: skip
def test_arrays_that_are_refused(make, words):
    refused(words, make)


def test_the_command_line(tmp_path):
    path = written(tmp_path, WIDE.replace("none,,8,,gas,0", "2,1,8,gas,gas,1"))
    request = ["fit-choices", str(path), "--attributes", "pf", "--person", "who"]
    shown = invoke([*request, "--available", "here", "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert "choice 2 by bob" in shown.output
    assert "-10" in shown.output and "2 persons" in shown.output
    options = ["--prior-scale", "2", "--draws", "20", "--out", str(tmp_path / "out")]
    output = invoke([*request, *options])
    assert output.exit_code == 0 and "coefficient[pf]" in output.output
    assert "log likelihood at the mode" in output.output
    saved = {item.name for item in (tmp_path / "out").iterdir()}
    assert {"coefficients.csv", "coefficients.png", "fit.nc"} <= saved
    for line, words in (
        ([*request, "--random", "pf"], "--random"),
        ([*request, "--model", "mixed", "--random", "pg"], "did you mean pf"),
        (["fit-choices", "none.csv", "--attributes", "a"], "does not exist"),
        ([*request, "--long", "id,who"], "--long: must be 3 names"),
        ([*request, "--long", "id,who,pf1", "--choice", "pf1"], "--choice: is for"),
    ):
        refused = invoke(line)
        assert refused.exit_code == 2 and words in refused.output
