"""Subcommands that are imported when they are typed, and the example of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer

from bayesduel.cli.examples import EXAMPLES

__all__ = ["LazyCommands"]


class LazyCommands(Mapping[str, Any]):
    """The commands of a group by name, as Typer reads them.

    ``places`` says where the function of each is written, ``module:function`` below
    `bayesduel.cli`, or the Typer group of further ones.
    """

    def __init__(self, places: dict[str, str], within: str = "") -> None:
        self._places, self._within = places, within
        self._made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module, _, own = self._places[name].partition(":")
            found = getattr(import_module(f"bayesduel.cli.{module}"), own)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
                alone.command(name)(found)
                found = alone
            command = typer.main.get_command(found)
            command.name = name
            command.epilog = f"Example: bayesduel {EXAMPLES[self._within + name]}"
            self._made[name] = command
        return self._made[name]
