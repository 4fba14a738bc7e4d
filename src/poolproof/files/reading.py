"""Read regular files up to a maximum size."""

import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from poolproof.files.folder import FileRefused, Folder, folder_of

MIB = 1024**2
LARGEST_BYTES = 256 * MIB
"""No file larger than this is read. The files of a trial and trials.jsonl are far smaller."""

LARGEST_RECORD_BYTES = 16 * MIB
"""No run.json or campaign.yaml larger than this is read."""

_ALREADY_OPEN = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
NOT_THE_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors that msgspec raises for JSON that is damaged, unexpected, nested too deeply or not valid UTF-8."""


def read_regular(path: Path, *, root: Folder | Path | None = None, limit_bytes: int = LARGEST_BYTES) -> bytes:
    """Return the content of a regular file. No link is followed below `root`, and the file itself must not be a link.

    Raises a FileRefused if it is not a regular file or larger than `limit_bytes`, and an OSError if it cannot be read.
    """
    handle = folder_of(path, root).open_file(path.name, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        size_bytes = os.fstat(handle).st_size
        content = file.read(limit_bytes + 1) if size_bytes <= limit_bytes else b""
    if max(size_bytes, len(content)) > limit_bytes:
        raise FileRefused(f"it is larger than {limit_bytes // MIB} MiB", path)
    return content


def read_text(path: Path, *, root: Folder | Path | None = None, limit_bytes: int = LARGEST_BYTES) -> str:
    """Like `read_regular`, but return a string. Bytes that are not valid UTF-8 are replaced."""
    return read_regular(path, root=root, limit_bytes=limit_bytes).decode("utf-8", errors="replace")


def open_named(path: Path) -> BinaryIO:
    """Open a file that the user named. Links are followed.

    The file may come from a stranger, so it must be a regular file or be open already, as in `<(fio job.fio)` or
    /dev/stdin. Opening a FIFO would block, and opening a device can have side effects. Raises a FileRefused for another
    kind of file, and an OSError if it cannot be opened.
    """
    if str(path).startswith(_ALREADY_OPEN):
        return path.open("rb")
    real = Path(os.path.realpath(path))
    return os.fdopen(folder_of(real, None).open_file(real.name, os.O_RDONLY), "rb")


def read_end(path: Path, from_byte: int) -> bytes:
    """Return the content of a file from a position to the end. A negative position counts from the end of the file.

    Raises the same errors as `read_regular`.
    """
    handle = folder_of(path, None).open_file(path.name, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        size_bytes = os.fstat(handle).st_size
        begin = from_byte if from_byte >= 0 else max(0, size_bytes + from_byte)
        if size_bytes - begin > LARGEST_BYTES:
            raise FileRefused(f"it is larger than {LARGEST_BYTES // MIB} MiB", path)
        file.seek(begin)
        return file.read(LARGEST_BYTES)


def whole_lines(path: Path, *, root: Folder | Path | None = None) -> list[bytes]:
    """Return the lines of a file, leaving out a partial last line. If the file does not exist, there are none.

    Raises the same errors as `read_regular`.
    """
    try:
        return read_regular(path, root=root).split(b"\n")[:-1]
    except FileNotFoundError:
        return []


def is_regular(path: Path, *, root: Folder | Path | None = None) -> bool:
    """True if the file exists and is a regular file. False if it is a link, or if the directory cannot be searched."""
    try:
        return folder_of(path, root).kind(path.name) == ""
    except OSError:
        return False
