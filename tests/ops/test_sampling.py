"""Waiting times, and what once made pure D-TS wait for ever."""

from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.sampling import waiting_time, waiting_time_at_rate
from tests.compiling import quick_jit
from tests.policies.driving import simulate_runs
from tests.policies.random_states import told_state

ROUNDS = 1000
UNIFORMS = (0.0, 2.0**-53, 0.3, 0.999, 1.0 - 2.0**-53)


def wait(rule, value, uniform, rounds=ROUNDS):
    """Return idle rounds and whether another one follows, as Python values."""
    with jax.enable_x64(True):
        idle, happens = rule(
            jnp.float64(uniform), jnp.float64(value), jnp.int64(rounds)
        )
        assert idle.dtype == np.int64
    return int(idle), bool(happens)


@pytest.mark.parametrize("uniform", UNIFORMS)
@pytest.mark.parametrize("chance", [1.0, 1.0 + 2.0**-52, 2.0, np.inf, np.nan, -np.nan])
def test_nothing_is_idle_where_every_round_or_nobody_knows(chance, uniform):
    assert wait(waiting_time, chance, uniform) == (0, True)


@pytest.mark.parametrize("uniform", UNIFORMS)
@pytest.mark.parametrize("chance", [0.0, -0.0, -1e-17, -1.0, -np.inf])
def test_every_round_is_idle_where_nothing_can_happen(chance, uniform):
    assert wait(waiting_time, chance, uniform) == (ROUNDS, False)


@pytest.mark.parametrize("uniform", UNIFORMS)
@pytest.mark.parametrize(
    ("hazard", "expected"),
    [
        (0.0, (ROUNDS, False)),
        (-1e-17, (ROUNDS, False)),
        (np.inf, (0, True)),
        (1e4, (0, True)),
        (np.nan, (0, True)),
    ],
)
def test_rates_at_their_limits(hazard, expected, uniform):
    assert wait(waiting_time_at_rate, hazard, uniform) == expected


@pytest.mark.parametrize("rounds", [1, 2, 1000, 10**12, 2**53 + 1, 2**62, 2**63 - 1])
def test_waiting_time_is_that_of_exact_logarithms(rounds):
    """Against 60 decimal digits, on chances from 1e-19 to next to 1."""
    rng = np.random.default_rng(300)
    chances = np.exp(-rng.uniform(0, 44, 200))
    chances[::10] = 1.0 - chances[::10]
    uniforms = rng.random(200)
    with jax.enable_x64(True):
        idle, happens = jax.vmap(waiting_time, in_axes=(0, 0, None))(
            jnp.asarray(uniforms), jnp.asarray(chances), jnp.int64(rounds)
        )
    ends = 0
    for got, comes, chance, uniform in zip(
        np.asarray(idle).tolist(),
        np.asarray(happens).tolist(),
        chances.tolist(),
        uniforms.tolist(),
        strict=True,
    ):
        with localcontext() as context:
            context.prec = 60
            exact = (1 - Decimal(uniform)).ln() / (1 - Decimal(chance)).ln()
        assert 0 <= got <= rounds
        if exact > rounds * (1 + 1e-12):
            assert (got, comes) == (rounds, False)
        elif exact < rounds * (1 - 1e-12):
            assert comes
            assert got < rounds
            # Two logarithms, of which that of XLA is off by up to 2.7e-14 of itself
            # before jaxlib 0.11.1. That of a rounded 1 - chance: by 1e-16 / chance.
            off = float(exact) * 6e-14 + 1e-9
            assert float(exact) - 1 - off <= got <= float(exact) + off
            ends += 1
    assert ends > 0


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
