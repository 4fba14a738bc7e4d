"""Who may see the page: only requests to a name that is this server's own, and with the token where there is one.

A page of a stranger can have its own name resolve to 127.0.0.1 (DNS rebinding), but then the browser sends that name as
Host. An address cannot be made to mean another machine, so addresses are let through.
"""

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """What a request must show: the port in its Host, and the token in its address once, then the cookie for it.

    `token` None: none is needed, and only loopback is answered.
    """

    port: int
    token: str | None
    names: frozenset[str] = frozenset({"localhost"})
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """Cookies know no ports, so the port is in the name."""
        return f"poolproof-{self.port}"

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").rstrip("."), parts.port or 80
        except ValueError:
            return False
        if parts.username is not None or port != self.port:
            return False
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in self.names
        return address.is_loopback or self.token is not None

    def knows_token(self, given: str) -> bool:
        """Compared in a time that tells nothing."""
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def knows_cookie(self, given: str) -> bool:
        """The same for the cookie."""
        return hmac.compare_digest(given.encode(), self.session.encode())


def access_for(address: str, port: int) -> Access:
    """Without a token on loopback; elsewhere with a new one, and under this machine's own names as well."""
    if ipaddress.ip_address(address).is_loopback:
        return Access(port, None)
    own = {socket.gethostname().lower(), socket.getfqdn().lower(), "localhost"}
    return Access(port, secrets.token_urlsafe(32), frozenset(own))


class Guarded:
    """Lets through what may see the page; all else gets a sentence. Every answer forbids to be kept or framed."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        if not self._access.knows_host(request.headers.get("host", "")):
            return PlainTextResponse("this server does not go by that name\n", 421)
        if self._access.token is None:
            return None
        if self._access.knows_token(request.query_params.get("token", "")):
            return self._admission()
        if self._access.knows_cookie(request.cookies.get(self._access.cookie, "")):
            return None
        return PlainTextResponse("open the address that poolproof printed: it has the token in it\n", 403)

    def _admission(self) -> Response:
        """From here on the cookie does, so that the token stays in no address bar."""
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._access.cookie, self._access.session, httponly=True, samesite="lax")
        return answer
