"""The web application: a frame that stays, the report's page in it, and the events that have it loaded again."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from poolproof.errors import PoolproofError
from poolproof.presentation.live.access import Access, Guarded
from poolproof.presentation.live.seen import Watched

_LOOK_S = 1.0
_TELL_S = 0.25
_KEEP_ALIVE_S = 15.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {"watch.css": "text/css", "watch.js": "text/javascript"}


class _Feed:
    """The latest word about the run, for all browsers; one task looks, so that ten of them cost no more than one."""

    def __init__(self, watched: Watched, closing: Callable[[], bool], ended: Callable[[], None]) -> None:
        self.watched, self._closing, self._ended = watched, closing, ended
        self.told: dict[str, Any] = {}

    async def follow(self) -> None:
        said = False
        while not self._closing():
            with contextlib.suppress(PoolproofError, OSError):  # what cannot be read now may be there in a second
                self.told = await anyio.to_thread.run_sync(self.watched.look)
            if self.told and not said and not self.told["going"]:
                said = True
                self._ended()
            elif self.told and self.told["going"]:
                said = False
            await anyio.sleep(_LOOK_S)

    async def events(self) -> AsyncIterator[str]:
        """Each change as a server-sent event; a comment when there was none for a while."""
        last, quiet_s = "", 0.0
        while not self._closing():
            text = json.dumps(self.told)
            if self.told and text != last:
                last, quiet_s = text, 0.0
                yield f"data: {text}\n\n"
            elif quiet_s >= _KEEP_ALIVE_S:
                quiet_s = 0.0
                yield ": still here\n\n"
            await anyio.sleep(_TELL_S)
            quiet_s += _TELL_S


def application(watched: Watched, access: Access, closing: Callable[[], bool], ended: Callable[[], None]) -> ASGIApp:
    """The whole of it. `closing` tells when all must end; `ended` is called once the run has."""
    feed = _Feed(watched, closing, ended)

    @contextlib.asynccontextmanager
    async def following(app: Starlette) -> AsyncIterator[None]:
        del app
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed.follow)
            yield
            tasks.cancel_scope.cancel()

    async def frame(request: Request) -> Response:
        del request
        return HTMLResponse(_asset("watch.html"), headers={"Content-Security-Policy": _POLICY})

    async def asset(request: Request) -> Response:
        name = request.url.path.removeprefix("/")
        return Response(_asset(name), media_type=_KINDS[name])

    async def report(request: Request) -> Response:
        del request
        try:
            return HTMLResponse(await anyio.to_thread.run_sync(watched.html))
        except PoolproofError as error:
            return PlainTextResponse(f"{error}\n", 503)

    async def events(request: Request) -> Response:
        del request
        return StreamingResponse(feed.events(), media_type="text/event-stream")

    routes = [
        Route("/", frame),
        Route("/report", report),
        Route("/events", events),
        *(Route(f"/{name}", asset) for name in _KINDS),
    ]
    return Guarded(Starlette(routes=routes, lifespan=following), access)


def _asset(name: str) -> str:
    return (files("poolproof.presentation.live") / "assets" / name).read_text(encoding="utf-8")
