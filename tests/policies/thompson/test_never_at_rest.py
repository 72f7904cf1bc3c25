"""A state that once made pure D-TS wait for ever."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.thompson.double_thompson import LOOK_AHEAD, STEP, kernel
from tests.policies.driving import simulate_runs
from tests.policies.thompson.test_scalar_rounds import program

# Counts in which the probability of a round that is not idle rounds to 1 + 2.2e-16, if
# the probabilities of a flip and of a success are added.
ROUNDED_ABOVE_ONE = {
    "pure-d-ts": (
        [[0, 10, 400, 300], [400, 0, 10, 20], [10, 300, 0, 1404], [10, 300, 1370, 0]],
        5000,
    ),
    "d-ts": (
        [[0, 0, 56, 300], [56, 0, 10, 20], [0, 300, 0, 1311], [10, 300, 1278, 0]],
        10**12,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", [LOOK_AHEAD, STEP], ids=["look-ahead", "step"])
@pytest.mark.parametrize("ties_by_regret", [False, True])
@pytest.mark.parametrize("name", ROUNDED_ABOVE_ONE)
def test_a_leader_with_a_sure_superior_is_not_idle(name, ties_by_regret, form):
    """The superior beats the leader in the second sample, but with probability
    1e-15."""
    wins, round_ = np.array(ROUNDED_ABOVE_ONE[name][0]), ROUNDED_ABOVE_ONE[name][1]
    rule = kernel(
        np.array(1), alpha=0.51, elimination=name == "d-ts",
        ties_by_regret=ties_by_regret, form=form,
    )  # fmt: skip
    duels = np.repeat(np.argwhere(wins), wins[wins > 0], axis=0)
    state, result = rule.new_state(np.arange(4), 10**13), np.zeros((200, 5), dtype=int)
    shares = np.zeros(4, dtype=np.int64)
    program()(state, np.random.default_rng(301), duels, round_, result, shares)
    assert state.pairs["wins"].tolist() == wins.tolist()
    _, idle, first, second, explores = result.T
    assert np.all(idle == 0) and np.all(explores == 1)
    assert np.all(first != second)


LOSING_WINNER = np.array(
    [
        [0.50, 0.05, 0.90, 0.85, 0.80], [0.95, 0.50, 0.30, 0.35, 0.60],
        [0.10, 0.70, 0.50, 0.60, 0.65], [0.15, 0.65, 0.40, 0.50, 0.70],
        [0.20, 0.40, 0.35, 0.30, 0.50],
    ]
)  # fmt: skip
"""No Condorcet winner: the Copeland winner 0 loses to arm 1, which is soon certain."""


@pytest.mark.slow
@pytest.mark.parametrize("look_ahead", [True, False])
def test_pure_dts_never_comes_to_rest_without_a_condorcet_winner(look_ahead):
    """The leader meets its superior again and again, in both forms."""
    policy = policies.get("pure-d-ts", look_ahead=look_ahead)
    records = simulate_runs(
        policy, LOSING_WINNER, checkpoints=range(500, 2001, 500), runs=range(64)
    )
    duels = np.triu(records.ledger["plays"], 1).sum(axis=(2, 3))
    assert np.diff(duels, axis=1).min() > 400
