"""Several values of a parameter in one text."""

import pytest

from bayesduel.errors import SimulationArgumentError
from bayesduel.experiments.arguments import expand
from bayesduel.experiments.experiment import Experiment


def test_ranges_and_lists_are_crossed_and_the_last_changes_fastest():
    assert expand("d-ts:alpha=0.1..0.3/3,every=1|10") == [
        f"d-ts:alpha={alpha},every={every}"
        for alpha in ("0.1", "0.2", "0.3")
        for every in (1, 10)
    ]
    assert expand("m:Class:every=10..100/4")[1:3] == [
        "m:Class:every=40",
        "m:Class:every=70",
    ]
    assert expand("p:a=2..1/3") == ["p:a=2", "p:a=1.5", "p:a=1"]


def test_zipped_parameters_move_together_and_are_crossed_with_others():
    assert expand("p:a=1|2&b=10|20,c=x|y") == [
        "p:a=1,b=10,c=x",
        "p:a=1,b=10,c=y",
        "p:a=2,b=20,c=x",
        "p:a=2,b=20,c=y",
    ]
    assert expand("p:a=1..3/3&b=3..1/3&c=7|8|9")[2] == "p:a=3,b=1,c=9"
    # As many as there are values, not their product.
    assert len(expand("p:a=1..2/1000&b=1..2/1000")) == 1000


def test_ranges_of_equal_ratios():
    assert expand("p:a=1..1000/4log") == [f"p:a={a}" for a in (1, 10, 100, 1000)]
    values = [float(each[4:]) for each in expand("p:a=2..0.02/7log")]
    ratios = [one / other for one, other in zip(values[1:], values, strict=False)]
    assert ratios == pytest.approx([100 ** (-1 / 6)] * 6)
    ends = expand("p:a=-1e308..1e308/3")
    assert ends == ["p:a=-1e308", "p:a=0", "p:a=1e308"]


@pytest.mark.parametrize(
    "text", ["d-ts", "folder/a..b/3.csv", "d-ts:alpha=0.6", "module:Class", "C:\\m.csv"]
)
def test_what_has_one_value_stays_as_it_is(text):
    assert expand(text) == [text]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("d-ts:alpha=a..b/3", "no range of numbers"),
        ("d-ts:alpha=false..2/3", "no range of numbers"),
        ("d-ts:alpha=1..2/1", "2 to 1000 values, not 1"),
        ("d-ts:alpha=1..2/1001", "2 to 1000 values, not 1001"),
        ("d-ts:alpha=1||2", "empty place"),
        ("d-ts:alpha=0..2/3log", "both ends must be above 0"),
        (f"d-ts:alpha=1..{'9' * 400}/3", "no range of numbers"),
        (f"d-ts:alpha=1..2/{'9' * 5000}", "a range has 2 to 1000 values"),
        ("d-ts:alpha=1|2&every=1|2|3", "zips 2 of alpha and 3 of every"),
        ("d-ts:alpha=1|2&every=5", "zips 2 of alpha and 1 of every"),
        ("d-ts:alpha=1..2/100,every=1..100/100", "10000 combinations"),
    ],
)
def test_what_is_no_range_is_refused(text, words):
    with pytest.raises(SimulationArgumentError, match=words) as raised:
        Experiment("cyclic", ["rucb", text])
    assert (raised.value.argument, raised.value.index) == ("policies", 1)


def test_an_experiment_has_a_policy_for_each_value():
    matrices = "equal-gap:gap=0.1,num_arms=4|5"
    asked = Experiment(matrices, ["rucb", "d-ts:alpha=0.6..1/3"])
    assert asked.labels[0] == "RUCB"
    assert [each.alpha for each in asked.policies[1:]] == [0.6, 0.8, 1.0]
    assert [each.num_arms for each in asked.instances] == [4, 5]
