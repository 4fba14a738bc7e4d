"""Find the lines of a trials.jsonl that are complete and of this schema, after DuckDB failed to read one."""

import os
from collections.abc import Iterator
from pathlib import Path

from poolproof.errors import RunError
from poolproof.results.query.found import SkippedRun
from poolproof.results.runs.files import decode, whole_lines
from poolproof.results.runs.model import SCHEMA, Trial


def ends_whole(path: Path) -> bool:
    """True if the last line is complete; after a crash, or while a run writes it, it is not.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def good_lines(path: Path, name: str, left_out: list[SkippedRun]) -> Iterator[bytes]:
    """The lines that are trials of this schema; of the others, each reason with its count goes to `left_out`.

    A last line that a crash cut off, or that is being written just now, is no fault.
    """
    refused: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            decode(line, Trial, SCHEMA, "it")
        except RunError as error:
            reason = "it is damaged" if error.message.startswith("it is damaged") else error.message
            refused.setdefault((reason, error.hint), []).append(number)
        else:
            yield line
    for (why, hint), numbers in refused.items():
        left_out.append(SkippedRun(f"{name}, {_lines(numbers)} of trials.jsonl", why, hint))


def _lines(numbers: list[int]) -> str:
    return f"line {numbers[0]}" if len(numbers) == 1 else f"line {numbers[0]} and {len(numbers) - 1} more"
