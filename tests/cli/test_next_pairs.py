"""``bayesduel next``: the pairs of ``bayesduel.next_pairs``, and what is refused."""

import json

import pandas as pd
import pytest

import bayesduel

VOTES = """left,right,winner
tea,milk,left
milk,water,tie
water,tea,right
tea,water,left
milk,tea,right
"""


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text(VOTES, encoding="utf-8")
    return path


def test_the_pairs_are_those_of_the_function(run, votes):
    given = "--seed", "3", "-n", "6", "-p", "rucb:alpha=0.6"
    found = json.loads(run("next", votes, *given, "--json", "--quiet").stdout)
    expected = bayesduel.next_pairs(votes, "rucb:alpha=0.6", 6, seed=3)
    assert found["pairs"] == expected.to_dict("records")
    assert found["policy"] == "rucb:alpha=0.6"
    printed = run("next", votes, *given).stdout
    for place, row in enumerate(found["pairs"], 1):
        cells = str(place), row["first"], row["second"]
        assert any(line.split() == [*cells] for line in printed.splitlines())


def test_saved_questions_are_read_back_with_their_answers(run, votes, tmp_path):
    path = tmp_path / "questions.csv"
    run("next", votes, "-n", "4", "--exclude", "milk,tea", "--out", path)
    table = pd.read_csv(path)
    pairs = {frozenset(pair) for pair in table.to_numpy().tolist()}
    assert len(table) == 4 and frozenset({"milk", "tea"}) not in pairs
    table.assign(winner=table["first"]).to_csv(path, index=False)
    run("next", path, "-n", "2")
    result = run("next", votes, "--out", path, code=2)
    assert "--out: must not exist" in result.stderr
    run("next", votes, "--out", path, "--overwrite")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "d-tz"], "did you mean d-ts"),
        (["-p", "pcomp"], "--horizon: must be given for PCOMP"),
        (["-p", "d-ts:every=5"], "--policy: must ask for pairs"),
        (["-n", "0"], "--number"),
        (["--exclude", "tea"], "--exclude"),
        (["--exclude", "tea,coffee"], "coffee"),
        (["--exclude", "tea,milk", "--exclude", "milk,water", "--exclude",
          "water,tea"], "--exclude: must leave a pair"),
    ],
)  # fmt: skip
def test_what_is_refused(run, votes, arguments, words):
    result = run("next", votes, *arguments, code=2)
    assert words in result.stderr and result.stdout == ""
