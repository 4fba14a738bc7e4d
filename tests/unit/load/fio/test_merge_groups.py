"""The groups of a run merged into one result.

The output was captured from fio 3.33 with the null engine and rate=50m.
"""

import pytest

from poolproof.foreign.audit.model import metrics_of
from poolproof.load.fio.text import read_text
from poolproof.load.merge import direction_of, group_directions, merge_outcome
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_MIB = 1024**2
_A = """\
a: (groupid=0, jobs=1): err= 0: pid=3304: Sat Nov 21 23:44:51 2026
  read: IOPS=50, BW=50.5MiB/s (52.9MB/s)(100MiB/1981msec)
"""
_B = """\
b: (groupid={group}, jobs=1): err= 0: pid=3362: Sat Nov 21 23:44:51 2026
  read: IOPS=50, BW={bw}(50.0MiB/981msec)
"""
_SIDE_BY_SIDE = f"""\
fio-3.33
Starting 2 processes

{_A}{_B.format(group=0, bw="51.0MiB/s (53.4MB/s)")}
Run status group 0 (all jobs):
   READ: bw=75.7MiB/s (79.4MB/s), 50.5MiB/s-51.0MiB/s (52.9MB/s-53.4MB/s), io=150MiB (157MB), run=981-1981msec
"""
_ONE_AFTER_THE_OTHER = f"""\
fio-3.33
Starting 2 processes

{_A}{_B.format(group=1, bw="51.0MiB/s (53.4MB/s)")}
Run status group 0 (all jobs):
   READ: bw=50.5MiB/s (52.9MB/s), 50.5MiB/s-50.5MiB/s (52.9MB/s-52.9MB/s), io=100MiB (105MB), run=1981-1981msec

Run status group 1 (all jobs):
   READ: bw=51.0MiB/s (53.4MB/s), 51.0MiB/s-51.0MiB/s (53.4MB/s-53.4MB/s), io=50.0MiB (52.4MB), run=981-981msec
"""


def _read(text: str) -> Outcome:
    (result,) = read_text(text)
    return result


def test_totals_that_fio_printed_for_a_group_are_used() -> None:
    read = metrics_of(_read(_SIDE_BY_SIDE)).directions["read"]
    assert (read.bandwidth_bytes, read.io_bytes, read.runtime_ms) == (79.4e6, 150 * _MIB, 1981)


def test_rate_of_successive_groups_is_total_bytes_over_total_time() -> None:
    read = metrics_of(_read(_ONE_AFTER_THE_OTHER)).directions["read"]
    assert (read.io_bytes, read.runtime_ms) == (150 * _MIB, 2962)
    assert read.bandwidth_bytes == pytest.approx(150 * _MIB / 2.962)


def test_each_group_has_the_rate_that_fio_printed() -> None:
    rates = [each.bandwidth_bytes for each in group_directions(_read(_ONE_AFTER_THE_OTHER), "read") if each]
    assert rates == [52.9e6, 53.4e6]


def _job(name: str, group: int, start_ms: int | None, *, kind: str = "read") -> PartOutcome:
    values = Direction(io_bytes=100, ios=10, runtime_ms=1000, bandwidth_bytes=100.0, iops=10.0)
    job = PartOutcome(name, group=group, job_start_ms=start_ms, job_runtime_ms=1000)
    return PartOutcome(**{**vars(job), kind: values})


@pytest.mark.parametrize(("second", "rate"), [(1000, 100.0), (1010, 100.0), (3, 200.0), (None, 100.0)])
def test_rates_of_groups_are_added_only_if_they_ran_at_the_same_time(second: int | None, rate: float) -> None:
    read = direction_of(Outcome("", (_job("a", 0, 0), _job("b", 1, second))), "read")
    assert read is not None
    assert (read.bandwidth_bytes, read.io_bytes) == (rate, 200)


def test_different_directions_of_two_groups_are_not_mixed() -> None:
    together = merge_outcome(Outcome("", (_job("a", 0, None), _job("b", 1, None, kind="write"))))
    assert together.read is not None and together.write is not None
    assert (together.read.bandwidth_bytes, together.write.bandwidth_bytes) == (100.0, 100.0)


def test_rate_over_groups_without_bytes_is_unknown() -> None:
    bare = Direction(bandwidth_bytes=5e6)
    read = direction_of(Outcome("", (PartOutcome("a", read=bare), PartOutcome("b", read=bare, group=1))), "read")
    assert read is not None and read.bandwidth_bytes is None
