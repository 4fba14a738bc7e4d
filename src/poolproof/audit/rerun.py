"""The command to run again: the same jobs, without the traps that were found."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from poolproof.fio.job import Job, JobFile
from poolproof.rules.model import Case, Finding

_MIB = 1 << 20
_OUTPUT = "--output-format=json+"

Options = dict[str, str]


def rerun_command(case: Case, findings: Iterable[Finding]) -> str | None:
    """fio's command line with the mends of the findings that fit a command line; None without a job."""
    if not case.job.jobs or any(not job.name for job in case.job.jobs):
        return None
    rules = {finding.rule for finding in findings}
    jobs = [_mended(job, case.job, rules) for job in case.job.jobs]
    shared = _shared(jobs)
    words = [_OUTPUT, *_options(shared)]
    for job in jobs:
        own = {name: value for name, value in job.options.items() if name not in shared}
        words += [f"--name={job.name}", *_options(own)]
    return shlex.join(["fio", *words])


def _shared(jobs: Sequence[Job]) -> Options:
    """Options that several jobs have in common: before the first name they hold for all."""
    if len(jobs) < 2:
        return {}
    return {
        name: value
        for name, value in jobs[0].options.items()
        if all(job.options.get(name) == value for job in jobs[1:])
    }


def _options(options: Mapping[str, str]) -> list[str]:
    return [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]


def _mended(job: Job, jobs: JobFile, rules: set[str]) -> Job:
    options = {name: value for name, value in job.options.items() if name != "name"}
    for rule, mend in _MENDS.items():
        if rule in rules:
            mend(job, jobs, options)
    return Job(job.name, options)


def _own_part(job: Job, jobs: JobFile, options: Options) -> None:
    """Each clone its own part of the file; sections that share a file cannot be told apart here."""
    size = job.size_bytes
    if len(jobs.jobs) == 1 and size is not None and size >= jobs.sharers * _MIB:
        part = size // jobs.sharers // _MIB
        options["size"] = options["offset_increment"] = f"{part}m"


def _sync_at_end(job: Job, _jobs: JobFile, options: Options) -> None:
    if job.writes and not job.syncs:
        options["end_fsync"] = "1"


def _fresh_data(job: Job, _jobs: JobFile, options: Options) -> None:
    if job.writes:
        options["refill_buffers"] = "1"
        options.pop("zero_buffers", None)


def _for_the_whole_time(job: Job, _jobs: JobFile, options: Options) -> None:
    if job.runtime_s and not job.time_based:
        options["time_based"] = "1"


def _other_offsets(_job: Job, _jobs: JobFile, options: Options) -> None:
    options["randrepeat"] = "0"


def _asynchronous(job: Job, _jobs: JobFile, options: Options) -> None:
    if job.iodepth > 1 and (job.engine_is_synchronous or not job.direct):
        options["direct"] = "1"
        options["ioengine"] = "libaio" if job.engine_is_synchronous else options["ioengine"]


def _no_sync_on_reads(job: Job, _jobs: JobFile, options: Options) -> None:
    if not job.writes:
        for name in ("sync", "fsync", "fdatasync", "end_fsync", "fsync_on_close"):
            options.pop(name, None)


_MENDS: Mapping[str, Callable[[Job, JobFile, Options], None]] = {
    "shared-file-numjobs": _own_part,
    "write-without-sync": _sync_at_end,
    "write-not-on-disk": _sync_at_end,
    "default-buffer-compressible": _fresh_data,
    "zero-buffers": _fresh_data,
    "runtime-without-time-based": _for_the_whole_time,
    "repeated-offsets": _other_offsets,
    "iodepth-with-sync-engine": _asynchronous,
    "async-engine-blocks": _asynchronous,
    "sync-on-reads": _no_sync_on_reads,
}
"""What a command line can mend, by rule: cold caches and more memory it cannot."""
