"""I/Os that were in flight when a ramp ended: fio counts their bytes and latencies, but not the I/Os themselves."""

import json
from dataclasses import replace

from poolproof.evidence.model import Evidence
from poolproof.load.fio.json_output import read_json
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.measure.figures import figures_of
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, KIB, account, direction, jobs, leaf

_JOB = "rw=randread bs=4k size=512m direct=1 ioengine=libaio iodepth=128 time_based=1 runtime=3"


def _printed(options: dict[str, str]) -> Outcome:
    """Return what fio 3.33 printed for 3 s of random reads from a hard disk: 557 I/Os, but 684 latencies."""
    times = {"N": 684, "mean": 7.1e8, "min": 1e7, "max": 1.2e9}
    read = {"io_bytes": 684 * 4 * KIB, "total_ios": 557, "runtime": 3603, "iops": 154.593394, "bw_bytes": 777592,
            "clat_ns": times, "lat_ns": times, "slat_ns": {"N": 557, "mean": 2000.0}}  # fmt: skip
    job = {"jobname": "job", "groupid": 0, "error": 0, "read": read, "job_runtime": 3602, "job options": options}
    return read_json(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))


def test_ios_that_the_ramp_left_in_flight_are_counted() -> None:
    found = _printed({"rw": "randread", "bs": "4k", "iodepth": "128", "ramp_time": "1s"})
    read = found.parts[0].read
    assert read is not None and (read.ios, read.ramp_ios) == (684, 127)
    figures = figures_of(found)
    assert round(figures.iops or 0, 1) == 189.8 and round((figures.bandwidth_bytes or 0) / (figures.iops or 1)) == 4096
    other = _printed({"rw": "randread", "bs": "4k", "iodepth": "128"}).parts[0].read
    assert other is not None and (other.ios, other.ramp_ios) == (557, 0), "without a ramp, all I/Os are counted"


def test_a_note_tells_that_the_printed_iops_are_lower() -> None:
    read = direction(684 * 4 * KIB, 3.6, ramp_ios=127)
    outcome = Outcome("fio-3.33", (PartOutcome("job", read=read),))
    found = judge(Case(jobs(f"{_JOB} ramp_time=1"), outcome, None, EXT4), "iops").findings
    note = next(finding for finding in found if finding.rule == "ramp-in-window")
    assert note.effect == "notes" and "127 I/Os of 684 began during the ramp" in note.message
    few = replace(outcome, parts=(PartOutcome("job", read=replace(read, ramp_ios=8)),))
    rules = [each.rule for each in judge(Case(jobs(f"{_JOB} ramp_time=1"), few, None, EXT4), "iops").findings]
    assert "ramp-in-window" not in rules


def _exceeds_depth(ramp_ms: int, slowest_s: float) -> bool:
    """True if 374 reads that took 51.3 ms on average in 1.0 s are doubted, although 19.2 were in flight at depth 16."""
    times = Latency(samples=374, mean_ns=51.3e6, percentiles_ns={50.0: 30e6, 99.9: slowest_s * 1e9})
    read = direction(374 * 4 * KIB, 1.0, clat=times, lat=times)
    job = f"rw=randread bs=4k size=512m direct=1 ioengine=libaio iodepth=16 time_based=1 ramp_time={ramp_ms}ms"
    outcome = Outcome("fio-3.33", (PartOutcome("job", read=read),))
    found = judge(Case(jobs(job), outcome, None, EXT4), "iops").findings
    return any(finding.rule == "littles-law" and finding.effect != "notes" for finding in found)


def test_the_time_before_the_end_of_a_ramp_counts_for_the_ios_in_flight() -> None:
    assert not _exceeds_depth(500, 0.36)
    assert _exceeds_depth(500, 0.06), "no I/O took long enough"
    assert _exceeds_depth(50, 0.36), "the ramp was too short"
    assert _exceeds_depth(0, 0.36)


def test_ios_that_the_ramp_left_in_flight_need_no_requests() -> None:
    """Four clones left 124 of 625 reads in flight. The disk had completed 38 of these before the ramp ended."""
    read = direction(625 * 4 * KIB, 2.58, ramp_ios=124)
    disk = leaf(read_bytes=587 * 4 * KIB, read_ios=587)
    load = jobs(f"{_JOB} ramp_time=1".replace("runtime=3", "runtime=2"))
    outcome = Outcome("fio-3.33", (PartOutcome("job", read=read),))
    evidence = Evidence(account(read=(625 * 4 * KIB, 587 * 4 * KIB)), (disk,))
    assert judge(Case(load, outcome, evidence, EXT4), "iops").verdict == "sound"
