"""The averages that the Phoronix Test Suite prints for its tests of fio and iozone."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

MIB = 1024**2
_IOZONE = """\
IOzone 3.465:
    pts/iozone-1.9.6 [Record Size: 1MB - File Size: 2GB - Disk Test: {} Performance]
    Test 3 of 9
    Estimated Trial Run Count:    3
        Started Run 1 @ 10:20:30

    Record Size: 1MB - File Size: 2GB - Disk Test: {} Performance:
        8123.40625
        8090.5

    Average: {} MB/s
    Deviation: 1.25%
    Samples: 2
"""
_FIO = """\
FIO:
    pts/fio-{}
    Test 1 of 1
        Started Run 1 @ 10:20:30

    Average: {} MB/s
    Deviation: 0.50%

    Average: {} IOPS
    Deviation: 0.50%
"""
_OPTIONS = "Engine: Linux AIO - Direct: {} - Block Size: 4KB - Job Count: 2 - Disk Target: Default Test Directory"


def _audited(text: str) -> Audited:
    (audited,) = audit_text("post", text, Context())
    return audited


def _rules(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings}


def test_the_rate_of_iozone_is_in_mib() -> None:
    audited = _audited(_IOZONE.format("Write", "Write", 96.5))

    assert audited.line == 2
    assert audited.figures.directions["write"].bandwidth_bytes == 96.5 * MIB
    assert not audited.findings


@pytest.mark.parametrize(("rate", "is_doubted"), [("8106.953125", True), ("140.25", False)])
def test_reads_of_iozone_follow_its_writes(rate: str, *, is_doubted: bool) -> None:
    audited = _audited(_IOZONE.format("Read", "Read", rate))

    assert audited.figures.directions["read"].bandwidth_bytes == float(rate) * MIB
    assert ("small-file" in _rules(audited)) is is_doubted


@pytest.mark.parametrize(
    ("options", "is_direct"),
    [
        (f"2.1.0 [Type: Random Read - {_OPTIONS.format('Yes')}]", True),
        (f"2.1.0 [Type: Random Read - {_OPTIONS.format('No')}]", False),
        ("1.13.2 [Type: Random Read - IO Engine: Linux AIO - Buffered: No - Direct: Yes - Block Size: 4KB]", True),
        ("1.13.2 [Type: Random Read - IO Engine: Linux AIO - Buffered: Yes - Direct: Yes - Block Size: 4KB]", False),
    ],
)
def test_the_options_of_fio_are_those_of_the_script(options: str, *, is_direct: bool) -> None:
    """With `buffered=1` after `direct=1`, fio uses the page cache."""
    audited = _audited(_FIO.format(options, 400, 102_400))

    read = audited.figures.directions["read"]
    assert (read.iops, read.bandwidth_bytes) == (102_400, 400 * MIB)
    assert ("async-engine-blocks" in _rules(audited)) is not is_direct


@pytest.mark.parametrize(("rate", "in_bytes"), [(9.25, 9250 * 1024), (10.5, 10.5 * MIB)])
def test_small_rates_of_fio_are_thousands_of_kib(rate: float, in_bytes: float) -> None:
    options = f"2.1.0 [Type: Sequential Write - {_OPTIONS.format('Yes')}]"

    assert _audited(_FIO.format(options, rate, 2500)).figures.directions["write"].bandwidth_bytes == in_bytes


@pytest.mark.parametrize(
    "text",
    [
        "    pts/compress-zstd-1.2.1 [Compression Level: 3]\n\n    Average: 2073 MB/s\n",
        "    pts/fio-2.1.0 [Type: Random Read - Engine: Other - Direct: Yes - Block Size: 4KB]\n    Average: 20 MB/s\n",
        "    pts/iozone-1.9.6 [Record Size: 1MB - Disk Test: Read Performance]\n    Average: 20 MB/s\n",
        "    pts/iozone-1.9.6\n    Average: 20 MB/s\n",
        _IOZONE.format("Read", "Read", 90).replace("Average:", "\n" * 60 + "Average:"),
    ],
)
def test_other_tests_and_unknown_options_are_no_results(text: str) -> None:
    assert audit_text("post", text, Context()) == ()
