"""Commands for things that need a moment: a device that somebody has only just let go of, or that udev has yet to make.

Each is one shell for all, since every process that starts costs time on a slow host.
"""

_PATIENTLY = (
    'n=0; until said=$("$0" "$@" 2>&1); do n=$((n + 1)); '
    '[ "$n" -lt 50 ] || { echo "$said" >&2; exit 1; }; sleep 0.1; done'
)
_UNLESS = 'test -e "$0" || exec "$@"'
_AWAIT_BLOCK = (
    'n=0; until test -b "$0"; do n=$((n + 1)); '
    '[ "$n" -lt 300 ] || { echo "$0 did not come into being" >&2; exit 1; }; sleep 0.1; done'
)


def patiently(*argv: str) -> tuple[str, ...]:
    """The command, tried for 5 s or more until it succeeds; its last complaint is what is said."""
    return ("sh", "-c", _PATIENTLY, *argv)


def unless_there(path: str, *argv: str) -> tuple[str, ...]:
    """The command, but only where nothing stands at `path`: to open what its making has opened already."""
    return ("sh", "-c", _UNLESS, path, *argv)


def await_block(path: str) -> tuple[str, ...]:
    """Wait up to 30 s for a device node."""
    return ("sh", "-c", _AWAIT_BLOCK, path)
