"""Tables with groups of columns, names on two lines, and two values in one cell, and labels in other languages."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_TABLE = """\
| Setup | 4KB | randread | 1MB | read |
|---|---|---|---|---|
| | IOPS | BW | IOPS | BW |
| VM | 13.0k | 50.8MiB/s | {iops} | {rate}MiB/s |
| ({state}) | (300%) | (301%) | (242%) | (242%) |
| VM | 245 | 980KiB/s | 979 | 980MiB/s |
| (cache=none) | (12%) | (12%) | (93%) | (93%) |
"""


def _values(text: str) -> list[tuple[str, str, float | None, float | None]]:
    return [
        (each.job, direction, figures.iops, figures.bandwidth_bytes and round(figures.bandwidth_bytes / 1e6, 1))
        for each in audit_text("post", text, Context())
        for direction, figures in each.figures.directions.items()
    ]


def test_the_first_line_of_a_header_may_name_the_tests_and_a_row_may_continue_the_name_above() -> None:
    assert _values(_TABLE.format(state="cache=none,queues=4", iops=2550, rate=2551)) == [
        ("VM (cache=none,queues=4) 4KB randread", "read", 13_000.0, 53.3),
        ("VM (cache=none,queues=4) 1MB read", "read", 2550.0, 2674.9),
        ("VM (cache=none) 4KB randread", "read", 245.0, 1.0),
        ("VM (cache=none) 1MB read", "read", 979.0, 1027.6),
    ]


@pytest.mark.parametrize(
    ("state", "iops", "is_suspect"),
    [
        ("cache=writeback", 2550, True),
        ("cache=writethrough", 2550, True),
        ("cache=unsafe", 2550, True),
        ("cache=writeback", 451, False),
        ("cache=none", 2550, False),
        ("cache mode: writeback", 2550, False),
    ],
)
def test_reads_through_the_cache_of_the_host_are_suspect(state: str, iops: int, *, is_suspect: bool) -> None:
    found = audit_text("post", _TABLE.format(state=state, iops=iops, rate=iops), Context())

    assert any(finding.rule == "guest-cache" for finding in found[1].findings) is is_suspect
    assert [each.verdict for each in found[2:]] == ["unproven", "unproven"]


@pytest.mark.parametrize(("heading", "is_suspect"), [("### cache=writeback", True), ("### cache=none", False)])
def test_a_heading_may_name_the_cache_of_the_host(heading: str, *, is_suspect: bool) -> None:
    line = "   READ: bw=2120MiB/s (2223MB/s), 2120MiB/s-2120MiB/s, io=124GiB (133GB), run=60001-60001msec\n"

    (found,) = audit_text("post", f"{heading}\n\n{line}", Context())

    assert any(finding.rule == "guest-cache" for finding in found.findings) is is_suspect


def test_a_cell_may_have_a_value_for_reads_and_one_for_writes() -> None:
    header = "| Product | Random Read/Write IOPS | Sequential Read/Write (MB/s) |\n|---|---|---|\n"

    assert _values(f"{header}| ext4 | 61.5k/15.1k | 129 / 131 |\n") == [
        ("ext4 random", "read", 61_500.0, None),
        ("ext4 random", "write", 15_100.0, None),
        ("ext4 sequential", "read", None, 129.0),
        ("ext4 sequential", "write", None, 131.0),
    ]


@pytest.mark.parametrize(
    ("read", "write"),
    [
        ("Lectura", "Escritura"),
        ("Leitura", "Escrita"),
        ("Lecture", "\u00c9criture"),
        ("Lesen", "Schreiben"),
        ("Lettura", "Scrittura"),
    ],
)
def test_columns_in_other_languages(read: str, write: str) -> None:
    table = f"| VM | {read} (MB/s) | {write} (MB/s) |\n|---|---|---|\n| KVM | 340 MB/s | 290 MB/s |\n"

    assert _values(table) == [("KVM", "read", None, 340.0), ("KVM", "write", None, 290.0)]


def test_rows_in_chinese_below_the_word_for_throughput() -> None:
    table = "| 指标 | 吞吐 |\n|---|---|\n| 顺序写入 | 3.9 GB/s |\n| 顺序读取 | 1.1 GB/s |\n"

    assert _values(table) == [("顺序写入", "write", None, 3900.0), ("顺序读取", "read", None, 1100.0)]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("`WRITE bandwidth: 23.0MiB/s`", [("write", None, 24.1)]),
        ("    read bandwidth: 9.37 GiB/s", [("read", None, 10061.0)]),
        ("    read iops: 376,697/s", [("read", 376_697.0, None)]),
        ("    total bandwidth: 9.37 GiB/s", []),
        ("The write bandwidth: 23.0MiB/s", []),
    ],
)
def test_a_label_that_names_the_metric_and_the_direction_may_be_alone(
    line: str, values: list[tuple[str, float | None, float | None]]
) -> None:
    assert [each[1:] for each in _values(f"fio:\n\n{line}\n")] == values
    assert _values(line) == []


def test_modes_of_sysbench_name_the_direction() -> None:
    table = "| Measurement | Result |\n|---|---|\n| sysbench seqrd | 5,060 MiB/s |\n| sysbench rndwr | 340 MB/s |\n"

    assert [each[1:] for each in _values(table)] == [("read", None, 5305.8), ("write", None, 340.0)]


def test_the_heading_of_a_list_may_describe_the_drive() -> None:
    rates = "seq write   :  11.47 GB/s  (cache bypassed)\nseq read    :  10.51 GB/s  (cache bypassed)\n"

    assert _values(f"diskbench on Linux\n\n**970 PRO, PCIe Gen3 x4 (link ceiling 3.94 GB/s):**\n\n{rates}") == [
        ("seq write", "write", None, 11_470.0),
        ("seq read", "read", None, 10_510.0),
    ]
    assert _values(f"diskbench on Linux\n\n**Rated:**\n\n{rates}") == []
