"""``bayesduel study page``: judges answer in a browser on this computer."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.errors import ended_for_good, option_error
from bayesduel.cli.options import integer_option
from bayesduel.cli.output import say
from bayesduel.cli.study.options import File, Judge, Texts, opened
from bayesduel.signals import allow_second_signal

__all__ = ["page"]

_HOST = "127.0.0.1"


def page(
    file: File,
    judge: Judge = None,
    texts: Texts = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Show the image in it that an arm names."),
    ] = None,
    port: Annotated[
        int, integer_option(metavar="N", least=0, help="0: any that is free.")
    ] = 0,
    judges: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="An address for each that is theirs."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Show its text of an arm in a context."),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Of a proxy with TLS: https://HOST."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(metavar="T", help="Last part of the address; default: random."),
    ] = None,
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
        raise option_error(
            "page",
            f"needs {error.name}",
            remedy="pip install 'bayesduel[page]' installs it",
        ) from error
    with opened(file) as study:
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
        raise option_error(
            "--port",
            f"{port} cannot be had ({error.strerror or error})",
            port,
            remedy="name another, or 0 for any that is free",
        ) from error
