"""Groups of processes that tests start."""

import os
import time


def ends(group, seconds=20.0):
    """Say whether a group of processes has ended, or does so soon."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
