"""Refuses directories that another user could replace with a link while a run writes to them or is cleaned up."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poolproof.errors import HostError, as_word
from poolproof.files.access_lists import GROUP, UNKNOWN, writers
from poolproof.files.access_lists import LISTS as NFS4_LISTS
from poolproof.files.fuse_mounts import fuse_mounters
from poolproof.hosts.base import Host, lines_of, text_of

_LIMIT_S = 20.0
_ROOT = 0
_HEX = re.compile(r"([0-9a-f]{2})+")
_STICKY, _GROUP_WRITES, _OTHERS_WRITE = 0o1000, 0o020, 0o002
PARENTS = """
user=$(id -u); path=$1
case $user$SUDO_UID in 0*[!0-9]* | [!0]*) ;; *) user=${SUDO_UID:-0} ;; esac
echo "$user"
while :; do
    acl=; case $(ls -ld -- "$path") in ??????????+*) acl=+ ;; esac
    stat -c "$acl %u %g %a %U %G %n" -- "$path"; [ "$path" = / ] && break; path=$(dirname -- "$path")
done
"""

LISTS = """
if command -v python3 >/dev/null; then
  exec python3 -I -c 'import errno, os, sys
names = sys.argv[1].split()
for path in sys.argv[2:]:
    for name in names:
        try: print(name, os.getxattr(path, name).hex(), path)
        except OSError as e:
            if e.errno not in (errno.ENODATA, errno.ENOTSUP, errno.ENOSYS): print(name, "?", path)' "$@"
fi
names=$1; shift
for path; do
  if command -v getfattr >/dev/null; then
    for name in $names; do
      value=$(getfattr --absolute-names -e hex -n "$name" -- "$path" 2>/dev/null | sed -n 's/^[^=]*=0x//p')
      [ -z "$value" ] || echo "$name $value $path"
    done
  else
    case $(stat -f -c %t -- "$path") in 6969) echo "${names%% *} ? $path" ;; esac
  fi
done
"""


@dataclass(frozen=True)
class DirectoryStat:
    """A directory's path, mode, owner and group. The owner and group are given by number and by name.

    `has_acl`: the directory has an access control list; the group's bits are then the most that its entries allow.
    """

    owner: int
    group: int
    mode: int
    owner_name: str
    group_name: str
    path: str
    has_acl: bool = False


def check_not_swappable(host: Host, path: str) -> None:
    """Raise a HostError if another user could replace the directory, or a directory above it, during a run.

    The owner of a directory could do so, unless the owner is root, the run's user or the caller of sudo. Everyone with
    write permission could do so, unless the directory has the sticky bit. A group with the same number as the owner is
    assumed to be the owner's private group. An access control list may also give others write permission; one that
    poolproof can't interpret counts as if it did. Another user who mounted a FUSE file system on the path could do so,
    too, whatever owners and modes it reports.

    `path`: the directory's path, without symbolic links.
    """
    found = swappable(host, path)
    if found is not None:
        why, hint = found
        raise HostError(f"{why} during the run, and the run would then write elsewhere", hint).concerning(path)


def swappable(host: Host, path: str) -> tuple[str, str] | None:
    """Return an error message and a hint if another user could replace the directory or one above it, otherwise None.

    `check_not_swappable` describes the conditions. `path` need not exist.
    """
    printed = lines_of(host.run(["sh", "-c", PARENTS, "sh", path], timeout_s=_LIMIT_S).stdout)
    if not printed[0].isdecimal():
        return None
    folders, user = tuple(_folders(printed[1:])), int(printed[0])
    for point, mounter in fuse_mounters(path, text_of(host, "/proc/self/mountinfo")):
        if mounter not in (_ROOT, user):
            hint = "use a directory that is not on a FUSE file system of another user"
            return (
                f"user {mounter}, who mounted the FUSE file system at {point}, could replace a directory with a link",
                hint,
            )
    for folder in folders:
        who = replacer(folder, user)
        if who is not None:
            place = as_word(folder.path)
            fix = f"run poolproof as {folder.owner_name}" if who.startswith("the user") else f"chmod go-w {place}"
            hint = f"{fix}, or use a directory that only you can change (who can change this one: ls -ld {place})"
            return f"{who} could replace a directory in {folder.path} with a link", hint
    return _listed(host, {folder.path: folder for folder in folders}, user)


def _listed(host: Host, folders: Mapping[str, DirectoryStat], user: int) -> tuple[str, str] | None:
    """Return an error message and a hint if NFSv4 lists allow others to replace a directory, otherwise None."""
    argv = ["sh", "-c", LISTS, "sh", " ".join(NFS4_LISTS), *folders]
    for line in lines_of(host.run(argv, timeout_s=_LIMIT_S, check=False).stdout):
        name, _, rest = line.partition(" ")
        value, _, path = rest.partition(" ")
        if (folder := folders.get(path)) is None:
            continue
        read = bytes.fromhex(value) if _HEX.fullmatch(value) else None
        for who in writers(name, read, (_ROOT, user), sticky=bool(folder.mode & _STICKY)):
            hint = f"use a directory that only you can change (who can change this one: nfs4_getfacl {as_word(path)})"
            if who == UNKNOWN:
                why = (
                    f"poolproof can't interpret the access control list of {path} ({name}), so others may be able to "
                    "replace a directory in it with a link"
                )
                return why, hint
            if who != GROUP or folder.group not in (_ROOT, folder.owner):
                why = (
                    f"according to the access control list of {path}, {who} could replace a directory in it with a link"
                )
                return why, hint
    return None


def replacer(folder: DirectoryStat, user: int) -> str | None:
    """Return the other user or group that could replace the contents of the folder, or None if nobody else could.

    `user`: the uid of a user who, like root, is allowed to do so.
    """
    if folder.owner not in (_ROOT, user):
        return f"the user {folder.owner_name}"
    if folder.mode & _STICKY:
        return None
    if folder.mode & _OTHERS_WRITE:
        return "every user"
    if folder.mode & _GROUP_WRITES and folder.has_acl:
        return "a user in its access control list"
    if folder.mode & _GROUP_WRITES and folder.group not in (_ROOT, folder.owner):
        return f"the group {folder.group_name}"
    return None


def _folders(lines: list[str]) -> Iterator[DirectoryStat]:
    for line in lines:
        fields = line.split(" ", 6)
        if len(fields) < 7:
            continue
        acl, owner, group, mode, owner_name, group_name, path = fields
        try:
            yield DirectoryStat(int(owner), int(group), int(mode, 8), owner_name, group_name, path, acl == "+")
        except ValueError:
            raise HostError(f"the host printed {line[:200]!r} as the owner and the mode of a directory") from None
