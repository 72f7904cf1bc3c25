"""``bayesduel study page`` and ``serve-stdin``: answers from elsewhere."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import typer

from bayesduel.cli.errors import ended_for_good
from bayesduel.cli.options import command, option
from bayesduel.cli.output import say
from bayesduel.cli.parse import option_error
from bayesduel.cli.studying import JUDGE, TEXTS, StudyFile
from bayesduel.signals import allow_second_signal

_HOST = "127.0.0.1"


@command("study page drinks.study")
def page(
    *,
    opened: StudyFile,
    judge: str | None = JUDGE,
    texts: Path | None = TEXTS,
    images: Path | None = option("DIR: Show the image in it that an arm names."),
    port: int = option("N: 0: any that is free.", default=0, least=0),
    judges: str | None = option("A,B,...: An address for each that is theirs."),
    items: Path | None = option("PATH: Show its text of an arm in a context."),
    public: str | None = option("URL: Of a proxy with TLS: https://HOST."),
    token: str | None = option("T: Last part of the address; default: random."),
) -> None:
    """Serve a page for judges to this computer alone, until Ctrl-C.

    Prints its address. Several judges may have it open, each with a name of their own:
    the page asks for it, or ?judge=NAME behind the address says it. With --judges each
    has a signed address, and nobody else is let in. Arrows choose,
    t is a tie, s skips, u takes the last answer back. After the end the same --port and
    --token serve the same address again, and open pages go on. They also wait, with a
    word on what for, while the file is away, locked or cannot be written.
    """
    try:
        from bayesduel.studies import Items, JudgePage
    except ModuleNotFoundError as error:
        remedy = "pip install 'bayesduel[page]' installs it"
        raise option_error("page", f"needs {error.name}", remedy=remedy) from error
    with opened.open() as study:
        names = [name.strip() for name in judges.split(",")] if judges else []
        served = JudgePage(
            study, token=token, judge=judge, judges=names, texts=texts, images=images,
            items=None if items is None else Items(items), public=public,
        )  # fmt: skip
        with _listening(port) as listener:
            port = listener.getsockname()[1]
            base = public or f"http://{_HOST}:{port}"
            for name, link in served.links.items():
                typer.echo(f"{base}/{link}/  {name}")
            if not served.links:
                typer.echo(f"{base}/{served.token}/")
            say("judges open this address in a browser here; Ctrl-C ends it")
            try:
                allow_second_signal()
                served.server().run(sockets=[listener])
            except KeyboardInterrupt as error:
                again = f"--port {port}"
                again += "" if served.links else f" --token {served.token}"
                stored = f"{served.num_answered} answers stored"
                advice = f"{stored}; the same address again: {again}"
                raise ended_for_good(error, advice) from error


def _listening(port: int) -> socket.socket:
    """Return a socket that only this computer reaches."""
    if port > 65535:
        raise option_error("--port", "must be at most 65535", port)
    try:
        return socket.create_server((_HOST, port))
    except OSError as error:
        rule = f"{port} cannot be had ({error.strerror or error})"
        remedy = "name another, or 0 for any that is free"
        raise option_error("--port", rule, port, remedy=remedy) from error


@command("study serve-stdin drinks.study")
def serve_stdin(*, opened: StudyFile) -> None:
    """Answer JSON lines on standard input, for programs in any language.

    {"do": "ask", "n": 1, "judge": "Ada", "context": ...} gives {"tickets": [...],
    "resting": ""}. {"do": "tell", "ticket": 1, "answer": "left"} gives {"new": true},
    after it is stored, and "remark" where it does not count. Also: skip, undo and
    withdraw (ticket), all with "judge" for who does it; add_arm (name, share),
    retire_arm and restore_arm (name), rename_arm (name, to), merge_arms (name, into);
    add_gold (better, worse; of a set a list); set_judge (name, limit, arms, price,
    trusted); status ("forecast": true simulates how many votes more). What cannot be
    done gives {"error": ...}, and the next line is read.
    """
    from bayesduel.studies import answer_line

    with opened.open() as study:
        for line in sys.stdin:
            if line.strip():
                sys.stdout.write(answer_line(study, line) + "\n")
                sys.stdout.flush()
