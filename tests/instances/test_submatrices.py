"""Random submatrices: the distribution of rejection, and one stream per number."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from bayesduel.instances import SubmatrixSampler, load, submatrices
from theory import PreferenceMatrix

FALSE_ALARM = 1e-5

# Pairs of seven arms that are closer than 0.1 to 1/2.
_NEAR = [(0, 1), (0, 2), (1, 4), (6, 0), (6, 1)]


def _uneven():
    """Seven arms that are admissible with very different numbers of partners."""
    gaps = np.full((7, 7), 0.2) + 0.01 * np.arange(7)
    for i, j in _NEAR:
        gaps[i, j] = gaps[j, i] = 0.03
    gaps = np.triu(gaps, 1)
    gaps[1, 3] = -gaps[1, 3]
    return PreferenceMatrix(0.5 + gaps - gaps.T)


def _admissible(size):
    near = {frozenset(pair) for pair in _NEAR}
    return [
        subset
        for subset in combinations(range(7), size)
        if not near & {frozenset(pair) for pair in combinations(subset, 2)}
    ]


def test_every_ordered_admissible_subset_is_equally_likely():
    sampler = SubmatrixSampler.of(_uneven(), 3, min_gap=0.1, seed=5)
    possible = [
        permutation for subset in _admissible(3) for permutation in permutations(subset)
    ]
    counts = dict.fromkeys(possible, 0)
    num_draws = []
    for number in range(3000):
        draw = sampler.draw(number)
        counts[tuple(draw.arms.tolist())] += 1
        num_draws.append(draw.num_draws)
    assert len(possible) == 16 * 6
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM
    # All seven arms can be drawn here, so tries are geometric with this share.
    share = len(_admissible(3)) / 35
    error = np.sqrt((1 - share) / share**2 / len(num_draws))
    z = (np.mean(num_draws) - 1 / share) / error
    assert abs(z) < stats.norm.isf(FALSE_ALARM / 2)


def test_a_submatrix_depends_on_seed_and_number_only(monkeypatch):
    matrix = _uneven()
    sampler = SubmatrixSampler.of(matrix, 4, min_gap=0.1, seed=3)
    first = [sampler.draw(number) for number in range(40)]
    monkeypatch.setattr(submatrices, "_FIRST_BATCH", 1)
    monkeypatch.setattr(submatrices, "_LARGEST_BATCH", 3)
    again = SubmatrixSampler.of(matrix, 4, min_gap=0.1, seed=3)
    for number in reversed(range(40)):
        arms, num_draws = again.draw(number)
        assert arms.tolist() == first[number].arms.tolist()
        assert num_draws == first[number].num_draws
    other = SubmatrixSampler.of(matrix, 4, min_gap=0.1, seed=4)
    assert any(
        other.draw(number).arms.tolist() != first[number].arms.tolist()
        for number in range(40)
    )


def test_submatrices_have_the_entries_and_names_of_their_arms():
    sampler = SubmatrixSampler.of(load("sushi"), 5, min_gap=0.02, seed=1)
    for number in range(20):
        arms, part = sampler.draw(number).arms, sampler.submatrix(number)
        assert len(set(arms.tolist())) == 5
        assert np.array_equal(part.values, load("sushi").values[np.ix_(arms, arms)])
        off = ~np.eye(5, dtype=bool)
        assert np.abs(part.gaps[off]).min() >= 0.02
    named = PreferenceMatrix([[0.5, 0.7], [0.3, 0.5]], arm_names=["tea", "coffee"])
    part = SubmatrixSampler.of(named, 2).submatrix(0)
    assert part.arm_names is not None and set(part.arm_names) == {"tea", "coffee"}


def test_the_whole_matrix_is_a_submatrix_of_itself():
    matrix = load("gap")
    draw = SubmatrixSampler.of(matrix, 5, min_gap=0.01).draw(0)
    assert sorted(draw.arms.tolist()) == list(range(5))
    assert draw.num_draws == 1
    # The smallest gap, 0.01, as it is in floating point.
    with pytest.raises(ValueError, match="leaves no submatrix of 5 arms: 0 of the 5"):
        SubmatrixSampler.of(matrix, 5, min_gap=0.011)


def test_ties_are_never_admissible():
    # Arms 3 and 5 of the matrix tie.
    sampler = SubmatrixSampler.of(load("arxiv"), 5, seed=0)
    drawn = [set(sampler.draw(number).arms.tolist()) for number in range(50)]
    assert all({3, 5} - arms for arms in drawn)
    assert any(3 in arms for arms in drawn) and any(5 in arms for arms in drawn)
    with pytest.raises(ValueError, match="leaves no submatrix of 6 arms"):
        SubmatrixSampler.of(load("arxiv"), 6)


def test_impossible_gaps_are_found_out(monkeypatch):
    """Every arm has partners enough, and yet no three arms fit: a cycle of four."""
    gaps = np.zeros((4, 4))
    for i in range(4):
        gaps[i, (i + 1) % 4], gaps[(i + 1) % 4, i] = 0.3, -0.3
    gaps[0, 2], gaps[2, 0], gaps[1, 3], gaps[3, 1] = 0.01, -0.01, 0.01, -0.01
    monkeypatch.setattr(submatrices, "MAX_DRAWS", 1000)
    sampler = SubmatrixSampler.of(0.5 + gaps, 3, min_gap=0.1)
    with pytest.raises(ValueError, match="none of 1000 random subsets of 3 arms"):
        sampler.draw(0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"size": 1}, "size must be an integer of at least 2, got 1"),
        ({"size": 8}, "size must be at most 7, the arms of the matrix, got 8"),
        ({"min_gap": -0.1}, r"min_gap must be in \[0, 1/2\), got -0.1"),
        ({"min_gap": 0.5}, "min_gap must be"),
        ({"seed": -1}, "seed must be an integer from 0 to"),
    ],
)
def test_wrong_requests_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        SubmatrixSampler.of(_uneven(), **({"size": 3} | arguments))
    with pytest.raises(ValueError, match="number must be"):
        SubmatrixSampler.of(_uneven(), 3).draw(-1)


@pytest.mark.shared
def test_share_of_the_mslr_submatrices(shared_dir):
    """Fewer than 2 in 100 subsets of 16 rankers have all gaps at least 0.005."""
    matrix = load(str(shared_dir / "data" / "mslr" / "MSLR_Informational_PMat.npz"))
    sampler = SubmatrixSampler.of(matrix, 16, min_gap=0.005, seed=0)
    tries = [sampler.draw(number).num_draws for number in range(200)]
    assert 0.01 < 200 / sum(tries) < 0.02
