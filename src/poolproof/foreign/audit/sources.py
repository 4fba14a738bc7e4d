"""Audit whole sources: files, directories, standard input, fio's logs and run directories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from poolproof.errors import PoolproofError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.logs import grouped, is_log, result_of_logs
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.runs import audit_run, is_run
from poolproof.foreign.audit.texts import audit_text, audited, judge_result
from poolproof.load.fio.pairing import FoundResult

STDIN = "-"
_LARGEST_TEXT_BYTES = 256 << 20
_LARGEST_PLAIN_TEXT_BYTES = 2 << 20  # the search for results of many programs takes seconds per MiB
_HAS_JSON = b'"jobs"'
_BINARY_PROBE_BYTES = 4096
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Unread:
    """A source that could not be read, and the reason."""

    source: str
    why: str


@dataclass
class Audit:
    """The audited results, and the sources that could not be read.

    Results are in the order of their sources, except that the results read from fio's logs come last.
    """

    results: list[Audited] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def audit_sources(names: Sequence[str], context: Context, stdin: Callable[[], bytes]) -> Audit:
    """Audit every result in the sources. The source `-` is standard input, whose content `stdin` returns."""
    audit = Audit()
    logs: list[Path] = []
    for name in names:
        if name == STDIN:
            _add(audit, "stdin", lambda: audit_text("stdin", as_text(stdin()), context))
        else:
            _audit_path(audit, Path(name), context, logs)
    for prefix, paths in grouped(logs).items():
        _add(audit, prefix, partial(_audit_logs, paths, context))
    return audit


def as_text(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 if there is a byte order mark for it. Invalid bytes become replacement characters."""
    if content[:2] in _UTF_16_MARKS:
        return content.decode("utf-16", errors="replace")
    return content.decode("utf-8", errors="replace").removeprefix("\ufeff")


def files_below(path: Path) -> Iterator[Path]:
    """Yield the files in a directory tree, sorted by name. Hidden files and folders are skipped."""
    for entry in sorted(path.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from files_below(entry)
        elif entry.is_file():
            yield entry


def read_text(path: Path) -> str | None:
    """Return the text of a file; None if it is binary.

    Raises:
        OSError: the file cannot be read, is larger than 256 MiB, or is larger than 2 MiB and contains no JSON of fio.
    """
    if path.stat().st_size > _LARGEST_TEXT_BYTES:
        raise OSError(0, "the file is larger than 256 MiB")
    content = path.read_bytes()
    if len(content) > _LARGEST_PLAIN_TEXT_BYTES and _HAS_JSON not in content:
        raise OSError(0, "the file is larger than 2 MiB and contains no fio JSON: split it into one file per result")
    is_binary = b"\0" in content[:_BINARY_PROBE_BYTES] and content[:2] not in _UTF_16_MARKS
    return None if is_binary else as_text(content)


def _audit_path(audit: Audit, path: Path, context: Context, logs: list[Path]) -> None:
    try:
        if path.is_dir() and not is_run(path):
            for below in files_below(path):
                _audit_path(audit, below, context, logs)
            return
    except OSError as error:
        audit.unread.append(Unread(str(path), error.strerror or str(error)))
        return
    if path.is_dir():
        _add(audit, str(path), lambda: audit_run(path, context))
    elif is_log(path):
        logs.append(path)
    else:
        _add(audit, str(path), lambda: audit_text(str(path), read_text(path) or "", context))


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
