"""Disks whose I/O the kernel does not count."""

from poolproof.rules.flow import uncounted
from poolproof.rules.model import Case, Findings, Rule, fio_issue, leaves_unproven, linux_source, notes


def _in_job(case: Case) -> Findings:
    if switched_off := case.target.not_counted if case.target else ():
        yield notes(_message(switched_off, "queue/iostats is 0"), weight=75)


def _in_result(case: Case) -> Findings:
    if names := uncounted(case):
        off = set(case.target.not_counted if case.target else ()) >= set(names)
        why = "queue/iostats is 0" if off else "the counters have been 0 since the disk appeared"
        yield leaves_unproven(_message(names, why), weight=75)
    backing = case.target.backing if case.target else None
    if backing and backing.not_counted:
        why = "queue/iostats is 0, and it stores the files of loop devices"
        yield leaves_unproven(_message(backing.not_counted, why), weight=75)
    if backing and backing.served_by_program:
        why = "a program serves the loop device's file through FUSE"
        yield leaves_unproven(
            _message(tuple(f"the disk below {name}" for name in backing.served_by_program), why), weight=75
        )


def _message(names: tuple[str, ...], why: str) -> str:
    return f"the I/O of {', '.join(names)} is not counted, because {why}: the result cannot be proven"


RULE = Rule(
    title="The disks' I/O is not counted",
    wrong=(
        "The kernel does not count the I/O of a disk if queue/iostats is 0, and older kernels do not count the I/O of "
        "an NVMe disk with native multipath. A counter that stays at 0 therefore does not show that the disk was idle. "
        "If the file of a loop device is on a FUSE file system, a program serves it, perhaps from RAM, and nothing "
        "counts the I/O of that program."
    ),
    shows="Before the run: queue/iostats is 0 for a disk, or for the disk that stores the file of a loop device; or "
    "the file of a loop device is on a FUSE file system. Emulated disks are excluded. In the counters: all counters of "
    "a disk have been 0 since it appeared.",
    error="Unknown, because the counters cannot show whether RAM served the I/O.",
    fix="run echo 1 > /sys/block/DISK/queue/iostats; for NVMe with multipath, use a newer kernel; put the files of "
    "loop devices on a file system that is not FUSE",
    sources=(
        "https://www.kernel.org/doc/html/latest/block/queue-sysfs.html (iostats)",
        linux_source("6.12", "drivers/nvme/host/multipath.c", "nvme_mpath_start_request"),
        fio_issue(1890),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=64m --direct=1",
)
