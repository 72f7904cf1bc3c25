"""The slow twins of the RMED family: hand-made traces, brute force, constants."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.reference import matrices
from tests.reference.common import bernoulli_divergence, duels_of
from tests.reference.efficient_copeland_winner_rmed import (
    EfficientCopelandRMED,
    efficient_allocation,
    families,
    suffices,
    winners,
)
from tests.reference.rmed1 import RMED1

MATRICES = {
    "mslr5": matrices.MSLR5_CONDORCET,
    "gap": matrices.GAP,
    "cyclic": matrices.CYCLIC,
    "multisol": matrices.MULTISOL,
    "arithmetic": matrices.ARITHMETIC,
    "non-condorcet": matrices.MSLR5_NON_CONDORCET,
}


# --- RMED1 -------------------------------------------------------------------------


def test_rmed1_allowance():
    twin = RMED1(6, np.random.default_rng(0))
    assert twin.allowance == pytest.approx(1.8325423, abs=5e-8)


def test_rmed1_trace():
    """Three arms, the lower index always wins; I_1 and I_2 are multiples of log 2.

    The test I_j <= log t + 0.9099 uses the statistics after the duel and its index:
    at t = 12 arm 2 has 5 log 2 = 3.466 > 3.395 and is left out, at t = 13 (after the
    self-duel) 3.466 <= 3.475 and it enters the next pass before arm 1.
    """
    sweep = [(0, 1), (0, 2), (1, 2)]
    full_pass = [(0, 0), (1, 0), (2, 0)]
    expected = sweep + 3 * full_pass + [(0, 0), (1, 0)] + [(0, 0), (2, 0), (1, 0)]
    outcomes = np.ones((3, 3, 20), dtype=bool)
    twin = RMED1(3, np.random.default_rng(0))
    assert duels_of(twin, outcomes, 17) == expected
    assert twin.recommend() == 0


def test_rmed1_opponent():
    twin = RMED1(4, np.random.default_rng(0))
    # Arm 3 loses to 1 only, and i* = 0 does not beat it: the smallest mean decides.
    twin.wins = [[0, 5, 5, 0], [0, 0, 5, 3], [0, 0, 0, 1], [1, 2, 3, 0]]
    assert twin._opponent(3) == 1
    # A mean of exactly 1/2 counts as a loss, and ties go to the lowest position. Arm 0
    # is i*, does not beat itself, and has superiors: it meets its smallest mean.
    twin.wins = [[0, 2, 2, 2], [2, 0, 2, 2], [2, 2, 0, 2], [2, 2, 2, 0]]
    assert [twin._opponent(i) for i in range(4)] == [1, 0, 0, 0]


# --- ECW-RMED ----------------------------------------------------------------------


def instance(preference):
    """Return signs, divergences and cost per pair of a preference matrix."""
    preference = np.asarray(preference)
    num_arms = len(preference)
    signs = tuple(map(tuple, np.sign(preference - preference.T).astype(int).tolist()))
    divergence = np.array(
        [[bernoulli_divergence(p, 0.5) for p in row] for row in preference]
    )
    losses = np.array([row.count(-1) for row in signs])
    regret = (losses[:, None] + losses[None, :] - 2 * losses.min()) / 2 / (num_arms - 1)
    upper = np.triu_indices(num_arms, 1)
    # A tied pair belongs to no constraint, any cost will do.
    cost = regret[upper] / np.where(divergence[upper] > 0, divergence[upper], 1)
    return signs, divergence, cost


def random_preference(rng, num_arms, num_ties=0):
    upper = np.triu(rng.uniform(0.05, 0.95, (num_arms, num_arms)), 1)
    for pair in rng.permutation(list(combinations(range(num_arms), 2)))[:num_ties]:
        upper[tuple(pair)] = 0.5
    return upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(num_arms)


def optimum(rows, cost):
    result = linprog(cost, A_ub=-rows.astype(float), b_ub=-np.ones(len(rows)))
    assert result.status == 0
    return result.fun


@pytest.mark.parametrize(
    ("name", "lower_bound", "efficient"),
    [
        ("cyclic", 27.548665, 49.663496),
        ("gap", 11.024943, 1252.510763),
        ("multisol", 3.242630, 3.242630),
        ("mslr5", 66.769318, 66.769318),
        ("arithmetic", None, 36.3205),  # Four digits after the point are known.
    ],
)
def test_published_constants(name, lower_bound, efficient):
    signs, divergence, cost = instance(MATRICES[name])
    for winner in winners(signs):
        value, evidence = efficient_allocation(signs, divergence, winner)
        assert value == pytest.approx(efficient, rel=2e-6)
        pairs = np.triu_indices(len(signs), 1)
        assert evidence[pairs] @ cost == pytest.approx(value, rel=1e-12)
        if lower_bound is not None:
            assert optimum(families(signs, winner), cost) == pytest.approx(
                lower_bound, rel=1e-6
            )


def test_equal_costs_go_to_the_lowest_index():
    # Rival 4 beats the winner 0 and loses to 1 and 2 at the same cost c; evidence 1
    # on one pair and 1/2 on both cost the same. The smallest number of pairs wins.
    signs, divergence, _ = instance(matrices.GAP)
    _, evidence = efficient_allocation(signs, divergence, 0)
    assert evidence[4].tolist() == [0, 1, 0, 0, 0]


def reversals(signs, winner):
    """Return all sets of reversed pairs after which `winner` is none any more."""
    num_arms = len(signs)
    pairs = np.array(list(combinations(range(num_arms), 2)))
    bits = np.arange(2 ** len(pairs))[:, None] >> np.arange(len(pairs)) & 1 > 0
    first = np.array([signs[i][j] for i, j in pairs])
    bits = bits[~np.any(bits[:, first == 0], axis=1)]
    after = np.where(bits, -first, first)
    losses = np.zeros((len(bits), num_arms), dtype=int)
    for k, (i, j) in enumerate(pairs):
        losses[:, i] += after[:, k] < 0
        losses[:, j] += after[:, k] > 0
    return bits[losses[:, winner] > losses.min(axis=1)]


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_templates_are_the_minimal_reversals(num_arms):
    """Least evidence over H and O equals least evidence over all sets of reversals."""
    rng = np.random.default_rng(num_arms)
    for trial in range(12):
        num_ties = trial % 3 if num_arms > 3 else 0
        signs, _, _ = instance(random_preference(rng, num_arms, num_ties))
        for winner in winners(signs):
            rows, every = families(signs, winner), reversals(signs, winner)
            assert len(rows) > 0
            for _ in range(10):
                evidence = rng.exponential(size=rows.shape[1]) * (
                    rng.random(rows.shape[1]) < 0.8
                )
                least = (rows @ evidence).min()
                assert least == pytest.approx((every @ evidence).min(), abs=1e-12)


@pytest.mark.parametrize("num_arms", [3, 4, 5, 6])
def test_efficient_allocation_solves_its_program(num_arms):
    rng = np.random.default_rng(10 + num_arms)
    for trial in range(25):
        preference = random_preference(rng, num_arms, trial % 3)
        if trial % 2:  # Repeated costs.
            preference = 0.5 + 0.2 * np.sign(preference - 0.5)
        signs, divergence, cost = instance(preference)
        pairs = list(combinations(range(num_arms), 2))
        least = min(row.count(-1) for row in signs)
        for winner in winners(signs):
            value, evidence = efficient_allocation(signs, divergence, winner)
            wanted = [{winner, j} for j in range(num_arms) if signs[winner][j] > 0]
            rows = [[set(pair) == each for pair in pairs] for each in wanted]
            for rival in range(num_arms):
                beaten_by = [j for j in range(num_arms) if signs[rival][j] < 0]
                size = len(beaten_by) - least + 1
                for O in combinations(set(beaten_by) - {winner}, size):  # noqa: E741
                    if rival != winner:
                        rows.append(
                            [rival in p and bool({*p} & {*O} - {rival}) for p in pairs]
                        )
            flat = np.array([evidence[pair] for pair in pairs])
            rows = np.array(rows, dtype=bool).reshape(-1, len(pairs))
            assert np.all(rows @ flat >= 1 - 1e-12)
            assert value == pytest.approx(flat @ cost, rel=1e-9, abs=1e-12)
            assert value == pytest.approx(optimum(rows, cost), rel=1e-9, abs=1e-12)
            assert suffices(signs, winner, flat)


def test_ecw_trace_of_two_arms():
    """Arm 0 always wins; forced draws at N < 3 sqrt(log t), self-duels otherwise."""
    outcomes = np.ones((2, 2, 40), dtype=bool)
    twin = EfficientCopelandRMED(2, np.random.default_rng(0))
    duels = duels_of(twin, outcomes, 3000)
    draws = [t for t, duel in enumerate(duels, 1) if duel == (0, 1)]
    # Four forced draws and the first list; forced once log t exceeds (N / 3)^2, at 17
    # and 55. Then the test is what ends: N log 2 >= log t holds up to t = 2^N (there
    # by the slack), fails after the self-duel of 2^N + 1, and the pair comes next.
    assert draws == [1, 2, 3, 4, 5, 17, 55, 130, 258, 514, 1026, 2050]
    assert twin.recommend() == 0


def test_ecw_test_uses_the_round_just_played():
    """With alpha 0.1 the only limit is N log 2 >= max(1, log t)."""
    outcomes = np.ones((2, 2, 40), dtype=bool)
    twin = EfficientCopelandRMED(2, np.random.default_rng(0), alpha=0.1)
    duels = duels_of(twin, outcomes, 40)
    draws = [t for t, duel in enumerate(duels, 1) if duel == (0, 1)]
    # Round 1 is forced; 2 is the list. Two wins suffice up to log t = 2 log 2, t = 4;
    # round 5 is a self-duel whose test fails and asks for the pair, then for (0, 0).
    # 8 is 2^3: three wins suffice up to rounding, which the slack of 1e-12 forgives.
    assert draws == [1, 2, 6, 10, 18, 34]
    assert duels[4] == (0, 0)


def test_ecw_list_of_a_cycle():
    """Three winners, all costs zero: lowest position, pairs in order, then (i, i)."""
    twin = EfficientCopelandRMED(3, np.random.default_rng(0))
    twin.wins[:] = [[0, 2, 1], [1, 0, 2], [2, 1, 0]]
    twin.rounds = 1000
    assert twin._wanted() == [(0, 1), (1, 2), (0, 0)]
    twin.wins[0, 1] = 400  # Enough evidence there, not elsewhere.
    assert twin._wanted() == [(1, 2), (0, 0)]
    twin.wins[1, 2] = 400
    # Arm 0 is safe whatever the third pair, which only it could lose more by.
    assert twin._wanted() == [(0, 0)]


def test_ecw_does_not_ask_again_for_pairs_still_in_the_list():
    twin = EfficientCopelandRMED(3, np.random.default_rng(0), alpha=0.1)
    twin.wins[:] = [[0, 400, 1], [1, 0, 9], [2, 1, 0]]
    twin.rounds = 1000
    assert twin._wanted() == [(1, 2), (0, 0)]
    twin.current = [(0, 1), (1, 2), (0, 0)]
    twin.remaining = list(twin.current)
    for first, second in [(0, 1), (1, 2)]:
        assert twin.choose() == (first, second)
        twin.update(first, second, first_won=True)
        assert twin.following == []
        twin.wins[1, 2] = 400
    assert twin.choose() == (0, 0)
    twin.update(0, 0, first_won=True)
    assert twin.current == twin.remaining == [(0, 0)]


def test_ecw_takes_the_winner_that_passes():
    twin = EfficientCopelandRMED(3, np.random.default_rng(0))
    twin.wins[:] = [[0, 2, 0], [1, 0, 400], [400, 0, 0]]
    twin.rounds = 1000
    assert twin._wanted() == [(1, 1)]
    assert twin.recommend() == 1
    twin.wins[0, 1] = 400
    assert twin._wanted() == [(0, 0)]  # Both pass now: the lower position.


def test_ecw_takes_the_cheaper_winner():
    # Losses 1, 1, 2, 2; arm 0 beats 2 and 3 narrowly, arm 1 beats 0 and 3 clearly.
    twin = EfficientCopelandRMED(4, np.random.default_rng(0))
    twin.wins[:] = [[0, 1, 6, 6], [9, 0, 1, 9], [5, 9, 0, 1], [5, 1, 9, 0]]
    twin.rounds = 5000
    signs, divergence = twin._signs(), np.full((4, 4), 1.0)
    assert winners(signs) == [0, 1]
    for i, j in combinations(range(4), 2):
        mean = twin.wins[i, j] / (twin.wins[i, j] + twin.wins[j, i])
        divergence[i, j] = divergence[j, i] = bernoulli_divergence(mean, 0.5)
    costs = [efficient_allocation(signs, divergence, arm)[0] for arm in (0, 1)]
    assert costs[1] < costs[0]
    # Full evidence on (1, 0) and (1, 3). Rival 0: its only superior is the winner.
    # Rivals 2 and 3 have |O| = 2 and 1, k = 2 - 2 = 0 and 1 - 2 < 0: the cheaper one of
    # (2, 0), nearly even, and (2, 3).
    assert twin._wanted() == [(0, 1), (1, 3), (2, 3), (1, 1)]


def test_ecw_over_explored_pairs_do_not_fail_the_test():
    twin = EfficientCopelandRMED(3, np.random.default_rng(0))
    twin.wins[:] = [[0, 10**6, 900], [0, 0, 700], [0, 0, 0]]
    twin.rounds = 2000
    assert twin._wanted() == [(0, 0)]


def test_ecw_forced_draws():
    twin = EfficientCopelandRMED(3, np.random.default_rng(0), alpha=0.5, beta=0.2)
    assert twin._due_pair() == (0, 1)
    twin.wins[:] = [[0, 30, 0], [20, 0, 5], [0, 0, 0]]
    twin.rounds = 54
    assert twin._due_pair() == (0, 1)  # |0.6 - 1/2| < 0.2 / log log 55
    # log log t = 2 at t = exp(exp(2)) = 1618.2.
    twin.rounds = 1617
    assert twin._due_pair() == (0, 1)
    twin.rounds = 1618
    assert twin._due_pair() == (0, 2)
    twin.wins[0, 2] = 2
    assert twin._due_pair() is None
    twin.rounds = 10**7  # 0.5 sqrt(log t) = 2.007
    assert twin._due_pair() == (0, 2)
    twin.beta = 0.0
    twin.wins[0, 1] = 20
    assert twin._due_pair() == (0, 1)  # A mean of exactly 1/2.
