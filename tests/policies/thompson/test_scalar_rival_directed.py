"""The kernel of RD-TS: what it keeps up to date, and the distribution of its rounds."""

import inspect
from functools import cache
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest
from scipy import special

import theory
from bayesduel import policies
from bayesduel.ops.scalar.compiler import cached_program
from bayesduel.ops.scalar.digamma import digamma
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies.parameter_values import with_prices
from bayesduel.policies.scalar_kernel import init, update
from tests.compiling import called_compiled
from tests.policies.distributions import chi_square, pair_table
from tests.policies.thompson.test_rival_directed import (
    pair_counts,
    random_wins,
    twin_of,
    waiting_counts,
)
from tests.policies.thompson.test_scalar_rounds import ask

FALSE_ALARM = 1e-5
"""False-alarm rate of one test, all features together."""


def tell(state, rng, duels):
    """Tell a fresh state what came of some duels, (first, second, won)."""
    init(state, rng)
    for row in range(len(duels)):
        update(state, rng, row + 1, duels[row, 0], duels[row, 1], duels[row, 2] > 0)


def state_after(num_arms, seed, number, **options):
    """Return the state after random duels that some arms always win."""
    rng = np.random.default_rng([80, num_arms, seed])
    first = rng.integers(0, num_arms, number)
    second = (first + rng.integers(1, num_arms, number)) % num_arms
    sure = rng.random() < 0.5
    won = rng.random(number) < np.where(first < second, 1.0 if sure else 0.7, 0.0)
    kernel = policies.get("rd-ts", **options).scalar_kernel()
    state = kernel.new_state(np.arange(num_arms), 10**6)
    run_uncompiled(tell, state, rng, np.stack([first, second, won], axis=1))
    return state


def dethroning_probabilities(pairs, leader, *, flips_only):
    """Return the probability of each rival: only positive terms are added."""
    num_arms, result = len(pairs), np.zeros(len(pairs))
    for rival in set(range(num_arms)) - {leader}:
        others = set(range(num_arms)) - {leader, rival}
        rows = [(rival, leader, 2)] + [(rival, item, 1) for item in others]
        distribution = np.ones(1)
        for i, j, points in rows + [(item, leader, 1) for item in others]:
            sure = flips_only and pairs["lead"][i, j] > 0
            signs = np.zeros(points + 1)
            signs[0] = 0.0 if sure else pairs["probability"][j, i]
            signs[-1] = 1.0 if sure else pairs["probability"][i, j]
            distribution = np.convolve(distribution, signs)
        result[rival] = distribution[num_arms:].sum()
    return result


@pytest.mark.parametrize("flips_only", [True, False])
@pytest.mark.parametrize("num_arms", [2, 3, 5])
def test_probabilities_are_sums_over_worlds(num_arms, flips_only):
    """To 1e-12 relatively, also at probabilities of 1e-80."""
    for index in range(10):
        state = state_after(num_arms, index, 25 * index, flips_only=flips_only)
        leader = int(state.now["leader"][0])
        twin = twin_of(state.pairs["wins"], leader, flips_only=flips_only)
        expected = [
            sum(weight for weight, _ in twin.worlds.get(rival, []))
            for rival in range(num_arms)
        ]
        np.testing.assert_allclose(state.arms["weight"], expected, rtol=1e-11)


@pytest.mark.parametrize("flips_only", [True, False])
@pytest.mark.parametrize("num_arms", [4, 9])
def test_probabilities_are_kept_up_to_date(num_arms, flips_only):
    """After each of some duels, all probabilities, to 1e-10 relatively."""
    seen = set()
    for number in (0, 1, 2, 5, 20, 60, 400):
        state = state_after(num_arms, number, number, flips_only=flips_only)
        leader, result = int(state.now["leader"][0]), state.arms["weight"]
        expected = dethroning_probabilities(state.pairs, leader, flips_only=flips_only)
        np.testing.assert_allclose(result, expected, rtol=1e-10)
        assert state.now["total"][0] == pytest.approx(result.sum(), rel=1e-12)
        seen.add(leader)
    assert len(seen) >= 2


