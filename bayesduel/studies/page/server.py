"""A page for judges on this computer: who may talk to it, what it shows and does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import signal
import threading
from asyncio import TimerHandle, Transport
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from string import Template
from time import monotonic
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bayesduel.errors import (
    ArgumentError,
    BayesduelError,
    OutputWriteError,
    StudyError,
    StudyFileError,
)
from bayesduel.studies.contexts import Items
from bayesduel.studies.page.session import IMAGE_TYPES, ArmFiles, JudgeSession
from bayesduel.studies.study import ForeignQuestionError, Study, checked_judge

REQUEST_SECONDS = 20.0

_OWN_NAMES = ("127.0.0.1", "localhost")

_HEADERS = {
    "Cache-Control": "no-store",
    # Nothing but files of this server is loaded or runs, and no other page frames it.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The address holds the token.
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer(uvicorn.Server):
    """A server that ends by SIGHUP, as where a terminal is closed, as by SIGTERM.

    Raised by a handler that the command has installed, it would tear requests apart.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let what is being answered be answered first, then raise."""
        number = getattr(signal, "SIGHUP", None)
        # Only the main thread may set handlers, and it may set one meanwhile.
        is_main = threading.current_thread() is threading.main_thread()
        with super().capture_signals():
            plain = None if number is None else signal.getsignal(number)
            if not is_main or number is None or not callable(plain):
                yield
                return
            signal.signal(number, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(number, plain)


class TimedProtocol(H11Protocol):
    """HTTP whose requests have to be there, whole, in time.

    Whoever opens many connections and sends a byte now and then would hold them all.
    """

    _timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # pyright: ignore
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on, unless the request is whole."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait()
        else:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None


class Pace:
    """How often each judge may send something: at once, then so many a second."""

    def __init__(self, at_once: float = 100.0, per_second: float = 10.0) -> None:
        self._most, self._rate = at_once, per_second
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, judge: str) -> bool:
        """Say whether a judge may send one more thing now, and count it."""
        now = monotonic()
        left, then = self._left.get(judge, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        self._left[judge] = max(left - 1.0, 0.0), now
        return left >= 1.0


class PageGuard:
    """Lets through what has the token, is meant for this server, and comes from it."""

    def __init__(
        self, app: ASGIApp, judges: Mapping[str, str | None], public: str | None = None
    ) -> None:
        """Take an application, and by token whose it is: None for whoever has it."""
        self._app, self._judges, self._public = app, dict(judges), public
        self._names = _OWN_NAMES
        if public is not None:
            self._names = *_OWN_NAMES, public.partition("://")[2]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        status = self._refusal(scope)
        app = self._app if status is None else PlainTextResponse("refused", status)
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> int | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        # A foreign name that was made to point here is not ours (DNS rebinding).
        # Any port is, since a tunnel has one of its own.
        if host.rpartition(":")[0] not in self._names and host not in self._names:
            return 421
        token = scope["path"].partition("/")[2].partition("/")[0]
        known = [
            valid
            for valid in self._judges
            if secrets.compare_digest(token.encode(), valid.encode())
        ]
        if not known:
            return 404
        scope["judge"] = self._judges[known[0]]
        if scope["method"] not in ("GET", "HEAD"):
            # Browsers say where a request comes from; other pages may not send any.
            origin = headers.get("origin")
            if origin is None or origin not in (f"http://{host}", self._public):
                return 403
        return None


# --- What it shows, and what it does with answers -------------------------------------


_LOGGER = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,100}")
MOST_NAMES = 50  # That one page takes: whoever has the address can make up any number.

_PATIENCE = 5.0
"""Seconds for other programs that hold the file; open pages try again by themselves."""

_PUBLIC = re.compile(r"https://[a-z0-9.-]+(:\d{1,5})?")

_LARGEST_BODY = 10_000
_LARGEST_TEXT = 500_000  # Bytes of a text that are shown.

# An image that is opened by itself runs no script either.
_IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class JudgePage:
    """The page of one study, as an ASGI application :attr:`app`.

    Everything is below the path ``/TOKEN/``; any other one is not found. A judge who
    loads the page again gets the same open question, from any server of this study; an
    answer that is sent again is stored once.

    Parameters
    ----------
    study : Study
    token : str, optional
        From 16 to 100 letters, digits, ``_`` and ``-``; by default a random one.
    judge : str, optional
        Who answers; by default the page asks for a name.
    judges : iterable of str, optional
        Judges with an address of their own each, in :attr:`links`: signed with a secret
        that is kept beside the study, so that nobody answers in another one's name.
        Nobody else is let in, and ``token`` and ``judge`` are not needed.
    texts, images : path, optional
        Folders with files of which arms are the names; they are shown in place of the
        name.
    items : Items, optional
        What arms show in each context, in place of files and names.
    public : str, optional
        Where a proxy on this computer is reached that passes requests on to the page,
        such as "https://votes.example.org": browsers then call the page by this name.

    Raises
    ------
    StudyError
        If an argument does not fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "drinks.study")
    >>> with Study.create(path, ["tea", "milk"], "balanced") as study:
    ...     page = JudgePage(study, judge="Ada")
    ...     server = page.server()  # server.run(sockets=[listener]) serves it.
    ...     len(page.token), page.num_answered
    (24, 0)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        study: Study,
        *,
        token: str | None = None,
        judge: str | None = None,
        judges: Iterable[str] = (),
        texts: str | os.PathLike[str] | None = None,
        images: str | os.PathLike[str] | None = None,
        items: Items | None = None,
        public: str | None = None,
    ) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            rule = "must be 16 to 100 letters, digits, _ and -"
            remedy = "leave it out for a random one"
            raise StudyError("token", rule, token, remedy=remedy)
        if public is not None and not _PUBLIC.fullmatch(public):
            rule = "must be https:// and a host name, with a port or without"
            raise StudyError("public", rule, public)
        self.public, self._items = public, items
        self._pace = Pace()
        self.token = token or secrets.token_urlsafe(18)
        self._study, self._judge = study, checked_judge(judge)
        self._texts, self._images = (
            None if folder is None else ArmFiles(folder, study.path, argument)
            for folder, argument in ((texts, "texts"), (images, "images"))
        )
        self._image_names: dict[str, str] = {}
        self._sessions: dict[str, JudgeSession] = {}
        self._trouble, self._file_failed = "", False
        study.wait_at_most(_PATIENCE)
        self._turn = threading.Lock()
        routes = [
            Route("/{token}/", self._page),
            Route("/{token}/page.js", self._static),
            Route("/{token}/page.css", self._static),
            Route("/{token}/image/{key}", self._image),
            *(
                Route(f"/{{token}}/{deed}", self._posted, methods=["POST"])
                for deed in ("question", "answer", "undo")
            ),
        ]
        self.links: dict[str, str] = {}
        """Last part of the address, by judge, of those named by ``judges``."""
        names = [name for given in judges if (name := checked_judge(given)) is not None]
        known: dict[str, str | None] = {self.token: self._judge}
        if names and (judge is not None or token is not None):
            rule = "must be given without judge and token: each has a link"
            raise StudyError("judges", rule, names)
        if names:
            secret = link_secret(study.path)
            self.links = {name: signed_token(secret, name) for name in names}
            known = {link: name for name, link in self.links.items()}
        self.app: ASGIApp = PageGuard(Starlette(routes=routes), known, public)

    def server(self) -> uvicorn.Server:
        """Return what serves it: ``server().run(sockets=[listener])``.

        The listener is to be one that only this computer reaches.
        """
        config = uvicorn.Config(
            self.app, http=TimedProtocol, ws="none", lifespan="off", access_log=False,
            log_config=None, log_level="error", proxy_headers=False,
            server_header=False, timeout_graceful_shutdown=5,
        )  # fmt: skip
        return PageServer(config)

    @property
    def num_answered(self) -> int:
        """Answers that were stored by this page and not taken back."""
        return sum(session.num_answered for session in self._sessions.values())

    def _page(self, request: Request) -> Response:
        text = Template((_HERE / "page.html").read_text("utf-8")).substitute(
            title=escape(self._study.path.stem),
            judge=escape(request.scope["judge"] or ""),
        )
        return Response(text, media_type="text/html")

    def _static(self, request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        kind = {"page.js": "text/javascript", "page.css": "text/css"}[name]
        return Response((_HERE / name).read_bytes(), media_type=kind)

    def _image(self, request: Request) -> Response:
        name = self._image_names.get(request.path_params["key"])
        try:
            file = self._images.image(name) if self._images and name else None
            content = None if file is None else file.read_bytes()
        except (OSError, StudyError):  # It is gone since, or may not be read.
            file = content = None
        if file is None or content is None:
            raise HTTPException(404)
        return Response(
            content,
            media_type=IMAGE_TYPES[file.suffix.lower()],
            headers={"Content-Security-Policy": _IMAGE_POLICY},
        )

    async def _posted(self, request: Request) -> Response:
        deed = request.url.path.rpartition("/")[2]
        given = await _object_of(request)
        try:
            reply = await run_in_threadpool(
                self._done, deed, given, request.scope["judge"]
            )
        except (ArgumentError, BayesduelError, OSError) as error:
            # The file is gone, locked or damaged, the disk full, or the policy cannot
            # ask: whoever serves the page can help, and it tries again until then.
            self._file_failed |= isinstance(error, StudyFileError)
            self._report(str(error))
            path, remedy = self._study.path, getattr(error, "remedy", "")
            text = str(error).removesuffix(f"; {remedy}")
            return PlainTextResponse(text.replace(str(path), path.name), 503)
        self._report("")
        return reply

    def _report(self, trouble: str) -> None:
        # Say once to whoever serves the page that judges wait, and that it goes on.
        if trouble != self._trouble:
            self._trouble = trouble
            _LOGGER.warning(f"judges wait: {trouble}" if trouble else "judges go on")

    def _done(self, deed: str, given: dict[str, Any], known: str | None) -> Response:
        # Do what a judge has sent; return what is before them then.
        note = remark = ""
        with self._turn:
            try:
                judge = checked_judge(known or given.get("judge"))
            except StudyError as error:
                return PlainTextResponse(str(error), 400)
            if judge is None:
                return PlainTextResponse("a judge needs a name", 400)
            if judge not in self._sessions and len(self._sessions) == MOST_NAMES:
                text = f"this page has taken {MOST_NAMES} names, and takes no more"
                return PlainTextResponse(text, 403)
            if not self._pace.allows(judge):
                return PlainTextResponse("too many requests at once", 429)
            self._study.follow(anew=self._file_failed)
            self._file_failed = False
            if judge not in self._sessions:
                self._sessions[judge] = JudgeSession(self._study, judge)
            session = self._sessions[judge]
            try:
                if deed == "answer":
                    answer = given.get("answer", "")
                    ticket = session.answer_and_next(_number_of(given), answer)
                    remark = self._study.remark
                else:
                    if deed == "undo":
                        session.undo(_number_of(given))
                    ticket = session.next()
            except ForeignQuestionError as error:
                return PlainTextResponse(str(error), 403)
            except StudyFileError:
                raise
            except StudyError as error:
                note, ticket = str(error), session.next()
            question = None
            if ticket is not None:
                context = ticket.context
                cards = [
                    {"answer": answer, **self._shown(arm, context)}
                    for answer, arm in ticket.answers.items()
                ]
                question = {
                    "number": ticket.number,
                    "context": context if isinstance(context, str) else None,
                    "cards": cards,
                    "worst": ticket.worst,
                }
            body = {
                "question": question,
                "resting": self._study.resting if ticket is None else "",
                "answered": session.num_answered,
                "votes": self._study.progress[0],
                "budget": self._study.progress[1],
                "last": session.last,
                "note": note or remark,
            }
        return JSONResponse(body, 409 if note else 200)

    def _shown(self, arm: str, context: Any) -> dict[str, str | None]:
        # A judge sees the file of an arm, and its name only if there is no file.
        text = image = None
        if self._items is not None:
            text = self._items.text(arm, context)
        elif self._images and self._images.image(arm):
            digest = hmac.digest(self.token.encode(), arm.encode(), hashlib.sha256)
            key = digest.hex()
            self._image_names[key] = arm
            image = f"image/{key}"
        elif self._texts:
            text = self._texts.text(arm, _LARGEST_TEXT)
        name = arm if text is None and image is None else None
        return {"name": name, "text": text, "image": image}


def _number_of(given: dict[str, Any]) -> int:
    number = given.get("number")
    if isinstance(number, bool) or not isinstance(number, int):
        raise StudyError("number", "must be that of a question", number)
    return number


async def _object_of(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(415)
    content = b""
    try:
        async for part in request.stream():
            content += part
            if len(content) > _LARGEST_BODY:
                raise HTTPException(413)
        value = json.loads(content)
    except (ClientDisconnect, ValueError, RecursionError) as error:
        raise HTTPException(400) from error
    if not isinstance(value, dict):
        raise HTTPException(400)
    return value


def link_secret(study: Path) -> str:
    """Return what the links of a study are signed with, made when first needed."""
    path = study.with_name(f"{study.name}-links")
    try:
        with suppress(FileExistsError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
        secret = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OutputWriteError(f"{path}: cannot be kept or read: {error}") from error
    if len(secret) < 32:
        raise OutputWriteError(f"{path}: holds no secret; remove it for a new one")
    return secret


def signed_token(secret: str, judge: str) -> str:
    """Return the last part of the address of a judge.

    Examples
    --------
    >>> len(signed_token("a secret", "Ada"))
    32
    >>> signed_token("a secret", "Ada") == signed_token("a secret", "Bob")
    False
    """
    digest = hmac.digest(secret.encode(), judge.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest[:24]).decode()
