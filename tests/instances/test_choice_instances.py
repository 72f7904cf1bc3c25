"""Worlds of subset choice: published numbers, best sets by enumeration, consistency."""

from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, stats

from bayesduel.errors import ChoiceWorldError, UnknownNameError
from bayesduel.instances import choice
from bayesduel.instances.choice.random_tables import uniform_below
from theory.choice.regret import SUBSET_REGRET_NOTIONS, subset_cost
from theory.choice.tables import ChoiceTable, find_inconsistency, find_order_violation

FALSE_ALARM = 1e-5

PUBLISHED = {
    "camera": (6, 3, 20),
    "mnl": (20, 10, 184756),
    "random-utility": (20, 5, 15504),
    "preference-pairs": (10, 2, 45),
    "random-table:seed=3": (10, 5, 252),
    "exclusive-gap:special=2": (10, 3, 120),
    "independent-gap:special=2": (10, 3, 120),
}
"""Arms, size of a set, number of sets."""


def no_choice(world, arms):
    return 1.0 - float(world.probabilities(arms).sum())


def regret(world, notion, arms):
    cost = world.cost(notion)
    offered = world.mask(arms)
    questions = offered | (cost.values == 1) if cost.form == "preferred" else offered
    probabilities = world.rule.probabilities(questions)
    return float(subset_cost(cost.form, offered, probabilities, cost.best, cost.values))


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_set_has_probabilities_and_the_best_is_the_declared_one(name):
    world = choice.load_world(name)
    arms, size, count = PUBLISHED[name]
    assert (world.num_arms, world.subset_size) == (arms, size)
    table = world.table()
    assert len(table.sets) == count
    assert table.probabilities.min() >= 0
    if world.feedback == "winner":
        assert table.totals.max() <= 1 + 1e-12
    # Ties aside, the set with the largest expected reward.
    assert table.totals[table.best_row] == pytest.approx(table.totals.max())
    declared = world.probabilities(world.best_set).sum()
    assert float(declared) == pytest.approx(table.totals.max(), abs=1e-12)
    assert world.best_set == table.best_set
    # Weak optimal set consistency.
    assert find_inconsistency(table) is None


def test_which_worlds_have_a_total_order():
    small = "mnl:num_arms=7,subset_size=3"
    assert find_order_violation(choice.load_world(small).table()) is None
    for name in ("camera", "preference-pairs", "random-table:seed=3"):
        assert find_order_violation(choice.load_world(name).table()) is not None


def test_camera():
    world = choice.camera()
    assert world.arm_names[3] == "digital camera"
    table = world.table()
    with_dc = (table.sets == 3).any(axis=1)
    np.testing.assert_allclose(table.totals[with_dc], 0.85)
    assert np.sort(table.totals[~with_dc])[-2:] == pytest.approx([0.66, 0.90])
    assert table.gap == pytest.approx(0.05)
    probabilities = table.by_arm()[:, 3]
    assert np.nanmin(probabilities) == pytest.approx(0.20)
    assert np.nanmax(probabilities) == pytest.approx(0.83)
    assert regret(world, "expected_reward", (0, 1, 3)) == pytest.approx(0.05)
    assert regret(world, "no_choice", (0, 4, 5)) == pytest.approx(0.90 - 0.37)


def test_mnl():
    world = choice.mnl()
    np.testing.assert_allclose(world.rule.weights, 1 - 0.04 * np.arange(1, 21))
    best, worst = tuple(range(10)), tuple(range(10, 20))
    assert world.best_set == best
    assert no_choice(world, best) == pytest.approx(0.1136364, abs=5e-8)
    assert no_choice(world, worst) == pytest.approx(0.2083333, abs=5e-8)
    for notion in ("mnl_no_choice", "no_choice", "expected_reward", "revenue"):
        assert regret(world, notion, worst) == pytest.approx(0.0946970, abs=5e-8)
        assert regret(world, notion, best) == pytest.approx(0.0, abs=1e-15)


