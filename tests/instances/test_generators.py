"""Generated matrices by formula: against closed forms, enumeration and quadrature."""

import itertools
import re
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from bayesduel import instances
from bayesduel.instances import generators
from bayesduel.instances.generators import GeneratedInstance

UTILITIES = (0.9, 0.6, 0.35, 0.3, 0.05)

# One call of every generator that shuffles. Sizes of 5 where there is a choice.
SHUFFLING: dict[str, Callable[..., GeneratedInstance]] = {
    "linear_order": lambda rng, **o: generators.linear_order(rng, 5, 0.1, **o),
    "geometric_order": lambda rng, **o: generators.geometric_order(rng, 5, **o),
    "equal_gap": lambda rng, **o: generators.equal_gap(rng, 5, 0.2, **o),
    "hard_condorcet": lambda rng, **o: generators.hard_condorcet(rng, 5, **o),
    "mallows": lambda rng, **o: generators.mallows(rng, 5, 0.7, **o),
    "bradley_terry": lambda rng, **o: generators.bradley_terry(rng, UTILITIES, **o),
    "from_utilities": lambda rng, **o: generators.from_utilities(rng, UTILITIES, **o),
    "rum_gaussian": lambda rng, **o: generators.rum_gaussian(rng, UTILITIES, **o),
}
DRAWING: dict[str, Callable[..., GeneratedInstance]] = {
    "uniform_random": lambda rng, **o: generators.uniform_random(rng, 5, **o),
    "syn_btl": lambda rng, **o: generators.syn_btl(rng, 5, **o),
    "syn_cd": lambda rng, **o: generators.syn_cd(rng, 5, **o),
}


def _unshuffled(name):
    return SHUFFLING[name](None, shuffle=False).matrix.values


@pytest.mark.parametrize("name", SHUFFLING)
def test_permutation_says_which_arm_stands_where(name):
    values = _unshuffled(name)
    instance = SHUFFLING[name](np.random.default_rng(7))
    permutation = instance.permutation
    assert permutation.dtype == np.int64
    assert sorted(permutation.tolist()) == list(range(5))
    # A permutation that is not its own inverse, so that the direction is tested.
    assert (permutation[permutation] != np.arange(5)).any()
    for a, b in itertools.product(range(5), repeat=2):
        assert instance.matrix.values[a, b] == values[permutation[a], permutation[b]]
    assert SHUFFLING[name](None, shuffle=False).permutation.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", [*SHUFFLING, *DRAWING])
def test_same_seed_same_instance(name):
    make = (SHUFFLING | DRAWING)[name]
    first = make(np.random.default_rng(8))
    again = make(np.random.default_rng(8))
    other = make(np.random.default_rng(9))
    assert first.matrix == again.matrix
    assert first.permutation.tolist() == again.permutation.tolist()
    assert first.matrix != other.matrix
    assert first.matrix.name
    assert first.matrix.source


def test_a_generator_is_needed_where_something_is_random():
    for make in (SHUFFLING | DRAWING).values():
        with pytest.raises(TypeError, match=r"pass numpy\.random\.default_rng\(0\)"):
            make(None)
        with pytest.raises(
            TypeError, match=r"got 3; pass numpy\.random\.default_rng\(3"
        ):
            make(3)
    for make in DRAWING.values():
        with pytest.raises(TypeError, match="rng must be a numpy.random.Generator"):
            make(None, shuffle=False)


def test_linear_order_is_arithmetic():
    instance = generators.linear_order(None, 8, 0.05, shuffle=False)
    np.testing.assert_allclose(
        instance.matrix.values, instances.load("arithmetic").values, rtol=0, atol=1e-15
    )


def test_linear_order_at_and_beyond_the_limit():
    # 0.1 * 5 and 5/14 * 1.4 end exactly or nearly at 1/2.
    for num_arms, step in ((6, 0.1), (15, 1 / 28), (8, 1 / 14)):
        values = generators.linear_order(None, num_arms, step, shuffle=False).matrix
        assert values.values[0, -1] == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ValueError, match=r"step must be at most .* = 0\.1 for 6 arms"):
        generators.linear_order(None, 6, 0.11, shuffle=False)
    clipped = generators.linear_order(None, 6, 0.2, clip=True, shuffle=False).matrix
    assert clipped.values[0].tolist() == pytest.approx([0.5, 0.7, 0.9, 1, 1, 1])
    assert clipped.satisfies_sst()


