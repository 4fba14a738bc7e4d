"""Find out whether another user could change a file or directory, or put another one in its place.

Root, the current user and, under sudo, the user who ran sudo are trusted. All others are not.
"""

import contextlib
import os
import stat
from pathlib import Path

from poolproof.files.access_lists import GROUP, UNKNOWN, read_lists, trusted_users, writers
from poolproof.files.folder import HARD_LINK
from poolproof.files.fuse_mounts import fuse_mounters

_ACL = "system.posix_acl_access"


def folder_fault(real: Path) -> str | None:
    """Return the reason if another user can change the directory or one of its parents, otherwise None.

    `real`: the directory's path, with all symbolic links resolved. The directory need not exist.

    Raises an OSError if a directory cannot be examined.
    """
    mountinfo = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    for point, user in fuse_mounters(str(real), mountinfo):
        if user not in trusted_users():
            return f"user {user} has mounted a FUSE file system at {point}, and can change everything in it"
    for parent in reversed(real.parents):
        if not parent.exists():
            return None
        if (reason := parent_fault(parent)) is not None:
            return reason
    return entry_fault(real, is_folder=True)


def own_folder(path: Path) -> Path | None:
    """Create a directory that only this user can access, unless it exists. Return it, with all links resolved.

    Return None if it cannot be created, or if another user could change what it contains.
    """
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a loop of links
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        real = path.resolve()
        return real if folder_fault(real) is None else None
    return None


def parent_fault(path: Path) -> str | None:
    """Return the reason if another user can replace what the directory contains, otherwise None.

    The sticky bit, as on /tmp, protects the files and directories of root and the caller. Raises an OSError if the
    directory cannot be examined.
    """
    found = path.stat()
    if found.st_uid not in trusted_users():
        return f"{path} belongs to user {found.st_uid}, who can put another directory there"
    if _others_write(path, found) and not found.st_mode & stat.S_ISVTX:
        return f"other users can write to {path} and put another directory there"
    return _list_fault(path, found)


def entry_fault(path: Path, *, is_folder: bool) -> str | None:
    """Return the reason if another user can change the directory or file itself, otherwise None.

    Also if it has another type than expected. If it does not exist, return None. Raises an OSError if it cannot be
    examined.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not (stat.S_ISDIR if is_folder else stat.S_ISREG)(found.st_mode):
        return f"{path} is not a {'directory' if is_folder else 'regular file'}"
    if found.st_uid not in trusted_users():
        return f"{path} belongs to user {found.st_uid}"
    if not is_folder and found.st_nlink > 1:
        return f"{path} has {HARD_LINK}"
    return f"other users can write to {path}" if _others_write(path, found) else _list_fault(path, found)


def _list_fault(path: Path, found: os.stat_result) -> str | None:
    """Return the reason if an NFSv4 access control list allows another user to write, or can't be interpreted.

    Otherwise, return None.
    """
    for name, value in read_lists(path).items():
        is_private = found.st_gid in (0, found.st_uid)
        for who in writers(name, value, trusted_users(), sticky=bool(found.st_mode & stat.S_ISVTX)):
            if who == UNKNOWN:
                return (
                    f"poolproof can't interpret the access control list of {path} ({name}), so others may write to it"
                )
            if who != GROUP or not is_private:
                return f"the access control list of {path} ({name}) allows {who} to write to it"
    return None


def _others_write(path: Path, found: os.stat_result) -> bool:
    """True if the group, others or an access control list have write permission.

    Root's group is ignored, and so is a group with the same ID as the owner, because it is assumed to contain only the
    owner. With an access control list, no group is ignored.
    """
    is_private = found.st_gid in (0, found.st_uid) and not _has_acl(path)
    return bool(found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not is_private))


def _has_acl(path: Path) -> bool:
    try:
        return _ACL in os.listxattr(path)
    except OSError:  # the file system has none
        return False
