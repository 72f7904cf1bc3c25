"""What both engines return of a chunk of runs."""

from dataclasses import dataclass

import numpy as np


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
