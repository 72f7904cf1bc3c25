"""Winner Stays and Beat the Winner: duel by duel, both forms, published numbers."""

import math

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.policies.policy import Problem, Wins
from bayesduel.policies.weak_regret import winner_stays
from tests.policies.distributions import disagreements
from tests.policies.driving import simulate_runs
from tests.policies.instances import DECISIVE, ladder
from tests.reference import plays_of_twins
from tests.reference.weak_regret import BeatTheWinner, StrongWinnerStays, WinnerStays
from theory.theorems import winner_stays_bound

FALSE_ALARM = 1e-5

EASY = np.array(
    [
        [0.50, 0.80, 0.88, 0.93], [0.20, 0.50, 0.75, 0.60],
        [0.12, 0.25, 0.50, 0.70], [0.07, 0.40, 0.30, 0.50],
    ]
)  # fmt: skip


@pytest.mark.parametrize("twin", [WinnerStays, StrongWinnerStays])
def test_winner_stays_has_the_distribution_of_its_twin(twin, in_python):
    name = "ws-w" if twin is WinnerStays else "ws-s"
    grid, parameters = (12, 60), {} if twin is WinnerStays else {"beta": 1.3}
    ours = simulate_runs(
        policies.get(name, **parameters), EASY, checkpoints=grid, runs=range(100)
    )
    theirs = plays_of_twins(
        lambda rng: twin(4, rng, **parameters), EASY, grid, 100, seed=3
    )
    assert not disagreements(ours.ledger["plays"], theirs, EASY, FALSE_ALARM)


@pytest.mark.parametrize("name", ["btw", "btwr"])
def test_beat_the_winner_plays_the_duels_of_its_twin(name):
    """Questions of many rounds are taken apart, in the order of the outcomes."""
    rng = np.random.default_rng(11)
    for num_arms in (2, 3, 6):
        policy = policies.get(name)
        state = policy.start(Problem(num_arms, 10**4), rng)
        order = [state.now.incumbent, *state.queue]
        twin = BeatTheWinner(num_arms, rng, order=order, resets=policy.resets)
        matrix, rounds, longest = rng.random((num_arms, num_arms)), 0, 0
        while rounds < 2000:
            duel = policy.choose(state, rng, rounds + 1)
            won = 0
            for _ in range(duel.explores):
                assert twin.choose() == (duel.first, duel.second)
                outcome = rng.random() < matrix[duel.first, duel.second]
                twin.update(*twin.choose(), outcome)
                won += outcome
            rounds += duel.explores
            longest = max(longest, duel.explores)
            given = Wins(won, duel.explores)
            policy.update(state, rng, rounds, duel.first, duel.second, given)
            assert policy.recommend(state, rng) == twin.recommend()
        assert longest > 10


def both_forms(matrix, checkpoints, num_runs):
    """Play WS-W with look-ahead, and round by round with another seed."""
    return [
        simulate_runs(
            policies.get("ws-w", look_ahead=look_ahead), matrix,
            checkpoints=checkpoints, runs=range(num_runs), seed=look_ahead,
        )
        for look_ahead in (True, False)
    ]  # fmt: skip


def test_look_ahead_has_the_distribution_of_rounds(in_python, monkeypatch):
    """From the sixth iteration on; a winner loses a series with probability 1e-14."""
    monkeypatch.setattr(winner_stays, "STEPPED", 6)
    monkeypatch.setattr(winner_stays, "NEGLIGIBLE", 1e-13)
    jump, step = both_forms(EASY, (60, 150), 40)
    assert np.all(step.events == 150) and np.mean(jump.events) < 60
    plays = [value.ledger["plays"] for value in (jump, step)]
    assert not disagreements(*plays, EASY, FALSE_ALARM)


@pytest.mark.slow
def test_late_look_ahead_has_the_distribution_of_rounds():
    """As it is played: after 4,096 iterations."""
    matrix = ladder(4, 0.7)
    jump, step = both_forms(matrix, (30_000, 60_000, 150_000), 200)
    assert np.all(step.events == 150_000) and np.mean(jump.events) < 40_000
    plays = [value.ledger["plays"] for value in (jump, step)]
    assert not disagreements(*plays, matrix, FALSE_ALARM)


@pytest.mark.slow
def test_strong_winner_stays_plays_the_same_duels_in_both_forms():
    jump, step = (
        simulate_runs(
            policies.get("ws-s", look_ahead=look_ahead), DECISIVE, runs=range(20)
        )
        for look_ahead in (True, False)
    )
    np.testing.assert_array_equal(jump.ledger["plays"], step.ledger["plays"])
    assert np.all(jump.events < step.events)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_arms", "mean", "error"), [(5, 3.97, 0.32), (10, 12.6, 0.9)]
)
def test_weak_regret_is_finite(num_arms, mean, error):
    """And that of another program, from 300 runs of 20,000 rounds.

    Two-sided at 4 standard errors: a false alarm in 1.3e-4 of all random streams.
    """
    result = bayesduel.simulate(
        ladder(num_arms, 0.8), "ws-w", num_runs=300, horizon=10**9,
        checkpoints=[2000, 10**9], regret=["weak_binary"],
    )  # fmt: skip
    early, late = result["regret"].sel(notion="weak_binary").values.T
    np.testing.assert_array_equal(early, late)
    mine = late.std(ddof=1) / math.sqrt(len(late))
    assert abs(late.mean() - mean) < 4 * math.hypot(mine, error)
    assert late.mean() < winner_stays_bound(ladder(num_arms, 0.8)).constant


@pytest.mark.parametrize("beta", [1.0, 0.5, -2.0, math.nan, math.inf])
def test_a_factor_that_does_not_grow_is_refused(beta):
    with pytest.raises(bayesduel.errors.PolicyParameterError, match="beta"):
        policies.get("ws-s", beta=beta).check(3, 100)
