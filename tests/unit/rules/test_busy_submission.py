"""If fio's threads wait for a processor while they submit I/Os, the engine does not block."""

import pytest

from poolproof.evidence.model import CpuUse, Evidence, HostUse, OtherWork
from poolproof.load.outcome import Latency
from poolproof.rules.judge import judge
from poolproof.rules.model import Case

from .making import EXT4, KIB, account, direction, jobs, leaf, said


def _case(slat_ms: float, lat_ms: float, ios: int, delayed: float | None, steal: float, depth: int = 1) -> Case:
    """Return one second of direct writes. `delayed`: the share for which fio's threads waited for a processor."""
    moved = ios * 4 * KIB
    clat = Latency(samples=ios, mean_ns=(lat_ms - slat_ms) * 1e6, percentiles_ns={50.0: 1e5})
    write = direction(
        moved, 1.0, clat=clat, slat=Latency(mean_ns=slat_ms * 1e6), lat=Latency(samples=ios, mean_ns=lat_ms * 1e6)
    )
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=ios, write_merges=0)
    others = OtherWork(1.0, 0.5, 0, 0, None, delayed)
    host = HostUse(0, 0, 0, 0, 0, (CpuUse("cpu0", 0.5, 0.0, steal),))
    evidence = Evidence(account(write=(moved,) * 3), (disk,), others=others, host=host)
    load = jobs(f"rw=randwrite bs=4k size=64m direct=1 ioengine=libaio iodepth={depth} time_based=1 runtime=1")
    return Case(load, said(write=write), evidence, EXT4)


def _causes(case: Case) -> set[str]:
    return {each.rule for each in judge(case, "p50").findings if each.is_about("p50")}


@pytest.mark.parametrize(
    ("slat_ms", "delayed", "steal", "blocks"),
    [
        (0.8, 0.30, 0.0, False),  # one wait of 300 ms while one of 400 I/Os was submitted
        (0.8, 0.05, 0.0, True),
        (0.8, 0.0, 0.30, False),
        (0.8, None, 0.0, True),
        (5.9, 0.30, 0.0, True),  # btrfs: each submission takes as long as the write
        (0.2, 0.0, 0.0, False),
    ],
)
def test_waiting_for_a_processor_is_not_blamed_on_the_engine(
    slat_ms: float, delayed: float | None, steal: float, blocks: bool
) -> None:
    lat_ms, ios = (6.0, 160) if slat_ms > 1 else (1.0, 400)
    assert ("async-engine-blocks" in _causes(_case(slat_ms, lat_ms, ios, delayed, steal))) is blocks
    if not blocks and (delayed or steal):
        assert "other-work" in _causes(_case(slat_ms, lat_ms, ios, delayed, steal))


@pytest.mark.parametrize(("delayed", "blocks"), [(0.4, False), (0.0, True)])
def test_a_depth_of_1_is_not_concluded_from_waits_for_a_processor(delayed: float, blocks: bool) -> None:
    case = _case(0.5, 4.0, 1_000, delayed, 0.0, depth=8)
    found = [each for each in judge(case, "p50").findings if "so the depth was 1" in each.message]
    assert bool(found) is blocks
