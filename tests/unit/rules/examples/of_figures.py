"""Examples for rules about the results that fio reports: latencies, rates and errors."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.evidence.target_facts import Target
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.model import Case
from poolproof.rules.quoted import UNQUOTED
from tests.unit.rules.examples.building import (
    MERGERFS,
    Example,
    failed_early,
    failed_with,
    latency,
    lint_of,
    read_of,
    uncounted,
    with_cpu,
)
from tests.unit.rules.making import EXT4, GIB, MIB, direction, jobs

_WRITE = "rw=write bs=1m size=4g end_fsync=1"
_RANDOM_READ = "rw=randread bs=4k size=1g direct=1"
_QUEUED = direction(8_000 * 4096, 2.0, lat=Latency(samples=8_000, mean_ns=500_000))
_DIRECT_WRITE = "rw=write bs=1m size=1g direct=1"
_HINTED = f"{_DIRECT_WRITE} write_hint=short"


def _quoted_run(options: str, seconds: float) -> Case:
    """Return the case of a run in someone else's text that read 1 GiB."""
    return replace(uncounted(options, read=direction(GIB, seconds, MIB)), quoted=UNQUOTED)


def _few_reads(seconds: float) -> Case:
    """Return the case of a run in someone else's text that read 16 blocks."""
    run = uncounted(f"{_RANDOM_READ} number_ios=16", read=direction(16 * 4096, seconds))
    return replace(run, quoted=UNQUOTED)


def _rounds(ios: int, options: str = "", bs: int = 4096) -> Case:
    """Return the case of someone else's run that read a few blocks in 9 s."""
    run = uncounted(f"{_RANDOM_READ} {options}", read=direction(ios * bs, 9.0, bs))
    return replace(run, quoted=UNQUOTED)


def _paused(factor: float, options: str = _WRITE, bs: int = MIB) -> Case:
    """Return a run that wrote 4 GiB in 20 s. The mean of fio's samples exceeds the rate by a factor."""
    samples = {"bandwidth_mean_bytes": factor * 4 * GIB / 20, "bandwidth_stddev_bytes": 2e6, "samples": 12}
    return uncounted(options, write=direction(4 * GIB, 20.0, bs, **samples))


def _stalled(longest_s: float, mean_ns: float) -> Case:
    """Return a run of 10 s in which the median write took 20 µs, and the slowest 5% took at least `longest_s`."""
    times = Latency(samples=400, mean_ns=mean_ns, percentiles_ns={50.0: 20_000.0, 95.0: longest_s * 1e9})
    return uncounted(_WRITE, write=direction(400 * MIB, 10.0, MIB, clat=times, lat=times))


def _in_ratio(*options: str) -> Case:
    """Return the case of two jobs that read as often as each other."""
    parts = tuple(PartOutcome(name, read=direction(10_000 * 4096, 10.0)) for name in "ab")
    return Case(jobs(*(f"{_RANDOM_READ} {each}" for each in options)), Outcome("fio-3.33", parts), target=EXT4)


def _mixed(write_s: float) -> Case:
    """Return the case of a mixed job at depth 1 whose reads were in flight for half of 4 s, and its writes for 2.8 s.

    `write_s`: the time after which fio stopped counting writes, whose latency is chosen to match.
    """
    read = direction(500 * 4096, 4.0, mean_ns=4e6)
    write = direction(500 * 4096, write_s, mean_ns=5.6e6 if write_s == 4.0 else 3.2e6)
    return uncounted("rw=randrw bs=4k direct=1", read=read, write=write)


def _trimmed(options: str, version: str) -> Case:
    """Return the case of a job that trims and writes, and its result from a given release of fio."""
    run = uncounted(f"rw=randtrimwrite bs=4k size=1g {options}", write=direction(10_000 * 4096, 10.0))
    return replace(run, outcome=replace(run.outcome or Outcome("", ()), version=version))


