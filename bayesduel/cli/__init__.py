"""The command ``bayesduel``: one file per subcommand.

Only Typer and Rich are imported up front; JAX, xarray, matplotlib and CVXPY are
imported inside the commands that need them, so that ``--help`` answers at once.
"""

from bayesduel.cli.app import app, main

__all__ = ["app", "main"]
