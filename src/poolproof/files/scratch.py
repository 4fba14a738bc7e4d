"""Temporary directories that do not outlive a killed process for long."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from poolproof.files.owners import folder_fault

_YOUNG_S = 60.0  # another process may have made the directory, but not locked it yet
_MARK = ".poolproof-scratch"
"""A file that only directories created by this module contain. A user's own directory may have the same prefix."""


@contextlib.contextmanager
def scratch_directory(prefix: str, within: str | None = None) -> Iterator[Path]:
    """Create a temporary directory, and remove it when the context ends.

    `within`: the parent directory, if it is not the usual one for temporary files. If another user could replace
    directories in the usual one, /tmp is used instead.

    The directory is locked while it is in use. First, the function removes directories with the same prefix that it
    made earlier for this user and that are no longer in use, because SIGKILL ended their process.
    """
    within = within or _usual_parent(prefix)
    for each in Path(within).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            _remove_if_unused(each)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=within) as path, _locked(Path(path)):
        (Path(path) / _MARK).touch()
        yield Path(path)


def _usual_parent(prefix: str) -> str:
    """Return the directory for temporary files (TMPDIR, or /tmp), or /tmp if another user could replace what is in it.

    For example, that user could put another socket in place of the one through which ssh connects.
    """
    usual = tempfile.gettempdir()
    with contextlib.suppress(OSError, RuntimeError):
        if folder_fault(Path(usual).resolve() / f"{prefix}new") is None:
            return usual
    return "/tmp"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(number)


def _remove_if_unused(path: Path) -> None:
    """Remove the directory if this module created it for this user, and it is more than a minute old and not locked.

    Raises an OSError if it is locked, is not a directory, or does not contain the mark.
    """
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(number)
        os.stat(_MARK, dir_fd=number, follow_symlinks=False)
        if found.st_uid == os.geteuid() and time.time() - found.st_mtime > _YOUNG_S:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
    finally:
        os.close(number)
