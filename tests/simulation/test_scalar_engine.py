"""The engine for CPUs: when it plays, what it shares with JAX, its programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy import stats

import bayesduel
from bayesduel import policies
from bayesduel.errors import SimulationError
from bayesduel.ops import program_cache
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies.scalar_kernel import init
from bayesduel.policies.thompson.double_thompson import kernel
from bayesduel.simulation import driver
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.driving import assert_same
from tests.policies.instances import CONDORCET, TWO_WINNERS
from tests.processes import PATIENCE
from tests.simulation.model_fakes import Wanderer
from tests.simulation.runs import simulate_runs

FALSE_ALARM = 1e-5


def kernel_of(policy):
    return driver.kernel_for(PairwiseEnvironment(CONDORCET), policy)


def test_a_kernel_plays_on_any_device(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for text in ("d-ts", "d-ts:look_ahead=false", "rcs:prior=0.5", "sparring:inner=ts"):
        assert kernel_of(policies.parse_policy(text)) is not None
    assert kernel_of(Wanderer()) is None


@pytest.mark.parametrize("name", ["rucb", "d-ts"])
def test_a_kernel_plays_no_rule_that_may_have_changed(name):
    changed = type("Changed", (type(policies.get(name)),), {"__annotations__": {}})
    with pytest.raises(ValueError, match="Changed inherits from a policy that"):
        kernel_of(changed())


@pytest.mark.parametrize("name", ["d-ts", "d-ts+", "pure-d-ts"])
@pytest.mark.parametrize("num_arms", [2, 70])
def test_certain_and_even_pairs(name, num_arms):
    """Probabilities 0, 1 and 1/2: the sure winner wins, and all rounds are played."""
    matrix = np.where(np.tri(num_arms, k=-1), 0.0, 1.0) - 0.5 * np.eye(num_arms)
    matrix[1:, 1:] = 0.5
    grid = (1, 7, 100, 2000)
    records = simulate_runs(policies.get(name), matrix, runs=range(8), checkpoints=grid)
    plays = records.ledger["plays"]
    assert plays.sum(axis=(2, 3)).tolist() == [list(grid)] * 8
    assert np.all(np.diff(plays, axis=1) >= 0)
    assert np.all(np.tril(plays, -1) == 0)
    if num_arms < 70:
        assert np.all(records.recommendation == 0)


def test_stretches_go_past_many_checkpoints_and_to_the_longest_horizon():
    grid = (*range(1, 60), 10**6, 10**6 + 1, 10**12, 2**62)
    settings = {"runs": range(3)}
    records = simulate_runs(policies.get("d-ts"), checkpoints=grid, **settings)
    assert records.ledger["plays"].sum(axis=(2, 3)).tolist() == [list(grid)] * 3
    # Another grid changes nothing else.
    few = simulate_runs(policies.get("d-ts"), checkpoints=(7, 2**62), **settings)
    expected = records.ledger["plays"][:, [6, -1]]
    np.testing.assert_array_equal(few.ledger["plays"], expected)
    np.testing.assert_array_equal(few.events, records.events)


def test_event_limit_names_run_and_round(monkeypatch):
    settings = {"runs": range(3, 9)}
    whole = simulate_runs(policies.get("d-ts"), TWO_WINNERS, **settings)
    limit = int(np.median(whole.events))
    slow = 3 + int(np.flatnonzero(whole.events > limit)[0])
    monkeypatch.setattr(driver, "EVENT_LIMIT", limit)
    with pytest.raises(SimulationError, match=f"run {slow} .* after {limit} events"):
        simulate_runs(policies.get("d-ts"), TWO_WINNERS, **settings)
    monkeypatch.setattr(driver, "EVENT_LIMIT", int(whole.events.max()))
    assert_same(simulate_runs(policies.get("d-ts"), TWO_WINNERS, **settings), whole)


def test_a_table_of_priors_follows_the_labels():
    """A prior sure of arm 2 makes it the winner of the vote in nearly every round."""
    prior = np.ones((4, 4), dtype=int)
    prior[2, [0, 1, 3]] = 10**6
    policy = policies.get("pure-d-ts", prior=prior)
    records = simulate_runs(policy, checkpoints=(300,))
    assert np.all(records.ledger["plays"][:, 0, 2, 2] == 300)


def test_tails_are_those_of_the_posterior():
    """Take counts in the table and beyond it, under several priors."""
    rng = np.random.default_rng(1)
    duels = 10.0 ** rng.uniform(0.5, 8, (12, 12))
    ahead = np.triu(0.5 * (duels + rng.uniform(-9, 9, (12, 12)) * np.sqrt(duels)), 1)
    behind = np.triu(duels, 1) - ahead
    prior = np.maximum(1, ahead + behind.T).astype(np.int64)
    options = {"alpha": 0.51, "elimination": True, "ties_by_regret": False}
    state = kernel(prior, **options).new_state(np.arange(12), 1)
    refresh(state)
    # Negative logarithms of P(theta < 1/2) and P(theta > 1/2).
    above, below = (
        -stats.beta.logcdf(0.5, one, other)
        for one, other in ((prior, prior.T), (prior.T, prior))
    )
    small = np.minimum(np.asarray(above), np.asarray(below))
    # Below this the expansion may be anything small; the table here is the larger one.
    off = ~np.eye(12, dtype=bool) & (small > 1e-33)
    assert off.sum() > 100
    rate, rows = np.asarray(above).T, state.pairs
    probability = (state.threshold + rows["remainder"]) / 2**16
    for row, expected, rtol in (
        (rows["flip_rate"], small, 1e-11), (rows["win_rate"], rate, 1e-9),
        (probability, -np.expm1(-small), 1e-11),
    ):  # fmt: skip
        np.testing.assert_allclose(row[off], expected[off], rtol=rtol, atol=1e-300)


def refresh(state):
    run_uncompiled(lambda mine, rng: init(mine, rng), state, np.random.default_rng(0))


SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from numba import njit
from bayesduel.ops.program_cache import kernel_folder
from bayesduel.ops.scalar.compiler import cached_program
from tests.simulation.test_scalar_engine import added

compiled = cached_program(added, "added")
assert compiled(2) == 3
folder = kernel_folder("added")
print(json.dumps({
    "folder": folder and str(folder),
    "hits": sum(compiled.stats.cache_hits.values()),
}))
"""


