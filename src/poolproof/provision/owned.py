"""What a run may remove: the names and paths that it created itself.

The fields of each undo are checked before it runs.

A journal can come from a stranger, and a field can be damaged. So an undo is performed only if each of its fields has
the form that poolproof writes, and if each name in it contains the label of the run.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from poolproof.devices.model import Site
from poolproof.errors import RunError
from poolproof.hosts.base import Host
from poolproof.steps import (
    Undo,
    UndoArcLimit,
    UndoArray,
    UndoClaim,
    UndoDaemon,
    UndoGroup,
    UndoLoop,
    UndoMapping,
    UndoMount,
    UndoPool,
    UndoPrograms,
    UndoTree,
    UndoVdevs,
)

_LABEL = re.compile(r"[0-9a-f]{8}")
_NAME = re.compile(r"[\w.:+-]+", re.ASCII)
_PROGRAM = re.compile(r"[\w.+-]{1,15}", re.ASCII)  # the kernel cuts a longer `comm`
_NUMBER = re.compile(r"(\d+:\d+)?", re.ASCII)
_DEVICE = re.compile(r"/dev/\S+")
_MOST_LOOPS = 1 << 20
_LIMIT_S = 20.0
_PLACES = """
for place do
    [ -e "$place" ] || [ -L "$place" ] || continue
    [ "$(realpath -- "$place")" = "$place" ] || { echo "$place leads to another directory"; exit 1; }
    [ -O "$place" ] || { echo "$place belongs to another user"; exit 1; }
