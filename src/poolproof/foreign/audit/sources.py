"""Audit all results in files, directories, standard input, fio's logs and run directories."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from poolproof.errors import PoolproofError
from poolproof.files.reading import open_named
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.logs import grouped, is_log, result_of_logs
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.saved_trials import audit_run
from poolproof.foreign.audit.texts import audit_text, audited, judge_result
from poolproof.load.fio.find import LARGEST_PLAIN_TEXT_BYTES
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import SourceCommand, lone_job_file

STDIN = "-"
LARGEST_TEXT_BYTES = 256 << 20
"""The maximum size, in bytes, of input that is searched for results."""

_TOO_LARGE = "it is larger than 256 MiB"
_HAS_JSON = b'"jobs"'
_BINARY_PROBE_BYTES = 4096
_DEEPEST = 50
_LARGEST_JOB_FILE_BYTES = 1 << 20
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Unread:
    """A file, directory or other source that could not be read, and the reason."""

    source: str
    why: str


@dataclass
class Audit:
    """The audited results, and the sources that could not be read.

    Results are in the order of their sources, except that results from fio's logs come last.
    """

    results: list[Audited] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def audit_sources(names: Sequence[str], context: Context, stdin: Callable[[], bytes]) -> Audit:
    """Audit every result in the named files and directories.

    `-` means standard input, which is read by calling `stdin`. If a named file is a fio job file, its jobs explain the
    results in the other files that it fits, unless their texts contain the command.
    """
    audit = Audit()
    logs: list[Path] = []
    job_files = job_files_of(Path(name) for name in names if name != STDIN)
    for name in names:
        if name == STDIN:
            _add(audit, "stdin", lambda: audit_text("stdin", as_text(_of_fair_size(stdin())), context, job_files))
        else:
            _audit_path(audit, Path(name), context, logs, job_files)
    for prefix, paths in grouped(logs).items():
        _add(audit, prefix, partial(_audit_logs, paths, context))
    return audit


def job_files_of(paths: Iterable[Path]) -> list[SourceCommand]:
    """Return the fio job files among the paths. Their lines count backwards from 0, as if they were above each text."""
    found: list[SourceCommand] = []
    for path in paths:
        try:
            text = read_text(path) if path.is_file() and path.stat().st_size <= _LARGEST_JOB_FILE_BYTES else None
        except OSError:
            continue  # it is reported when it is audited
        if text and (job_file := lone_job_file(str(path), text)):
            found.append(job_file)
    line = 1
    for at in range(len(found) - 1, -1, -1):
        line -= 1 + found[at].text.count("\n")
        found[at] = replace(found[at], line=line)
    return found


def as_text(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 if the content begins with a UTF-16 byte order mark. Replace invalid bytes."""
    if content[:2] in _UTF_16_MARKS:
        return content.decode("utf-16", errors="replace")
    return content.decode("utf-8", errors="replace").removeprefix("\ufeff")


def files_below(
    path: Path, unread: list[Unread], is_source: Callable[[Path], bool] = lambda _folder: False
) -> Iterator[Path]:
    """Yield the files in a directory tree, sorted by name. Hidden files and folders are skipped.

    If `is_source` is true for a folder, the folder itself is yielded in place of its files. The tree may come from a
    stranger, and may contain links to files that the stranger cannot read. For this reason, a link to a file is
    followed only if the file is in the same tree, and links to folders are never followed. Other links to files are
    added to `unread`, as are folders that cannot be read and folders more than 50 levels deep.
    """
    top = os.path.realpath(path)
    waiting = [(path, 0)]
    while waiting:
        entry, depth = waiting.pop()
        if depth > _DEEPEST:
            unread.append(Unread(str(entry), f"it is more than {_DEEPEST} folders deep"))
        elif entry.is_symlink() and depth:
            if entry.is_file() and not Path(os.path.realpath(entry)).is_relative_to(top):
                unread.append(Unread(str(entry), "it is a link that leads out of the folder"))
            elif entry.is_file():
                yield entry
        elif entry.is_dir():
            try:
                if is_source(entry):
                    yield entry
                    continue
                inside = sorted(each for each in entry.iterdir() if not each.name.startswith("."))
            except OSError as error:
                unread.append(Unread(str(entry), error.strerror or str(error)))
            else:
                waiting += [(each, depth + 1) for each in reversed(inside)]
        elif entry.is_file():
            yield entry


def read_text(path: Path) -> str | None:
    """Return the content of a text file, or None if the file is binary.

    Raises an OSError if the file cannot be read, is larger than 256 MiB, or is larger than 2 MiB and contains no fio
    JSON.
    """
    if path.stat().st_size > LARGEST_TEXT_BYTES:
        raise OSError(0, _TOO_LARGE)
    with open_named(path) as file:
        content = _of_fair_size(file.read(LARGEST_TEXT_BYTES + 1))  # files in /proc report a size of 0
    is_binary = b"\0" in content[:_BINARY_PROBE_BYTES] and content[:2] not in _UTF_16_MARKS
    return None if is_binary else as_text(content)


def _of_fair_size(content: bytes) -> bytes:
    """Return the content unchanged. Raises an OSError if it is too large to be searched for results."""
    if len(content) > LARGEST_TEXT_BYTES:
        raise OSError(0, _TOO_LARGE)
    if len(content) > LARGEST_PLAIN_TEXT_BYTES and _HAS_JSON not in content.replace(b"\0", b""):  # also in UTF-16
        raise OSError(0, "it is larger than 2 MiB and contains no fio JSON: split it into one file per result")
    return content


def _audit_path(
    audit: Audit, path: Path, context: Context, logs: list[Path], job_files: Sequence[SourceCommand]
) -> None:
    try:
        if path.is_dir() and not is_run(path):
            for below in files_below(path, audit.unread, is_run):
                _audit_path(audit, below, context, logs, job_files)
            return
    except OSError as error:
        audit.unread.append(Unread(str(path), error.strerror or str(error)))
        return
    if path.is_dir():
        _add(audit, str(path), lambda: audit_run(path, context))
    elif is_log(path):
        logs.append(path)
    else:
        _add(audit, str(path), lambda: audit_text(str(path), read_text(path) or "", context, job_files))


def _add(audit: Audit, source: str, judge: Callable[[], Sequence[Audited]]) -> None:
    try:
        audit.results += judge()
    except OSError as error:
        audit.unread.append(Unread(source, error.strerror or str(error)))
    except PoolproofError as error:
        audit.unread.append(Unread(source, error.message))


def _audit_logs(paths: Sequence[Path], context: Context) -> tuple[Audited]:
    found = FoundResult(result_of_logs(paths), 1, 1, "text")
    return (audited(str(paths[0]), judge_result(found, context), context),)


def is_run(path: Path) -> bool:
    return (path / "run.json").is_file()
