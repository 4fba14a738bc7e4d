"""Write a trial's files together, and decode JSON while checking its schema version and its numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from poolproof.errors import HOW_TO_UPDATE, RunError, one_line
from poolproof.files.folder import Folder
from poolproof.files.reading import LARGEST_RECORD_BYTES, MIB, NOT_THE_JSON
from poolproof.files.writing import write_output
from poolproof.version import __version__

Value = TypeVar("Value")

LARGEST = 1e24
"""The largest number allowed in a run's files.

No machine counts this many bytes or nanoseconds. A number of up to 1e27 may pass the quick check (see `_MAYBE_LARGE`),
which does no harm: even its fourth power does not overflow.
"""
_LONGEST_KEY = 24
_TOO_LARGE = "a number in it is larger than 1e24"
_LARGEST_INTEGER = (1 << 63) - 1
_TOO_LONG = "an integer in it is larger than 2^63 - 1"
_AS_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")
_BREAKS = (b"\\n", b"\\u000")
"""All notations of a line break in a JSON string contain one of these strings.

Other characters that can break a line, such as U+2028, are escaped by `presentation.terminal.visible`.
"""
_MAYBE_LARGE = (b"0" * 19, b"e00", b"e+00")
"""Strings for a quick check. After `_AS_ZEROS` is applied, every number above 1e27 contains one of them.

So does every integer above 2^63 - 1, unless it is written with an exponent.
"""


def write_together(files: Mapping[Path, bytes], root: Folder) -> None:
    """Write several files below `root` in parallel, like `write_output` without `lasting`.

    This takes hardly longer than writing one file. If a file could not be written, all others are still written, and
    then an OSError is raised.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(files) or 1) as pool:
        writes = [pool.submit(write_output, path, content, root=root, lasting=False) for path, content in files.items()]
    for write in writes:
        write.result()


class _Stamp(msgspec.Struct):
    schema: int = 0


def decode(text: bytes, kind: type[Value], schema: int, where: str) -> Value:
    """Decode JSON with the given schema version.

    Raises a RunError that suggests a fix if the JSON is damaged, has a different schema version, or is too large for
    the queries of several runs, which would then fail for all of them.
    """
    if len(text) > LARGEST_RECORD_BYTES:
        raise RunError(f"{where} has a record of more than {LARGEST_RECORD_BYTES // MIB} MiB", "run the campaign again")
    try:
        found = msgspec.json.decode(text, type=_Stamp).schema
        if found == schema:
            return decode_part(text, kind)
    except NOT_THE_JSON as error:
        raise RunError(f"{where} is damaged: {error}", "restore it from a backup, or run the campaign again") from None
    if found > schema:
        raise RunError(
            f"{where} was written by a newer poolproof (schema {found}; this is {__version__} with schema {schema})",
            HOW_TO_UPDATE,
        )
    raise RunError(
        f"{where} was written by an older poolproof (schema {found}; this version reads schema {schema})",
        "run the campaign again with this version",
    )


def decode_part(text: bytes, kind: type[Value]) -> Value:
    """Decode JSON that has no schema version of its own, such as a trial's evidence.

    Raises one of `NOT_THE_JSON` if it is damaged.
    """
    check_numbers(text)
    return msgspec.json.decode(_on_one_line(text), type=kind)


def _on_one_line(text: bytes) -> bytes:
    """Return the JSON with the line breaks removed from all strings except the text of a campaign.

    poolproof itself writes line breaks only in that text.
    """
    if not any(part in text for part in _BREAKS):
        return text
    found = msgspec.json.decode(text)
    kept = {"campaign": found["campaign"]} if isinstance(found, dict) and "campaign" in found else {}
    return msgspec.json.encode({**_without_breaks(found), **kept} if kept else _without_breaks(found))


def _without_breaks(value: Any) -> Any:
    match value:
        case str():
            return one_line(value)
        case list():
            return [_without_breaks(each) for each in value]
        case dict():
            return {one_line(key): _without_breaks(each) for key, each in value.items()}
    return value


def check_numbers(text: bytes) -> None:
    """Check that the JSON contains no number that is too large for any measurement, such as 1e308.

    Calculations with such a number would overflow. An integer must be below 2^63, so that it can be written again.
    Raises a msgspec.ValidationError if there is one. Input that is not JSON may raise a DecodeError or RecursionError.
    """
    digits = text.translate(_AS_ZEROS)
    if any(part in digits for part in _MAYBE_LARGE):  # the exact check takes longer
        _check(msgspec.json.decode(text))


def _check(value: object) -> None:
    match value:
        case dict():
            for key, each in value.items():
                if len(key) > _LONGEST_KEY and key.isdecimal():  # the keys of a histogram are numbers
                    raise msgspec.ValidationError(_TOO_LARGE)
                _check(each)
        case list():
            for each in value:
                _check(each)
        case int() | float() if not -LARGEST <= value <= LARGEST:
            raise msgspec.ValidationError(_TOO_LARGE)
        case int() if not -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER:
            raise msgspec.ValidationError(_TOO_LONG)
