"""Write files atomically, and decode JSON after checking its schema."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from poolproof.errors import RunError
from poolproof.version import __version__

Value = TypeVar("Value")


def write_whole(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a temporary file, sync it and rename it, so that readers find either a complete file or none.

    With `lasting`, the directory is synced too. Otherwise the file may be missing after a power failure, but is never
    partial.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        _write_synced(file, content)
    part.rename(path)
    if lasting:
        sync_directory(path.parent)


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files in parallel, like `write_whole` without `lasting`.

    This takes little more time than writing a single file. Raises an OSError if a file could not be written; all other
    files are still written.
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
    """Append a line and sync the file. A partial last line from a crash is removed first."""
    with path.open("ab+") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        if file.read(1) not in (b"", b"\n"):
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        _write_synced(file, line + b"\n")


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file without a partial last line; empty if the file does not exist."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def sync_directory(path: Path) -> None:
    """Sync a directory, so that new and renamed files in it survive a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Stamp(msgspec.Struct):
    schema: int = 0


def decode(text: bytes, kind: type[Value], schema: int, where: str) -> Value:
    """Decode JSON with this schema.

    Raises a RunError that suggests a fix if the text is damaged or has another schema.
    """
    try:
        found = msgspec.json.decode(text, type=_Stamp).schema
        if found == schema:
            return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise RunError(f"{where} is damaged: {error}", "restore it from a backup, or run the campaign again") from None
    if found > schema:
        raise RunError(
            f"{where} was written by a newer poolproof (schema {found}; this is {__version__} with schema {schema})",
            "pip install --upgrade poolproof",
        )
    raise RunError(
        f"{where} was written by an older poolproof (schema {found}; this version reads schema {schema})",
        "run the campaign again with this version",
    )
