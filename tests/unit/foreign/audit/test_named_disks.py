"""Hard disks that a text names by their model or their kind, alone or in the output of lsblk, lsscsi and smartctl."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_RESULT = """\
$ fio --name=a --filename=/srv/f --rw=randread --bs=4k --size=60g --direct=1 --ioengine=libaio --iodepth=16
a: (groupid=0, jobs=1): err= 0: pid=77: Fri Jan  7 08:00:00 2022
  read: IOPS={0}, BW={1}KiB/s ({1}kB/s)(10.0GiB/60001msec)
    clat (usec): min=90, max=9000, avg=900.00, stdev=80.10
"""


def _is_suspect(disks: str, iops: int = 9000, path: str = "/srv/f") -> bool:
    result = _RESULT.format(iops, 4 * iops).replace("/srv/f", path)
    (judged,) = audit_text("post", f"{disks}\n\n{result}", Context())
    return any(finding.rule == "named-disk" for finding in judged.findings)


@pytest.mark.parametrize(
    ("disks", "is_hard"),
    [
        ("Device Model:     ST8000VN004-2M2101", True),
        ("WDC WD60EFRX-68L0BN1", True),
        ("ata-WDC_WD120EMAZ-11BLFA0_5QG", True),
        ("HGST HUS724040ALA640", True),
        ("TOSHIBA HDWG180", True),
        ("TOSHIBA MG08ACA16TE", True),
        ("two 7.2k SAS drives", True),
        ("NL-SAS shelves", True),
        ("mechanical drives", True),
        ("three platter drives", True),
        ("WDS500G2B0A-00SM50", False),
        ("Device Model: INTEL SSDSC2KB480G8", False),
        ("HGST HUSMM1640ASS204", False),
        ("Rotation Rate:    Solid State Device", False),
        ("STM32F407 board", False),
    ],
)
def test_models_and_kinds_of_hard_disks_are_known(disks: str, *, is_hard: bool) -> None:
    assert _is_suspect(disks) is is_hard


def test_a_list_of_disks_counts_and_may_include_flash() -> None:
    disks = [f"sd{letter}  7.3T disk ST8000VN004-2M2101" for letter in "bcdefgh"]

    assert not _is_suspect("\n".join(disks))  # 9,000/s from seven disks
    assert _is_suspect("\n".join(disks), 12_000)
    assert not _is_suspect("\n".join(["sda  447G disk INTEL SSDSC2KB480G8", *disks]), 12_000)
    assert _is_suspect("\n".join(["sda  447G disk INTEL SSDSC2KB480G8", "", *disks]), 12_000)


@pytest.mark.parametrize(
    ("rest", "is_hard"),
    [
        ("ZIL & L2ARC: no", True),
        ("slog: none, l2arc: none", True),
        ("no SSD cache", True),
        ("without SLOG or L2ARC on this box", True),
        ("no NVMe, no SSD", True),
        ("no slog, L2ARC on an SSD", False),
        ("SSD: no RAID", False),
        ("without SSD trim", False),
        ("NVMe: nothing special", False),
    ],
)
def test_flash_that_a_line_says_is_absent_is_not_there(rest: str, *, is_hard: bool) -> None:
    assert _is_suspect(f"WDC WD60EFRX-68L0BN1, {rest}") is is_hard


def test_a_path_may_say_that_the_file_is_on_flash() -> None:
    assert _is_suspect("WDC WD60EFRX-68L0BN1", path="/srv/rust/f")
    assert not _is_suspect("WDC WD60EFRX-68L0BN1", path="/srv/nvme0/f")


_TABLE = """\
The pool has 4 {}.

| Test | IOPS | Bandwidth |
|---|---|---|
| {} | {} | {} MiB/s |
"""


@pytest.mark.parametrize(
    ("disks", "test", "iops", "is_doubted"),
    [
        ("hard disks", "4k random read", 6100, True),
        ("hard disks", "4k randwrite", 6100, True),
        ("hard disks", "4k random read", 5900, False),
        ("hard disks", "4k sequential read", 6100, False),
        ("hard disks", "4k read", 6100, False),
        ("hard disks", "4k random read on nvme", 6100, False),
        ("SSDs", "4k random read", 6100, False),
    ],
)
def test_without_a_job_the_name_of_a_result_says_that_it_is_random(
    disks: str, test: str, iops: int, *, is_doubted: bool
) -> None:
    (judged,) = audit_text("post", _TABLE.format(disks, test, iops, iops / 256), Context())
    assert any(finding.rule == "named-disk" for finding in judged.findings) is is_doubted


def test_the_author_may_say_below_the_result_which_disks_were_used() -> None:
    def is_suspect(below: str) -> bool:
        (judged,) = audit_text("post", f"{_RESULT.format(9000, 36000)}\n{below}\n", Context())
        return any(finding.rule == "named-disk" for finding in judged.findings)

    assert is_suspect("no, these are HDDs, 4 x 4TB in RAID10")
    assert is_suspect("I drop the caches before each run.\nThe pool is backed by two IronWolf drives.")
    assert not is_suspect("no, these are HDDs, 8 x 4TB in RAID10")  # 9,000/s from eight disks
    assert not is_suspect("That is faster than an HDD would be.")
    assert not is_suspect("A typical HDD reaches 100 IOPS.")
    assert not is_suspect("The old pool consists of HDDs.")
    assert not is_suspect("These are HDDs.\nThe other machine has an SSD.")


_POOLS = """\
| Pool | Media | Layout |
|---|---|---|
| fast | NVMe SSD | stripe of 2 |
| tank | HDD | raidz1 (4 drives) |

"""


@pytest.mark.parametrize(
    ("path", "iops", "is_doubted"),
    [
        ("/mnt/tank/f", 9000, True),
        ("/tank/f", 9000, True),
        ("/tank/f", 5900, False),  # four drives
        ("/mnt/fast/f", 9000, False),
        ("/mnt/other/f", 9000, False),
        ("/mnt/tank2/f", 9000, False),
    ],
)
def test_a_table_lists_the_disks_of_each_pool(path: str, iops: int, *, is_doubted: bool) -> None:
    assert _is_suspect(_POOLS, iops, path) is is_doubted


def test_the_columns_of_results_may_be_the_pools_of_such_a_table() -> None:
    results = "| Test | tank IOPS | fast IOPS |\n|---|---|---|\n| 4k random read | 9,000 | 61,000 |\n"
    text = f"{_POOLS}{results}"

    verdicts = {each.job: each.verdict for each in audit_text("post", text, Context())}

    assert verdicts == {"4k random read tank": "suspect", "4k random read fast": "unproven"}


@pytest.mark.parametrize(
    ("disks", "is_hard"),
    [
        ("## HDD, 4 nodes", False),
        ("4node hdd write, block 256k", False),
        ("Ceph cluster with HDD OSDs", False),
        ("three servers, each with HDDs", False),
        ("my server with one HDD", True),
        ("a Dell 720 server with one HDD", True),
        ("node5: one HDD", True),
    ],
)
def test_the_hard_disks_of_several_machines_have_no_known_number(disks: str, *, is_hard: bool) -> None:
    assert _is_suspect(disks) == is_hard
