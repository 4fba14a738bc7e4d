"""Lists whose lines name a test and its rate or IOPS, without the form of a table or of fio's output."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_MB = 1e6
_MIB = 1024.0**2


def _found(text: str) -> list[tuple[str, str, float | None, float | None]]:
    return [
        (each.job, kind, figures.iops, figures.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for kind, figures in each.figures.directions.items()
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "fio:\nSequential read: 3500 MB/s\nSequential write: 3000 MB/s\n",
            [("Sequential read", "read", None, 3500 * _MB), ("Sequential write", "write", None, 3000 * _MB)],
        ),
        (
            "I ran fio:\nSequential read: 550 MB/s\nRandom write 4k: 8.5k IOPS\n",
            [("Sequential read", "read", None, 550 * _MB), ("Random write 4k", "write", 8500.0, None)],
        ),
        (
            'I\'ve tested with "KDiskMark":\nSEQ1M Q8T1\n6.18 -> Read 6900MB/s, write 900MB/s\n',
            [("6.18 read", "read", None, 6900 * _MB), ("6.18 write", "write", None, 900 * _MB)],
        ),
        (
            "dd results:\n- SSD: read 520 MB/s, write 430MB/s\n",
            [("SSD read", "read", None, 520 * _MB), ("SSD write", "write", None, 430 * _MB)],
        ),
        (
            "fio, 4K random write testing result:\nnumjobs 1, qdepth 64, IOPS 9.4k, ava latency   6792.05us\n"
            "numjobs 4, qdepth 1,  IOPS 30.4k, ava latency   125.47us\n",
            [
                ("numjobs 1, qdepth 64 write", "write", 9400.0, None),
                ("numjobs 4, qdepth 1 write", "write", 30_400.0, None),
            ],
        ),
        (
            "fio:\n- 4k Random (iodepth 64):\n  - ~20 MB/s read (~5k IOPS, 0.02 GB/s), ~9.2 MB/s write (~2.3k IOPS)\n",
            [
                ("4k Random (iodepth 64) read", "read", 5000.0, 20 * _MB),
                ("4k Random (iodepth 64) write", "write", 2300.0, 9.2 * _MB),
            ],
        ),
        (
            "Results:\n* **Random read**: 12,345 IOPS (48.2 MB/s)\n* **Random write**: 2,345 IOPS (9.2 MB/s)\n",
            [("Random read", "read", 12_345.0, 48.2 * _MIB), ("Random write", "write", 2345.0, 9.2 * _MIB)],
        ),
        (
            "fio on both, in MiB:\nrandread 4k: 45000 IOPS / 176 MB/s\nrandwrite 4k: 35000 IOPS / 137 MB/s\n",
            [("randread 4k", "read", 45_000.0, 176 * _MIB), ("randwrite 4k", "write", 35_000.0, 137 * _MIB)],
        ),
        (
            "fio on both:\nrandread qd32: 43000 IOPS / 176 MB/s\nrandwrite qd32: 35000 IOPS / 143 MB/s\n",
            [("randread qd32", "read", 43_000.0, 176 * _MB), ("randwrite qd32", "write", 35_000.0, 143 * _MB)],
        ),
    ],
    ids=[
        "round rates below a heading",
        "labels",
        "arrow",
        "both in a line",
        "direction above",
        "test above",
        "bold",
        "unit that fits",
        "both metrics",
    ],
)
def test_lists_of_rates_are_read(text: str, found: list[tuple[str, str, float | None, float | None]]) -> None:
    assert [each[:3] for each in _found(text)] == [each[:3] for each in found]
    for (*_, rate), (*_, wanted) in zip(_found(text), found, strict=True):
        assert rate == (None if wanted is None else pytest.approx(wanted))


@pytest.mark.parametrize(
    "text",
    [
        "The drive is specified as:\nSequential read: 3500 MB/s\nSequential write: 3000 MB/s\nI ran fio.\n",
        "Sequential read: 3500 MB/s\nSequential write: 3000 MB/s\n\nI ran fio.\n",
        "Results.\nRead speed limit: 100 MB/s\nWrite speed limit: 50 MB/s\n",
        "Sequential read: 3500 MB/s\nSequential write: 3000 MB/s\n",
        "With fio I should get 19.4k IOPS for 4k randwrite and 550 MB/s sequential reads.\n",
        "fio should give at least:\nSequential read: 3500 MB/s\nSequential write: 3000 MB/s\n",
        "fio:\nSequential read: 3500 MB/s\n",
        "fio:\nfirst: 3500 MB/s\nsecond: 3000 MB/s\n",
        "fio:\nread: 3500 MB/s 3100 MB/s\nwrite: 3000 MB/s 2900 MB/s\n",
        "fio:\nnetwork read: 110 MB/s\nnetwork write: 112 MB/s\n",
        "Memory Performance Test\n1 Thread - Read Test :     11902.19 MB/s\n1 Thread - Write Test:   9429.07 MB/s\n",
        "benchmark\nOur tool   Disk Read     55.40 MB/s\nOur tool   Disk Write    20.4 MB/s\n",
        "Test writers\nTotal throughput = 1333031.88 kB/sec\nAvg throughput per process = 333257.97 kB/sec\n",
    ],
    ids=[
        "specification",
        "round rates",
        "limits",
        "no benchmark",
        "sentence",
        "expectation",
        "one line",
        "no direction",
        "two of a kind",
        "network",
        "memory",
        "table",
        "sums",
    ],
)
def test_limits_specifications_and_sentences_are_not_such_lists(text: str) -> None:
    assert _found(text) == []


def test_a_list_may_say_what_its_target_is() -> None:
    text = "fio on a RAM disk:\n4k random read: 910,000 IOPS\n4k random write: 905,000 IOPS\n"

    assert [each.verdict for each in audit_text("post", text, Context())] == ["suspect", "suspect"]
