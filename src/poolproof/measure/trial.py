"""A single trial: drop caches, wait until idle, run the load between two readings of counters, drain, judge, record."""

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from poolproof.campaign.model import Workload
from poolproof.errors import FioError, PoolproofError
from poolproof.evidence.account import CountingPoint, Window, byte_account, leaf_uses, levels_of
from poolproof.evidence.counter_sources import Values, growth, read_sources
from poolproof.evidence.counters import CounterFile, CounterReading, Sampler, read_now
from poolproof.evidence.host_use import HostReading, host_use, read_host
from poolproof.evidence.model import Evidence, VdevUse, ZfsUse
from poolproof.evidence.run_delay import RunDelays
from poolproof.hosts.base import HostUnreachable
from poolproof.hosts.clock import clock_ahead_s
from poolproof.hosts.local import now_s
from poolproof.layers.open_layout import busy_with, counting_points, vdev_uses
from poolproof.layers.tree import expected
from poolproof.load.asked import asked_of
from poolproof.load.generator import LoadGenerator, generator_of
from poolproof.load.model import Load
from poolproof.load.outcome import Outcome
from poolproof.measure.disk_faults import disk_errors, last_error_s, layer_faults, slowed_disks
from poolproof.measure.ending import Ending, ending_of, status_interval_s
from poolproof.measure.figures import moved_each_way
from poolproof.measure.health_check import health_checks_of
from poolproof.measure.load_output import LoadOutput, gathered, results_after_warm_up
from poolproof.measure.load_watch import LoadStuck, LoadWatch, RatePublisher
from poolproof.measure.measured_window import measured_window
from poolproof.measure.model import PreparedWorkload, TrialContext, cause_of
from poolproof.measure.prepare import drop_caches, flush
from poolproof.measure.series import latency_text, series_text
from poolproof.measure.surroundings import HostBefore, Surroundings
from poolproof.results.runs.live_rates import LiveNotes
from poolproof.results.runs.model import Trial, TrialKey, trial_evidence
from poolproof.rules.judge import judge
from poolproof.rules.model import Case, Finding
from poolproof.rules.reported import lasted_s
from poolproof.rules.work_done import WORK_DONE
from poolproof.verdicts import has_values

SAMPLE_S = 0.1
"""The interval between samples of the counters during a trial, in seconds."""

_SERIES_FROM_S = 1.0
_IDLE_SHARE = 0.02
_IDLE_LONGEST_S = 0.25
_IDLE_FIRST = (0.1, 1.05)

Resident = tuple[int, ...] | None
"""The number of bytes of each test file that are in the page cache. None if unknown."""


@dataclass(frozen=True)
class _TrialMeasurements:
    """The measurements of a trial.

    `fio`: the output of the load generator.
    `window`: the counters before the load, after the load, and after the drain.
    `samples`: the samples of the counters within the window.
    `seconds`: the duration of each phase.
    `zfs`: the increase of ZFS's own counters, including the ramp.
    `places`: the points at which bytes were counted.
    `busy_with`: a future with the layers' own background work, which is read right after the load.
    `vdevs`: a future with the bytes on each vdev, which are read after the drain.
    `host`: readings of memory and CPU before the load, after the load, and after the drain.
    `counters`: the increase of other counters from before the load until after the drain.
    `clock_ahead_s`: the number of seconds by which the wall clock was ahead of the samples' clock when the load
    ended.
    """

    fio: LoadOutput
    window: Window
    samples: Sequence[CounterReading]
    seconds: Mapping[str, float]
    zfs: ZfsUse | None
    places: Sequence[CountingPoint]
    busy_with: Future[tuple[str, ...]]
    vdevs: Future[tuple[VdevUse, ...]]
    host: tuple[HostReading, HostReading, HostReading]
    counters: Mapping[str, Values]
    around: Surroundings
    clock_ahead_s: float


