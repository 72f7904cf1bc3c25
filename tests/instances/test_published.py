"""The printed matrices: digits, winners, Borda means and order properties.

The expected values stand here apart from the code: counts of beaten arms, means and
properties of every table, and the digits of seven tables a second time, as Wu and Liu
(2016), Tables 1 to 4, 7 and 8, and Komiyama et al. (2016), Table 3(c), print them.
"""

import subprocess
import sys

import numpy as np
import pytest

from bayesduel import instances
from tests.reference import matrices

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

NAMES = tuple(COPELAND_COUNTS)

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

STRONG_BORDA = [
    [0.50, 0.55, 0.55, 0.55, 0.55],
    [0.45, 0.50, 0.95, 0.95, 0.95],
    [0.45, 0.05, 0.50, 0.95, 0.95],
    [0.45, 0.05, 0.05, 0.50, 0.95],
    [0.45, 0.05, 0.05, 0.05, 0.50],
]

TYPED_AGAIN = {
    "cyclic": matrices.CYCLIC,
    "strong-borda": STRONG_BORDA,
    "gap": matrices.GAP,
    "multisol": matrices.MULTISOL,
    "arxiv": matrices.ARXIV,
    "mslr5-condorcet": matrices.MSLR5_CONDORCET,
    "mslr5-non-condorcet": matrices.MSLR5_NON_CONDORCET,
}


def test_names_are_the_published_ones_in_order():
    assert instances.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_counts_winners_and_borda_means(name):
    matrix = instances.load(name)
    values = matrix.values
    counts = (values > 0.5).sum(axis=1)
    assert counts.tolist() == COPELAND_COUNTS[name]
    winners = np.flatnonzero(counts == counts.max()).tolist()
    assert list(instances.describe(name).winners) == winners
    assert list(matrix.copeland_winners) == winners
    beats_all = counts.max() == len(counts) - 1
    assert (matrix.condorcet_winner is not None) == beats_all
    means = (values.sum(axis=1) - 0.5) / (len(values) - 1)
    np.testing.assert_allclose(means, BORDA_MEANS[name], rtol=0, atol=5.001e-5)
    np.testing.assert_allclose(means, matrix.borda_scores, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", TYPED_AGAIN)
def test_digits_agree_with_a_second_transcription(name):
    assert np.array_equal(instances.load(name).values, TYPED_AGAIN[name])


def test_arithmetic_and_sushi_samples():
    values = instances.load("arithmetic").values
    np.testing.assert_allclose(values, matrices.ARITHMETIC, rtol=0, atol=1e-15)
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


def test_arxiv_has_exactly_one_tie():
    assert instances.load("arxiv").ties == [(3, 5)]
    for name in NAMES:
        if name != "arxiv":
            assert instances.load(name).ties == []


@pytest.mark.parametrize("name", NAMES)
def test_order_properties(name):
    matrix = instances.load(name)
    reported = (
        matrix.is_total_order,
        matrix.satisfies_sst(),
        matrix.satisfies_sti(),
    )
    assert reported == PROPERTIES[name]


@pytest.mark.parametrize("name", NAMES)
def test_matrices_say_what_they_are(name):
    matrix = instances.load(name)
    description = instances.describe(name)
    assert matrix.name == description.name == name
    assert matrix.source == description.source
    assert description.title and description.remarks
    assert "20" in description.source  # the year of a paper
    assert description.num_arms == matrix.num_arms
    assert description.arm_names == (matrix.arm_names or ())
    assert description.parameters == ()


def test_import_is_light():
    program = (
        "import sys, theory; before = set(sys.modules)\n"
        "import bayesduel.instances as d; d.load('gap'); d.describe('mallows')\n"
        "never = {'jax', 'numpyro', 'arviz', 'xarray', 'matplotlib'}\n"
        "added = {'scipy', 'cvxpy', 'highspy'} - before\n"
        "print(sorted((never | added) & set(sys.modules)))"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"
