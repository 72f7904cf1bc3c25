"""Folders in which the command line looks for modules that users name."""

import sys

__all__ = ["FOLDERS", "look_there"]

FOLDERS: list[str] = []
"""The folder where the command was called; empty in a program that imports us."""


def look_there() -> None:
    """Let modules in these folders be imported, before those that are installed.

    Only when a policy such as ``mine:Greedy``, or a world, is asked for: in a folder of
    data, a file that is called like a package must not be run by a command that reads
    the data.
    """
    sys.path[:0] = [folder for folder in FOLDERS if folder not in sys.path]
