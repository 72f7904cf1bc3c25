"""PreferenceMatrix: its rules, its counts, and every notion of regret."""

import hashlib
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from tests.reference.matrices import ARXIV, CYCLIC
from tests.reference.matrices import MSLR5_CONDORCET as MSLR5
from theory import REGRET_NOTIONS, InvalidPreferenceError, PreferenceMatrix
from theory.preferences import as_preference_matrix


def test_values_are_a_read_only_copy():
    given = np.array(CYCLIC)
    before = given.copy()
    matrix = PreferenceMatrix(given)
    given[0, 1] = 0.9
    assert np.array_equal(matrix.values, before)
    assert matrix.values.dtype == np.float64
    for array in (matrix.values, matrix.gaps, matrix.losses, matrix.wins):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_counts_of_cyclic():
    matrix = PreferenceMatrix(CYCLIC)
    assert matrix.num_arms == 4
    assert matrix.losses.tolist() == [0, 2, 2, 2]
    assert matrix.wins.tolist() == [3, 1, 1, 1]
    assert matrix.copeland_winners == matrix.loss_winners == (0,)
    assert matrix.condorcet_winner == 0
    assert matrix.superiors(1) == (0, 3)
    assert matrix.inferiors(1) == (2,)
    assert matrix.copeland_scores == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])
    assert matrix.borda_scores == pytest.approx([0.6, 1.4 / 3, 1.4 / 3, 1.4 / 3])
    assert matrix.ties == []
    assert not matrix.is_total_order


def test_wins_and_losses_disagree_under_ties():
    half = np.full((3, 3), 0.5)
    half[0, 1], half[1, 0] = 0.9, 0.1  # arm 2 ties with both
    matrix = PreferenceMatrix(half)
    assert matrix.copeland_winners == (0,)
    assert matrix.loss_winners == (0, 2)
    assert matrix.condorcet_winner is None
    assert matrix.ties == [(0, 2), (1, 2)]
    assert "tied" in repr(matrix)
    assert not np.array_equal(
        matrix.regret_per_pair("copeland"), matrix.regret_per_pair("copeland_losses")
    )


def test_gaps_are_exactly_antisymmetric_and_near_ties_are_ties():
    values = np.array([[0.5, 0.6, 0.5 + 9e-9], [0.4, 0.5, 0.7], [0.5 - 9e-9, 0.3, 0.5]])
    gaps = PreferenceMatrix(values).gaps
    assert np.array_equal(gaps, -gaps.T)
    assert gaps[0, 2] == 0
    values[0, 2], values[2, 0] = 0.5 + 2e-8, 0.5 - 2e-8
    assert PreferenceMatrix(values).gaps[0, 2] > 0
    rounded = np.array([[0.5, 0.3 + 4e-10], [0.7, 0.5]])
    gaps = PreferenceMatrix(rounded).gaps
    assert gaps[0, 1] == -gaps[1, 0] != 0


def test_regret_notions_on_one_matrix_by_hand():
    matrix = PreferenceMatrix(ARXIV)
    a, b = 1, 4  # 4 and 1 wins; gaps to the winner 0.05 and 0.11
    expected = {
        "copeland": 1 - (4 / 5 + 1 / 5) / 2,
        "copeland_losses": (1 + 4) / (2 * 5),
        "copeland_zoghi": 2 - 4 / 5 - 1 / 5,
        "copeland_binary": 1.0,
        "borda": 0.572 - (0.546 + 0.454) / 2,
        "condorcet_mean": (0.05 + 0.11) / 2,
        "condorcet_sum": 0.16,
        "condorcet_max": 0.11,
        "weak": 0.05,
        "weak_binary": 1.0,
        "strong_binary": 1.0,
    }
    assert set(expected) == set(REGRET_NOTIONS)
    for notion, value in expected.items():
        regret = matrix.regret_per_pair(notion)
        assert regret.shape == (6, 6) and regret.dtype == np.float64
        assert np.array_equal(regret, regret.T)
        assert regret[a, b] == pytest.approx(value, abs=1e-12), notion
        if notion != "borda":
            assert regret[0, 0] == 0
        if notion in ("weak", "weak_binary"):
            assert regret[0, 5] == 0
        elif notion != "borda":
            assert regret[0, 5] > 0
    # Losses and wins differ for the tied arms 3 and 5 only.
    differ = matrix.regret_per_pair("copeland") != matrix.regret_per_pair(
        "copeland_losses"
    )
    assert set(np.flatnonzero(differ.all(axis=1))) == {3, 5}
    # With the duel against itself in the score all differences shrink by (K - 1) / K.
    with_self = matrix.regret_per_pair("borda", include_self=True)
    assert with_self == pytest.approx(matrix.regret_per_pair("borda") * 5 / 6)


