"""Check that no other user can write to a run directory, before it is created and before its journal is used.

`clean` and `resume` undo the changes that are recorded in the journal, usually as root. The directory and its files
must therefore belong to root or to the caller, and no other user may be able to replace them.
"""

import os
import stat
from pathlib import Path

from poolproof.errors import RunError, as_word
from poolproof.files.access_lists import trusted_users
from poolproof.files.owners import entry_fault, folder_fault, parent_fault

_FILES = ("run.json", "journal.jsonl", "campaign.yaml", "trials.jsonl", ".lock")
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
        if (reason := parent_fault(folder)) is not None:
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
        if not real.parent.exists():
            return folder_fault(real)
        faults = (folder_fault(real), *(entry_fault(real / name, is_folder=False) for name in _FILES))
        return next((reason for reason in faults if reason is not None), None)
    except OSError as error:
        return f"{error.filename} cannot be examined: {error.strerror}"


def is_public(path: Path) -> bool:
    """True if every user of the machine can read the run."""
    try:
        real = path.resolve()
        folders = all(folder.stat().st_mode & stat.S_IXOTH for folder in (real, *real.parents))
        return folders and bool((real / "run.json").stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
