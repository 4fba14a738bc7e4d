"""Changes to a host, as values that can be printed, written to the journal with their undos, and undone later.

Layers and devices plan steps. `provision/` checks the steps, writes them to the journal and runs them.
"""

from dataclasses import dataclass

from poolproof.undos import Undo

LET_GO_S = 5.0
"""How long to retry a command, in seconds, if udev or FUSE may release its device late.

FUSE releases a device only after close().
"""

_IN_BACKGROUND = ("sh", "-c", 'setsid "$@" >"$0" 2>&1 </dev/null &')


@dataclass(frozen=True)
class Step:
    """One command that changes a host.

    `overwrites`: the block devices that the command writes to. They must be devices of this run.

    `await_file`: a path that must exist and must not be empty before the step is done, for example a daemon's pid file
    or a device node.

    `log`: a file on the host that is quoted if the step fails, for example a daemon's output.

    `again_if`: text in the command's output which means that a device was missing. The command is then run again after
    udev has created the device nodes.

    `patience_s`: how long to retry after the first failure, because a device may be released late.

    `unless`: the step is skipped if anything exists at this path.

    `host`: the name of the host to change, empty for the run's main host.
    """

    title: str
    argv: tuple[str, ...]
    undo: Undo | None = None
    timeout_s: float = 60.0
    stdin: str | None = None
    secret: bool = False
    overwrites: tuple[str, ...] = ()
    await_file: str | None = None
    log: str | None = None
    again_if: str = ""
    patience_s: float = 0.0
    unless: str = ""
    host: str = ""


def path_on(host: str, path: str) -> str:
    """Return a block device's path. On any host but the run's main host, the path is prefixed with the host's name."""
    return f"{host}:{path}" if host else path


def await_block(node: str) -> Step:
    """Return a step that waits up to 30 s for a block device's device node to appear."""
    return Step(f"wait for {node}", ("true",), await_file=node, timeout_s=30.0)


def daemon(argv: tuple[str, ...], log: str) -> tuple[str, ...]:
    """Return an argv that starts a program in the background, in its own session, with its output in `log`."""
    return (*_IN_BACKGROUND, log, *argv)


def in_background(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """If `argv` was made by `daemon`, return the argv that `daemon` was given. Otherwise, return None."""
    head = len(_IN_BACKGROUND)
    return argv[head + 1 :] if argv[:head] == _IN_BACKGROUND else None
