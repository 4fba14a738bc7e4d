"""Write files that are complete or absent, and decode JSON after checking its schema."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from poolproof.errors import RunError
from poolproof.version import __version__

Value = TypeVar("Value")


def write_whole(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a temporary file, sync it and rename it, so that a reader finds the file complete or not at all.

    `lasting`: also sync the directory. Without it, the file may be absent after a power cut, but never partial.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        _write_synced(file, content)
    part.rename(path)
    if lasting:
        sync_directory(path.parent)


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files as `write_whole` does, not lasting, in parallel: this takes hardly longer than one file.

    Raises an OSError if a file could not be written; the others are written.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(files) or 1) as pool:
        writes = [pool.submit(write_whole, path, content, lasting=False) for path, content in files.items()]
    for write in writes:
        write.result()


def _write_synced(file: IO[bytes], content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def append_line(path: Path, line: bytes) -> None:
    """Append one line and sync it. A partial last line, left by a crash, is removed first."""
    with path.open("ab+") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        if file.read(1) not in (b"", b"\n"):
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        _write_synced(file, line + b"\n")


def whole_lines(path: Path) -> list[bytes]:
    """Return the complete lines of a file, without a partial last line; none if there is no file."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


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
    """Return a value from JSON of this schema. The RunError for another schema or damaged text names the fix."""
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
