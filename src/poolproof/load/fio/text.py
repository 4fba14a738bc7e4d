"""Read fio's normal output: complete runs, and the fragments of runs that people quote.

A run is a line about each job, `fio-3.x`, the jobs' blocks, the group's sums and the disks. Any part may be missing.
`text_lines.py` parses each line; here lines are collected into jobs. A repeated value starts a new job, and a line that
no run can have in that position starts a new run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from poolproof.load.fio import text_lines as lines
from poolproof.load.fio.job import Job
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.outcome import DIRECTIONS, Direction, DiskUse, Latency, Outcome, PartOutcome

_LONGEST_LINE = 2000  # fio's own lines are far shorter
_SUM = "All clients"  # a client prints it last, as the sum of several jobs or servers
_MOST_FOREIGN_LINES = 40  # between two parts of one run; forum posts put remarks in between
_NO_DIRECTION = ""


@dataclass(frozen=True)
class TextResult:
    """A result and its first and last line, counted from 1.

    `headers` are the jobs that fio printed before it started, `pids` the processes whose blocks are in the text.
    """

    result: Outcome
    first_line: int
    last_line: int
    headers: tuple[Job, ...] = ()
    pids: tuple[str, ...] = ()


@dataclass
class _JobDraft:
    """A job while its lines come in.

    Latency lines belong to the direction `latest`; values above the first direction have `_NO_DIRECTION`. `kilo` is the
    base of its units without an `i`. `head` is the kind and the unit of the percentiles in the next lines.
    """

    part: PartOutcome
    pid: str = ""
    directions: dict[str, Direction] = field(default_factory=dict)
    latest: str = _NO_DIRECTION
    kilo: int | None = None
    head: tuple[str, float] | None = None

    @property
    def has_values(self) -> bool:
        return bool(self.directions or self.part.sync)

    def latency(self, kind: str) -> Latency | None:
        """Return slat, clat or lat of the latest direction, or sync."""
        if kind == "sync":
            return self.part.sync
        found: Latency | None = getattr(self.directions.get(self.latest, Direction()), kind)
        return found

    def set_latency(self, kind: str, latency: Latency) -> None:
        if kind == "sync":
            self.part = replace(self.part, sync=latency)
        else:
            self.add({kind: latency})

    def add(self, values: dict[str, Any]) -> None:
        """Set values of the latest direction."""
        self.directions[self.latest] = replace(self.directions.get(self.latest, Direction()), **values)

    def finished(self, headers: Iterable[Job]) -> PartOutcome:
        """Return the job. A direction in which nothing moved is None."""
        named = {name: values for name, values in self.directions.items() if name != _NO_DIRECTION}
        moved: dict[str, Any] = {name: values for name, values in named.items() if _has_moved(values)}
        if _NO_DIRECTION in self.directions:
            moved["mixed"] = self.directions[_NO_DIRECTION]
        spans = [values.runtime_ms for values in named.values() if values.runtime_ms is not None]
        is_idle = bool(spans) and not any(map(_has_moved, named.values()))
        options = next((job.options for job in headers if job.name == self.part.name), {})
        return replace(self.part, **moved, options=options, job_runtime_ms=max(spans) if is_idle else None)


@dataclass
class _RunDraft:
    """A run while its lines come in."""

    version: str = ""
    headers: list[Job] = field(default_factory=list)
    jobs: list[_JobDraft] = field(default_factory=list)
    groups: dict[int, dict[str, Direction]] = field(default_factory=dict)
    disks: list[DiskUse] = field(default_factory=list)
    last_group: int = -1
    first_line: int = 0
    last_line: int = 0

    @property
    def has_values(self) -> bool:
        """True if it has values or an error, which is a result too."""
        return any(job.has_values or job.part.error for job in self.jobs) or any(self.groups.values())

    def finished(self) -> Outcome:
        parts = [job.finished(self.headers) for job in self.jobs if job.has_values or job.part.name]
        if not any(job.has_values or job.part.error for job in self.jobs) and any(self.groups.values()):
            # the sums of groups whose jobs are not quoted
            parts = []
            for number, group in self.groups.items():
                directions: dict[str, Any] = {name: group[name] for name in DIRECTIONS if name in group}
                parts += [PartOutcome(f"group {number}", group=number, **directions)] if group else []
        own = [part for part in parts if part.name != _SUM]
        return Outcome(self.version, tuple(own or parts), tuple(self.disks), groups=self.groups)


def read_text(text: str) -> tuple[Outcome, ...]:
    """Return every run in the text, in order. It raises nothing: lines that are not fio's output are ignored."""
    return tuple(found.result for found in find_runs(plain_lines(text)))


def find_runs(numbered: Iterable[Line]) -> tuple[TextResult, ...]:
    """Return every run in numbered lines."""
    reader = _Reader()
    for number, line in numbered:
        if line.strip():
            reader.take(number, line)
    reader.finish()
    return tuple(reader.found)


