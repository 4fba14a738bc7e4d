"""A ZFS mirror of files on a disk that turns and one that does not."""

from collections.abc import Iterable

from poolproof.rules.mirror_reads import Mirror, mirrors_read
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script

_FIX = "give ZFS the disks themselves as vdevs; where files are meant, say so beside the figure"


def _in_result(case: Case) -> Iterable[Finding]:
    yield from (_finding(mirror) for mirror in mirrors_read(case) if mirror.hides_what_turns)


def _finding(mirror: Mirror) -> Finding:
    return Finding(
        rule="mirror-of-files",
        effect="notes",
        message=f"{mirror.turning} turns and {mirror.still} does not, but the vdevs are files, and ZFS takes every "
        f"file for a disk that does not turn: it shares the reads out by the length of the queues alone, here "
        f"{mirror.shares}. With the disks themselves as vdevs it would read from {mirror.still}",
        fix=_FIX,
        weight=70,
    )


RULE = Rule(
    id="mirror-of-files",
    title="A mirror of files, where ZFS cannot see what turns",
    wrong="ZFS reads from the side of a mirror whose queue is shorter, and counts a seek for more on a disk that "
    "turns. Of a file it does not know what lies below, and takes it for a disk that does not turn: an SSD and a "
    "hard disk get half of the reads each. A test of mirrors on files says nothing of mirrors on disks.",
    shows="In evidence: reads from a mirror whose sides are files, on disks of which some turn and some do not.",
    error="Low for a mirror of an SSD and a hard disk. Measured: half from each with files, all from the SSD with "
    "disks.",
    fix=_FIX,
    sources=(
        "https://github.com/openzfs/zfs/blob/zfs-2.1.11/module/os/linux/zfs/vdev_file.c (vdev_file_open)",
        "https://github.com/openzfs/zfs/blob/zfs-2.1.11/module/zfs/vdev_mirror.c (vdev_mirror_load)",
        "Jim Salter, ZFS does NOT favor lower latency devices, 2018: files as vdevs",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        "zpool create trap mirror /on/rust/file /on/ssd/file; fio --name=trap --directory=/trap --rw=randread --bs=16k "
        "--size=1g; zpool iostat -v trap",
        needs="A file system on a hard disk, one on an SSD, and a file of 2 GiB on each.",
    ),
)
