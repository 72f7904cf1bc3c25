"""The smaller posterior tail against integers and multiple precision."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from bayesduel.models.in_policies import scalar_betas
from bayesduel.models.in_policies.scalar_betas import TABLE_SIZE, tails_by_duels
from tests.compiling import called_compiled

RELATIVE_ERROR = 5e-12
SMALLEST_CHECKED = 1e-30
"""Tails below this never make an event; they may be anything small."""


def kernel(name):
    """Compile a part of kernels, so that Python may call it."""
    return called_compiled(getattr(scalar_betas, name))


def computed(wins, losses):
    """Evaluate the tails one by one, as float64."""
    tail, table = kernel("smaller_half_tail"), scalar_betas.tail_table()
    pairs = zip(np.asarray(wins).tolist(), np.asarray(losses).tolist(), strict=True)
    return np.array([tail(min(pair), sum(pair), table) for pair in pairs])


def exact_tails(duels):
    """Return P(Bin(duels + 1, 1/2) <= w) for w = 0 .. duels // 2 as integers.

    All of them are numerators over 2^(duels + 1).
    """
    terms = itertools.accumulate(
        range(1, duels // 2 + 1), lambda term, w: term * (duels + 2 - w) // w, initial=1
    )
    return list(itertools.accumulate(terms))


def relative_error(value, numerator, exponent):
    """|value - numerator / 2^exponent| in units of the latter, without rounding."""
    top, bottom = float(value).as_integer_ratio()
    return abs((top << exponent) - numerator * bottom) / (numerator * bottom)


def check_against_integers(*numbers_of_duels):
    """Compare all tails that are not too small, in one call; return their number."""
    cases = []
    for duels in numbers_of_duels:
        # 1e-30 in units of 2^-(duels + 1), rounded down.
        least = 2 ** (duels + 1) // 10**30
        cases += [
            (w, duels, numerator)
            for w, numerator in enumerate(exact_tails(duels))
            if numerator >= least
        ]
    wins = np.array([w for w, _, _ in cases])
    duels = np.array([n for _, n, _ in cases])
    for (w, n, numerator), tail in zip(
        cases, computed(wins, duels - wins), strict=True
    ):
        error = relative_error(tail, numerator, n + 1)
        assert error < RELATIVE_ERROR, (w, n - w, tail, error)
    return len(cases)


def test_whole_table_is_exact():
    """Every pair of counts with fewer than TABLE_SIZE duels, down to 1e-30."""
    assert check_against_integers(*range(TABLE_SIZE)) > 20_000


def test_tails_are_off_by_one_rounding_per_duel():
    """Those that tables are made of, for all counts."""
    for duels, tails in enumerate(tails_by_duels(2 * TABLE_SIZE)):
        if duels % 7 == 0:
            exact = np.array([w / 2 ** (duels + 1) for w in exact_tails(duels)])
            bound = (duels + 1) * 2.0**-53
            np.testing.assert_allclose(tails, exact, rtol=bound, atol=0)
    assert duels == 2 * TABLE_SIZE - 1


@pytest.mark.parametrize("duels", [0, 1, 2, 511, 2047, 2048])
def test_tails_of_kernels_match_integers(duels):
    """Read from their table or, beyond its borders, expanded."""
    tail, table = kernel("smaller_half_tail"), scalar_betas.tail_table()
    borders = (0, 1, 2, 254, 255, 256, 257, 300)
    numerators, checked = exact_tails(duels), 0
    for behind in borders:
        fewer = duels // 2 - behind
        if fewer >= 0:
            error = relative_error(
                tail(fewer, duels, table), numerators[fewer], duels + 1
            )
            assert error < RELATIVE_ERROR or 2**300 * numerators[fewer] < 2**duels
            checked += 1
    assert checked == sum(behind <= duels // 2 for behind in borders)


def test_logarithms_of_tails_reach_below_every_number():
    """Against multiple precision, up to a million duels; to 1e-12 relatively."""
    logarithm, table = kernel("log_half_tail"), scalar_betas.tail_table()
    rng = np.random.default_rng(31)
    totals = 10.0 ** rng.uniform(0.4, 6, 60)
    shares = np.concatenate([rng.uniform(0, 0.5, 20), rng.uniform(0, 0.1, 20),
                             rng.uniform(0, 2, 20) / np.sqrt(totals[40:])])  # fmt: skip
    smallest = 0.0
    for index, (total, share) in enumerate(zip(totals, shares, strict=True)):
        fewer = max(1.0, total * (0.5 - min(share, 0.5)))
        more = max(total - fewer, fewer)
        if index % 2:
            fewer, more = round(fewer), round(more)
        a, b = mpmath.mpf(more), mpmath.mpf(fewer)
        with mpmath.workdps(40):
            # DLMF 8.17.8.
            exact = mpmath.log(mpmath.hyp2f1(1, a + b, a + 1, 0.5) / a / 2 ** (a + b))
            exact -= mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        result = logarithm(float(more), float(fewer), table)
        assert result == pytest.approx(float(exact), rel=1e-12, abs=1e-11)
        smallest = min(smallest, result)
    assert smallest < -10_000


def test_expansion_matches_integers():
    sizes = (TABLE_SIZE, TABLE_SIZE + 1, 600, 777, 1000, 1501, 2500, 4001)
    assert check_against_integers(*sizes) > 1000


def multiple_precision_tail(wins, losses):
    """Sum the positive series downwards from the largest term, with 40 digits."""
    with mpmath.workdps(40):
        n = wins + losses
        log_term = (
            mpmath.loggamma(n + 2)
            - mpmath.loggamma(wins + 1)
            - mpmath.loggamma(losses + 2)
            - (n + 1) * mpmath.log(2)
        )
        total, term, k = mpmath.mpf(0), mpmath.mpf(1), wins
        while term > mpmath.mpf(10) ** -22 * (1 + total):
            total += term
            term = term * k / (n + 2 - k)
            k -= 1
        return mpmath.exp(log_term) * total


def test_multiple_precision_agrees_with_integers():
    """The yardstick of the next test, checked where integers reach."""
    for w in (300, 450, 500):
        exact = exact_tails(1000)[w]
        tail = multiple_precision_tail(w, 1000 - w)
        assert abs(tail * mpmath.mpf(2) ** 1001 / exact - 1) < 1e-15


# Standard deviations by which the pair lags; 11.4 leaves a tail of 2e-30.
LAGS = (0.0, 0.05, 0.7, 2.0, 5.0, 9.0, 11.4)


@pytest.mark.parametrize("duels", [10_000, 999_999])
def test_expansion_matches_multiple_precision(duels):
    wins = [int((duels - lag * math.sqrt(duels)) / 2) for lag in LAGS]
    tails = computed(wins, [duels - w for w in wins])
    for w, tail in zip(wins, tails, strict=True):
        exact = multiple_precision_tail(w, duels - w)
        assert exact > SMALLEST_CHECKED
        assert abs(tail / exact - 1) < RELATIVE_ERROR, (w, duels - w, tail)


def test_far_tails_are_small_and_never_negative():
    wins = np.array([0, 0, 0, 10, 1000, 4_000_000])
    losses = np.array([300, 600, 10_000_000, 2000, 9_999, 6_000_000])
    tails = computed(wins, losses)
    assert np.all(tails >= 0.0)
    assert np.all(tails < SMALLEST_CHECKED)


def rates(first, second):
    """Return -log P(theta < 1/2) and -log P(theta > 1/2), of parameters one by one."""
    tail, table = kernel("half_tail"), scalar_betas.tail_table()
    both = [
        kernel("rates_above_half")(a, b, tail(a, b, table))
        for a, b in zip(map(float, first), map(float, second), strict=True)
    ]
    below, above = np.array(both).T
    return above, below


COUNTS = (
    np.array([0, 1, 4, 9, 12, 250, 300, 800, 3000, 0]),
    np.array([0, 0, 6, 9, 5, 280, 290, 700, 3300, 40]),
)


def test_rates_are_logarithms_of_the_two_tails():
    """rate_above = -log P(theta < 1/2), rate_below = -log P(theta > 1/2)."""
    wins, losses = COUNTS
    above, below = rates(wins + 1, losses + 1)
    for w, l, a, b in zip(wins, losses, above, below, strict=True):  # noqa: E741
        with mpmath.workdps(30):
            small = multiple_precision_tail(int(min(w, l)), int(max(w, l)))
            # P(theta > 1/2) is the small one for the arm that is behind.
            likely = -mpmath.log(small), -mpmath.log1p(-small)
        expected = likely if w > l else likely[::-1]
        assert a == pytest.approx(float(expected[0]), rel=1e-11), (w, l)
        assert b == pytest.approx(float(expected[1]), rel=1e-11), (w, l)


def test_rates_are_finite_and_positive_far_out():
    """A rate of 0 would forbid the event, an infinite one would spoil sums."""
    above, below = rates([1, 10_000_001], [10_000_001, 1])
    assert np.all(np.isfinite(above)) and np.all(np.isfinite(below))
    assert above[0] >= 0.0 and below[0] > 60.0
    assert below[1] >= 0.0 and above[1] > 60.0


LOPSIDED = [(0, 0), (0, 1), (0, 100), (0, 1000), (10, 1000), (3, 30), (250, 256),
          (255, 256), (200, 320), (100, 412), (300, 340), (480, 520), (700, 1000),
          (999, 1000), (1000, 1000)]  # fmt: skip
"""On all sides of where the expansion begins, and far below what it can say."""


@pytest.mark.parametrize("prior", [1e-3, 0.5, 1.5, 1.0])
def test_tails_of_kernels_match_logarithms_of_scipy(prior):
    """Whatever the prior, and as far as a number goes: some are near 1e-300."""
    tail, table = kernel("half_tail"), scalar_betas.tail_table()
    parameters = np.array(LOPSIDED) + prior
    result = [
        [tail(*parameter, table), tail(*parameter[::-1], table)]
        for parameter in parameters
    ]
    expected = stats.beta.logsf(0.5, *parameters.T)
    # Beyond its table, tails of integers below 1e-33 may be anything small.
    checked = expected > (math.log(SMALLEST_CHECKED) if prior == 1.0 else -math.inf)
    assert checked.sum() >= 10
    np.testing.assert_allclose(
        np.log(result)[checked], np.stack([expected] * 2, axis=1)[checked], atol=5e-12
    )
