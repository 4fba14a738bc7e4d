"""One trial: cool, settle, run fio between two readings of every counter, drain, judge, write down."""

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from poolproof.campaign.model import Workload
from poolproof.errors import FioError, PoolproofError
from poolproof.evidence.account import Window, byte_account, leaf_uses
from poolproof.evidence.host_use import HostReading, host_use, read_host
from poolproof.evidence.levels import CountingPoint, levels_of
from poolproof.evidence.model import Evidence, VdevUse, ZfsFacts, ZfsUse
from poolproof.evidence.sampler import CounterReading, Sampler, counter_paths, read_now, reading_at
from poolproof.evidence.zfs import read_zfs, use_between
from poolproof.hosts.base import HostUnreachable
from poolproof.layers.counted import places_of
from poolproof.layers.open_layout import busy_with, vdev_uses
from poolproof.load.generator import LoadGenerator
from poolproof.load.generators import generator_of
from poolproof.load.model import Load
from poolproof.load.outcome import Outcome
from poolproof.measure.drop_caches import drop_caches, flush
from poolproof.measure.ending import Ending, ending_of, status_interval_s
from poolproof.measure.figures import moved_each_way
from poolproof.measure.health_check import health_checks_of
from poolproof.measure.latencies import latency_text
from poolproof.measure.live import FioWatch, RatePublisher
from poolproof.measure.model import PreparedWorkload, TrialContext
from poolproof.measure.series import series_text
from poolproof.measure.stuck import FioStuck
from poolproof.measure.window import FioRun, gathered, window_of
from poolproof.results.runs.live import LiveNotes
from poolproof.results.runs.model import Trial
from poolproof.results.runs.trial_evidence import trial_evidence
from poolproof.rules.judge import judge
from poolproof.rules.model import Case, Finding

SAMPLE_S = 0.1
"""Seconds between two samples of the counters during a trial."""

_SERIES_FROM_S = 1.0
_IDLE_SHARE = 0.02
_IDLE_LONGEST_S = 0.25
_IDLE_FIRST = (0.1, 1.05)


@dataclass(frozen=True)
class _Measured:
    """What came out of the window: fio's run, the counters at its bounds, all samples between, seconds of each part.

    `zfs`: what ZFS's own counters moved by, fio's ramp among it. `places`: where else bytes were counted. `busy_with`:
    what the layers did by themselves right after fio; `vdevs`: what lay where after the drain. Both may have failed.
    `host`: memory and processors before fio, after it, and after the drain.
    """

    fio: FioRun
    window: Window
    samples: Sequence[CounterReading]
    seconds: Mapping[str, float]
    zfs: ZfsUse | None
    places: Sequence[CountingPoint]
    busy_with: Future[tuple[str, ...]]
    vdevs: Future[tuple[VdevUse, ...]]
    host: tuple[HostReading, HostReading, HostReading]


def run_trial(bench: TrialContext, prepared: PreparedWorkload, number: int) -> Trial:
    """Run one trial to a verdict. Whatever goes wrong with it makes it `failed`; only Ctrl-C comes through, and:

    Raises:
        HostUnreachable: the link to the host broke; the trial is written down as `failed`.
    """
    trial, broken = _attempt(bench, prepared, number)
    bench.run.append(trial)
    LiveNotes(bench.run).clear()
    bench.listener.trial_ends(trial)
    if broken is not None:
        raise broken
    return trial


def _attempt(bench: TrialContext, prepared: PreparedWorkload, number: int) -> tuple[Trial, HostUnreachable | None]:
    workload = prepared.workload
    begun = _now()
    LiveNotes(bench.run).clear()  # of a run that was killed
    bench.listener.trial_begins(bench.layout.name, workload.name, number)
    directory = bench.run.trial_directory(bench.layout.name, workload.name, number)
    broken = None
    try:
        with bench.run.together():
            trial = _in_two_tries(bench, prepared, number, directory)
    except PoolproofError as error:
        trial = failed_trial(bench.layout.name, workload, number, error)
        broken = error if isinstance(error, HostUnreachable) else None
    return replace(trial, begun_at=begun), broken


