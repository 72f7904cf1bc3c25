"""RD-TS over posteriors of utilities: rounds against the twin, pairs, parameters."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import rel_entr

from bayesduel import policies
from bayesduel.policies.over_models.base import one_round, up_to_another
from bayesduel.policies.over_models.rival_directed import divergence, estimated_regret
from bayesduel.policies.policy import over_model
from bayesduel.studies import Study
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.policies.distributions import pair_table, two_sample_chi_square
from tests.reference import RivalOverScale
from tests.studies.helpers import assert_replays

FALSE_ALARM = 1e-5
"""False-alarm rate of one test."""

STATES = {
    "none": np.zeros((4, 4), dtype=int),
    "two arms": np.array([[0, 7], [3, 0]]),
    "never lost": np.array([[0, 12, 9, 1], [0, 0, 3, 0], [0, 1, 0, 2], [0, 0, 0, 0]]),
    "level": np.array([[0, 3, 5, 0], [3, 0, 5, 0], [1, 1, 0, 2], [0, 0, 1, 0]]),
    "rivals": np.array([[0, 9, 12, 0], [5, 0, 6, 3], [2, 5, 0, 6], [0, 1, 2, 0]]),
}
"""Few numbers of arms: each takes programs of its own."""


def rule_of(**parameters):
    parameters = {"posterior": "bradley-terry", **parameters}
    return over_model(policies.get("rd-ts", **parameters))


@partial(quick_jit, static_argnums=2)
def begin(rule, key, num_arms):
    return rule.init(key, num_arms, jnp.int64(2**40))


@quick_jit
def tell(rule, key, state, duel, outcome):
    return rule.update(key, state, jnp.int64(1), duel, outcome)


@quick_jit
def ask_all(rule, keys, state):
    return jax.vmap(lambda key: rule.choose(key, state, jnp.int64(5))[0])(keys)


@quick_jit
def pair_of(rule, key, state, leader, rival):
    return rule._pair(key, state.beliefs, leader, rival)


def state_of(wins, rank=None):
    """Return the state of a rule that was told these wins, whatever a duel costs it."""
    rule, key, none = rule_of(), jax.random.key(3), jnp.int64(0)
    state = begin(rule, key, len(wins))
    for i, j in zip(*np.triu_indices(len(wins), 1), strict=True):
        rounds = jnp.int64(wins[i, j] + wins[j, i])
        duel = one_round(jnp.int32(i), jnp.int32(j))
        outcome = Outcome(none, rounds, jnp.int64(wins[i, j]))
        state = tell(rule, key, state, duel, outcome)
    state = tell(rule, key, state, one_round(jnp.int32(0), jnp.int32(0)),
                 Outcome(none, none, none))  # fmt: skip
    return state if rank is None else state._replace(rank=jnp.asarray(rank))


def twin_of(wins, **options):
    """Return the twin in a state, whose mode is found once."""
    twin = RivalOverScale(len(wins), np.random.default_rng(4), **options)
    twin.wins[:] = wins
    mode = twin.mode()
    twin.mode = lambda: mode
    return twin


@pytest.mark.parametrize(
    "costs_regret", [True, pytest.param(False, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", ["none", "never lost", "level", "rivals"])
def test_every_rival_asks_for_the_pair_of_the_twin(name, costs_regret):
    """Which of two equal ones, and in what order, is random."""
    cost = "regret" if costs_regret else "duels"
    wins, rule = STATES[name], rule_of(cost=cost)
    twin = twin_of(wins, costs_regret=costs_regret)
    with jax.enable_x64(True):
        state = state_of(wins, twin.rank)
        leader = int(rule._leader(state))
        assert leader == twin.leader() == twin.recommend()
        for rival in set(range(len(wins))) - {leader}:
            questions = jnp.int32(leader), jnp.int32(rival)
            ours, theirs = set(), set()
            for number in range(8):
                key = jax.random.key(number)
                pair = pair_of(rule, key, state, *questions)
                ours.add(tuple(int(arm) for arm in pair))
            for _ in range(40):
                theirs.add(tuple(sorted(twin.pair(leader, rival))))
            assert {tuple(sorted(pair)) for pair in ours} <= theirs
            assert len(theirs) == 1
            assert len(ours) == 2, "either arm may be the first"


def rounds_of(rule, wins, rank, number=600):
    """Count who plays the first round of stretches, pair by pair, and how they end."""
    with jax.enable_x64(True):
        state = state_of(wins, rank)
        keys = jax.random.split(jax.random.key(7), number)
        duel = jax.tree.map(np.asarray, ask_all(rule, keys, state))
    idle = duel.exploit_rounds > 0
    one = np.where(idle, duel.champion, duel.first)
    other = np.where(idle, duel.champion, duel.second)
    return pair_table(np.minimum(one, other), np.maximum(one, other), len(wins)), duel


def rounds_of_twin(twin, number):
    """Count the same; of every rival the pair is found once."""
    leader, pairs, result = twin.leader(), {}, np.zeros((twin.num_arms, twin.num_arms))
    pairs[leader] = leader, leader
    for _ in range(number):
        rival = twin.rival(leader)
        if rival not in pairs:
            pairs[rival] = tuple(sorted(twin.pair(leader, rival)))
        result[pairs[rival]] += 1
    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at_once"), [("rivals", 16), ("two arms", 16), ("rivals", 1)]
)
def test_rounds_are_those_of_the_twin(name, at_once):
    """By stretches, and round by round."""
    wins = STATES[name]
    twin = twin_of(wins)
    ours, duel = rounds_of(rule_of(look_ahead=at_once > 1), wins, twin.rank)
    theirs = rounds_of_twin(twin, 400)
    assert two_sample_chi_square(ours, theirs) > FALSE_ALARM
    assert ours.trace() > 0 and theirs.trace() > 0
    explores = duel.explore_rounds > 0
    assert np.all(duel.exploit_rounds[~explores] == at_once)
    assert np.all(duel.exploit_rounds[explores] < at_once)
    assert np.all((duel.first != duel.second) == explores)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["none", "never lost"])
def test_naming_asks_of_likely_rivals_and_never_rests(name):
    wins = STATES[name]
    twin = twin_of(wins, costs_regret=False)
    ours, duel = rounds_of(rule_of(cost="duels"), wins, twin.rank)
    assert np.all(duel.first != duel.second) and np.all(duel.explore_rounds == 1)
    assert np.all(duel.exploit_rounds == 0)
    falls = np.array([twin.level_world(twin.leader(), a)[1] for a in range(len(wins))])
    twin.level_world = _remembered(twin.level_world)
    assert two_sample_chi_square(ours, rounds_of_twin(twin, 600)) > FALSE_ALARM
    assert name == "none" or np.ptp(falls) > 0.1


def _remembered(function):
    known = {}

    def cached(*arms):
        return known[arms] if arms in known else known.setdefault(arms, function(*arms))

    return cached


def test_divergences_of_probabilities_that_round_to_one():
    gap = np.array([0.0, 0.3, 4.0, 30.0, 45.0, 800.0])
    matrices = [
        1 / (1 + np.exp(np.clip(x[None, :] - x[:, None], -700, 700)))
        for x in (gap, 0.9 * gap, gap[::-1])
    ]
    matrices.append(np.where(np.eye(6) > 0, 0.5, np.tri(6, k=-1)))
    quick_divergence = quick_jit(divergence)
    with jax.enable_x64(True):
        for one in matrices:
            for other in matrices:
                values = np.asarray(quick_divergence(one, other))
                safe = np.maximum(other, 1e-300)
                plain = rel_entr(one, safe) + rel_entr(one.T, safe.T)
                np.testing.assert_allclose(values, plain, rtol=1e-9, atol=1e-13)
                assert np.all(values >= 0.0)
        # Close to one another nothing cancels.
        one, other = (np.array([[0.5, p], [1 - p, 0.5]]) for p in (0.3, 0.3 + 1e-7))
        values = np.asarray(quick_divergence(one, other))
        by_hand = 0.5 * (other[0, 1] - one[0, 1]) ** 2 / 0.21
        np.testing.assert_allclose(values[0, 1], by_hand, rtol=1e-6)


def test_regret_is_that_of_the_order():
    with jax.enable_x64(True):
        utility = jnp.asarray([0.3, 2.0, 2.0, -1.0])
        values = np.asarray(estimated_regret(utility, jnp.int32(2)))
    # Losses: 2 (behind both), at least 1 beside the leader, 0, 3.
    by_hand = np.array([[4, 3, 2, 5], [3, 2, 1, 4], [2, 1, 1, 3], [5, 4, 3, 6]])
    np.testing.assert_array_equal(values, by_hand)


def test_stretches_end_where_another_arm_plays():
    """A self-duel of another arm is none of the leader."""
    rounds = np.array([[2, 2], [2, 2], [1, 1], [2, 2], [2, 3]])

    def ended(known, number=5, start=0):
        played = jnp.asarray(rounds[start:])
        waited, arms = up_to_another(
            jnp.asarray(known[start:]),
            lambda value: played[value],
            jnp.int32(2),
            number,
        )
        return [int(waited), *np.asarray(arms).tolist()]

    nothing, some = [False] * 5, [True, False, False, True, False]
    for known in (nothing, some):
        assert ended(known) == [2, 1, 1]
        assert ended(known, 2, start=3) == [1, 2, 3]
        # Nothing is known about later rounds.
        assert ended(known, 2) == [2, 2, 2]
        assert ended(known, 1, start=3) == [1, 2, 2]
    assert ended([True] * 5) == [5, 2, 2]


@pytest.mark.slow
def test_a_study_asks_as_it_does(tmp_path):
    """And whoever opens its file sees the same state."""
    arms = ["tea", "coffee", "milk"]
    path = tmp_path / "drinks.study"
    with Study.create(path, arms, policy="rd-ts:posterior=bradley-terry") as study:
        for _ in range(8):
            ticket = study.ask()[0]
            assert ticket.left != ticket.right
            better = arms.index(ticket.left) < arms.index(ticket.right)
            study.tell(ticket, "left" if better else "right")
        assert "RD-TS:posterior=bradley-terry" in ticket.reason
        assert_replays(study)
