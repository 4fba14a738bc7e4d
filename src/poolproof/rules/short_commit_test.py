"""etcd's disk test at its published size."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script
from poolproof.units import format_count, format_size

_COMMITS = 50_000
_LONG_S = 60.0


def _in_job(case: Case) -> Iterable[Finding]:
    if case.outcome is not None:
        return
    for job in case.load.parts:
        size = job.io_size_bytes or job.size_bytes
        if not job.writes or not job.commits_each_write or job.time_based or not size:
            continue
        commits = size // job.max_block_bytes
        if commits < _COMMITS:
            yield Finding(
                rule="short-commit-test",
                effect="notes",
                message=f"{who(case, [job])} makes {format_count(commits)} commits of "
                f"{format_size(job.max_block_bytes)}: on an SSD that takes seconds, and on a shared disk it may fall "
                "into a quiet moment",
                fix="size=220m, or time_based=1 with runtime=60; run it three times; use the p99 of fdatasync, not "
                "of clat",
                weight=30,
            )


def _mended(_case: Case, job: LoadPart) -> Changes:
    return {"time_based": "1", "runtime": f"{max(_LONG_S, job.runtime_s or 0):.0f}"}


RULE = Rule(
    id="short-commit-test",
    title="A commit test of a few seconds",
    wrong="etcd's published test writes 22 MiB: 10,030 commits. On an SSD that takes seconds, fits in every cache, "
    "and shows nothing about the minute after.",
    shows="In a job: a sync after each write, no time_based, fewer than 50,000 commits.",
    error="Latency is too low.",
    fix="size=220m or 60 s, three times, under the machine's usual load.",
    sources=(
        "https://github.com/replicatedhq/troubleshoot/issues/323",
        "https://github.com/ahrtr/etcd-issues/issues/6",
    ),
    pitfall_numbers="#20",
    in_job=_in_job,
    options=("io_size", "size"),
    fixed_options=_mended,
    reproduce=script("fio --name=trap --filename=trap --rw=write --ioengine=sync --fdatasync=1 --size=22m --bs=2300"),
)
