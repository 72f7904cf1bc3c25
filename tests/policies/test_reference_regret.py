"""Mean regret of the policies beside that of the code published with D-TS.

The tables hold mean and standard error of the cumulative Copeland regret of the code
of Wu and Liu (2016), github.com/HuasenWu/DuelingBandits, arms in random order unless
"fixed": 120 runs (Cyclic: 100) to 1e5 rounds, 20 runs at 3e5 and 1e6.
"""

import math

import numpy as np
import pytest

import bayesduel

FALSE_ALARM = 6.4e-5
"""False-alarm rate of one comparison of means at 4 standard errors, two-sided."""

STANDARD_ERRORS = 4.0
NUM_RUNS = {"mslr5-condorcet": 200, "gap": 60, "cyclic": 200}
ROUNDS = (100, 300, 1000, 3000, 10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6)

MEANS = {
    "mslr5-condorcet": {
        "d-ts": (31.7, 66.5, 131, 217, 299, 368, 449, 514, 602),
        "d-ts+": (32.6, 67.3, 129, 197, 276, 341, 415, 510, 587),
        "rmed1": (36.5, 86.6, 187, 339, 647, 777, 873, 1006, 1064),
        "ecw-rmed": (46.3, 99.0, 211, 380, 654, 769, 851, 1047, 1132),
        "rucb": (43.9, 115, 282, 557, 832, 935, 1047, 1147, 1251),
        "rcs": (41.9, 104, 244, 487, 722, 801, 891, 965, 1065),
        "ccb": (44.4, 118, 289, 570, 800, 884, 965, 1069, 1221),
    },
    "gap": {
        "d-ts": (23.2, 64.9, 147, 312, 710, 1352, 2262, 3202, 5063),
        "ecw-rmed": (24.1, 62.1, 166, 440, 1312, 3469, 9502, 15943, 17962),
        "ecw-rmed fixed": (23.8, 57.5, 86.9, 134, 280, 690, 1792, 3252, 3487),
    },
    "cyclic": {
        "d-ts": (38.2, 73.0, 124, 176, 229, 282, 338),
        "d-ts+": (37.9, 74.1, 124, 173, 229, 279, 336),
        "rmed1": (35.9, 80.6, 192, 281, 350, 408, 469),
        "rucb": (47.4, 118, 327, 443, 511, 580, 653),
        "rcs": (50.9, 145, 383, 532, 596, 646, 710),
        "ccb": (48.0, 119, 323, 431, 502, 560, 623),
    },
}
ERRORS = {
    "mslr5-condorcet": {
        "d-ts": (0.7, 1.9, 5.0, 11.6, 15.6, 16.9, 18.3, 49.7, 53.9),
        "d-ts+": (0.7, 1.9, 5.1, 9.3, 12.0, 13.6, 16.1, 47.1, 50.5),
        "rmed1": (0.6, 1.7, 4.4, 7.6, 17.2, 26.0, 28.6, 78.2, 78.9),
        "ecw-rmed": (0.1, 1.3, 4.4, 9.3, 19.7, 23.7, 24.5, 58.3, 65.4),
        "rucb": (0.2, 0.9, 2.8, 8.1, 25.2, 27.6, 30.2, 95.0, 92.1),
        "rcs": (0.3, 1.2, 3.2, 8.4, 22.9, 24.6, 26.3, 57.3, 64.6),
        "ccb": (0.2, 0.9, 2.9, 9.0, 22.8, 24.2, 25.7, 73.9, 87.1),
    },
    "gap": {
        "d-ts": (0.3, 0.7, 3.8, 11.6, 37.1, 86.6, 145, 526, 676),
        "ecw-rmed": (0.1, 1.0, 5.4, 19.1, 62.3, 163, 463, 2296, 2247),
        "ecw-rmed fixed": (0.1, 0.8, 2.5, 9.5, 38.5, 124, 371, 1349, 1444),
    },
    "cyclic": {
        "d-ts": (0.9, 2.0, 3.6, 5.1, 6.8, 8.2, 9.4),
        "d-ts+": (0.9, 1.8, 3.5, 4.9, 6.1, 7.2, 8.3),
        "rmed1": (0.7, 1.2, 5.5, 10.0, 10.8, 11.4, 12.1),
        "rucb": (0.2, 0.3, 4.9, 11.0, 12.3, 12.6, 13.4),
        "rcs": (0.5, 2.1, 8.4, 18.5, 19.2, 19.0, 19.6),
        "ccb": (0.2, 0.4, 4.4, 10.2, 11.7, 12.2, 13.1),
    },
}


def distances(matrix, case, **options):
    """Return difference of means in combined standard errors, per checkpoint."""
    policy, *fixed = case.split()
    means, errors = MEANS[matrix][case], ERRORS[matrix][case]
    rounds = ROUNDS[: len(means)]
    result = bayesduel.simulate(
        matrix, policy, num_runs=NUM_RUNS[matrix], horizon=rounds[-1],
        checkpoints=rounds, seed=2016, shuffle=not fixed,
    )  # fmt: skip
    regret = result["regret"].sel(notion="copeland").values
    error = regret.std(axis=0, ddof=1) / math.sqrt(len(regret))
    return dict(
        zip(
            rounds, (regret.mean(axis=0) - means) / np.hypot(error, errors), strict=True
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("matrix", "case"), [(matrix, case) for matrix in MEANS for case in MEANS[matrix]]
)
def test_regret_is_that_of_the_published_code(matrix, case):
    result = distances(matrix, case)
    assert max(map(abs, result.values())) < STANDARD_ERRORS, result
