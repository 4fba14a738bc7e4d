"""fio's normal output as figures: whole runs, and the fragments of them that people quote.

A run is: a line about each job, `fio-3.x`, the jobs' blocks, the group's sums, the disks. Any part may be missing. What
a line says is in `text_lines.py`; here lines are gathered into jobs. A figure that would be said twice starts a new
job, and a line that no run can have in that place starts a new run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from poolproof.load.fio import text_lines as lines
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.outcome import Direction, DiskUse, Latency, Outcome, PartOutcome

_LONGEST_LINE = 2000  # fio's own lines are far shorter
_SUM = "All clients"  # what a client prints last of several jobs or servers
_MOST_FOREIGN_LINES = 40  # between two parts of one run; forum posts put remarks in between


@dataclass(frozen=True)
class TextResult:
    """A result and the lines, counted from 1, on which it was found. `headers` are the jobs as fio announced them,
    `pids` the processes of those whose blocks are there.
    """

    result: Outcome
    first_line: int
    last_line: int
    headers: tuple[lines.HeaderLine, ...] = ()
    pids: tuple[str, ...] = ()


@dataclass
class _JobDraft:
    """A job while its lines come in. `latest` is the direction that latency lines belong to."""

    name: str = ""
    pid: str = ""
    group: int = 0
    jobs: int = 1
    error: int = 0
    host: str | None = None
    directions: dict[str, Direction] = field(default_factory=dict)
    latest: str | None = None
    loose: dict[str, Latency] = field(default_factory=dict)
    sampled: Direction | None = None
    sync: Latency | None = None
    syncs: int | None = None
    cpu: tuple[float, float] | None = None
    depths: dict[str, float] = field(default_factory=dict)
    plain: int | None = None
    head: lines.PercentileHead | None = None


@dataclass
class _RunDraft:
    """A run while its lines come in."""

    version: str = ""
    headers: list[lines.HeaderLine] = field(default_factory=list)
    jobs: list[_JobDraft] = field(default_factory=list)
    groups: dict[int, dict[str, Direction]] = field(default_factory=dict)
    disks: list[DiskUse] = field(default_factory=list)
    last_group: int = -1
    first_line: int = 0
    last_line: int = 0

    def has_figures(self) -> bool:
        """Or an error, which is a result as well."""
        return any(_has_figures(job) or job.error for job in self.jobs) or any(self.groups.values())


def read_text(text: str) -> tuple[Outcome, ...]:
    """Every run in the text, in order. Nothing is raised: what is not fio's output is passed over."""
    return tuple(found.result for found in find_runs(plain_lines(text)))


def find_runs(numbered: Iterable[tuple[int, str]]) -> tuple[TextResult, ...]:
    """Every run in numbered lines, with its place."""
    reader = _Reader()
    for place, line in numbered:
        reader.take(place, line)
    reader.finish()
    return tuple(reader.found)