def run_trial(context: TrialContext, prepared: PreparedWorkload, number: int) -> Trial:
    """Run one trial, judge it and save it.

    If there is an error, the trial is recorded as `failed`. Raises a HostUnreachable if the connection to the host is
    lost. The trial has then already been saved as `failed`.
    """
    workload = prepared.workload
    key = TrialKey(context.layout.name, workload.name, number)
    begun = _now()
    LiveNotes(context.run).clear()  # a session that was killed may have left its file behind
    context.listener.trial_begins(key)
    directory = context.run.trial_directory(key)
    broken, cause, since_s = None, None, last_error_s(context.host)
    try:
        with context.run.together():
            trial = _retry_if_stuck(context, prepared, number, directory)
    except PoolproofError as error:
        cause = cause_of(error, context.checks)
        trial = failed_trial(key.layout, workload, number, cause, context.build)
        broken = error if isinstance(error, HostUnreachable) else None
    if broken is None:
        failed = not has_values(trial.verdict)
        faults = layer_faults(context.host, context.layout.tree, failed=failed)
        errors = disk_errors(context.host, context.layout.leaves, since_s, failed=failed, cause=cause)
        trial = replace(trial, findings=(*trial.findings, *faults, *errors))
    trial = replace(trial, begun_at=begun, interrupted=broken is not None)
    context.run.append(trial)
    LiveNotes(context.run).clear()
    context.listener.trial_ends(trial)
    if broken is not None:
        raise broken
    return trial


def failed_trial(layout: str, workload: Workload, number: int, error: PoolproofError, build: int) -> Trial:
    """Return a `failed` trial with the error as its finding. The trial's start time is the time of the failure."""
    finding = Finding(WORK_DONE, "fails", error.message, error.hint or "fix the cause, then run the campaign again")
    return Trial(layout, workload.name, number, "failed", (finding,), workload.metric, begun_at=_now(), build=build)


def _now() -> str:
    return datetime.fromtimestamp(now_s(), UTC).isoformat(timespec="milliseconds")


def _retry_if_stuck(context: TrialContext, prepared: PreparedWorkload, number: int, directory: Path) -> Trial:
    """Run the trial. If the load generator hangs, run it once more, and add a note about the first attempt."""
    try:
        return _measure_and_judge(context, prepared, number, directory)
    except LoadStuck as stuck:
        trial = _measure_and_judge(context, prepared, number, directory)
        return replace(trial, findings=(*trial.findings, stuck.note))


def _measure_and_judge(context: TrialContext, prepared: PreparedWorkload, number: int, directory: Path) -> Trial:
    workload = prepared.workload
    cold = context.measure.is_cold(workload, reads=prepared.load.reads)
    resident, drop_s = _drop_caches(context, prepared, cold)
    measured, generator = _measure(context, prepared, number), generator_of(prepared.load)
    _save(context, directory, measured, generator)
    result = asked_of(prepared.load, _result_of(measured.fio, prepared.load))
    evidence = _evidence(context, prepared, measured, result, resident)
    figures, settling = results_after_warm_up(measured.fio, result, workload.metric, generator)
    asked_s = measured.fio.ran_s if measured.fio.ended else measured.fio.most_s or prepared.load.asked_s
    case = Case(prepared.load, result, evidence, context.layout.target, cold=cold, asked_s=asked_s)
    judgement = judge(case, workload.metric)
    context.run.keep(directory, "evidence.json", trial_evidence(case))
    window = measured.window
    slowed = slowed_disks(context.layout.leaves, measured.samples, window.start.at_s, window.end.at_s)
    return Trial(
        layout=context.layout.name,
        workload=workload.name,
        number=number,
        verdict=judgement.verdict,
        verdicts=judgement.verdicts,
        findings=(*judgement.findings, *slowed),
        metric=workload.metric,
        figures=figures,
        account=evidence.account,
        leaves=evidence.leaves,
        stored_bytes=prepared.stored_bytes,
        seconds={"cool": drop_s, **measured.seconds},
        settling=settling,
        build=context.build,
        bin_width=generator.bin_width,
    )


def _drop_caches(context: TrialContext, prepared: PreparedWorkload, cold: bool) -> tuple[Resident, float]:
    begun = time.monotonic()
    if not cold:
        flush(context.host, context.layout)
        return None, time.monotonic() - begun
    context.listener.activity_begins("drop caches")
    if context.layout.found is not None or not context.layout.tree.close:
        flush(context.host, context.layout)  # a `dir` layout is never unmounted, so it is flushed here
    resident = drop_caches(context.host, context.layout, prepared.paths)
    return resident, time.monotonic() - begun


