"""A server's cache behind a network file system."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import is_network
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.reads or job.writes]
    if case.target is None or not is_network(case.target) or not jobs or not case.cold:
        return
    yield Finding(
        rule="network-target",
        effect="suspects",
        message=f"{who(case, jobs)} uses {case.target.file_system}: direct=1 bypasses only the client's cache; the "
        "server has its own, and its disks are not counted here",
        fix="run fio (and the counters) on the server, or read more than twice the server's RAM",
        weight=55,
    )


RULE = Rule(
    id="network-target",
    title="The server has a cache too",
    wrong="On NFS, SMB, Ceph or 9p, O_DIRECT applies only to the client. The server answers from its RAM if it can.",
    shows="Before the run: the file system of the target is a network file system.",
    error="High.",
    fix="Count on the server.",
    sources=("man nfs (O_DIRECT)", "https://fio.readthedocs.io/en/latest/fio_doc.html (direct)"),
    pitfall_numbers="#47",
    in_job=_in_job,
    options=("filename", "directory"),
    reproduce=script(
        "for run in 1 2; do fio --name=trap --filename=trap --rw=read --bs=1m --size=512m --direct=1; done",
        needs="Run on an NFS mount. findmnt shows no disk there: read the counters on the server.",
    ),
)
