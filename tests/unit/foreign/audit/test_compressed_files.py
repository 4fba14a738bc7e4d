"""The output of compsize shows that a file uses less of the disk than its size."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_COMPSIZE = """\
# compsize {path}
Processed {files}, 40960 regular extents (40960 refs), 0 inline.
Type       Perc     Disk Usage   Uncompressed Referenced
TOTAL       {share}%      {disk}         5.0G         5.0G
zstd        {share}%      {disk}         5.0G         5.0G
"""
_DD = """\
# dd if=/data/{name} of=/dev/null bs=1M
5368709120 bytes (5.4 GB, 5.0 GiB) copied, 4.1 s, 1.3 GB/s
"""


def _is_suspect(text: str) -> list[bool]:
    return [
        any(finding.rule == "compressed-reads" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("path", "files", "share", "disk", "is_suspect"),
    [
        ("/data/zeros", "1 file", 3, "160M", True),
        ("zeros", "1 file", 90, "4.5G", True),
        ("zeros", "1 file", 91, "4.6G", False),
        ("other", "1 file", 3, "160M", False),
        ("zeros", "12 files", 3, "160M", False),
    ],
)
def test_reads_of_a_file_that_compsize_shows_to_be_compressed_are_suspect(
    path: str, files: str, share: int, disk: str, *, is_suspect: bool
) -> None:
    output = _COMPSIZE.format(path=path, files=files, share=share, disk=disk)

    assert _is_suspect(output + _DD.format(name="zeros")) == [is_suspect]


def test_the_output_applies_only_to_results_below_it_that_read_this_file() -> None:
    output = _COMPSIZE.format(path="zeros", files="1 file", share=3, disk="160M")
    text = _DD.format(name="zeros") + output + _DD.format(name="noise") + _DD.format(name="zeros")

    assert _is_suspect(text) == [False, False, True]
