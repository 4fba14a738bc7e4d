"""`poolproof watch`: follow a run in another process, on a live screen or in a browser."""

import contextlib
import time
from typing import TYPE_CHECKING, Annotated

from typer import Option

from poolproof.cli.options import Json, Plain, Run
from poolproof.cli.output import exit_if_incomplete, following, print_answer, print_results, say
from poolproof.cli.signals import end_by_exception
from poolproof.errors import UsageError, as_word, check_extra

if TYPE_CHECKING:
    from poolproof.presentation.live.follow import Follower

_POLL_S = 0.5
_BEGINS_WITHIN_S = 5.0
_LOOPBACK = "127.0.0.1"


def command(
    run: Run,
    web: Annotated[bool, Option("--web", help="Serve the report to browsers and keep it up to date.")] = False,
    bind: Annotated[str, Option(metavar="ADDRESS", help="With --web: the address to listen on.")] = _LOOPBACK,
    port: Annotated[
        int, Option(metavar="PORT", min=0, max=65535, help="With --web: the port; 0 picks a free one.")
    ] = 0,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Follow a run in progress, on screen or in a browser.

    Nothing is written to the run. Ctrl-C stops watching, not the run. When the run ends, --json prints its results.
    With --web, --json prints the address of the page instead.
    """
    if not web and (bind != _LOOPBACK or port):
        raise UsageError("--bind and --port need --web", f"poolproof watch {as_word(run)} --web")
    end_by_exception()
    from poolproof.presentation.live.follow import Follower

    follower = Follower(run)
    until = follower.record.begun_s + _BEGINS_WITHIN_S  # a run that has just been created has no lock yet
    while not (follower.run.path / ".lock").exists() and time.time() < until < time.time() + 2 * _BEGINS_WITHIN_S:
        time.sleep(_POLL_S)
    if web:
        _serve(follower, bind, port, as_json=as_json)
    else:
        _watch(follower, plain=plain or as_json, as_json=as_json)


def _serve(follower: "Follower", bind: str, port: int, *, as_json: bool) -> None:
    check_extra("web", "watch --web")
    from poolproof.presentation.live.server import listen, serve
    from poolproof.presentation.live.status import WatchedRun
    from poolproof.results.runs.trust import is_public

    server_socket = listen(bind, port, is_private=not is_public(follower.run.path))
    watched = WatchedRun(follower)
    print_answer({"url": server_socket.url}, server_socket.url, as_json=as_json)
    if server_socket.access.is_local:
        say("Open it in a browser on this machine. Ctrl-C stops the server.")
    else:
        say("Anyone with this address can see the run, and the connection is not encrypted. Ctrl-C stops the server.")
    with follower.watching():
        ended = "The page stays available until you press Ctrl-C."
        serve(watched, server_socket, lambda: say(f"{watched.why_idle()} {ended}"))


def _watch(follower: "Follower", *, plain: bool, as_json: bool) -> None:
    from poolproof.results.runs.convergence import trials_ahead

    try:
        if follower.run.is_going():
            _follow(follower, plain=plain)
    except KeyboardInterrupt:
        say(f"stopped watching; the run continues. To watch it again: poolproof watch {as_word(follower.run.path)}")
        return
    run = print_results(follower.run.path, as_json=as_json)
    done = len(run.trials) + run.left_out
    say(follower.why_idle(done, max(done, len(run.trials) + trials_ahead(run.trials, follower.campaign))))
    exit_if_incomplete(run)


def _follow(follower: "Follower", *, plain: bool) -> None:
    """Show the run's progress as long as a poolproof process is working on the run."""
    begun_s, hint = follower.record.begun_s or None, "Ctrl-C stops watching"
    with contextlib.ExitStack() as stack:
        screen = following(follower.campaign, follower.before, plain=plain, hint=hint, begun_s=begun_s)
        progress = stack.enter_context(screen)
        if progress.wants_live:
            stack.enter_context(follower.watching())
        follower.last_rates(progress)
        while (update := follower.update(progress)).running:
            if update.since_s is not None:
                progress.set_start(update.since_s)
            time.sleep(_POLL_S)
