"""The printed matrices: digits, winners, Borda means and order properties.

The expected values stand here apart from the code: counts of beaten arms, means and
properties of every table, and the digits of seven tables a second time, as Wu and Liu
(2016), Tables 1 to 4, 7 and 8, and Komiyama et al. (2016), Table 3(c), print them.
"""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from bayesduel import instances
from bayesduel.instances.published import PUBLISHED
from theory import InvalidPreferenceError, PreferenceMatrix

NAMES = (
    "cyclic",
    "gap",
    "multisol",
    "arithmetic",
    "arxiv",
    "sushi",
    "strong-borda",
    "mslr5-condorcet",
    "mslr5-non-condorcet",
    "non-condorcet-cyclic",
    "non-condorcet-strong-borda",
)

COPELAND_COUNTS = {
    "cyclic": [3, 1, 1, 1],
    "gap": [3, 2, 2, 1, 2],
    "multisol": [3, 3, 3, 1, 0],
    "arithmetic": [7, 6, 5, 4, 3, 2, 1, 0],
    "arxiv": [5, 4, 3, 1, 1, 0],
    "sushi": list(range(15, -1, -1)),
    "strong-borda": [4, 3, 2, 1, 0],
    "mslr5-condorcet": [4, 3, 2, 1, 0],
    "mslr5-non-condorcet": [3, 3, 3, 1, 0],
    "non-condorcet-cyclic": [6, 6, 6, 4, 4, 4, 2, 2, 2],
    "non-condorcet-strong-borda": [4, 3, 3, 2, 2, 1],
}

# Means over the other arms, rounded to the digits shown.
BORDA_MEANS = {
    "cyclic": [0.6, 0.4667, 0.4667, 0.4667],
    "gap": [0.5775, 0.5, 0.5, 0.4225, 0.5],
    "multisol": [0.65, 0.65, 0.65, 0.3, 0.25],
    "arithmetic": [0.7, 0.6429, 0.5857, 0.5286, 0.4714, 0.4143, 0.3571, 0.3],
    "arxiv": [0.572, 0.546, 0.502, 0.482, 0.454, 0.444],
    "sushi": [
        *(0.7394, 0.7337, 0.6042, 0.6335, 0.5547, 0.5681, 0.5573, 0.5322),
        *(0.4912, 0.4857, 0.4593, 0.43, 0.3604, 0.3141, 0.2849, 0.2514),
    ],
    "strong-borda": [0.55, 0.825, 0.6, 0.375, 0.15],
    "mslr5-condorcet": [0.6675, 0.6275, 0.5337, 0.3417, 0.3295],
    "mslr5-non-condorcet": [0.5125, 0.5165, 0.504, 0.485, 0.482],
    "non-condorcet-cyclic": [0.5125] * 3 + [0.5375] * 3 + [0.45] * 3,
    "non-condorcet-strong-borda": [0.45, 0.75, 0.67, 0.49, 0.41, 0.23],
}

# Total order, strong stochastic transitivity, stochastic triangle inequality.
PROPERTIES = dict.fromkeys(NAMES, (False, False, False)) | {
    "arithmetic": (True, True, True),
    "mslr5-condorcet": (True, True, False),
    "strong-borda": (True, False, True),
    "sushi": (True, False, False),
    "arxiv": (True, False, False),
}

WITH_CONDORCET_WINNER = {
    "cyclic",
    "arithmetic",
    "arxiv",
    "sushi",
    "strong-borda",
    "mslr5-condorcet",
}

# Row after row.
TYPED_AGAIN = {
    "cyclic": "0.5 0.6 0.6 0.6 0.4 0.5 0.9 0.1 0.4 0.1 0.5 0.9 0.4 0.9 0.1 0.5",
    "strong-borda": "0.5 0.55 0.55 0.55 0.55 0.45 0.5 0.95 0.95 0.95 0.45 0.05 0.5 "
    "0.95 0.95 0.45 0.05 0.05 0.5 0.95 0.45 0.05 0.05 0.05 0.5",
    "gap": "0.5 0.8 0.8 0.51 0.2 0.2 0.5 0.8 0.2 0.8 0.2 0.2 0.5 0.8 0.8 0.49 0.8 0.2 "
    "0.5 0.2 0.8 0.2 0.2 0.8 0.5",
    "multisol": "0.5 0.2 0.8 0.8 0.8 0.8 0.5 0.2 0.8 0.8 0.2 0.8 0.5 0.8 0.8 0.2 0.2 "
    "0.2 0.5 0.6 0.2 0.2 0.2 0.4 0.5",
    "arxiv": "0.50 0.55 0.55 0.54 0.61 0.61 0.45 0.50 0.55 0.55 0.58 0.60 0.45 0.45 "
    "0.50 0.54 0.51 0.56 0.46 0.45 0.46 0.50 0.54 0.50 0.39 0.42 0.49 0.46 0.50 0.51 "
    "0.39 0.40 0.44 0.50 0.49 0.50",
    "mslr5-condorcet": "0.500 0.535 0.613 0.757 0.765 0.465 0.500 0.580 0.727 0.738 "
    "0.387 0.420 0.500 0.659 0.669 0.243 0.273 0.341 0.500 0.510 0.235 0.262 0.331 "
    "0.490 0.500",
    "mslr5-non-condorcet": "0.500 0.484 0.519 0.529 0.518 0.516 0.500 0.481 0.530 "
    "0.539 0.481 0.519 0.500 0.504 0.512 0.471 0.470 0.496 0.500 0.503 0.482 0.461 "
    "0.488 0.497 0.500",
}


