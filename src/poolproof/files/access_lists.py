"""NFSv4 access control lists: who except the owner may change a file or directory.

On an NFSv4 mount, the kernel returns the list in the format of RFC 7530, section 6.2.1: the number of entries, and for
each entry its type, its flags, its permissions and the name that it applies to. The mode of a file need not show what
such a list allows. Other file systems have lists in other formats, which this module recognizes but does not interpret.
"""

import errno
import os
import struct
from collections.abc import Collection
from pathlib import Path

NFS4 = "system.nfs4_acl"
LISTS = (NFS4, "system.nfs4_acl_xdr", "system.richacl")
"""The extended attributes that contain such lists: of NFS, of ZFS on TrueNAS, and of some enterprise kernels."""

UNKNOWN = "unknown users"
EVERYONE = "every user"
GROUP = "the group"

_ALLOW, _MOST_ENTRIES = 0, 10_000
_ADD_FILE, _ADD_DIRECTORY, _DELETE_CHILD = 0x2, 0x4, 0x40
_DELETE, _WRITE_LIST, _WRITE_OWNER = 0x10000, 0x40000, 0x80000
_REPLACES = _DELETE_CHILD | _DELETE | _WRITE_LIST | _WRITE_OWNER
_NONE = frozenset({errno.ENODATA, errno.ENOTSUP, errno.ENOSYS})


def trusted_users() -> frozenset[int]:
    """Return the IDs of the trusted users: root, the current user and, under sudo, the user who ran sudo."""
    caller = os.environ.get("SUDO_UID", "")
    called_by = {int(caller)} if os.geteuid() == 0 and caller.isdecimal() else set()
    return frozenset({0, os.geteuid()} | called_by)


def read_lists(path: Path) -> dict[str, bytes | None]:
    """Return the lists of a file or directory, keyed by attribute. A list that can't be read is None."""
    found: dict[str, bytes | None] = {}
    for name in LISTS:
        try:
            found[name] = os.getxattr(path, name, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NONE:
                found[name] = None
    return found


def writers(name: str, value: bytes | None, trusted: Collection[int], *, sticky: bool = False) -> tuple[str, ...]:
    """Return who except the owner and the trusted users may change the file or directory, according to a list.

    The result can contain `EVERYONE`, `GROUP` (the group that owns the file), and names of users and groups.
    Permissions that only new files and directories inherit count too. Entries that deny a permission are ignored, so
    the result can contain too many. If the list can't be interpreted, the result is `UNKNOWN`.

    `sticky`: True for a directory with the sticky bit, in which users may create files but not replace those of others.
    """
    entries = _entries(value) if name == NFS4 and value is not None else None
    if entries is None:
        return (UNKNOWN,)
    wanted = _REPLACES if sticky else _REPLACES | _ADD_FILE | _ADD_DIRECTORY
    special = {"OWNER@": None, "GROUP@": GROUP, "EVERYONE@": EVERYONE, **{str(user): None for user in trusted}}
    allowed = (who for kind, mask, who in entries if kind == _ALLOW and mask & wanted)
    found = (special.get(who, who) for who in allowed)
    return tuple(dict.fromkeys(who for who in found if who is not None))


def _entries(value: bytes) -> list[tuple[int, int, str]] | None:
    """Return the type, permissions and name of each entry, or None if the list is damaged."""
    try:
        (count,) = struct.unpack_from(">I", value)
        at, entries = 4, []
        if count > _MOST_ENTRIES:
            return None
        for _ in range(count):
            kind, _flags, mask, length = struct.unpack_from(">IIII", value, at)
            name = value[at + 16 : at + 16 + length]
            if len(name) < length:
                return None
            entries.append((kind, mask, name.decode()))
            at += 16 + length + -length % 4
    except (struct.error, UnicodeDecodeError):
        return None
    return entries if at == len(value) else None