class _Reader:
    """Gathers lines into runs."""

    def __init__(self) -> None:
        self.found: list[TextResult] = []
        self._run = _RunDraft()
        self._foreign = 0

    def take(self, place: int, line: str) -> None:
        """Hand the line to the first kind that it fits; lines of no kind are left out."""
        if not line.strip():
            return
        if self._foreign > _MOST_FOREIGN_LINES:
            self.finish()
        if len(line) <= _LONGEST_LINE and any(
            kind(line) for kind in (self._head, self._job_line, self._figures, self._sums)
        ):
            self._run.first_line = self._run.first_line or place
            self._run.last_line = place
            self._foreign = 0
        elif not lines.is_filling(line):
            self._foreign += 1

    def finish(self) -> None:
        """Close the run."""
        run, self._run = self._run, _RunDraft()
        self._foreign = 0
        if run.has_figures():
            pids = tuple(job.pid for job in run.jobs if job.pid.strip("0"))
            self.found.append(TextResult(_result(run), run.first_line, run.last_line, tuple(run.headers), pids))

    def _head(self, line: str) -> bool:
        header, version = lines.header(line), lines.version(line)
        if header is None and version is None:
            return False
        if self._run.has_figures():
            self.finish()
        if header is not None:
            self._run.headers.append(header)
        self._run.version = version or self._run.version
        return True

    def _job_line(self, line: str) -> bool:
        job = lines.job(line)
        if job is None:
            return False
        is_after = any(self._run.groups.values()) or bool(self._run.disks)
        if (is_after and job.name != _SUM) or self._repeats(job):
            self.finish()
        self._run.jobs.append(_JobDraft(job.name, job.pid, job.group, job.jobs, job.error, job.host))
        return True

    def _repeats(self, job: lines.JobLine) -> bool:
        """The job is of another run: clones may share a group, sums of clones don't; fio announces every job; and a
        job without a name was a fragment by itself.
        """
        before = self._run.jobs
        if not before or job.name == _SUM:
            return False
        announced = {header.name for header in self._run.headers}
        sums_group = any(draft.group == job.group and (draft.jobs > 1 or job.jobs > 1) for draft in before)
        return sums_group or not before[-1].name or (bool(announced) and job.name not in announced)

    def _figures(self, line: str) -> bool:
        """Lines of a job's block."""
        values = lines.percentiles(line)
        if values:
            return self._add_percentiles(values)
        head = lines.percentile_head(line)
        self._forget_head()
        if head is not None:
            self._job_for(lambda _: True).head = head
            return True
        rate = lines.rate(line)
        if rate is not None:
            return self._rate(rate)
        latency = lines.latency(line)
        if latency is not None:
            return self._latency(latency)
        return self._sampled(line) or self._rest(line)

    def _forget_head(self) -> None:
        """Percentiles stand right below their head; under another one, such as `high prio … percentiles`, they are not
        those of the direction.
        """
        if self._run.jobs:
            self._run.jobs[-1].head = None

    def _add_percentiles(self, values: dict[float, float]) -> bool:
        job = self._run.jobs[-1] if self._run.jobs else None
        if job is None or job.head is None:
            return False
        _add_percentiles(job, job.head, values)
        return True

    def _rate(self, rate: lines.RateLine) -> bool:
        job = self._job_for(lambda draft: rate.direction not in draft.directions)
        job.directions[rate.direction] = rate.figures
        job.latest, job.plain = rate.direction, rate.plain
        return True

    def _latency(self, line: lines.LatencyLine) -> bool:
        if line.kind == "sync":
            job = self._job_for(lambda draft: draft.sync is None)
            job.sync = _filled(job.sync, line.latency)
            return True
        job = self._job_for(lambda draft: _latency_of(draft, line.kind) is None)
        _set_latency(job, line.kind, line.latency)
        return True

    def _sampled(self, line: str) -> bool:
        job = self._run.jobs[-1] if self._run.jobs else None
        sampled = lines.sampled_rate(line, job.plain if job else None) or lines.sampled_iops(line)
        if sampled is None:
            return False
        if job is not None and job.latest is not None:
            job.directions[job.latest] = _joined(job.directions[job.latest], sampled)
        else:
            job = self._job_for(lambda draft: draft.latest is None and not _share_figures(draft.sampled, sampled))
            job.sampled = _joined(job.sampled or Direction(), sampled)
        return True

    def _rest(self, line: str) -> bool:
        """CPU, depths, I/Os issued: the end of a job's block."""
        cpu, depths, issued = lines.cpu(line), lines.depths(line), lines.issued(line)
        if cpu is None and depths is None and issued is None:
            return False
        if not self._run.jobs:
            return False
        job = self._run.jobs[-1]
        job.cpu = cpu or job.cpu
        job.depths = depths or job.depths
        if issued is not None:
            _set_issued(job, *issued)
        return True

    def _sums(self, line: str) -> bool:
        """The group's sums and the disks."""
        number = lines.group_head(line)
        if number is not None:
            self._group_head(number)
            return True
        group = lines.group(line)
        if group is not None:
            return self._group(group)
        disk = lines.disk(line)
        if disk is not None and (self._run.jobs or self._run.groups):
            self._run.disks.append(disk)
            return True
        return False

    def _group_head(self, number: int) -> None:
        """Groups of a run count upwards: one that does not is of another run."""
        if self._run.disks or (self._run.groups and (not self._run.jobs or number <= self._run.last_group)):
            self.finish()
        self._run.groups[number] = {}
        self._run.last_group = number

    def _group(self, group: lines.RateLine) -> bool:
        """A sum belongs under its head; one without a head is a quotation, a result of its own."""
        own = self._run.groups.get(self._run.last_group)
        if self._run.disks or own is None or group.direction in own:
            self.finish()
            own = self._run.groups[0] = {}
            self._run.last_group = 0
        own[group.direction] = group.figures
        return True

    def _job_for(self, fits: Callable[[_JobDraft], bool]) -> _JobDraft:
        """The job that a figure belongs to; a new one without a name where the last has that figure already, or where
        other text stands between a figure and a job that has no name.
        """
        last = self._run.jobs[-1] if self._run.jobs else None
        is_open = last is not None and (last.name == _SUM or not any(self._run.groups.values()))
        if last and is_open and fits(last) and (last.name or not self._foreign):
            return last
        if self._run.has_figures():
            self.finish()
        self._run.jobs.append(_JobDraft())
        return self._run.jobs[-1]


def _has_figures(job: _JobDraft) -> bool:
    return bool(job.directions or job.loose or job.sync or job.sampled)