def added(x):
    return x + 1


def process(**variables):
    command, environment = [sys.executable, "-c", SCRIPT], os.environ | variables
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def answer(running):
    out, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    return json.loads(out)


@pytest.mark.slow
def test_second_process_compiles_nothing(tmp_path):
    """If two start at once, both compile, or one finds what the other has left."""
    together = [process(BAYESDUEL_CACHE=str(tmp_path)) for _ in range(2)]
    folders = {answer(item)["folder"] for item in together}
    (folder,) = folders
    kept_files = sorted(Path(folder).rglob("*.nb?"))
    assert kept_files and Path(folder).is_relative_to(tmp_path / "programs")
    assert answer(process(BAYESDUEL_CACHE=str(tmp_path)))["hits"] == 1
    assert sorted(Path(folder).rglob("*.nb?")) == kept_files


@pytest.mark.slow
def test_without_a_folder_nothing_is_kept(tmp_path):
    """Nobody wants one, or it cannot be made."""
    wanted, taken = tmp_path / "none", tmp_path / "file"
    taken.write_text("")
    for variables in (
        {"BAYESDUEL_CACHE": "off", "XDG_CACHE_HOME": str(wanted)},
        {"BAYESDUEL_CACHE": str(taken)},
    ):
        assert answer(process(**variables)) == {"folder": None, "hits": 0}
    assert not wanted.exists()


def changed(path):
    path.write_text(path.read_text() + "\n# Another remark.\n")


def test_the_folder_follows_every_source(monkeypatch, tmp_path):
    """Change what uses Numba, and a constant in a module that kernels only import."""
    root = Path(program_cache.__file__).parent.parent
    copy = tmp_path / "bayesduel"
    for path in root.rglob("*.py"):
        target = copy / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    monkeypatch.setattr(
        program_cache, "__file__", str(copy / "ops" / "program_cache.py")
    )
    plain = program_cache._kernels.__wrapped__
    before = plain()
    changed(copy / "policies" / "ucb" / "__init__.py")
    assert plain() == before
    tails = copy / "models" / "in_policies" / "scalar_betas.py"
    tails.write_text(tails.read_text().replace("TABLE_SIZE = 512", "TABLE_SIZE = 256"))
    result = {before, plain()}
    users = [path for path in copy.rglob("*.py") if "import numba" in path.read_text()
             or "from numba" in path.read_text()]  # fmt: skip
    assert len(users) > 2
    for path in users:
        changed(path)
        result.add(plain())
    assert len(result) == len(users) + 2


@pytest.fixture
def dropped(monkeypatch):
    calls = []
    monkeypatch.setattr(jax, "clear_caches", lambda: calls.append(1))
    return calls


def test_programs_are_dropped_above_the_limit_only(monkeypatch, dropped):
    monkeypatch.setattr(program_cache, "_MOST_MAPPINGS", 0)
    assert program_cache.drop_programs_if_many()
    assert dropped == [1]
    monkeypatch.setattr(program_cache, "_MOST_MAPPINGS", 10**9)
    assert not program_cache.drop_programs_if_many()
    assert dropped == [1]


@pytest.mark.slow
def test_a_job_drops_them_before_it_compiles_and_results_stay(monkeypatch):
    request = {"num_runs": 3, "horizon": 50, "seed": 1}
    plain = bayesduel.compare(["cyclic"], [Wanderer()], **request)
    true, calls = jax.clear_caches, []
    monkeypatch.setattr(program_cache, "_MOST_MAPPINGS", 0)
    monkeypatch.setattr(jax, "clear_caches", lambda: (calls.append(1), true()))
    again = bayesduel.compare(["cyclic"], [Wanderer()], **request)
    assert calls
    for node in plain.subtree:
        if "plays" in node:
            values = again[node.path]["plays"].values
            np.testing.assert_array_equal(values, node["plays"].values)
