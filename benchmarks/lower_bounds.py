"""The lower-bound program in its forms, with the closed form of ECW as the unit."""

from statistics import median

import numpy as np

from bayesduel.instances.generators import uniform_random
from theory import (
    PreferenceMatrix,
    copeland_lower_bound,
    ecw_rmed_constant,
    structured_lower_bound,
)

from .timing import report, time_call

NUM_ARMS = 16
NUM_MATRICES = 8
SIZES = (16, 32, 64, 100)
"""Arms of Bradley-Terry models."""


def main() -> None:
    """Print medians over random matrices with a unique Copeland winner."""
    rng = np.random.default_rng(1)
    matrices: list[PreferenceMatrix] = [
        uniform_random(rng, NUM_ARMS, winner="unique_copeland", min_gap=0.005).matrix
        for _ in range(NUM_MATRICES)
    ]
    closed = [time_call(lambda m=m: ecw_rmed_constant(m)) for m in matrices]
    prefix = [time_call(lambda m=m: copeland_lower_bound(m)) for m in matrices]
    modelled = [
        time_call(lambda m=m: copeland_lower_bound(m, method="cvxpy"), at_least=0.0)
        for m in matrices
    ]
    report(
        f"Lower bounds of {NUM_MATRICES} random {NUM_ARMS}-armed matrices (medians)",
        [
            {
                "form": name,
                "milliseconds": 1e3 * median(times),
                "times ECW": median(a / b for a, b in zip(times, closed, strict=True)),
                "times prefix": median(
                    a / b for a, b in zip(times, prefix, strict=True)
                ),
            }
            for name, times in (
                ("ECW closed form", closed),
                ("prefix variables, HiGHS", prefix),
                ("CVXPY", modelled),
            )
        ],
    )
    utilities = np.random.default_rng(0).normal(size=max(SIZES))
    seconds = [
        time_call(lambda k=k: structured_lower_bound(utilities[:k]), at_least=0.0)
        for k in SIZES
    ]
    report(
        "Lower bounds under a Bradley-Terry model",
        [
            {"arms": k, "seconds": time, "times 16 arms": time / seconds[0]}
            for k, time in zip(SIZES, seconds, strict=True)
        ],
    )