done
"""
# The directory of a file may be reached through links down to the run's directory, but not below it.
IS_REAL = """
parent=${1%/*}
[ ! -d "$parent" ] || [ "$(realpath -- "$parent")" = "$(realpath -- "$2")${parent#"$2"}" ]
"""


@dataclass(frozen=True)
class Owned:
    """The label of a run or lab, and the directories that it created, without symbolic links in their paths."""

    label: str
    places: tuple[str, ...]


def owned_by_run(label: str, state_dir: str, ram_dir: str, where: str) -> Owned:
    """Return what the run with this record may remove. `where` names the record in the error.

    Raises a RunError unless the label and both directories have the form that poolproof writes.
    """
    name = f"poolproof-{label}"
    ok = _LABEL.fullmatch(label) and all(_is_plain(path) and path.endswith(f"/{name}") for path in (state_dir, ram_dir))
    if not ok:
        raise RunError(
            f"{where} names the label {label[:40]!r} and the directories {state_dir[:200]!r} and {ram_dir[:200]!r}, "
            "which are not those of a poolproof run; nothing is removed",
            "a label has eight hexadecimal digits, and both directories end with /poolproof-LABEL",
        )
    return Owned(label, (state_dir, ram_dir))


def owned_by_site(site: Site) -> Owned:
    """Return what the run that builds on this site may remove."""
    return Owned(site.label, (site.state_dir, site.ram_dir))


def check_places(owned: Owned, host: Host) -> None:
    """Check that the run's directories on the host, if they exist, belong to the user who runs the commands there.

    Raises a RunError if one belongs to another user or is reached by a symbolic link.
    """
    found = host.run(("sh", "-c", _PLACES, "sh", *owned.places), timeout_s=_LIMIT_S, check=False)
    if found.returncode != 0:
        raise RunError(
            f"{found.stdout.strip() or 'the directories of the run cannot be examined'}; nothing is removed",
            f"ls -ld {' '.join(owned.places)}",
        )


def refusal(undo: Undo, owned: Owned) -> str | None:
    """Return why the undo must not be performed; None if everything in it belongs to the run."""
    return next(_faults(undo, owned), None)


def link_to(undo: Undo, owned: Owned, host: Host) -> str | None:
    """Return why a file or tree of the undo is not where its path says: a directory in the path is a symbolic link.

    None if there is no such link. Raises a CommandError if the host does not answer.
    """
    match undo:
        case UndoTree(path) | UndoDaemon(path) | UndoArcLimit(path) | UndoVdevs(note=path) | UndoClaim(note=path):
            place = next((place for place in owned.places if path.startswith(f"{place}/")), "/")
            argv = ("sh", "-c", IS_REAL, "sh", path, place)
            is_real = path in owned.places or host.run(argv, timeout_s=_LIMIT_S, check=False).returncode == 0
            return None if is_real else f"{path} leads to another directory through a symbolic link"
    return None


def _faults(undo: Undo, owned: Owned) -> Iterator[str]:
    match undo:
        case UndoMount(point):
            yield from _inside(point, owned)
        case UndoLoop(number, file):
            yield from () if 0 <= number < _MOST_LOOPS else (f"{number} is not the number of a loop device",)
            yield from _inside(file, owned)
        case UndoMapping(name) | UndoPool(name):
            yield from _named(name, owned)
        case UndoGroup(name, devices):
            yield from _named(name, owned)
            yield from _devices(devices)
        case UndoArray(node, members):
            yield from _named(node.removeprefix("/dev/md/"), owned)
            yield from () if node.startswith("/dev/md/") else (f"{node} is not a node in /dev/md",)
            yield from _devices(members)
        case UndoVdevs(pool, vdevs, note):
            yield from _named(pool, owned)
            yield from _inside(note, owned)
            yield from () if all(vdevs) else ("a vdev has no device",)
            yield from _devices(device for vdev in vdevs for device in vdev)
        case UndoArcLimit(note):
            yield from _inside(note, owned)
        case UndoClaim(_, path, size_bytes, number, _, _, note):
            yield from _inside(note, owned)
            yield from _devices((path,))
            yield from () if size_bytes > 0 else ("the disk has no size",)
            yield from () if _NUMBER.fullmatch(number) else (f"{number!r} is not a device number",)
        case UndoDaemon(pidfile, marker):
            yield from _inside(pidfile, owned)
            yield from _inside(marker, owned)
        case UndoPrograms(programs, marker):
            yield from _inside(marker.removesuffix("/"), owned, itself=True)
            yield from (f"{name!r} is not the name of a program" for name in programs if not _PROGRAM.fullmatch(name))
        case UndoTree(path):
            last = path.rpartition("/")[2]
            is_own_name = last.startswith((f"poolproof-{owned.label}-", f"poolproof-{owned.label}."))
            yield from (_not_plain(path),) if not _is_plain(path) else ()
            yield from () if is_own_name else _inside(path, owned, itself=True)


def _inside(path: str, owned: Owned, *, itself: bool = False) -> Iterator[str]:
    """Yield a reason unless the path is inside one of the run's directories.

    With `itself`, it may also be one of them.
    """
    if not _is_plain(path):
        yield _not_plain(path)
    elif not any(path.startswith(f"{place}/") or (itself and path == place) for place in owned.places):
        yield f"{path} is not in a directory of this run ({', '.join(owned.places)})"


def _named(name: str, owned: Owned) -> Iterator[str]:
    if not (_NAME.fullmatch(name) and name.startswith(f"poolproof-{owned.label}-")):
        yield f"{name!r} does not belong to this run, whose names begin with poolproof-{owned.label}-"


def _devices(paths: Iterable[str]) -> Iterator[str]:
    return (f"{path!r} is not the path of a device" for path in paths if not _is_device(path))


def _is_device(path: str) -> bool:
    return _DEVICE.fullmatch(path) is not None and _is_plain(path)


def _is_plain(path: str) -> bool:
    """True for an absolute path without control characters, empty parts, `.` and `..`."""
    has_controls = any(ord(character) < 32 or ord(character) == 127 for character in path)
    first, *parts = path.split("/")
    return not has_controls and not first and bool(parts) and not {"", ".", ".."}.intersection(parts)


def _not_plain(path: str) -> str:
    return f"{path[:200]!r} is not an absolute path without `..`"
