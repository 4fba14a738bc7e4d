"""The labelled cases L01 to L18, which are pitfalls and controls.

They were measured with fio 3.33 on Linux 6.18, on ext4 on a virtio disk.
"""

from dataclasses import dataclass

import pytest

from poolproof.evidence import model
from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.load.outcome import Latency, Outcome
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.rules.proof import default_metric
from poolproof.verdicts import Verdict
from tests.unit.rules.making import EXT4, GIB, KIB, MB, MIB, account, counted, direction, jobs, leaf, said

_BTRFS = Target("btrfs", ram_bytes=8 * GIB, compression="zstd:3", record_bytes=128 * KIB)
_TMPFS = Target("tmpfs", ram_bytes=8 * GIB, volatile=True)
_L02 = "rw=write bs=1m size=256m numjobs=8 filename=X end_fsync=1 group_reporting=1"
_L07 = "rw=randread bs=4k size=4g io_size=256m ioengine=psync invalidate=0 filename=X"
_L09 = "rw=randread bs=4k size=64m direct=1 iodepth=16 ioengine=libaio filename=/dev/loop0"


@dataclass(frozen=True)
class Labelled:
    """A case and its expected verdict.

    `cause`: for a pitfall, the rule whose finding must be the most serious one.
    """

    case: Case
    verdict: Verdict
    cause: str | None = None


def _reads(options: str, fio: float, disk: float, seconds: float, bs: int = 4096, target: Target = EXT4) -> Case:
    result = said(read=direction(fio, seconds, bs))
    return Case(jobs(options), result, counted(read=(fio, disk)), target)


def _writes(
    options: str, fio: float, at_end: float, drained: float, seconds: float, bs: int = MIB, target: Target = EXT4
) -> Case:
    result = said(write=direction(fio, seconds, bs))
    return Case(jobs(options), result, counted(write=(fio, at_end, drained)), target)


def _loop(below_read_bytes: int | None, cached: bool) -> Case:
    moved = 64 * MIB
    below = None if below_read_bytes is None else "vda"
    disk = leaf("loop0", read_bytes=moved, read_ios=moved // 4096, below_device=below,
                below_read_bytes=below_read_bytes, below_drained_write_bytes=None if below is None else 0)  # fmt: skip
    target = Target("ext4", ram_bytes=8 * GIB, loop_without_direct=("loop0",) if cached else ())
    return Case(jobs(_L09), said(read=direction(moved, 0.2)), Evidence(account(read=(moved, moved)), (disk,)), target)


def _l01() -> Case:
    options = "rw=randread bs=4k size=2g direct=1 ioengine=libaio iodepth=32 runtime=3 time_based=1 filename=X"
    moved, disk = 7.91e6 * KIB, 193 * MIB
    prior = model.TestFile("X", 2 * GIB, hole_bytes=0, unwritten_bytes=1990 * MIB)
    counts = counted(read=(moved, disk))
    return Case(jobs(options), said(read=direction(moved, 3.0)),
                Evidence(counts.account, counts.leaves, (prior,)), EXT4, asked_s=3.0)  # fmt: skip


def _l14() -> Case:
    options = "rw=randread bs=4k size=64m direct=1 ioengine=libaio iodepth=16 directory=/dev/shm"
    return Case(
        jobs(options), said(read=direction(293_000 * 4096, 1.0)), Evidence(account((293_000 * 4096, 0))), _TMPFS
    )


def _l15() -> Case:
    options = "rw=write bs=2300 size=22m ioengine=sync fdatasync=1 directory=/dev/shm"
    syncs = Latency(samples=10_030, percentiles_ns={50.0: 120.0, 99.0: 266.0})
    result = said(write=direction(10_030 * 2300, 0.1, 2300), sync=syncs, syncs=10_030)
    return Case(jobs(options), result, Evidence(account(write=(10_030 * 2300, 0, 0))), _TMPFS)


def _l16() -> Case:
    options = "rw=write bs=4k size=1g io_size=16m ioengine=psync direct=1 fdatasync=1 filename=X"
    disk = leaf(write_bytes=16 * MIB, drained_write_bytes=16 * MIB, write_ios=8612, flush_ios=4095)
    evidence = Evidence(account(write=(16 * MIB, 16 * MIB, 16 * MIB)), (disk,))
    syncs = Latency(samples=4096, percentiles_ns={50.0: 280_000.0})
    return Case(jobs(options), said(write=direction(16 * MIB, 2.0), sync=syncs, syncs=4096), evidence, EXT4)


def _l17(reads_on_disk: int, window_s: float) -> Case:
    options = "rw=randread bs=4k size=1g direct=1 rate_iops=2000 time_based=1 ramp_time=2 runtime=2 filename=X"
    found = account(read=(4000 * 4096, reads_on_disk * 4096), window_s=window_s)
    return Case(
        jobs(options),
        said(read=direction(4000 * 4096, 2.0)),
        Evidence(found, (leaf(read_ios=reads_on_disk),)),
        EXT4,
        asked_s=2.0,
    )


def _l18() -> Outcome:
    return said(read=direction(64 * MIB, 0.024, MIB))