class _Reader:
    """Collects lines into runs. `foreign` counts the lines of other programs since the last line of fio."""

    def __init__(self) -> None:
        self.found: list[TextResult] = []
        self._run = _RunDraft()
        self._foreign = 0

    def take(self, number: int, line: str) -> None:
        """Read the line as the first kind that it fits; ignore it if it fits none."""
        if self._foreign > _MOST_FOREIGN_LINES:
            self.finish()
        kinds = (self._head, self._job_line, self._values, self._sums)
        if len(line) <= _LONGEST_LINE and any(kind(line) for kind in kinds):
            self._run.first_line = self._run.first_line or number
            self._run.last_line = number
            self._foreign = 0
        elif not lines.is_filling(line):
            self._foreign += 1

    def finish(self) -> None:
        """Close the run."""
        run, self._run = self._run, _RunDraft()
        self._foreign = 0
        if run.has_values:
            pids = tuple(job.pid for job in run.jobs if job.pid.strip("0"))
            self.found.append(TextResult(run.finished(), run.first_line, run.last_line, tuple(run.headers), pids))

    def _head(self, line: str) -> bool:
        header, version = lines.header(line), lines.version(line)
        if header is None and version is None:
            return False
        if self._run.has_values:
            self.finish()
        self._run.headers += [header] if header is not None else []
        self._run.version = version or self._run.version
        return True

    def _job_line(self, line: str) -> bool:
        found = lines.job(line)
        if found is None:
            return False
        part, pid = found
        has_sums = any(self._run.groups.values()) or bool(self._run.disks)
        if part.name != _SUM and (has_sums or self._is_of_another_run(part)):
            self.finish()
        self._run.jobs.append(_JobDraft(part, pid))
        return True

    def _is_of_another_run(self, part: PartOutcome) -> bool:
        """Clones may share a group, but sums of clones do not. fio announces every job. Unnamed jobs are fragments."""
        before = self._run.jobs
        if not before:
            return False
        announced = {header.name for header in self._run.headers}
        sums_group = any(job.part.group == part.group and (job.part.clones > 1 or part.clones > 1) for job in before)
        return sums_group or not before[-1].part.name or (bool(announced) and part.name not in announced)

    def _values(self, line: str) -> bool:
        """Read a line of a job's block."""
        job = self._run.jobs[-1] if self._run.jobs else None
        if values := lines.percentiles(line):
            return job is not None and self._percentiles(job, values)
        if job is not None:
            job.head = None  # percentiles are right below their head; `high prio … percentiles` are not the direction's
        if head := lines.percentile_head(line):
            self._job_for(lambda _: True).head = head
        elif rate := lines.rate(line):
            job = self._job_for(lambda draft: rate.direction not in draft.directions)
            job.directions[rate.direction] = rate.values
            job.latest, job.kilo = rate.direction, rate.kilo
        elif found := lines.latency(line):
            self._latency(*found)
        elif sampled := lines.sampled_rate(line, job.kilo if job else None) or lines.sampled_iops(line):
            self._sampled(job, {name: value for name, value in vars(sampled).items() if value is not None})
        else:
            return job is not None and self._end_of_block(job, line)
        return True

    def _percentiles(self, job: _JobDraft, values: dict[float, float]) -> bool:
        if job.head is None:
            return False
        kind, factor = job.head
        before = job.latency(kind) or Latency()
        scaled = {percent: value * factor for percent, value in values.items()}
        job.set_latency(kind, replace(before, percentiles_ns={**before.percentiles_ns, **scaled}))
        return True

    def _latency(self, kind: str, latency: Latency) -> None:
        job = self._job_for(lambda draft: draft.latency(kind) is None)
        job.set_latency(kind, latency)

    def _sampled(self, job: _JobDraft | None, values: dict[str, Any]) -> None:
        if job is None or job.latest == _NO_DIRECTION:
            job = self._job_for(
                lambda draft: (
                    draft.latest == _NO_DIRECTION
                    and not any(
                        name in values and getattr(draft.directions.get(_NO_DIRECTION), name, None) is not None
                        for name in ("bandwidth_mean_bytes", "iops_mean")
                    )
                )
            )
        job.add(values)

    def _end_of_block(self, job: _JobDraft, line: str) -> bool:
        """Read the CPU shares or the I/Os issued, which are exact."""
        if cpu := lines.cpu(line):
            job.part = replace(job.part, user_cpu_percent=cpu[0], system_cpu_percent=cpu[1])
        elif issued := lines.issued(line):
            counts, syncs = issued
            for name, count in counts.items():
                if name in job.directions:
                    job.directions[name] = replace(job.directions[name], ios=count)
            job.part = replace(job.part, syncs=syncs or None)  # fio prints 0 if the engine's syncs are not counted here
        else:
            return lines.is_depths(line)
        return True

    def _sums(self, line: str) -> bool:
        """Read a sum of a group, or a disk."""
        run, number = self._run, lines.group_head(line)
        if number is not None:
            # The groups of a run count upwards.
            if run.disks or (run.groups and (not run.jobs or number <= run.last_group)):
                self.finish()
            self._run.groups[number] = {}
            self._run.last_group = number
        elif group := lines.group(line):
            self._group(group)
        elif (disk := lines.disk(line)) and (run.jobs or run.groups):
            run.disks.append(disk)
        else:
            return False
        return True

    def _group(self, group: lines.RateLine) -> None:
        """Add a sum to the group whose head is above it. Without a head, it is a quotation and a separate result."""
        own = self._run.groups.get(self._run.last_group)
        if self._run.disks or own is None or group.direction in own:
            self.finish()
            own = self._run.groups[0] = {}
            self._run.last_group = 0
        own[group.direction] = group.values

    def _job_for(self, fits: Callable[[_JobDraft], bool]) -> _JobDraft:
        """Return the job that a value belongs to.

        It is a new job without a name if the last job has that value already, or has no name and other text comes
        between.
        """
        last = self._run.jobs[-1] if self._run.jobs else None
        is_open = last is not None and (last.part.name == _SUM or not any(self._run.groups.values()))
        if last and is_open and fits(last) and (last.part.name or not self._foreign):
            return last
        if self._run.has_values:
            self.finish()
        self._run.jobs.append(_JobDraft(PartOutcome("")))
        return self._run.jobs[-1]


def _has_moved(values: Direction) -> bool:
    """True if something moved in the direction, or it is not known that nothing did."""
    return bool(values.io_bytes or values.iops or values.io_bytes is None)
