"""Test files in RAM."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.rules.reproduction import script

_FIX = "put the test files on the disk that will store the data: directory=/path/on/that/disk"


def _in_job(case: Case) -> Iterable[Finding]:
    yield from _finding(case, "suspects")


def _in_result(case: Case) -> Iterable[Finding]:
    if case.outcome is not None or case.evidence is not None:
        yield from _finding(case, "refutes")


def _finding(case: Case, effect: Effect) -> Iterable[Finding]:
    target = case.target
    if target is None or not target.volatile:
        return
    meant = not case.cold and not case.load.writes
    yield Finding(
        rule="volatile-target",
        effect="notes" if meant else effect,
        message=f"the files are on {target.file_system}, which is RAM: the result does not involve a disk. It accepts "
        "direct=1 without an error, and a sync does nothing there",
        fix=_FIX,
        weight=95,
    )


RULE = Rule(
    id="volatile-target",
    title="The target is RAM",
    wrong="tmpfs, ramfs, brd and zram are memory. Current kernels accept O_DIRECT on tmpfs, so fio shows no error.",
    shows="Before the run: the file system of the target is one of these.",
    error="High. Measured: 293k random reads a second; p99 of fdatasync 266 ns, which passes etcd's own test.",
    fix=_FIX,
    sources=("measured cases L14, L15", "Linux mm/shmem.c, shmem_file_open"),
    pitfall_numbers="#17, #20",
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    explains_lost={"read": "the target itself is RAM", "write": "the target itself is RAM"},
    reproduce=script(
        "fio --name=trap --directory=/dev/shm --rw=randread --bs=4k --size=64m --direct=1 --ioengine=libaio "
        "--iodepth=16; rm -f /dev/shm/trap*"
    ),
)
