"""What the proofs for subset choice say, and which bounds follow from them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.theorems import subset_gap_bound, subset_gap_free_bound

# The proof of Theorem 3.


def sums_of_proof(probabilities, gap):
    """4 delta_ij (Delta_j + gap) / (Delta_i + gap)^2 for i <= j."""
    p = np.asarray(probabilities)
    deltas = np.array([(p[i] - p[i:]).sum() for i in range(p.size)])
    differences = np.triu(p[:, None] - p[None, :])
    return 4 * differences * (deltas[None, :] + gap) / (deltas[:, None] + gap) ** 2


@given(st.integers(0, 10**6), st.integers(2, 12), st.floats(-6, 0))
def test_lemma_15(seed, size, exponent):
    rng = np.random.default_rng(seed)
    p = np.sort(rng.uniform(0, 1, size) ** rng.choice([1, 5]))[::-1]
    assert sums_of_proof(p, 10**exponent).sum(axis=1).max() <= 2 + 1e-9


def test_lemma_13_needs_the_other_sum():
    # All arms but the last are equal (up to what "strictly decreasing" asks).
    for size in (5, 10, 40):
        p = np.append(0.3 + 1e-9 * np.arange(size - 1)[::-1], 0.2)
        last = sums_of_proof(p, 0.1).sum(axis=0)[-1]
        assert last == pytest.approx(size - 1, rel=1e-5)
        assert last > 2


def test_forms_of_the_gap_bound():
    def coefficient(k, form):
        return subset_gap_bound(100, k, 0.1, form=form).log_coefficient

    for k in range(1, 30):
        unit = 2.0 * 100 / 0.1
        # Lemma 8 for the last arm, with the constant 40 of Lemma 7.
        first = 2 * math.sqrt(2 * k * 100 * 40 * 2 * k * k * 100) / 0.1
        # Arm l < k: delta / (Delta + gap)^2 is at most 1 / (4 gap) for Delta >= gap/10,
        # and delta / gap^2 at most 1 / (10 gap) otherwise.
        each = 40 * max(1 / 4, 1 / 10)
        second = sum(each * arm * k for arm in range(1, k)) * unit
        assert coefficient(k, "lemmas") == pytest.approx(first + second, rel=1e-12)
        # The printed constants follow from the lemmas for small sets only.
        below = coefficient(k, "lemmas") <= coefficient(k, "printed")
        assert below == (k <= 6)
    with_8 = 8 * 3**1.5 + 30 * 9
    assert coefficient(3, "printed") == pytest.approx(with_8 * 2000, rel=1e-12)


def test_only_what_is_proved_is_an_upper_bound():
    for n, k, alpha in itertools.product((8, 500), range(1, 9), (2.0, 3.0)):
        proved = subset_gap_bound(n, k, 0.1, alpha=alpha)
        printed = subset_gap_bound(n, k, 0.1, alpha=alpha, form="printed")
        # n arms, T plays of each, both sides; then every round costs at most k.
        rounds = np.array([149.0, 1e3, 1e9])
        failure = 2 * n * rounds * rounds ** (-2 * alpha) * k * rounds
        good = proved.log_coefficient * np.log(rounds) + n
        assert (proved(rounds) >= good + failure * (1 - 1e-12)).all()
        assert proved.kind == "upper" and proved.remainder == ""
        assert (printed.kind == "upper") == (k <= 6)
        assert (printed.kind == "unproved") == (printed.remainder != "")
        if k <= 6:
            assert (printed(rounds) >= proved(rounds)).all()


def test_the_gap_free_bound_has_room_for_what_it_leaves_out():
    for n, k, alpha in itertools.product((1, 9, 10**4), (1, 3, 12), (2.0, 4.0)):
        bound = subset_gap_free_bound(n * k, k, alpha=alpha)
        rounds = np.geomspace(bound.minimum_horizon, 1e9, 20)
        root = k**2 * np.sqrt(alpha * n * k * rounds * np.log(rounds))
        # Arms with Delta + eps of at least 10 k sqrt(alpha n log T / T), at most k of
        # them, cost 40 alpha l k n log T / (Delta + eps) each; the others Delta T.
        steps = 20 * (1 / 10) * root + 10 * root
        first = 2 * np.sqrt(alpha * k * n * k * rounds * np.log(rounds))
        failure = 2 * k * n * k * rounds ** (2 - 2 * alpha)
        assert (bound(rounds) >= first + steps + n * k + failure).all()
