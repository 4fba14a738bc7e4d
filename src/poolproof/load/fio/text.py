"""Parse fio's normal output: complete runs, and fragments of runs that people quote.

A run consists of a header line for each job, fio's version (`fio-3.x`), a block for each job, and the totals for groups
and disks. Any of these may be missing. `text_lines.py` parses single lines, and this module collects them into jobs and
runs. If the current job already has a value, a second line with it starts a new job. A line that cannot occur at this
point in a run starts a new run.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from poolproof.load.fio import text_lines as lines
from poolproof.load.fio.cut_blocks import SAME_SUM, is_sum, only_issued, with_totals
from poolproof.load.fio.job import Job
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.fio.printed_numbers import carried_iops
from poolproof.load.outcome import DIRECTIONS, Direction, DiskUtilization, Latency, Outcome, PartOutcome

_LONGEST_LINE = 2000  # lines printed by fio are far shorter
_TOTAL = "All clients"  # the name of the totals that a client prints last
_MOST_FOREIGN_LINES = 40  # within a run; forum posts have remarks between its parts
_MOST_BETWEEN_TOTALS = 2  # lines of other text between the totals of one run
_NO_DIRECTION = ""
_MOST_CLONES = 16
_LONGEST_PRINTING = timedelta(minutes=1)


@dataclass(frozen=True)
class TextResult:
    """A result, with its first and last line number (1-based).

    `headers`: the jobs that fio listed before starting them.
    `pids`: the process IDs in the jobs' blocks.
    `part_lines`: the first line of each part, in order.
    """

    result: Outcome
    first_line: int
    last_line: int
    headers: tuple[Job, ...] = ()
    pids: tuple[str, ...] = ()
    part_lines: tuple[int, ...] = ()


@dataclass
class _PrintedJob:
    """A job that is still being parsed.

    `latest`: the direction of the latency lines that follow, or `_NO_DIRECTION` before the first direction.
    `kilo`: the base (1000 or 1024) of units without an `i`.
    `head`: the kind of latency of the next percentiles, and their unit in nanoseconds.
    """

    part: PartOutcome
    pid: str = ""
    line: int = 0
    printed: datetime | None = None
    directions: dict[str, Direction] = field(default_factory=dict)
    latest: str = _NO_DIRECTION
    kilo: int | None = None
    head: tuple[str, float] | None = None

    @property
    def has_values(self) -> bool:
        return bool(self.directions or self.part.sync)

    def latency(self, kind: str) -> Latency | None:
        """Return the sync latency, or the slat, clat or lat of the latest direction. None if not parsed yet."""
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
        self.directions[self.latest] = replace(self.directions.get(self.latest, Direction()), **values)

    def finished(self, headers: Iterable[Job]) -> PartOutcome:
        """Return the finished job, with None for directions without I/O."""
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
    """A run that is still being parsed."""

    version: str = ""
    headers: list[Job] = field(default_factory=list)
    last_header: str = ""
    jobs: list[_PrintedJob] = field(default_factory=list)
    groups: dict[int, dict[str, Direction]] = field(default_factory=dict)
    group_lines: dict[int, int] = field(default_factory=dict)
    disks: list[DiskUtilization] = field(default_factory=list)
    has_components: bool = False
    has_group_head: bool = False
    last_group: int = -1
    first_line: int = 0
    last_line: int = 0

    @property
    def has_values(self) -> bool:
        """True if the run has values, or an error, which counts as a result too."""
        return any(job.has_values or job.part.error for job in self.jobs) or any(self.groups.values())

    def finished(self) -> Outcome:
        parts = [job.finished(self.headers) for job in self.jobs if job.has_values or job.part.name]
        if not any(job.has_values or job.part.error for job in self.jobs) and any(self.groups.values()):
            parts = []
        counts = Counter(part.group for part in parts)
        parts = [with_totals(part, self.groups.get(part.group, {}), is_alone=counts[part.group] == 1) for part in parts]
        parts += [PartOutcome(f"group {number}", group=number, **group) for number, group in self._totals_alone(parts)]
        jobs = [part for part in parts if part.name != _TOTAL]
        return Outcome(self.version, tuple(jobs or parts), tuple(self.disks), groups=self.groups)

    def _totals_alone(self, parts: Sequence[PartOutcome]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the totals of directions for which the text has no job, with the number of their group."""
        for number, group in self.groups.items():
            known = {name for part in parts if part.group == number for name in part.directions}
            known |= {"mixed"} if known else set()
            alone = {name: group[name] for name in DIRECTIONS if name in group and name not in known}
            if alone:
                yield number, alone


