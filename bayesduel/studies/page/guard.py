"""Who may talk to the page of a study, how slowly and how often, and when it ends."""

from __future__ import annotations

import secrets
import signal
import threading
from asyncio import TimerHandle, Transport
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

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
    """How often each judge may send something: so often at once, then so many a second.

    Parameters
    ----------
    at_once, per_second : float
    """

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
        self,
        app: ASGIApp,
        judges: Mapping[str, str | None],
        public: str | None = None,
    ) -> None:
        """Take an application, and by token whose it is: None for whoever has it.

        ``public`` is where a proxy before this server is reached, such as
        ``https://votes.example.org``.
        """
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
            each
            for each in self._judges
            if secrets.compare_digest(token.encode(), each.encode())
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
