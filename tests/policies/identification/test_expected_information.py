"""Expected information: duels against integrals, and what a scale tells."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.over_models.base import one_round
from bayesduel.policies.policy import over_model
from bayesduel.posteriors import BetaPairs
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.policies.instances import MATRICES, random_outcomes
from tests.policies.kernel_driving import play_kernel
from tests.policies.replaying import first_impossible_duel
from tests.reference import ExpectedInformation

SURE = np.tri(4, k=-1).T + 0.5 * np.eye(4)


@pytest.mark.parametrize(
    ("prior", "matrices"),
    [(1.0, [MATRICES["cyclic"], SURE]), (0.5, [MATRICES["two winners"]])],
    ids=["1", "0.5"],
)
def test_every_duel_of_the_kernel_teaches_as_much_as_any(prior, matrices):
    kernel = policies.get("information", posterior=BetaPairs(prior)).scalar_kernel()
    rng = np.random.default_rng(2410)
    for matrix in matrices:
        outcomes = random_outcomes(matrix, 400, rng)
        duels = play_kernel(kernel, outcomes, 150).duels
        twin = ExpectedInformation(4, np.random.default_rng(0), prior=prior)
        assert first_impossible_duel(twin, duels, outcomes) is None


def test_the_kernel_reads_a_table_of_priors():
    """The pair that is known best is asked last."""
    prior = np.ones((4, 4))
    prior[2, 3] = prior[3, 2] = 40.0
    kernel = policies.get("information", posterior=BetaPairs(prior)).scalar_kernel()
    rng = np.random.default_rng(2420)
    for order in ([0, 1, 2, 3], [3, 0, 2, 1]):
        state = kernel.new_state(np.array(order), 10**6)
        assert state.pairs["prior"][order.index(2), order.index(3)] == 40.0
    outcomes = random_outcomes(MATRICES["cyclic"], 100, rng)
    duels = play_kernel(kernel, outcomes, 100).duels
    assert (2, 3) not in duels
    assert len(set(duels)) == 5


@pytest.mark.slow
def test_on_a_scale_the_extremes_are_not_compared():
    """Between arms that differ for sure an outcome is no surprise."""
    rule = over_model(policies.get("information", posterior="bradley-terry"))
    rng = np.random.default_rng(2430)
    strength = np.array([8.0, 2.0, 0.0, -6.0])
    with jax.enable_x64(True):
        begin = quick_jit(partial(rule.init, num_arms=4, horizon=jnp.int64(1000)))
        state = begin(jax.random.key(0))
        for _ in range(8):
            for i in range(4):
                for j in range(i + 1, 4):
                    won = rng.random() < 1 / (1 + np.exp(strength[j] - strength[i]))
                    pair = jnp.int32(i), jnp.int32(j)
                    state = state_after(rule, state, *pair, jnp.int64(won))
        keys = jax.random.split(jax.random.key(1), 60)
        choose = quick_jit(jax.vmap(rule.choose, in_axes=(0, None, None)))
        duels, _ = choose(keys, state, jnp.int64(50))
    pairs = set(zip(duels.first.tolist(), duels.second.tolist(), strict=True))
    assert (1, 2) in pairs
    assert (0, 3) not in pairs


@quick_jit
def state_after(rule, state, first, second, won):
    duel = one_round(first, second)
    outcome = Outcome(jnp.int64(0), jnp.int64(1), won)
    key = jax.random.key(0)
    return rule.update(key, state, jnp.int64(1), duel, outcome)
