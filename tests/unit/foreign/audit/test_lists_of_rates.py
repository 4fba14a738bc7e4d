"""Lists of results whose lines consist of a label and a pair of values."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_JOB = "fio --name=x --filename=/dev/sdx --rw={rw} --bs=4k --iodepth=16 --ioengine=libaio\n\n"
_LIST = """   2k  IOPS=31.0k,  BW=60.5MiB/s, Lat=514.20usec
  16k  IOPS=24.2k, BW=378MiB/s,  Lat=660.10usec
"""
_NAMED = """- on-ssd: IOPS=7100, BW=27.7MiB/s (29.1MB/s)(1664MiB/60003msec)
- on-lvm: IOPS=6900, BW=27.0MiB/s (28.3MB/s)(1617MiB/60002msec)
"""


def _found(text: str) -> list[tuple[str, str, float | None, int | None]]:
    return [
        (each.job, kind, figures.iops, figures.runtime_ms)
        for each in audit_text("post", text, Context())
        for kind, figures in each.figures.directions.items()
    ]


@pytest.mark.parametrize(("rw", "kind"), [("randread", "read"), ("write", "write")])
def test_the_jobs_of_the_text_give_the_direction(rw: str, kind: str) -> None:
    assert _found(_JOB.format(rw=rw) + _LIST) == [("2k", kind, 31_000.0, None), ("16k", kind, 24_200.0, None)]


def test_the_bytes_and_the_run_time_may_follow() -> None:
    found = _found(_JOB.format(rw="randwrite") + _NAMED)
    assert found == [("on-ssd", "write", 7100.0, 60003), ("on-lvm", "write", 6900.0, 60002)]


@pytest.mark.parametrize("other", [_JOB.format(rw="read"), ""])
def test_without_an_only_direction_a_list_is_not_read(other: str) -> None:
    assert _found(other + (_JOB.format(rw="write") if other else "") + _NAMED) == []


@pytest.mark.parametrize(
    "line",
    [
        "limit: IOPS=16.0k, BW=1000MiB/s",
        "the old array did IOPS=31.0k, BW=121MiB/s until the upgrade to the next release",
        "IOPS=31.0k, BW=121MiB/s",
    ],
)
def test_limits_and_sentences_are_not_lists(line: str) -> None:
    assert _found(_JOB.format(rw="randwrite") + line + "\n") == []


@pytest.mark.parametrize(
    ("between", "verdict"), [("", "suspect"), ("\nOn the array:\n", "unproven")], ids=["one list", "another target"]
)
def test_a_line_that_introduces_a_list_applies_to_all_of_it(between: str, verdict: str) -> None:
    text = f"A run on a RAM disk:\nREAD: IOPS=910K BW=3554MiB/s\n{between}WRITE: IOPS=905K BW=3535MiB/s\n"

    first, second = audit_text("post", text, Context())

    assert (first.verdict, second.verdict) == ("suspect", verdict)


_COUNTED = """\
--- spinning disks ---
4 jobs, rnd 8k, libaio: 412 read iops
4 jobs, rnd 8k writes, libaio: 1,204 write iops
--- one job ---
1 job, seq 256k writes = 3.1k write iops
"""


def test_a_list_may_have_only_iops_after_the_name_of_each_test() -> None:
    assert _found(_COUNTED) == [
        ("4 jobs, rnd 8k, libaio", "read", 412.0, None),
        ("4 jobs, rnd 8k writes, libaio", "write", 1204.0, None),
        ("1 job, seq 256k writes", "write", 3100.0, None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "With four jobs, rnd 8k: 412 read iops\n",
        "max, rnd 8k: 500 read iops\nmax, seq 8k: 500 write iops\n",
        "quota for 4k jobs: 500 read iops\nquota for 8k jobs: 500 write iops\n",
        "Basic: 500 read iops\nPremium: 7500 write iops\n",
        "rnd 8k writes: 500 read iops\nrnd 8k reads: 500 write iops\n",
        "rnd 8k: 0 read iops\nrnd 16k: 0 read iops\n",
        "rnd 8k: 500 read iops should do\nrnd 16k: 500 read iops per disk\n",
        "rnd 8k: 500 read iops\n\n\n\n\n\nrnd 16k: 500 read iops\n",
    ],
    ids=["one line", "maxima", "quotas", "no tests", "other direction", "zero", "sentences", "far apart"],
)
def test_single_lines_limits_and_sentences_are_not_such_lists(text: str) -> None:
    assert _found(text) == []


def test_a_pair_of_zeros_is_compared_with_other_results() -> None:
    text = "- idle randread: IOPS=0, BW=0B/s\n- busy randread: IOPS=31.0k, BW=121MiB/s\n"

    assert [iops for _, _, iops, _ in _found(text)] == [0.0, 31_000.0]


def test_units_may_be_in_the_labels_and_the_other_direction_has_zeros() -> None:
    text = (
        "09:30:00  Read: IOPS:2500 Bandwidth(KB/sec):40000 Latency(ns):6400000\n"
        "09:30:00  Write: IOPS:0 Bandwidth(KB/sec):0 Latency(ns):0\n"
    )

    (read,) = audit_text("post", text, Context())
    assert read.job == "Read"
    assert read.figures.directions["read"].bandwidth_bytes == 2500 * 16 * 1024
