"""IOPS and latencies in tables, and whether they fit the queue depth that the text gives."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_JOB = "fio --name=a --rw=randread --bs=4k --ioengine=libaio --direct=1 --filename=/mnt/f --size=8g"


def _table(header: str, row: str) -> str:
    cells = header.count("|") + 1
    return f"| {header} |\n|{'---|' * cells}\n| {row} |\n"


def _doubted(text: str) -> list[bool]:
    return [
        any(finding.rule == "littles-law" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("cell", "iops", "mean_us"),
    [
        ("15k IOPS, 64 µs", 15_000, 64.0),
        ("15,000 IOPS / 64us", 15_000, 64.0),
        ("15.2k IOPS (avg 0.064 ms)", 15_200, 64.0),
        ("15k IOPS @ 64 usec", 15_000, 64.0),
    ],
)
def test_a_cell_may_have_iops_and_a_latency(cell: str, iops: float, mean_us: float) -> None:
    (found,) = audit_text("post", _table("Test | ext4", f"randread 4k | {cell}"), Context())

    read = found.figures.directions["read"]
    assert (read.iops, read.lat and read.lat.mean_ns) == (iops, mean_us * 1000)


@pytest.mark.parametrize(
    ("header", "cells", "mean_us"),
    [
        ("Test | IOPS | Avg lat (us)", "15.6k | 64", 64.0),
        ("Test | IOPS | Latency", "15.6k | 0.5 ms", 500.0),
        ("Test | IOPS | p99 lat (us)", "15.6k | 64", None),
        ("Test | IOPS | Latency", "15.6k | 64", None),
    ],
)
def test_a_column_of_mean_latencies_is_read(header: str, cells: str, mean_us: float | None) -> None:
    (found,) = audit_text("post", _table(header, f"randread 4k | {cells}"), Context())

    latency = found.figures.directions["read"].lat
    assert (latency.mean_ns if latency else None) == (mean_us * 1000 if mean_us else None)


@pytest.mark.parametrize(
    ("name", "cell", "is_doubted"),
    [
        ("randread 4k QD32", "15k IOPS, 64 µs", True),
        ("randread 4k Q32T1", "15k IOPS, 64 µs", True),
        ("randread 4k QD32", "120k IOPS, 266 µs", False),
        ("randread 4k QD1", "15k IOPS, 64 µs", False),
        ("randrw 4k QD32", "15k IOPS, 64 µs", False),
        ("randread 4k rate-limited QD32", "15k IOPS, 64 µs", False),
        ("randread 4k", "15k IOPS, 64 µs", False),
    ],
)
def test_one_io_in_flight_does_not_fit_a_greater_depth(name: str, cell: str, *, is_doubted: bool) -> None:
    assert _doubted(_table("Test | ext4", f"{name} | {cell}")) == [is_doubted]


@pytest.mark.parametrize(
    ("above", "is_doubted"),
    [
        (f"{_JOB} --iodepth=32", True),
        (f"{_JOB} --iodepth=1", False),
        (f"{_JOB} --iodepth=32 --rate_iops=15000", False),
        (f"{_JOB} --iodepth=32\n{_JOB} --iodepth=1", False),
        ("All tests at queue depth 32:", True),
        ("All tests at queue depth 32 and queue depth 1:", False),
    ],
)
def test_the_depth_may_be_that_of_the_jobs_or_in_a_sentence(above: str, *, is_doubted: bool) -> None:
    table = _table("Test | IOPS | Avg lat (us)", "randread 4k | 15.6k | 64")

    assert _doubted(f"{above}\n\n{table}") == [is_doubted]


def test_reads_and_writes_of_a_row_are_judged_on_their_own() -> None:
    header = "Test | Read | Write"

    assert _doubted(_table(header, "4k QD32 | 120k IOPS, 266 µs | 15k IOPS, 64 µs")) == [True]
    assert _doubted(_table(header, "4k QD32 | 120k IOPS, 266 µs | 90k IOPS, 355 µs")) == [False]
