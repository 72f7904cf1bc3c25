"""CW-RMED: how its programs are counted, kept, and what happens if one fails."""

from functools import cache

import numpy as np
import pytest

import bayesduel
import theory
from bayesduel import policies
from bayesduel.errors import ProgramError
from bayesduel.policies.rmed import copeland_winner
from tests.policies.driving import simulate_runs
from tests.policies.instances import CYCLIC, random_outcomes
from tests.policies.kernel_driving import play_policy

pytestmark = pytest.mark.usefixtures("in_python")

RUNS = range(10)
"""In each of them programs are solved in dozens of rounds."""


@cache
def first_runs():
    return simulate_runs(policies.get("cw-rmed"), CYCLIC, runs=RUNS)


def test_programs_are_counted_and_few_are_solved():
    info = first_runs().info
    needed, solved = info["programs_needed"], info["programs_solved"]
    assert needed.dtype == solved.dtype == np.int64
    assert np.all(solved > 0)
    assert solved.sum() < 0.2 * needed.sum()
    assert not info["programs_failed"].any()


def test_a_program_that_fails_costs_no_run(monkeypatch):
    """The run goes on with the efficient program; other runs do not notice."""
    whole = first_runs()
    solve = copeland_winner.optimal_basis

    def often_failing(gaps):
        if int(np.abs(gaps).sum() * 1e6) % 50 == 0:
            raise ProgramError("not today")
        return solve(gaps)

    monkeypatch.setattr(copeland_winner, "optimal_basis", often_failing)
    policy = policies.get("cw-rmed")
    records = simulate_runs(policy, CYCLIC, runs=RUNS)
    failed = records.info["programs_failed"] > 0
    assert 3 <= failed.sum() <= failed.size - 3, failed.sum()
    plays, others = (record.ledger["plays"] for record in (records, whole))
    same = np.all(plays == others, axis=(1, 2, 3))
    assert same[~failed].all()
    assert not same[failed].all()
    assert np.all(plays.sum(axis=(2, 3)) == [[40, 120, 300, 700]])


def test_without_self_duels_it_waits_alike():
    """It has no probability: the duels are those of the policy but for its
    self-duels."""
    rng = np.random.default_rng(8)
    for matrix in (CYCLIC, (CYCLIC > 0.5) + 0.5 * np.eye(4)):
        outcomes = random_outcomes(matrix, 502, rng)
        policy = policies.get("cw-rmed")
        plain, without = (
            play_policy(value, outcomes, 500).duels
            for value in (policy, policies.WithoutSelfDuels(policy))
        )
        made = [duel for duel in plain if duel[0] != duel[1]]
        assert without[: len(made)] == made
        assert 30 < len(made) < 500


@pytest.mark.slow
def test_typical_slopes_are_the_constants_on_gap():
    """Between 10^6 and 10^9, far apart: 11.0 for CW-RMED, 1252.5 bounds ECW-RMED.

    Medians, because few runs make the mean of CW-RMED. Its middle half of 100 runs has
    slopes of 9.5 to 12, so a median of 24 has an error of about 0.5, and the interval
    a false alarm of 1e-4.
    """
    matrix = bayesduel.load("gap")
    copeland = matrix.copeland_scores
    excess = np.round((copeland.max() - copeland) * (matrix.num_arms - 1))
    per_duel = (excess[:, None] + excess[None, :]) / (2 * (matrix.num_arms - 1))
    optimal = theory.copeland_lower_bound(matrix).value
    slopes = {}
    for name in ("cw-rmed", "ecw-rmed"):
        records = simulate_runs(
            policies.get(name), matrix.values, runs=range(24),
            checkpoints=(10**6, 10**9),
        )  # fmt: skip
        regret = (records.ledger["plays"] * per_duel).sum(axis=(2, 3))
        slopes[name] = np.median(regret[:, 1] - regret[:, 0]) / np.log(1000)
    assert slopes["cw-rmed"] == pytest.approx(optimal, abs=2.0)
    assert slopes["ecw-rmed"] > 40 * optimal
