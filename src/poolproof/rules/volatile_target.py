"""Test files in RAM."""

from poolproof.rules.model import Case, Effect, Findings, Rule, finding, linux_source


def _in_job(case: Case) -> Findings:
    yield from _finding(case, "suspects")


def _in_result(case: Case) -> Findings:
    if case.outcome is not None or case.evidence is not None:
        yield from _finding(case, "refutes")


def _finding(case: Case, effect: Effect) -> Findings:
    if case.target and case.target.volatile:
        is_meant = not case.cold and not case.load.writes
        yield finding(
            "notes" if is_meant else effect,
            f"the files are on {case.target.file_system} in RAM: the result does not involve a disk. direct=1 causes "
            "no error there, and a sync does nothing",
            weight=95,
        )


RULE = Rule(
    title="The target is RAM",
    wrong="tmpfs, ramfs, brd and zram are memory. Current kernels accept O_DIRECT on tmpfs, so fio shows no error.",
    shows="Before the run: the target is one of these.",
    error="Too high. Measured: 293,000 random reads/s, and an fdatasync p99 of 266 ns, which passes etcd's own test.",
    fix="put the test files on the disk that will store the data: directory=/path/on/that/disk",
    sources=(
        "measured cases L14, L15",
        linux_source("6.12", "mm/shmem.c", "shmem_file_open (FMODE_CAN_ODIRECT)"),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    explains_lost={"read": "the target itself is RAM", "write": "the target itself is RAM"},
    commands="fio --name=trap --directory=/dev/shm --rw=randread --bs=4k --size=64m --direct=1; rm -f /dev/shm/trap*",
)
