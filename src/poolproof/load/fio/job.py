"""A fio job file as values: the options of each job as fio reads them. `load.py` says what they mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from poolproof.load.fio import engines, quantity
from poolproof.load.fio.blocks import kb_base_of
from poolproof.load.fio.filenames import split_filenames
from poolproof.load.fio.quantity import attempt

_ON_BY_DEFAULT = frozenset(
    {
        "randrepeat", "invalidate", "scramble_buffers", "do_verify", "create_serialize", "create_fsync",
        "allow_file_create", "unique_filename", "stats", "clat_percentiles", "disk_util", "per_job_logs", "buffered",
        "verify_state_save", "trim_verify_zero",
    }
)  # fmt: skip
"""Switches that are on unless a job turns them off (HOWTO, and options.c of fio 3.33)."""


@dataclass(frozen=True)
class Job:
    """One job section with the global options folded in. Option names are fio's canonical ones.

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
        if value is None:
            return name in _ON_BY_DEFAULT
        if not value.strip():
            return True
        number = attempt(quantity.parse_bytes, value)
        return name in _ON_BY_DEFAULT if number is None else number != 0

    def number(self, name: str) -> int | None:
        """Return the first number of an option; None if it is not set, a percentage or unreadable."""
        value = self.options.get(name)
        return None if value is None else self.bytes_in(name, value.split(",")[0])

    def bytes_in(self, name: str, text: str) -> int | None:
        """Return the number that `text` is as a value of that option; None if it is unreadable."""
        return attempt(partial(quantity.parse_bytes, kb_base=self.kb_base(name)), text)

    def percent(self, name: str) -> int | None:
        """Return 20 for `size=20%`; None if the option is not set or not a percentage."""
        value = self.options.get(name)
        return None if value is None else quantity.parse_percent(value)

    def seconds(self, name: str) -> float | None:
        """Return an option that is a time in seconds; None if it is not set or unreadable."""
        value = self.options.get(name)
        micros = None if value is None else attempt(quantity.parse_time_us, value)
        return None if micros is None else micros / 1e6

    def kb_base(self, name: str) -> int:
        """Return what `k` means in that option, 1024 or 1000. A kb_base does not affect options read before it."""
        return self.early_bases.get(name, kb_base_of(self.options))

    @cached_property
    def rw(self) -> str:
        """The pattern without its modifier (`randread` for `randread:8`), with `readwrite` as `rw`."""
        word = (self.options.get("rw") or "read").partition(":")[0].strip()
        return "rw" if word == "readwrite" else word

    @cached_property
    def engine(self) -> str:
        return engines.engine_name(self.options.get("ioengine") or engines.DEFAULT_ENGINE)

    @property
    def filename(self) -> str | None:
        return self.options.get("filename") or None

    @cached_property
    def filenames(self) -> tuple[str, ...]:
        """The files of `filename=`, which are separated by colons without a backslash before them.

        Without `filename`, a job named after a device works on that device, as in fio.
        """
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
