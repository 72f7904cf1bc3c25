"""Who may talk to the page of a study: browsers that were given its address."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PageGuard"]

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


class PageGuard:
    """Lets through what has the token, is meant for this server, and comes from it."""

    def __init__(self, app: ASGIApp, judges: Mapping[str, str | None]) -> None:
        """Take an application, and by token whose it is: None for whoever has it."""
        self._app, self._judges = app, dict(judges)

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
        if host.rpartition(":")[0] not in _OWN_NAMES and host not in _OWN_NAMES:
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
            if headers.get("origin") != f"http://{host}":
                return 403
        return None
