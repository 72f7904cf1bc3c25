"""Runs of a kernel where Numba has none of the private names that we use.

Called as ``python -m tests.ops.without_private_names hidden|shown policy...``: prints
a digest of the plays for each policy.
"""

import hashlib
import sys

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


def main(how: str, *names: str) -> None:
    """Play, and print what was played."""
    if how == "hidden":
        hide()
    import bayesduel
    from bayesduel.ops.scalar import compiler

    own = compiler._OWN is not None
    assert own is (how == "shown"), "the private names are not what they should be"
    for name in names:
        result = bayesduel.simulate(
            "mslr5-condorcet", name, num_runs=3, horizon=5000, seed=4
        )
        plays = np.ascontiguousarray(result["plays"].values)
        print(name, int(plays.sum()), hashlib.sha256(plays.tobytes()).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
