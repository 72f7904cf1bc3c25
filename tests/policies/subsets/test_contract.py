"""Requirements on every policy that offers subsets, whatever its rule."""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.instances import choice
from bayesduel.policies.policy import over_model
from bayesduel.types import Rewards
from tests.policies.driving import assert_same
from tests.policies.subsets.subset_driving import (
    CHECKPOINTS,
    SIZE,
    WEIGHTS,
    WORLD,
    simulate_offers,
)

pytestmark = pytest.mark.usefixtures("hardly_optimized")

NAMES = policies.subset_names()

ONE_ARM = {"maxmin-ucb", "choice-bandits"}
"""Rules that look for the single best arm."""

ONE_OF_A_KIND = ["ucb-no-order", "mnl-ts", "stagewise", "maxmin-ucb", "choice-bandits"]
"""One for each kind of state: counts, epochs, stages, comparisons, lists."""

IN_JAX = [name for name in NAMES if over_model(policies.get(name))]


PLAYED = [
    pytest.param(name, marks=[pytest.mark.slow] * (name in IN_JAX)) for name in NAMES
]

DRAWING = {"random-subsets", "mnl-ts", "stagewise", "rec-maxmin-ucb"}
"""``test_twins`` reads the runs of these, too."""

FEW, SOME = 4, 48


@cache
def runs_of(name, number=SOME, checkpoints=CHECKPOINTS, seed=0):
    """Play runs; with the fixture ``in_python`` nothing is compiled for them.

    In JAX always as many, by one program.
    """
    policy = policies.parse_policy(name)
    runs = range(SOME if name in IN_JAX else number)
    return simulate_offers(policy, checkpoints=checkpoints, seed=seed, runs=runs)


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
def test_offers_add_up_and_explain_the_regret(name, in_python):
    """Offers and regret are recorded apart: labels that got mixed up would show."""
    policies.get(name).check_world(WORLD, 1000)
    shown = runs_of(name, FEW, checkpoints=(1,)).ledger["offers"].sum(axis=2)
    assert np.all((1 <= shown) & (shown <= SIZE))
    records = runs_of(name, FEW)
    offers, rounds = records.ledger["offers"], np.array(CHECKPOINTS)
    assert offers.shape[1:] == (len(CHECKPOINTS), 5)
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


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=[pytest.mark.slow] * (x not in DRAWING)) for x in NAMES],
)
def test_recommendations_are_sets_and_better_than_chance(name, in_python):
    best = runs_of(name).recommendation
    size = 1 if name in ONE_ARM else SIZE
    assert best.dtype == bool and best.shape == (SOME, 5)
    assert np.all(best.sum(axis=1) == size)
    # 300 rounds teach something: the best arms are recommended more often than by
    # probability, by five standard errors.
    wanted = np.argsort(-WEIGHTS)[:size]
    share, probability = best[:, wanted].sum() / (size * SOME), size / 5
    assert share > probability + 5 * np.sqrt(
        probability * (1 - probability) / (size * SOME)
    )


@pytest.mark.parametrize("name", ONE_OF_A_KIND)
def test_runs_depend_on_seed_and_number_alone(name, in_python):
    """Not on the grid of checkpoints, nor on the runs before."""
    dense = (*range(1, 7), 40, *range(45, 60), 120, 299, 300)
    columns = [dense.index(item) for item in CHECKPOINTS]
    ours, finer = runs_of(name, FEW), runs_of(name, FEW, dense)
    offers = finer.ledger["offers"][:, columns]
    np.testing.assert_array_equal(offers, ours.ledger["offers"])
    last = simulate_offers(policies.get(name), runs=range(FEW - 1, FEW))
    assert_same(ours, last, pick_one=slice(-1, None))
    other = runs_of(name, FEW, seed=1).ledger["offers"]
    same = np.all(other[:, -1] == ours.ledger["offers"][:, -1], axis=1)
    assert not same.any()


RANKED = choice.plackett_luce(WEIGHTS, SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_JAX)
def test_runs_do_not_depend_on_their_company(name):
    policy = policies.get(name)
    alone, together = (
        simulate_offers(policy, runs=range(6), num_lanes=lanes, checkpoints=(40, 120))
        for lanes in (1, 6)
    )
    assert_same(alone, together)
    assert len(np.unique(together.ledger["offers"][:, -1], axis=0)) > 1


EARNING = choice.multinomial_logit(WEIGHTS, SIZE, revenues=[0.9, 0.1, 1.0, 0.4, 0.5])
REWARDED = choice.independent_rewards(WEIGHTS, SIZE, levels=3)

OTHER_FORMS = (
    "mnl-ee:init_index=one,cap=true", "mnl-ts:variant=correlated",
    "mnl-ts:look_ahead=false", "stagewise:radius=bernstein,delta=0.2",
)  # fmt: skip


def worlds_of(policy):
    """Return a world for everything that a rule reads."""
    worlds = (WORLD, RANKED, REWARDED, *[EARNING] * policy.reads_revenues)
    return [world for world in worlds if world.feedback in policy.feedbacks]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(text, world, id=f"{text}-{world.feedback}-{number}")
        for text in (*(flag for flag in NAMES if flag not in IN_JAX), *OTHER_FORMS)
        for number, world in enumerate(worlds_of(policies.parse_policy(text)))
    ],
)
def test_compiled_rules_play_the_runs_of_python(text, world):
    """Quickly, one rule: ``simulation.test_set_rounds``."""
    policy = policies.parse_policy(text)
    compiled, plain = (
        simulate_offers(
            replace(policy, compiled=flag), world, runs=range(1),
            notions=(world.default_notion,),
        )
        for flag in (True, False)
    )  # fmt: skip
    assert policy.compiled
    assert_same(compiled, plain)
