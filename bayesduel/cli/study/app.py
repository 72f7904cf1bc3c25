"""``bayesduel study``: its subcommands."""

from __future__ import annotations

import typer

from bayesduel.cli.errors import FriendlyGroup
from bayesduel.cli.lazy_commands import LazyCommands

__all__ = ["study"]

_COMMANDS = {
    "new": "study.new:new",
    "ask": "study.ask:ask",
    "tell": "study.answers:tell",
    "undo": "study.answers:undo",
    "withdraw": "study.answers:withdraw",
    "vote": "study.vote:vote",
    "page": "study.page:page",
    "status": "study.status:status",
    "report": "study.report:report",
    "add-arm": "study.arms:add_arm",
    "retire-arm": "study.arms:retire_arm",
    "restore-arm": "study.arms:restore_arm",
    "rename-arm": "study.arms:rename_arm",
    "merge-arms": "study.arms:merge_arms",
    "gold": "study.judges:gold",
    "judge": "study.judges:judge",
    "import": "study.arms:import_",
    "undo-import": "study.arms:undo_import",
    "export": "study.export:export",
    "copy": "study.export:copy",
    "check": "study.check:check",
    "verify": "study.check:verify",
    "serve-stdin": "study.serve:serve_stdin",
}


class _Group(FriendlyGroup):
    lazy_commands = LazyCommands(_COMMANDS, within="study ")


study = typer.Typer(
    cls=_Group,
    help="Ask real judges: choose the next pair, and say when to stop.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


@study.callback()
def _root() -> None:
    pass
