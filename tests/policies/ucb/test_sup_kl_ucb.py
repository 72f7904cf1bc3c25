"""Sup-KLUCB: check values, every duel against the twin, absorption, and
distributions."""

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.policies.ucb.sup_kl_ucb import exploration_bound
from tests.policies.driving import NUM_RUNS, simulate_runs
from tests.policies.instances import CONDORCET, MATRICES, TWO_WINNERS, random_outcomes
from tests.policies.replaying import first_impossible_duel
from tests.policies.rule_driving import play_rule
from tests.reference.sup_kl_ucb import SupKLUCB as Twin
from tests.reference.sup_kl_ucb import upper_logs
from theory.divergences import kl_upper

FALSE_ALARM = 1e-5
"""False-alarm rate of one test of a distribution."""

THREE = tuple(MATRICES.values())


def test_check_values():
    """Five arms: c1 = 0.4, c2 = 0.6 + 40/9; rounds 16 and 1015, after a sweep of 15."""
    bounds = [exploration_bound(n - 15, 5, 1.0, 1.0) for n in (16, 1015)]
    assert bounds[0] == 0
    assert bounds[1] == pytest.approx(13.1942261, abs=5e-8)
    index = kl_upper([0.5625, 0.0, 1.0, 0.3], [bounds[1] / 10, bounds[1] / 40, 1, 0])
    assert index[0] == pytest.approx(0.98963016, abs=5e-9)
    assert index[1] == pytest.approx(0.28097248, abs=5e-9)
    assert index[2:].tolist() == [1, 0.3]
    twin = Twin(5, np.random.default_rng(0))
    twin.rounds = 1014
    assert twin.bound() == pytest.approx(13.1942261, abs=5e-8)
    logs = upper_logs(
        np.array([0.5625, 0.0, 1.0]), twin.bound() / np.array([10, 40, 3])
    )
    assert 1 - np.exp(-logs) == pytest.approx([0.98963016, 0.28097248, 1], abs=5e-9)


FORMS = {
    "as printed": {},
    "borda": {"score": "borda"},
    "mean cap": {"mean_cap": True},
    "min plays": {"min_plays": 5},
}


HORIZON = 300


def impossible_duels(policy, matrices, seed, **twin_options):
    """Return the first duel of each run that the twin would not ask for, or None."""
    rng, result = np.random.default_rng(seed), []
    for number, matrix in enumerate(matrices):
        outcomes = random_outcomes(matrix, HORIZON, rng)
        twin = Twin(len(matrix), np.random.default_rng(0), **twin_options)
        duels = play_rule(policy, outcomes, HORIZON, seed=number).duels
        result.append(first_impossible_duel(twin, duels, outcomes))
    return result


@pytest.mark.parametrize("form", FORMS)
def test_every_duel_is_one_of_the_twin(form):
    options = FORMS[form]
    policy = policies.get("sup-klucb", **options)
    assert impossible_duels(policy, THREE, 70, **options) == [None] * 3


def test_another_constant_is_noticed():
    """Negative control of the comparison with the twin: bounds 10 percent wider."""
    policy = policies.get("sup-klucb", log_scale=1.1)
    assert any(impossible_duels(policy, [TWO_WINNERS] * 3, 72))


def test_absorption_is_one_stretch():
    """An arm that has won its first duels with all others is played for good."""
    rng, absorbed = np.random.default_rng(73), 0
    for seed in range(6):
        outcomes, questions = random_outcomes(CONDORCET, HORIZON, rng), []
        run = play_rule(
            policies.get("sup-klucb"), outcomes, HORIZON, seed,
            watch=lambda state, duel, questions=questions: questions.append(duel),
        )  # fmt: skip
        stretches = [duel.idle_rounds > 0 for duel in questions]
        if any(stretches):
            absorbed += 1
            assert stretches.index(True) == len(questions) - 1
            arm, wins = questions[-1].champion, run.state.wins
            assert np.all(np.delete(wins[arm] > wins[:, arm], arm))
            assert set(run.duels[len(questions) - 1 :]) == {(arm, arm)}
    assert absorbed > 0


def test_both_forms_play_the_same_duels():
    """Within the stretch nothing is drawn or learnt."""
    rng = np.random.default_rng(75)
    for matrix in THREE[:2]:
        outcomes = random_outcomes(matrix, HORIZON, rng)
        look, step = (
            play_rule(
                policies.get("sup-klucb", look_ahead=look_ahead), outcomes, HORIZON
            )
            for look_ahead in (True, False)
        )
        assert look.duels == step.duels
        assert look.recommendation == step.recommendation


def locked_arms(sweep, **options):
    """Mark the arm that a run plays against itself from the sweep to the horizon."""
    policy = policies.get("sup-klucb", **options)
    records = simulate_runs(policy, CONDORCET, checkpoints=(sweep, 400), seed=74)
    plays = records.ledger["plays"]
    assert np.all(plays[:, 0] == sweep // 10 * np.triu(np.ones((4, 4), dtype=int)))
    return np.diagonal(plays[:, 1] - plays[:, 0], axis1=1, axis2=2) == 400 - sweep


def test_it_locks_on_an_arm_that_sweeps_its_first_duels(in_python):
    """After one duel per pair: the published rule, with its linear regret."""
    locked = locked_arms(10)
    for arm in range(4):
        probability = np.prod(np.delete(CONDORCET[arm], arm))
        count = np.count_nonzero(locked[:, arm])
        assert stats.binomtest(count, NUM_RUNS, probability).pvalue > FALSE_ALARM / 4
    assert locked[:, 3].any(), "the worst arm, with probability 0.035"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sweep", "options"), [(200, {"min_plays": 20}), (10, {"mean_cap": True})]
)
def test_extensions_lock_on_fewer_wrong_arms(sweep, options):
    """Arms 2 and 3, on which one run in nine locks otherwise."""
    assert locked_arms(10)[:, 2:].sum() > 15
    assert locked_arms(sweep, **options)[:, 2:].sum() < 12
