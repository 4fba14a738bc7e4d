"""Several files on a union of disks: which disk got them?"""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import count, who
from poolproof.rules.reproduction import script

_NEARLY_ALL = 0.95
_FIX = (
    "say which branch each file landed on (`getfattr -n user.mergerfs.basepath FILE`), choose the policy by "
    "category.create, and measure one branch by itself first"
)


def _is_union(case: Case) -> bool:
    return case.target is not None and "mergerfs" in case.target.file_system


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.clones * job.files > 1 and not job.shares_one_file]
    if _is_union(case) and jobs:
        yield Finding(
            rule="branch-placement",
            effect="notes",
            message=f"{who(case, jobs)} makes {jobs[0].clones * jobs[0].files} files, and the create policy decides "
            "which disk takes which: one disk may take all",
            fix=_FIX,
            weight=35,
        )


def _in_result(case: Case) -> Iterable[Finding]:
    leaves = case.evidence.leaves if case.evidence and _is_union(case) else ()
    sizes = {leaf.device: leaf.read_bytes + leaf.drained_write_bytes for leaf in leaves}
    whole = sum(sizes.values())
    if len(sizes) < 2 or not whole:
        return
    device, most = max(sizes.items(), key=lambda item: item[1])
    if most >= _NEARLY_ALL * whole:
        yield Finding(
            rule="branch-placement",
            effect="notes",
            message=f"{device} moved {100 * most / whole:.0f} % of the bytes, the other "
            f"{count(len(sizes) - 1, 'disk')} next to nothing: the figure is that of {device}, not of the pool",
            fix=_FIX,
            weight=45,
        )


RULE = Rule(
    id="branch-placement",
    title="One branch did all the work",
    wrong="mergerfs stores a file whole on one branch. A test with one file measures one disk; a test with several "
    "measures whatever the create policy chose, and the sum is reported as the pool.",
    shows="In a job: several files on mergerfs. In evidence: one leaf moved 95 % of the bytes or more.",
    error="Either way, against what the reader takes for the pool.",
    fix=_FIX,
    sources=("https://trapexit.github.io/mergerfs/ (benchmarking, policies)",),
    pitfall_numbers="#18",
    in_job=_in_job,
    options=("numjobs", "nrfiles", "filename", "directory"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        "fio --name=trap --directory=. --rw=write --bs=1m --size=128m --numjobs=4 --end_fsync=1 --group_reporting; "
        "getfattr -n user.mergerfs.basepath trap.*",
        needs="On a mergerfs mount.",
    ),
)
