"""Priors of the policies that sample Beta distributions: favorites, names, errors.

What they do to the distribution of runs: ``test_scalar_priors``.
"""

import json

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.parameter_values import parameters_json
from bayesduel.posteriors import BetaPairs
from tests.policies.thompson.test_rounds import duel_of_round
from tests.policies.thompson.test_scalar_rounds import program

FAVORITE = np.array([[1, 1, 1, 0.5], [2, 1, 1, 0.5], [1, 3, 1, 0.5], [9, 9, 7, 1]])

NAMES = ("d-ts", "d-ts+", "pure-d-ts", "rcs")


@pytest.mark.parametrize("look_ahead", [True, False])
@pytest.mark.parametrize("name", NAMES[:3])
def test_a_table_makes_its_favorite_the_first_champion(name, look_ahead):
    table = np.full((5, 5), 0.5)
    table[3], table[:, 3] = 400, 1.5
    policy = policies.get(name, prior=table, look_ahead=look_ahead)
    state = policy.scalar_kernel().new_state(np.arange(5), 1000)
    # Rounds are stepped at first, until many of them were self-duels.
    found = np.zeros((200, 5), dtype=np.int64)
    told, shares = np.zeros((0, 2), dtype=np.int64), np.zeros(5, dtype=np.int64)
    program()(state, np.random.default_rng(73), told, 1, found, shares)
    assert np.any(found[:, 1] > 0) == look_ahead
    assert np.all(duel_of_round(found.T)[0] == 3)


def test_names_labels_and_parameters():
    default = policies.get("d-ts")
    assert default.posterior == BetaPairs() and default.label == "D-TS"
    assert policies.parameters(default)["posterior"] == "beta"
    assert policies.get("d-ts", posterior="beta") == default
    assert policies.get("d-ts", prior=1.0) == default
    two = policies.parse_policy("d-ts:prior=2")
    assert two == policies.get("d-ts", prior=2.0)
    assert two == policies.DoubleThompson(posterior=BetaPairs(prior=2.0))
    assert (two.name, two.label) == ("d-ts", "D-TS:prior=2")
    assert policies.parse_policy(two.label.lower()) == two
    assert policies.parse_policy("d-ts+:prior=0.5").label == "D-TS+:prior=0.5"
    assert policies.parse_policy("pure-d-ts:prior=3").label == "Pure D-TS:prior=3"
    told = policies.parse_policy("d-ts:prior=2,every=50")
    assert told.label == "D-TS:prior=2, told every 50 rounds"
    assert json.loads(parameters_json(two))["posterior"] == {"name": "beta", "prior": 2}
    table = policies.get("d-ts", prior=FAVORITE)
    found = json.loads(parameters_json(table))["posterior"]["prior"]
    np.testing.assert_array_equal(found, FAVORITE)
    assert table.label.startswith("D-TS:prior=array ")
    assert table.label != policies.get("d-ts", prior=FAVORITE.T).label


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "many", "true", "1e9"])
@pytest.mark.parametrize("name", NAMES)
def test_bad_priors_are_refused_by_name(name, text):
    with pytest.raises(PolicyParameterError, match="prior must be a number above 0"):
        policies.parse_policy(f"{name}:prior={text}")


def test_tables_must_fit_and_other_posteriors_have_no_prior():
    with pytest.raises(PolicyParameterError, match="3 x 3 table.*got \\(4, 4\\)"):
        policies.get("d-ts", prior=FAVORITE).check(3, 100)
    with pytest.raises(PolicyParameterError, match="has no parameter 'prior'"):
        policies.parse_policy("d-ts:posterior=bradley-terry,prior=2")
    with pytest.raises(PolicyParameterError, match="all: .*posterior, prior"):
        policies.parse_policy("d-ts:priors=2")
    with pytest.raises(
        PolicyParameterError, match="posterior must be a Beta distribution"
    ):
        policies.RelativeConfidenceSampling(posterior="normal").check(3, 100)
