"""Runs of a kernel where Numba has none of the private names that we use.

Called as ``python -m tests.ops.without_private_names policy...``: prints a digest of
the plays for each policy.
"""

import hashlib
import sys
from collections.abc import Iterable

import numba
import numba.core.compiler_machinery as machinery
import numba.core.typing.templates as templates
import numba.np.random.generator_core as generator_core
import numpy as np


def hide() -> None:
    """Delete what ours import from Numba; it has imported them for itself already."""
    numba.njit(lambda rng: rng.random())(
        np.random.default_rng()
    )  # Imports what it needs for any function.
    del machinery.register_pass
    del templates.infer_getattr
    del generator_core.next_uint64


def digests(names: Iterable[str], *, hidden: bool) -> list[str]:
    """Play, and return what was played, a line each."""
    import bayesduel
    from bayesduel.ops.scalar import compiler

    mine = compiler._OWN is not None
    assert mine is not hidden, "the private names are not what they should be"
    results = []
    for name in names:
        result = bayesduel.simulate(
            "mslr5-condorcet", name, num_runs=3, horizon=5000, seed=4
        )
        plays = np.ascontiguousarray(result["plays"].values)
        results.append(f"{name} {plays.sum()} {hashlib.sha256(plays).hexdigest()}")
    return results


if __name__ == "__main__":
    hide()
    print(*digests(sys.argv[1:], hidden=True), sep="\n")
