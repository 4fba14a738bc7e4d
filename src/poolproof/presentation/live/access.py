"""Access control of the web server: a request must name this server as its host, and needs the token if there is one.

Another website can make its own name resolve to 127.0.0.1 (DNS rebinding), but the browser then sends that name in the
Host header. IP addresses cannot be redirected in this way, so a Host header with an IP address is accepted. Without a
token, the address must be a loopback address.
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
    """What a request must have: this server's name and port as its host, and the token or the cookie.

    The response to a request with the token sets the cookie. If `token` is None, requests need neither token nor
    cookie, but only requests to loopback are answered.
    """

    port: int
    token: str | None
    names: frozenset[str] = frozenset({"localhost"})
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """Return the cookie's name. It includes the port, because all ports of a host share cookies."""
        return f"poolproof-{self.port}"

    def allows_host(self, host: str) -> bool:
        """True if a Host header names this server."""
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


def access_for(address: str, port: int) -> Access:
    """Return the rules for an address. Loopback needs no token.

    Any other address gets a token, and accepts this machine's names as hosts.
    """
    if ipaddress.ip_address(address).is_loopback:
        return Access(port, None)
    own = {socket.gethostname().lower(), socket.getfqdn().lower(), "localhost"}
    return Access(port, secrets.token_urlsafe(32), frozenset(own))


class Guarded:
    """Answers only requests that have access. Responses are not cached and cannot be framed by other sites."""

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
        access = self._access
        if not access.allows_host(request.headers.get("host", "")):
            return PlainTextResponse("unknown host name: open the address that poolproof printed\n", 421)
        if access.token is None:
            return None
        if _equal(request.query_params.get("token", ""), access.token):
            admission = RedirectResponse("/", 303)  # so that the token does not stay in the address bar
            admission.set_cookie(access.cookie, access.session, httponly=True, samesite="lax")
            return admission
        if _equal(request.cookies.get(access.cookie, ""), access.session):
            return None
        return PlainTextResponse("open the address that poolproof printed: it includes the token\n", 403)


def _equal(given: str, secret: str) -> bool:
    """True if both strings are equal. The comparison always takes the same time, no matter where they differ."""
    return hmac.compare_digest(given.encode(), secret.encode())
