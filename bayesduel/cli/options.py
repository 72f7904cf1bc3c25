"""How a command declares its arguments and options, and those that several share.

A command is a function whose parameters have an `argument` or an `option` as default,
or are dataclasses with such fields: options that several commands share. `command` puts
it among the commands of its folder.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, reduce
from inspect import Parameter, Signature, signature
from operator import or_
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from bayesduel.cli import parse

COMMANDS: defaultdict[str, dict[str, Command]] = defaultdict(dict)
"""The commands that were imported, by the package of their files and by their names."""


@dataclass(frozen=True)
class Command:
    """A command: its function, and an example and panels for its help."""

    function: Callable[..., None]
    example: str
    panels: Mapping[str, str]

    def made(self, name: str) -> Any:
        """Return it as Typer has commands."""
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name, cls=_PlainCommand)(_flat(self.function, self.panels))
        command = typer.main.get_command(alone)
        command.epilog = f"Example: bayesduel {self.example}"
        return command


def command[F: Callable[..., None]](
    example: str, panels: Mapping[str, str] | None = None
) -> Callable[[F], F]:
    """Register a function as the command of its name.

    The help ends with ``example``, a line that may be typed after ``bayesduel``. It has
    ``panels`` of parameters, between spaces, by title; ``"Options"`` comes first.
    """

    def register(function: F) -> F:
        name = function.__name__.strip("_").replace("_", "-")
        folder = function.__module__.rpartition(".")[0]
        COMMANDS[folder][name] = Command(function, example, panels or {})
        return function

    return register


@dataclass(frozen=True)
class _Declared:
    """An argument or option of a command, as it stands in the place of a default."""

    help: str
    names: tuple[str, ...]
    default: Any
    least: int | None
    is_argument: bool
    more: dict[str, Any]


def option(
    help: str, *names: str, default: Any = None, least: int | None = None, **more: Any
) -> Any:
    """Declare an option; what it takes is said by the annotation.

    The help may begin with what it takes, in capitals: ``"N: Worker processes."``. The
    default ``...`` means that the option must be typed, ``least`` is the smallest whole
    number; ``more`` are arguments of ``typer.Option``.
    """
    return _Declared(help, names, default, least, False, more)


def argument(help: str, *, default: Any = None, **more: Any) -> Any:
    """Declare an argument, which is typed without a name.

    The help begins with its name: ``"MATRIX: Name, or file (CSV, NPY, NPZ)."``. It may
    be left out where the annotation has None.
    """
    return _Declared(help, (), default, None, True, more)


_METAVAR = re.compile(r"([A-Z][^a-z ]*): ")


def _parameter(
    name: str, kind: Any, declared: _Declared, panel: str | None
) -> Parameter:
    """Return a parameter as Typer reads it."""
    kinds, names, default = {kind, *get_args(kind)}, declared.names, declared.default
    metavar = _METAVAR.match(declared.help)
    more = {
        "help": declared.help[metavar.end() if metavar else 0 :],
        "metavar": metavar[1] if metavar else None,
        "rich_help_panel": None if panel == "Options" else panel,
        **declared.more,
    }
    if bool in kinds:  # A flag has no value.
        more["metavar"], default = " ", bool(default)
        names = names or (f"--{name.replace('_', '-')}",)
    elif int in kinds:
        more["parser"] = _reader(parse.integer, least=declared.least)
    elif float in kinds:
        more["parser"] = _reader(parse.number)
    if default is ... or (default is None and type(None) not in kinds):
        default = Parameter.empty
    made = (
        typer.Argument(**more) if declared.is_argument else typer.Option(*names, **more)
    )
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[_with_enums(kind), made],
    )


def _reader(parser: Callable[..., Any], **rule: Any) -> Callable[[Any], Any]:
    # Typer 0.18 asks a parser for its name, which a partial has not. A default is no
    # text, and stays as it is.
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return parser(value, **rule)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error

    return read


def _with_enums(kind: Any) -> Any:
    # Typer 0.18 knows no Literal.
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return StrEnum("Choice", {text: text for text in inner})
    if origin is list:
        return list[_with_enums(inner[0])]
    return reduce(or_, map(_with_enums, inner)) if inner else kind


def _without_enums(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [*map(_without_enums, value)]
    return str(value) if isinstance(value, StrEnum) else value


_hints = cache(get_type_hints)


def _flat(
    function: Callable[..., None], panels: Mapping[str, str]
) -> Callable[..., None]:
    """Return a command that takes each field of its dataclasses by itself."""
    hints, parts = get_type_hints(function), {}
    titles = {name: title for title, names in panels.items() for name in names.split()}
    declared: dict[str, tuple[Any, _Declared]] = {}
    parameters: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            inner = _hints(kind)
            parts[parameter.name] = kind
            for field in fields(kind):
                declared[field.name] = inner[field.name], field.default  # pyright: ignore
        elif isinstance(parameter.default, _Declared):
            declared[parameter.name] = kind, parameter.default
        else:  # The context.
            parameters.append(parameter.replace(annotation=kind))
    for name in dict.fromkeys([*titles, *declared]):
        parameters.append(_parameter(name, *declared[name], titles.get(name)))

    def called(**typed: Any) -> None:
        given = {name: _without_enums(value) for name, value in typed.items()}
        for name, kind in parts.items():
            given[name] = kind(
                **{field.name: given.pop(field.name) for field in fields(kind)}
            )
        function(**given)

    called.__doc__ = function.__doc__
    called.__signature__ = Signature(parameters)  # pyright: ignore
    called.__annotations__ = {
        parameter.name: parameter.annotation for parameter in parameters
    }
    return called


_WORDS = {"bool": " ", "int": "N", "float": "NUMBER", "path": "PATH", "str": "TEXT"}


def with_plain_types(parameters: list[Any], ctx: Any) -> list[Any]:
    """Let help show no types of Python, which Typer writes from 0.20 on."""
    for parameter in parameters:
        display = getattr(parameter, "display_type", None)
        kind = display(ctx).strip("<>") if display else ""
        inner = kind.removeprefix("list[").removesuffix("]")
        if inner not in _WORDS and inner == kind:
            continue
        if parameter.param_type_name == "argument":
            # Beside its name, which says what it is; a metavar would be that name.
            parameter.display_type_rich = lambda ctx: None
        elif parameter.metavar is None:
            parameter.metavar = _WORDS.get(inner, f"<{inner}>")
    return parameters


class _PlainCommand(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx), ctx)


def policy_names(incomplete: str) -> list[str]:
    """Return the policies whose names begin so, for the Tab key."""
    from bayesduel.policies import names, subset_names

    return beginning(incomplete, [*names(), *subset_names()])


def matrix_names(incomplete: str) -> list[str]:
    """Return the matrices and families of them whose names begin so."""
    from bayesduel.instances import family_names, names

    return beginning(incomplete, [*names(), *family_names()])


def instance_names(incomplete: str) -> list[str]:
    """Return the matrices, families and worlds whose names begin so."""
    from bayesduel.instances import choice, worlds

    others = [*worlds.pair_world_names(), *choice.world_names()]
    return matrix_names(incomplete) + beginning(incomplete, others)


def beginning(incomplete: str, names: list[str]) -> list[str]:
    """Return the names that begin so."""
    return [name for name in names if name.lower().startswith(incomplete.lower())]


SEED = option(
    "S: Seed of the random numbers; the same seed gives the same result.",
    default=0,
    least=0,
)
JOBS = option("N: Worker processes; default: all cores.")
FORMAT = option(
    "NAME: Format of the results: netcdf, or zarr (results.zarr.zip).", default="netcdf"
)
REPAIR = option("Accept files where P + P^T is off 1 by rounding.")
RESUME = option("Continue from the results in the folder.")
INTERVAL = option("P: Probability of intervals.", "--interval", default=0.9)
QUIET = option("Print no progress and no messages.", "-q", "--quiet")
JSON = option("Print JSON, and nothing else, to standard output.", "--json")
OVERWRITE = option("Replace the results in the folder.")
