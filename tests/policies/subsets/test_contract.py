"""What every policy that offers subsets must do, whatever its rule."""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.instances import choice
from bayesduel.policies.policy import over_model
from bayesduel.policies.subset_base import OfferingPolicy
from bayesduel.types import Rewards
from tests.policies.subsets.subset_driving import (
    CHECKPOINTS,
    NUM_RUNS,
    SIZE,
    WEIGHTS,
    WORLD,
    simulate_offers,
)

pytestmark = pytest.mark.usefixtures("hardly_optimized")

NAMES = policies.subset_names()

ONE_ARM = {"maxmin-ucb", "choice-bandits"}
"""Rules that look for the single best arm."""

SLOW_TO_COMPILE = {"logit-ts"}

PLAYED_ELSEWHERE = {
    "cucb",
    "combucb1",
    "mnl-ee",
    "escb",
    "choice-bandits",
    "maxmin-ucb",
}
"""``test_twins`` and ``test_long_stretches`` compare their sets one by one, or their
distribution."""

ONE_OF_A_KIND = {"ucb-no-order", "mnl-ts", "stagewise", "maxmin-ucb", "choice-bandits"}
"""One for each kind of state: counts, epochs, stages, comparisons, lists."""


PLAYED = [
    pytest.param(
        name, marks=[pytest.mark.slow] * (name in SLOW_TO_COMPILE | PLAYED_ELSEWHERE)
    )
    for name in NAMES
]
KINDS = [case for case in PLAYED if ONE_OF_A_KIND.intersection(case.values)]


COMPILED_SLOWLY = PLAYED_ELSEWHERE - ONE_OF_A_KIND
"""Rules of parts that others are made of; their sets are compared in Python."""

IN_JAX = [name for name in NAMES if over_model(policies.get(name))]


@cache
def runs_of(name, checkpoints=CHECKPOINTS, seed=0):
    return simulate_offers(policies.get(name), checkpoints=checkpoints, seed=seed)


def one_exchange(rule, key):
    """Everything that is asked of a rule, once; returns the states on the way."""
    keys = jax.random.split(key, 4)
    start = rule.init(keys[0], 5, SIZE, jnp.int64(1000), jnp.ones(5))
    offer, chosen = rule.choose(keys[1], start, jnp.int64(1))
    rewards = Rewards(rounds=offer.rounds, rewards=jnp.zeros(5))
    after = rule.update(keys[2], chosen, jnp.int64(1), offer, rewards)
    return offer, start, chosen, after, rule.recommend(keys[3], after)


@pytest.mark.slow
@pytest.mark.parametrize("no_choice", [True, False])
@pytest.mark.parametrize("name", IN_JAX)
def test_dtypes_and_shapes_stay(name, no_choice, strict_jax):
    rule = over_model(policies.get(name, no_choice=no_choice))
    with jax.enable_x64(True):
        offer, *states, best = jax.eval_shape(
            lambda key: one_exchange(rule, key), jax.random.key(0)
        )

    def kind(leaf):
        return (leaf.shape, leaf.dtype, leaf.weak_type)

    start, *later = (jax.tree.map(kind, state) for state in states)
    assert later == [start, start]
    assert kind(offer.subset) == ((5,), np.dtype(bool), False)
    assert kind(offer.rounds) == ((), np.dtype(np.int64), False)
    assert kind(offer.until_no_choice) == ((), np.dtype(bool), False)
    assert kind(best) == ((5,), np.dtype(bool), False)
    assert rule == jax.tree.unflatten(*jax.tree.flatten(rule)[::-1])


