"""Changes to a host, as values that can be printed, written to the journal and undone later.

Layers and devices plan these steps. `provision/` checks the steps, writes them to the journal and runs them.
"""

from dataclasses import dataclass

from poolproof.undos import Undo

LET_GO_S = 5.0
"""The time, in seconds, for which a command is retried if udev or FUSE may release its device late.

FUSE releases a device only after close().
"""

_IN_BACKGROUND = ("sh", "-c", 'setsid "$@" >"$0" 2>&1 </dev/null &')


@dataclass(frozen=True)
class Step:
    """One command that changes a host.

    `overwrites`: the block devices to which the command writes. They must be devices of this run.
    `await_file`: a path that must exist and must not be empty before the step is done, such as a daemon's pid file or a
    device node.
    `log`: a file on the host that is quoted if the step fails, such as a daemon's output.
    `again_if`: a string in the command's output that means that a device was missing. The command is then run again
    after udev has created the device nodes.
    `patience_s`: the time for which the command is retried after it first failed, because a device may be released
    late.
    `unless`: a path. If anything exists there, the step is skipped.
    `unmounts`: a mount point that the command unmounts. If someone else has mounted something over it or inside it, the
    step fails.
    `host`: the name of the host to change, or an empty string for the run's main host.
    """

    title: str
    argv: tuple[str, ...]
    undo: Undo | None = None
    timeout_s: float = 60.0
    stdin: str | None = None
    overwrites: tuple[str, ...] = ()
    await_file: str | None = None
    log: str | None = None
    again_if: str = ""
    patience_s: float = 0.0
    unless: str = ""
    unmounts: str = ""
    host: str = ""


def is_script(argv: tuple[str, ...]) -> bool:
    """True if the command is a shell script. Its error messages are understandable without its text."""
    return argv[:2] == ("sh", "-c")


def path_on(host: str, path: str) -> str:
    """Return a block device's path, preceded by the host's name unless it is on the run's main host."""
    return f"{host}:{path}" if host else path


def await_block(node: str) -> Step:
    """Return a step that waits up to 30 s until the block device's node exists."""
    return Step(f"wait for {node}", ("true",), await_file=node, timeout_s=30.0)


def daemon(argv: tuple[str, ...], log: str) -> tuple[str, ...]:
    """Return the argv that starts a program in the background, in its own session, with its output in `log`."""
    return (*_IN_BACKGROUND, log, *argv)


def in_background(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the argv that was passed to `daemon` if `argv` is a result of `daemon`, otherwise None."""
    head = len(_IN_BACKGROUND)
    return argv[head + 1 :] if argv[:head] == _IN_BACKGROUND else None
