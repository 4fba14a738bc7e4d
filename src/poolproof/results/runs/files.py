"""Write the files of a trial together, and decode JSON after checking its schema."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from poolproof.errors import RunError
from poolproof.files.folder import Folder
from poolproof.files.writing import write_output
from poolproof.version import __version__

Value = TypeVar("Value")


def write_together(files: Mapping[Path, bytes], root: Folder) -> None:
    """Write several files below `root` in parallel, like `write_output` without `lasting`.

    This takes little more time than writing a single file. Raises an OSError if a file could not be written; all other
    files are still written.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(files) or 1) as pool:
        writes = [pool.submit(write_output, path, content, root=root, lasting=False) for path, content in files.items()]
    for write in writes:
        write.result()


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
    except (msgspec.DecodeError, RecursionError) as error:
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
