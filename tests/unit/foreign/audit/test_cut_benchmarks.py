"""Output of rados bench and of sysbench that was cut off before or inside its summary."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_MIB = 1024**2
_RADOS = """\
$ rados bench -p kv 12 {order}
Maintaining 16 concurrent writes of {block} bytes to objects of size {block} for up to 12 seconds or 0 objects
   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
     0       0         0         0         0         0           -           0
     1      16        17         1   3.99787         4    0.380792    0.380792
     2      16        46        30   59.9912       116     1.73480     1.46316
     3      16        46        30   39.9941         0           -     1.46316
     4      16        77        6
"""
_SUMMARY = """\
Total time run:         10.0000
Total writes made:      6400
Write size:             4096
Object size:            4096
Bandwi
"""
_SYSBENCH = """\
$ sysbench fileio --file-test-mode=rndwr --file-extra-flags=direct --threads=4 --report-interval=10 run
Block size 16KiB
Doing random write test
Threads started!

[ 10s ] reads: 0.00 MiB/s writes: 8.00 MiB/s fsyncs: 530.31/s latency (ms,95%): 0.099
[ 20s ] reads: 0.00 MiB/s writes: 6.00 MiB/s fsyncs: 510.02/s latency (ms,95%): 0.122
"""
_END = """
File operations:
    writes/s:                     448.00

Throughput:
    written, MiB/s:               7.25

General statistics:
    total time:                          30.0002s
"""


@pytest.mark.parametrize(("order", "direction"), [("write", "write"), ("seq", "read"), ("rand", "read")])
def test_the_last_complete_second_of_rados_is_the_result(order: str, direction: str) -> None:
    (found,) = audit_text("post", _RADOS.format(order=order, block=4 << 20), Context())
    figures = found.figures.directions[direction]
    assert figures.bandwidth_bytes == pytest.approx(39.9941 * _MIB)
    assert figures.iops == pytest.approx(10)
    assert (found.line, found.last_line, found.verdict) == (3, 7, "unproven")


def test_a_summary_of_rados_without_its_rate_still_has_the_number_of_writes() -> None:
    (found,) = audit_text("post", _RADOS.format(order="write", block=4096) + _SUMMARY, Context())
    figures = found.figures.directions["write"]
    assert figures.bandwidth_bytes == pytest.approx(640 * 4096)
    assert figures.iops == pytest.approx(640)


def test_seconds_of_rados_without_a_direction_are_no_result() -> None:
    assert not audit_text("post", "\n".join(_RADOS.format(order="", block=4096).splitlines()[2:]), Context())


def test_the_lines_of_sysbench_are_a_result_only_without_its_summary() -> None:
    (cut,) = audit_text("post", _SYSBENCH, Context())
    (whole,) = audit_text("post", _SYSBENCH + _END, Context())
    assert cut.figures.directions["write"].bandwidth_bytes == pytest.approx(7 * _MIB)
    assert list(cut.figures.directions) == ["write"]
    assert whole.figures.directions["write"].bandwidth_bytes == pytest.approx(7.25 * _MIB)


def test_seconds_of_rados_with_the_time_of_day() -> None:
    lines = _RADOS.format(order="write", block=4 << 20).splitlines()
    text = "\n".join([*lines[:2], *(f"2020-01-30T18:55:05.270604-0700 {line}" for line in lines[2:])])
    (found,) = audit_text("post", text, Context())
    assert found.figures.directions["write"].iops == pytest.approx(10)