_CASES = {
    "L01": Labelled(_l01(), "refuted", "unwritten-read"),
    "L02": Labelled(_writes(_L02, 2147 * MB, 362 * MB, 362 * MB, 0.3), "refuted", "shared-file-numjobs"),
    "L03": Labelled(_writes(f"{_L02} direct=1", 2147 * MB, 2147 * MB, 2147 * MB, 0.47), "sound"),
    "L04": Labelled(
        _reads("rw=read bs=1m size=1g numjobs=4 filename=X", 4295 * MB, 1074 * MB, 0.55, MIB),
        "refuted",
        "shared-file-numjobs",
    ),
    "L05": Labelled(
        _writes("rw=write bs=1m size=1g ioengine=psync", 1074 * MB, 0, 1074 * MB, 0.27), "refuted", "write-without-sync"
    ),
    "L06": Labelled(
        _writes("rw=write bs=1m size=1g ioengine=psync end_fsync=1", 1074 * MB, 1074 * MB, 1074 * MB, 0.5), "sound"
    ),
    "L07-first": Labelled(_reads(_L07, 256 * MIB, 66113 * 4096, 2.0), "sound"),
    "L07-second": Labelled(_reads(_L07, 256 * MIB, 38 * 4096, 0.1), "refuted", "repeated-offsets"),
    "L08-third": Labelled(_reads(f"{_L07} randrepeat=0", 256 * MIB, 61704 * 4096, 1.9), "sound"),
    "L08-fourth": Labelled(_reads(f"{_L07} randrepeat=0", 256 * MIB, 57995 * 4096, 1.7), "sound"),
    "L09": Labelled(_loop(0, cached=True), "refuted", "loop-cache"),
    "L09, others on the disk below": Labelled(_loop(300 * MIB, cached=True), "suspect", "loop-cache"),
    "L09, no disk below is known": Labelled(_loop(None, cached=True), "suspect", "loop-cache"),
    "L09, the first time": Labelled(_loop(64 * MIB, cached=True), "sound"),
    "L10, others on the disk below": Labelled(_loop(300 * MIB, cached=False), "sound"),
    "L10": Labelled(_loop(16384 * 4096, cached=False), "sound"),
    "L11": Labelled(
        _writes(
            "rw=write bs=4k size=256m ioengine=psync end_fsync=1", 256 * MIB, 17 * MIB, 17 * MIB, 0.4, 4096, _BTRFS
        ),
        "refuted",
        "default-buffer-compressible",
    ),
    "L12": Labelled(
        _writes(
            "rw=write bs=4k size=256m ioengine=psync end_fsync=1 refill_buffers=1",
            256 * MIB,
            256 * MIB,
            256 * MIB,
            0.3,
            4096,
            _BTRFS,
        ),
        "sound",
    ),
    "L13": Labelled(
        _reads("rw=read bs=1m size=256m filename=X", 256 * MIB, 16 * MIB, 0.12, MIB, _BTRFS),
        "refuted",
        "compressed-reads",
    ),
    "L14": Labelled(_l14(), "refuted", "volatile-target"),
    "L15": Labelled(_l15(), "refuted", "volatile-target"),
    "L16": Labelled(_l16(), "sound"),
    "L17": Labelled(_l17(4005, 2.0), "suspect", "capped-rate"),
    "L17-whole-run": Labelled(_l17(8829, 4.0), "suspect", "capped-rate"),
    "L18": Labelled(
        Case(
            jobs("rw=read bs=1m size=64m runtime=30 filename=X"),
            _l18(),
            counted(read=(64 * MIB, 67 * MB)),
            EXT4,
            asked_s=30.0,
        ),
        "failed",
        "runtime-without-time-based",
    ),
}


@pytest.mark.parametrize("label", _CASES)
def test_the_verdict_is_the_label(label: str) -> None:
    labelled = _CASES[label]
    judgement = judge(labelled.case)
    assert judgement.verdict == labelled.verdict, judgement.findings
    if labelled.cause is not None:
        assert judgement.findings[0].rule == labelled.cause, judgement.findings


def test_a_sound_verdict_has_nothing_but_notes() -> None:
    for labelled in _CASES.values():
        judgement = judge(labelled.case)
        if judgement.verdict == "sound":
            about = [finding for finding in judgement.findings if finding.is_about(default_metric(labelled.case))]
            assert {finding.effect for finding in about} <= {"notes"}


def test_the_second_run_is_also_reported_as_read_from_cache() -> None:
    assert "read-from-cache" in {finding.rule for finding in judge(_CASES["L07-second"].case).findings}


def test_without_counters_a_pitfall_is_suspect_and_a_control_unproven() -> None:
    """As in an imported result, only the job reveals the pitfall, and nothing proves the control."""
    for label, verdict in {"L02": "suspect", "L03": "unproven", "L05": "suspect", "L06": "unproven"}.items():
        case = _CASES[label].case
        assert judge(Case(case.load, case.outcome, None, case.target)).verdict == verdict, label


def test_the_message_has_the_arithmetic_and_the_fix_has_the_options() -> None:
    first = judge(_CASES["L02"].case).findings[0]
    assert all(fact in first.message for fact in ("8 jobs", "2 GiB", "345 MiB", "(17%"))
    assert "offset_increment=32m size=32m" in first.fix


def test_the_latency_at_a_rate_that_was_asked_for_is_sound() -> None:
    assert judge(_CASES["L17"].case, "p99").verdict == "sound"
