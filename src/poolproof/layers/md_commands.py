"""mdadm's command lines, and what the kernel says of an array. Pure but for the questions to an open array."""

from collections.abc import Sequence

from poolproof.errors import CommandError
from poolproof.hosts.base import Host

_STOP = (
    'n=0; until said=$(mdadm --stop "$0" 2>&1); do n=$((n + 1)); '
    '[ "$n" -lt 50 ] || { echo "$said" >&2; exit 1; }; sleep 0.1; done; '
    'n=0; while test -e "$0"; do n=$((n + 1)); '
    '[ "$n" -lt 100 ] || { echo "$0 is still there" >&2; exit 1; }; sleep 0.1; done'
)
_DISMISS = 'mdadm --stop "$0" && mdadm --zero-superblock "$@"'
_STATE = 'cd "/sys/block/$(basename "$(readlink -f "$0")")/md" && '
# Right after it was made an array may be idle because its resync has yet to begin: its end is told by resync_start.
_AWAIT_SYNC = _STATE + (
    'until read a <sync_action && [ "$a" = idle ] && read r <resync_start && [ "$r" = none ] && '
    'read d <degraded && [ "$d" = 0 ]; do sleep 1; done'
)
_LIMIT_S = 30.0


def stop(node: str) -> tuple[str, ...]:
    """Stop the array and wait until its node is gone, so that nobody takes the old one for the next."""
    return ("sh", "-c", _STOP, node)


def dismiss(node: str, members: Sequence[str]) -> tuple[str, ...]:
    """Stop the array and erase its superblocks. As long as it runs, its members are known to be its own."""
    return ("sh", "-c", _DISMISS, node, *members)


def await_sync(node: str) -> tuple[str, ...]:
    """Wait until every copy and all parity is right."""
    return ("sh", "-c", _AWAIT_SYNC, node)


def sync_action(node: str, host: Host) -> str | None:
    """What the array is doing: idle, resync, recover, check …; None where there is nothing to sync."""
    return _said(node, "cat sync_action", host)


def bitmap_location(node: str, host: Host) -> str | None:
    """`none`, `file`, or where in the superblock it stands (`+8`); None where it can't be told."""
    return _said(node, "cat bitmap/location", host)


def _said(node: str, command: str, host: Host) -> str | None:
    try:
        completed = host.run(("sh", "-c", _STATE + command, node), timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return None
    return completed.stdout.strip() or None
