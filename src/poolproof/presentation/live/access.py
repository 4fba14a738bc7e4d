"""Access control of the web server: a request must name this server as its host, and contain the token if one is set.

The host is checked because of DNS rebinding: another website can make its own name resolve to 127.0.0.1. The browser
then sends that name in the Host header, and the server refuses the request. IP addresses cannot be rebound, so they are
accepted. A server without a token must listen on a loopback address.
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
    """The access rules for requests.

    A request must have this server's name and port as its host, and contain the token or the cookie. The response to a
    request with the token sets the cookie. If `token` is None, neither is required. The host must be an address or one
    of `names`. If the server `is_local`, it must be a loopback address or one of `names`.
    """

    port: int
    token: str | None
    is_local: bool
    names: frozenset[str] = frozenset({"localhost"})
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """Return the cookie's name, which contains the port because all ports of a host share their cookies."""
        return f"poolproof-{self.port}"

    def allows_host(self, host: str) -> bool:
        """True if the server accepts a request with this Host header."""
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
        return address.is_loopback or not self.is_local


def access_for(address: str, port: int, *, is_private: bool) -> Access:
    """Return the access rules for a server that listens on the given address.

    A loopback address needs a token only if the run is private, because every user of the machine can connect to it.
    For any other address, a new token is created, and this machine's names are also accepted as hosts.
    """
    if ipaddress.ip_address(address).is_loopback:
        return Access(port, secrets.token_urlsafe(32) if is_private else None, is_local=True)
    own = {socket.gethostname().lower(), socket.getfqdn().lower(), "localhost"}
    return Access(port, secrets.token_urlsafe(32), is_local=False, names=frozenset(own))


class Guarded:
    """Passes only permitted requests to the app. Responses may be neither cached nor framed by other sites."""

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
    """True if both strings are equal, compared in constant time to avoid a timing attack."""
    return hmac.compare_digest(given.encode(), secret.encode())
