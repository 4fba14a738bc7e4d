"""Write files atomically, append to files and lock them, without following links."""

import contextlib
import errno
import fcntl
import os
import secrets
import select
import stat
import time
from pathlib import Path
from typing import IO

from poolproof.files.access_lists import trusted_users
from poolproof.files.folder import FileRefused, Folder, folder_of

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_RANDOM_BYTES = 8
_LOCK_S = 1.0
_POLL_S = 0.02
_READER_S = 10.0
_STALLED_S = 60.0
_FIFO = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def write_output(
    path: Path,
    content: bytes,
    *,
    root: Folder | Path | None = None,
    lasting: bool = True,
    no_wider_than: Path | None = None,
) -> None:
    """Write a file atomically, so that an incomplete version of it is never visible.

    The contents are written to a temporary file, which is synced and then renamed. Missing directories are created. A
    link is replaced, and its target remains unchanged.

    `lasting`: if True, the directory is synced too. Otherwise, the new file may be missing after a power failure, but
    it is never partial.
    `no_wider_than`: a path whose permissions limit those of a new file. For example, a report gets at most the
    permissions of its run. An existing file keeps its permissions, unless it belongs to another user.

    Raises:
        FileRefused: the path is neither a regular file nor a link to one.
        OSError: the file cannot be written.
    """
    folder = _made_folder(path.parent, root)
    if (kind := folder.kind(path.name)) not in (None, "", "a symbolic link"):
        raise FileRefused(f"it is {kind}, not a regular file", path)
    if kind and (target := folder.leads_to(path.name)):  # such as /dev/stdout, which must not be replaced
        raise FileRefused(f"it is a link to {target}, not to a regular file", path)
    mode = _mode(folder, path.name, no_wider_than) if kind == "" or no_wider_than else None
    part = f".part-{secrets.token_hex(_RANDOM_BYTES)}"
    handle = folder.open_file(part, _NEW, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            _write_synced(file, content)
            if mode is not None:
                os.fchmod(handle, mode)
        os.rename(part, path.name, src_dir_fd=folder.handle, dst_dir_fd=folder.handle)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part, dir_fd=folder.handle)
        raise
    if lasting:
        os.fsync(folder.handle)


def write_fifo(path: Path, content: bytes) -> None:
    """Write to a FIFO, which must not be a link.

    Raises:
        FileRefused: it belongs to another user, who could read the content, or no program opens it within 10 s.
        OSError: it cannot be opened, its reader ends early, or its reader reads nothing for 60 s.
    """
    handle = _opened_fifo(path, time.monotonic() + _READER_S)
    try:
        if os.fstat(handle).st_uid not in trusted_users():
            raise FileRefused("it is a FIFO of another user, who could read the content", path)
        rest = memoryview(content)
        writable = select.poll()
        writable.register(handle, select.POLLOUT)
        while rest:
            if not writable.poll(_STALLED_S * 1000):
                raise TimeoutError(errno.ETIMEDOUT, f"its reader has read nothing for {_STALLED_S:g} s", str(path))
            rest = rest[os.write(handle, rest) :]
    finally:
        os.close(handle)


def _opened_fifo(path: Path, deadline: float) -> int:
    while True:
        try:
            return os.open(path, _FIFO)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        if time.monotonic() > deadline:
            raise FileRefused("it is a FIFO that no program reads", path)
        time.sleep(_POLL_S)


def append_line(path: Path, line: bytes, *, root: Folder | Path | None = None) -> None:
    """Append a line to the file and sync it. An incomplete last line, left by a crash, is removed first.

    Raises a FileRefused if it is not a regular file, and an OSError if it cannot be written.
    """
    handle = folder_of(path, root).open_file(path.name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    with os.fdopen(handle, "ab+") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        if file.read(1) not in (b"", b"\n"):
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        _write_synced(file, line + b"\n")


def make_folder(path: Path, *, root: Folder | Path) -> None:
    """Create a directory and its parents below `root` if they do not exist, without following links.

    Raises a FileRefused if a part of the path is not a directory, and an OSError if it cannot be created.
    """
    _made_folder(path, root)


def open_lock(path: Path, *, root: Folder | Path | None = None) -> IO[bytes]:
    """Open a lock file without changing its contents. It is created if it does not exist.

    Raises a FileRefused if it is not a regular file, and an OSError if it cannot be opened.
    """
    return os.fdopen(folder_of(path, root).open_file(path.name, os.O_RDWR | os.O_CREAT), "r+b")


def share_lock(file: IO[bytes]) -> bool:
    """Take a shared lock on an open file. Returns False if another process holds an exclusive lock for a second.

    The processes of poolproof hold such a lock only for a moment, but another user could hold it forever. Raises an
    OSError if the file system does not support locks.
    """
    deadline = time.monotonic() + _LOCK_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        else:
            return True


def remove_file(path: Path, *, root: Folder | Path | None = None) -> None:
    """Remove a file or link, if it exists. Raises an OSError if it cannot be removed."""
    folder = folder_of(path, root)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path.name, dir_fd=folder.handle)


def _made_folder(path: Path, root: Folder | Path | None) -> Folder:
    if root is None:
        path.mkdir(parents=True, exist_ok=True)
        return Folder.open(path)
    top = root if isinstance(root, Folder) else Folder.open(root)
    return top.below(path, make=True)


def _mode(folder: Folder, name: str, no_wider_than: Path | None) -> int:
    """Return the permissions for a file. An existing file keeps its permissions.

    A new file gets those allowed by the umask, limited to the permissions of `no_wider_than`. So does a file that
    replaces another user's file, because that user could have allowed everyone to read and write it.
    """
    try:
        found = os.stat(name, dir_fd=folder.handle, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode) and found.st_uid in trusted_users():
            return stat.S_IMODE(found.st_mode) & 0o777
    except FileNotFoundError:
        pass
    mask = os.umask(0o077)
    os.umask(mask)
    mode = 0o666 & ~mask
    if no_wider_than is not None:
        with contextlib.suppress(OSError):
            mode &= stat.S_IMODE(no_wider_than.stat().st_mode)
    return mode


def _write_synced(file: IO[bytes], content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())
