"""PARWiS: duel by duel against chains that are solved from scratch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from tests.compiling import quick_jit
from tests.policies.instances import MATRICES
from tests.policies.replaying import impossible_duels
from tests.reference import PARWiS, simulate


def forced_matrices(num_arms):
    """Matrices in which one outcome is sure, and others."""
    rng = np.random.default_rng(2300 + num_arms)
    scores = rng.exponential(size=(2, num_arms))
    logit = scores[:, :, None] / (scores[:, :, None] + scores[:, None, :])
    sure = np.tri(num_arms, k=-1).T + 0.5 * np.eye(num_arms)
    return [*logit, sure]


@pytest.mark.parametrize(
    "num_arms", [3, 8, *(pytest.param(each, marks=pytest.mark.slow) for each in (2, 4))]
)
def test_every_duel_is_one_of_the_twin(num_arms):
    strays = impossible_duels(
        policies.get("parwis"),
        lambda size, rng, duels: PARWiS(size, rng),
        forced_matrices(num_arms),
        seed=2310,
        horizon=80,
        num_events=80,
    )
    assert strays == [None] * 3


@quick_jit
def recommended(policy, keys, wins):
    """Ask for the best arm after some wins, by every key."""
    state = policy.init(jax.random.key(0), len(wins), jnp.int64(100))
    known = state._replace(wins=wins)
    return jax.vmap(policy.recommend, in_axes=(0, None))(keys, known)


@pytest.mark.parametrize("matrix", ["condorcet", "two winners"])
def test_recommendation_is_that_of_the_twin(matrix):
    policy = policies.get("parwis")
    rng = np.random.default_rng(2320)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(1), 40)
        for _ in range(4):
            twin = PARWiS(4, np.random.default_rng(0))
            simulate(twin, MATRICES[matrix], 12, [12], rng)
            arms = recommended(policy, keys, jnp.asarray(twin.wins, dtype=jnp.int32))
            best = twin.scores(twin.wins)[1:]
            best = np.flatnonzero(best >= best.max() * (1 - 1e-9))
            assert set(arms.tolist()) == set(best.tolist())


def test_before_any_duel_every_arm_is_recommended():
    policy = policies.get("parwis")
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(2), 60)
        arms = recommended(policy, keys, jnp.zeros((3, 3), dtype=jnp.int32))
    # Misses an arm with probability 3 (2/3)^60 < 1e-9.
    assert set(arms.tolist()) == {0, 1, 2}
