"""Matrices for the tests: those of the papers, and random ones."""

import numpy as np

from tests.reference.matrices import CYCLIC, GAP, MULTISOL
from tests.reference.matrices import MSLR5_CONDORCET as MSLR5

REFERENCE = {"cyclic": CYCLIC, "gap": GAP, "multisol": MULTISOL, "mslr5": MSLR5}

# A rotation: every arm beats the next two of five.
ALL_WIN = 0.5 + 0.2 * np.array(
    [[0, 1, 1, -1, -1]]
    + [[-1, 0, 1, 1, -1]]
    + [[-1, -1, 0, 1, 1]]
    # The rest follows from antisymmetry.
    + [[1, -1, -1, 0, 1], [1, 1, -1, -1, 0]]
)


def from_upper(gaps):
    """Preference matrix from the gaps above the diagonal."""
    upper = np.triu(np.asarray(gaps, dtype=float), 1)
    return 0.5 + upper - upper.T


def random_matrix(rng, num_arms, *, noise=None, exponent=1.5, grid=None, upset=False):
    """Draw a matrix; signs come from noisy strengths, sizes are log-uniform.

    A small `noise` gives an order, a large one a random tournament. With a `grid` of
    sizes, costs coincide. With an `upset` one arm loses exactly once.
    """
    if noise is None:
        noise = rng.choice([0.2, 1.0, 10.0])
    strength = rng.normal(size=num_arms)
    shape = (num_arms, num_arms)
    signs = np.sign(strength[:, None] - strength + noise * rng.normal(size=shape))
    if grid is None:
        sizes = 10 ** rng.uniform(-exponent, np.log10(0.5), shape)
    else:
        sizes = rng.choice(grid, shape)
    if upset:
        signs[0] = np.where(np.arange(num_arms) == num_arms - 1, -1, 1)
    matrix = from_upper(signs * sizes)
    order = rng.permutation(num_arms)
    return matrix[np.ix_(order, order)]


def levels(matrix):
    """L(1), L(2), and the number of winners."""
    losses = np.sort((np.asarray(matrix) < 0.5).sum(axis=1))
    return int(losses[0]), int(losses[1]), int((losses == losses[0]).sum())


def winners(matrix):
    losses = (np.asarray(matrix) < 0.5).sum(axis=1)
    return np.flatnonzero(losses == losses.min()).tolist()


def gaps_of(matrix):
    return (np.asarray(matrix) - np.asarray(matrix).T) / 2


def draw_until(rng, condition, num_arms, tries=20_000, **options):
    """Draw matrices until one has the wanted (L(1), L(2), C)."""
    for _ in range(tries):
        matrix = random_matrix(rng, num_arms, **options)
        if condition(*levels(matrix)):
            return matrix
    raise AssertionError("no such matrix was drawn")


SHAPES = {
    "condorcet": (5, lambda a, b, c: a == 0 and b == 1),
    "condorcet, two levels": (6, lambda a, b, c: a == 0 and b >= 2),
    "one loss": (6, lambda a, b, c: a == 1 and c == 1),
    "one loss, two levels": (7, lambda a, b, c: a == 1 and b >= 3),
    "two losses": (7, lambda a, b, c: a == 2 and c == 1),
    "two winners": (5, lambda a, b, c: a == 1 and c == 2),
    "three winners, two losses": (6, lambda a, b, c: a == 2 and c >= 3),
    "all win": (5, lambda a, b, c: c == 5),
}


def shaped(name, seed, **options):
    """Draw a matrix of a named shape."""
    num_arms, condition = SHAPES[name]
    rng = np.random.default_rng([seed, len(name)])
    upset = name == "one loss, two levels"
    return draw_until(rng, condition, num_arms, upset=upset, **options)
