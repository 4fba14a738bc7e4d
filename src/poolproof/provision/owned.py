"""Defines what a run may remove, and checks each undo against this.

A journal may be damaged or come from a stranger. An undo is therefore performed only if each of its fields has the
format that poolproof writes. Pools, mappings, arrays and other kernel objects must have the run's label in their names,
and files and mount points must be in the run's directories. Disks do not have such names, so an undo checks a disk
before it writes to it.
"""

import re
import secrets
from dataclasses import replace
from pathlib import PurePath

from poolproof.devices.model import Site
from poolproof.errors import CommandError, HostError, RunError, as_word
from poolproof.facts.block import mount_points
from poolproof.hosts.base import Host, host_named, lines_of
from poolproof.provision.directories import RAM_FILES
from poolproof.provision.swappable import swappable
from poolproof.undos import Owned, Undo, UndoTree, checked_values, is_escaped, is_plain

_LABEL = re.compile(r"(?=.*[a-f])[0-9a-f]{8}")
_LIMIT_S = 20.0
_PLACES = """
for place do
    [ -e "$place" ] || [ -L "$place" ] || continue
    [ "$(realpath -- "$place")" = "$place" ] || { echo "$place leads to another directory"; exit 1; }
    [ -O "$place" ] || { echo "$place belongs to another user"; exit 1; }
done
"""
_SAME_LABEL = r"""
cut -d ' ' -f 2 /proc/self/mounts | sed -n "s|\(/$1\)/.*|\1|p" | sort -u
for place in "/var/tmp/$1" "/dev/shm/$1"; do [ ! -e "$place" ] || echo "$place"; done
"""
_OTHER_FILES = 'find "$1" -mindepth 1 ! -path "$1/owner.json*" 2>/dev/null | head -n 1'
# The path of the run's own directory may contain links, but the path below that directory may not.
IS_REAL = """
parent=${1%/*}
[ ! -d "$parent" ] || [ "$(realpath -- "$parent")" = "$(realpath -- "$2")${parent#"$2"}" ]
"""


def new_label() -> str:
    """Return the label of a new run: eight hexadecimal digits with at least one letter.

    Eight decimal digits could be a date in the name of someone's directory, such as `poolproof-20261129`.
    """
    while not _LABEL.fullmatch(label := secrets.token_hex(4)):
        pass
    return label


def owned_by_run(label: str, state_dir: str, ram_dir: str, where: str) -> Owned:
    """Return the names and paths that belong to the run with this label and these directories.

    `where`: where these values come from, for error messages.

    Raises a RunError if the label or a directory does not have the format that poolproof writes.
    """
    name = f"poolproof-{label}"
    is_plain_state = is_plain(state_dir) and not is_escaped(state_dir) and state_dir.endswith(f"/{name}")
    is_own_ram = ram_dir == f"{RAM_FILES}/{name}" != state_dir
    if not (_LABEL.fullmatch(label) and is_plain_state and is_own_ram):
        raise RunError(
            f"{where} names the label {label[:40]!r} and the directories {state_dir[:200]!r} and {ram_dir[:200]!r}, "
            "which are not those of a poolproof run; nothing is changed",
            "a label has eight hexadecimal digits with at least one letter; the first directory ends with "
            f"/poolproof-LABEL, without spaces, and the second one is {RAM_FILES}/poolproof-LABEL",
        )
    return Owned(label, (state_dir, ram_dir))


def owned_by_site(site: Site) -> Owned:
    """Return the names and paths that belong to the run that builds its layouts on this site."""
    return Owned(site.label, (site.state_dir, site.ram_dir))


def check_places(owned: Owned, host: Host) -> None:
    """Check that those directories of the run that exist belong to the user who runs the commands on the host.

    Raises a RunError if one of them belongs to another user or is reached through a symbolic link, if another user
    could replace a directory above it, or if something is mounted over it.
    """
    found = host.run(("sh", "-c", _PLACES, "sh", *owned.places), timeout_s=_LIMIT_S, check=False)
    if found.returncode != 0:
        raise RunError(
            f"{found.stdout.strip() or 'the directories of the run cannot be examined'}; nothing is removed",
            f"ls -ld {' '.join(map(as_word, owned.places))}",
        )
    for place in set(owned.places).intersection(mount_points(host)):
        raise RunError(
            f"something is mounted over {place}; nothing is removed", f"if you don't need it: umount {as_word(place)}"
        )
    for parent in dict.fromkeys(str(PurePath(place).parent) for place in owned.places):
        if (problem := swappable(host, parent)) is not None:
            raise RunError(f"{problem[0]}; nothing is removed", problem[1])


def check_unproven(owned: Owned, host: Host) -> None:
    """Check that a state directory without an owner.json is empty. A run that crashes early leaves such a directory.

    Raises a RunError if it contains files. A forged run directory can name any directory that has the right name.
    """
    state_dir = owned.places[0]
    if host.run(("sh", "-c", _OTHER_FILES, "sh", state_dir), timeout_s=_LIMIT_S, check=False).stdout:
        raise RunError(
            f"{state_dir} contains files, but no owner.json that shows that a run created it; nothing is removed",
            f"if it contains only files of poolproof: rm -r --one-file-system {as_word(state_dir)}",
        )


def check_only_label(owned: Owned, host: Host) -> None:
    """Check that no state directory of another run with the same label exists on the host.

    Raises a RunError if there is one in the usual work directory, or one elsewhere that contains a mount point. The
    names of pools, arrays and directories contain only the label, so they could belong to that run.
    """
    name = f"poolproof-{owned.label}"
    found = host.run(("sh", "-c", _SAME_LABEL, "sh", name), timeout_s=_LIMIT_S, check=False).stdout
    others = [path for path in lines_of(found) if path.endswith(f"/{name}") and path not in owned.places]
    if others:
        raise RunError(
            f"{others[0]} belongs to another run with the label {owned.label}; nothing is removed",
            f"to see which run it belongs to: cat {as_word(others[0])}/owner.json",
        )


def refusal(undo: Undo, owned: Owned) -> str | None:
    """Return the reason for refusing the undo, or None if everything that it would remove belongs to the run."""
    return next((fault for check, value in checked_values(undo) for fault in check.faults(value, owned)), None)


def is_removed(undo: Undo, owned: Owned, run_host: Host, host_name: str) -> bool:
    """True if only the lost state directory is the reason for refusing the undo, and its directory does not exist.

    The user is asked to remove such a directory. A path without the run's label in its name is not even looked at.
    """
    if not isinstance(undo, UndoTree) or refusal(undo, replace(owned, is_proven=True)) is not None:
        return False
    try:
        there = host_named(run_host, host_name)
        return there.run(("test", "-e", undo.path), timeout_s=_LIMIT_S, check=False).returncode == 1
    except (CommandError, HostError):
        return False


def link_to(undo: Undo, owned: Owned, host: Host) -> str | None:
    """Return an error message if a path in the undo leads elsewhere through a symbolic link, otherwise None.

    Links above the run's own directories are allowed. Raises a CommandError if the host does not respond.
    """
    for path in (value for check, value in checked_values(undo) if check.is_file):
        place = next((place for place in owned.places if path.startswith(f"{place}/")), "/")
        argv = ("sh", "-c", IS_REAL, "sh", path, place)
        is_real = path in owned.places or host.run(argv, timeout_s=_LIMIT_S, check=False).returncode == 0
        if not is_real:
            return f"{path} leads to another directory through a symbolic link"
    return None
