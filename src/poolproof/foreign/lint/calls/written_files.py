"""Job files that a script writes with several commands: `echo "[a]" > job.fio`, `echo "rw=read" >> job.fio`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.foreign.lint.jobfiles import has_fio_options
from poolproof.foreign.lint.shell.shell_words import Script, ShellWord

_REDIRECTED = re.compile(r"[ \t]{0,40}+(?P<mark>>>?)[ \t]{0,40}+(?P<file>[^\s;&|<>]{1,300})")
_FLAGS = ("-e", "-n", "-ne", "-en", "--")


@dataclass(frozen=True)
class WrittenFile:
    """A file that at least two commands write. Its lines are on the lines of the commands, from `line`."""

    name: str
    text: str
    line: int


def written_files(script: Script, text: str, start: int) -> Iterator[WrittenFile]:
    """Yield the job files. `text`: the script, which begins at character `start` of a larger text."""
    parts: dict[str, list[tuple[int, str]]] = {}
    for words in script.commands:
        found = _REDIRECTED.match(text, words[-1].end - start) if words[0].text in ("echo", "printf") else None
        if found is None:
            continue
        name = found["file"].strip("\"'")
        if found["mark"] == ">" and (before := parts.pop(name, None)):
            yield from _file(name, before)
        parts.setdefault(name, []).append((words[0].line, _printed(words)))
    for name, written in parts.items():
        yield from _file(name, written)


def _printed(words: Sequence[ShellWord]) -> str:
    return " ".join(word.text for word in words[1:] if word.text not in _FLAGS).replace("\\n", "\n").rstrip("\n")


def _file(name: str, written: Sequence[tuple[int, str]]) -> Iterator[WrittenFile]:
    """Yield the file if only all commands together write a job file."""
    first, text = written[0][0], ""
    for line, printed in written:
        text += "\n" * max(1 if text else 0, line - first - text.count("\n")) + printed
    is_whole = any(has_fio_options(printed) and "\n" in printed for _, printed in written)
    if len(written) > 1 and has_fio_options(text) and not is_whole:
        yield WrittenFile(name, text + "\n", first)
