"""The web server for `poolproof watch --web`: its socket, its pages, and the events that update the pages."""

import contextlib
import errno
import ipaddress
import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from poolproof.errors import HostError, PoolproofError, UsageError
from poolproof.presentation.live.access import Access, Guarded, access_for
from poolproof.presentation.live.status import WatchedRun

_NICE = 10
_SHUTDOWN_S = 2
_POLL_S = 1.0
_SEND_S = 0.25
_KEEP_ALIVE_S = 15.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {"watch.css": "text/css", "watch.js": "text/javascript"}
_REASONS = {
    errno.EADDRINUSE: ("is in use", "leave out --port to use a free one"),
    errno.EACCES: ("is not allowed for this user", "choose a port above 1023, or leave out --port"),
    errno.EADDRNOTAVAIL: ("is not an address of this machine", "list its addresses with: ip -brief address"),
}


@dataclass(frozen=True)
class ListeningSocket:
    """A listening socket and its access rules. `url` contains the token if one is required."""

    listener: socket.socket
    access: Access
    url: str


def listen(bind: str, port: int, *, is_private: bool) -> ListeningSocket:
    """Listen on an address and port. Port 0 selects a free port.

    `is_private`: True if not every user of this machine may see the run.

    Raises:
        UsageError: `bind` is neither an address nor a name that resolves to one.
        HostError: the port is in use, or the address does not belong to this machine.
    """
    try:
        family, _, _, _, (address, *_) = socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        hint = "use an address, such as --bind 127.0.0.1 or --bind 0.0.0.0"
        raise UsageError(f"--bind {bind}: this name does not resolve to an address", hint) from None
    address = str(address)
    try:
        listener = socket.create_server((address, port), family=family)
    except OSError as error:
        otherwise = (f"cannot be used: {os.strerror(error.errno or 0)}", "choose another --bind or --port")
        why, hint = _REASONS.get(error.errno or 0, otherwise)
        what = address if error.errno == errno.EADDRNOTAVAIL else f"port {port} of {address}"
        raise HostError(f"{what} {why}", hint) from None
    access = access_for(address, listener.getsockname()[1], is_private=is_private)
    host = socket.gethostname() if ipaddress.ip_address(address).is_unspecified else address
    host = f"[{host}]" if ":" in host else host
    token = f"?token={access.token}" if access.token else ""
    return ListeningSocket(listener, access, f"http://{host}:{access.port}/{token}")


def serve(watched: WatchedRun, server_socket: ListeningSocket, on_end: Callable[[], None]) -> None:
    """Serve the run until Ctrl-C or SIGTERM.

    `on_end`: called each time that the run ends. A run that was resumed can end again.
    """
    os.nice(_NICE)  # low priority, because a measurement may be running on this machine
    app = _application(watched, server_socket.access, lambda: server.should_exit, on_end)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    server = uvicorn.Server(config)
    with server_socket.listener, contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[server_socket.listener])


class _Feed:
    """The latest status of the run. A single task reads the run on behalf of all browsers."""

    def __init__(self, watched: WatchedRun, closing: Callable[[], bool], on_end: Callable[[], None]) -> None:
        self._watched, self._closing, self._on_end = watched, closing, on_end
        self._status: dict[str, Any] = {}

    async def follow(self) -> None:
        was_running = True
        while not self._closing():
            with contextlib.suppress(PoolproofError, OSError):  # try again in a second
                self._status = await anyio.to_thread.run_sync(self._watched.update)
            if self._status:
                if was_running and not self._status["running"]:
                    self._on_end()
                was_running = self._status["running"]
            await anyio.sleep(_POLL_S)

    async def events(self) -> AsyncIterator[str]:
        """Yield each status change as a server-sent event, and comments in between to keep the connection open."""
        last, quiet_s = "", 0.0
        while not self._closing():
            text = json.dumps(self._status)
            if self._status and text != last:
                last, quiet_s = text, 0.0
                yield f"data: {text}\n\n"
            elif quiet_s >= _KEEP_ALIVE_S:
                quiet_s = 0.0
                yield ": keep-alive\n\n"
            await anyio.sleep(_SEND_S)
            quiet_s += _SEND_S


def _application(
    watched: WatchedRun, access: Access, closing: Callable[[], bool], on_end: Callable[[], None]
) -> ASGIApp:
    feed = _Feed(watched, closing, on_end)

    @contextlib.asynccontextmanager
    async def following(_app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed.follow)
            yield
            tasks.cancel_scope.cancel()

    async def frame(_request: Request) -> Response:
        return HTMLResponse(_asset("watch.html"), headers={"Content-Security-Policy": _POLICY})

    async def asset(request: Request) -> Response:
        name = request.url.path.removeprefix("/")
        return Response(_asset(name), media_type=_TYPES[name])

    async def report(_request: Request) -> Response:
        try:
            return HTMLResponse(await anyio.to_thread.run_sync(watched.html))
        except PoolproofError as error:
            return PlainTextResponse(f"{error}\n", 503)

    async def events(_request: Request) -> Response:
        return StreamingResponse(feed.events(), media_type="text/event-stream")

    routes = [Route("/", frame), Route("/report", report), Route("/events", events)]
    routes += [Route(f"/{name}", asset) for name in _TYPES]
    return Guarded(Starlette(routes=routes, lifespan=following), access)


def _asset(name: str) -> str:
    return (files("poolproof.presentation.live") / "assets" / name).read_text(encoding="utf-8")
