"""What once made pure D-TS wait for ever."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from tests.compiling import quick_jit
from tests.policies.driving import simulate_runs
from tests.policies.random_states import told_state

# Counts in which the chance of a round that is not idle rounds to 1 + 2.2e-16, if the
# chances of a flip and of a success are added.
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
@pytest.mark.parametrize("tie_break", ["random", "regret"])
@pytest.mark.parametrize("name", ["d-ts", "pure-d-ts"])
def test_a_leader_with_a_sure_superior_is_not_idle(name, tie_break):
    """The superior beats the leader in the second sample, but with chance 1e-15."""
    wins, round_ = ROUNDED_ABOVE_ONE[name]
    policy = policies.get(name, tie_break=tie_break)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(301), 200)

        @quick_jit
        def ask(keys):
            state = told_state(policy, jnp.asarray(wins), jnp.int64(round_))
            return jax.vmap(
                lambda key: policy.choose(key, state, jnp.int64(round_))[0]
            )(keys)

        duel = jax.tree.map(np.asarray, ask(keys))
    assert np.all(duel.exploit_rounds == 0)
    assert np.any(duel.explore_rounds == 1)
    assert np.all((duel.first != duel.second) | (duel.explore_rounds == 0))


LOSING_WINNER = np.array(
    [
        [0.50, 0.05, 0.90, 0.85, 0.80],
        [0.95, 0.50, 0.30, 0.35, 0.60],
        [0.10, 0.70, 0.50, 0.60, 0.65],
        [0.15, 0.65, 0.40, 0.50, 0.70],
        [0.20, 0.40, 0.35, 0.30, 0.50],
    ]
)
"""No Condorcet winner: the Copeland winner 0 loses to arm 1, which is soon certain."""

SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("look_ahead", "last"),
    [
        (True, 2000),
        pytest.param(True, 6000, marks=SLOW),
        pytest.param(False, 2000, marks=SLOW),
    ],
)
def test_pure_dts_never_comes_to_rest_without_a_condorcet_winner(look_ahead, last):
    """The leader meets its superior again and again, in both forms."""
    policy = policies.get("pure-d-ts", look_ahead=look_ahead)
    checkpoints = range(500, last + 1, 500)
    plays = simulate_runs(policy, LOSING_WINNER, checkpoints=checkpoints).ledger[
        "plays"
    ]
    informative = np.diff(np.triu(plays, 1).sum(axis=(2, 3)), axis=1)
    assert informative.min() > 400