def failed_trial(layout: str, workload: Workload, number: int, error: PoolproofError) -> Trial:
    """A trial that could not be made, with the reason as its finding; it begins when that is known."""
    finding = Finding("work-done", "fails", error.message, error.hint or "see the message; then run the campaign again")
    return Trial(layout, workload.name, number, "failed", (finding,), workload.metric, begun_at=_now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _in_two_tries(bench: TrialContext, prepared: PreparedWorkload, number: int, directory: Path) -> Trial:
    """The second where fio hung in the first, which the trial then says."""
    try:
        return _measure_and_judge(bench, prepared, number, directory)
    except FioStuck as stuck:
        trial = _measure_and_judge(bench, prepared, number, directory)
        return replace(trial, findings=(*trial.findings, stuck.note))


def _measure_and_judge(bench: TrialContext, prepared: PreparedWorkload, number: int, directory: Path) -> Trial:
    workload = prepared.workload
    cold = bench.measure.is_cold(workload, reads=prepared.load.reads)
    resident, cool_s = _timed_cool(bench, prepared, cold)
    measured = _measure(bench, prepared, number)
    _keep(bench, directory, measured, generator_of(prepared.load))
    result = _result_of(measured.fio, prepared.load)
    evidence = _evidence(bench, prepared, measured, result, resident)
    figures, settling = window_of(measured.fio, result, workload.metric, generator_of(prepared.load))
    case = Case(
        load=prepared.load,
        outcome=result,
        evidence=evidence,
        target=bench.layout.target,
        cold=cold,
        asked_s=measured.fio.ran_s if measured.fio.ended else measured.fio.most_s or prepared.load.asked_s,
    )
    judgement = judge(case)
    bench.run.keep(directory, "evidence.json", trial_evidence(case))
    return Trial(
        layout=bench.layout.name,
        workload=workload.name,
        number=number,
        verdict=judgement.verdict,
        findings=judgement.findings,
        metric=workload.metric,
        figures=figures,
        account=evidence.account,
        leaves=evidence.leaves,
        stored_bytes=prepared.stored_bytes,
        seconds={"cool": cool_s, **measured.seconds},
        settling=settling,
    )


def _timed_cool(bench: TrialContext, prepared: PreparedWorkload, cold: bool) -> tuple[tuple[int, ...] | None, float]:
    begun = time.monotonic()
    if not cold:
        flush(bench.host, bench.layout)
        return None, time.monotonic() - begun
    bench.listener.step("cool the caches")
    if bench.layout.found is not None or not bench.layout.tree.close:
        flush(bench.host, bench.layout)  # else closing writes out all that is there; a directory only drops its pages
    resident = drop_caches(bench.host, bench.layout, prepared.paths)
    return resident, time.monotonic() - begun


def _measure(bench: TrialContext, prepared: PreparedWorkload, number: int) -> _Measured:
    host, leaves, scratch = bench.host, bench.layout.leaves, bench.layout.scratch
    seconds = {"settle": _pause(bench)}
    bench.listener.step("measure")
    places = places_of(bench.layout.tree, host)
    more = [path for place in places for path in place.counters]
    sampler = Sampler(host, leaves, SAMPLE_S, more)
    start: list[CounterReading] = []
    ending, load = _ending(bench, prepared)
    generator = generator_of(load)
    teller = RatePublisher(bench.listener, bench.run, (bench.layout.name, prepared.workload.name, number))
    reports = ending or teller.is_heard() or (load.asked_s or 0.0) >= _SERIES_FROM_S
    to_decide_s = bench.measure.shortest_s if ending else math.inf
    status_s = status_interval_s(load, to_decide_s) if reports else None
    # A program that hangs below fio is ended by its pulse, and its mount is gone then: no second try beneath it.
    most_s = None if health_checks_of(bench.layout.tree) else load.planned_s
    watch = FioWatch(host, generator, scratch, sampler, teller if reports else None, ending, most_s)

    def begins() -> None:
        start.append(read_now(host, leaves, more))
        watch.begins(start[0].at_s)

    beneath = bench.layout.target.zfs or ZfsFacts()
    zfs_start, host_start = read_zfs(host, beneath.pools, beneath.objsets), read_host(host)
    with sampler, watch:
        as_found = bench.layout.found is not None and not prepared.workload.fill
        ran = generator.run(host, load, scratch, status_s=status_s, before=begins, read_only=as_found)
        end, host_end = read_now(host, leaves, more), read_host(host)
    if watch.stuck is not None:
        raise FioStuck(watch.stuck)
    zfs = use_between(zfs_start, read_zfs(host, beneath.pools, beneath.objsets))
    bench.listener.step("drain to the disks")
    # The disks are slow, and the programs that ask are too. A Ctrl-C waits for them, each has its limit.
    with ThreadPoolExecutor() as aside:
        report = aside.submit(gathered, host, load, scratch, watch if status_s else None, ending, ran)
        busy = aside.submit(busy_with, bench.layout.tree, host)
        flush(host, bench.layout)
        drained, host_drained = read_now(host, leaves, more), read_host(host)
        vdevs = aside.submit(vdev_uses, bench.layout.tree, host)
    fio = report.result()
    seconds |= {"fio": fio.completed.elapsed_s, "drain": drained.at_s - end.at_s}
    window = Window(start[0], end, drained)
    readings = (host_start, host_end, host_drained)
    return _Measured(fio, window, tuple(sampler.readings), seconds, zfs, places, busy, vdevs, readings)


def _ending(bench: TrialContext, prepared: PreparedWorkload) -> tuple[Ending | None, Load]:
    """When fio is to be ended, None where nobody does; and the jobs, with as much time as they may take."""
    workload, load = prepared.workload, prepared.load
    ending = ending_of(bench.host, bench.layout, workload, load, bench.measure, workload.metric)
    return ending, generator_of(load).lasting(load, ending.most_s) if ending else load


def _pause(bench: TrialContext) -> float:
    """Measure the disks' background I/O for a moment, longer before the first trial; return the seconds."""
    share, longest_s = (_IDLE_SHARE, _IDLE_LONGEST_S) if bench.idle.seconds else _IDLE_FIRST
    before = read_now(bench.host, bench.layout.leaves)
    time.sleep(min(longest_s, share * bench.measure.shortest_s))
    after = read_now(bench.host, bench.layout.leaves)
    bench.idle = bench.idle.plus(before, after, len(bench.layout.leaves))
    return after.at_s - before.at_s


def _result_of(fio: FioRun, load: Load) -> Outcome:
    """fio's last whole report; earlier ones are its status while it ran.

    Raises:
        FioError: it wrote none, or it complained of something that its report does not show.
    """
    generator = generator_of(load)
    results = generator.outcomes(fio.report)
    failed = not generator.ended_well(fio.completed, interrupted=fio.ended)
    if not results or (failed and not any(job.error for job in results[-1].parts)):
        said = (fio.completed.stderr.strip() or fio.completed.stdout.strip() or "nothing")[-600:]
        raise FioError(
            f"{generator.name} ended with {fio.completed.returncode}; it said: {said}",
            f"see {generator.load_file} beside its report",
        )
    return results[-1]


def _evidence(
    bench: TrialContext,
    prepared: PreparedWorkload,
    measured: _Measured,
    result: Outcome,
    resident: tuple[int, ...] | None,
) -> Evidence:
    window = _without_ramp(measured, prepared.load, result)
    leaves = leaf_uses(bench.layout.leaves, window)
    moved = moved_each_way(result)
    account = byte_account(moved, leaves, prepared.write_factor, window, bench.idle) if leaves else None
    files = prepared.files
    if resident is not None:
        files = tuple(replace(file, resident_bytes=pages) for file, pages in zip(files, resident, strict=True))
    paths = counter_paths(bench.layout.leaves, [path for place in measured.places for path in place.counters])
    return Evidence(
        account=account,
        leaves=leaves,
        files=files,
        busy_with=measured.busy_with.result(),
        zfs=measured.zfs and replace(measured.zfs, vdevs=measured.vdevs.result()),
        levels=levels_of(moved, measured.places, paths, window, measured.zfs),
        host=host_use(*measured.host),
    )


def _without_ramp(measured: _Measured, load: Load, result: Outcome) -> Window:
    """The window that fio's figures cover: it counts nothing of its ramp, the disks do.

    The window starts as long before fio's last word as its longest job ran; the counters of that moment lie between
    two samples.
    """
    if load.ramp_s == 0 or result.timestamp_ms is None or not measured.samples:
        return measured.window
    ran_ms = max((job.job_runtime_ms or 0 for job in result.parts), default=0)
    starts_at = (result.timestamp_ms - ran_ms) / 1000
    return replace(measured.window, start=reading_at(measured.samples, starts_at))


def _keep(bench: TrialContext, directory: Path, measured: _Measured, generator: LoadGenerator) -> None:
    """Write down what was seen: the job, fio's whole report, the samples."""
    bench.run.keep_text(directory, generator.load_file, measured.fio.job_text)
    bench.run.keep_text(directory, generator.report_file, measured.fio.report)
    if measured.fio.warm_up:
        bench.run.keep_text(directory, "warm-up.json", measured.fio.warm_up)
    if measured.fio.statuses:
        bench.run.keep_text(directory, "series.jsonl", series_text(measured.fio.statuses))
    if measured.fio.latencies:
        bench.run.keep_text(directory, "latency.jsonl", latency_text(measured.fio.latencies))
    names = [leaf.name for leaf in bench.layout.leaves]
    bench.run.keep_samples(directory, names, measured.samples)
