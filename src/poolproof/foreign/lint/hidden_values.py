"""Hide the values of environment variables in findings.

A job file can name any environment variable, and fio replaces it with its value. Lint checks the job with the value. If
a job file from a stranger names a variable that contains a password or a token, a finding could print it, for example
in the log of a CI server. Findings therefore show `${NAME}` instead.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from poolproof.foreign.lint.model import Diagnostic, JobEnvironment
from poolproof.load.fio.option_names import ENGINE_OPTIONS, JOB_OPTIONS
from poolproof.load.fio.option_values import ENGINE_WORDS, RW_WORDS

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_SEPARATOR = re.compile(r"[\s,:/=\"']+")
_SHORTEST = 8
"""Shorter values are mostly sizes and numbers, which also occur in findings for other reasons."""

_SHORTEST_BEGINNING = 40
"""Messages shorten long values, but to more characters than this."""

_FIO_WORDS = frozenset({*RW_WORDS, *ENGINE_WORDS, *JOB_OPTIONS, *ENGINE_OPTIONS})


class Texts:
    """The texts of a source and of the files that it includes."""

    def __init__(self, text: str) -> None:
        self._texts = [text]

    def watched(self, surroundings: JobEnvironment) -> JobEnvironment:
        """Return the inputs of a job file with a function for `include` that also collects the included texts."""
        include = surroundings.include
        if include is None:
            return surroundings

        def collect(name: str) -> str | None:
            found = include(name)
            self._texts.append(found or "")
            return found

        return replace(surroundings, include=collect)

    def hide(self, found: Sequence[Diagnostic], environment: Mapping[str, str]) -> tuple[Diagnostic, ...]:
        """Replace the values of the variables that the texts name with `${NAME}`. Parts of a value are replaced too."""
        text = "\n".join(self._texts)
        names = dict.fromkeys(name for name in _VARIABLE.findall(text) if name in environment)
        parts = {part: f"${{{name}}}" for name in names for part in _parts(environment[name]) if part not in text}
        longest_first = sorted(parts.items(), key=lambda item: -len(item[0]))
        return tuple(
            replace(each, message=_hidden(each.message, longest_first), fix=_hidden(each.fix, longest_first))
            for each in found
        )


def _parts(value: str) -> Iterator[str]:
    """Yield the value and the parts that a list of sizes, files or settings would have, if they are long enough."""
    every = (value, value.strip(), *_SEPARATOR.split(value))
    yield from (part for part in every if len(part) >= _SHORTEST and part.lower() not in _FIO_WORDS)


def _hidden(message: str, parts: Iterable[tuple[str, str]]) -> str:
    """Replace each part in the message. The message may contain only the beginning of a long part."""
    for part, name in parts:
        beginning = part[:_SHORTEST_BEGINNING]
        at = message.find(beginning)
        while at >= 0:
            end = at + len(beginning)
            while end - at < len(part) and message[end : end + 1] == part[end - at]:
                end += 1
            message = message[:at] + name + message[end:]
            at = message.find(beginning, at + len(name))
    return message
