"""How a command declares its arguments and options, and those that several share.

A command is a function whose parameters have an `argument` or an `option` as default,
or are dataclasses with such fields: options that several commands share. `command` puts
it among the commands of its folder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import reduce
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
    """A command.

    Attributes
    ----------
    function : callable
        What it does; its docstring is the help.
    example : str
        A line that may be typed after ``bayesduel``; help ends with it.
    """

    function: Callable[..., None]
    example: str

    def made(self, name: str) -> Any:
        """Return it as Typer has commands."""
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name, cls=_PlainCommand)(_flat(self.function))
        command = typer.main.get_command(alone)
        command.epilog = f"Example: bayesduel {self.example}"
        return command


def command[F: Callable[..., None]](example: str) -> Callable[[F], F]:
    """Register a function as the command of its name.

    Parameters
    ----------
    example : str
        A line that may be typed after ``bayesduel``; the help of the command shows it.
    """

    def register(function: F) -> F:
        name = function.__name__.strip("_").replace("_", "-")
        folder = function.__module__.rpartition(".")[0]
        COMMANDS[folder][name] = Command(function, example)
        return function

    return register


@dataclass(frozen=True)
class _Declared:
    """An argument or option of a command, as it stands in the place of a default."""

    default: Any
    help: str
    metavar: str | None
    names: tuple[str, ...]
    least: int | None = None
    more: dict[str, Any] = field(default_factory=dict)
    alone: bool = False


def option(
    default: Any,
    help: str,
    metavar: str | None = None,
    *names: str,
    least: int | None = None,
    **more: Any,
) -> Any:
    """Declare an option; what it takes is said by the annotation.

    Parameters
    ----------
    default : Any
        The value of the option where it is not typed.
    help : str
        One or two sentences.
    metavar : str, optional
        The value in the help.
    *names : str
        Such as ``"-n", "--number"``. By default the name of the parameter.
    least : int, optional
        The smallest whole number that is allowed.
    **more : Any
        Arguments of ``typer.Option``.
    """
    return _Declared(default, help, metavar, names, least, more)


def argument(
    help: str, metavar: str | None = None, default: Any = ..., **more: Any
) -> Any:
    """Declare an argument: what is typed without a name, where it has no default.

    Parameters
    ----------
    help : str
        One or two sentences.
    metavar : str, optional
        Its name in the help and in errors.
    default : Any, optional
        The value where it may be left out.
    **more : Any
        Arguments of ``typer.Argument``.
    """
    return _Declared(default, help, metavar, (), more=more, alone=True)


def _parameter(name: str, kind: Any, declared: _Declared) -> Parameter:
    """Return a parameter as Typer reads it."""
    more = {"help": declared.help, "metavar": declared.metavar, **declared.more}
    kinds, names = {kind, *get_args(kind)}, declared.names
    if bool in kinds:  # A flag has no value.
        more["metavar"] = " "
        names = names or (f"--{name.replace('_', '-')}",)
    elif int in kinds:
        more["parser"] = _reader(parse.integer, least=declared.least)
    elif float in kinds:
        more["parser"] = _reader(parse.number)
    made = typer.Argument(**more) if declared.alone else typer.Option(*names, **more)
    default = Parameter.empty if declared.default is ... else declared.default
    annotation = Annotated[_with_enums(kind), made]
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
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


def _flat(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes each field of its dataclasses by itself."""
    hints, parts = get_type_hints(function), {}
    parameters: list[Parameter] = []
    for each in signature(function).parameters.values():
        kind = hints[each.name]
        if is_dataclass(kind):
            inner = get_type_hints(kind)
            parts[each.name] = kind
            parameters += [
                _parameter(own.name, inner[own.name], own.default)  # pyright: ignore
                for own in fields(kind)
            ]
        elif isinstance(each.default, _Declared):
            parameters.append(_parameter(each.name, kind, each.default))
        else:  # The context.
            parameters.append(each.replace(annotation=kind))

    def called(**typed: Any) -> None:
        given = {name: _without_enums(value) for name, value in typed.items()}
        for name, kind in parts.items():
            given[name] = kind(
                **{own.name: given.pop(own.name) for own in fields(kind)}
            )
        function(**given)

    called.__doc__ = function.__doc__
    called.__signature__ = Signature(parameters)  # pyright: ignore
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


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


class _PlainCommand(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx), ctx)


def policy_names(incomplete: str) -> list[str]:
    """Return the policies whose names begin so, for the Tab key."""
    from bayesduel.policies import names, subset_names

    return beginning(incomplete, [*names(), *subset_names()])


def instance_names(incomplete: str) -> list[str]:
    """Return the matrices, families and worlds whose names begin so."""
    from bayesduel.instances import choice, family_names, names, worlds

    changing = worlds.pair_world_names()
    known = [*names(), *family_names(), *changing, *choice.world_names()]
    return beginning(incomplete, known)


def beginning(incomplete: str, names: list[str]) -> list[str]:
    """Return the names that begin so."""
    return [each for each in names if each.lower().startswith(incomplete.lower())]


SEED = option(0, "The same seed, the same result.", "S", least=0)
JOBS = option(None, "Worker processes; default: all cores.", "N")
FORMAT = option("netcdf", "Of the results: netcdf, or zarr (results.zarr.zip).", "NAME")
REPAIR = option(False, "Accept files where P + P^T is off 1 by rounding.")
RESUME = option(False, "Go on from what is in the folder.")
INTERVAL = option(0.9, "Of intervals.", "P", "--interval")
QUIET = option(False, "No progress and no messages.", None, "-q", "--quiet")
JSON = option(
    False, "Print JSON, and nothing else, to standard output.", None, "--json"
)
OVERWRITE = option(False, "Replace what is in the folder.")