def test_random_utility():
    world = choice.random_utility()
    best, worst = tuple(range(5)), tuple(range(15, 20))
    assert world.best_set == best
    assert world.probabilities(best)[:5] == pytest.approx(
        [0.11617, 0.10887, 0.10196, 0.09540, 0.08919], abs=6e-6
    )
    assert no_choice(world, best) == pytest.approx(0.488405, abs=6e-7)
    assert world.probabilities(worst)[15:] == pytest.approx(
        [0.07317, 0.06828, 0.06368, 0.05933, 0.05524], abs=6e-6
    )
    assert no_choice(world, worst) == pytest.approx(0.680308, abs=6e-7)
    assert regret(world, "utility_sum", worst) == pytest.approx(3.0)
    assert regret(world, "utility_sum", best) == pytest.approx(0.0)


@pytest.mark.parametrize("outside", [None, 0.3])
def test_gaussian_choice_against_adaptive_quadrature(outside):
    """Far apart and close together."""
    means = np.array([0.0, 3.1, 0.4, -2.5])
    world = choice.gaussian_utility(means, 3, no_choice_mean=outside)
    assert world.has_no_choice == (outside is not None)
    for arms in ((0, 1, 3), (3,)):
        result = world.probabilities(arms)
        for arm in arms:
            others = [means[j] for j in arms if j != arm]
            others += [] if outside is None else [outside]

            def density(x, arm=arm, others=others):
                below = np.prod([stats.norm.cdf(x - m) for m in others])
                return stats.norm.pdf(x - means[arm]) * below

            expected, _ = integrate.quad(density, -12, 14, epsabs=1e-13, limit=200)
            assert result[arm] == pytest.approx(expected, abs=1e-12)
        if outside is None:
            assert result.sum() == pytest.approx(1.0, abs=1e-12)


def test_preference_pairs():
    world = choice.preference_pairs()
    assert world.best_set == (0, 1)
    table = world.table()
    assert no_choice(world, (0, 1)) == pytest.approx(0.08)
    for arms in combinations(range(10), 2):
        expected = 0.0 if arms == (0, 1) else 0.02
        assert regret(world, "no_choice", arms) == pytest.approx(expected, abs=1e-12)
    assert world.probabilities((0, 1))[:2] == pytest.approx([0.47, 0.45])
    for arm in range(3, 10):
        assert world.probabilities((2, arm))[2] == pytest.approx(0.675)
    # 5 over 4 over 3 over ... in zero-based arms: 4 over 3, 5 over 4, 3 over 5.
    for winner, loser in ((4, 3), (5, 4), (3, 5)):
        probabilities = world.probabilities((winner, loser))
        assert probabilities[winner] - probabilities[loser] == pytest.approx(0.30)
    by_arm = table.by_arm()
    assert np.nanmin(by_arm[1:, 0]) == pytest.approx(0.475)
    assert np.nanmin(by_arm[:, 1][1:]) == pytest.approx(0.475)


def test_lower_bound_worlds():
    exclusive = choice.exclusive_gap(7, 3, 0.1, special=2)
    assert exclusive.best_set == (2, 5, 6)
    assert exclusive.probabilities((0, 2, 6))[[0, 2, 6]] == pytest.approx(
        [0.15, 0.25, 0.25]
    )
    independent = choice.independent_gap(7, 3, 0.1, special=2)
    assert independent.best_set == (2, 5, 6)
    for world in (exclusive, independent):
        assert world.table().gap == pytest.approx(0.1)
        assert regret(world, "expected_reward", (0, 1, 3)) == pytest.approx(0.3)


# D.4


def test_random_table_draws_the_best_set_first():
    world = choice.load_world("random-table:num_arms=6,subset_size=3,seed=7")
    again = choice.load_world("random-table:num_arms=6,subset_size=3,seed=7")
    other = choice.load_world("random-table:num_arms=6,subset_size=3,seed=8")
    assert world == again and world.checksum == again.checksum and world != other
    assert world.best_set == (0, 1, 2)
    assert world.table().probabilities.max() <= 1 / 3


