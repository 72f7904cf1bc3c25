"""The version of this distribution."""

from importlib.metadata import version


def package_version() -> str:
    """Return it, as it is installed."""
    return version("bayesduel")
