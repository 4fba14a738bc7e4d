"""Data types for fio jobs, and functions that write jobs to job files. `load.py` interprets the options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from posixpath import normpath

from poolproof.errors import CampaignError
from poolproof.load.fio import quantity
from poolproof.load.fio.option_names import DEFAULT_ENGINE, DEFAULT_ENGINE_ON_WINDOWS, engine_name
from poolproof.load.fio.quantity import attempt

_ON_BY_DEFAULT = frozenset(
    {
        "randrepeat", "invalidate", "scramble_buffers", "do_verify", "create_serialize", "create_fsync",
        "allow_file_create", "unique_filename", "stats", "clat_percentiles", "disk_util", "per_job_logs", "buffered",
        "verify_state_save", "trim_verify_zero",
    }
)  # fmt: skip
"""Switches that are on by default, according to the HOWTO and options.c of fio 3.33."""

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_ROOT_LINKS = re.compile(r"(?:/proc/(?:\d+|self|thread-self)(?:/task/\d+)?/root)+(?=/)")
_SHARED_MEMORY = re.compile(r"(?:mmapshared|mmaphuge):(.+)")
_UNESCAPED_COLON = re.compile(r"(?<!\\):")
_NO_DISKS = re.compile(
    r"/dev/((shm|fd|pts|mqueue|hugepages)(/.*)?|null|zero|full|u?random|std(in|out|err)|tty\w*|z?ram\d*|nullb\d+)"
)
_FORBIDDEN = ("\n", "\r", "\0", "#", ";")  # fio 3.33 cuts a value at `#` or `;`, even in quotes
REPLACED = re.compile(r"\$\{|\$(pagesize|mb_memory|ncpus)")
"""What fio replaces in a value: environment variables, and keywords, even if more letters follow (options.c)."""

_ORDER_MATTERS = frozenset({"direct", "buffered", "rwmixread", "rwmixwrite"})


@dataclass(frozen=True)
class Job:
    """A fio job, including the global options that apply to it. Option names are canonical.

    `line`: the line number (1-based) of the job's section or `--name`, or None if the job was not parsed from text.
    `lines`: the line number of each option, or empty if the job was not parsed from text.
    `early_bases`: the `kb_base` for each option that fio reads before it reaches the job's own `kb_base`.

    The methods treat options with invalid values as not set, except for `text`, which returns any value as written.
    """

    name: str
    options: Mapping[str, str]
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    early_bases: Mapping[str, int] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return an option's value as written, or None if the option is not set."""
        return self.options.get(name)

    def flag(self, name: str) -> bool:
        """True if the switch is set without a value, or to a number other than 0.

        If the switch is not set or its value is invalid, return fio's default.
        """
        value = self.options.get(name)
        if value is not None and not value.strip():
            return True
        number = None if value is None else attempt(quantity.parse_bytes, value)
        return name in _ON_BY_DEFAULT if number is None else number != 0

    def number(self, name: str) -> int | None:
        """Return the first number in an option's value, or None if it is missing, invalid or a percentage."""
        value = self.options.get(name)
        return None if value is None else self.bytes_in(name, value.split(",")[0])

    def bytes_in(self, name: str, text: str) -> int | None:
        """Parse `text` as a value of this option. Return the number of bytes, or None if `text` is invalid."""
        return attempt(partial(quantity.parse_bytes, kb_base=self.kb_base(name)), text)

    def percent(self, name: str) -> int | None:
        """Return an option's percentage (20 for `size=20%`), or None if it is not set to a percentage."""
        return quantity.parse_percent(self.options.get(name, ""))

    def seconds(self, name: str, *, bare_us: int = 1_000_000) -> float | None:
        """Return a time option's value in seconds, or None if the option is missing or invalid.

        `bare_us`: the unit of a number without a suffix, in microseconds: 1,000,000 for most options, 1 for
        `thinktime`.
        """
        micros = attempt(partial(quantity.parse_time_us, bare_us=bare_us), self.options.get(name, ""))
        return None if micros is None else micros / 1e6

    def may_break_alignment(self, unit_bytes: int) -> bool:
        """True if `bs_unaligned` lets fio use block sizes that are not multiples of `unit_bytes`.

        With a range of block sizes, `bs_unaligned` allows fio to use any size within it. With `bssplit`, fio uses only
        the listed sizes, so one of them must be unaligned. With a single block size, `bs_unaligned` has no effect.
        Source: fio io_u.c, get_next_buflen.
        """
        if not self.flag("bs_unaligned"):
            return False
        entries = re.split("[:,]", self.options.get("bssplit", ""))
        sizes = [size for entry in entries if (size := self.bytes_in("bssplit", entry.partition("/")[0]))]
        if sizes:
            return any(size % unit_bytes for size in sizes)
        found = quantity.block_sizes(self.options, self.kb_base)
        return any(each.low != each.high for each in (found.read, found.write, found.trim) if each)

    def kb_base(self, name: str) -> int:
        """Return the factor for the suffix `k` in an option's value: 1024 or 1000.

        kb_base does not affect options that fio reads before it.
        """
        return self.early_bases.get(name, quantity.kb_base_of(self.options))

    @cached_property
    def rw(self) -> str:
        """The I/O pattern without its modifier: `randread` for `randread:8`. `readwrite` becomes `rw`."""
        word = (self.options.get("rw") or "read").partition(":")[0].strip()
        return "rw" if word == "readwrite" else word

    @cached_property
    def engine(self) -> str:
        default = DEFAULT_ENGINE_ON_WINDOWS if self.is_on_windows else DEFAULT_ENGINE
        return engine_name(self.options.get("ioengine") or default)

    @property
    def is_on_windows(self) -> bool:
        """True if the paths of the job are those of Windows."""
        return any(map(is_windows_path, (*self.filenames, *self.directories)))

    @property
    def filename(self) -> str | None:
        return self.options.get("filename") or None

    @cached_property
    def filenames(self) -> tuple[str, ...]:
        """The names in `filename`.

        As in fio, a job without `filename` that is named after a device uses that device.
        """
        if self.filename is None and self.name.startswith("/dev/") and (self.number("nrfiles") or 1) == 1:
            return (self.name,)
        return split_filenames(self.filename or "")

    @cached_property
    def directories(self) -> tuple[str, ...]:
        """The names in `directory`.

        If fio generates the file names, the clones use these directories in turn. Files with a `filename` are all in
        the first one (measured with fio 3.33).
        """
        return split_filenames(self.options.get("directory") or "")

    @property
    def directory(self) -> str | None:
        """The directory of the first clone's files, with escaped colons unescaped, or None if not set."""
        return next(iter(self.directories), None)

    @property
    def side_files(self) -> Mapping[str, str]:
        """The files other than its own to which the job writes, keyed by option: a trace, or the file of its buffers.

        fio appends a trace to the file. It maps the file of `mem=mmapshared:FILE` or `mem=mmaphuge:FILE` into memory,
        and what it writes to its buffers then reaches this file (fio 3.33 iolog.c, memory.c).
        """
        buffers = _SHARED_MEMORY.fullmatch(self.options.get("mem") or "")
        found = {"write_iolog": self.options.get("write_iolog") or "", "mem": buffers[1] if buffers else ""}
        return {option: path for option, path in found.items() if path}

    def path(self, name: str) -> str:
        """Return the path of the file with this name.

        fio puts `directory` before every name, even if the name begins with a slash (filesetup.c, add_file). A
        `directory` without a line number was not set in the job: it is the directory in which a script runs the job. It
        is put only before names that do not begin with a slash.
        """
        is_given = not self.lines or "directory" in self.lines
        return f"{self.directory}/{name}" if self.directory and (is_given or not name.startswith("/")) else name


