"""Check that no other user can write to a run directory, before it is created and before its journal is used.

`clean` and `resume` undo the changes that are recorded in the journal, usually as root. The directory and its files
must therefore belong to root or to the caller, and no other user may be able to replace them.
"""

import os
import stat
from pathlib import Path

from poolproof.errors import RunError, as_word
from poolproof.files.access_lists import GROUP, UNKNOWN, read_lists, trusted_users, writers
from poolproof.files.folder import HARD_LINK
from poolproof.files.fuse_mounts import fuse_mounters

_FILES = ("run.json", "journal.jsonl", "campaign.yaml", "trials.jsonl", ".lock")
_ACL = "system.posix_acl_access"
_MOST_LINKS = 40  # as in the kernel


def check_trusted(path: Path) -> None:
    """Check the run directory, all its parent directories, and the files that `clean` and `resume` use.

    POSIX and NFSv4 access control lists are checked too.

    Raises a RunError with the reason if another user could have written the run.
    """
    real = path.resolve()
    reason = distrust(real)
    if reason is not None:
        raise RunError(
            f"{real} is not trusted, so nothing was changed: {reason}",
            f"to look at the results: poolproof show {as_word(path)}; if you trust the run, move it to a directory of "
            "your own, and change its owner (chown -R) and its permissions (chmod -R go-w; setfacl -Rb if it has "
            "access control lists; to see NFSv4 lists: nfs4_getfacl); if it has hard links, use a copy (cp -r)",
        )


def check_creatable(path: Path) -> None:
    """Check that other users can change neither a new run directory nor where its path leads. Nothing is created.

    `path`: the path of the run directory. Neither the directory nor its parents need exist.

    Raises a RunError with the reason if another user could change the results or the journal.
    """
    try:
        reason = _path_fault(Path.cwd() / path) or distrust(Path(os.path.realpath(path)))
    except OSError as error:
        reason = f"{error.filename or path} cannot be examined: {error.strerror}"
    if reason is not None:
        raise RunError(
            f"the results cannot be saved in {path}, because others could change them: {reason}",
            f"choose a directory that only you can change: {_suggested(path)}",
        )


def _suggested(path: Path) -> str:
    """Return the option that saves the results in the home directory, if other users cannot change it."""
    try:
        home = Path("~", "poolproof-runs", path.name).expanduser()
    except RuntimeError:  # the user has no home directory
        return "--out DIR"
    return "--out DIR" if distrust(Path(os.path.realpath(home))) else f"--out {as_word(home)}"


def _path_fault(path: Path) -> str | None:
    """Return the reason if another user can change where the path leads, otherwise None.

    This checks each symbolic link, and each directory that contains a part of the path. The sticky bit, as on /tmp,
    protects the links and directories of root and the caller, but another user could have made the link.
    """
    folder, parts, links = Path("/"), list(path.parts[1:]), 0
    while parts:
        name = parts.pop(0)
        if (reason := _parent_fault(folder)) is not None:
            return reason
        entry = folder.parent if name == ".." else folder / name
        try:
            found = entry.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISLNK(found.st_mode):
            folder = entry
            continue
        links += 1
        if found.st_uid not in trusted_users():
            return f"the link {entry} belongs to user {found.st_uid}"
        if links > _MOST_LINKS:
            return f"{path} leads through too many links"
        target = entry.readlink()
        folder = Path("/") if target.is_absolute() else folder
        parts = [*(target.parts[1:] if target.is_absolute() else target.parts), *parts]
    return None


def distrust(real: Path) -> str | None:
    """Return the reason why a run directory is not trusted, or None if it is. The directory need not exist.

    `real`: the directory's path, with all symbolic links resolved.
    """
    try:
        mountinfo = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
        for point, user in fuse_mounters(str(real), mountinfo):
            if user not in trusted_users():
                return f"user {user} has mounted a FUSE file system at {point}, and can change everything in it"
        for parent in reversed(real.parents):
            if not parent.exists():
                return None
            if (reason := _parent_fault(parent)) is not None:
                return reason
        for each in (real, *(real / name for name in _FILES)):
            if (reason := _fault(each, is_folder=each == real)) is not None:
                return reason
    except OSError as error:
        return f"{error.filename} cannot be examined: {error.strerror}"
    return None


def is_public(path: Path) -> bool:
    """True if every user of the machine can read the run."""
    try:
        real = path.resolve()
        folders = all(folder.stat().st_mode & stat.S_IXOTH for folder in (real, *real.parents))
        return folders and bool((real / "run.json").stat().st_mode & stat.S_IROTH)
    except OSError:
        return False


def _parent_fault(path: Path) -> str | None:
    found = path.stat()
    if found.st_uid not in trusted_users():
        return f"{path} belongs to user {found.st_uid}, who can put another directory there"
    if _others_write(path, found) and not found.st_mode & stat.S_ISVTX:
        return f"other users can write to {path} and put another directory there"
    return _list_fault(path, found)


def _fault(path: Path, *, is_folder: bool) -> str | None:
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
