"""What is public in `bayesduel.papers`."""

from __future__ import annotations

from pathlib import Path

from bayesduel import papers
from tests import fake_results as fake
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target


def of_papers() -> dict[str, Target]:
    """Return what is public in `bayesduel.papers`."""
    constant = {"self": Made(v.constants)}
    columns = {"name": ["cw", "ecw", "arms", "number", "__class__", "run"]}
    kind = papers.SubmatrixConstants
    return {
        "SubmatrixConstants.values": Target(kind.values, columns, constant),
        "SubmatrixConstants.mean": Target(kind.mean, columns, constant),
        "SubmatrixConstants.standard_error": Target(
            kind.standard_error, columns, constant
        ),
        "reproduction": Target(
            papers.reproduction,
            {
                "found": [Made(v.reproduced), Made(v.tree)],
                "width": v.FIGURE_SIZES["width"],
            },
        ),
        "submatrix_constants": Target(
            papers.submatrix_constants,
            {
                "matrix": [fake.CONDORCET, fake.TIED, v.WINS],
                "num_submatrices": v.NUMBERS,
                "size": [3, 5, 6, *v.NUMBERS],
                "min_gap": [0.0, 0.01, 0.4],
                "seed": v.KEYS,
                "jobs": [1, None, 10**9],
                "progress": [False],
                "out": [None, "out", "votes.csv", Path("new/deep")],
                "resume": [False, True],
                "overwrite": [False, True],
            },
        ),
    }
