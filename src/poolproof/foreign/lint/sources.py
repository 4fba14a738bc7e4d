"""The sources that a command line names, read: files, standard input, and a fio command after `--`."""

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
"""The name of the source that stands after `--`."""

_PROGRAM = re.compile(r"^(?:\S*/)?fio(?:[-_.]?v?\d[\w.-]*)?$")
_LARGEST_BYTES = 16 * 1024**2


def read_sources(
    words: Sequence[str], environment: Mapping[str, str], keywords: Mapping[str, int]
) -> tuple[Source, ...]:
    """Each file named, `-` for standard input; or all words as one command, with the job files that it names.

    `keywords`: what fio would fill in for `$ncpus` and its like, where the jobs are to run.

    Raises:
        UsageError: nothing is named, or a file cannot be read.
    """
    if not words:
        raise UsageError("nothing to lint is named", "poolproof lint job.fio, or poolproof lint -- fio --name=…")
    around = _Around(environment, keywords)
    if _is_command(words):
        return _of_command(words, around)
    return tuple(_of_name(word, around) for word in words)


@dataclass(frozen=True)
class _Around:
    """What all sources can draw upon."""

    environment: Mapping[str, str]
    keywords: Mapping[str, int]


def _is_command(words: Sequence[str]) -> bool:
    return any(word.startswith("-") and word != "-" for word in words) or (
        _PROGRAM.match(words[0]) is not None and len(words) > 1 and not Path(words[0]).is_file()
    )


def _of_command(words: Sequence[str], around: _Around) -> tuple[Source, ...]:
    text = words[0] if len(words) == 1 else shlex.join(words)
    command = Source(COMMAND, text + "\n", _surroundings(Path(), around))
    files = [name for unit in command.units for name in unit.files]
    return (command, *(_of_name(name, around) for name in files))


def _of_name(name: str, around: _Around) -> Source:
    if name == "-":
        return Source("-", _standard_input(), _surroundings(Path(), around))
    path = Path(name)
    return Source(name, _text(path), _surroundings(path.parent, around))


def _standard_input() -> str:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin.read()


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is larger than 16 MiB, which no job is", "name a job file or a script")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", "name a job file or a script, or write -- fio --name=…"
        ) from None


def _surroundings(folder: Path, around: _Around) -> Surroundings:
    """Included files are looked for beside the file, then where fio would: in the working directory."""

    def include(name: str) -> str | None:
        for path in (Path(name), folder / name):
            try:
                return path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
        return None

    return Surroundings(around.environment, around.keywords, include)
