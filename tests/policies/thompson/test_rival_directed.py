"""RD-TS, state by state, against the list of all worlds of a rival."""

from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import xlog1py, xlogy

import bayesduel
from bayesduel import policies
from bayesduel.policies.thompson._rival_worlds import (
    decisive_signs,
    dethroning_chances,
    dethroning_slopes,
    sample_world,
    signs_of_pairs,
)
from bayesduel.policies.thompson.rival_directed import expected_divergence
from tests.compiling import quick_jit
from tests.policies.laws import chi_square
from tests.policies.random_states import LATEST, tell
from tests.reference import RivalDirected

FALSE_ALARM = 1e-5
"""Of one test, all states together."""

OPTIONS = [
    {},
    {"flips_only": False},
    {"doubts": 0.5},
    {"cost": "duels"},
    {"eta": 1.0, "floor": 0.5, "prior": 1, "doubts": 0.0},
    {"pairs": "gradient"},
    {"pairs": "gradient", "flips_only": False, "prior": 1},
]
QUICK = (OPTIONS[0], OPTIONS[4], OPTIONS[5])
"""The usual form, one with other numbers, and one that no kernel plays."""


def random_wins(num_arms, index):
    """Return counts: none, even, few, lopsided, or of a noisy circle of arms."""
    rng = np.random.default_rng([70, num_arms, index])
    most = (0, 2, 8, 40, 300)[index % 5]
    duels = rng.integers(most // 2, most + 1, (num_arms, num_arms))
    place = np.roll(np.arange(num_arms), index)
    ahead = (place[None, :] - place[:, None]) % num_arms <= num_arms // 2
    spread = (0.2, 0.9)[index // 5 % 2]
    preference = np.clip(0.5 + spread * (ahead - 0.5), 0.05, 0.95)
    if index % 3 == 2:
        preference = np.where(rng.random(ahead.shape) < 0.5, 1.0, preference)
    won = np.triu(rng.binomial(duels, preference), 1)
    wins = won + np.triu(duels - won, 1).T
    if index % 4 == 3:
        wins[0, 1] = wins[1, 0] = most // 2
    return wins


def twin_of(wins, leader=None, seed=0, **options):
    """Return the twin in a state, with a leader of one's choice if it has several."""
    twin = RivalDirected(len(wins), np.random.default_rng(seed), **options)
    twin.wins = np.array(wins)
    twin.derive()
    while leader is not None and twin.leader != leader:
        assert twin.cheapest_leaders()[leader]
        twin.derive()
    return twin


chances = quick_jit(dethroning_chances)
slopes_of = quick_jit(dethroning_slopes)


@partial(quick_jit, static_argnames="flips_only")
def signs_of(chance, is_ahead, leader, *, flips_only):
    pairs = signs_of_pairs(chance, is_ahead, flips_only=flips_only)
    return decisive_signs(pairs, leader)


def decisive(wins, leader, prior=5, *, flips_only=True):
    """Return the signs that the policy would work with."""
    counts = wins + prior
    chance = stats.beta.sf(0.5, counts, counts.T) * (1 - np.eye(len(wins)))
    given = jnp.asarray(chance), jnp.asarray(wins > wins.T), jnp.int32(leader)
    return signs_of(*given, flips_only=flips_only)


def worlds_as_rows(twin, rival):
    """Return weights and signs of the twin's worlds, in the rows of the policy."""
    num_arms = twin.num_arms
    rows = []
    for i, j in twin.decisive_pairs(rival):
        direct = (i, j) == (rival, twin.leader)
        rows.append(0 if direct else 1 + j if i == rival else 1 + num_arms + i)
    weights = np.array([weight for weight, _ in twin.worlds[rival]])
    signs = np.zeros((len(weights), 2 * num_arms + 1), dtype=bool)
    signs[:, rows] = np.array([world for _, world in twin.worlds[rival]])
    return weights, signs


@pytest.mark.parametrize("flips_only", [True, False])
@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_chances_are_sums_over_worlds(num_arms, flips_only):
    """To 1e-12 relatively: only positive terms are added, also at chances of 1e-80."""
    with jax.enable_x64(True):
        for index in range(15):
            twin = twin_of(random_wins(num_arms, index), flips_only=flips_only)
            signs = decisive(twin.wins, twin.leader, flips_only=flips_only)
            found = chances(signs, jnp.int32(twin.leader))
            expected = [
                sum(weight for weight, _ in twin.worlds.get(rival, []))
                for rival in range(num_arms)
            ]
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_states_are_of_all_kinds():
    """Even pairs, certain ones, chances from above 1/2 to below 1e-30."""
    twins = [twin_of(random_wins(4, index)) for index in range(15)]
    totals = [twin.explores() / twin.c for twin in twins]
    assert min(totals) < 1e-10
    assert max(totals) >= 0.2
    upper = np.triu_indices(4, 1)
    assert any((twin.wins == twin.wins.T)[upper].any() for twin in twins)
    assert any(twin.cheapest_leaders().sum() > 1 for twin in twins)
    assert any((twin.wins < twin.wins.T)[twin.leader].any() for twin in twins)


@pytest.mark.parametrize("flips_only", [True, False])
def test_worlds_have_their_law(flips_only):
    """Chi-square over all worlds of a rival; 12 states, all rivals."""
    number, p_values = 20_000, []
    with jax.enable_x64(True):
        draw = quick_jit(jax.vmap(sample_world, in_axes=(0, None)))
        for index in range(12):
            twin = twin_of(random_wins(4, index), flips_only=flips_only)
            signs = decisive(twin.wins, twin.leader, flips_only=flips_only)
            rng = np.random.default_rng([71, index])
            for rival in twin.worlds:
                own = jax.tree.map(lambda leaf, rival=rival: leaf[:, rival], signs)
                drawn = np.asarray(draw(jnp.asarray(rng.random((number, 9))), own))
                weights, rows = worlds_as_rows(twin, rival)
                same = np.all(drawn[:, None, :] == rows[None, :, :], axis=2)
                assert np.all(same.sum(axis=1) == 1)
                p_values.append(chi_square(same.sum(axis=0), weights / weights.sum()))
    assert min(p_values) > FALSE_ALARM / len(p_values)


@pytest.mark.parametrize("num_arms", [2, 4, 5])
def test_slopes_are_derivatives(num_arms):
    """By raising one chance and lowering its complement: exact, Phi being linear."""
    step = 0.125
    with jax.enable_x64(True):
        for index in range(10):
            twin = twin_of(random_wins(num_arms, index), flips_only=False)
            signs = decisive(twin.wins, twin.leader, flips_only=False)
            slopes = np.asarray(slopes_of(signs))
            leader, rivals = jnp.int32(twin.leader), np.arange(num_arms) != twin.leader
            before = np.asarray(chances(signs, leader))
            for row in range(2 * num_arms + 1):
                moves = np.zeros((2 * num_arms + 1, 1))
                moves[row] = step
                moved = signs._replace(
                    favorable=jnp.asarray(np.asarray(signs.favorable) + moves),
                    unfavorable=jnp.asarray(np.asarray(signs.unfavorable) - moves),
                )
                gain = np.asarray(chances(moved, leader)) - before
                np.testing.assert_allclose(
                    slopes[row, rivals], gain[rivals] / step, atol=1e-13
                )


@pytest.mark.parametrize(
    ("won", "lost"), [(1, 1), (5, 5), (2.5, 3), (40, 7), (1, 900), (2e4, 2.01e4)]
)
def test_divergence_is_the_mean_over_the_posterior(won, lost):
    law = stats.beta(won, lost)

    def weighted(theta):
        gap = np.log(2) + xlogy(theta, theta) + xlog1py(1 - theta, -theta)
        return gap * law.pdf(theta)

    around = law.mean() + law.std() * np.arange(-9, 10, 3)
    edges = np.unique(np.clip([0, *around, 1], 0, 1))
    inside = sum(
        integrate.quad(weighted, low, high, epsabs=0, epsrel=1e-10)[0]
        for low, high in zip(edges[:-1], edges[1:], strict=True)
    )
    with jax.enable_x64(True):
        found = float(expected_divergence(jnp.float64(won), jnp.float64(lost)))
    assert found == pytest.approx(inside, rel=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(each, marks=[pytest.mark.slow] * (each not in QUICK))
        for each in OPTIONS
    ],
    ids=str,
)
def test_a_round_has_the_law_of_the_twin(options):
    """The pair of a round that explores, and how often it does, in 12 states."""
    policy = policies.get("rd-ts", **options)
    number, p_values = 3_000, []
    with jax.enable_x64(True):
        for index in range(12):
            state = tell(policy, jnp.asarray(random_wins(4, index)), jnp.int64(9))
            twin = twin_of(random_wins(4, index), int(state.leader), index, **options)
            keys = jax.random.split(jax.random.key(index), number)
            duels = answers(policy, keys, state)
            waits = np.asarray(duels.exploit_rounds)
            p_values.append(chi_square(*waiting_counts(twin.explores(), waits)))
            p_values.append(chi_square(*pair_counts(twin, duels)))
    assert min(p_values) > FALSE_ALARM / len(p_values)


@quick_jit
def leaders(policy, keys, state):
    """Draw a leader by every key."""
    draw = jax.vmap(policy._leader, in_axes=(0, None, None))
    return draw(keys, state.beliefs, state.divergence)


@quick_jit
def answers(policy, keys, state):
    """Ask the policy once by every key."""
    return jax.vmap(lambda key: policy.choose(key, state, jnp.int64(9))[0])(keys)


def waiting_counts(chance, waits):
    """Return how many stretches fall between quantiles, and the share that should."""
    # Of a certain event SciPy takes the logarithm of 0.
    law = stats.geom(min(chance, 1 - 1e-12), loc=-1)
    # No stretch is longer than the longest horizon.
    longest = np.minimum(law.ppf([0.2, 0.4, 0.6, 0.8]), LATEST // 2)
    edges = np.unique(np.append(longest, -1))
    counts = np.bincount(np.searchsorted(edges, waits) - 1, minlength=len(edges))
    return counts, np.diff(np.append(law.cdf(edges), 1.0))


def pair_counts(twin, duels):
    """Return how often each pair was asked for, and how often it should be."""
    num_arms = twin.num_arms
    counts = np.zeros((num_arms, num_arms))
    np.add.at(counts, (np.asarray(duels.first), np.asarray(duels.second)), 1)
    expected = np.zeros_like(counts)
    if twin.pairs == "gradient":
        # Ties are broken at random: the twin is asked until all have been seen.
        for _ in range(200):
            expected[twin.steepest_pair()] += 1
        expected = (expected > 0) / np.count_nonzero(expected)
        return (counts + counts.T)[np.triu_indices(num_arms)], (
            (expected + expected.T)[np.triu_indices(num_arms)]
        )
    total = sum(weight for worlds in twin.worlds.values() for weight, _ in worlds)
    for rival, worlds in twin.worlds.items():
        doubtful = twin.doubtful_pairs(rival)
        for weight, world in worlds:
            flipped = twin.worths(rival, world)
            for doubts in product((True, False), repeat=len(doubtful)):
                chance = weight / total
                values = dict(flipped)
                for (i, j), doubted in zip(doubtful, doubts, strict=True):
                    chance *= twin.chance[j, i] if doubted else twin.chance[i, j]
                    if doubted:
                        values[i, j] = twin.doubts * twin.per_cost(i, j)
                for pair, value in (values or {(rival, twin.leader): 1.0}).items():
                    expected[pair] += chance * value / sum(values.values() or [1.0])
    upper = np.triu_indices(num_arms)
    return (counts + counts.T)[upper], (expected + expected.T)[upper]


def test_the_cheapest_of_the_best_leads():
    """Every leader the policy draws is one of the twin's, and each of them is drawn."""
    policy = policies.get("rd-ts")
    several = 0
    with jax.enable_x64(True):
        for index in range(30):
            wins = random_wins(5, index)
            marked = twin_of(wins).cheapest_leaders()
            state = tell(policy, jnp.asarray(wins), jnp.int64(1))
            keys = jax.random.split(jax.random.key(index), 200)
            drawn = np.asarray(leaders(policy, keys, state))
            np.testing.assert_array_equal(
                np.isin(np.arange(5), drawn), marked, err_msg=str(index)
            )
            several += marked.sum() > 1
    assert several >= 3


def test_the_label_names_what_is_changed():
    assert policies.get("rd-ts").label == "RD-TS"
    assert policies.get("rd-ts", prior=1).label == "RD-TS:prior=1"
    assert policies.parse("rd-ts:prior=1,c=10").label == "RD-TS:c=10.0,prior=1"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"c": 0.0}, "c must be"),
        ({"eta": -0.1}, "eta must be"),
        ({"floor": 0.0}, "floor must be"),
        ({"doubts": -1.0}, "doubts must be"),
        ({"pairs": "all"}, "pairs must be one of flipped, gradient"),
    ],
)
def test_bad_parameters_are_named(options, text):
    with pytest.raises(bayesduel.errors.PolicyParameterError, match=text):
        bayesduel.simulate("cyclic", policies.get("rd-ts", **options), horizon=10)
