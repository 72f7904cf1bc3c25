"""Votes on one question in both orders, as one vote: against a plain Python twin."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import Comparisons
from tests.votes.helpers import refused

ARMS = "abc"


def questions_of(rng, number=80):
    """Questions with two answers: (prompt, judge, one, other, there, back)."""
    by_name = {}
    for _ in range(number):
        one, other = rng.permutation(3)[:2].tolist()
        prompt, judge = f"p{rng.integers(9)}", f"j{rng.integers(2)}"
        answers = rng.choice(["left", "right", "tie"], size=2).tolist()
        by_name[prompt, judge, frozenset((one, other))] = (one, other, *answers)
    return [(*key[:2], *value) for key, value in by_name.items()]


def twin(questions, contradiction):
    """Votes by (prompt, judge, lower arm, higher arm, what was said)."""
    turned = {"left": "right", "right": "left", "tie": "tie"}
    votes: Counter = Counter()
    for prompt, judge, one, other, there, back in questions:
        said = there if there == turned[back] else contradiction
        if said == "nothing":
            continue
        said = said if one < other else turned[said]
        votes[prompt, judge, min(one, other), max(one, other), said] += 1
    return votes


def votes_of(questions, weight=1.0):
    rows = [
        (prompt, judge, *pair, answer)
        for prompt, judge, one, other, there, back in questions
        for pair, answer in (((one, other), there), ((other, one), back))
    ]
    prompt, judge, first, second, said = zip(*rows, strict=True)
    return Comparisons.from_votes(
        [ARMS[item] for item in first], [ARMS[item] for item in second], said,
        weight=np.full(len(rows), weight), arm_names=ARMS,
        columns={"context": prompt, "judge": judge},
    )  # fmt: skip


@pytest.mark.parametrize(("contradiction", "weight"), [("tie", 1.0), ("nothing", 3.0)])
def test_the_votes_are_those_of_the_twin(contradiction, weight):
    questions = questions_of(np.random.default_rng(5))
    votes = votes_of(questions, weight).with_both_orders_as_one(contradiction)
    assert not votes.order_known and set(votes.columns) == {"context", "judge"}
    here = {}
    for row, counts in enumerate(votes.counts):
        labels = [votes.labels[name][votes.columns[name][row]]
                  for name in ("context", "judge")]  # fmt: skip
        (outcome,) = np.flatnonzero(counts)
        said = ("left", "right", "tie")[outcome]
        pair = int(votes.first[row]), int(votes.second[row])
        here[*labels, *pair, said] = counts[outcome] / weight
    expected = twin(questions, contradiction)
    assert here == expected
    assert {key[-1] for key in expected} == {"left", "right", "tie"}


def test_votes_that_have_no_other_order_are_left_out_and_counted(caplog):
    questions = questions_of(np.random.default_rng(5))
    votes = votes_of(questions)
    alone = Comparisons.from_rows(
        ARMS, [*votes.first, 0], [*votes.second, 2], [*votes.counts, [0, 1, 0]],
        order_known=True,
        columns={
            name: [*np.array(votes.labels[name])[votes.columns[name]], "only"]
            for name in ("context", "judge")
        },
    )  # fmt: skip
    result = alone.with_both_orders_as_one("tie")
    assert result.num_votes == len(questions)
    assert f"1 of {len(votes.first) + 1} rows" in caplog.text
    assert "a vs c (context only, judge only)" in caplog.text


def test_what_cannot_be_told_apart_is_refused():
    votes = votes_of(questions_of(np.random.default_rng(5)))
    with pytest.raises(ComparisonDataError, match="votes that differ.*name what was"):
        votes.without_columns().with_both_orders_as_one()
    with pytest.raises(ComparisonDataError, match="order_known"):
        votes.without_order().with_both_orders_as_one()
    wrongs: list[Any] = ["drop", None, 1]
    for wrong in wrongs:
        refused("contradiction", votes.with_both_orders_as_one, wrong)
    one = Comparisons.from_votes(["a"], ["b"], ["left"])
    refused("no question.*both orders", one.with_both_orders_as_one)
