"""A fio job file as values, and what its options mean: the one place that knows fio's defaults and interplay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from poolproof.load.fio import engines, quantity
from poolproof.load.fio.blocks import DEFAULT_BLOCK, block_sizes, kb_base_of
from poolproof.load.fio.defaults import ON_BY_DEFAULT
from poolproof.load.fio.extents import Extent, extents_of, most_sharers, union_bytes
from poolproof.load.fio.filenames import split_filenames
from poolproof.load.fio.quantity import attempt

_MOST_CLONES = 4096  # fio's own limit, REAL_MAX_JOBS


@dataclass(frozen=True)
class Job:
    """One job section with the global options already folded in. Option names are fio's canonical ones.

    A property whose option fio would refuse answers as if the option were not set. `line` is where the section or the
    `--name` stands in its source, counted from 1, and `lines` where each option does; None and empty without a source.
    `early_bases`: the kb_base by which fio had read an option before it came upon the job's own.
    """

    name: str
    options: Mapping[str, str]
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    early_bases: Mapping[str, int] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """The option's value as written, None when it is not set."""
        return self.options.get(name)

    def flag(self, name: str) -> bool:
        """A switch: present without a value, or a number that is not 0. Unset gives fio's default."""
        value = self.options.get(name)
        if value is None:
            return name in ON_BY_DEFAULT
        if not value.strip():
            return True
        number = attempt(quantity.parse_bytes, value)
        return name in ON_BY_DEFAULT if number is None else number != 0

    def number(self, name: str) -> int | None:
        """The first number of an option, None when it is unset, a percentage or unreadable."""
        value = self.options.get(name)
        return None if value is None else self._bytes(name, value.split(",")[0])

    def percent(self, name: str) -> int | None:
        """20 for `size=20%`, None when it is unset or no percentage."""
        value = self.options.get(name)
        return None if value is None else quantity.parse_percent(value)

    def kb_base(self, name: str) -> int:
        """What `k` is in that option, 1024 or 1000: a kb_base does not reach back to what fio has read already."""
        return self.early_bases.get(name, kb_base_of(self.options))

    # What is done: direction, pattern, engine

    @cached_property
    def rw(self) -> str:
        """The pattern without its modifier (`randread` for `randread:8`), `readwrite` as `rw`."""
        word = (self.options.get("rw") or "read").partition(":")[0].strip()
        return "rw" if word == "readwrite" else word

    @property
    def reads(self) -> bool:
        return self.rw in ("read", "randread") or (self._is_read_write and self._read_share > 0)

    @property
    def writes(self) -> bool:
        if self.rw in ("write", "randwrite", "trimwrite", "randtrimwrite"):
            return True
        return self._is_read_write and self._read_share < 100

    @property
    def is_mixed(self) -> bool:
        """Reads and writes in one job."""
        return self.reads and self.writes

    @property
    def is_random(self) -> bool:
        return self.rw.startswith("rand") and self.number("percentage_random") != 0

    @property
    def is_sequential(self) -> bool:
        return not self.is_random

    @cached_property
    def engine(self) -> str:
        return engines.engine_name(self.options.get("ioengine") or engines.DEFAULT_ENGINE)

    @property
    def engine_is_synchronous(self) -> bool:
        """The engine waits in submission, so that iodepth has no effect."""
        return self.engine in engines.SYNCHRONOUS

    @property
    def may_use_page_cache(self) -> bool:
        """The engine does I/O on files and block devices where the kernel's page cache may stand in between."""
        return self.engine in engines.PAGE_CACHE

    @cached_property
    def direct(self) -> bool:
        """O_DIRECT is asked for, by `direct`, `buffered=0` or `atomic`; the last of the first two wins, as in fio."""
        if self.flag("atomic"):
            return True
        for name in reversed(list(self.options)):
            if name == "direct":
                return self.flag("direct")
            if name == "buffered":
                return not self.flag("buffered")
        return False

    @cached_property
    def iodepth(self) -> int:
        return max(1, self.number("iodepth") or 1)

    @property
    def numjobs(self) -> int:
        """Clones of this job, at most fio's limit of 4096."""
        return min(max(1, self.number("numjobs") or 1), _MOST_CLONES)

    @cached_property
    def queue(self) -> int:
        """I/Os that can be outstanding at once over all clones: an engine that waits in submission has one for each."""
        waits = self.engine_is_synchronous and self.text("io_submit_mode") != "offload"
        return self.numjobs * (1 if waits else self.iodepth)

    # How large: blocks, sizes, places

    @cached_property
    def bs_bytes(self) -> int:
        """The smallest block of the directions used."""
        return min(span.low for span in self._block_spans)

    @property
    def bs_max_bytes(self) -> int:
        """The largest block of the directions used."""
        return max(span.high for span in self._block_spans)

    @property
    def size_bytes(self) -> int | None:
        """Bytes that each clone works on; None when unset (a whole device) or a percentage."""
        return self.number("size") or None

    @property
    def io_size_bytes(self) -> int | None:
        """Bytes that each clone moves, where it is told apart from the size."""
        return self.number("io_size") or None

    @property
    def filesize_bytes(self) -> int | None:
        """The size of one file; the upper end where it is a range."""
        value = self.options.get("filesize")
        parse = partial(quantity.parse_range, kb_base=self.kb_base("filesize"))
        span = None if value is None else attempt(parse, value)
        return (span.high or None) if span else None

    @property
    def nrfiles(self) -> int:
        """Files of each clone: the names given, or else `nrfiles`."""
        return len(self.filenames) or max(1, self.number("nrfiles") or 1)

    @property
    def filename(self) -> str | None:
        return self.options.get("filename") or None

    @cached_property
    def filenames(self) -> tuple[str, ...]:
        """The files of `filename=`, which `:` separates where no backslash stands before it.

        Without one, a job named after a device works on that device, as fio has it.
        """
        if self.filename is None and self.name.startswith("/dev/") and (self.number("nrfiles") or 1) == 1:
            return (self.name,)
        return split_filenames(self.filename or "")

    @property
    def directory(self) -> str | None:
        """The one directory of the job's files, as a path: without the backslash that fio wants before a colon."""
        return (self.options.get("directory") or "").replace("\\:", ":") or None

    @property
    def offset_bytes(self) -> int:
        return self.number("offset") or 0

    @property
    def offset_increment_bytes(self) -> int:
        return self.number("offset_increment") or 0

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        """The bytes that each clone walks, one extent for each clone and file."""
        return extents_of(self)

    @property
    def shares_one_file(self) -> bool:
        """Several clones walk the same bytes of a file."""
        return self.numjobs > 1 and most_sharers(self.extents) > 1

    # How long

    @property
    def runtime_s(self) -> float | None:
        return self._seconds("runtime") or None

    @property
    def ramp_s(self) -> float:
        """Seconds at the start that fio leaves out of its figures."""
        return self._seconds("ramp_time") or 0.0

    @property
    def time_based(self) -> bool:
        """Goes on until `runtime` is over, starting anew when the size is done."""
        return self.flag("time_based")

    @property
    def starts_after_all_before(self) -> bool:
        """`stonewall`: waits for the jobs above it."""
        return self.flag("stonewall")

    # When writes are safe

    @property
    def syncs_at_end(self) -> bool:
        return self.flag("end_fsync") or self.flag("fsync_on_close")

    @property
    def sync_every(self) -> int | None:
        """Writes between two calls of fsync or fdatasync; None when there are none."""
        counts = [count for name in ("fsync", "fdatasync") if (count := self.number(name))]
        return min(counts) if counts else None

    @property
    def writes_are_synchronous(self) -> bool:
        """O_SYNC or O_DSYNC on every write."""
        value = (self.options.get("sync") or "0").strip()
        return value in ("sync", "dsync", "1") or (value not in ("none", "0") and bool(self.number("sync")))

    @property
    def syncs(self) -> bool:
        """Asks for durability in any way, once or often."""
        ranged = bool(self.options.get("sync_file_range"))
        return self.syncs_at_end or self.sync_every is not None or self.writes_are_synchronous or ranged

    @property
    def commits_each_write(self) -> bool:
        return self.writes_are_synchronous or self.sync_every == 1

    # What is written

    @property
    def verifies(self) -> bool:
        return (self.options.get("verify") or "0").strip() not in ("0", "none")

    @property
    def refills_buffers(self) -> bool:
        """Fresh bytes for every write, of random or of a chosen compressibility."""
        chosen = self.number("buffer_compress_percentage") or self.number("dedupe_percentage")
        return self.flag("refill_buffers") or self.verifies or bool(chosen)

    @property
    def zero_buffers(self) -> bool:
        """Only zeros are written."""
        pattern = self.options.get("buffer_pattern")
        all_zeros = pattern is not None and bool(pattern) and not pattern.lower().removeprefix("0x").strip('0"')
        return self.flag("zero_buffers") or all_zeros

    @property
    def compress_percentage(self) -> int | None:
        """How much of each buffer is meant to compress away, in per cent; None when it was not chosen."""
        return self.number("buffer_compress_percentage")

    # What spoils or shapes the figures

    @property
    def randrepeat(self) -> bool:
        """The same random offsets at every run."""
        return self.flag("randrepeat")

    @property
    def invalidate(self) -> bool:
        return self.flag("invalidate")

    @property
    def rate_limited(self) -> bool:
        names = ("rate", "rate_iops")
        return any(self._bytes(name, part) for name in names for part in self.options.get(name, "0").split(","))

    @property
    def thinks(self) -> bool:
        """Pauses between I/Os."""
        return bool(attempt(lambda text: quantity.parse_time_us(text, 1), self.options.get("thinktime") or "0"))

    @property
    def gtod_reduce(self) -> bool:
        return self.flag("gtod_reduce")

    @property
    def measures_latency(self) -> bool:
        """Completion latencies are taken."""
        return not (self.gtod_reduce or self.flag("disable_clat"))

    @property
    def _is_read_write(self) -> bool:
        return self.rw in ("rw", "randrw")

    @property
    def _read_share(self) -> int:
        reads, writes = self.number("rwmixread"), self.number("rwmixwrite")
        if reads is not None:
            return reads
        return 50 if writes is None else 100 - writes

    @cached_property
    def _block_spans(self) -> tuple[quantity.SizeRange, ...]:
        """The block sizes of the directions used; that of trims where it neither reads nor writes."""
        sizes = block_sizes(self.options, self.kb_base)
        used = [sizes.read] if self.reads else []
        used += [sizes.write] if self.writes else []
        return tuple(span if span and span.low > 0 else DEFAULT_BLOCK for span in used or [sizes.trim])

    def _bytes(self, name: str, text: str) -> int | None:
        return attempt(partial(quantity.parse_bytes, kb_base=self.kb_base(name)), text)

    def _seconds(self, name: str) -> float | None:
        value = self.options.get(name)
        micros = None if value is None else attempt(quantity.parse_time_us, value)
        return None if micros is None else micros / 1e6