@pytest.mark.parametrize("total", [0.25, 0.9])
def test_points_of_the_random_table_have_the_distribution_of_plain_rejection(total):
    """Below 0.25 the simplex is the smaller proposal, below 0.9 the box is."""
    widths = np.array([0.2, 0.5, 0.35])
    rng = np.random.default_rng(70)
    ours = np.array([uniform_below(rng, widths, total) for _ in range(2000)])
    box = rng.uniform(0.0, widths, (400_000, 3))
    plain = box[box.sum(axis=1) <= total][:6000]
    assert len(plain) == 6000
    for ours_1d, plain_1d in (
        *zip(ours.T, plain.T, strict=True),
        (ours.sum(axis=1), plain.sum(axis=1)),
        (ours @ [1, -1, 2], plain @ [1, -1, 2]),
    ):
        assert stats.ks_2samp(ours_1d, plain_1d).pvalue > FALSE_ALARM / 5


# Regret


def test_notions_by_hand():
    weights = [0.5, 0.8, 0.2, 0.4]
    pl = choice.multinomial_logit(weights, 2, no_choice_weight=0.0)
    assert pl.default_notion == "winner"
    assert regret(pl, "winner", (0, 1)) == pytest.approx(0.8 - 0.65)
    assert regret(pl, "winner", (1,)) == 0.0
    assert regret(pl, "topk", (2, 3)) == pytest.approx((1.3 - 0.6) / 2)
    # 2 p(b) - p(0) - p(3) in {0, 1, 3}, with b = 1 and the sum of weights 1.7.
    expected = (2 * 0.8 - 0.5 - 0.4) / 1.7
    assert regret(pl, "choice_bandit", (0, 3)) == pytest.approx(expected)
    assert regret(pl, "choice_bandit", (1,)) == pytest.approx(0.0)
    # {1, 3}: p(b) - p(1) = 0 and p(b) - p(3).
    assert regret(pl, "choice_bandit", (1, 3)) == pytest.approx((0.8 - 0.4) / 1.2)
    rewards = choice.independent_rewards([0.5, 0.9, 0.1], 2, levels=4, largest_reward=3)
    assert regret(rewards, "topk_means", (0, 2)) == pytest.approx(3 * (1.4 - 0.6))
    assert regret(rewards, "expected_reward", (0, 2)) == pytest.approx(3 * 0.8)


def test_largest_revenue_by_enumeration():
    rng = np.random.default_rng(71)
    for _ in range(10):
        weights, revenues = rng.uniform(0.05, 1, 6), rng.uniform(0, 1, 6)
        world = choice.multinomial_logit(weights, 3, revenues=revenues.tolist())
        values = [
            np.sum(world.probabilities(arms) * revenues)
            for size in (1, 2, 3)
            for arms in combinations(range(6), size)
        ]
        assert world.cost("revenue").best == pytest.approx(max(values))


WORLDS = {
    "logit": choice.multinomial_logit([0.5, 0.8, 0.2, 0.4, 0.7], 3),
    "revenue": choice.multinomial_logit(
        [0.5, 0.8, 0.2, 0.4, 0.7], 3, revenues=[0.9, 0.05, 0.8, 1.0, 0.3]
    ),
    "somebody": choice.multinomial_logit([0.5, 0.8, 0.2, 0.4], 3, no_choice_weight=0),
    "whole": choice.multinomial_logit([0.5, 0.8, 0.2, 0.4], 4, no_choice_weight=0.1),
    "single": choice.multinomial_logit([0.5, 0.8, 0.2, 0.4], 1),
    "ranked": choice.plackett_luce([0.5, 0.8, 0.2, 0.4], 3),
    "utility": choice.gaussian_utility([0.3, -0.9, 1.4, -0.1, 0.2], 3),
    "probit": choice.gaussian_utility([0.3, 0.9, 1.4, 0.1], 2, no_choice_mean=0.5),
    "rewards": choice.independent_rewards([0.5, 0.9, 0.1], 2, levels=4,
                                          largest_reward=3),
    "camera": choice.camera(),
    "pairs": choice.preference_pairs(),
}  # fmt: skip


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_the_worst_round_by_enumeration(world):
    least = 1 if world.rule.allows_fewer else world.subset_size
    sets = [
        arms
        for size in range(least, world.subset_size + 1)
        for arms in combinations(range(world.num_arms), size)
    ]
    for notion in world.notions:
        most = max(regret(world, notion, arms) for arms in sets)
        result = world.most_regret_per_round(notion)
        assert result == pytest.approx(most, rel=1e-12, abs=1e-12)
        assert result >= 0


