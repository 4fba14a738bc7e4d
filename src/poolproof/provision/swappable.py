"""Refuses directories that another user could replace with a link while a run writes to them or is cleaned up."""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.errors import HostError
from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_ROOT = 0
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
    assumed to be the owner's private group.

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
    printed = host.run(["sh", "-c", PARENTS, "sh", path], timeout_s=_LIMIT_S).stdout.splitlines()
    if not printed or not printed[0].isdecimal():
        return None
    for folder in _folders(printed[1:]):
        who = replacer(folder, int(printed[0]))
        if who is not None:
            fix = f"run poolproof as {folder.owner_name}" if who.startswith("the user") else f"chmod go-w {folder.path}"
            hint = f"{fix}, or use a directory that only you can change (who can change this one: ls -ld {folder.path})"
            return f"{who} could replace {folder.path} with a link", hint
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
        if len(fields) == 7:
            acl, owner, group, mode, owner_name, group_name, path = fields
            yield DirectoryStat(int(owner), int(group), int(mode, 8), owner_name, group_name, path, acl == "+")
