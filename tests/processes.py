"""Waiting for what other processes do, on machines however busy."""

import os
import time

PATIENCE = 240.0
"""Seconds until something that must happen counts as missing."""


def wait_for(happens, process=None):
    """Wait until ``happens()`` is true, which needs a running process; return it."""
    deadline = time.monotonic() + PATIENCE
    while not (result := happens()):
        ended = process is not None and process.poll() is not None
        assert not ended or happens(), process.communicate()
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)
    return result


def wait_for_end(group):
    """Wait until all processes of a group have ended."""

    def has_ended():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    wait_for(has_ended)
