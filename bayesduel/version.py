"""The version of this distribution, as it is installed."""

from importlib.metadata import version

__version__ = version("bayesduel")
