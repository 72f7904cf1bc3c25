"""Worlds of subset choice as the simulator plays them."""

import math
from functools import cache
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import bayesduel
from bayesduel.analysis import measurements, rankings
from bayesduel.analysis.measurements import largest_regret
from bayesduel.errors import (
    AssumptionWarning,
    ChoiceWorldError,
    SimulationArgumentError,
    UnknownNameError,
)
from bayesduel.instances import choice
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation._subset_draws import count_winners, rounds_until_no_choice
from bayesduel.types import Offer
from tests.compiling import quick_jit
from tests.policies.laws import chi_square
from tests.policies.subsets.subset_driving import simulate_offers
from theory.choice.tables import ChoiceTable

FALSE_ALARM = 1e-5

WINNER = choice.multinomial_logit([0.9, 0.2, 0.5, 0.3], 3)
CAMERA = choice.camera()
RANKED = choice.plackett_luce([0.9, 0.2, 0.5, 0.3], 3)
ALWAYS = choice.multinomial_logit(
    [0.9, 0.2, 0.5], 2, no_choice_weight=0.0, name="always"
)
ALONE = choice.multinomial_logit([0.9, 0.2, 0.5], 1)
SHARES = choice.independent_rewards(
    [0.9, 0.2, 0.5, 0.3], 3, levels=4, largest_reward=2.0
)


@cache
def program(world, in_bulk):
    """Compile the play of one offer, for many keys."""
    environment = SubsetEnvironment.from_world(world, (world.regret,), shuffle=True)
    environment = jax.tree.map(jnp.asarray, environment)

    def play(key, offered, rounds, until):
        key_lane, key_play = jax.random.split(key)
        arms = jnp.arange(world.num_arms, dtype=jnp.int32)
        lane = environment.init(jax.random.permutation(key_lane, arms))
        offer = Offer(offered[lane.order], rounds, until)
        _, rewards, played = environment.play(
            key_play, lane, offer, jnp.int64(2**62), in_bulk=in_bulk
        )
        return played, jnp.zeros(world.num_arms).at[lane.order].set(rewards.rewards)

    return jax.jit(jax.vmap(play, in_axes=(0, None, None, None)))


def draw(world, arms, rounds, number, *, in_bulk, until=False, seed=0):
    """Play one offer `number` times; return the rounds and the sums of rewards."""
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(seed), number)
        offered = jnp.asarray(world.mask(arms))
        played = program(world, in_bulk)(
            keys, offered, jnp.int64(rounds), jnp.bool_(until)
        )
        return jax.tree.map(np.asarray, played)


@pytest.mark.parametrize("world", [WINNER, CAMERA], ids=["logit", "table"])
def test_one_round_has_one_winner_at_most(world):
    arms = (0, 2, 3)
    played, rewards = draw(world, arms, 1, 50_000, in_bulk=False)
    assert np.all(played == 1) and np.all(rewards.sum(axis=1) <= 1)
    chances = world.chances(arms)
    counts = np.append(rewards.sum(axis=0), np.sum(rewards.sum(axis=1) == 0))
    law = np.append(chances, 1 - chances.sum())
    assert chi_square(counts, law) > FALSE_ALARM


@pytest.mark.parametrize("rounds", [40, 700])
def test_many_rounds_at_once_are_multinomial(rounds):
    """One by one, and by halves of the arms."""
    arms = (0, 1, 3)
    played, rewards = draw(WINNER, arms, rounds, 4000, in_bulk=True)
    assert np.all(played == rounds)
    chances = WINNER.chances(arms)
    counts = np.append(rewards.sum(axis=0), (rounds - rewards.sum(axis=1)).sum())
    assert chi_square(counts, np.append(chances, 1 - chances.sum())) > FALSE_ALARM
    # Not only the means: variance and covariance of two arms.
    for arm in (0, 3):
        p = chances[arm]
        errors = (rewards[:, arm] - rounds * p) ** 2 / (rounds * p * (1 - p))
        deviation = (errors.mean() - 1) / (errors.std() / np.sqrt(len(errors)))
        assert abs(deviation) < stats.norm.isf(FALSE_ALARM / 2)
    found = np.cov(rewards[:, 0], rewards[:, 3])[0, 1]
    expected = -rounds * chances[0] * chances[3]
    assert found == pytest.approx(expected, abs=0.15 * rounds * chances[0])