def test_pairs_are_kept_up_to_date():
    """Tails, divergences and losses, also where one arm has always won."""
    for number in (0, 7, 400):
        state = state_after(5, number, number)
        wins = state.pairs["wins"]
        others = ~np.eye(5, dtype=bool)
        tails = special.betainc(wins.T + 5, wins + 5, 0.5)
        np.testing.assert_allclose(
            state.pairs["probability"][others], tails[others], rtol=1e-12
        )
        won = wins + 5.0
        total = special.psi(won + won.T + 1.0)
        terms = won / (won + won.T) * (special.psi(won + 1.0) - total)
        divergence = np.log(2.0) + terms + terms.T
        np.testing.assert_allclose(
            state.pairs["divergence"][others], divergence[others], rtol=1e-9
        )
        lead = np.sign(wins - wins.T)
        np.testing.assert_array_equal(state.arms["losses"], (1 - lead).sum(axis=1) - 1)


NUM_DRAWS = 20_000


@cache
def asking():
    return cached_program(ask, f"ask-rival-{crc32(inspect.getsource(ask).encode()):x}")


def priced(num_arms):
    """Return options with prices of arms that differ by the square of their places."""
    prices = theory.pair_prices(1.0 + np.arange(num_arms) ** 2.0)
    return {"cost": "prices", "prices": prices}


def round_of_kernel(wins, prices=None, **options):
    """Ask the kernel for the round after some duels, often; return its leader, too."""
    policy = with_prices(policies.get("rd-ts", **options), prices)
    state = policy.scalar_kernel().new_state(np.arange(len(wins)), 10**6)
    winners = np.argwhere(wins)
    duels = np.repeat(winners, wins[tuple(winners.T)], axis=0)
    values = np.zeros((NUM_DRAWS, 5), dtype=np.int64)
    rng, shares = np.random.default_rng(82), np.zeros(len(wins), dtype=np.int64)
    asking()(state, rng, duels, len(duels) + 1, values, shares)
    _, idle, first, second, explores = values.T
    mine = explores == 1
    duels = SimpleNamespace(first=first[mine], second=second[mine])
    return int(state.now["leader"][0]), idle, duels


@pytest.mark.parametrize(
    "options",
    [{}, {"flips_only": False}, {"cost": "duels"}, {"cost": "prices"}, {"prior": 1.5},
     {"pairs": "gradient", "flips_only": False, "prior": 1},
     {"eta": 1.0, "floor": 0.5, "prior": 1, "doubts": 0.5, "c": 10.0}],
    ids=str,
)  # fmt: skip
def test_a_round_has_the_distribution_of_the_twin(options):
    """The pair of a round that explores, and how often it does, in 12 states."""
    p_values = []
    if options.get("cost") == "prices":
        options = priced(4)
    for index in range(12):
        wins = random_wins(4, index)
        leader, idle, duels = round_of_kernel(wins, **options)
        twin = twin_of(wins, leader, index, **options)
        p_values.append(chi_square(*waiting_counts(twin.explores(), idle)))
        p_values.append(chi_square(*pair_counts(twin, duels)))
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def test_another_rate_is_noticed():
    """Negative control: exploring a tenth less; another weight of past duels."""
    for wrong in ({"c": 4.5}, {"eta": 0.3}):
        p_values = []
        for index in range(12):
            wins = random_wins(4, index)
            leader, idle, duels = round_of_kernel(wins, **wrong)
            twin = twin_of(wins, leader, index)
            p_values.append(chi_square(*waiting_counts(twin.explores(), idle)))
            p_values.append(chi_square(*pair_counts(twin, duels)))
        assert min(p_values) < 1e-9, wrong


def test_digamma():
    """To 1e-14 of 1, from the smallest parameters on."""
    points = np.concatenate([np.linspace(1, 30, 117), np.geomspace(30, 1e9, 50)])
    result = list(map(called_compiled(digamma), points))
    np.testing.assert_allclose(result, special.psi(points), rtol=1e-14, atol=1e-14)


def test_duels_go_on_when_probabilities_are_too_small_for_numbers():
    """Outcomes that were always the same make them vanish; no arm meets itself."""
    wins = np.triu(np.full((3, 3), 1500), 1)
    leader, idle, duels = round_of_kernel(wins, cost="duels")
    assert leader == 0 and not idle.any()
    counts = pair_table(duels.first, duels.second, 3)
    assert counts.sum() == NUM_DRAWS and counts.trace() == 0
