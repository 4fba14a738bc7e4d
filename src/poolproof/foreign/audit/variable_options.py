"""Options of fio commands that a script sets with its variables: `--direct=$DIRECT`, `--size=%SIZE%`, `$FIO_OPTS`."""

import itertools
import re

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import part_of

_VARIABLE = re.compile(r"\$\{?\w|\$\(|%\w+%|\{\{|\{\w*\}|<[a-z_ -]+>", re.IGNORECASE)
_ONLY_VARIABLE = re.compile(
    r"^[\"']?(?:\$\{?\w+(?:\[[@*]\])?\}?|\$\(.*|%\w+%|\{\{.*|\{\w*\}|<[a-z_ -]+>)[\"']?$", re.IGNORECASE
)
_SYNCS = ("end_fsync", "fsync", "fdatasync", "sync", "fsync_on_close", "sync_file_range")


def has_variable_options(command: str) -> bool:
    """True if a word of a command is a variable that may contain options, such as `$FIO_OPTS`.

    A variable after an option without `=` is the value of that option.
    """
    words = command.split()
    pairs = itertools.pairwise(words)
    return any(_ONLY_VARIABLE.match(word) and not (last.startswith("-") and "=" not in last) for last, word in pairs)


def variable_options(job: Job, *, has_others: bool) -> dict[str, str]:
    """Return the values to assume for a job, so that no finding is based on the unknown value of a variable.

    `has_others`: True if a variable may contain other options.
    """
    variable = {name for name, value in job.options.items() if _VARIABLE.search(value)}
    assumed: dict[str, str] = {}
    if (
        "direct" in variable
        or "buffered" in variable
        or (has_others and not {"direct", "buffered"} & job.options.keys())
    ):
        assumed["direct"] = "1"
    is_synced = bool(variable & set(_SYNCS)) or (has_others and not job.options.keys() & set(_SYNCS))
    if is_synced and part_of(job).writes:
        assumed["end_fsync"] = "1"
    return assumed
