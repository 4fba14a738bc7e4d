"""The small file in a state directory that names its run, so that what a dead run left leads back to its journal."""

import socket
from pathlib import Path

import msgspec

from poolproof.facts.machine import mark_of
from poolproof.hosts.base import FileMissing, Host
from poolproof.hosts.local import LocalHost
from poolproof.steps import Step

SCHEMA = 1
FILE = "owner.json"

_WRITE = 'cat >"$1.part" && sync "$1.part" && mv "$1.part" "$1"'
_LIMIT_S = 60.0


class StateOwner(msgspec.Struct, frozen=True):
    """The run whose state directory this is.

    `run` is its directory, on the machine that poolproof itself ran on: `host` is that machine's name, `machine` the
    mark that tells it from others (`facts.machine.mark_of`), empty where it has none.
    """

    run: str
    host: str
    machine: str
    schema: int = SCHEMA


def owner_of(run: Path) -> StateOwner:
    """What is written for a run whose directory is `run`, there or not yet."""
    return StateOwner(str(run.resolve()), socket.gethostname(), mark_of(LocalHost()))


def name_owner(state_dir: str, owner: StateOwner) -> Step:
    """Write the file, whole or not at all. It goes with its directory, so it has no undo of its own."""
    return Step(
        f"note in {state_dir} whose it is",
        ("sh", "-c", _WRITE, "sh", f"{state_dir}/{FILE}"),
        stdin=msgspec.json.encode(owner).decode() + "\n",
        timeout_s=_LIMIT_S,
    )


def read_owner(state_dir: str, host: Host) -> StateOwner | None:
    """Whose it is; None where nothing there says so in this schema."""
    try:
        owner = msgspec.json.decode(host.read(f"{state_dir}/{FILE}"), type=StateOwner)
    except (FileMissing, msgspec.DecodeError):
        return None
    return owner if owner.schema == SCHEMA else None
