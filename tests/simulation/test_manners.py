"""Rules over models that are told late, or played without their self-duels."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel.errors import SimulationError
from bayesduel.policies import DelayedFeedback, WithoutSelfDuels
from bayesduel.policies.over_models.base import ModelRule, model_rule, one_round
from bayesduel.policies.policy import KernelPolicy
from bayesduel.simulation import driver
from tests.policies.driving import assert_same
from tests.simulation.model_fakes import Scripted, Wanderer
from tests.simulation.runs import simulate_runs

RUNS = 4000

FALSE_ALARM = 1e-6

MATRIX = np.array([[0.5, 0.8, 0.3], [0.2, 0.5, 0.5], [0.7, 0.5, 0.5]])


@model_rule
class FickleRule(ModelRule):
    """Arm 0 meets itself, or another one, by a draw and by the wins of arm 0."""

    def init(self, rng_key, num_arms, horizon):
        return jnp.int64(0)

    def choose(self, rng_key, state, round_):
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        other = 1 + (state + (uniform < 0.6)) % 2
        other = jnp.where(uniform < 0.4, 0, other).astype(jnp.int32)
        return one_round(jnp.int32(0), other), state

    def update(self, rng_key, state, round_, duel, outcome):
        return state + jnp.where(duel.first == duel.second, 0, outcome.wins)

    def recommend(self, rng_key, state):
        return jnp.int32(0)


class Fickle(KernelPolicy):
    title = "Fickle"

    def over_model(self):
        return FickleRule()


def distribution(every, self_duels, rounds):
    """Return the distribution of the rounds of arm 0 with each arm, by enumeration."""
    result = Counter()

    def play(reported, late, counts, weight):
        if sum(counts) == rounds:
            result[counts] += weight
            return
        flipped = 1 + (reported + 1) % 2
        choices = {0: 0.4, flipped: 0.2, 3 - flipped: 0.4}
        if not self_duels:
            choices = {arm: choices[arm] / 0.6 for arm in (1, 2)}
        for arm, probability in choices.items():
            after = tuple(n + (index == arm) for index, n in enumerate(counts))
            arrives = sum(after) % every == 0
            for win in (0, 1) if arm else (0,):
                won = MATRIX[0, arm] if win else 1 - MATRIX[0, arm] if arm else 1.0
                now = (reported + late + win, 0) if arrives else (reported, late + win)
                play(*now, after, weight * probability * won)

    play(0, 0, (0, 0, 0), 1.0)
    return result


@pytest.mark.parametrize(
    ("every", "self_duels"),
    [(1, True), (3, True), pytest.param(1, False, marks=pytest.mark.slow), (2, False)],
)
def test_runs_have_the_distribution_of_the_rule(every, self_duels):
    """The law of six rounds; it is not that of a rule which is told at another time."""
    policy = DelayedFeedback(Fickle(), every=every)
    policy = policy if self_duels else WithoutSelfDuels(policy)
    given = {"runs": range(RUNS), "checkpoints": (6,), "num_lanes": 400}
    records = simulate_runs(policy, MATRIX, shuffle=False, **given)
    plays = records.ledger["plays"][:, 0, 0]
    seen = Counter(map(tuple, plays.tolist()))
    assert not rejects(seen, distribution(every, self_duels, 6))
    assert rejects(seen, distribution(7 if every == 1 else 1, self_duels, 6))


def rejects(seen, probabilities):
    """Say whether counts are from another distribution; rare outcomes are one."""
    often = [key for key, item in probabilities.items() if item * RUNS > 10]
    expected = [probabilities[key] for key in often]
    observed = [seen[key] for key in often]
    expected.append(1 - sum(expected) + 1e-12)
    observed.append(RUNS - sum(observed))
    test = stats.chisquare(observed, RUNS * np.array(expected))
    return bool(test.pvalue < FALSE_ALARM)


def test_neither_runs_beside_it_nor_segments_change_a_run(monkeypatch):
    policy = WithoutSelfDuels(DelayedFeedback(Wanderer(), every=9))
    given = {"runs": range(16), "checkpoints": (20, 40)}
    whole = simulate_runs(policy, num_lanes=16, **given)
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", 1e-9)
    assert_same(simulate_runs(policy, num_lanes=8, **given), whole)
    given["runs"] = range(7, 12)
    assert_same(
        simulate_runs(policy, num_lanes=8, **given), whole, pick_other=given["runs"]
    )


class Patient(WithoutSelfDuels):
    """Without self-duels, until five choices in a row are none."""

    @property
    def settings(self):
        return super().settings | {"patience": 5}


@pytest.mark.parametrize(
    ("rule", "duels", "events"),
    [
        # Three duels, five self-duels, and the recommended arm to the end.
        (Scripted(first=1, duels=3), 3, 9),
        # After one duel it would wait for longer than any horizon.
        (Scripted(exploit=2**62), 1, 2),
    ],
)
def test_a_rule_that_explores_no_more_meets_itself(rule, duels, events):
    policy = Patient(rule)
    records = simulate_runs(policy, runs=range(16), checkpoints=(100,), num_lanes=16)
    plays, best = records.ledger["plays"][:, 0], records.recommendation
    assert (plays[np.arange(16), best, best] == 100 - duels).all()
    assert (plays.sum(axis=(1, 2)) == 100).all()
    assert (records.events == events).all()
    assert len(np.unique(best)) > 1


def test_a_wrong_arm_is_named_with_its_run_and_round():
    policy = DelayedFeedback(Scripted(first=7, duels=4, exploit=0), every=2)
    with pytest.raises(SimulationError, match=r"arm 7; .* 0 to 3 \(round 5 of run 5\)"):
        simulate_runs(policy, runs=range(5, 8), num_lanes=8)