def _latency_of(job: _JobDraft, kind: str) -> Latency | None:
    """slat, clat or lat of the direction that is being told; without one, of no direction."""
    if job.latest is None:
        return job.loose.get(kind)
    direction = job.directions[job.latest]
    return {"slat": direction.slat, "clat": direction.clat, "lat": direction.lat}[kind]


def _set_latency(job: _JobDraft, kind: str, latency: Latency) -> None:
    if job.latest is None:
        job.loose[kind] = latency
    else:
        job.directions[job.latest] = _with_latency(job.directions[job.latest], kind, latency)


def _with_latency(direction: Direction, kind: str, latency: Latency) -> Direction:
    if kind == "slat":
        return replace(direction, slat=latency)
    return replace(direction, clat=latency) if kind == "clat" else replace(direction, lat=latency)


def _filled(before: Latency | None, more: Latency) -> Latency:
    """`more`, with the percentiles that stood above it."""
    return replace(more, percentiles_ns=before.percentiles_ns) if before else more


def _add_percentiles(job: _JobDraft, head: lines.PercentileHead, values: dict[float, float]) -> None:
    scaled = {percent: value * head.factor for percent, value in values.items()}
    before = job.sync if head.kind == "sync" else _latency_of(job, head.kind)
    before = before or Latency()
    latency = replace(before, percentiles_ns={**before.percentiles_ns, **scaled})
    if head.kind == "sync":
        job.sync = latency
    else:
        _set_latency(job, head.kind, latency)


def _joined(before: Direction, sampled: Direction) -> Direction:
    """With the sampled rates added to what was known."""
    return replace(before, **{name: value for name, value in vars(sampled).items() if value is not None})


def _share_figures(before: Direction | None, more: Direction) -> bool:
    """Both tell the bandwidth, or both the IOPS: they are of two jobs."""
    if before is None:
        return False
    pairs = ((before.bandwidth_mean_bytes, more.bandwidth_mean_bytes), (before.iops_mean, more.iops_mean))
    return any(None not in pair for pair in pairs)


def _set_issued(job: _JobDraft, counts: dict[str, int], syncs: int | None) -> None:
    """Exact I/Os. fio prints 0 syncs for engines whose syncs it does not count there."""
    for name, count in counts.items():
        if name in job.directions:
            job.directions[name] = replace(job.directions[name], ios=count)
    job.syncs = syncs or None


def _result(run: _RunDraft) -> Outcome:
    jobs = [_job(draft, run.headers) for draft in run.jobs if _has_figures(draft) or draft.name]
    if not any(_has_figures(draft) or draft.error for draft in run.jobs) and any(run.groups.values()):
        jobs = [_group_job(number, group) for number, group in run.groups.items() if group]
    own = [job for job in jobs if job.name != _SUM]
    return Outcome(version=run.version, parts=tuple(own or jobs), disks=tuple(run.disks), groups=run.groups)


def _job(draft: _JobDraft, headers: list[lines.HeaderLine]) -> PartOutcome:
    directions: dict[str, Direction | None] = {
        name: figures if _moved(figures) else None for name, figures in draft.directions.items()
    }
    if draft.loose or draft.sampled:
        loose, sampled = draft.loose, draft.sampled or Direction()
        directions["mixed"] = replace(sampled, slat=loose.get("slat"), clat=loose.get("clat"), lat=loose.get("lat"))
    announced = next((header.options for header in headers if header.name == draft.name), {})
    return PartOutcome(
        name=draft.name,
        error=draft.error,
        clones=draft.jobs,
        job_runtime_ms=_idle_ms(draft),
        options=announced,
        read=directions.get("read"),
        write=directions.get("write"),
        trim=directions.get("trim"),
        mixed=directions.get("mixed"),
        sync=draft.sync,
        syncs=draft.syncs,
        user_cpu_percent=draft.cpu[0] if draft.cpu else None,
        system_cpu_percent=draft.cpu[1] if draft.cpu else None,
        depth_levels=draft.depths,
        host=draft.host,
        group=draft.group,
    )


def _moved(figures: Direction) -> bool:
    """A direction in which something happened, or of which it is not known that nothing did."""
    return bool(figures.io_bytes or figures.iops or figures.io_bytes is None)


def _idle_ms(draft: _JobDraft) -> int | None:
    """How long the job ran, where its lines say that it moved nothing; None of others, and where they do not tell."""
    told = draft.directions.values()
    spans = [figures.runtime_ms for figures in told if figures.runtime_ms is not None]
    return max(spans) if spans and not any(_moved(figures) for figures in told) else None


def _group_job(number: int, group: dict[str, Direction]) -> PartOutcome:
    """The sum of a group whose jobs were not quoted."""
    return PartOutcome(
        name=f"group {number}",
        group=number,
        read=group.get("read"),
        write=group.get("write"),
        trim=group.get("trim"),
        mixed=group.get("mixed"),
    )