def test_condorcet_regret_needs_a_condorcet_winner():
    cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    matrix = PreferenceMatrix(cycle)
    assert matrix.copeland_winners == (0, 1, 2)
    assert (matrix.regret_per_pair("copeland") == 0).all()
    for notion in REGRET_NOTIONS[REGRET_NOTIONS.index("condorcet_mean") :]:
        with pytest.raises(InvalidPreferenceError, match="Condorcet winner"):
            matrix.regret_per_pair(notion)
    with pytest.raises(InvalidPreferenceError, match="'kopeland'"):
        matrix.regret_per_pair("kopeland")


def edited(index, value):
    values = np.array(MSLR5)
    values[index] = value
    return values


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ([0.5, 0.5], ValueError, r"shape.*, got \(2,\)"),
        (np.full((2, 2, 2), 0.5), ValueError, "shape"),
        ([[0.5]], ValueError, "at least 2 x 2"),
        ([[0.5, 0.5], [0.5]], ValueError, "rectangular"),
        (np.full((2, 2), 0.5 + 0j), ValueError, "complex"),
        ([["0.5", "0.5"], ["0.5", "0.5"]], TypeError, "real numbers"),
        ([[0.5, None], [0.5, 0.5]], TypeError, "object"),
        ([[True, False], [True, True]], TypeError, "bool"),
        (edited((1, 2), np.nan), ValueError, r"\[1, 2\] .*, got nan"),
        (edited((0, 4), 1.2), ValueError, r"\[0, 4\] .*, got 1.2"),
        (edited((4, 0), -0.1), ValueError, r"\[4, 0\] .*, got -0.1"),
        (edited((3, 3), 0.51), ValueError, r"\[3, 3\] .*, got 0.51"),
        # As printed in Komiyama et al. 2016, Table 3(e): 0.727 + 0.276.
        (edited((3, 1), 0.276), ValueError, r"worst pair is \(1, 3\)"),
        (np.array(MSLR5, dtype=np.float16), ValueError, "must be 1 within 1e-09"),
        (np.float32(edited((3, 1), 0.2733)), ValueError, "must be 1 within 1.2e-07"),
        (np.broadcast_to(0.5, (5001, 5001)), ValueError, "at most 5000 arms, got 5001"),
        ([[0.5]] * 10**4, ValueError, "at most 5000 arms, got 10000"),
        (None, ValueError, "must hold real numbers, not dtype object of a NoneType"),
        (sparse.csr_matrix(np.full((2, 2), 0.5)), TypeError, r"pass its toarray\(\)"),
        (np.full((2, 2), Decimal("0.5")), ValueError, "convert the entries to float"),
        (
            np.ma.masked_array(MSLR5, mask=np.eye(5, dtype=bool)),
            ValueError,
            "masked entries, got 5",
        ),
    ],
)
def test_bad_matrices_are_rejected(values, error, text):
    before = repr(values)
    with pytest.raises(error, match=text):
        PreferenceMatrix(values)
    assert repr(values) == before