def test_an_offer_until_nobody_is_chosen():
    arms = (0, 2)
    played, rewards = draw(WINNER, arms, 10**5, 4000, in_bulk=True, until=True)
    assert np.all(rewards.sum(axis=1) == played - 1)
    stop = 1 - WINNER.chances(arms).sum()
    longest = 12
    law = stop * (1 - stop) ** np.arange(longest)
    counts = np.bincount(np.minimum(played - 1, longest), minlength=longest + 1)
    assert chi_square(counts, np.append(law, 1 - law.sum())) > FALSE_ALARM
    # Agrawal et al. 2019, Corollary A.1: geometric with mean v_i.
    mean = rewards.mean(axis=0)
    for arm, weight in ((0, 0.9), (2, 0.5)):
        error = np.sqrt(weight * (1 + weight) / len(played))
        assert abs(mean[arm] - weight) < 5 * error
    # Where the horizon cuts, every round had a choice.
    played, rewards = draw(WINNER, arms, 2, 4000, in_bulk=True, until=True)
    assert np.all(rewards.sum(axis=1) >= played - 1) and played.max() == 2
    assert np.any(rewards.sum(axis=1) == 2)


SOMETIMES = choice.choice_table(
    ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.6, 0.4], [0.5, 0.1], [0.2, 0.1]]),
    name="sometimes",
)
"""In the best set somebody is always chosen, in the others not."""

ALMOST = choice.multinomial_logit([1e17, 2e16], 2)
"""Probabilities of the set add up to 1 in floating point, and not in truth."""


@given(
    uniform=st.floats(0.0, 1.0, exclude_max=True),
    nobody=st.one_of(
        st.floats(0.0, 1.0), st.sampled_from([0.0, 5e-324, 2.0**-53, 1 - 2.0**-53, 1.0])
    ),
    most=st.integers(0, 2**62),
)
@example(uniform=0.0, nobody=0.0, most=100)
@example(uniform=0.3, nobody=0.0, most=100)
@example(uniform=0.3, nobody=5e-324, most=2**62)
@example(uniform=np.nextafter(1.0, 0.0), nobody=2.0**-53, most=100)
@example(uniform=0.3, nobody=1.0, most=0)
def test_rounds_until_nobody_is_chosen_stay_within_the_horizon(uniform, nobody, most):
    rounds, choices = until_nobody(uniform, nobody, most)
    assert 0 <= choices <= rounds <= most
    assert rounds - choices == (choices < most)
    if nobody == 0:
        assert choices == most
    elif nobody == 1:
        assert choices == 0
    if 0 < nobody < 1 and choices < most:
        # The quantile of the geometric law, up to rounding at its steps.
        hazard = -math.log1p(-nobody)
        quantile = -math.log1p(-uniform) / hazard
        assert choices == pytest.approx(quantile, rel=1e-9, abs=1.000001)


@cache
def until_nobody_program():
    return jax.jit(rounds_until_no_choice)


def until_nobody(uniform, nobody, most):
    with jax.enable_x64(True):
        found = until_nobody_program()(
            jnp.float64(uniform), jnp.float64(nobody), jnp.int64(most)
        )
        return [int(each) for each in found]


def test_a_set_of_which_somebody_is_always_chosen_is_offered_to_the_end():
    for most in (1, 40, 700, 10**6):
        played, rewards = draw(SOMETIMES, (0, 1), most, 200, in_bulk=True, until=True)
        assert np.all(played == most) and np.all(rewards.sum(axis=1) == most)
    assert np.all(draw(SOMETIMES, (0, 2), 10**6, 200, in_bulk=True, until=True)[0] < 99)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnl-ee", "mnl-ts"])
def test_an_epoch_without_end_takes_the_rounds_that_are_left(name):
    """Each round shows two arms: offers add up to twice the horizon."""
    records = simulate_offers(
        bayesduel.policies.get(name),
        SOMETIMES,
        checkpoints=(500, 1000),
        notions=(SOMETIMES.regret,),
    )
    offers = records.ledger["offers"]
    assert np.all(offers.sum(axis=2) == [1000, 2000])
    # Once it comes up, the best set stays.
    assert np.all(np.diff(offers, axis=1)[:, 0] == [500, 500, 0])


def test_a_choice_of_nobody_may_be_rarer_than_rounding():
    """Total weight 1.2e17 beside 1: once in 1.2e17 rounds, and not never."""
    assert ALMOST.chances((0, 1)).sum() == 1.0
    played, _ = draw(ALMOST, (0, 1), 2**62, 400, in_bulk=True, until=True)
    assert played.min() > 10**12
    law = stats.expon(scale=1.2e17)
    assert stats.kstest(played.astype(float), law.cdf).pvalue > FALSE_ALARM