def test_names_are_the_published_ones_in_order() -> None:
    assert instances.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_counts_winners_and_borda_means(name: str) -> None:
    matrix = instances.load(name)
    values = matrix.values
    counts = (values > 0.5).sum(axis=1)
    assert counts.tolist() == COPELAND_COUNTS[name]
    winners = np.flatnonzero(counts == counts.max()).tolist()
    assert list(instances.describe(name).winners) == winners
    assert list(matrix.copeland_winners) == winners
    assert (counts.max() == len(counts) - 1) == (name in WITH_CONDORCET_WINNER)
    assert (matrix.condorcet_winner is not None) == (name in WITH_CONDORCET_WINNER)
    means = (values.sum(axis=1) - 0.5) / (len(values) - 1)
    np.testing.assert_allclose(means, BORDA_MEANS[name], rtol=0, atol=5.001e-5)
    np.testing.assert_allclose(means, matrix.borda_scores, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_digits_are_those_of_the_table(name: str) -> None:
    rows = [line.split() for line in PUBLISHED[name].table.strip().splitlines()]
    values = instances.load(name).values
    assert values.shape == (len(rows), len(rows))
    for i, j in itertools.product(range(len(rows)), repeat=2):
        # The number as typed, with no arithmetic after it.
        assert values[i, j] == float(rows[i][j])
        # In hundreds of thousandths, so that 0.51 + 0.49 is exactly 1.
        assert round(float(rows[i][j]) * 1e5) + round(float(rows[j][i]) * 1e5) == 10**5


@pytest.mark.parametrize("name", TYPED_AGAIN)
def test_digits_agree_with_a_second_transcription(name: str) -> None:
    typed = [float(number) for number in TYPED_AGAIN[name].split()]
    assert instances.load(name).values.ravel().tolist() == typed


def test_arithmetic_and_sushi_samples() -> None:
    arm = np.arange(8)
    expected = 0.5 + 0.05 * (arm[None, :] - arm[:, None])
    np.testing.assert_allclose(
        instances.load("arithmetic").values, expected, rtol=0, atol=1e-15
    )
    sushi = instances.load("sushi")
    # Komiyama et al. (2016), Table 3(a).
    assert sushi.values[0, 9] == 0.8
    assert sushi.values[9, 0] == 0.2
    assert sushi.values[0, 1] == 0.512
    assert sushi.values[14, 15] == 0.586
    assert sushi.arm_names is not None
    assert len(sushi.arm_names) == 16
    assert sushi.arm_names[0] == "mildly fatty tuna"
    assert sushi.arm_names[15] == "squilla"


def test_arxiv_has_exactly_one_tie() -> None:
    assert instances.load("arxiv").ties == [(3, 5)]
    for name in NAMES:
        if name != "arxiv":
            assert instances.load(name).ties == []


def _properties(values: np.ndarray) -> tuple[bool, bool, bool]:
    """Check the definitions along the order of the counts (at most one tie)."""
    order = np.argsort(-(values > 0.5).sum(axis=1), kind="stable")
    gaps = values[np.ix_(order, order)] - 0.5
    size = len(gaps)
    total = all(gaps[i, j] >= -1e-12 for i in range(size) for j in range(i + 1, size))
    triples = [
        (gaps[i, k], gaps[i, j], gaps[j, k])
        for i, j, k in itertools.combinations(range(size), 3)
    ]
    sst = total and all(ik >= max(ij, jk) - 1e-9 for ik, ij, jk in triples)
    sti = total and all(ik <= ij + jk + 1e-9 for ik, ij, jk in triples)
    return total, sst, sti


@pytest.mark.parametrize("name", NAMES)
def test_order_properties(name: str) -> None:
    matrix = instances.load(name)
    assert _properties(matrix.values) == PROPERTIES[name]
    reported = (
        matrix.is_total_order,
        matrix.satisfies_sst(),
        matrix.satisfies_sti(),
    )
    assert reported == PROPERTIES[name]


def test_the_misprint_of_mslr5_condorcet_is_refused_by_entry() -> None:
    """Komiyama et al. (2016), Table 3(e), print 0.276 opposite 0.727."""
    values = np.array(instances.load("mslr5-condorcet").values)
    assert values[3, 1] == 0.273
    values[3, 1] = 0.276
    with pytest.raises(InvalidPreferenceError, match=r"\(1, 3\).*0\.727.*0\.276"):
        PreferenceMatrix(values)


@pytest.mark.parametrize("name", NAMES)
def test_matrices_say_what_they_are(name: str) -> None:
    matrix = instances.load(name)
    description = instances.describe(name)
    assert matrix.name == description.name == name
    assert matrix.source == description.source
    assert description.title and description.remarks
    assert "20" in description.source  # the year of a paper
    assert description.num_arms == matrix.num_arms
    assert description.arm_names == (matrix.arm_names or ())
    assert description.parameters == ()


def test_loading_twice_gives_equal_read_only_matrices() -> None:
    first, second = instances.load("gap"), instances.load("gap")
    assert first == second
    with pytest.raises(ValueError, match="read-only"):
        first.values[0, 0] = 0.1


def test_import_is_light() -> None:
    program = (
        "import sys, theory; before = set(sys.modules)\n"
        "import bayesduel.instances as d; d.load('gap'); d.describe('mallows')\n"
        "never = {'jax', 'numpyro', 'arviz', 'xarray', 'matplotlib'}\n"
        "added = {'scipy', 'cvxpy', 'highspy'} - before\n"
        "print(sorted((never | added) & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
