"""Values in posts: repeated reports, sums over clients, fragments, and foreign number formats."""

from pathlib import Path

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited, audited_object
from poolproof.foreign.audit.texts import audit_text
from poolproof.presentation.terminal.audited import figures_text
from tests.golden import Message

POSTS = Path(__file__).parent / "posts"


def _one(text: str) -> Audited:
    (audited,) = audit_text("post", text, Context())
    return audited


def _posted(name: str) -> Audited:
    return _one((POSTS / name).read_text(encoding="utf-8"))


def _figures(audited: Audited) -> dict[str, tuple[int | None, int | None]]:
    return {name: (part.io_bytes, part.runtime_ms) for name, part in audited.figures.directions.items()}


@pytest.mark.parametrize(
    ("name", "io_bytes"), [("status-interval.txt", 4_330_618_880), ("status-interval-terse.txt", 3_074_019_328)]
)
def test_the_last_of_repeated_reports_counts(name: str, io_bytes: int) -> None:
    audited = _posted(name)
    assert _figures(audited) == {"read": (io_bytes, 3001)}
    assert audited.verdict != "failed" and not audited.is_assumed


def test_reports_of_clones_are_not_repeated_reports() -> None:
    """These are three clones of one run, each with its own terse line."""
    line = (POSTS / "status-interval-terse.txt").read_text().splitlines()[-1]
    fields = line.split(";")
    clones = [";".join([*fields[:5], str(int(fields[5]) + more), *fields[6:]]) for more in (0, 4000, 9000)]
    assert _figures(_one("\n".join(clones) + "\n"))["read"][0] == 3 * 3_074_019_328 + 13_000 * 1024


def test_the_sum_over_all_clients_is_not_a_second_run() -> None:
    audited = _posted("two-clients.txt")
    assert _figures(audited) == {"read": (714_080_256, 1003), "write": (666_894_336, 1006)}


def test_the_sum_over_all_clients_alone_is_the_run() -> None:
    text = (POSTS / "two-clients.txt").read_text()
    audited = _one(text[text.index("All clients") :])
    assert _figures(audited) == {"read": (714_080_256, 1003), "write": (666_894_336, 1006)}
    assert audited.figures.directions["read"].bandwidth_bytes == 712e6


def test_reads_in_a_terse_line_may_be_all_directions() -> None:
    assert set(_figures(_posted("unified-terse.txt"))) == {"mixed"}
    assert set(_figures(_posted("unified-both-terse.txt"))) == {"read", "write", "mixed"}
    assert set(_figures(_posted("unified-three-formats.txt"))) == {"mixed"}


def test_a_median_over_the_whole_run_can_show_reads_from_ram() -> None:
    assert "latency-floor" in {finding.rule for finding in _posted("total-latency.txt").findings}


@pytest.mark.parametrize("iops", ["30,1k", "30,100", "30.100,5"])
def test_numbers_in_foreign_notation_are_not_misread(iops: str) -> None:
    audited = _one(f"  read: IOPS={iops}, BW=118MiB/s (123MB/s)(7054MiB/60001msec)\n")
    assert audited.figures.directions["read"].iops is None
    assert audited.figures.directions["read"].bandwidth_bytes == 123e6
    assert audit_text("post", f"  read: IOPS={iops}, BW=118,5MiB/s\n", Context()) == ()


def test_samples_alone_are_a_result(message: Message) -> None:
    line = "   bw (  KiB/s): min=100000, max=140000, per=100.00%, avg=120360.10, stdev=1234.56, samples=119\n"
    audited = _one(line)
    assert message(figures_text(audited.figures)).startswith("123 MB/s, ")
    assert audited_object(audited)["figures"]["mixed"]["bandwidth_bytes"] is None
    assert "rates and bytes" in audited.missing
    assert len(audit_text("post", line + line, Context())) == 2


def test_a_value_without_a_direction_has_the_direction_of_its_job() -> None:
    line = "     lat (usec): min=12, max=900, avg=301.50, stdev=9.10\n"
    for rw, direction in (("randread", "read"), ("write", "write"), ("randrw", "mixed")):
        assert set(_one(f"$ fio --name=a --rw={rw} --size=1g\n{line}").figures.directions) == {direction}


@pytest.mark.parametrize(
    "text",
    [
        f"  read: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/{'9' * 400}msec)\n",
        f"a: (groupid=0, jobs=1): err={'9' * 400}: pid=1: Sat\n  read: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/1msec)\n",
        '{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 100000000000000000000}]}',
        "READ: bw=" * 20_000,
        "read: io=" * 20_000 + " iops=",
    ],
)
def test_absurd_numbers_and_very_long_lines_are_harmless(text: str) -> None:
    assert all(audited.verdict in ("unproven", "failed", "suspect") for audited in audit_text("post", text, Context()))


@pytest.mark.parametrize("printed", ["17.0MiB", "17.1MiB"])
def test_a_size_that_fio_printed_without_its_decimals_contradicts_nothing(printed: str) -> None:
    audited = _one(f"  read: IOPS=153, BW=613KiB/s (628kB/s)({printed}/30011msec)\n")
    wrong = _one("  read: IOPS=153, BW=613KiB/s (628kB/s)(14.0MiB/30011msec)\n")

    assert audited.figures.directions["read"].io_bytes == pytest.approx(17.98 * 1024**2, rel=0.01)
    assert (audited.verdict, wrong.verdict) == ("unproven", "suspect")


def test_headers_with_one_name_may_use_different_files() -> None:
    header = "sr: (g=0): rw=read, bs=128K-128K/128K-128K/128K-128K, ioengine=sync, iodepth=1\n"
    text = f"{header}{header}fio-2.1.11\nStarting 2 threads\n\n"
    text += "sr: (groupid=0, jobs=2): err= 0: pid=11450: Thu Apr  9 13:38:56 2015\n"
    text += "  read : io=8192.0MB, bw=9411.2KB/s, iops=73, runt=891347msec\n"

    audited = _one(text)

    assert audited.verdict == "unproven"