def test_equal_gap_and_hard_condorcet():
    values = _unshuffled("equal_gap")
    upper = np.triu_indices(5, 1)
    assert (values[upper] == 0.7).all()
    values = generators.hard_condorcet(None, 6, shuffle=False).matrix.values
    for i, j in itertools.combinations(range(1, 7), 2):
        assert values[i - 1, j - 1] == pytest.approx(0.5 + j / 12, abs=1e-15)
    assert values[0, 1] == pytest.approx(0.5 + 1 / 6, abs=1e-15)


@pytest.mark.parametrize("phi", [0.0, 0.5])
@pytest.mark.parametrize("num_arms", [2, 5])
def test_mallows_against_all_rankings(num_arms, phi):
    """A ranking weighs phi to the number of pairs that it turns around."""
    beats = np.zeros((num_arms, num_arms))
    total = 0.0
    for ranking in itertools.permutations(range(num_arms)):
        pairs = list(itertools.combinations(ranking, 2))
        weight = phi ** sum(first > second for first, second in pairs)
        total += weight
        for first, second in pairs:
            beats[first, second] += weight
    expected = beats / total
    np.fill_diagonal(expected, 0.5)
    values = generators.mallows(None, num_arms, phi, shuffle=False).matrix.values
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("phi", ["0.3", "0.999999"])
def test_mallows_against_the_closed_form_in_fifty_digits(phi):
    values = generators.mallows(None, 60, float(phi), shuffle=False).matrix.values
    with mpmath.workdps(50):
        exact = mpmath.mpf(float(phi))
        for m in (1, 2, 10, 59):
            closed = (m + 1) / (1 - exact ** (m + 1)) - m / (1 - exact**m)
            assert values[0, m] == pytest.approx(float(closed), rel=1e-13)


def test_bradley_terry():
    weights = np.array(UTILITIES)
    values = generators.bradley_terry(None, weights, shuffle=False).matrix.values
    expected = weights[:, None] / (weights[:, None] + weights[None, :])
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-15)
    x = np.log(weights)
    logistic = 1 / (1 + np.exp(-(x[:, None] - x[None, :])))
    np.testing.assert_allclose(values, logistic, rtol=0, atol=1e-15)
    # Scale does not matter, even where w_i + w_j overflows or underflows.
    for scale in (1e308, 1e-300):
        scaled = generators.bradley_terry(None, scale * weights, shuffle=False).matrix
        np.testing.assert_allclose(scaled.values, expected, rtol=0, atol=1e-12)
    extreme = generators.bradley_terry(None, [1e300, 1e-300, 1e-300], shuffle=False)
    assert extreme.matrix.values.tolist() == [[0.5, 1, 1], [0, 0.5, 0.5], [0, 0.5, 0.5]]
    assert extreme.matrix.ties == [(1, 2)]


@pytest.mark.parametrize("link", generators.LINKS)
def test_links(link):
    v = np.array(UTILITIES)
    instance = generators.from_utilities(None, UTILITIES, link=link, shuffle=False)
    formulas = {
        "linear": lambda a, b: (1 + a - b) / 2,
        "natural": lambda a, b: a / (a + b),
        "logit": lambda a, b: 1 / (1 + np.exp(b - a)),
    }
    expected = formulas[link](v[:, None], v[None, :])
    np.testing.assert_allclose(instance.matrix.values, expected, rtol=0, atol=1e-15)


def test_utility_profiles():
    profiles = generators.UTILITY_PROFILES
    assert {len(profile) for profile in profiles.values()} == {16}
    assert [profiles["1good"].count(v) for v in (0.8, 0.2)] == [1, 15]
    assert [profiles["2good"].count(v) for v in (0.8, 0.7, 0.2)] == [1, 1, 14]
    assert [profiles["6good"].count(v) for v in (0.8, 0.7, 0.2)] == [1, 5, 10]
    steps = np.diff(profiles["arith"][1:])
    np.testing.assert_allclose(steps, -0.5 / 14, rtol=1e-12)
    ratios = np.array(profiles["geo"][2:]) / profiles["geo"][1:-1]
    np.testing.assert_allclose(ratios, (2 / 7) ** (1 / 14), rtol=1e-12)
    for name in ("arith", "geo"):
        assert profiles[name][0] == 0.8
        assert profiles[name][1] == pytest.approx(0.7, abs=1e-15)
        assert profiles[name][-1] == pytest.approx(0.2, abs=1e-15)
    matrix = generators.from_utilities(None, "2good", shuffle=False).matrix
    assert matrix.values[0, 1] == pytest.approx(0.55, abs=1e-15)
    assert len(matrix.ties) == 14 * 13 // 2
    assert matrix.condorcet_winner == 0