def _measure(context: TrialContext, prepared: PreparedWorkload, number: int) -> _TrialMeasurements:
    host, leaves, scratch = context.host, context.layout.leaves, context.layout.scratch
    seconds = {"settle": _pause(context)}
    context.listener.activity_begins("measure")
    places = counting_points(context.layout.tree, host)
    more = [CounterFile(place.host, path) for place in places for path in place.counters]
    sampler = Sampler(host, leaves, SAMPLE_S, more)
    ending, load = _ending(context, prepared)
    generator = generator_of(load)
    watch, status_s = _watch(context, prepared, number, sampler, ending, load)
    delays = RunDelays(lambda: generator.run_delays(host, scratch))
    ahead_s = _ahead_now_s(sampler, load, status_s)
    start: list[CounterReading] = []

    def begins() -> None:
        context.layout.own.check(f"measure {context.layout.name}", host, [load])
        start.append(read_now(host, leaves, more))
        watch.begins(start[0].at_s, ahead_s)
        delays.begins()

    stats = [file.path for file in sampler.files if file.host == ""]
    before = HostBefore.read(context, stats)
    with sampler, watch, delays:
        read_only = context.layout.found is not None and not prepared.workload.fill
        ran = generator.run(host, load, scratch, status_s=status_s, before=begins, read_only=read_only)
        end, host_end = read_now(host, leaves, more), read_host(host)
        around = before.surroundings(context, stats)
        ended_ahead_s = _ahead_now_s(sampler, load, status_s)
    # on a slow host, reading all this takes seconds, while the sampler continues
    samples = (*(each for each in sampler.readings if each.at_s < end.at_s), end) if sampler.readings else ()
    if watch.stuck is not None:
        raise LoadStuck(watch.stuck, generator.name)
    zfs = before.zfs_use(context)
    context.listener.activity_begins("drain to the disks")
    # Disks and commands are slow, so run them in parallel. Ctrl-C waits for them; each has a time limit.
    with ThreadPoolExecutor() as pool:
        report = pool.submit(gathered, host, load, scratch, watch if status_s else None, ending, ran)
        busy = pool.submit(busy_with, context.layout.tree, host)
        flush(host, context.layout)
        drained, host_drained = read_now(host, leaves, more), read_host(host)
        vdevs = pool.submit(vdev_uses, context.layout.tree, host)
        counters = growth(before.sources, read_sources(host))
    fio = report.result()
    seconds |= {"fio": fio.completed.elapsed_s, "drain": drained.at_s - end.at_s}
    return _TrialMeasurements(
        fio=fio,
        window=Window(start[0], end, drained),
        samples=samples,
        seconds=seconds,
        zfs=zfs,
        places=places,
        busy_with=busy,
        vdevs=vdevs,
        host=(before.host, host_end, host_drained),
        counters=counters,
        around=replace(around, others=replace(around.others, delay_share=delays.share)),
        clock_ahead_s=ended_ahead_s,
    )


def _watch(
    context: TrialContext,
    prepared: PreparedWorkload,
    number: int,
    sampler: Sampler,
    ending: Ending | None,
    load: Load,
) -> tuple[LoadWatch, float | None]:
    """Return the watcher for the load generator, and the interval between its reports in seconds.

    The interval is None if the load generator writes no reports while it runs.
    """
    layout, generator = context.layout, generator_of(load)
    key = TrialKey(layout.name, prepared.workload.name, number)
    publisher = RatePublisher(context.listener, context.run, key)
    is_long = (load.asked_s or 0.0) >= _SERIES_FROM_S
    reports = ending or publisher.is_heard() or is_long or load.ramp_s > 0  # reports show when the ramp ended
    to_decide_s = context.measure.shortest_s if ending else math.inf
    # A file system program that hangs is ended by its health check. Its mount is then gone, so the load is not retried.
    most_s = None if health_checks_of(layout.tree) else load.planned_s
    told = publisher if reports else None
    watch = LoadWatch(context.host, generator, layout.scratch, sampler, told, ending, most_s)
    return watch, status_interval_s(load, to_decide_s) if reports else None


def _ahead_now_s(sampler: Sampler, load: Load, status_s: float | None) -> float:
    """Return the number of seconds by which the wall clock is ahead of the samples' clock.

    If the load generator's timestamps are not used, return 0.
    """
    is_dated = status_s is not None or load.ramp_s > 0
    return clock_ahead_s(sampler.run_host, sampler.dating_host) if is_dated else 0.0


