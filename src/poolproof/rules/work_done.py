"""Runs that did not do all of the requested work."""

import math
from errno import EDQUOT, EILSEQ, ENOSPC
from os import strerror

from poolproof.load.model import LoadPart
from poolproof.load.outcome import Outcome, PartOutcome
from poolproof.metrics import rates_of
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Changes, Findings, Rule, fails, finding, fio_source, notes, rule_id, suspects
from poolproof.rules.proof import OF_READS, OF_WRITES, READ_LATENCIES, WRITE_LATENCIES
from poolproof.rules.reported import asked_s, counted_ios, most_moved_bytes, parts, ran_s
from poolproof.units import canonical_size, format_duration, format_size

WORK_DONE = rule_id(__name__)
"""The id of this rule. It is also used for findings about trials that failed before they had a result."""

_SHORTEST_S, _BURST_S = 1.0, 0.02
_INSTANT_S = 0.25  # in other people's results: half of the interval over which fio averages a rate (bwavgtime)
_TIMED = ("fio", "iozone")  # programs whose fast tests are quoted as the speed of a disk
_FEW_IOS = 16
_LONG_S = 60.0
_LARGER = "use a larger size=, so that the run takes at least 10 s"
_ENDS = {"number_ios", "io_size", "loops", "exitall"}
_LONG_ENOUGH_S = 10
_MIB = 1 << 20
_OWN_END = {"fill_device", "steadystate", "read_iolog", "create_only", "zonemode"}
_PLACED = {"offset", "filesize", "nrfiles", "zonesize"}  # a larger size needs other values of these
_OF_READS_ALONE, _OF_WRITES_ALONE = (*rates_of("read"), *READ_LATENCIES), (*rates_of("write"), *WRITE_LATENCIES)
_LARGEST_ERROR = 4095  # MAX_ERRNO of the kernel
_UNCOUNTED = {
    "runtime", "time_based", "steadystate", "exitall", "number_ios", "loops", "fill_device", "filesize", "nrfiles",
    "offset", "offset_increment", "read_iolog", "zonesize", "verify",
}  # fmt: skip


def _in_result(case: Case) -> Findings:
    if case.outcome is None:
        return
    errors = [job for job in case.outcome.parts if job.error]
    # A fragment without byte counts does not prove that nothing moved.
    all_idle = bool(case.outcome.parts) and all(_is_idle(job) for job in case.outcome.parts)
    if errors:
        only_verifies = any(job.only_verifies for job in case.jobs)
        verifies = only_verifies or any(job.verifies for job in case.jobs)
        named = ", ".join(
            f"`{job.name}` ended with error {job.error} ({_meaning(job.error, verifies)})" for job in errors
        )
        is_saved = case.quoted is None and all(map(is_fio_job, case.jobs))
        with_job = " with the saved job.fio" if is_saved else ""
        fix = f"run {case.generator} by hand{with_job} and read its error message"
        if only_verifies and all(job.error == EILSEQ for job in errors):
            fix = "write the file first, with the same job without verify_only; other files have no headers to verify"
        if all(job.error in (EDQUOT, ENOSPC) for job in errors):
            fix = "use larger devices, or a smaller size=; copy-on-write file systems also need room for the new blocks"
        yield fails(f"{case.generator} failed: job {named}", weight=80, fix=fix)
    elif all_idle and (case.load.reads or case.load.writes):
        yield fails(
            f"{case.generator} moved no data at all", weight=80, fix="check the job's filename, size and runtime"
        )
    else:
        yield from _time_done(case)
        yield from _bytes_done(case, case.outcome)


def _meaning(error: int, verifies: bool) -> str:
    if verifies and error == EILSEQ:  # strerror's text is about character sets
        return "verification failed: a block does not contain what a job with `verify` writes"
    return strerror(error) if abs(error) <= _LARGEST_ERROR else "not a kernel error number"


def _is_idle(job: PartOutcome) -> bool:
    """True if the job read, wrote and trimmed nothing.

    If the output reports neither reads nor writes nor trims, it must contain at least the job's run time or CPU usage.
    fio prints these last, so they show that the output was not cut off.
    """
    if directions := [part for part in (job.read, job.write, job.trim, job.mixed) if part is not None]:
        return all(part.io_bytes == 0 for part in directions)
    return job.job_runtime_ms is not None or job.user_cpu_percent is not None


def _ends_with_depth(job: LoadPart) -> bool:
    """True if fio ends the job when it has found the largest queue depth that meets the latency_target."""
    fio = fio_job(job)
    return bool(fio.text("latency_target")) and not fio.flag("latency_run")


