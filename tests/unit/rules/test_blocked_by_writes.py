"""Writes that block fio while they are submitted: it notices late which of the reads in flight have finished."""

import pytest

from poolproof.evidence.model import Evidence
from poolproof.load.outcome import Direction, Latency
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, KIB, account, direction, jobs, leaf, said


def _part(ios: int, slat_us: float, lat_us: float) -> Direction:
    slat, lat = Latency(samples=ios, mean_ns=slat_us * 1e3), Latency(samples=ios, mean_ns=lat_us * 1e3)
    clat = Latency(samples=ios, mean_ns=(lat_us - slat_us) * 1e3, percentiles_ns={50.0: 5e5})
    return direction(ios * 16 * KIB, 1.0, 16 * KIB, slat=slat, lat=lat, clat=clat)


@pytest.mark.parametrize(
    ("slat_us", "lat_us", "disk_us", "is_late"),
    [
        (520, 1280, 250, True),  # the preset `vm` on btrfs, Linux 6.18
        (200, 1280, 250, False),  # blocked for 35% of the time
        (520, 480, 250, False),  # the reads took hardly longer than at the disk
        (5, 1280, 250, False),
    ],
)
def test_reads_that_writes_made_look_slow_are_suspect(
    slat_us: float, lat_us: float, disk_us: float, is_late: bool
) -> None:
    reads, writes = _part(4073, 8, lat_us), _part(1764, slat_us, slat_us + 1080)
    moved = (4073 * 16 * KIB, 1764 * 16 * KIB)
    disk = leaf(
        read_bytes=moved[0], read_ios=4073, write_bytes=moved[1], drained_write_bytes=moved[1], write_ios=1764,
        latency_s=disk_us / 1e6,
    )  # fmt: skip
    load = jobs("rw=randrw bs=16k size=256m direct=1 ioengine=libaio iodepth=8 time_based=1 runtime=1")
    evidence = Evidence(account(read=(moved[0],) * 2, write=(moved[1],) * 3), (disk,))
    found = judge(Case(load, said(read=reads, write=writes), evidence, EXT4), "iops")
    assert (found.verdicts.get("read_p50", found.verdict) == "suspect") == is_late
    assert found.verdicts.get("iops", found.verdict) == "sound"
