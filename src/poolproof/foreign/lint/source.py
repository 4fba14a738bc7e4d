"""A source to lint: a job file, a shell script or a command line."""

import re
from dataclasses import dataclass, field
from typing import Literal

from poolproof.foreign.lint import commands, jobfiles
from poolproof.foreign.lint.jobfiles import Surroundings
from poolproof.foreign.lint.model import Unit

Kind = Literal["job file", "script"]
_JOB_FILE_NAMES = (".fio", ".job")
_MAX_CONTROL_SHARE = 0.05
_CONTROL = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]")  # control characters, and bytes that could not be decoded


@dataclass(frozen=True)
class Source:
    """A text and its name in findings. `surroundings` is what its job files can refer to."""

    name: str
    text: str
    surroundings: Surroundings = field(default_factory=Surroundings)

    @property
    def kind(self) -> Kind:
        """The kind according to the text; according to the name if the text opens no section."""
        if jobfiles.is_job_file(self.text) or (self.name.endswith(_JOB_FILE_NAMES) and "fio " not in self.text):
            return "job file"
        return "script"

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every fio call in the text."""
        if self.kind == "job file":
            return (jobfiles.unit_of(self.text, self.surroundings),)
        return commands.units_of(self.text, self.surroundings)


def is_text(text: str) -> bool:
    """True without zero bytes and with at most a few control characters; comments in another encoding are allowed."""
    return "\0" not in text and len(_CONTROL.findall(text)) <= _MAX_CONTROL_SHARE * len(text) + 2