def test_the_worst_round_is_unknown_where_the_rule_is():
    class Own(choice.ChoiceRule):
        num_arms, has_no_choice, values = 3, False, None

        def probabilities(self, offered):
            return np.where(offered, 1 / 3, 0.0)

    class Sets(choice.ChoiceWorld):
        best_set = (0, 1)

    world = Sets(rule=Own(), subset_size=2)
    assert world.most_regret_per_round("expected_reward") is None
    with pytest.raises(ChoiceWorldError, match="does not exist here"):
        world.most_regret_per_round("winner")


def test_every_notion_exists_somewhere():
    names = set()
    for name in PUBLISHED:
        world = choice.load_world(name)
        assert world.default_notion in world.notions
        names |= set(world.notions)
    names |= set(choice.multinomial_logit([0.5, 0.2], 1, no_choice_weight=0.0).notions)
    names |= set(choice.independent_rewards([0.5, 0.2], 1).notions)
    assert names == set(SUBSET_REGRET_NOTIONS)


# Names and bad input


def test_names():
    for name in choice.world_names():
        text = name + (":seed=1" if name == "random-table" else "")
        world = choice.load_world(text)
        assert world.name == text
        assert choice.is_world_name(text)
        assert world.source
        assert choice.describe_world(name).title
    assert not choice.is_world_name("cyclic")


TABLE = ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.3, 0.0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: choice.mnl(4, 5), "subset_size must be at most 4.* 4 arms"),
        (lambda: choice.mnl(30), "all 30 weights"),
        (lambda: choice.multinomial_logit([0.5, -0.1], 1), r"weights\[1\].*-0.1"),
        (lambda: choice.multinomial_logit([0.5], 1, no_choice_weight=-1), "no_choice"),
        (lambda: choice.multinomial_logit([0.5, 1], 1, revenues=[1]), "revenues"),
        (lambda: choice.gaussian_utility([0.5, np.nan], 1), r"means\[1\].*got nan"),
        (lambda: choice.gaussian_utility([0.0, 2e4], 1), "differ by at most 10000"),
        (lambda: choice.independent_rewards([0.5, 1.2], 1), r"means\[1\].*1.2"),
        (lambda: choice.independent_rewards([0.5], 1, levels=0), "levels"),
        (lambda: choice.plackett_luce([0.5, 0.2, 0.1], 2, depth=2), "depth"),
        (lambda: choice.exclusive_gap(5, 2, 0.4), "gap must be from 0 to below 1/3"),
        (lambda: choice.exclusive_gap(5, 2, 0.1, special=4), "first 4 arms"),
        (lambda: choice.choice_table(TABLE, feedback="ranking"), "ranking"),
        (
            lambda: choice.choice_table(
                ChoiceTable([[0, 1], [1, 2]], [[0.5, 0.3]] * 2)
            ),
            r"all 3 sets .* \(0, 2\) is missing",
        ),
        (
            lambda: choice.choice_table(
                ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.7, 0.4], [0, 0]])
            ),
            r"those of \(0, 2\) add up to 1.1",
        ),
    ],
)
def test_impossible_worlds(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_probabilities_above_one_are_fine_for_independent_rewards():
    table = ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.9, 0.9], [0.7, 0.4], [0, 0]])
    world = choice.choice_table(table, feedback="independent")
    assert not world.has_no_choice


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ((0, 0), "arm 0 is there more than once"),
        ((0, 3), "from 0 to 2"),
        ((0,), "must be a set of 2 to 2 arms"),
    ],
)
def test_sets_that_cannot_be_offered(arms, words):
    with pytest.raises(ChoiceWorldError, match=words):
        choice.choice_table(TABLE).probabilities(arms)


def test_unknown_names_and_notions():
    with pytest.raises(UnknownNameError, match="did you mean camera"):
        choice.load_world("camara")
    with pytest.raises(ValueError, match="needs seed"):
        choice.load_world("random-table")
    with pytest.raises(ChoiceWorldError, match="does not exist here; camera has"):
        choice.camera().cost("utility_sum")
    with pytest.raises(ChoiceWorldError, match="none of subset choice"):
        choice.camera().cost("copeland")
    with pytest.raises(ChoiceWorldError, match="at most 200000 sets"):
        choice.mnl(40, 10, top=2.0).table()