def _time_done(case: Case) -> Findings:
    ran, asked, jobs = ran_s(case.outcome), asked_s(case), case.jobs
    if ran is None:
        return
    endless = jobs and all(job.time_based and "steadystate" not in fio_job(job).options for job in jobs)
    finds_depth = any(map(_ends_with_depth, jobs))
    why = (
        "latency_target ends it as soon as it has found the queue depth" if finds_depth else "something ended it early"
    )
    may_be_meant = case.quoted is not None and (ran >= _LONG_S or finds_depth)
    if asked and endless and ran < 0.95 * asked and not may_be_meant:
        yield fails(
            f"{case.generator} should have run for {format_duration(asked)}, but ran for {format_duration(ran)}: {why}",
            weight=80,
            fix="set latency_run=1, and latency_window to a part of the runtime"
            if finds_depth
            else "look for a signal, a full target or a device that disappeared, then run the job again",
        )
    elif asked and endless and ran < 0.95 * asked and not (finds_depth and ran < _SHORTEST_S):
        yield notes(
            f"{case.generator} should have run for {format_duration(asked)}, but ran for {format_duration(ran)}: "
            f"{why}, and the rates cover only this time",
            weight=30,
        )
    elif ran < _SHORTEST_S:
        ends_early = any(_ENDS & fio_job(job).options.keys() for job in jobs)
        stopped_by = case.quoted.stopped_by if case.quoted else ""
        if case.quoted is None:
            is_suspect = ran < _BURST_S or ends_early
        else:
            is_instant = ran < _INSTANT_S or _issued_few(case)
            is_suspect = bool(stopped_by) or (is_instant and case.generator in _TIMED)
        yield finding(
            "suspects" if is_suspect else "notes",
            f"the run took only {format_duration(ran)}{stopped_by and f' ({stopped_by})'}: that is mostly start-up and "
            "an initial burst",
            weight=80,
            fix=_longer(case),
        )
        if not is_suspect and case.quoted is not None and case.generator == "fio":
            yield from _instant_directions(case)
        if not is_suspect and case.quoted is None:
            yield from _short_directions(case)
    elif case.quoted is None:
        yield from _short_directions(case)


def _longer(case: Case) -> str:
    """Return the fix for a short run. Jobs through RAM must not repeat their I/O, because RAM would then serve it."""
    return f"{_LARGER}, or time_based=1 with runtime=10" if all(map(_may_repeat, case.jobs)) else _LARGER


def _may_repeat(job: LoadPart) -> bool:
    return job.direct or (job.commits_each_write and not job.reads)


def _issued_few(case: Case) -> bool:
    """True if the run consisted of so few I/Os that a single one determines the rate."""
    counts = [counted_ios(part) for part in parts(case.outcome)]
    return bool(counts) and all(count is not None and count <= _FEW_IOS for count in counts)


def _instant_directions(case: Case) -> Findings:
    """Yield a finding on reads or writes that ended at once while the other direction went on, as with verify."""
    for part in parts(case.outcome):
        ran_ms = part.figures.runtime_ms
        if ran_ms and ran_ms < 1000 * _INSTANT_S:
            yield finding(
                "suspects",
                f"the {part.kind}s took only {format_duration(ran_ms / 1000)}: that is mostly start-up and an initial "
                "burst",
                weight=80,
                metrics=OF_READS if part.kind == "read" else OF_WRITES,
                fix=_longer(case),
            )


def _short_directions(case: Case) -> Findings:
    """Yield a finding on reads or writes that ended long before the other direction, which another job went on with."""
    for kind, metrics in (("read", _OF_READS_ALONE), ("write", _OF_WRITES_ALONE)):
        found = [part for part in parts(case.outcome) if part.kind == kind]
        ran_ms = max((part.figures.runtime_ms or 0 for part in found), default=0)
        jobs = [case.job_named(part.job.name) for part in found]
        end_early = all(job is not None and _ENDS & fio_job(job).options.keys() for job in jobs)
        if ran_ms and ran_ms < 1000 * (_SHORTEST_S if end_early else _BURST_S):
            yield suspects(
                f"the {kind}s took only {format_duration(ran_ms / 1000)}: that is mostly start-up and an initial burst",
                weight=80,
                metrics=metrics,
                fix=f"use a larger size= for the {kind}s, or time_based=1, so that they take at least 10 s",
            )


