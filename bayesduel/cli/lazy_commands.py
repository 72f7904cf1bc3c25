"""Subcommands that are imported when they are typed, and the example of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

EXAMPLES = {
    "compare": "compare -i gap -p d-ts -p rucb --horizon 1e6 --out results",
    "config": "config -i sushi -p d-ts --horizon 1e6 > sweep.toml",
    "merge": "merge results",
    "bounds": "bounds sushi --all",
    "plot": "plot results --bounds lower,d-ts",
    "fit": "fit votes.csv --scale elo --check",
    "fit-choices": "fit-choices trips.csv --attributes cost,time --choice mode",
    "next": "next votes.csv -p d-ts+ -n 20",
    "calibrate": "calibrate votes.csv --model bradley-terry",
    "audit-stopping": "audit-stopping -i gap -p balanced --budget 1000",
    "reproduce": "reproduce dts-1 --scale 0.1 --out figure1",
    "list": "list policies",
    "show": "show d-ts",
    "demo": "demo --out demo-results",
    "study": "study new drinks.study --arms tea,coffee,milk",
    "study new": "study new drinks.study --arms tea,coffee,milk --budget 300",
    "study ask": "study ask drinks.study --judge Ada",
    "study tell": "study tell drinks.study 1 left",
    "study undo": "study undo drinks.study 1",
    "study withdraw": "study withdraw drinks.study 1",
    "study vote": "study vote drinks.study --judge Ada",
    "study page": "study page drinks.study",
    "study status": "study status drinks.study",
    "study report": "study report drinks.study",
    "study add-arm": "study add-arm drinks.study water",
    "study retire-arm": "study retire-arm drinks.study milk",
    "study restore-arm": "study restore-arm drinks.study milk",
    "study rename-arm": "study rename-arm drinks.study tea 'green tea'",
    "study merge-arms": "study merge-arms drinks.study latte coffee",
    "study gold": "study gold drinks.study tea dishwater",
    "study judge": "study judge drinks.study Ada --limit 50",
    "study import": "study import drinks.study votes.csv",
    "study undo-import": "study undo-import drinks.study 12",
    "study export": "study export drinks.study",
    "study copy": "study copy drinks.study copy.study",
    "study check": "study check drinks.study",
    "study verify": "study verify drinks.study",
    "study serve-stdin": "study serve-stdin drinks.study",
}
"""What is typed after ``bayesduel``, by subcommand."""


_WORDS = {"bool": " ", "int": "N", "float": "NUMBER", "path": "PATH", "str": "TEXT"}


def with_plain_types(parameters: list[Any], ctx: Any) -> list[Any]:
    """Let help show no types of Python, which Typer writes from 0.20 on.

    "<bool>" of a flag becomes nothing, "<str>" TEXT, "<list[png|svg]>" <png|svg>.
    """
    for each in parameters:
        display = getattr(each, "display_type", None)
        kind = display(ctx).strip("<>") if display else ""
        inner = kind.removeprefix("list[").removesuffix("]")
        if inner not in _WORDS and inner == kind:
            continue
        if each.param_type_name == "argument":
            # Beside its name, which says what it is; a metavar would be that name.
            each.display_type_rich = lambda ctx: None
        elif each.metavar is None:
            each.metavar = _WORDS.get(inner, f"<{inner}>")
    return parameters


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx), ctx)


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
                alone.command(name, cls=_Command)(found)
                found = alone
            command = typer.main.get_command(found)
            command.name = name
            command.epilog = f"Example: bayesduel {EXAMPLES[self._within + name]}"
            self._made[name] = command
        return self._made[name]