def _spun(version: str) -> Case:
    """Return the case of a job with thinktime_spin, and its result from a given release of fio."""
    run = uncounted(f"{_RANDOM_READ} thinktime=1000 thinktime_spin=500", read=direction(10_000 * 4096, 10.0))
    return replace(run, outcome=replace(run.outcome or Outcome("", ()), version=version))


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "broken-clock": (
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=0.0)),
            "suspects",
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=90_000.0)),
        ),
        Example(
            uncounted(f"{_RANDOM_READ} gtod_cpu=0", read=direction(GIB, 10.0, mean_ns=90_000.0)),
            "suspects",
            uncounted(f"{_RANDOM_READ} gtod_reduce=0", read=direction(GIB, 10.0, mean_ns=90_000.0)),
        ),
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 1.5e10)),
            "suspects",
            uncounted(_RANDOM_READ, read=direction(GIB, 1.5e7)),
        ),
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, clat=latency(9, 5e8, 6e8), lat=latency(9, 3e7, 3e7))),
            "refutes",
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, clat=latency(9, 3e7, 3.1e7), lat=latency(9, 3e7, 3e7))),
        ),
    ),
    "cpu-bound-fio": (Example(with_cpu(98.0), "notes", with_cpu(60.0)),),
    "direct-refused": (
        Example(failed_with(22, _DIRECT_WRITE), "fails", failed_with(5, _DIRECT_WRITE)),
        Example(failed_with(22, _DIRECT_WRITE, MERGERFS), "fails", failed_with(22, "rw=write bs=1m size=1g", MERGERFS)),
        Example(failed_early(_DIRECT_WRITE), "fails", failed_early(_DIRECT_WRITE, Target("block device"))),
        Example(failed_early(_DIRECT_WRITE), "fails", failed_early(_HINTED)),
    ),
    "few-samples": (
        Example(
            uncounted("rw=read bs=1m size=64m direct=1", read=direction(64 * MIB, 10.0, MIB, p50_ns=900_000.0)),
            "notes",
            uncounted("rw=read bs=1m size=4g direct=1", read=direction(4 * GIB, 10.0, MIB, p50_ns=900_000.0)),
        ),
        Example(
            lint_of("rw=randread bs=4k size=64m direct=1 percentile_list=99:99.99"),
            "notes",
            lint_of("rw=randread bs=4k size=1g direct=1 percentile_list=99:99.99"),
        ),
        Example(_rounds(16, "numjobs=8"), "suspects", _rounds(17, "numjobs=8")),
        Example(_rounds(30, "ioengine=libaio iodepth=16"), "suspects", _rounds(30, "iodepth=16")),
        Example(_rounds(2), "suspects", _rounds(2, bs=64 * MIB)),
    ),
    "latency-floor": (
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, p50_ns=1800.0)),
            "refutes",
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, p50_ns=82_000.0)),
        ),
        Example(
            uncounted("rw=randread bs=4k size=1g", read=direction(GIB, 10.0, p50_ns=1100.0)),
            "refutes",
            uncounted("rw=randread bs=4k size=1g", read=direction(GIB, 10.0, p50_ns=70_000.0)),
        ),
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=2500.0)),
            "refutes",
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=3500.0)),
        ),
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=2500.0, slat=None, lat=None)),
            "refutes",
            uncounted(
                f"{_RANDOM_READ} ioengine=libaio iodepth=4",
                read=direction(GIB, 10.0, mean_ns=2500.0, slat=None, lat=None),
            ),
        ),
        Example(
            read_of("rw=read bs=4k size=1g", GIB, GIB, p50_ns=1000.0),
            "notes",
            read_of("rw=read bs=4k size=1g", GIB, GIB, p50_ns=1000.0, cold=False),
        ),
        Example(
            uncounted("rw=write bs=4k size=1g fdatasync=1", write=direction(GIB, 10.0), sync=latency(10_000, 266.0)),
            "refutes",
            uncounted(
                "rw=write bs=4k size=1g fdatasync=1 direct=1", write=direction(GIB, 10.0), sync=latency(10_000, 266.0)
            ),
        ),
    ),
    "littles-law": (
        Example(
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=4 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=2_500_000.0),
            ),
            "refutes",
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=$DEPTH ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=2_500_000.0),
            ),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=4 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=2_500_000.0),
            ),
            "refutes",
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=16 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=2_500_000.0),
            ),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=32 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=1_000_000.0),
            ),
            "notes",
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=32 ioengine=libaio thinktime=1ms",
                read=direction(40_000 * 4096, 10.0, mean_ns=1_000_000.0),
            ),
        ),
        Example(
            uncounted(
                "rw=randrw bs=4k direct=1 iodepth=16 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=3_000_000.0),
                write=direction(40_000 * 4096, 10.0, mean_ns=3_000_000.0),
            ),
            "refutes",
            uncounted(
                "rw=randwrite bs=4k direct=1 iodepth=16 ioengine=libaio verify=crc32c",
                read=direction(40_000 * 4096, 10.0, mean_ns=3_000_000.0),
                write=direction(40_000 * 4096, 10.0, mean_ns=3_000_000.0),
            ),
        ),
        Example(_mixed(write_s=4.0), "refutes", _mixed(write_s=1.8)),
    ),
    "rate-not-reached": (
        Example(
            uncounted("rw=randread bs=4k rate_iops=8000 direct=1", read=direction(40_000 * 4096, 10.0)),
            "notes",
            uncounted("rw=randread bs=4k rate_iops=4000 direct=1", read=direction(40_000 * 4096, 10.0)),
        ),
        Example(
            lint_of("rw=randread bs=4k rate_iops=8000 rate_process=poisson"),
            "notes",
            lint_of("rw=randread bs=4k rate_iops=8000"),
        ),
    ),
    "unstable": (
        Example(
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=1.5e8, samples=40),
            ),
            "suspects",
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=1.5e8, samples=4),
            ),
        ),
        Example(
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=4e7, samples=40),
            ),
            "notes",
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=1e7, samples=40),
            ),
        ),
        Example(_paused(4.0), "suspects", _paused(1.8)),
        Example(_paused(4.0), "suspects", _paused(4.0, bs=64 * MIB)),
        Example(_paused(4.0), "suspects", _paused(4.0, f"{_WRITE} thinktime=900ms thinktime_blocks=400")),
        Example(_stalled(2.6, 3e6), "suspects", _stalled(2.4, 3e6)),
        Example(_stalled(2.6, 3e6), "suspects", _stalled(2.6, 1.9e6)),
    ),
    "figures-disagree": (
        Example(
            uncounted("rw=read bs=1m", read=direction(800 * GIB, 33.516, MIB, bandwidth_bytes=200 * MIB)),
            "suspects",
            uncounted("rw=read bs=1m", read=direction(800 * GIB, 33.516, MIB, bandwidth_bytes=23.9 * GIB)),
        ),
    ),
    "capped-rate": (
        Example(
            uncounted(f"{_RANDOM_READ} rate_iops=4000", read=direction(40_000 * 4096, 10.0)),
            "suspects",
            uncounted(f"{_RANDOM_READ} rate_iops=4000", read=direction(20_000 * 4096, 10.0)),
        ),
        Example(
            uncounted("rw=randwrite bs=4k size=1g rate=1g,8m", write=direction(8 * MIB * 10, 10.0)),
            "suspects",
            uncounted("rw=randwrite bs=4k size=1g rate=8m,1g", write=direction(8 * MIB * 10, 10.0)),
        ),
        Example(
            uncounted(f"{_RANDOM_READ} rate=8m,", read=direction(8 * MIB * 10, 10.0)),
            "suspects",
            uncounted(f"{_RANDOM_READ} rate=,8m", read=direction(8 * MIB * 10, 10.0)),
        ),
        Example(  # 10,000 pauses of 900 µs in 10 s
            uncounted(f"{_RANDOM_READ} thinktime=900", read=direction(10_000 * 4096, 10.0)),
            "suspects",
            uncounted(f"{_RANDOM_READ} thinktime=900 thinktime_blocks=100", read=direction(10_000 * 4096, 10.0)),
        ),
        Example(
            uncounted(f"{_RANDOM_READ} thinktime=1s thinktime_iotime=4", read=direction(10_000 * 4096, 10.0)),
            "suspects",
            uncounted(f"{_RANDOM_READ} thinktime=100ms thinktime_iotime=4", read=direction(10_000 * 4096, 10.0)),
        ),
    ),
    "thinktime-depth": (
        Example(
            lint_of(f"{_RANDOM_READ} ioengine=libaio iodepth=16 thinktime=2000"),
            "suspects",
            lint_of(f"{_RANDOM_READ} ioengine=libaio iodepth=16 thinktime=2000 thinktime_blocks=16"),
        ),
        Example(
            read_of(f"{_RANDOM_READ} ioengine=libaio iodepth=16 thinktime=2000", GIB, GIB),
            "suspects",
            read_of(f"{_RANDOM_READ} ioengine=libaio iodepth=1 thinktime=2000", GIB, GIB),
        ),
    ),
    "chosen-depth": (
        Example(
            uncounted(f"{_RANDOM_READ} ioengine=libaio iodepth=64 latency_target=500us", read=_QUEUED),
            "notes",
            uncounted(f"{_RANDOM_READ} ioengine=libaio iodepth=64 latency_target=0", read=_QUEUED),
        ),
    ),
    "flow-ratio": (
        Example(_in_ratio("flow=8", "flow=1"), "suspects", _in_ratio("flow=8", "flow=0")),
        Example(_in_ratio("flow=8", "flow=1"), "suspects", _in_ratio("flow=8 flow_id=1", "flow=1 flow_id=2")),
        Example(lint_of(f"{_RANDOM_READ} flow=1 numjobs=2"), "notes", lint_of(f"{_RANDOM_READ} flow=1 numjobs=1")),
    ),
    "thinktime-spin": (
        Example(
            lint_of(f"{_RANDOM_READ} thinktime=1000 thinktime_spin=500"),
            "notes",
            lint_of(f"{_RANDOM_READ} thinktime=1000 thinktime_spin=0"),
        ),
        Example(_spun("fio-3.35"), "notes", _spun("fio-3.36")),
    ),
    "trim-not-direct": (
        Example(lint_of("rw=trimwrite size=1g direct=1"), "notes", lint_of("rw=trimwrite size=1g")),
        Example(_trimmed("direct=1", "fio-3.33"), "suspects", _trimmed("direct=1", "fio-3.34")),
        Example(_trimmed("sync=dsync", "fio-3.33"), "suspects", _trimmed("sync=dsync", "fio-3.34")),
        Example(_trimmed("fdatasync=1", "fio-3.37"), "suspects", _trimmed("fdatasync=1", "fio-3.38")),
    ),
    "write-hint": (
        Example(lint_of(_HINTED), "notes", lint_of(_DIRECT_WRITE)),
        Example(failed_early(_HINTED), "fails", failed_early(_DIRECT_WRITE)),
        Example(failed_early(_HINTED), "fails", failed_early(_HINTED, replace(EXT4, kernel=(5, 17)))),
        Example(failed_early(_HINTED), "fails", failed_early(_HINTED, version="fio-3.37")),
        Example(failed_early(_HINTED), "fails", failed_with(22, _HINTED)),  # an I/O failed
    ),
    "work-done": (
        Example(
            uncounted("rw=randread bs=4k size=64m number_ios=1000", read=direction(4 * MIB, 0.07)),
            "suspects",
            uncounted("rw=randread bs=4k size=64m number_ios=1000000", read=direction(4000 * MIB, 7.0)),
        ),
        Example(
            read_of("rw=randread bs=4k size=64m exitall=1", 4 * MIB, 4 * MIB, seconds=0.15),
            "suspects",
            read_of("rw=randread bs=4k size=64m exitall=1", 4 * MIB, 4 * MIB, seconds=1.5),
        ),
        Example(
            uncounted("rw=read bs=1m size=4m", read=direction(4 * MIB, 0.012, MIB)),
            "suspects",
            uncounted("rw=read bs=1m size=256m", read=direction(256 * MIB, 2.0, MIB)),
        ),
        Example(failed_with(5), "fails", failed_with(0)),
        Example(
            uncounted("rw=read bs=1m size=1g", read=direction(0, 10.0, MIB)),
            "fails",
            uncounted("rw=read bs=1m size=1g", read=direction(GIB, 10.0, MIB)),
        ),
        Example(
            uncounted("rw=read bs=1m size=1g runtime=10 time_based=1", read=direction(GIB, 6.0, MIB)),
            "fails",
            uncounted("rw=read bs=1m size=1g runtime=10 time_based=1", read=direction(GIB, 10.0, MIB)),
        ),
        Example(
            _quoted_run("rw=read bs=1m size=1g", 0.04),
            "suspects",
            _quoted_run("rw=read bs=1m size=1g", 1.4),
        ),
        Example(_few_reads(0.9), "suspects", _few_reads(1.1)),
        Example(
            _quoted_run("rw=read bs=1m size=1g runtime=300 time_based=1", 40.0),
            "fails",
            _quoted_run("rw=read bs=1m size=1g runtime=40 time_based=1", 40.0),
        ),
        Example(
            _quoted_run("rw=read bs=1m size=1g runtime=300 time_based=1", 90.0),
            "notes",
            _quoted_run("rw=read bs=1m size=1g runtime=90 time_based=1", 90.0),
        ),
        Example(
            uncounted("rw=read bs=1m size=2g", read=direction(GIB, 10.0, MIB)),
            "suspects",
            uncounted("rw=read bs=1m size=2g io_size=1g", read=direction(GIB, 10.0, MIB)),
        ),
    ),
}
