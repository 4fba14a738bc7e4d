"""Reads that only verify what was written are not part of a result."""

import pytest

from poolproof.load.asked import asked_of
from poolproof.load.outcome import Direction, Outcome, PartOutcome
from poolproof.measure.figures import figures_of, moved_each_way
from tests.unit.rules.making import jobs


def _outcome(name: str = "job") -> Outcome:
    reads, writes = (
        Direction(io_bytes=4096 * ios, ios=ios, runtime_ms=1000, iops=ios, bandwidth_bytes=4096 * ios)
        for ios in (26_300, 22_200)
    )
    return Outcome("fio-3.33", (PartOutcome(name, read=reads, write=writes),))


@pytest.mark.parametrize(
    ("options", "ios"),
    [
        ("rw=randwrite bs=4k size=32m verify=crc32c", (0, 22_200)),
        ("rw=write bs=4k size=32m verify=md5 numjobs=2", (0, 22_200)),
        ("rw=randwrite bs=4k size=32m verify=crc32c verify_only=1", (26_300, 0)),
        ("rw=randrw bs=4k size=32m verify=crc32c", (26_300, 22_200)),
        ("rw=randrw bs=4k size=32m", (26_300, 22_200)),
    ],
)
def test_only_what_was_asked_for_counts(options: str, ios: tuple[int, int]) -> None:
    found = asked_of(jobs(options), _outcome())
    assert moved_each_way(found) == (4096 * ios[0], 4096 * ios[1])
    assert figures_of(found).iops == sum(ios)


def test_each_section_is_asked_for_something_else() -> None:
    load = jobs("rw=randwrite verify=crc32c", "rw=randread")
    found = asked_of(load, Outcome("fio", (*_outcome("a").parts, *_outcome("b").parts)))
    assert [part.read is None for part in found.parts] == [True, False]
