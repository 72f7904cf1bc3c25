"""Public functions to fuzz in `bayesduel.papers`."""

from __future__ import annotations

from pathlib import Path

from bayesduel import papers
from tests import fake_results as fake
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target, target


def of_papers() -> dict[str, Target]:
    """Return what is public in `bayesduel.papers`."""
    constants = Made(v.constants)
    columns = {"name": ["cw", "ecw", "arms", "number", "__class__", "run"]}
    kind = papers.SubmatrixConstants
    return {
        "SubmatrixConstants.values": target(kind.values, columns, of=constants),
        "SubmatrixConstants.mean": target(kind.mean, columns, of=constants),
        "SubmatrixConstants.standard_error": target(
            kind.standard_error, columns, of=constants
        ),
        "reproduction": target(
            papers.reproduction,
            found=[Made(v.reproduced), Made(v.tree)],
            width=v.FIGURE_SIZES["width"],
        ),
        "submatrix_constants": target(
            papers.submatrix_constants,
            matrix=[fake.CONDORCET, fake.TIED, v.WINS],
            num_submatrices=v.NUMBERS,
            size=[3, 5, 6, *v.NUMBERS],
            min_gap=[0.0, 0.01, 0.4],
            seed=v.KEYS,
            jobs=[1, None, 10**9],
            progress=[False],
            out=[None, "out", "votes.csv", Path("new/deep")],
            resume=[False, True],
            overwrite=[False, True],
        ),
    }
