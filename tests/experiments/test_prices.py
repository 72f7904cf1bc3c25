"""Policies that go by prices, in simulations of a matrix with prices."""

from dataclasses import replace

import numpy as np
import pytest

import bayesduel
import theory
from bayesduel import Experiment, policies
from bayesduel.errors import PolicyParameterError, SimulationArgumentError

CYCLIC = bayesduel.load("cyclic")
PRICES = (1.0, 1.0, 10.0, 10.0)
PRICED = replace(CYCLIC, prices=PRICES, name="priced")
NAMES = ("rd-ts", "rd-ts-star", "track-and-stop")


def plays(instance, policy, **options):
    given = {"num_runs": 6, "horizon": 400, "record": "plays"} | options
    chunks = Experiment(instance, policy, **given).chunks()
    parts = [bayesduel.simulate_chunk(chunk)["plays"].values for chunk in chunks]
    return np.concatenate(parts)[:, -1]


@pytest.mark.parametrize("name", NAMES)
def test_equal_prices_are_duels(in_python, name):
    """To the last digit, also where each costs another power of two."""
    duels = plays(CYCLIC, f"{name}:cost=duels")
    for price in (0.5, 4.0):
        priced = replace(CYCLIC, prices=[price] * 4)
        assert np.array_equal(plays(priced, f"{name}:cost=prices"), duels)
    assert not np.array_equal(plays(PRICED, f"{name}:cost=prices"), duels)


@pytest.mark.parametrize(
    "name",
    [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])],
)
def test_prices_go_with_their_arms(in_python, name):
    """In another order of arms the same pairs are as frequent; dear ones are rare."""
    order = [2, 0, 3, 1]
    moved = replace(PRICED.submatrix(order), name="moved")
    assert moved.prices[0, 2] == 20.0
    given = {"num_runs": 40, "horizon": 300}
    here = plays(PRICED, f"{name}:cost=prices", **given)
    there = plays(moved, f"{name}:cost=prices", **given)
    back = np.argsort(order)
    both = [item + item.swapaxes(1, 2) for item in (here, there)]
    both[1] = both[1][:, back][:, :, back]
    upper = np.triu_indices(4, 1)
    means = [item.mean(axis=0)[upper] for item in both]
    errors = [item.std(axis=0)[upper] / np.sqrt(40) for item in both]
    # There are six pairs; by a normal law each exceeds this once in 10^6.
    assert (np.abs(means[0] - means[1]) < 5 * np.hypot(*errors) + 1e-9).all()
    assert both[0].mean(axis=0)[0, 1] > 1.2 * both[0].mean(axis=0)[0, 2:].mean()


def test_results_hold_the_prices(tmp_path, in_python):
    experiment = Experiment(PRICED, "rd-ts:cost=prices", num_runs=2, horizon=50)
    tree = experiment.run()
    values = tree["priced"]["prices"].values
    assert np.array_equal(values, theory.pair_prices(PRICES))
    path = tmp_path / "experiment.toml"
    path.write_text(experiment.to_toml())
    again = Experiment.from_file(path)
    assert again.instances[0] == PRICED
    digests = [chunk.digest for chunk in experiment.chunks()]
    assert [chunk.digest for chunk in again.chunks()] == digests
    second = replace(PRICED, prices=[2.0, 1, 1, 1])
    made = Experiment(second, "rd-ts:cost=prices", num_runs=2, horizon=50)
    assert [chunk.digest for chunk in made.chunks()] != digests


def test_experiments_in_files_may_name_a_file_of_prices(tmp_path, in_python):
    rows = "\n".join(",".join(map(str, row)) for row in CYCLIC.values.tolist())
    (tmp_path / "m.csv").write_text(f"a,b,c,d\n{rows}\n")
    table = theory.pair_prices(PRICES).tolist()
    rows = "\n".join(",".join(map(str, row)) for row in table)
    (tmp_path / "prices.csv").write_text(f"a,b,c,d\n{rows}\n")
    path = tmp_path / "experiment.toml"
    path.write_text(
        'instances = {file = "m.csv", prices = "prices.csv"}\n'
        'policies = "track-and-stop:cost=prices"\nnum_runs = 2\nhorizon = 50\n'
    )
    experiment = Experiment.from_file(path)
    assert np.array_equal(experiment.instances[0].prices, PRICED.prices)


@pytest.mark.parametrize("name", NAMES)
def test_without_prices_these_costs_are_refused(name):
    with pytest.raises(PolicyParameterError, match="cost needs prices, and the inst"):
        Experiment(CYCLIC, f"{name}:cost=prices", horizon=10)
    words = r"prices\[0, 2\] must be finite and above 0"
    dear = np.where(np.eye(4) > 0, 0, 1.0)
    dear[0, 2] = dear[2, 0] = np.inf
    with pytest.raises(PolicyParameterError, match=words):
        Experiment(replace(CYCLIC, prices=dear), f"{name}:cost=prices", horizon=10)
    with pytest.raises(PolicyParameterError, match="cost"):
        Experiment(CYCLIC, f"{name}:cost=money", horizon=10)


def test_a_model_has_no_prices():
    policy = policies.parse_policy("rd-ts:posterior=bradley-terry,cost=prices")
    with pytest.raises(PolicyParameterError, match="prices need Beta distributions"):
        Experiment(PRICED, policy, horizon=10)


def test_a_world_has_no_prices(tmp_path):
    from bayesduel.experiments.arguments import with_prices_of

    with pytest.raises(SimulationArgumentError, match="no preference matrix"):
        with_prices_of(bayesduel.load("drifting:num_arms=3"), tmp_path / "x.csv")