@pytest.mark.parametrize("name", PLAYED)
def test_offers_add_up_and_explain_the_regret(name):
    """Offers and regret are recorded apart: labels that got mixed up would show."""
    records = runs_of(name)
    offers, rounds = records.ledger["offers"], np.array(CHECKPOINTS)
    assert offers.shape == (NUM_RUNS, len(CHECKPOINTS), 5)
    assert offers.dtype == np.int64
    assert np.all(np.diff(offers, axis=1) >= 0) and offers.min() >= 0
    assert np.all(offers <= rounds[:, None])
    shown = offers.sum(axis=2)
    fewer = policies.get(name).offers_fewer
    assert np.all(shown >= rounds) if fewer else np.all(shown == SIZE * rounds)
    # "topk" is linear in the offers.
    best = np.sort(WEIGHTS)[-SIZE:].sum() * rounds
    expected = (best - offers @ WEIGHTS) / SIZE
    np.testing.assert_allclose(
        records.ledger["regret"][:, :, 0], expected, rtol=1e-9, atol=1e-9
    )
    if not fewer:
        expected = 0.9 * rounds - offers @ WEIGHTS / SIZE
        np.testing.assert_allclose(
            records.ledger["regret"][:, :, 1], expected, rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("name", PLAYED)
def test_recommendations_are_sets_and_better_than_chance(name):
    best = runs_of(name).recommendation
    size = 1 if name in ONE_ARM else SIZE
    assert best.dtype == bool and best.shape == (NUM_RUNS, 5)
    assert np.all(best.sum(axis=1) == size)
    # 300 rounds teach something: the best arms are recommended more often than by
    # probability, by five standard errors.
    wanted = np.argsort(-WEIGHTS)[:size]
    share, probability = best[:, wanted].sum() / (size * NUM_RUNS), size / 5
    assert share > probability + 5 * np.sqrt(
        probability * (1 - probability) / (size * NUM_RUNS)
    )


@pytest.mark.parametrize("name", KINDS)
def test_runs_do_not_depend_on_the_grid_of_checkpoints(name):
    dense = (*range(1, 7), 40, *range(45, 60), 120, 299, 300)
    columns = [dense.index(each) for each in CHECKPOINTS]
    offers = runs_of(name, checkpoints=dense).ledger["offers"]
    np.testing.assert_array_equal(offers[:, columns], runs_of(name).ledger["offers"])


@pytest.mark.parametrize("name", KINDS)
def test_same_seed_same_runs_another_seed_others(name):
    ours = runs_of(name)
    later = simulate_offers(policies.get(name), runs=range(3, 3 + NUM_RUNS))
    for one, other in (
        (ours.ledger["offers"][3:], later.ledger["offers"][:-3]),
        (ours.recommendation[3:], later.recommendation[:-3]),
        (ours.events[3:], later.events[:-3]),
    ):
        np.testing.assert_array_equal(one, other)
    other = runs_of(name, seed=1).ledger["offers"]
    same = np.all(other[:, -1] == ours.ledger["offers"][:, -1], axis=1)
    assert same.mean() < 0.3


@pytest.mark.parametrize("name", KINDS)
def test_horizon_of_one_round(name):
    records = simulate_offers(policies.get(name), checkpoints=(1,))
    shown = records.ledger["offers"][:, -1].sum(axis=1)
    assert np.all((1 <= shown) & (shown <= SIZE))


RANKED = choice.plackett_luce(WEIGHTS, SIZE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "world"),
    [
        *((name, WORLD) for name in IN_JAX),
        ("rec-maxmin-ucb", RANKED),
    ],
)
def test_runs_do_not_depend_on_their_company(name, world):
    """Whatever the kind of rule and of feedback."""
    policy = policies.get(name)
    options = {"notions": (world.regret,), "checkpoints": (40, 120)}
    alone, together = (
        simulate_offers(policy, world, runs=range(6), num_lanes=lanes, **options)
        for lanes in (1, 6)
    )
    for one, other in (
        (alone.ledger["offers"], together.ledger["offers"]),
        (alone.ledger["regret"], together.ledger["regret"]),
        (alone.recommendation, together.recommendation),
    ):
        np.testing.assert_array_equal(one, other)
    assert len(np.unique(together.ledger["offers"][:, -1], axis=0)) > 1


EARNING = choice.multinomial_logit(WEIGHTS, SIZE, revenues=[0.9, 0.1, 1.0, 0.4, 0.5])
REWARDED = choice.independent_rewards(WEIGHTS, SIZE, levels=3)

OTHER_FORMS = (
    "mnl-ee:init_index=one,cap=true",
    "mnl-ts:variant=correlated",
    "mnl-ts:look_ahead=false",
    "stagewise:radius=bernstein,delta=0.2",
)


def worlds_of(policy):
    """Return a world for everything that a rule reads."""
    worlds = (WORLD, RANKED, REWARDED, *[EARNING] * policy.reads_revenues)
    return [world for world in worlds if world.feedback in policy.feedbacks]


@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(
            text,
            world,
            marks=[pytest.mark.slow] * (text.split(":")[0] in COMPILED_SLOWLY),
            id=f"{text}-{world.feedback}-{number}",
        )
        for text in (*(each for each in NAMES if each not in IN_JAX), *OTHER_FORMS)
        for number, world in enumerate(worlds_of(policies.parse_policy(text)))
    ],
)
def test_compiled_rules_play_the_runs_of_python(text, world):
    policy = policies.parse_policy(text)
    compiled, plain = (
        simulate_offers(
            replace(policy, compiled=each),
            world,
            runs=range(1),
            notions=(world.regret,),
        )
        for each in (True, False)
    )
    assert policy.compiled
    for one, other in (
        (compiled.ledger["offers"], plain.ledger["offers"]),
        (compiled.ledger["regret"], plain.ledger["regret"]),
        (compiled.recommendation, plain.recommendation),
        (compiled.events, plain.events),
    ):
        np.testing.assert_array_equal(one, other)


def test_every_policy_of_subsets_is_registered_once():
    labels = [policies.get(name).label for name in NAMES]
    assert len(set(labels)) == len(labels)
    for name in NAMES:
        policy = policies.get(name)
        assert isinstance(policy, OfferingPolicy)
        assert policy.name == name and policy.title
        policy.check_world(WORLD, 1000)
    assert not set(NAMES) & set(policies.names())
