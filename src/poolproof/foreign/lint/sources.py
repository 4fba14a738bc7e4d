"""Read the sources named on the command line: files, standard input, and a fio command after `--`."""

import io
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from poolproof.errors import UsageError
from poolproof.foreign.lint.jobfiles import Surroundings
from poolproof.foreign.lint.source import Source

COMMAND = "command line"
"""The source name of the command after `--`."""

_PROGRAM = re.compile(r"^(?:\S*/)?fio(?:[-_.]?v?\d[\w.-]*)?$")
_LARGEST_BYTES = 16 * 1024**2


def read_sources(
    words: Sequence[str], environment: Mapping[str, str], keywords: Mapping[str, int]
) -> tuple[Source, ...]:
    """Return the named files (`-` is standard input); or all words as one command, with the job files that it names.

    `keywords`: the values of `$ncpus`, `$pagesize` and `$mb_memory` on the machine that would run the jobs.

    Raises:
        UsageError: no source is named, or a file cannot be read.
    """
    if not words:
        raise UsageError("no file or command to lint", "poolproof lint job.fio, or poolproof lint -- fio --name=…")
    context = _Context(environment, keywords)
    if _is_command(words):
        return _command_sources(words, context)
    return tuple(_named_source(word, context) for word in words)


@dataclass(frozen=True)
class _Context:
    """What all sources can refer to."""

    environment: Mapping[str, str]
    keywords: Mapping[str, int]


def _is_command(words: Sequence[str]) -> bool:
    return any(word.startswith("-") and word != "-" for word in words) or (
        _PROGRAM.match(words[0]) is not None and len(words) > 1 and not Path(words[0]).is_file()
    )


def _command_sources(words: Sequence[str], context: _Context) -> tuple[Source, ...]:
    text = words[0] if len(words) == 1 else shlex.join(words)
    command = Source(COMMAND, text + "\n", _surroundings(Path(), context))
    files = [name for unit in command.units for name in unit.files]
    return (command, *(_named_source(name, context) for name in files))


def _named_source(name: str, context: _Context) -> Source:
    if name == "-":
        return Source("-", _standard_input(), _surroundings(Path(), context))
    path = Path(name)
    return Source(name, _text(path), _surroundings(path.parent, context))


def _standard_input() -> str:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin.read()


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is larger than 16 MiB, the limit for lint", "name a job file or a script")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", "name a job file or a script, or write -- fio --name=…"
        ) from None


def _surroundings(folder: Path, context: _Context) -> Surroundings:
    """Included files are read from the working directory, as fio does, or else from the file's own folder."""

    def include(name: str) -> str | None:
        for path in (Path(name), folder / name):
            try:
                return path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
        return None

    return Surroundings(context.environment, context.keywords, include)