def test_chances_of_nobody_complete_those_of_the_arms():
    masks = np.array([[True, True, False, False], [True, False, True, True]])
    for world in (WINNER, RANKED, choice.gaussian_utility([0.4, 0.0, 0.2, 0.1], 2)):
        total = world.rule.chances(masks).sum(axis=1)
        nobody = world.rule.no_choice_chance(masks)
        np.testing.assert_allclose(total + nobody, 1.0, rtol=0, atol=1e-12)
    assert np.all(ALWAYS.rule.no_choice_chance(masks[:, :3]) == 0)
    above = choice.choice_table(ChoiceTable([[0, 1]], [[0.5 + 5e-10, 0.5]]))
    assert np.all(above.rule.no_choice_chance(np.array([[True, True]])) == 0)


def test_rankings_are_drawn_without_replacement():
    arms = (0, 1, 2)
    _, rewards = draw(RANKED, arms, 1, 20_000, in_bulk=False)
    weights = {0: 0.9, 1: 0.2, 2: 0.5}
    for first, second in combinations(arms, 2):
        for one, other in ((first, second), (second, first)):
            (last,) = set(arms) - {one, other}
            law = weights[one] / 1.6 * weights[other] / (1.6 - weights[one])
            share = np.mean((rewards[:, one] == 2) & (rewards[:, other] == 1))
            assert abs(share - law) < 5 * np.sqrt(law / len(rewards))
            assert np.all(rewards[rewards[:, one] == 2][:, last] < 2)
    assert np.all(rewards[:, 3] == 0)


@pytest.mark.parametrize("in_bulk", [False, True])
def test_independent_rewards_are_shares_of_the_largest(in_bulk):
    rounds = 30 if in_bulk else 1
    _, rewards = draw(SHARES, (0, 1, 3), rounds, 4000, in_bulk=in_bulk)
    steps = rewards / (2.0 / 4)
    np.testing.assert_array_equal(steps, np.round(steps))
    assert np.all(rewards[:, 2] == 0)
    for arm, share in ((0, 0.9), (1, 0.2), (3, 0.3)):
        law = stats.binom(4 * rounds, share)
        counts = np.bincount(steps[:, arm].astype(int), minlength=4 * rounds + 1)
        assert chi_square(counts, law.pmf(np.arange(4 * rounds + 1))) > FALSE_ALARM


def test_large_counts_keep_their_total():
    with jax.enable_x64(True):
        chances = jnp.array([0.2, 0.0, 0.5, 0.3, 1e-9])
        count = quick_jit(count_winners)
        for number in (0, 1, 64, 65, 10**12):
            counts = count(jax.random.key(3), chances, jnp.int64(number))
            assert float(counts.sum()) == number and float(counts[1]) == 0


# The public face


def test_simulate_and_compare(tmp_path):
    options = {
        "num_runs": 4,
        "horizon": 400,
        "checkpoints": [50, 400],
        "regret": ("expected_reward", "no_choice"),
    }
    names = ["ucb-no-order:look_ahead=false", "random-subsets"]
    folder = tmp_path / "results"
    tree = bayesduel.compare("camera", names, out=folder, **options)
    label = "UCB-no-order:look_ahead=False"
    node = tree[f"camera/{label}"]
    assert node["regret"].dims == ("notion", "run", "checkpoint")
    assert node["notion"].values.tolist() == ["expected_reward", "no_choice"]
    assert node["offers"].sizes == {"run": 4, "checkpoint": 2, "arm": 6}
    assert node["arm"].values[:2].tolist() == ["Nikon", "Canon"]
    assert int(node["offers"][:, -1].sum()) == 4 * 3 * 400
    # A world with one winner: both notions are one number.
    regret = node["regret"].values
    np.testing.assert_allclose(regret[0], regret[1], rtol=1e-9, atol=1e-9)
    best = tree["camera"]["best_set"]
    assert best.values.tolist() == [True, True, True, False, False, False]
    again = bayesduel.results.load(folder)
    assert again[f"camera/{label}"]["offers"].equals(node["offers"])
    alone = bayesduel.simulate("camera", names[0], **options)
    np.testing.assert_array_equal(alone["regret"], regret)
    assert bool(alone["best_set"][2]) and not bool(alone["best_set"][3])


def test_results_tell_what_the_worst_round_costs(tmp_path):
    """Single arms are offered, so that some round is the worst one."""
    world = choice.multinomial_logit([0.9, 0.5, 0.2], 1, name="menu")
    notions = ("topk", "no_choice")
    options = {"num_runs": 5, "horizon": 60, "regret": notions, "out": tmp_path / "out"}
    bayesduel.compare(world, "random-subsets", checkpoints=range(1, 61), **options)
    tree = bayesduel.results.load(tmp_path / "out")
    (found,) = measurements(tree)
    each = np.diff(found.data["regret"].values, axis=2, prepend=0.0)
    for notion, regret in zip(notions, each, strict=True):
        most = world.most_regret_per_round(notion)
        assert regret.max() == pytest.approx(most, rel=1e-9)
        assert largest_regret(found, notion, 60) == 60 * most
    assert largest_regret(found, "winner", 60) == math.inf
    # As written before there was the attribute.
    del found.data.attrs["most_regret_per_round"]
    assert largest_regret(found, "topk", 60) == math.inf