def test_float32_is_accepted_within_its_rounding():
    """JAX computes in float32 unless it is told otherwise."""
    single = np.array(MSLR5, dtype=np.float32)
    matrix = PreferenceMatrix(single)
    assert matrix.values == pytest.approx(np.array(MSLR5), abs=2.0**-24)
    assert (matrix.values + matrix.values.T == 1.0).all()
    assert matrix.copeland_winners == PreferenceMatrix(MSLR5).copeland_winners
    # The stored values are float64 and pass the strict check again.
    assert PreferenceMatrix(matrix.values) == matrix
    # A tie off by one rounding stays one.
    below = np.nextafter(np.float32(0.5), np.float32(0))
    assert PreferenceMatrix(np.array([[0.5, below], [0.5, 0.5]], "f4")).ties == [(0, 1)]


@given(arrays(np.float32, (4, 4), elements=st.floats(0, 1, width=32)))
def test_any_matrix_rounded_to_float32_is_accepted(entries):
    upper = np.triu(entries.astype(np.float64), 1)
    values = upper + np.tril(1 - upper.T, -1) + np.eye(4) / 2
    matrix = PreferenceMatrix(values.astype(np.float32))
    assert np.abs(matrix.values - values).max() <= 2.0**-23


def test_symmetry_is_checked_at_1e_9():
    PreferenceMatrix([[0.5, 0.6], [0.4 + 9e-10, 0.5]])
    with pytest.raises(InvalidPreferenceError, match="1e-09"):
        PreferenceMatrix([[0.5, 0.6], [0.4 + 2e-9, 0.5]])


@pytest.mark.parametrize("arm", [-1, 5, 1.0, True, "1", None, np.array([1])])
def test_bad_arm_is_rejected(arm):
    with pytest.raises(InvalidPreferenceError, match="integer from 0 to 4"):
        PreferenceMatrix(MSLR5).superiors(arm)


def test_submatrix_keeps_names_and_source():
    matrix = PreferenceMatrix(
        MSLR5, name="five", arm_names=["a", "b", "c", "d", "e"], source="a paper"
    )
    part = matrix.submatrix([4, np.int64(1)])
    assert part.values.tolist() == [[0.5, 0.262], [0.738, 0.5]]
    assert part.arm_names == ("e", "b")
    assert part.source == "a paper" and part.name is None
    for bad in ([1], [1, 1], [0, 5], [-1, 0], [0.5, 1]):
        with pytest.raises(InvalidPreferenceError, match="indices"):
            matrix.submatrix(bad)


@pytest.mark.parametrize("names", [["a"], ["a"] * 5, [1, 2, 3, 4, 5], "abcde"])
def test_bad_names_are_rejected(names):
    with pytest.raises(InvalidPreferenceError, match="arm_names"):
        PreferenceMatrix(MSLR5, arm_names=names)


def test_checksum_is_that_of_the_bytes():
    matrix = PreferenceMatrix(MSLR5)
    assert matrix.checksum == hashlib.sha256(np.array(MSLR5).tobytes()).hexdigest()


def test_equality_pickle_and_array_protocol():
    matrix = PreferenceMatrix(MSLR5, name="five")
    clone = pickle.loads(pickle.dumps(matrix))
    assert clone == matrix and hash(clone) == hash(matrix) and clone.name == "five"
    assert not clone.values.flags.writeable
    assert matrix != PreferenceMatrix(CYCLIC) and matrix != 5
    assert np.asarray(matrix).shape == (5, 5)
    changed = np.array(matrix)
    changed[0, 1] = 0
    assert matrix.values[0, 1] == 0.535
    assert as_preference_matrix(matrix) is matrix
    assert as_preference_matrix(MSLR5) == matrix
    with pytest.raises(AttributeError):
        matrix.values = changed


def test_repr_is_short():
    assert repr(PreferenceMatrix(MSLR5, name="five")) == (
        "PreferenceMatrix('five', K=5, Condorcet winner 0)"
    )
    cycle = np.array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    assert repr(PreferenceMatrix(cycle)) == (
        "PreferenceMatrix(K=3, Copeland winners 0, 1, 2)"
    )