def _bytes_done(case: Case, outcome: Outcome) -> Findings:
    asked, moved = _asked_bytes(case), _moved_bytes(outcome)
    # A quoted line may be about only one of the two directions.
    quoted = {part.kind for part in parts(outcome)}
    complete = (not case.load.reads or "read" in quoted) and (not case.load.writes or "write" in quoted)
    # A quotation may include only some of the jobs.
    reported = {part.name for part in outcome.parts}
    complete = complete and (case.quoted is None or not any(reported) or {job.name for job in case.jobs} <= reported)
    if asked and complete and moved is not None and moved < 0.95 * asked:
        stopped_by = case.quoted.stopped_by if case.quoted else ""
        yield finding(
            "notes" if stopped_by else "suspects",  # the rates cover only the time before the signal
            f"the jobs request {format_size(asked)} in total, but {case.generator} moved only {format_size(moved)}"
            f"{stopped_by and f' ({stopped_by})'}",
            weight=80,
            fix="look for errors in fio's output, and for a file smaller than size=",
        )


def _moved_bytes(outcome: Outcome) -> int | None:
    """Return the number of bytes that fio moved, including trimmed bytes, or None if a job does not report them."""
    trimmed = [job.trim.io_bytes for job in outcome.parts if job.trim is not None]
    total = 0
    for size in (most_moved_bytes(outcome, "read"), most_moved_bytes(outcome, "write"), *trimmed):
        if size is None:
            return None
        total += size
    return total


def _asked_bytes(case: Case) -> int | None:
    """Return the number of bytes that the jobs should move before they end, or None if it is unknown.

    It is unknown if the size of a job is unknown, or if an option ends or extends a job in another way.
    """
    total = 0
    for job in case.jobs:
        size = job.io_size_bytes or job.size_bytes
        if size is None or _UNCOUNTED & fio_job(job).options.keys():
            return None
        total += size * job.clones
    return total


def _fixed_options(case: Case, job: LoadPart) -> Changes:
    """Return changes that make a run of less than a second last at least 10 s.

    Direct and committed I/O is repeated until the time is over. Other I/O would then access data in RAM, so each clone
    gets a size of its own, for 10 s at the reported rate. Returns no changes if something else determines how long the
    job runs.
    """
    fio, ran = fio_job(job), ran_s(case.outcome)
    failed = case.outcome is not None and any(part.error for part in case.outcome.parts)
    if not ran or ran >= _SHORTEST_S or failed or job.verifies or job.trims or fio.options.keys() & _OWN_END:
        return {}
    counts = dict.fromkeys(fio.options.keys() & _ENDS)
    if _may_repeat(job):
        return {**counts, "time_based": "1", "runtime": f"{max(_LONG_ENOUGH_S, job.runtime_s or 0):.0f}"}
    moved = _moved_bytes(case.outcome) if case.outcome else None
    if counts or not moved or job.size_bytes is None or job.shares_one_file or fio.options.keys() & _PLACED:
        return {}
    needed = -(-moved * math.ceil(_LONG_ENOUGH_S / ran) // case.load.clones // _MIB) * _MIB
    apart = fio.options.keys() & {"offset_increment"}
    if apart and fio.bytes_in("offset_increment", fio.options["offset_increment"]) != job.size_bytes:
        return {}
    return {} if job.size_bytes >= needed else dict.fromkeys(("size", *apart), canonical_size(needed))


RULE = Rule(
    title="The run did not finish its work",
    wrong="fio failed, moved nothing, stopped early or moved too few bytes, so its result describes a different test.",
    shows="In a script: a time limit (`timeout 20 fio …`) below the runtime of its time_based jobs. In a result: an "
    "error code, no bytes, a time_based run of less than 95% of its runtime, or less than 95% of the bytes that the "
    "sizes add up to (a note if the text shows that a signal ended the run). A time_based run in a text that was ended "
    "after more than a minute is a note too, and so is one that latency_target without latency_run ended: fio "
    "then stops when it has found the queue depth. A run of less than a second is reported as a note. It is suspect if "
    "number_ios, io_size, loops, exitall or sysbench's request limit ended it, or if it took less than 20 ms (in a "
    "text: less than 250 ms of fio, or less than 250 ms of its reads or of its writes, or at most 16 I/Os of fio). In "
    "poolproof's own runs, the reads or the writes alone are suspect for the same reasons, even if another section "
    "ran longer.",
    error="Too high or too low. Runs of 133 ms and 207 ms have been quoted as benchmarks.",
    fix="find out what ended the run, and run it again for at least 10 s",
    sources=(
        "measured case L18",
        fio_source("3.42", "backend.c", "do_io, keep_running"),
    ),
    in_result=_in_result,
    fixed_options=_fixed_options,
    is_about_data=False,
    commands="fio --rw=write --bs=1m --size=64m --runtime=30 --time_based & fio=$!\n"
    "sleep 3; kill -INT $fio; wait $fio || true",
)
