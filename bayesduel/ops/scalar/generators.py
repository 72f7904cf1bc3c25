"""What a generator of NumPy draws, as parts of kernels."""

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import inlined

_MOST: Any = np.uint64(2**64 - 1)


@inlined
def raw_bits(rng: Generator) -> np.uint64:
    """Draw 64 random bits; compiled as ``ops.scalar._own_generators`` has it."""
    bits: Any = rng.integers(np.uint64(0), _MOST, dtype=np.uint64, endpoint=True)
    return bits
