"""One run that is printed in several formats, and quoted lines of fio output that are not results of their own."""

from pathlib import Path

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

CAPTURED = Path(__file__).parents[2] / "load" / "fio" / "captured"
HEADER = "one: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=6\n"
NORMAL = """
one: (groupid=0, jobs=1): err= 0: pid=4711: Sun Nov  1 08:00:00 2026
  read: IOPS=4096, BW=32.0MiB/s (33.6MB/s)(960MiB/30000msec)
    clat (usec): min=310, max=9004, avg=1460.10, stdev=120.00
"""


def _terse() -> str:
    percentiles = ";".join(["1.000000%=900", *["0%=0"] * 19])
    read = f"983040;32768;4096;30000;3;90;4.1;1.0;310;9004;1460.1;120.0;{percentiles};320;9010;1465.0;121.0;"
    idle = ";".join(["0"] * 8 + ["0.0"] * 4 + ["1.000000%=0", *["0%=0"] * 19] + ["0", "0", "0.0", "0.0"])
    spread = "30000;34000;100.0%;32700.0;300.0"
    none = "0;0;0.0%;0.0;0.0"
    rest = ";".join(["3.0%", "5.0%", "1000", "0", "9", *["0.1%"] * 7, *["0.0%"] * 22])
    return f"3;fio-3.36;one;0;0;{read}{spread};{idle};{none};{rest}\n"


def _lines(text: str) -> list[int]:
    return [audited.line for audited in audit_text("post", text, Context())]


@pytest.mark.parametrize(("name", "first"), [("3.33-all-formats.txt", 8), ("3.33-all-formats-group.txt", 6)])
def test_reads_and_writes_in_several_formats_are_one_result(name: str, first: int) -> None:
    assert _lines((CAPTURED / name).read_text()) == [first]


def test_a_terse_line_has_the_options_that_the_normal_output_shows() -> None:
    (alone,) = audit_text("post", "A run:\n" + _terse(), Context())
    (both,) = audit_text("post", f"A run:\n{HEADER}fio-3.36\n{_terse()}{NORMAL}", Context())

    assert alone.figures.directions["read"].iops == both.figures.directions["read"].iops == 4096
    assert any("queue depth" in missing for missing in alone.missing)
    assert not any("queue depth" in missing for missing in both.missing)
    assert "iodepth=6" in (both.proof or "")


RATE = "The first line has the rate:\n\n    read : io=6144.0MB, bw=51200KB/s, iops=12800, runt=122880msec\n\n"
SUBMISSION = "It submits quickly:\n\n    slat (usec): min=2, max=410, avg= 7.25, stdev= 2.50\n\n"
COMPLETION = "and completes later:\n\n    clat (usec): min=30, max=8100, avg=70.10, stdev=20.40\n\n"
PERCENTILES = (
    "Percentiles:\n\n    clat percentiles (usec):\n     |  1.00th=[   40], 50.00th=[   66], 99.00th=[  170]\n\n"
)
SAMPLES = "Samples:\n\n    bw (KB  /s): min=48000, max=52000, per=99.90%, avg=51150.30, stdev=700.10\n"
TOTALS = (
    "Run status group 0 (all jobs):\n"
    "  MIXED: io=900MB, aggrb=30720KB/s, minb=30720KB/s, maxb=30720KB/s, mint=30000msec, maxt=30000msec\n"
)


def test_the_quoted_lines_below_a_rate_are_not_further_results() -> None:
    assert _lines(RATE + SUBMISSION + COMPLETION + PERCENTILES + SAMPLES) == [3]


def test_means_that_repeat_a_complete_result_are_not_further_results() -> None:
    below = NORMAL + "\nThe line about latency:\n\n    clat (usec): min=310, max=9004, avg=1460.10, stdev=120.00\n"

    assert _lines(HEADER + below) == [1]
    other = below.replace("avg=1460.10", "avg=1460.20", 1)
    assert _lines(HEADER + other) == [1]
    assert _lines(HEADER + other + PERCENTILES.removeprefix("Percentiles:\n\n")) == [1, 9]


def test_a_single_mean_next_to_a_result_is_not_a_further_result() -> None:
    """Neither its direction nor its job is known."""
    line = "    lat (usec): min=310, max=9004, avg=1461.30, stdev=120.00\n"

    assert _lines(f"{HEADER}{NORMAL}\nOn another machine:\n\n{line}") == [1]
    assert _lines(f"{line}\nand:\n{line}") == [1, 4]


@pytest.mark.parametrize("line", [SUBMISSION, PERCENTILES])
def test_a_time_of_submission_or_percentiles_alone_are_not_a_result(line: str) -> None:
    assert _lines(line) == []


@pytest.mark.parametrize("line", [COMPLETION, SAMPLES])
def test_a_mean_alone_is_a_result(line: str) -> None:
    assert _lines(line) == [3]


def test_percentiles_above_the_totals_of_a_run_are_part_of_it() -> None:
    (audited,) = audit_text("post", RATE + PERCENTILES + TOTALS, Context())[1:]

    assert audited.figures.directions["mixed"].io_bytes == 900 * 1024**2
