"""The command itself: how its subcommands are found, and ``--version``.

Each file in ``commands`` holds a command, or several small ones on one subject, and so
does each file in ``commands/study``. They are imported when a command is typed.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bayesduel.arguments.literals import FOLDERS
from bayesduel.cli.errors import friendly_errors, quiet_pipes
from bayesduel.cli.options import COMMANDS, with_plain_types
from bayesduel.cli.output import degrade_encodings, version
from bayesduel.ops.program_cache import own_process
from bayesduel.signals import SIGNALLED, signals_raise

_FIRST = (
    "compare", "config", "merge", "bounds", "plot", "fit", "fit-choices", "audit",
    "standing", "next", "calibrate", "audit-stopping", "reproduce", "list", "show",
    "demo", "study", "new",
    "ask", "tell", "undo", "withdraw", "vote", "page", "status", "report", "add-arm",
    "retire-arm", "restore-arm", "rename-arm", "merge-arms", "gold", "judge", "import",
    "undo-import", "export", "copy", "check", "verify", "serve-stdin",
)  # fmt: skip
_RANK = {name: rank for rank, name in enumerate(_FIRST)}
"""The order of commands in the help; others follow by name."""

_PARAMETERS = {
    "blocked": "block", "contest_covariates": "contest_covariate", "group": "by",
    "instances": "instance", "n": "number", "name": "figure", "num_runs": "runs",
    "num_warmup": "warmup", "panels": "panel", "path": "file", "policies": "policy",
    "prior": "prior_scale", "rng_key": "seed", "shuffle": "no_shuffle",
    "ticket": "number", "ties": "tie_columns",
}  # fmt: skip
"""Parameters of commands that are not called as the argument that they become."""


class _Commands(Mapping[str, Any]):
    """The commands in a folder by name, each imported and made when it is typed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = Path(next(iter(import_module(folder).__path__)))
        self._made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        groups = self._path.glob("*/__init__.py")
        names = {path.parent.name.replace("_", "-") for path in groups}
        for path in self._path.glob("[!_]*.py"):
            import_module(f"{self._folder}.{path.stem}")
        names |= COMMANDS[self._folder].keys()
        return iter(sorted(names, key=lambda name: (_RANK.get(name, len(_RANK)), name)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make(name)
            self._made[name].name = name
        return self._made[name]

    def _make(self, name: str) -> Any:
        function = name.replace("-", "_")
        if not function.isidentifier():
            raise KeyError(name)
        if (self._path / function / "__init__.py").exists():
            return typer.main.get_command(make_group(f"{self._folder}.{function}"))
        commands = COMMANDS[self._folder]
        if name not in commands:
            # To import all files takes a twentieth of a second.
            definition = re.compile(rf"^def {function}_?\(", re.MULTILINE)
            for path in self._path.glob("[!_]*.py"):
                if definition.search(path.read_text("utf-8")):
                    import_module(f"{self._folder}.{path.stem}")
        return commands[name].made(name)


class _FriendlyGroup(TyperGroup):
    """A group of commands whose wrong input gives one line on standard error."""

    folder: str

    def __init__(self, **attrs: Any) -> None:
        attrs["commands"] = _Commands(self.folder)
        super().__init__(**attrs)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx), ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # Without any argument the help is shown, which is no error.
        with quiet_pipes(), friendly_errors() if args else nullcontext():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        friendly = friendly_errors(partial(self._flag_of, ctx))
        with quiet_pipes(), friendly, signals_raise():
            return super().invoke(ctx)

    def _flag_of(self, ctx: Any, argument: str) -> str:
        """Return the flag of an argument of the library; "" where there is none."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        known = {param.name: param for param in command.params} if command else {}
        for name in (argument, _PARAMETERS.get(argument, "")):
            if name in known:
                parameter = known[name]
                # Positional arguments are called as the help shows them.
                alone = parameter.param_type_name == "argument"
                options = [parameter.metavar or name] if alone else parameter.opts
                return max(options, key=len)
        return ""


def make_group(
    folder: str, *, add_completion: bool = False, **settings: Any
) -> typer.Typer:
    """Return the group of the commands in a package, whose docstring is its help."""
    help, _, more = (import_module(folder).__doc__ or "").partition("\n\n")
    kind = type("Group", (_FriendlyGroup,), {"folder": folder})
    group = typer.Typer(
        cls=kind,
        help=help,
        epilog=more.strip(),
        no_args_is_help=True,
        add_completion=add_completion,
        rich_markup_mode="rich",
        # Unexpected errors keep Python's own traceback: it can be pasted into a report.
        pretty_exceptions_enable=False,
        **settings,
    )
    group.callback()(lambda: None)
    return group


app = make_group(
    "bayesduel.cli.commands",
    name="bayesduel",
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_typed: bool) -> None:
    if is_typed:
        typer.echo(f"bayesduel {version()}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar=" ",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Simulate dueling bandits exactly and compare them with their theory."""
    # An installed command does not look for modules where it is called.
    with suppress(OSError):  # That folder may be gone.
        FOLDERS[:] = [os.getcwd()]


def _show_dropped(dropped: Any) -> None:
    """Say what Python drops, but not what signals to end raise: they were heard."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


def run() -> None:
    """Run the command line in a process of its own."""
    own_process()
    # Imported modules stay. Looking for garbage among them after every 2000 new
    # objects would take a tenth of the time of a short command.
    gc.set_threshold(100_000)
    degrade_encodings()
    sys.unraisablehook = _show_dropped
    try:
        app(prog_name="bayesduel")
    except SystemExit as error:
        if not isinstance(error.code, int) or error.code < SIGNALLED:
            raise
        # After a signal Python would take seconds to free what compilers have left.
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(error.code)
