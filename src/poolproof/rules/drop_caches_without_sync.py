"""Dropping the caches without writing dirty pages first."""

import re
from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.reproduction import script

_DROPS = re.compile(r"drop_caches")
_SYNCS = re.compile(r"\bsync\b.*drop_caches", re.DOTALL)


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts:
        command = fio_job(job).text("exec_prerun") or ""
        if _DROPS.search(command) and not _SYNCS.search(command):
            yield Finding(
                rule="drop-caches-without-sync",
                effect="suspects" if case.cold and job.reads else "notes",
                message=f"exec_prerun drops the caches without a sync before it: dirty pages stay in RAM ({command})",
                fix='exec_prerun="sync && echo 3 > /proc/sys/vm/drop_caches" (fio reads `;` as the start of a comment)',
                weight=45,
            )


def _mended(_case: Case, job: LoadPart) -> Changes:
    return {"exec_prerun": f"sync && {fio_job(job).text('exec_prerun')}"}


RULE = Rule(
    id="drop-caches-without-sync",
    title="drop_caches without sync",
    wrong="drop_caches frees only clean pages. Data that was just written is dirty and stays in RAM, where a read "
    "finds it. ZFS's ARC is asked to shrink, but may not become empty.",
    shows="In a job: exec_prerun writes to drop_caches, without a sync before it.",
    error="Too high on reads.",
    fix="sync first; on ZFS, export and import the pool.",
    sources=("https://docs.kernel.org/admin-guide/sysctl/vm.html (drop_caches)",),
    pitfall_numbers="#45",
    in_job=_in_job,
    options=("exec_prerun",),
    fixed_options=_mended,
    reproduce=script(
        trap="echo 3 > /proc/sys/vm/drop_caches\nfio --name=trap --filename=trap --rw=read --bs=1m --size=256m "
        "--invalidate=0",
        before="fio --name=fill --filename=trap --rw=write --bs=1m --size=256m --refill_buffers",
        needs="Needs root. Remove the `sync` before the first count to see the effect.",
    ),
)
