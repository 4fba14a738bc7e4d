"""Caches that are dropped while they still contain dirty pages."""

import re

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import writers_of
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Findings, Rule, finding, fio_source, linux_source, suspects
from poolproof.rules.path import may_end_in_ram

_SYNCS = re.compile(r"\bsync\b.*drop_caches", re.DOTALL)
_REDIRECTED = re.compile(r">\s*[^\s>;&|()'\"]*drop_caches\s*(?:\d?>&\d\s*)?$")
_DROPS = "sync && sysctl vm.drop_caches=3"


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        writers = list(writers_of(case, job)) if case.drops_only_clean else []
        if writers and case.cold and job.reads and may_end_in_ram(job, case.target):
            yield suspects(
                f"the caches are dropped before {case.who([job])} reads, but without a sync: the data that job "
                f"`{writers[-1].name}` wrote is still dirty and stays in RAM",
                weight=60,
                fix="run sync before the command that drops the caches, or end the write with end_fsync=1",
            )
        command = fio_job(job).text("exec_prerun") or ""
        if _REDIRECTED.search(command):
            yield finding(
                "suspects" if case.cold and job.reads else "notes",
                f"exec_prerun does not drop the caches: fio appends its own `> {job.name}.prerun.txt` to the command "
                f"({command}), so the shell writes the command's output to that file",
                weight=47,
            )
        elif "drop_caches" in command and not _SYNCS.search(command):
            yield finding(
                "suspects" if case.cold and job.reads else "notes",
                f"exec_prerun drops the caches without running sync first, so dirty pages stay in RAM ({command})",
                weight=45,
            )


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    command = fio_job(job).text("exec_prerun")
    if command is None:
        return {}
    return {"exec_prerun": _DROPS if _REDIRECTED.search(command) else f"sync && {command}"}


RULE = Rule(
    title="drop_caches without sync",
    wrong=(
        "drop_caches frees only clean pages. Data that was just written is still dirty, so it stays in RAM, and reads "
        "of this data do not reach the disk. drop_caches shrinks ZFS's ARC, but may not empty it completely: export "
        "and import the pool instead."
    ),
    shows=(
        "In a script: after a buffered write and before a read of the same file, a command drops the caches without a "
        "sync. In a job: exec_prerun writes to drop_caches without running sync first, or its last command redirects "
        "its output to drop_caches. Such a redirection has no effect, because fio appends a redirection of its own, "
        "and the shell uses the last one."
    ),
    error="Too high for reads.",
    fix=(
        "set exec_prerun=sync && sysctl vm.drop_caches=3 (do not use `;`, which starts a comment in a job file, or "
        "`>`, because fio redirects the output itself)"
    ),
    sources=(
        linux_source("6.12", "fs/drop_caches.c", "drop_pagecache_sb"),
        fio_source("3.42", "backend.c", "exec_string (`%s > %s.%s.txt`)"),
        "https://docs.kernel.org/admin-guide/sysctl/vm.html (drop_caches)",
    ),
    in_job=_in_job,
    options=("exec_prerun", "filename", "directory"),
    fixed_options=_fixed_options,
    needs="Needs root. Remove the `sync` before the first count to see the effect.",
    prepare="fio --name=fill --filename=trap --rw=write --bs=1m --size=256m --refill_buffers",
    commands="echo 3 > /proc/sys/vm/drop_caches\nfio --rw=read --bs=1m --size=256m --invalidate=0",
)
