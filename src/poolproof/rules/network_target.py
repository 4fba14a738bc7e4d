"""A network file system, whose server has a cache."""

from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, linux_source, notes
from poolproof.rules.path import is_network

_LARGE = 8 << 30  # any file server may have less than this in RAM


def _in_job(case: Case) -> Findings:
    if case.target is None or not is_network(case.target) or not case.cold:
        return
    readers = [job for job in case.jobs if job.reads]
    writers = [job for job in case.jobs if job.writes and not job.reads]
    if readers:
        size = case.load.unique_bytes
        is_large = all(job.direct for job in readers) and (size is None or size >= _LARGE)
        yield finding(
            "notes" if is_large else "suspects",
            f"{case.who(readers)} reads from {case.target.file_system}: the server may serve reads from RAM, and the "
            "I/O of its disks is not counted here"
            + ("" if readers[0].direct else "; without direct=1, the client caches reads too"),
            weight=55,
        )
    elif writers:
        yield notes(
            f"{case.who(writers)} writes to {case.target.file_system}: the I/O of the server's disks is not counted "
            "here, so nothing shows when the data reached them",
            weight=35,
            fix="run fio on the server and read the counters there",
        )


RULE = Rule(
    title="The server has a cache too",
    wrong="On NFS, SMB, Ceph or 9p, O_DIRECT bypasses the RAM of the client, but not that of the server, which serves "
    "reads from its RAM if it can.",
    shows="Before the run: the target is on a network file system. The result is suspect if a job reads. The finding "
    "is only a note if all reads use direct=1 and cover at least 8 GiB or an unknown amount, or if no job reads.",
    error="Too high.",
    fix="run fio on the server and read the counters there, or read more than twice the server's RAM",
    sources=(
        linux_source("6.12", "fs/nfs/direct.c", "nfs_file_direct_read (bypasses the client's page cache)"),
        linux_source("6.12", "fs/ceph/file.c", "ceph_direct_read_write"),
        "man nfs (O_DIRECT)",
        fio_doc("direct"),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    needs="Run this on an NFS mount. findmnt shows no disk there: read the counters on the server.",
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=512m --direct=1; done",
)
