"""The server's cache behind a network file system."""

from poolproof.rules.model import Case, Findings, Rule, fio_doc, suspects
from poolproof.rules.path import is_network


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.reads or job.writes]
    if case.target and is_network(case.target) and jobs and case.cold:
        yield suspects(
            f"{case.who(jobs)} uses {case.target.file_system}: direct=1 bypasses only the client's cache. The server "
            "caches too, and its disks are not counted here",
            weight=55,
        )


RULE = Rule(
    title="The server has a cache too",
    wrong="On NFS, SMB, Ceph or 9p, O_DIRECT applies only to the client. The server answers from its RAM if it can.",
    shows="Before the run: the file system of the target is a network file system.",
    error="Too high.",
    fix="run fio on the server and read the counters there, or read more than twice the server's RAM",
    sources=("man nfs (O_DIRECT)", fio_doc("direct")),
    in_job=_in_job,
    options=("filename", "directory"),
    needs="Run on an NFS mount. findmnt shows no disk there: read the counters on the server.",
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=512m --direct=1; done",
)
