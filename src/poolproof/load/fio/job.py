"""A fio job file as values, and as text. `load.py` interprets the options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from poolproof.errors import CampaignError
from poolproof.load.fio import quantity
from poolproof.load.fio.option_names import DEFAULT_ENGINE, engine_name
from poolproof.load.fio.quantity import attempt

_ON_BY_DEFAULT = frozenset(
    {
        "randrepeat", "invalidate", "scramble_buffers", "do_verify", "create_serialize", "create_fsync",
        "allow_file_create", "unique_filename", "stats", "clat_percentiles", "disk_util", "per_job_logs", "buffered",
        "verify_state_save", "trim_verify_zero",
    }
)  # fmt: skip
"""Switches that are on unless a job turns them off (HOWTO, and options.c of fio 3.33)."""

_UNESCAPED_COLON = re.compile(r"(?<!\\):")
_FORBIDDEN = (
    "\n",
    "\r",
    "\0",
    "#",
    ";",
)  # fio cuts a value at `#` or `;`; measured with 3.33, quoting does not help
_ORDER_MATTERS = frozenset({"direct", "buffered", "rwmixread", "rwmixwrite"})


@dataclass(frozen=True)
class Job:
    """One job section with the global options folded in. Option names are fio's first names.

    An option whose value fio would refuse counts as not set. `line` is the line of the section or of `--name` in its
    source, counted from 1, and `lines` has the line of each option; None and empty without a source. `early_bases` is
    the kb_base with which fio had read an option before it came to the job's own kb_base.
    """

    name: str
    options: Mapping[str, str]
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    early_bases: Mapping[str, int] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return the option's value as written; None if it is not set."""
        return self.options.get(name)

    def flag(self, name: str) -> bool:
        """True if the switch is on: present without a value, or a number other than 0. If not set, fio's default."""
        value = self.options.get(name)
        if value is not None and not value.strip():
            return True
        number = None if value is None else attempt(quantity.parse_bytes, value)
        return name in _ON_BY_DEFAULT if number is None else number != 0

    def number(self, name: str) -> int | None:
        """Return the first number of an option; None if it is not set, a percentage or unreadable."""
        value = self.options.get(name)
        return None if value is None else self.bytes_in(name, value.split(",")[0])

    def bytes_in(self, name: str, text: str) -> int | None:
        """Parse `text` as a value of that option; return None if it is unreadable."""
        return attempt(partial(quantity.parse_bytes, kb_base=self.kb_base(name)), text)

    def percent(self, name: str) -> int | None:
        """Return 20 for `size=20%`; None if the option is not set or not a percentage."""
        return quantity.parse_percent(self.options.get(name, ""))

    def seconds(self, name: str) -> float | None:
        """Return an option that is a time in seconds; None if it is not set or unreadable."""
        micros = attempt(quantity.parse_time_us, self.options.get(name, ""))
        return None if micros is None else micros / 1e6

    def kb_base(self, name: str) -> int:
        """Return what `k` means in that option, 1024 or 1000. A kb_base does not affect options read before it."""
        return self.early_bases.get(name, quantity.kb_base_of(self.options))

    @cached_property
    def rw(self) -> str:
        """The pattern without its modifier (`randread` for `randread:8`), with `readwrite` as `rw`."""
        word = (self.options.get("rw") or "read").partition(":")[0].strip()
        return "rw" if word == "readwrite" else word

    @cached_property
    def engine(self) -> str:
        return engine_name(self.options.get("ioengine") or DEFAULT_ENGINE)

    @property
    def filename(self) -> str | None:
        return self.options.get("filename") or None

    @cached_property
    def filenames(self) -> tuple[str, ...]:
        """The files of `filename=`. Without it, a job named after a device works on that device, as in fio."""
        if self.filename is None and self.name.startswith("/dev/") and (self.number("nrfiles") or 1) == 1:
            return (self.name,)
        return split_filenames(self.filename or "")

    @property
    def directory(self) -> str | None:
        """The one directory of the job's files, as a path: without the backslash that fio needs before a colon."""
        return (self.options.get("directory") or "").replace("\\:", ":") or None


@dataclass(frozen=True)
class JobFile:
    """The jobs of one fio run, in order."""

    jobs: tuple[Job, ...]


def split_filenames(text: str) -> tuple[str, ...]:
    """Split a value of `filename=`: colons separate names, `\\:` is a colon in a name."""
    return tuple(name.strip().replace("\\:", ":") for name in _UNESCAPED_COLON.split(text) if name.strip())


def render(jobs: JobFile) -> str:
    """Return the text of the job file, with the options that all jobs share in `[global]`.

    Raises CampaignError if a name or value has a line break, `#` or `;`, which a job file cannot hold.
    """
    shared = _shared(jobs.jobs)
    sections = [("global", shared)] if shared else []
    for job in jobs.jobs:
        if job.name in ("", "global") or any(mark in job.name for mark in ("]", *_FORBIDDEN)):
            hint = "letters, digits, dashes and dots are safe"
            raise CampaignError(f"{job.name!r} cannot be the name of a fio job", hint)
        sections.append((job.name, {name: value for name, value in job.options.items() if name not in shared}))
    return "\n".join("\n".join([f"[{name}]", *map(_line, options, options.values()), ""]) for name, options in sections)


def _shared(jobs: tuple[Job, ...]) -> dict[str, str]:
    """Return the options that all of several jobs have, except options whose order matters."""
    if len(jobs) < 2:
        return {}
    return {
        name: value
        for name, value in jobs[0].options.items()
        if name not in _ORDER_MATTERS and all(job.options.get(name) == value for job in jobs[1:])
    }


def _line(name: str, value: str) -> str:
    if any(mark in name + value for mark in _FORBIDDEN):
        raise CampaignError(
            f"fio's option {name!r} has a line break, `#` or `;`, where fio would cut the value: {value!r}",
            "choose a path or value without it",
        )
    return f"{name}={value}" if value else name
