"""Results that a text reports only in its sentences."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_JOB = (
    "fio --name=a --filename=/dev/sdb --direct=1 --ioengine=libaio --iodepth=32 --bs=4k --rw=randwrite --runtime=60\n"
)
_MIB = 1024.0**2


def _found(text: str) -> list[tuple[str, float | None, float | None]]:
    return [
        (kind, values.iops, values.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for kind, values in each.figures.directions.items()
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{_JOB}I get 230k IOPS.\n", [("write", 230_000.0, None)]),
        (f"{_JOB}We are seeing only 1,877 IOPS now.\n", [("write", 1877.0, None)]),
        ("Across three tests the fio command reported 1877 read IOPS.\n", [("read", 1877.0, None)]),
        ("fio --bs=4k --readwrite=randread --size=1G\nThe test reported 1877 IOPS.\n", [("read", 1877.0, None)]),
        (
            "With fio, I get 450 MiB/s for reads and 120 MiB/s for writes.\n",
            [("read", None, 450 * _MIB), ("write", None, 120 * _MIB)],
        ),
        ("fio shows 55GB/s bandwidth for sequential read in this system. This is wrong.\n", [("read", None, 55e9)]),
    ],
)
def test_a_sentence_that_reports_a_result_is_read(
    text: str, found: list[tuple[str, float | None, float | None]]
) -> None:
    assert _found(text) == found


@pytest.mark.parametrize(
    "sentence",
    [
        "With fio, I should get 230k write IOPS.",
        "With fio, I get up to 230k write IOPS.",
        "With fio, I never got more than 230k write IOPS.",
        "With fio, I get 50k-60k write IOPS.",
        "With fio, I can't get 230k write IOPS.",
        "With fio, the write speed got lower. The drive is rated for 230k IOPS.",
        "fio shows that the writes of the network get 117 MB/s.",
        "I get 230k write IOPS.",  # does not name fio
        "With fio, I get 230k IOPS.",  # names no direction
    ],
)
def test_a_sentence_about_a_limit_a_goal_or_a_range_is_not_read(sentence: str) -> None:
    assert _found(f"{sentence}\n") == []


def test_sentences_are_not_read_in_a_text_with_another_result() -> None:
    line = "  write: IOPS=142, BW=571KiB/s (584kB/s)(5820KiB/10185msec); 0 zone resets"
    assert _found(f"{_JOB}{line}\nWith fio, I get 150 write IOPS.\n") == [("write", 142.0, 584_000.0)]


def test_a_result_in_a_sentence_is_suspect_but_never_refuted() -> None:
    job = "fio --name=a --filename=/dev/shm/f --size=1g --bs=1m --rw=read\n"

    (found,) = audit_text("post", f"{job}With that, fio shows 9.1 GB/s.\n", Context())

    assert found.verdict == "suspect"
    assert "volatile-target" in {each.rule for each in found.findings}
    assert all(each.effect != "refutes" for each in found.findings)
