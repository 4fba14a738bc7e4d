"""`poolproof watch`: follow a run of another process, on a live screen or in a browser."""

import contextlib
import json
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.options import Json, Plain, Run
from poolproof.errors import UsageError, check_extra

if TYPE_CHECKING:
    from poolproof.presentation.live.follow import Follower

_POLL_S = 0.5
_BEGINS_WITHIN_S = 5.0
_LOOPBACK = "127.0.0.1"


def command(
    run: Run,
    web: Annotated[bool, typer.Option("--web", help="Serve the report in a browser and keep it current.")] = False,
    bind: Annotated[
        str,
        typer.Option("--bind", metavar="ADDRESS", help="The address --web listens on."),
    ] = _LOOPBACK,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Its port; 0 picks a free one.")] = 0,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Watch a run of another process: on a live screen, or with --web in a browser.

    Nothing is written to the run. Ctrl-C stops watching, not the run. --json prints the run's object when it ends; with
    --web it prints the address.
    """
    if not web and (bind != _LOOPBACK or port):
        raise UsageError("--bind and --port need --web", f"poolproof watch {run} --web")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    from poolproof.presentation.live.follow import Follower

    follower = Follower(run)
    _await_begin(follower)
    if web:
        _serve(follower, bind, port, as_json=as_json)
    else:
        _watch(follower, plain=plain or as_json, as_json=as_json)


def _await_begin(follower: "Follower") -> None:
    """Wait for the lock, which a run that has just been created does not have yet."""
    until = follower.begun_s + _BEGINS_WITHIN_S
    while not (follower.run.path / ".lock").exists() and time.time() < until < time.time() + 2 * _BEGINS_WITHIN_S:
        time.sleep(_POLL_S)


def _serve(follower: "Follower", bind: str, port: int, *, as_json: bool) -> None:
    check_extra("web", "watch --web")
    from poolproof.presentation.live.server import listen, serve
    from poolproof.presentation.live.status import WatchedRun

    server_socket = listen(bind, port)
    watched = WatchedRun(follower)

    def on_end() -> None:
        _say(f"{watched.why_idle()} The page stays available until Ctrl-C.")

    print(json.dumps({"url": server_socket.url}) if as_json else server_socket.url, flush=True)
    if server_socket.access.token is None:
        _say("Open it in a browser on this machine. Ctrl-C stops the server.")
    else:
        _say("Anyone with this address can see the run, and the connection is not encrypted. Ctrl-C stops the server.")
    with follower.watching():
        serve(watched, server_socket, on_end)


def _watch(follower: "Follower", *, plain: bool, as_json: bool) -> None:
    from poolproof.cli.result import end_with_gaps, print_result
    from poolproof.results.runs.convergence import trials_ahead

    try:
        if follower.run.is_going():
            _follow(follower, plain=plain)
    except KeyboardInterrupt:
        _say(f"stopped watching; the run continues. To watch it again: poolproof watch {follower.run.path}")
        return
    seen = print_result(follower.run.path, as_json=as_json)
    done = len(seen.trials) + seen.left_out
    _say(follower.why_idle(done, max(done, len(seen.trials) + trials_ahead(seen.trials, follower.campaign))))
    end_with_gaps(seen)


def _follow(follower: "Follower", *, plain: bool) -> None:
    """Follow the run until no poolproof process works on it."""
    from poolproof.cli.listeners import following

    begun_s = follower.begun_s or None
    show = following(follower.campaign, follower.before, plain=plain, hint="Ctrl-C stops watching", begun_s=begun_s)
    with show as progress:
        watching = follower.watching() if progress.wants_live else contextlib.nullcontext()
        with watching:
            follower.last_rates(progress)
            while (update := follower.update(progress)).running:
                if update.since_s is not None:
                    progress.set_start(update.since_s)
                time.sleep(_POLL_S)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
