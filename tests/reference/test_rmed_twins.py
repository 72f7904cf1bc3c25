"""The slow twins of the RMED family: hand-made traces and constants."""

import numpy as np
import pytest

from bayesduel import policies
from tests.policies.kernel_driving import play_kernel
from tests.policies.replaying import first_difference
from tests.reference import matrices
from tests.reference.common import bernoulli_divergence, duels_of
from tests.reference.efficient_copeland_winner_rmed import (
    EfficientCopelandRMED,
    efficient_allocation,
    suffices,
    winners,
)
from tests.reference.rmed1 import RMED1
from tests.theory.matrices import REFERENCE, gaps_of, random_matrix
from theory.copeland_program import ecw_costs, ecw_evidence

MATRICES = REFERENCE | {"arithmetic": matrices.ARITHMETIC}
# Values of the efficient program; the last has four digits after the point.
PRINTED = {
    "cyclic": 49.663496,
    "gap": 1252.510763,
    "multisol": 3.242630,
    "mslr5": 66.769318,
    "arithmetic": 36.3205,
}


# --- RMED1 -------------------------------------------------------------------------


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


# --- ECW-RMED ----------------------------------------------------------------------


def instance(preference):
    """Return signs and divergences of a preference matrix."""
    gaps = preference - np.asarray(preference).T
    signs = tuple(map(tuple, np.sign(gaps).astype(int).tolist()))
    rows = [[bernoulli_divergence(p, 0.5) for p in row] for row in preference]
    return signs, np.array(rows)


@pytest.mark.parametrize("name", PRINTED)
def test_printed_constants(name):
    signs, divergence = instance(MATRICES[name])
    for winner in winners(signs):
        value, _ = efficient_allocation(signs, divergence, winner)
        assert value == pytest.approx(PRINTED[name], rel=2e-6)


def test_allocation_is_that_of_the_theory():
    rng = np.random.default_rng(10)
    for trial in range(40):
        # Repeated costs in every second one.
        grid = [0.2] if trial % 2 else None
        preference = random_matrix(rng, 3 + trial % 4, grid=grid)
        for pair in rng.integers(len(preference), size=(trial % 3, 2)):
            preference[tuple(pair)] = preference[tuple(pair[::-1])] = 0.5
        signs, divergence = instance(preference)
        gaps = gaps_of(preference)
        for winner in winners(signs):
            value, evidence = efficient_allocation(signs, divergence, winner)
            assert value == pytest.approx(ecw_costs(gaps)[winner], rel=1e-9, abs=1e-12)
            assert evidence == pytest.approx(ecw_evidence(gaps, winner), abs=1e-9)
            flat = evidence[np.triu_indices(len(gaps), 1)]
            assert suffices(signs, winner, flat)


def test_equal_costs_go_to_the_lowest_index():
    # Rival 4 beats the winner 0 and loses to 1 and 2 at the same cost c; evidence 1
    # on one pair and 1/2 on both cost the same. The smallest number of pairs wins.
    signs, divergence = instance(matrices.GAP)
    _, evidence = efficient_allocation(signs, divergence, 0)
    assert evidence[4].tolist() == [0, 1, 0, 0, 0]


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


def test_the_first_winner_of_a_cycle_is_taken_by_twin_and_kernel(in_python):
    """Three winners whose evidence suffices for all of them at once."""
    outcomes = np.ones((3, 3, 100), dtype=bool)
    outcomes[0, 2] = False
    duels = duels_of(EfficientCopelandRMED(3, np.random.default_rng(0)), outcomes, 60)
    assert {first for first, second in duels if first == second} == {0}
    kernel = policies.get("ecw-rmed").scalar_kernel()
    assert first_difference(play_kernel(kernel, outcomes, 60).duels, duels) is None
