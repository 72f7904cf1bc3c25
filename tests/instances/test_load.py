"""Names, families with parameters, and the errors for wrong ones."""

import re

import numpy as np
import pytest

from bayesduel import instances
from bayesduel.instances import generators

# One text for every family, with a seed where it needs one.
SPELLINGS = {
    "linear-order": "num_arms=4,step=0.1",
    "geometric-order": "num_arms=4",
    "equal-gap": "num_arms=4,gap=0.2",
    "hard-condorcet": "num_arms=4",
    "mallows": "num_arms=4,phi=0.5",
    "utilities": "profile=2good,link=logit",
    "uniform-random": "num_arms=4,seed=3",
    "syn-btl": "num_arms=4,seed=3",
    "linear-utilities": "num_arms=4,seed=3",
    "syn-cd": "num_arms=4,seed=3",
    "zoghi500": "num_arms=4",
    "batched-all-ties": "num_arms=4",
    "batched-one-winner": "batch=1,winner=3,num_arms=4",
    "batched-two-levels": "batch=2,runner_up=1,winner=3,num_arms=4",
}


@pytest.mark.parametrize("family", instances.family_names())
def test_every_family_loads_from_its_text(family):
    text = f"{family}:{SPELLINGS[family]}"
    matrix = instances.load(text)
    assert matrix.name == text
    assert matrix.source
    assert matrix.num_arms == (16 if family == "utilities" else 4)
    assert instances.load(text) == matrix
    description = instances.describe(family)
    assert description.name == family
    assert description.title and description.source and description.parameters
    assert description.winners == ()


def test_family_without_parameters():
    matrix = instances.load("zoghi500")
    assert matrix.name == "zoghi500"
    assert matrix == generators.zoghi500()


def test_texts_are_passed_on_as_they_are():
    loaded = instances.load("mallows:num_arms=5,phi=0.25")
    made = generators.mallows(None, 5, 0.25, shuffle=False).matrix
    assert loaded == made
    loaded = instances.load("mallows: num_arms = 5, phi=0.25, seed=4")
    made = generators.mallows(np.random.default_rng(4), 5, 0.25).matrix
    assert loaded == made
    assert loaded != instances.load("mallows:num_arms=5,phi=0.25")
    loaded = instances.load("uniform-random:num_arms=5,winner=condorcet,seed=4")
    rng = np.random.default_rng(4)
    assert loaded == generators.uniform_random(rng, 5, winner="condorcet").matrix
    loaded = instances.load("linear-order:num_arms=5,step=0.3,clip=true")
    assert loaded.values[0].tolist() == [0.5, 0.8, 1.0, 1.0, 1.0]


def test_names_of_instances_load_them_again():
    rng = np.random.default_rng(1)
    for instance in (
        generators.linear_order(rng, 4, 0.1, shuffle=False),
        generators.geometric_order(rng, 4, link="logit", shuffle=False),
        generators.equal_gap(rng, 4, 0.2, shuffle=False),
        generators.hard_condorcet(rng, 4, shuffle=False),
        generators.mallows(rng, 4, 0.3, shuffle=False),
        generators.from_utilities(rng, "geo", link="natural", shuffle=False),
    ):
        assert instance.matrix.name
        assert instances.load(instance.matrix.name) == instance.matrix
    for matrix in (
        generators.zoghi500(5, 0.6),
        generators.batched_all_ties(3),
        generators.batched_one_winner(1, 2, num_arms=3),
        generators.batched_two_levels(2, 2, 1, num_arms=3, num_batches=4, horizon=1e3),
    ):
        assert matrix.name
        assert instances.load(matrix.name) == matrix


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gap:num_arms=5", "'gap' is a printed matrix and takes no parameters"),
        ("mallows", "'mallows' needs num_arms and phi; write 'mallows:num_arms="),
        ("mallows:num_arms=4", "write 'mallows:num_arms=4,phi=...'"),
        ("uniform-random:num_arms=8", "needs seed; write 'uniform-random:num_arms=8,s"),
        ("mallows:num_arms=4,fi=0.5", "no parameter 'fi'; it has num_arms, phi, seed"),
        ("mallows:num_arms=4,phi=0.5,phi=0.6", "'phi' is given twice"),
        ("mallows:num_arms=4,phi", "must be written key=value"),
        ("mallows:num_arms=4,,phi=0.5", "must be written key=value"),
        ("mallows:num_arms=4.5,phi=0.5", "num_arms must be an integer"),
        ("mallows:num_arms=true,phi=0.5", "num_arms must be an integer"),
        ("mallows:num_arms=4,phi=nan", "phi must be in [0, 1), got nan"),
        ("mallows:num_arms=4,phi=0.5,seed=-1", "seed must be an integer"),
        ("mallows:num_arms=4,phi=0.5,shuffle=true", "no parameter 'shuffle'"),
        ("linear-order:num_arms=4,step=0.3,clip=yes", "clip must be true or false"),
        ("utilities:profile=great", "one of the profiles 1good, 2good"),
        ("uniform-random:num_arms=3,winner=borda,seed=1", "winner must be one of"),
    ],
)
def test_wrong_parameters(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        instances.load(text)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("cyclic4", "cyclic"),
        ("mslr5", "mslr5-condorcet"),
        ("uniform_random:num_arms=3", "uniform-random"),
        ("GAP", "gap"),
    ],
)
def test_unknown_names_suggest_near_ones(name, near):
    for function in (instances.load, instances.describe):
        with pytest.raises(ValueError, match=rf"did you mean .*\b{near}\b") as caught:
            function(name)
        for known in (*instances.names(), *instances.family_names()):
            assert known in caught.value.remedy
        assert repr(name) in str(caught.value)


def test_unknown_name_without_a_near_one():
    with pytest.raises(
        ValueError, match="no matrix or world called 'qqqqqq'"
    ) as caught:
        instances.load("qqqqqq")
    assert "did you mean" not in str(caught.value)
    assert "./qqqqqq" in str(caught.value)
