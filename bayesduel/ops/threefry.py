"""The hash behind JAX's random numbers, in NumPy."""

import numpy as np
from jaxtyping import UInt32

Word = UInt32[np.ndarray, "..."]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_WORD = 32


def threefry(key: tuple[Word, Word], count: tuple[Word, Word]) -> tuple[Word, Word]:
    """Return Threefry-2x32 with 20 rounds of counts by keys.

    Arrays of one rank, which broadcast. J. K. Salmon, M. A. Moraes, R. O. Dror and
    D. E. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
    """
    schedule = (*key, key[0] ^ key[1] ^ _PARITY)
    one, other = count[0] + schedule[0], count[1] + schedule[1]
    for group in range(1, 6):
        for rotation in _ROTATIONS[(group - 1) % 2]:
            one = one + other
            left = other << np.uint32(rotation)
            other = (left | other >> np.uint32(_WORD - rotation)) ^ one
        one = one + schedule[group % 3]
        other = other + schedule[(group + 1) % 3] + np.uint32(group)
    return one, other
