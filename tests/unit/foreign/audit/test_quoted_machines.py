"""Facts about machines in the text around a result: compression, host names, and mounts without barriers."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import block, header

_DD = (
    "dd if=/dev/zero of=/{} bs=1M count=16000 conv=fdatasync\n16000+0 records in\n16000+0 records out\n"
    "16777216000 bytes (17 GB, 16 GiB) copied, 4.11 s, 4.1 GB/s\n"
)


def _audited(text: str, at: int = 0) -> Audited:
    return audit_text("post", text, Context())[at]


def _doubts(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings if finding.effect in ("suspects", "refutes")}


@pytest.mark.parametrize(
    ("command", "path", "is_suspect"),
    [
        ("zfs set compression=on pond/x", "pond/x/f", True),
        ("First I ran `zfs set compression=zstd-3 pond`.", "pond/x/f", True),
        ("# zfs create -o atime=off -o compression=lz4 pond/x", "pond/x/f", True),
        ("# zpool create -f -O compression=lz4 -o ashift=12 pond mirror sdx sdy", "pond/f", True),
        ("# mount -o noatime,compress=zstd:3 /dev/sdq1 /pond", "pond/f", True),
        ("UUID=12-34 /pond btrfs defaults,compress-force=zstd 0 0", "pond/f", True),
        ("# btrfs property set /pond/x compression zstd", "pond/x/f", True),
        ("# mount -o noatime,compress=zstd:3 /dev/sdq1 /lake", "pond/f", False),
        ("zfs set compression=off pond", "pond/f", False),
        ("zfs set compression=on pond", "srv/f", False),
        ("zfs set compression=on pond\nzfs set compression=off pond", "pond/f", False),
        ("zfs set atime=off pond", "pond/f", False),
    ],
)
def test_a_command_that_sets_the_compression_makes_zeros_suspect(command: str, path: str, is_suspect: bool) -> None:
    assert ("zero-buffers" in _doubts(_audited(f"{command}\n{_DD.format(path)}"))) is is_suspect


_UNSYNCED = "dd if=/dev/zero of={} bs=1M count=4000\n4194304000 bytes (4.2 GB, 3.9 GiB) copied, 19.2 s, 218 MB/s\n"
_MOUNT = "store:/export on /srv/home type {} (rw,relatime,vers={},rsize=1048576,hard)"


@pytest.mark.parametrize(
    ("mounts", "path", "is_suspect"),
    [
        (_MOUNT.format("nfs", 3), "/srv/home/f", False),
        (_MOUNT.format("nfs", 3).replace("nfs (", "nfs\n("), "f", False),
        (_MOUNT.format("nfs", 3), "f", False),
        (_MOUNT.format("nfs", 3), "/data/f", True),
        (_MOUNT.format("nfs4", 4.2), "/srv/home/f", True),
        (f"{_MOUNT.format('nfs', 3)}\n/dev/sda1 on / type ext4 (rw,relatime)", "f", True),
    ],
)
def test_dd_that_closes_a_file_on_nfs3_has_sent_its_data_to_the_server(
    mounts: str, path: str, *, is_suspect: bool
) -> None:
    assert ("write-without-sync" in _doubts(_audited(f"{mounts}\n$ {_UNSYNCED.format(path)}"))) is is_suspect


@pytest.mark.parametrize(("file_system", "is_suspect"), [("nfs3", False), ("nfs4", True), ("ext4", True)])
def test_dd_without_a_sync_is_not_suspect_if_close_waits_for_the_server(file_system: str, *, is_suspect: bool) -> None:
    (found,) = audit_text("post", f"$ {_UNSYNCED.format('f')}", Context(file_system=file_system))

    assert ("write-without-sync" in _doubts(found)) is is_suspect


_FIO = "fio --name=r --directory=/srv --rw=randread --bs=4k --size=16g --ioengine=psync --runtime=60 --time_based\n"
_READS = header("r", "randread", engine="psync") + block("r", "read", 5000, p50_us=190)
_MEMORY = "MemTotal:       65842112 kB"


@pytest.mark.parametrize(
    ("before", "prompt", "is_known"),
    [
        (f"ann@desk:~$ cat /proc/meminfo\n{_MEMORY}\n", "root@store:/srv# ", False),
        (f"[ann@desk ~]$ cat /proc/meminfo\n{_MEMORY}\n", "[root@store srv]# ", False),
        (f"desk$ cat /proc/meminfo\n{_MEMORY}\n", "store# ", False),
        (f"ann@store:~$ cat /proc/meminfo\n{_MEMORY}\n", "root@store:/srv# ", True),
        (f"{_MEMORY}\n", "root@store:/srv# ", True),
        ("ann@desk:~$ ssh store\nThe server has 64 GB of RAM.\n", "root@store:/srv# ", True),
    ],
)
def test_the_ram_of_another_machine_is_not_used(before: str, prompt: str, is_known: bool) -> None:
    found = _audited(f"{before}{prompt}{_FIO}{_READS}")
    assert any("RAM is" in known for known in found.known) is is_known
    assert ("size-below-cache" in _doubts(found)) is is_known


_SYNCS = "# pveperf /srv\nFSYNCS/SECOND:     4213.11\n"


@pytest.mark.parametrize(
    ("before", "is_suspect"),
    [
        ("# mount -o remount,barrier=0 /srv\n", True),
        ("I mounted it with nobarrier.\n", True),
        ("/dev/sdx1 on /srv type ext4 (rw,barrier=0)\n", True),
        ("mounted with barrier=0 first\nnow with barrier=1:\n", False),
        ("Before: noatime,barrier=1\nAfter: relatime,barrier=0\n", False),
        (f"# mount -o barrier=1 /srv\n{_SYNCS}# mount -o remount,barrier=0 /srv\n", True),
        ("I do not use nobarrier.\n", False),
        ("nobarrier, because the controller has a BBU\n", False),
        ("", False),
    ],
)
def test_syncs_without_barriers_are_suspect(before: str, is_suspect: bool) -> None:
    assert ("flushes-missing" in _doubts(_audited(before + _SYNCS, -1))) is is_suspect


@pytest.mark.parametrize(
    "line",
    [
        " cached reads:   18012 MB in  2.00 seconds = 9006.11 MB/sec",
        "Timing cached reads = 9006.11 MB/sec",
        "Timing cached reads:   18012 MB in 2.00 s = 9006 MB/s",
        "Timing cached reads:   18012 MB in  2.00 seconds = **9006.11 MB/sec**",
        "Timing buffer-cache reads:   18012 MB in  2.00 seconds =9006.11\nMB/sec",
    ],
)
def test_shortened_lines_of_hdparm_are_read(line: str) -> None:
    found = _audited(f"hdparm -tT /dev/sdx\n{line}\n")
    assert found.figures.directions["read"].bandwidth_bytes == pytest.approx(9006 * 1024**2, rel=1e-3)
    assert "measures-memory" in _doubts(found)


def test_several_commands_above_as_many_results_are_assigned_in_order() -> None:
    commands = (
        "dd if=/dev/zero of=/srv/a bs=1M count=16000 oflag=direct\ndd if=/srv/a of=/dev/null bs=1M iflag=direct\n"
    )
    results = "".join(line for line in _DD.splitlines(keepends=True)[1:]) * 2
    wrote, read = audit_text("post", commands + results, Context())
    assert [list(each.figures.directions) for each in (wrote, read)] == [["write"], ["read"]]
    assert [each.command_line for each in (wrote, read)] == [1, 2]
    (one,) = audit_text("post", commands + "".join(_DD.splitlines(keepends=True)[1:]), Context())
    assert one.command_line == 2


def test_random_reads_one_at_a_time_that_take_a_microsecond_come_from_ram() -> None:
    """elbencho may print no latency, but with one thread, the interval between two reads bounds it."""
    table = (
        "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n"
        "READ        Elapsed time     :        10s         10s\n"
        "            IOPS             :     {0}      {0}\n"
    )
    command = "elbencho -r --rand -b 4k -t {} -s 40g /srv/f\n"
    assert "memory-latency" in _doubts(_audited(command.format(1) + table.format(800_000)))
    assert "memory-latency" not in _doubts(_audited(command.format(1) + table.format(12_000)))
    assert "memory-latency" not in _doubts(_audited(command.format(64) + table.format(800_000)))


@pytest.mark.parametrize(
    ("options", "headings", "suspect"),
    [
        (("Before: noatime,barrier=1", "After: relatime,barrier=0"), ("Tests before:", "Tests after:"), [False, True]),
        (("- Old: nobarrier", "- New: barrier=1"), ("## Old options", "## New options"), [True, False]),
        (("Before: noatime,barrier=1", "After: relatime,barrier=0"), ("Tests:", "Again:"), [False, False]),
        (("Before: noatime,barrier=1", "relatime,barrier=0"), ("Tests before:", "Tests after:"), [False, False]),
    ],
)
def test_settings_before_and_after_a_change_apply_below_their_headings(
    options: tuple[str, str], headings: tuple[str, str], suspect: list[bool]
) -> None:
    text = "\n".join(options) + "".join(f"\n\n{heading}\n\n{_SYNCS}" for heading in headings)
    found = [each for each in audit_text("post", text, Context()) if "fsync" in each.job]

    assert [("flushes-missing" in _doubts(each)) for each in found] == suspect


@pytest.mark.parametrize(
    ("line", "ram"),
    [
        ("48 gigs of RAM", "48 GiB"),
        ("4 x 16GB DDR4-3200", "64 GiB"),
        ("Xeon, 96GB ECC, two mirrors", "96 GiB"),
        ("Memory (GB): 24", "24 GiB"),
        ("| RAM | 48 GB |", "48 GiB"),
        ("- RAM - 48GB", "48 GiB"),
        ("Memory: 9120MiB / 24576MiB", "24 GiB"),
        ("Memory: RAM: total: 48 GiB used: 5 GiB (10%)", "48 GiB"),
        ("KiB Mem : 25165824 total,   201200 free, 9100000 used", "24 GiB"),
        ("Total online memory:      48G", "48 GiB"),
        ("hw.physmem: 51539607552", "48 GiB"),
        ("real memory  = 51539607552 (49152 MB)", "48 GiB"),
        ("RTX 3080 with 10GB GDDR6", ""),
        ("Each VM has 8 GB DDR4", ""),
        ("Controller with 2GB ECC cache", ""),
    ],
)
def test_programs_and_people_write_the_amount_of_ram_in_many_ways(line: str, ram: str) -> None:
    (judged,) = audit_text("post", f"{line}\n{_DD}", Context())
    assert [fact.partition("RAM is ")[2] for fact in judged.known if "RAM is" in fact] == ([ram] if ram else [])