def read_text(text: str) -> tuple[Outcome, ...]:
    """Return all runs in the input, in order. Lines that are not fio output are ignored."""
    return tuple(found.result for found in find_runs(plain_lines(text)))


def find_runs(numbered: Iterable[Line]) -> tuple[TextResult, ...]:
    """Return all runs in the numbered lines, in order."""
    reader = _TextParser()
    for number, line in numbered:
        if line.strip():
            reader.take(number, line)
    reader.finish()
    return tuple(reader.found)


class _TextParser:
    """Collects lines into runs. `_foreign` counts the lines of other output since fio's last line."""

    def __init__(self) -> None:
        self.found: list[TextResult] = []
        self._run = _RunDraft()
        self._foreign, self._has_words, self._number = 0, False, 0

    def take(self, number: int, line: str) -> None:
        if self._foreign > _MOST_FOREIGN_LINES:
            self.finish()
        self._number = number
        if self._reads(line):
            self._run.first_line = self._run.first_line or number
            if self._run.jobs and not self._run.jobs[-1].line:
                self._run.jobs[-1].line = number
            self._run.last_line = number
            self._foreign, self._has_words = 0, False
        elif self._run.first_line and not lines.is_filler(line):
            self._foreign += 1
            self._has_words = self._has_words or lines.has_words(line)

    def _reads(self, line: str) -> bool:
        """Add the line to the current run, or return False if it cannot be fio output.

        Every line that fio prints contains `=`, `:` or `fio`.
        """
        if self._run.jobs and not lines.percentiles(line):
            # percentiles follow directly below their heading; `high prio … percentiles` do not cover the whole
            # direction
            self._run.jobs[-1].head = None
        if not ("=" in line or ":" in line or "fio" in line):
            return False
        kinds = (self._head, self._job_line, self._values, self._totals)
        return len(line) <= _LONGEST_LINE and any(kind(line) for kind in kinds)

    def finish(self) -> None:
        """End the current run, and add it to `found` if it has values."""
        run, self._run = self._run, _RunDraft()
        self._foreign, self._has_words = 0, False
        if run.has_values:
            pids = tuple(job.pid for job in run.jobs if job.pid.strip("0"))
            result = run.finished()
            names = [part.name for part in result.parts]
            drafts = run.jobs if [job.part.name for job in run.jobs] == names[: len(run.jobs)] else []
            begins = [job.line or run.first_line for job in drafts]
            alone = result.parts[len(begins) :] if begins or not run.jobs else ()
            begins += [run.group_lines.get(part.group, run.first_line) for part in alone]
            self.found.append(
                TextResult(result, run.first_line, run.last_line, tuple(run.headers), pids, tuple(begins))
            )

    def _head(self, line: str) -> bool:
        header, version = lines.header(line), lines.version(line)
        if header is None and version is None:
            return False
        if self._run.has_values:
            self.finish()
        if header is not None:
            self._run.headers.append(lines.with_group(header, line, self._run.last_header))
            self._run.last_header = line
        self._run.version = version or self._run.version
        return True

    def _job_line(self, line: str) -> bool:
        found = lines.job(line)
        if found is None:
            return False
        part, pid = found
        has_totals = any(self._run.groups.values()) or bool(self._run.disks)
        printed = lines.printed_at(line)
        if part.name == _TOTAL:
            starts_run = any(job.part.name == _TOTAL for job in self._run.jobs)  # a client prints its total once
        else:
            starts_run = has_totals or self._is_of_another_run(part) or self._is_printed_apart(part, printed)
        if starts_run:
            self.finish()
        self._run.jobs.append(_PrintedJob(part, pid, printed=printed))
        return True

    def _is_of_another_run(self, part: PartOutcome) -> bool:
        """True if the job cannot belong to the current run.

        Separately reported clones may share a group, but a block that sums up clones cannot share its group with
        another block. If fio listed the run's jobs, the job must be one of them. A job without a name is a fragment,
        and a job after a fragment starts a new run.
        """
        before = self._run.jobs
        if not before:
            return False
        announced = {header.name for header in self._run.headers}
        is_merged = any(job.part.group == part.group and (job.part.clones > 1 or part.clones > 1) for job in before)
        return is_merged or not before[-1].part.name or (bool(announced) and part.name not in announced)

    def _is_printed_apart(self, part: PartOutcome, printed: datetime | None) -> bool:
        """True if the run has a job with this name and group that fio printed at another time.

        fio prints all jobs of a run when the last one ends, so the times of clones of the same run differ by less than
        a minute, and no sentence is between their blocks.
        """
        key = (part.name, part.group, part.host)
        same = [job for job in self._run.jobs if (job.part.name, job.part.group, job.part.host) == key]
        waits = [abs(printed - job.printed) for job in same if printed is not None and job.printed is not None]
        return bool(same) and (self._has_words or any(wait > _LONGEST_PRINTING for wait in waits))

    def _values(self, line: str) -> bool:
        job = self._run.jobs[-1] if self._run.jobs else None
        if values := lines.percentiles(line):
            return job is not None and self._percentiles(job, values)
        if head := lines.percentile_head(line):
            self._job_for(lambda _: True).head = head
        elif rate := lines.rate(line):
            job = self._job_for(lambda draft: rate.direction not in draft.directions)
            job.directions[rate.direction] = rate.values
            job.latest, job.kilo = rate.direction, rate.kilo
        elif found := lines.latency(line):
            kind, latency = found
            self._job_for(lambda draft: draft.latency(kind) is None).set_latency(kind, latency)
        elif sampled := lines.sampled_rate(line, job.kilo if job else None) or lines.sampled_iops(line):
            self._sampled(job, {name: value for name, value in vars(sampled).items() if value is not None})
        else:
            return job is not None and self._end_of_block(job, line)
        return True

    def _percentiles(self, job: _PrintedJob, values: dict[float, float]) -> bool:
        if job.head is None:
            return False
        kind, factor = job.head
        before = job.latency(kind) or Latency()
        scaled = {percent: value * factor for percent, value in values.items()}
        job.set_latency(kind, replace(before, percentiles_ns={**before.percentiles_ns, **scaled}))
        return True

    def _sampled(self, job: _PrintedJob | None, values: dict[str, Any]) -> None:
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

    def _end_of_block(self, job: _PrintedJob, line: str) -> bool:
        if cpu := lines.cpu(line):
            user, system, switches = cpu
            job.part = replace(job.part, user_cpu_percent=user, system_cpu_percent=system, context_switches=switches)
        elif issued := lines.issued(line):
            counts, syncs = issued
            if (only := only_issued(counts)) and list(job.directions) == [_NO_DIRECTION]:
                job.directions, job.latest = {only: job.directions[_NO_DIRECTION]}, only
            for name, count in counts.items():
                if own := job.directions.get(name):
                    iops = carried_iops(own.iops, count, own.runtime_ms)
                    job.directions[name] = replace(own, ios=count, iops=iops)
            # fio prints 0 here for engines whose syncs it counts elsewhere
            job.part = replace(job.part, syncs=syncs or None)
        elif shares := lines.latency_shares(line):
            job.part = replace(job.part, latency_shares={**job.part.latency_shares, **shares})
        else:
            return lines.is_depths(line)
        return True

    def _totals(self, line: str) -> bool:
        run, number = self._run, lines.group_head(line)
        if number is not None:
            # Within a run, the group numbers increase. Text between totals without jobs usually introduces another run.
            is_apart = not run.jobs and self._foreign > 0
            if run.disks or (run.groups and (is_apart or number <= run.last_group)):
                self.finish()
            self._run.groups[number], self._run.group_lines[number] = {}, self._number
            self._run.last_group, self._run.has_group_head = number, True
        elif group := lines.group(line):
            self._group(group)
        elif (disk := lines.disk(line)) and (run.jobs or run.groups):
            is_component = run.has_components and not lines.has_components(line)
            run.disks.append(replace(disk, is_component=is_component))
            run.has_components = run.has_components or lines.has_components(line)
        else:
            return False
        return True

    def _group(self, group: lines.RateLine) -> None:
        """Add totals to the current group. Without a group header, they are a result unless they are the jobs' sum."""
        run = self._run
        is_headless = bool(run.jobs) and not run.has_group_head
        is_apart = not run.has_group_head and (self._foreign > _MOST_BETWEEN_TOTALS or self._is_of_next_command(group))
        is_total = is_headless and is_sum(group, [job.directions for job in run.jobs if job.part.name != _TOTAL])
        if is_total and not run.groups:
            run.last_group = run.jobs[-1].part.group
            run.groups[run.last_group] = {}
        current = run.groups.get(run.last_group)
        if run.has_group_head and _moved_less(group, [job for job in run.jobs if job.part.group == run.last_group]):
            current = None  # the totals of another run, quoted without its jobs
        if run.disks or current is None or group.direction in current or (not is_total if is_headless else is_apart):
            self.finish()
            if self._is_sum_of_runs(group):
                return
            current = self._run.groups[0] = {}
            self._run.last_group = 0
        current[group.direction] = group.values

    def _is_of_next_command(self, group: lines.RateLine) -> bool:
        """True if a line with words is between these totals and the last ones, and the run times differ."""
        known = self._run.groups.get(self._run.last_group, {})
        return self._has_words and any(each.runtime_ms != group.values.runtime_ms for each in known.values())

    def _is_sum_of_runs(self, group: lines.RateLine) -> bool:
        """True if the totals are the sum over several clones whose blocks were quoted without their first lines."""
        runs = (found.result.parts for found in reversed(self.found[-_MOST_CLONES:]))
        clones = [parts[0].directions for parts in takewhile(lambda parts: len(parts) == 1 and not parts[0].name, runs)]
        return any(is_sum(group, clones[:count]) for count in range(2, len(clones) + 1))

    def _job_for(self, fits: Callable[[_PrintedJob], bool]) -> _PrintedJob:
        """Return the last job if the value belongs to it, otherwise a new job without a name.

        A new job is needed if the last job already has such a value, if group totals came after it, or if it has no
        name and other programs' output came after it.
        """
        last = self._run.jobs[-1] if self._run.jobs else None
        is_open = last is not None and (last.part.name == _TOTAL or not any(self._run.groups.values()))
        if last and is_open and fits(last) and (last.part.name or not self._foreign):
            return last
        if self._run.has_values:
            self.finish()
        self._run.jobs.append(_PrintedJob(PartOutcome("")))
        return self._run.jobs[-1]


def _moved_less(group: lines.RateLine, jobs: Iterable[_PrintedJob]) -> bool:
    """True if the totals are clearly less than the bytes of one of the jobs, so they cannot include this job."""
    total = group.values.io_bytes
    own = [job.directions[group.direction].io_bytes for job in jobs if group.direction in job.directions]
    return total is not None and any(size is not None and total < (1 - 2 * SAME_SUM) * size for size in own)


def _has_moved(values: Direction) -> bool:
    return bool(values.io_bytes or values.iops or values.io_bytes is None)
