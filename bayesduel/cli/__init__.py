"""The command ``bayesduel``: one file per subcommand.

Only Typer and Rich are imported up front; JAX, xarray, matplotlib and CVXPY are
imported inside the commands that need them, so that ``--help`` answers at once.
"""

import signal
from contextlib import suppress

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point ``bayesduel``."""
    # Without a traceback of what is being imported, or taken down in the end: a command
    # sets what raises, and that only while it runs.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with suppress(ValueError):  # Not in the main thread.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    from bayesduel.cli.app import run

    run()
