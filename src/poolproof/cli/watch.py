"""`poolproof watch`: a run that goes on in another process, as a live screen or as a page in the browser."""

import json
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.run import Json, Plain
from poolproof.errors import UsageError

if TYPE_CHECKING:
    from poolproof.presentation.live.follow import Follower
    from poolproof.presentation.terminal.live_state import LiveState

_LOOK_S = 0.5
_BEGINS_WITHIN_S = 5.0
_LOOPBACK = "127.0.0.1"


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    web: Annotated[bool, typer.Option("--web", help="Serve the report's page live, until Ctrl-C.")] = False,
    bind: Annotated[
        str, typer.Option("--bind", metavar="ADDRESS", help="Where --web listens; elsewhere it needs a token.")
    ] = _LOOPBACK,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="With --web; 0 is any free one.")] = 0,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Watch a run that goes on in another process: the live screen, or with --web its page in a browser.

    Nothing is written to the run. Ctrl-C ends the watching, not the run. --json prints the run's object at its end,
    with --web the address.
    """
    if not web and (bind != _LOOPBACK or port):
        raise UsageError("--bind and --port are for the page in the browser", f"poolproof watch {run} --web")
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
    """A run that was just made has no lock for a moment."""
    until = follower.begun_s + _BEGINS_WITHIN_S
    while not (follower.run.path / ".lock").exists() and time.time() < until < time.time() + 2 * _BEGINS_WITHIN_S:
        time.sleep(_LOOK_S)


def _serve(follower: "Follower", bind: str, port: int, *, as_json: bool) -> None:
    from poolproof.presentation.live.seen import Watched
    from poolproof.presentation.live.server import serve, stand

    standing = stand(bind, port)
    watched = Watched(follower)

    def ended() -> None:
        _say(f"{follower.why_still(watched.state.done, watched.state.total)} The page stays until Ctrl-C.")

    print(json.dumps({"url": standing.url}) if as_json else standing.url, flush=True)
    if standing.access.token is None:
        _say("Open it in a browser on this machine. Ctrl-C ends it.")
    else:
        _say("Whoever has this address sees the run, and nothing on the way is encrypted. Ctrl-C ends it.")
    with follower.watching():
        serve(watched, standing, ended)


def _watch(follower: "Follower", *, plain: bool, as_json: bool) -> None:
    from poolproof.cli.missing_data import end_with_gaps
    from poolproof.cli.result import print_result
    from poolproof.presentation.terminal.live_state import LiveState
    from poolproof.results.runs.convergence import trials_ahead

    state = LiveState(follower.campaign, follower.before, begun_s=follower.begun_s or None)
    try:
        if follower.run.is_going():
            _follow(follower, state, plain=plain)
    except KeyboardInterrupt:
        _say(f"no longer watched; the run goes on. To see it again: poolproof watch {follower.run.path}")
        return
    seen = print_result(follower.run.path, as_json=as_json)
    done = len(seen.trials) + seen.left_out
    _say(follower.why_still(done, max(state.total, len(seen.trials) + trials_ahead(seen.trials, follower.campaign))))
    end_with_gaps(seen)


def _follow(follower: "Follower", state: "LiveState", *, plain: bool) -> None:
    """Until no poolproof works on the run any more."""
    from poolproof.cli.following import plain_lines, screen_is_possible, screen_of

    if plain or not screen_is_possible():
        lines = plain_lines(state)
        lines.campaign_begins(state.total - state.done, state.done)
        while follower.look(lines).going:
            time.sleep(_LOOK_S)
        return
    with follower.watching(), screen_of(state, "Ctrl-C ends the watching") as screen:
        follower.last_rates(screen)
        while (glance := follower.look(screen)).going:
            if glance.since_s is not None:
                state.began(glance.since_s)
            time.sleep(_LOOK_S)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
