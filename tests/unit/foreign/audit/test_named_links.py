"""Results above the link of the drive or the network that the text names."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_READ = "  READ: bw={rate}MiB/s, {rate}MiB/s-{rate}MiB/s, io=20.0GiB, run=20001-20001msec\n"


def _suspects(text: str) -> list[bool]:
    return [
        any(finding.rule == "named-disk" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("above", "rate", "is_suspect"),
    [
        ("The data is on a Samsung 870 EVO.", 1020, True),
        ("The data is on a Samsung 870 EVO.", 560, False),
        ("The data is on a Samsung 970 EVO.", 1020, False),
        ("2x Crucial MX500", 1020, False),
        ("2x Crucial MX500", 1420, True),
        ("Crucial MX500 drives", 1420, False),
        ("SATA SSD:", 1020, True),
        ("SATA SSD and NVMe:", 1020, False),
        ("I also have a SATA SSD", 1020, False),
        ("USB 2.0 stick", 80, True),
        ("USB 2.0 stick", 40, False),
        ("USB 3.0 enclosure", 700, True),
        ("USB 3.0 enclosure", 420, False),
        ("Results for my cards, using a USB 3.0 card reader", 700, True),
        ("Results for my cards, each using a USB 3.0 card reader", 700, False),
        ("Results for my cards, not using a USB 3.0 card reader", 700, False),
        ("USB 3.2 Gen 2 SSD", 1000, False),
        ("USB 3.2 Gen 2x2 SSD", 2000, False),
        ("microSD card", 700, True),
        ("microSD card", 90, False),
        ("eMMC", 700, True),
        ("eMMC", 300, False),
    ],
)
def test_a_rate_above_the_link_of_the_named_drive_is_suspect(above: str, rate: int, *, is_suspect: bool) -> None:
    assert _suspects(f"{above}\n\n{_READ.format(rate=rate)}") == [is_suspect]


@pytest.mark.parametrize(("iops", "is_suspect"), [("310k", True), ("97.2k", False)])
def test_more_ios_than_a_sata_drive_can_do_are_suspect(iops: str, *, is_suspect: bool) -> None:
    assert _suspects(f"SATA SSD:\n\n| Test | IOPS | MB/s |\n|--|--|--|\n| randread | {iops} | |\n") == [is_suspect]


@pytest.mark.parametrize(
    ("between", "is_suspect"),
    [
        ("Here is the result:", True),
        ("### Sequential read", True),
        ("And this is the NVMe drive:", False),
        ("Then on another machine:", False),
        ("The pool has raidz1:", False),
        ("### Laptop", False),
    ],
)
def test_a_later_line_may_name_other_storage_or_another_machine(between: str, *, is_suspect: bool) -> None:
    assert _suspects(f"## Desktop\n\nSamsung 870 EVO\n\n{between}\n\n{_READ.format(rate=1420)}") == [is_suspect]


def test_in_an_array_the_drives_must_be_counted() -> None:
    result = _READ.format(rate=3420)

    assert _suspects(f"A ZFS mirror of 2x Samsung 870 EVO:\n{result}") == [True]
    assert _suspects(f"The mirror uses the Samsung 870 EVO:\n{result}") == [False]


def test_the_name_of_a_result_takes_precedence() -> None:
    table = "| Device | seq read MB/s |\n|--|--|\n| 870 EVO | 1420 |\n| 970 EVO | 1420 |\n| 860 EVO | 540 |\n"

    assert _suspects(f"fio results on a SATA SSD:\n\n{table}") == [True, False, False]


@pytest.mark.parametrize(
    ("above", "rate", "is_suspect"),
    [
        ("The network is 10GbE.\n\nOver NFS:", 2020, True),
        ("The network is 10GbE.\n\nOver NFS:", 1120, False),
        ("The network is 10GbE, bonded.\n\nOver NFS:", 2020, False),
        ("The network is 10GbE and 25GbE.\n\nOver NFS:", 2020, False),
        ("The network is 10GbE.\n\nLocally, without NFS:", 2020, False),
        ("The network is 10GbE.\n\nThe result:", 2020, False),
        ("The server writes more than 1GB/s.\n\nOver NFS:", 420, False),
        ("The network has 1Gb/s.\n\nOver NFS:", 420, True),
        ("The network is 10GbE. We use NFS.\n\n\n\n\n\nThe result:", 2020, False),
        ("The network is 10GbE. We use NFS.\n\nzfs server:", 2020, False),
        ("Gigabit ethernet, SMB share:", 420, True),
        ("Gigabit ethernet, SMB share:", 110, False),
    ],
)
def test_a_rate_above_the_network_is_suspect_for_network_storage(above: str, rate: int, *, is_suspect: bool) -> None:
    assert _suspects(f"{above}\n\n{_READ.format(rate=rate)}") == [is_suspect]
