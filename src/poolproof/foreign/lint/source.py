"""What is linted: a job file, a shell script, or a command line, by its name."""

import re
from dataclasses import dataclass, field
from typing import Literal

from poolproof.foreign.lint import commands, jobfiles
from poolproof.foreign.lint.jobfiles import Surroundings
from poolproof.foreign.lint.model import Unit

Kind = Literal["job file", "script"]
_JOB_FILE_NAMES = (".fio", ".job")
_MOST_ODD = 0.05
_NO_TEXT = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]")  # control characters, and what could not be decoded


@dataclass(frozen=True)
class Source:
    """A text and the name that findings give it; `surroundings` is what its job files can draw upon."""

    name: str
    text: str
    surroundings: Surroundings = field(default_factory=Surroundings)

    @property
    def kind(self) -> Kind:
        """By the text; by the name where the text opens no section."""
        if jobfiles.is_job_file(self.text) or (self.name.endswith(_JOB_FILE_NAMES) and "fio " not in self.text):
            return "job file"
        return "script"

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every call of fio in it."""
        if self.kind == "job file":
            return (jobfiles.unit_of(self.text, self.surroundings),)
        return commands.units_of(self.text, self.surroundings)


def is_text(text: str) -> bool:
    """No zero bytes, and few characters that no text has; a comment in another encoding is still text."""
    return "\0" not in text and len(_NO_TEXT.findall(text)) <= _MOST_ODD * len(text) + 2
