"""Open regular files in a directory without following symbolic links.

A run directory may come from a stranger, and poolproof often runs as root. Therefore, each file in it, and each
directory on the path to the file, is opened by its name relative to a directory that is already open (openat). Links,
FIFOs, sockets and devices are rejected before they are opened, because opening a FIFO blocks and opening a device can
have side effects.
"""

import errno
import os
import stat
import weakref
from pathlib import Path
from typing import Self

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
    stat.S_IFDIR: "a directory",
}
HARD_LINK = "several names (hard links), so writing to it would also change another file"
_DELETED = "it was deleted while poolproof was using it"
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class FileRefused(OSError):
    """The file is not a regular file, is too large, or is in a deleted directory. `strerror`: the reason."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(errno.EINVAL, reason, str(path))


class Folder:
    """An open directory, which stays valid even if it is moved or its path is replaced.

    It is closed when the object is garbage-collected.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.handle = handle
        weakref.finalize(self, os.close, handle)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a directory, following links in `path`. Raises an OSError if it cannot be opened."""
        return cls(path, os.open(path, _FOLDER))

    def below(self, path: Path, *, make: bool = False) -> "Folder":
        """Open a directory below this one without following links.

        `path`: the directory's full path.
        `make`: if True, missing directories are created.

        Raises:
            FileRefused: a part of the path is not a directory.
            OSError: the directory cannot be opened.
        """
        folder = self
        for name in path.relative_to(self.path).parts:
            if make:
                folder._make(name)
            folder = folder._enter(name)
        return folder

    def kind(self, name: str) -> str | None:
        """Return the file type of `name`, such as "a FIFO", "" for a regular file, or None if it does not exist.

        Raises an OSError if the directory cannot be searched.
        """
        try:
            found = os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return "" if stat.S_ISREG(found.st_mode) else _KINDS.get(stat.S_IFMT(found.st_mode), "not a regular file")

    def leads_to(self, name: str) -> str | None:
        """Return the file type of a link's target, such as "a FIFO", "" for a regular file, or None for no target.

        Links in /dev and /proc lead to devices and to the open files of processes. For these directories, the result is
        always "an open file or a device".
        """
        if self.path.resolve().is_relative_to("/dev") or self.path.resolve().is_relative_to("/proc"):
            return "an open file or a device"
        try:
            mode = os.stat(name, dir_fd=self.handle).st_mode
        except OSError:
            return None
        return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "something else")

    def open_file(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open or create a regular file in the directory, and return its file descriptor.

        An archive can contain hard links to files next to the directory into which it is extracted. Therefore, a file
        with several names is not opened for writing.

        Raises:
            FileRefused: it is not a regular file, has several names, or the directory was deleted.
            OSError: it cannot be opened.
        """
        if kind := self.kind(name):
            raise FileRefused(f"it is {kind}, not a regular file", self.path / name)
        try:
            handle = os.open(name, flags | _SAFELY, mode, dir_fd=self.handle)
        except OSError as error:
            if flags & os.O_CREAT and isinstance(error, FileNotFoundError):
                raise FileRefused(_DELETED, self.path) from None
            raise type(error)(error.errno, error.strerror, str(self.path / name)) from None
        found = os.fstat(handle)
        is_regular, is_written = stat.S_ISREG(found.st_mode), bool(flags & (os.O_WRONLY | os.O_RDWR))
        if is_regular and not (is_written and found.st_nlink > 1):
            return handle
        os.close(handle)  # if it is not a regular file, it was replaced in the meantime
        raise FileRefused(f"it has {HARD_LINK}" if is_regular else "it is not a regular file", self.path / name)

    def _make(self, name: str) -> None:
        try:
            os.mkdir(name, dir_fd=self.handle)
        except FileExistsError:
            pass  # if it is not a directory, opening it fails
        except FileNotFoundError:
            raise FileRefused(_DELETED, self.path) from None

    def _enter(self, name: str) -> "Folder":
        path = self.path / name
        try:
            return Folder(path, os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.handle))
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise FileRefused(f"it is {self.kind(name) or 'a file'}, not a directory", path) from None
            raise type(error)(error.errno, error.strerror, str(path)) from None


def folder_of(path: Path, root: Folder | Path | None) -> Folder:
    """Open the directory that contains a file. Raises an OSError if the directory cannot be opened.

    Links in the path of `root` are followed, but not those below `root`. Without `root`, all links in the file's path
    are followed.
    """
    if root is None:
        return Folder.open(path.parent)
    top = root if isinstance(root, Folder) else Folder.open(root)
    return top.below(path.parent)
