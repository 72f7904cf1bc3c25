"""``bayesduel study``: its subcommands."""

from __future__ import annotations

import typer

from bayesduel.cli.errors import FriendlyGroup
from bayesduel.cli.study import (
    answers,
    arms,
    ask,
    check,
    export,
    judges,
    new,
    page,
    report,
    serve,
    status,
    vote,
)

__all__ = ["study"]

study = typer.Typer(
    cls=FriendlyGroup,
    help="Ask real judges: choose the next pair, and say when to stop.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
study.command("new")(new.new)
study.command("ask")(ask.ask)
study.command("tell")(answers.tell)
study.command("undo")(answers.undo)
study.command("withdraw")(answers.withdraw)
study.command("vote")(vote.vote)
study.command("page")(page.page)
study.command("status")(status.status)
study.command("report")(report.report)
study.command("add-arm")(arms.add_arm)
study.command("retire-arm")(arms.retire_arm)
study.command("restore-arm")(arms.restore_arm)
study.command("rename-arm")(arms.rename_arm)
study.command("merge-arms")(arms.merge_arms)
study.command("gold")(judges.gold)
study.command("judge")(judges.judge)
study.command("import")(arms.import_)
study.command("undo-import")(arms.undo_import)
study.command("export")(export.export)
study.command("copy")(export.copy)
study.command("check")(check.check)
study.command("verify")(check.verify)
study.command("serve-stdin")(serve.serve_stdin)
