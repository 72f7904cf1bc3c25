"""What engines return of a chunk of runs, and what they are called."""

from dataclasses import dataclass

import numpy as np

PROGRAMS = {"scalar": "kernel-1", "jax": "jax-3", "numpy": "numpy-1"}
"""Names of the engines in results, with a version of their random streams: it grows
where run r of a seed becomes another one."""


@dataclass(frozen=True)
class RunRecords:
    """NumPy results of a chunk of runs, in the original labels of the arms."""

    ledger: dict[str, np.ndarray]
    recommendation: np.ndarray
    info: dict[str, np.ndarray]
    events: np.ndarray
    finished: np.ndarray
    run_seconds: float
    compile_seconds: float
    device: str = "cpu"
    """What played them, as JAX calls it."""