def _ending(context: TrialContext, prepared: PreparedWorkload) -> tuple[Ending | None, Load]:
    """Return the condition for stopping the load generator, and the load with the resulting time limit.

    If the load generator ends on its own, the condition is None.
    """
    workload, load = prepared.workload, prepared.load
    ending = ending_of(context.host, context.layout, workload, load, context.measure, workload.metric)
    return ending, generator_of(load).lasting(load, ending.most_s) if ending else load


def _pause(context: TrialContext) -> float:
    """Measure the disks' background I/O, and return the time in seconds that this took.

    The measurement before the first trial takes longer than the others.
    """
    share, longest_s = (_IDLE_SHARE, _IDLE_LONGEST_S) if context.idle.seconds else _IDLE_FIRST
    before = read_now(context.host, context.layout.leaves)
    time.sleep(min(longest_s, share * context.measure.shortest_s))
    after = read_now(context.host, context.layout.leaves)
    context.idle = context.idle.plus(before, after, len(context.layout.leaves))
    return after.at_s - before.at_s


def _result_of(fio: LoadOutput, load: Load) -> Outcome:
    """Return the load generator's last complete report. All earlier reports are interim reports.

    Raises a FioError if the report is missing, or if the load generator failed in a way that its report does not show.
    """
    generator = generator_of(load)
    results = generator.outcomes(fio.report)
    failed = not generator.ended_well(fio.completed, interrupted=fio.ended)
    if not results or (failed and not any(job.error for job in results[-1].parts)):
        printed = fio.completed.stderr.strip() or fio.completed.stdout.strip()
        output = f": {printed[-600:]}" if printed else " nothing"
        raise FioError(
            f"{generator.name} ended with exit code {fio.completed.returncode}; it printed{output}",
            f"check {generator.load_file} in the trial's directory",
        )
    return results[-1]


def _evidence(
    context: TrialContext, prepared: PreparedWorkload, measured: _TrialMeasurements, result: Outcome, resident: Resident
) -> Evidence:
    window = measured_window(
        measured.window, measured.samples, measured.fio.statuses, prepared.load, result, measured.clock_ahead_s
    )
    leaves = leaf_uses(context.layout.leaves, window, _load_s(prepared.load, result))
    moved = moved_each_way(result)
    went = {leaf.device: leaf.drained_write_bytes for leaf in leaves}
    on_leaves = replace(expected(context.layout.node, went, context.layout.below), stored_share=prepared.stored_share)
    account = byte_account(moved, leaves, on_leaves, window, context.idle) if leaves else None
    files = prepared.files
    if resident is not None:
        files = tuple(replace(file, resident_bytes=pages) for file, pages in zip(files, resident, strict=True))
    return Evidence(
        account=account,
        leaves=leaves,
        files=files,
        busy_with=measured.busy_with.result(),
        zfs=measured.zfs and replace(measured.zfs, vdevs=measured.vdevs.result()),
        levels=levels_of(moved, measured.places, window, measured.zfs),
        host=host_use(*measured.host),
        counters=measured.counters,
        others=measured.around.others,
        throttling=measured.around.throttling,
        conditions=measured.around.conditions,
    )


def _load_s(load: Load, result: Outcome) -> float | None:
    """Return the duration of the load's I/O in seconds. None if it is unknown or if some parts start late."""
    return None if any(part.starts_late for part in load.parts) else lasted_s(result)


def _save(context: TrialContext, directory: Path, measured: _TrialMeasurements, generator: LoadGenerator) -> None:
    context.run.keep_text(directory, generator.load_file, measured.fio.job_text)
    context.run.keep_text(directory, generator.report_file, measured.fio.report)
    if measured.fio.warm_up:
        context.run.keep_text(directory, "warm-up.json", measured.fio.warm_up)
    if measured.fio.statuses:
        context.run.keep_text(directory, "series.jsonl", series_text(measured.fio.statuses))
    if measured.fio.latencies:
        context.run.keep_text(directory, "latency.jsonl", latency_text(measured.fio.latencies))
    names = [leaf.name for leaf in context.layout.leaves]
    context.run.keep_samples(directory, names, measured.samples)
