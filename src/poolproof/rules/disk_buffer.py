"""Random reads of data that fits in the buffer of a rotational disk."""

from poolproof.load.merge import direction_of
from poolproof.rules.model import Case, Findings, Rule, notes, suspects
from poolproof.units import format_count, format_number_of, format_size

_SURELY = 16 << 20
_MAYBE = 256 << 20
_SEEKS, _SEEKS_DEEP = 300, 450


def _in_job(case: Case) -> Findings:
    if (found := _covered(case)) is None or case.outcome is not None:
        return  # a result shows in its rate what the buffer did
    size, disks = found
    if size <= _SURELY * disks:
        yield suspects(_message(size, disks), weight=84)
    elif size <= _MAYBE * disks and any(job.time_based for job in case.jobs if job.reads and job.is_random):
        yield notes(_message(size, disks), weight=40)


def _in_result(case: Case) -> Findings:
    """If seeks allow the rate, the result is not doubted, because the buffer then served few reads."""
    found = _covered(case)
    if found is None or case.outcome is None or found[0] > _MAYBE * found[1]:
        return
    size, disks = found
    rate = (direction.iops if (direction := direction_of(case.outcome, "read")) else None) or 0.0
    if rate > _SEEKS_DEEP * disks or (size <= _SURELY * disks and rate > _SEEKS * disks):
        yield suspects(
            f"{_message(size, disks)}. {format_count(rate)} reads/s are more than seeks allow: "
            f"{format_count(_SEEKS * disks)}",
            weight=84,
        )


def _covered(case: Case) -> tuple[int, int] | None:
    """Return the bytes that cold random reads cover, and the number of rotational disks; None if unknown."""
    target, size = case.target, case.load.unique_bytes
    if target is None or not target.rotational or not target.disks or not case.cold or size is None:
        return None
    return (size, target.disks) if any(job.reads and job.is_random for job in case.jobs) else None


def _message(size: int, disks: int) -> str:
    return (
        f"the random reads cover only {format_size(size)} on {format_number_of(disks, 'rotational disk')}: the buffer "
        "of a disk can hold that, and the kernel counts its hits as requests to the disk"
    )


RULE = Rule(
    title="Reads from the disk's own buffer",
    wrong="A hard disk has 16 to 512 MiB of RAM and reads whole tracks into it. Random reads of a small area need no "
    "seek after the first pass. The kernel counts them like any other request.",
    shows="Before a run: random reads of at most 16 MiB per rotational disk are suspect; up to 256 MiB, a time_based "
    "job gets a note. In a result: such reads at more than 300/s per disk (450/s if they cover more than 16 MiB): more "
    "than seeks allow.",
    error="Too high. Measured on an emulated hard disk: 3,822 random reads/s in a file of 2 MiB, and 130/s in a large "
    "one.",
    fix="use a size of at least 1 GiB per disk, or more than the buffer that the data sheet states",
    sources=("data sheets of hard disks (buffer size)", "docs/emulated-disks.md"),
    in_job=_in_job,
    options=("size",),
    in_result=_in_result,
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=2m --direct=1 --time_based --runtime=5",
)
