"""The file of a comparison is a function of the request, bit for bit.

However its runs are cut into jobs, spread over lanes and processes, or interrupted and
taken up again. Seconds and dates stand in the marker of the folder.
"""

import numpy as np
import pytest

import bayesduel
from bayesduel import policies, results
from bayesduel.experiments import chunk, execute
from bayesduel.experiments.problems import weighted_sum
from bayesduel.simulation import driver
from tests.fake_policies import Scripted, Wanderer
from tests.policies import driving
from tests.policies.instances import CONDORCET
from tests.policies.subsets import subset_driving
from tests.simulation import model_fakes
from theory import PreferenceMatrix

pytestmark = pytest.mark.usefixtures("hardly_optimized")

REQUEST = {"num_runs": 10, "horizon": 3000, "seed": 3}
SLOW = pytest.mark.slow


@pytest.fixture
def file_of(tmp_path, monkeypatch):
    """Return the content of ``results.nc`` of a request cut in some way."""

    def compare(name, environment, policies, *, size=20, stop=None, **options):
        plain, calls = driver.run_chunk, []

        def run_chunk(*arguments, **settings):
            if len(calls) == stop:
                raise KeyboardInterrupt
            calls.append(settings["runs"])
            return plain(*arguments, **settings)

        def interrupt(*arguments):
            raise KeyboardInterrupt

        out = tmp_path / name
        with monkeypatch.context() as patch:
            patch.setattr(chunk, "RUNS_PER_CHUNK", size)
            patch.setattr(driver, "run_chunk", run_chunk)
            if stop == "end":
                patch.setattr(execute, "finish", interrupt)
            options = REQUEST | {"out": out} | options
            if stop is None:
                bayesduel.compare(environment, policies, **options)
            else:
                with pytest.raises(KeyboardInterrupt):
                    bayesduel.compare(environment, policies, **options)
                return None
        return (out / results.FILE_NAME).read_bytes()

    return compare


CASES = [
    pytest.param("cyclic", [Wanderer(), Scripted()], id="fakes", marks=SLOW),
    pytest.param("mslr5-condorcet", [model_fakes.Wanderer()], id="JAX", marks=SLOW),
    pytest.param("mslr5-condorcet", ["scomp2", "d-ts:every=50"], id="bulk", marks=SLOW),
    pytest.param("camera", ["ucb-no-order", "mnl-ts"], id="subsets", marks=SLOW),
]


@pytest.mark.parametrize(("environment", "policies"), CASES)
def test_same_file_however_runs_are_cut(file_of, environment, policies):
    # Jobs of ten, four and two runs: each size takes a program of its own.
    whole = file_of("whole", environment, policies)
    assert file_of("again", environment, policies) == whole
    assert file_of("cut", environment, policies, size=4) == whole
    file_of("resumed", environment, policies, size=2, stop=3)
    assert file_of("resumed", environment, policies, size=2, resume=True) == whole
    assert file_of("resumed", environment, policies, size=4, resume=True) == whole
    file_of("grown", environment, policies[:1], num_runs=4)
    assert file_of("grown", environment, policies, size=4, resume=True) == whole


# A chunk of duels is as large as what the tests of the contract play, whose program it
# shares. That runs do not depend on their company is asked of every policy there.
REQUESTS = {
    policies.names: {
        # Contextual policies know which arm is which.
        "environment": PreferenceMatrix(CONDORCET, features=np.eye(len(CONDORCET))),
        "size": driving.FEW_RUNS,
    },
    policies.subset_names: {
        "environment": subset_driving.WORLD, "size": 20,
        "regret": subset_driving.NOTIONS,
    },
}  # fmt: skip
SHORT = 30
"""Rounds in which every policy learns; those with batches need 16 for themselves."""


def has_learnt(node):
    """Say whether each run made a duel of two arms, or changed what it offered."""
    if "plays" in node:
        return np.triu(node["plays"].values[:, -1], 1).any(axis=(1, 2)).all()
    offers = node["offers"].values[:, -1]
    return ((offers > 0) & (offers < SHORT)).any(axis=1).all()


@SLOW
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("names", REQUESTS, ids=["duels", "subsets"])
def test_same_file_of_every_policy(file_of, tmp_path, monkeypatch, names):
    """Here, or in two processes, interrupted when all is done but the file."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    request = REQUESTS[names] | {"policies": names(), "horizon": SHORT}
    request["num_runs"] = request["size"]
    whole = file_of("here", **request)
    file_of("processes", **request, jobs=2, stop="end")
    resumed = file_of("processes", **request, resume=True)
    one, two = (results.load(tmp_path / name) for name in ("here", "processes"))
    nodes = {node.path: node for node in one.subtree if "regret" in node}
    assert len(nodes) == len(names())
    assert [path for path in nodes if not has_learnt(nodes[path])] == []
    for path, node in nodes.items():
        assert node.to_dataset().equals(two[path].to_dataset()), path
    assert resumed == whole


def test_another_seed_is_another_file(file_of):
    """Or the comparisons above would prove nothing."""
    files = {file_of(str(seed), "cyclic", [Wanderer()], seed=seed) for seed in range(2)}
    assert len(files) == 2


def test_seconds_and_dates_are_kept_beside_the_file(file_of, tmp_path):
    file_of("out", "cyclic", [Wanderer()])
    tree = results.load(tmp_path / "out")
    assert tree.attrs["created"]
    assert tree["cyclic/Wanderer"].attrs["run_seconds"] > 0
    (tmp_path / "elsewhere.nc").write_bytes((tmp_path / "out/results.nc").read_bytes())
    moved = results.load(tmp_path / "elsewhere.nc")
    assert "run_seconds" not in moved["cyclic/Wanderer"].attrs
    assert moved["cyclic/Wanderer"].attrs["seed"] == REQUEST["seed"]


@pytest.mark.parametrize(
    ("name", "notion"), [("mslr5-condorcet", "weak"), ("sushi", "copeland")]
)
def test_regret_does_not_depend_on_the_cut(name, notion):
    """A matrix product did, in its last bits."""
    matrix = bayesduel.load(name)
    per_pair = matrix.regret_per_pair(notion)
    rng = np.random.default_rng(4)
    plays = np.triu(rng.integers(0, 10**9, (40, 7, *per_pair.shape)))
    whole = weighted_sum(plays, per_pair)
    for size in (1, 3, 8, 39):
        cuts = [plays[start : start + size] for start in range(0, 40, size)]
        parts = [weighted_sum(cut, per_pair) for cut in cuts]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    # Against exact sums, within the rounding of K (K + 1) / 2 additions.
    exact = np.einsum("rcij,ij->rc", plays.astype(np.longdouble), per_pair)
    np.testing.assert_allclose(whole, exact.astype(float), rtol=1e-13)