@dataclass(frozen=True)
class JobFile:
    """The jobs of one fio run, in order."""

    jobs: tuple[Job, ...]

    @cached_property
    def phases(self) -> tuple[tuple[Job, ...], ...]:
        """Jobs that run side by side; a `stonewall` starts the next phase."""
        phases: list[list[Job]] = []
        for job in self.jobs:
            if job.starts_after_all_before or not phases:
                phases.append([])
            phases[-1].append(job)
        return tuple(tuple(phase) for phase in phases)

    @property
    def numjobs(self) -> int:
        """Clones over all sections."""
        return sum(job.numjobs for job in self.jobs)

    @cached_property
    def queue(self) -> int:
        """I/Os that can be outstanding at once, in the fullest phase."""
        return max((sum(job.queue for job in phase) for phase in self.phases), default=0)

    @property
    def reads(self) -> bool:
        return any(job.reads for job in self.jobs)

    @property
    def writes(self) -> bool:
        return any(job.writes for job in self.jobs)

    @cached_property
    def sharers(self) -> int:
        """How many clones walk the same bytes at once; 1 when each has its own."""
        return max((max(1, most_sharers(_all_extents(phase))) for phase in self.phases), default=0)

    @property
    def shares_one_file(self) -> bool:
        """Several clones, of one section or of several, walk the same bytes of a file at once."""
        return self.sharers > 1

    @cached_property
    def unique_bytes(self) -> int | None:
        """U: bytes that the run can touch, each counted once; None when a size is not known here."""
        return union_bytes(_all_extents(self.jobs))

    @property
    def asked_s(self) -> float | None:
        """Seconds of the measured window that was asked for, phase after phase; None when one has no `runtime`."""
        longest = [[job.runtime_s for job in phase] for phase in self.phases]
        if not longest or any(seconds is None for phase in longest for seconds in phase):
            return None
        return sum(max(seconds for seconds in phase if seconds is not None) for phase in longest)

    @property
    def engines(self) -> frozenset[str]:
        return frozenset(job.engine for job in self.jobs)


def _all_extents(jobs: tuple[Job, ...]) -> tuple[Extent, ...]:
    return tuple(extent for job in jobs for extent in job.extents)