Jobs = tuple[Job, ...]
"""The jobs of one fio run, in order."""


def is_windows_path(name: str) -> bool:
    r"""True for a Windows path: one with a drive letter (`D:\t.dat`), a network path or `\\.\PhysicalDrive1`."""
    return _WINDOWS.match(name) is not None


def is_disk_path(name: str) -> bool:
    """True for a path in /dev that may be a disk. Memory, terminals and /dev/null are excluded."""
    return name.startswith("/dev/") and not _NO_DISKS.fullmatch(name)


def plain_path(path: str) -> str:
    """Return the path without `.`, `..`, repeated slashes, and links in /proc that lead to the root directory."""
    return _ROOT_LINKS.sub("", "/" + normpath(path).lstrip("/") if path.startswith("/") else normpath(path))


def split_filenames(text: str) -> tuple[str, ...]:
    r"""Split the value of `filename=` into names. Colons separate the names; `\:` is a literal colon."""
    return tuple(name.strip().replace("\\:", ":") for name in _UNESCAPED_COLON.split(text) if name.strip())


def join_filenames(*names: str) -> str:
    r"""Return a value of `filename=` for these names, with each colon in a name as `\:`.

    The by-id name of each USB disk contains a colon (`usb-Kingston_DT-0:0`). fio would use two files instead, and
    create the first one in /dev, which is in RAM.

    Raises a CampaignError if fio would replace a part of a name.
    """
    for name in names:
        if REPLACED.search(name):
            raise CampaignError(
                f"fio would replace the variable in the path {name}", "use a directory without `$` in its path"
            )
    return ":".join(name.replace(":", "\\:") for name in names)


def render(jobs: Jobs) -> str:
    """Format the jobs as a job file, with the options common to all jobs in `[global]`, unless their order matters.

    Raises CampaignError if a name or value cannot be written to a job file, for example because it contains a line
    break, `#` or `;`.
    """
    shared = _shared(jobs)
    sections = [("global", shared)] if shared else []
    for job in jobs:
        if job.name in ("", "global") or any(mark in job.name for mark in ("]", *_FORBIDDEN)):
            hint = "letters, digits, dashes and dots are safe"
            raise CampaignError(f"{job.name!r} cannot be the name of a fio job", hint)
        sections.append((job.name, {name: value for name, value in job.options.items() if name not in shared}))
    return "\n".join("\n".join([f"[{name}]", *map(_line, options, options.values()), ""]) for name, options in sections)


def _shared(jobs: tuple[Job, ...]) -> dict[str, str]:
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
            f"the value of the fio option {name!r} contains a line break, `#` or `;`, where fio would cut it off: "
            f"{value!r}",
            "choose a path or value without this character",
        )
    return f"{name}={value}" if value else name


def delay_ms(options: Mapping[str, str]) -> int | None:
    """Return the delay before a job's measurement (`startdelay`, `ramp_time`) in ms.

    None if fio chooses the delay from a range, or if a value is invalid.
    """
    job = Job("", options)
    if re.search(r"\d[a-z]*\s*[:-]", options.get("startdelay", "")):
        return None  # a range
    waits = [job.seconds(name) if name in options else 0.0 for name in ("startdelay", "ramp_time")]
    return None if None in waits else round(1000 * sum(wait or 0.0 for wait in waits))
