"""The server: its socket, where it may be reached, and its end."""

import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn

from poolproof.errors import HostError, UsageError
from poolproof.presentation.live.access import Access, access_for
from poolproof.presentation.live.seen import Watched
from poolproof.presentation.live.web import application

_NICE = 10
_LAST_WORDS_S = 2
_REASONS = {
    errno.EADDRINUSE: ("is in use", "leave --port out to have a free one"),
    errno.EACCES: ("is not for this user", "take one above 1023, or leave --port out"),
    errno.EADDRNOTAVAIL: ("is no address of this machine", "see them with: ip -brief address"),
}


@dataclass(frozen=True)
class ListeningSocket:
    """A socket that listens, and who may come in. `url` has the token in it, where there is one."""

    listener: socket.socket
    access: Access
    url: str


def stand(bind: str, port: int) -> ListeningSocket:
    """Listen on that address; port 0 is any that is free.

    Raises:
        UsageError: `bind` is neither an address nor a name that has one.
        HostError: the port is in use, or the address is not this machine's.
    """
    family, address = _resolved(bind)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        why, hint = _REASONS.get(
            error.errno or 0, (f"cannot be used: {error.strerror}", "take another --bind or --port")
        )
        what = f"port {port} of {address}" if error.errno != errno.EADDRNOTAVAIL else address
        raise HostError(f"{what} {why}", hint) from None
    access = access_for(address, listener.getsockname()[1])
    return ListeningSocket(listener, access, _url(address, access))


def serve(watched: Watched, standing: ListeningSocket, ended: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; `ended` is called when the run has."""
    os.nice(_NICE)  # what runs beside it may be a measurement
    app = application(watched, standing.access, lambda: server.should_exit, ended)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_LAST_WORDS_S,
    )
    server = uvicorn.Server(config)
    with standing.listener, contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[standing.listener])


def _resolved(bind: str) -> tuple[socket.AddressFamily, str]:
    try:
        found = socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise UsageError(f"--bind {bind}: no address has that name", "as --bind 127.0.0.1, or --bind 0.0.0.0") from None
    family, _, _, _, address = found[0]
    return family, str(address[0])


def _url(address: str, access: Access) -> str:
    """An address to open; for one that means all of them, the name of this machine."""
    host = socket.gethostname() if ipaddress.ip_address(address).is_unspecified else address
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{access.port}/" + (f"?token={access.token}" if access.token else "")
