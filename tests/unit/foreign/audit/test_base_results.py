"""Results of a drive and of a layer on top of it in the same text."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_DISKMARK = """\
[Read]
  SEQ    1MiB (Q=  1, T= 1):   {rate}.103 MB/s [    {rate}.9 IOPS] <  5911.35 us>
"""
_FIO = """\
fio --name=test --filename=/mnt/f --rw={rw} --bs={bs} --size=64g --direct=1 --ioengine=libaio --iodepth=8
test: (groupid=0, jobs=1): err= 0: pid={rate}: Mon Jan  1 {hour}:00:00 2024
  read: IOPS={iops}, BW={rate}MiB/s ({rate}MB/s)(6000MiB/60001msec)
"""


def _suspects(text: str) -> list[bool]:
    return [
        any(finding.rule == "physical-ceiling" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("base", "layer", "rate", "is_suspect"),
    [
        ("**Underlying drive**", "**gocryptfs volume**", 638, True),
        ("**Underlying drive**", "**gocryptfs volume**", 238, False),
        ("## Bare metal", "## Docker", 638, True),
        ("Host:", "Virtual machine:", 638, True),
        ("Raw device:", "Btrfs:", 638, True),
        ("Old drive:", "New drive:", 638, False),
        ("Raw device:", "RAID 0:", 638, False),
        ("Raw device:", "With an SSD cache:", 638, False),
    ],
)
def test_a_layer_is_not_much_faster_than_the_drive_below(base: str, layer: str, rate: int, *, is_suspect: bool) -> None:
    text = f"{base}\n{_DISKMARK.format(rate=177)}\n{layer}\n{_DISKMARK.format(rate=rate)}"

    assert _suspects(text) == [False, is_suspect]


@pytest.mark.parametrize(
    ("rw", "bs", "iops", "is_suspect"),
    [("randread", "4k", "99.0k", True), ("read", "4k", "99.0k", False), ("randread", "64k", "6192", False)],
)
def test_only_the_same_test_is_compared(rw: str, bs: str, iops: str, *, is_suspect: bool) -> None:
    host = _FIO.format(rw="randread", bs="4k", iops="25.0k", rate=98, hour=10)
    guest = _FIO.format(rw=rw, bs=bs, iops=iops, rate=387, hour=11)

    assert _suspects(f"## Host\n\n```\n{host}```\n\n## Guest\n\n```\n{guest}```\n") == [False, is_suspect]


@pytest.mark.parametrize(
    ("column", "above", "suspects"),
    [
        ("HOSTOS", "unit: MB/s", [False, True, False, True]),
        ("Bare metal", "All values in MB/s:", [False, True, False, True]),
        ("runc", "unit: MB/s", [False] * 4),
        ("HOSTOS", "unit: MB/s, on RAID 0", []),
        ("HOSTOS", "The times:", []),
    ],
)
def test_a_column_may_be_that_of_the_host(column: str, above: str, suspects: list[bool]) -> None:
    row = "| randread  | 171    | 508        | 93    | 1327   |"
    table = f"| Test Item | {column} | Volume | Layer | gvisor |\n|---|---|---|---|---|\n{row}\n"

    assert _suspects(f"## Test results of fio\n\n{above}\n\n{table}") == suspects
