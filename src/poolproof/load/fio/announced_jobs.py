"""The jobs that fio announces in header lines before it starts them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from poolproof.load.fio.job import Job
from poolproof.load.fio.merged_sections import starts_group
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.outcome import Outcome


def announced(headers: Sequence[Job], result: Outcome, line: int) -> SourceCommand | None:
    """Return the jobs that fio announced, with the number of clones of each, or None if they are not those of a result.

    With group_reporting, the result of a section may include those of the sections that follow it, which have no
    result of their own, unless they are in another group. The number of clones of these sections is then unknown.
    If a text begins after the first header lines, the remaining ones may be about other jobs only. Groups without a
    result are left out: a text may end before it.
    """
    clones = Counter[str]()
    for part in result.parts:
        clones[part.name] += part.clones
    merged = {
        job.name for job, following in pairwise(headers) if following.name not in clones and not starts_group(following)
    }
    named = {name for name in clones if name and not name.startswith("group ")}
    shown = [
        job
        for group in _groups(headers)
        for job in group
        if not named or not named.isdisjoint(each.name for each in group)
    ]
    if not shown:
        return None
    jobs = tuple(
        Job(job.name, {**job.options, "numjobs": str(clones[job.name])})
        if job.name in clones and job.name not in merged
        else job
        for job in shown
    )
    return SourceCommand(jobs, "header", line)


def _groups(headers: Sequence[Job]) -> list[list[Job]]:
    groups: list[list[Job]] = []
    for job in headers:
        if not groups or starts_group(job):
            groups.append([])
        groups[-1].append(job)
    return groups
