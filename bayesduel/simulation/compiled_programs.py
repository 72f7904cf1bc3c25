"""Compiled programs, of which a process can hold so many."""

import sys
from pathlib import Path

MOST_MAPPINGS = 30_000
"""Linux allows a process 65,530 memory mappings; a program takes 500 to 800."""


def drop_if_many() -> bool:
    """Drop all compiled programs before there are too many for one process.

    XLA ends the process where it gets no further mapping: a comparison of all policies
    on matrices of five sizes has more programs than that. They are compiled again, or
    read from the cache on disk, where there is one.

    Returns
    -------
    bool
        Whether they were dropped. Never where the system has no list of mappings.
    """
    if "jax" not in sys.modules:
        return False
    try:
        num_mappings = Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:  # Not Linux.
        return False
    if num_mappings <= MOST_MAPPINGS:
        return False
    sys.modules["jax"].clear_caches()
    return True
