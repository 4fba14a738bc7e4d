"""Write files that are complete or absent, and decode JSON after checking its schema."""

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
    """Write a temporary file, sync it and rename it, so that a reader finds the file complete or not at all.

    `lasting`: also sync the directory. Without it, the file may be absent after a power cut, but never partial.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _beside(path).open("wb") as file:
        _write_synced(file, content)
    _beside(path).rename(path)
    if lasting:
        sync_directory(path.parent)


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files as `write_whole` does, not lasting, in parallel: this takes hardly longer than one.

    Raises:
        OSError: one could not be written; others may have been.
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
    """Append one line and sync it. A partial last line, left by a crash, is removed first."""
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
    """Return the complete lines of a file, without a partial last line; none if there is no file."""
    if not path.exists():
        return []
    return path.read_bytes().split(b"\n")[:-1]


def sync_directory(path: Path) -> None:
    """Sync a directory, so that a new name or a rename in it survives a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Stamp(msgspec.Struct):
    schema: int = 0


def decode(text: bytes, kind: type[Value], schema: int, where: str) -> Value:
    """Return a value from JSON with the schema that this version reads.

    Raises:
        RunError: it is damaged or has another schema; the error names the command that fixes it.
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
