"""Files that are complete or absent, and schemas that are checked by name."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from poolproof.errors import RunError
from poolproof.version import __version__

Value = TypeVar("Value")


def write_whole(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a file beside its place, sync it, rename it: a reader finds it complete or not at all.

    `lasting`: its name is on disk when this returns. Without, a power cut may leave it absent, never in part.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _beside(path).open("wb") as file:
        _write_synced(file, content)
    _beside(path).rename(path)
    if lasting:
        sync_directory(path.parent)


def write_together(files: Mapping[Path, bytes]) -> None:
    """As `write_whole` for each, not lasting; they are synced side by side, which takes hardly longer than one.

    Raises:
        OSError: one could not be written; others may stand.
    """
    raised: list[OSError] = []
    threads = [
        threading.Thread(target=_try_to_write, args=(path, content, raised), name="write")
        for path, content in files.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def _try_to_write(path: Path, content: bytes, raised: list[OSError]) -> None:
    try:
        write_whole(path, content, lasting=False)
    except OSError as error:
        raised.append(error)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _write_synced(file: IO[bytes], content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def append_line(path: Path, line: bytes) -> None:
    """Append one line and sync it; a half line that a crash left is cut off first."""
    with path.open("ab+") as file:
        _cut_torn_end(file)
        _write_synced(file, line + b"\n")


def _cut_torn_end(file: Any) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)


def whole_lines(path: Path) -> list[bytes]:
    """The complete lines of a file; one that a crash cut off is not among them. No file: no lines."""
    if not path.exists():
        return []
    return path.read_bytes().split(b"\n")[:-1]


def sync_directory(path: Path) -> None:
    """Make a rename or a new name in the directory last."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Stamp(msgspec.Struct):
    schema: int = 0


def decode(text: bytes, kind: type[Value], schema: int, where: str) -> Value:
    """A value from JSON, if it is of the schema that this poolproof reads.

    Raises:
        RunError: another schema, or damaged; says which command mends it.
    """
    try:
        found = msgspec.json.decode(text, type=_Stamp).schema
        if found == schema:
            return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise RunError(f"{where} is damaged: {error}", "restore it from a copy, or run the campaign again") from None
    if found > schema:
        raise RunError(
            f"{where} was written by a newer poolproof (schema {found}; this is {__version__}, schema {schema})",
            "pip install --upgrade poolproof",
        )
    raise RunError(
        f"{where} was written by an older poolproof (schema {found}; this one reads {schema})",
        "run the campaign again with this version",
    )
