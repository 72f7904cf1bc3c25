"""Random bits by the function that Numba has behind its methods of a generator.

A method makes an array of one, which kernels own no memory for; the function is
private to Numba.
"""

import numpy as np
from numba.np.random.generator_core import next_uint64
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import inlined


@inlined
def raw_bits(rng: Generator) -> np.uint64:
    """Draw 64 random bits."""
    return next_uint64(rng.bit_generator)
