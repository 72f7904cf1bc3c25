"""How runs begin: their keys and the order of their arms, whatever the policy.

A function of seed and number of the run, and of nothing else: in NumPy, so that nothing
is compiled for it, by the rules of ``jax.random`` for its default generator.
"""

import numpy as np
from jaxtyping import Int, UInt32

from bayesduel.simulation.environments import Environment

Word = UInt32[np.ndarray, "..."]

INIT = 2**32 - 1
"""What is folded in instead of an event number when a run starts."""


def orders_and_words(
    environment: Environment, runs: range, seed: int
) -> tuple[Int[np.ndarray, "run K"], UInt32[np.ndarray, "run 2"]]:
    """Return the order of the arms in every run, and the words of its key.

    Orders are int32 (run, K): the arm at each position. Words are uint32 (run, 2), as
    ``jax.random.key_data(fold_in(key(seed), number))``; ``seed`` is below 2^63, numbers
    of runs are below 2^32.

    The order of a shuffled environment is drawn by ``split(fold_in(key, INIT))[0]``:
    arms by 32 random bits each, as ``jax.random.permutation`` sorts them. Two with
    equal bits, one pair in 2^32, keep their order.
    """
    root = (_row(seed >> 32), _row(seed & 0xFFFFFFFF))
    key = _folded(root, np.arange(runs.start, runs.stop, dtype=np.uint32)[:, None])
    words = np.concatenate(key, axis=1)
    num_arms = environment.num_arms
    if not environment.shuffle:
        order = np.arange(num_arms, dtype=np.int32)
        return np.tile(order, (len(runs), 1)), words
    key_environment = _folded(_folded(key, _row(INIT)), _row(0))
    key_bits = _folded(key_environment, _row(1))
    high, low = threefry(key_bits, (_row(0), _row(*range(num_arms))))
    order = np.argsort(high ^ low, axis=1, kind="stable")
    return order.astype(np.int32), words


def _folded(key: tuple[Word, Word], number: Word) -> tuple[Word, Word]:
    """Return ``fold_in(key, number)``, which is ``split(key, n)[number]`` as well."""
    return threefry(key, (np.zeros_like(number), number))


def _row(*numbers: int) -> UInt32[np.ndarray, "1 n"]:
    return np.array([numbers], dtype=np.uint32)


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_WORD = 32


def threefry(key: tuple[Word, Word], count: tuple[Word, Word]) -> tuple[Word, Word]:
    """Return Threefry-2x32 with 20 rounds of counts by keys, the generator of JAX.

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
