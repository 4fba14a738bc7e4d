"""Read regular files up to a maximum size."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from poolproof.files.folder import FileRefused, Folder, folder_of

MIB = 1024**2
LARGEST_BYTES = 256 * MIB
"""The maximum size of any file that is read. The files of a trial and trials.jsonl are far smaller."""

LARGEST_RECORD_BYTES = 16 * MIB
"""The maximum size of a run.json or campaign.yaml file that is read."""

_ALREADY_OPEN = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
NOT_THE_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors that msgspec raises for JSON that is damaged, unexpected, too deeply nested or invalid UTF-8."""


def read_regular(path: Path, *, root: Folder | Path | None = None, limit_bytes: int = LARGEST_BYTES) -> bytes:
    """Return the contents of a regular file, which must not be a link. Links below `root` are not followed either.

    Raises:
        FileRefused: it is not a regular file, or larger than `limit_bytes`.
        OSError: it cannot be read.
    """
    handle = folder_of(path, root).open_file(path.name, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        size_bytes = os.fstat(handle).st_size
        content = file.read(limit_bytes + 1) if size_bytes <= limit_bytes else b""
    if max(size_bytes, len(content)) > limit_bytes:
        raise FileRefused(f"it is larger than {limit_bytes // MIB} MiB", path)
    return content


def read_text(path: Path, *, root: Folder | Path | None = None, limit_bytes: int = LARGEST_BYTES) -> str:
    """Return the contents of a regular file as a string, replacing invalid UTF-8. Otherwise like `read_regular`."""
    return read_regular(path, root=root, limit_bytes=limit_bytes).decode("utf-8", errors="replace")


def open_named(path: Path) -> BinaryIO:
    """Open a file named by the user, following links.

    The file may come from a stranger. It must therefore be a regular file, or already be open, as in `<(fio job.fio)`
    or /dev/stdin. Opening a FIFO would block, and opening a device can have side effects.

    Raises:
        FileRefused: it is any other type of file.
        OSError: it cannot be opened.
    """
    if str(path).startswith(_ALREADY_OPEN):
        return path.open("rb")
    real = Path(os.path.realpath(path))
    return os.fdopen(folder_of(real, None).open_file(real.name, os.O_RDONLY), "rb")


def read_end(path: Path, from_byte: int) -> bytes:
    """Return the contents of a file from a byte position to its end. Raises the same errors as `read_regular`.

    A negative position is counted from the end.
    """
    handle = folder_of(path, None).open_file(path.name, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        size_bytes = os.fstat(handle).st_size
        begin = from_byte if from_byte >= 0 else max(0, size_bytes + from_byte)
        if size_bytes - begin > LARGEST_BYTES:
            raise FileRefused(f"it is larger than {LARGEST_BYTES // MIB} MiB", path)
        file.seek(begin)
        return file.read(LARGEST_BYTES)


def whole_lines(path: Path, *, root: Folder | Path | None = None) -> Iterator[bytes]:
    """Return the complete lines of a file, i.e. without an incomplete last line. Empty if the file does not exist.

    The lines are read one at a time, because many files would otherwise be in memory twice. Raises the same errors as
    `read_regular`.
    """
    try:
        handle = folder_of(path, root).open_file(path.name, os.O_RDONLY)
    except FileNotFoundError:
        return iter(())
    file = os.fdopen(handle, "rb")
    if os.fstat(handle).st_size > LARGEST_BYTES:
        file.close()
        raise FileRefused(f"it is larger than {LARGEST_BYTES // MIB} MiB", path)
    return _lines(file)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    with file:
        rest_bytes = LARGEST_BYTES  # another process may append to the file
        while (line := file.readline(rest_bytes)).endswith(b"\n"):
            rest_bytes -= len(line)
            yield line[:-1]


def is_regular(path: Path, *, root: Folder | Path | None = None) -> bool:
    """True if the path is a regular file. False if it is a link, does not exist or cannot be accessed."""
    try:
        return folder_of(path, root).kind(path.name) == ""
    except OSError:
        return False
