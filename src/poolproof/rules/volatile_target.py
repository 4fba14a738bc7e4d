"""Test files in RAM."""

import re

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Effect, Findings, Rule, finding, linux_source

_RAM_PATH = re.compile(r"/dev/shm(?:/|$)|/dev/z?ram\d")
_IN_KERNEL_TESTS = re.compile(r"/dev/nullb\d+$")  # null_blk exists only to measure the kernel
_NOTHING = re.compile(r"/dev/(?:null|zero|full|nullb\d+)$")


def _in_job(case: Case) -> Findings:
    yield from _finding(case, "suspects")
    jobs = [job for job in case.jobs if _path_in_ram(job)] if case.target is None else []
    if jobs and (case.cold or case.load.writes):
        paths = list(dict.fromkeys(filter(None, map(_path_in_ram, jobs))))
        path = paths[0]
        what = "drops the data or keeps it in RAM" if _NOTHING.match(path) else "is RAM"
        named = path if len(paths) == 1 else f"a path such as {path}"
        is_meant = case.outcome is None and all(map(_IN_KERNEL_TESTS.match, paths))
        yield finding(
            "notes" if is_meant else "suspects",
            f"{case.who(jobs)} uses {named}, which {what}: no disk is involved",
            weight=95,
        )


def _path_in_ram(job: LoadPart) -> str | None:
    """Return the path of the first file or directory of the job that is probably not on a disk, or None."""
    fio = fio_job(job)
    names = map(fio.path, fio.filenames or ("",))
    return next((name.removesuffix("/") for name in names if _RAM_PATH.match(name) or _NOTHING.match(name)), None)


def _in_result(case: Case) -> Findings:
    if case.outcome is not None or case.evidence is not None:
        yield from _finding(case, "refutes")


def _finding(case: Case, effect: Effect) -> Findings:
    if case.target and case.target.volatile:
        is_meant = not case.cold and not case.load.writes
        place = "a block device" if case.target.file_system == "block device" else case.target.file_system
        uses = "the job uses" if (place or "").startswith("fio's ") else "the files are on"
        yield finding(
            "notes" if is_meant else effect,
            f"{uses} {place} in RAM, so no disk is involved. direct=1 causes no error there, and a sync does nothing",
            weight=95,
        )


RULE = Rule(
    title="The target is RAM",
    wrong="tmpfs, ramfs, brd and zram are memory, and null_blk and /dev/null drop the data or keep it in RAM. Current "
    "kernels accept O_DIRECT on tmpfs, so fio shows no error.",
    shows="Before the run: the target is one of these, or its path shows it (/dev/shm, /dev/ram0, /dev/nullb0). For a "
    "job on /dev/nullb0, the finding is a note, because null_blk exists to measure the kernel. If the target is known "
    "to be one of these, for example because a command in a text mounts tmpfs or a RAM disk there, a result is "
    "refuted, unless RAM is part of the measurement and the job does not write.",
    error="Too high. Measured: 293,000 random reads/s, and an fdatasync p99 of 266 ns, which passes etcd's own test.",
    fix="put the test files on the disk that will store the data: directory=/path/on/that/disk",
    sources=(
        "measured cases L14, L15",
        linux_source("6.12", "mm/shmem.c", "shmem_file_open (FMODE_CAN_ODIRECT)"),
        "FreeBSD mdconfig(8), types malloc and swap",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    explains_lost={"read": "the target itself is RAM", "write": "the target itself is RAM"},
    commands="fio --name=trap --directory=/dev/shm --rw=randread --bs=4k --size=64m --direct=1; rm -f /dev/shm/trap*",
)