def test_rankings_take_the_worst_round_as_a_limit():
    world = choice.multinomial_logit([0.9, 0.1, 0.1], 1, name="menu")
    tree = bayesduel.compare(
        world, ["ucb-no-order", "random-subsets"], num_runs=32, horizon=300
    )
    notion = "mnl_no_choice"
    (ranking,) = rankings(tree, notion=notion)
    (found,) = ranking.differences
    assert found.limit == 300 * world.most_regret_per_round(notion)
    assert found.is_certain and found.higher == "Random subsets"
    for node in tree["menu"].children.values():
        del node.attrs["most_regret_per_round"]
    (found,) = rankings(tree, notion=notion)[0].differences
    assert found.limit > 300 and not found.is_certain


def test_the_notion_of_a_world_is_its_own():
    """Only the request is made; nothing is simulated."""
    for name, notion in (
        ("camera", "expected_reward"),
        ("mnl", "mnl_no_choice"),
        ("random-utility", "utility_sum"),
    ):
        asked = bayesduel.Experiment(name, "random-subsets", horizon=10)
        assert asked.notions == {name: (notion,)}


@pytest.mark.parametrize(
    ("environment", "policy", "options", "error", "words"),
    [
        ("camera", "d-ts", {}, SimulationArgumentError, "D-TS asks for duels.*subset"),
        ("cyclic", "cucb", {}, SimulationArgumentError, "CUCB offers sets.*matrix"),
        ("camera", "cucb", {"regret": ["copeland"]}, UnknownNameError, "'copeland'"),
        ("camera", "cucb", {"regret": ["topk"]}, ChoiceWorldError, "does not exist"),
        ("camera", "ucb-no-order", {"horizon": None}, ValueError, "horizon must be"),
        ("camera", "ucb-no-order:alpha=0", {}, ValueError, "alpha must be .* above 0"),
        ("mnl:num_arms=3,subset_size=4", "cucb", {}, ValueError, "from 1 to the numb"),
        (RANKED, "cucb", {}, SimulationArgumentError, "winner or independent.*ranking"),
        ("mnl", "logit-ts", {}, SimulationArgumentError, "has 184756; use mnl-ts"),
        ("camera", "maxmin-ucb", {}, SimulationArgumentError, "sets of exactly 3"),
        (ALWAYS, "mnl-ts", {}, SimulationArgumentError, "never happens in always"),
        (ALWAYS, "logit-ts", {}, ValueError, "no_choice must be False in always"),
        (ALONE, "choice-bandits", {}, SimulationArgumentError, "at least 2 arms"),
        ("camera", "stagewise:delta=1", {}, ValueError, "delta must be above 0 and"),
        ("camera", "mnl-ts:variant=gamma", {}, ValueError, "variant must be one of"),
    ],
)  # fmt: skip
def test_bad_requests(environment, policy, options, error, words):
    with pytest.raises(error, match=words):
        bayesduel.simulate(environment, policy, **options)


def test_matrices_and_worlds_do_not_mix():
    with pytest.raises(
        SimulationArgumentError, match="cyclic is a pref.* and camera a world"
    ):
        bayesduel.compare(["cyclic", "camera"], ["cucb"])


def test_repeated_arms_and_probabilities_over_one():
    with pytest.raises(ValueError, match="different|distinct|twice|once"):
        ChoiceTable([[0, 0], [0, 1]], [[0.2, 0.2], [0.3, 0.1]])
    table = ChoiceTable([[0, 1]], [[0.8, 0.4]])
    with pytest.raises(ChoiceWorldError, match=r"add up to at most 1.*\(0, 1\)"):
        choice.choice_table(table)


def test_a_world_outside_the_theory_is_named():
    """Arm 1 of the best set is chosen less in {1, 2}: the warning says so."""
    table = ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.2, 0.1]])
    world = choice.choice_table(table, name="mine")
    with pytest.warns(AssumptionWarning, match=r"in mine arm 1 .* the set \(1, 2\)"):
        policies_check(world, "ucb-no-order")
    rich = choice.independent_rewards([0.5, 0.2], 1, largest_reward=3.0)
    with pytest.warns(AssumptionWarning, match="set largest_reward"):
        policies_check(rich, "ucb-no-order")
    with pytest.warns(AssumptionWarning, match=r"rewards in \[0, 1\]"):
        policies_check(rich, "cucb")


def policies_check(world, name):
    bayesduel.policies.get(name).check_world(world, 100)