def test_geometric_order():
    for link in generators.LINKS:
        made = generators.geometric_order(
            None, 6, top=0.9, ratio=0.5, link=link, shuffle=False
        )
        utilities = [0.9 * 0.5**i for i in range(6)]
        same = generators.from_utilities(None, utilities, link=link, shuffle=False)
        np.testing.assert_allclose(
            made.matrix.values, same.matrix.values, rtol=0, atol=1e-15
        )
    default = generators.geometric_order(None, 3, shuffle=False).matrix.values
    assert default[0, 1] == pytest.approx((1 + 0.8 - 0.64) / 2, abs=1e-15)


def test_rum_gaussian_against_quadrature():
    """P(X_i > X_j) for independent normals of variance 1, as an integral."""
    means = [1.3, 0.2, 0.0, -2.5]
    values = generators.rum_gaussian(None, means, shuffle=False).matrix.values
    for i, j in itertools.permutations(range(4), 2):

        def density(x, i=i, j=j):
            return stats.norm.pdf(x - means[i]) * stats.norm.cdf(x - means[j])

        expected, error = integrate.quad(density, -14, 14, epsabs=1e-12, limit=200)
        assert error < 1e-10
        assert values[i, j] == pytest.approx(expected, abs=1e-10)


def test_zoghi500():
    matrix = generators.zoghi500()
    counts = (matrix.values > 0.5).sum(axis=1)
    assert counts.tolist() == [498, 498, 498, *range(496, -1, -1)]
    assert matrix.copeland_winners == (0, 1, 2)
    assert matrix.condorcet_winner is None
    # 0 beats 1 beats 2 beats 0.
    assert matrix.values[[0, 1, 2], [1, 2, 0]].tolist() == [0.75] * 3
    assert set(np.unique(matrix.values)) == {0.25, 0.5, 0.75}
    small = generators.zoghi500(num_arms=7, p_win=0.6)
    assert small.wins.tolist() == [5, 5, 5, 3, 2, 1, 0]
    assert small.values.max() == 0.6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generators.linear_order(None, 1, 0.1), "num_arms must be an integer"),
        (lambda: generators.linear_order(None, 2.5, 0.1), "at least 2, got 2.5"),  # type: ignore
        (lambda: generators.linear_order(None, 3, 0), "step must be positive, got 0"),
        (lambda: generators.equal_gap(None, 3, 0.51), "gap must be in (0, 1/2], got 0"),
        (lambda: generators.mallows(None, 3, 1.0), "phi must be in [0, 1), got 1.0"),
        (lambda: generators.bradley_terry(None, [1, 0]), "weights[1] must be positive"),
        (lambda: generators.bradley_terry(None, [1]), "at least 2 numbers"),
        (lambda: generators.from_utilities(None, [0.5, 1.1]), "got 1.1; rescale"),
        (lambda: generators.from_utilities(None, "9good"), "one of the profiles"),
        (
            lambda: generators.from_utilities(None, [0.5, 0.0], link="natural"),
            "utilities[1] must be positive, got 0.0",
        ),
        (
            lambda: generators.from_utilities(None, [0.5, 0.1], link="probit"),
            "link must be one of linear, natural, logit, got 'probit'",
        ),
        (lambda: generators.geometric_order(None, 3, ratio=1.0), "ratio must be in (0"),
        (lambda: generators.geometric_order(None, 3, top=1.5), "top must be in (0, 1]"),
        (lambda: generators.rum_gaussian(None, [1.0]), "means must be a vector of at"),
        (
            lambda: generators.zoghi500(2),
            "num_arms must be an integer of at least 3",
        ),
        (lambda: generators.zoghi500(5, 0.5), "p_win must be in (1/2, 1], got 0.5"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
