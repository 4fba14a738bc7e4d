"""The input and output of rules. Each module in this folder that defines `RULE` describes one pitfall."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from poolproof.errors import one_line
from poolproof.evidence.model import Evidence, LeafUse, TestFile
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome
from poolproof.metrics import MetricId
from poolproof.rules.quoted import Quoted
from poolproof.verdicts import Verdict

Effect = Literal["fails", "refutes", "suspects", "leaves-unproven", "notes"]
VERDICTS: Mapping[Effect, Verdict | None] = {
    "fails": "failed",
    "refutes": "refuted",
    "suspects": "suspect",
    "leaves-unproven": "unproven",
    "notes": None,
}
"""The verdict that each effect of a finding leads to, strongest effect first. It is None for notes."""
EFFECTS = tuple(VERDICTS)
"""The effects of findings, strongest first."""

Changes = Mapping[str, str | None]
"""The options to set in a job, keyed by name. The value None removes an option."""

_MOST_NAMES = 6
_SCRIPT_HEAD = """\
#!/bin/sh
# Run this in a directory on the file system to test. It leaves its test files there as ./trap*. It needs fio.
set -eu
disk=/sys/class/block/$(basename "$(findmnt -nvo SOURCE -T .)")/stat
[ -r "$disk" ] || disk=/dev/null  # NFS, ZFS and FUSE have no disk of their own
counted() { awk -v at="$1" '{printf "%s: %d MiB read, %d MiB written by the disk\\n", at, $3/2048, $7/2048}' "$disk"; }
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a rule found.

    `message`: the measured values and their consequence. Like `fix`, it is always a single line.
    `fix`: what to type or change, as an imperative that starts in lower case.
    `weight`: orders findings with the same effect, largest first. A rule that identifies the cause has a larger weight
    than a rule that only detects that the bytes do not match.
    `metrics`: the metrics whose verdict the finding changes; empty for all metrics.
    """

    rule: str
    effect: Effect
    message: str
    fix: str
    weight: int = 50
    metrics: tuple[MetricId, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rule", "message", "fix"):
            if not getattr(self, name).isprintable():
                object.__setattr__(self, name, one_line(getattr(self, name)))

    @property
    def rank(self) -> tuple[int, int, str]:
        """A sort key that puts the strongest finding first. It compares the effect, then the weight, then the rule."""
        return EFFECTS.index(self.effect), -self.weight, self.rule

    def is_about(self, metric: MetricId) -> bool:
        return not self.metrics or metric in self.metrics


Findings = Iterable[Finding]


def finding(
    effect: Effect, message: str, weight: int = 50, fix: str = "", metrics: tuple[MetricId, ...] = ()
) -> Finding:
    """Return a finding, for a check to yield.

    `Rule` fills in the rule's id. If `fix` is empty, it also fills in the rule's own fix.
    """
    return Finding("", effect, message, fix, weight, metrics)


fails = partial(finding, "fails")
refutes = partial(finding, "refutes")
suspects = partial(finding, "suspects")
leaves_unproven = partial(finding, "leaves-unproven")
notes = partial(finding, "notes")


@dataclass(frozen=True)
class Case:
    """What is known about one result: the job, fio's output, the counters and the target. Only the job is required.

    `cold`: True (the default) if the measurement should exclude caches; False if RAM is part of it.
    `asked_s`: the requested run time in seconds, or None if unknown.
    `quoted`: facts from the text around the result, or None for a result without such text.
    `earlier`: the loads that ran on the same files before this one, oldest first, as far as the input shows them.
    `drops_caches`: True if the input drops the caches after the last earlier load.
    `drops_only_clean`: True if the input drops the caches before the written data was synced. Dirty pages then stay in
    RAM, and `drops_caches` is False.
    `drops_each_time`: True if the input drops the caches each time before it runs this load, and runs nothing else in
    between.
    `empties_arc_each_time`: the same for ZFS's ARC, which is emptied by an export of the pool.
    `empty`: the files and devices that a program in the input leaves without data, mapped to the program's name.
    `zeros`: the files and devices that a program in the input fills with zeros, mapped to the program's name.
    """

    load: Load
    outcome: Outcome | None = None
    evidence: Evidence | None = None
    target: Target | None = None
    cold: bool = True
    asked_s: float | None = None
    quoted: Quoted | None = None
    earlier: tuple[Load, ...] = ()
    drops_caches: bool = False
    drops_only_clean: bool = False
    drops_each_time: bool = False
    empties_arc_each_time: bool = False
    empty: Mapping[str, str] = field(default_factory=dict)
    zeros: Mapping[str, str] = field(default_factory=dict)

    @property
    def jobs(self) -> tuple[LoadPart, ...]:
        return self.load.parts

    @property
    def generator(self) -> str:
        """The name of the load generator, as used in messages."""
        return self.load.generator

    @property
    def leaves(self) -> tuple[LeafUse, ...]:
        return self.evidence.leaves if self.evidence else ()

    @property
    def files(self) -> tuple[TestFile, ...]:
        return self.evidence.files if self.evidence else ()

    @property
    def zfs(self) -> ZfsFacts | None:
        return self.target.zfs if self.target else None

    @property
    def is_direct(self) -> bool:
        """True if each job sets direct=1."""
        return bool(self.jobs) and all(job.direct for job in self.jobs)

    def job_named(self, name: str) -> LoadPart | None:
        """Return the job with this name, or None if no job has it.

        If the load consists of a single job, that job is returned regardless of its name.
        """
        named = [job for job in self.jobs if job.name == name]
        only = self.jobs if len(self.jobs) == 1 else ()
        return next(iter((*named, *only)), None)

    def counters(self, source: str) -> Mapping[str, float]:
        """Return the increase in each of the source's counters, keyed by name. Empty if the source was not read."""
        return self.evidence.counters.get(source, {}) if self.evidence else {}

    def who(self, jobs: Sequence[LoadPart]) -> str:
        """Return the jobs as the subject of a singular verb: "the job", "job `a`" or "each of the jobs `a`, `b`"."""
        if len(self.jobs) == 1:
            return "the job"
        if len(jobs) > 1 and len({job.name for job in jobs}) == 1:
            return f"each of the {len(jobs)} jobs `{jobs[0].name}`"
        names = ", ".join(f"`{job.name}`" for job in jobs[:_MOST_NAMES])
        if len(jobs) > _MOST_NAMES:
            names += f" and {len(jobs) - _MOST_NAMES} more"
        return f"job {names}" if len(jobs) == 1 else f"each of the jobs {names}"


Check = Callable[[Case], Findings]


def rule_id(module: str) -> str:
    """Return a rule's id, which is the name of its module with dashes in place of underscores."""
    return module.rpartition(".")[2].replace("_", "-")


@dataclass(frozen=True)
class Rule:
    """A pitfall: what goes wrong, how to recognize it, whether the result is too high or too low, and how to fix it.

    `id`: the name of the rule's module, with dashes. `rule_catalogue.py` sets it.

    `in_job`: checks the job and the target before a run.

    `in_result`: checks the result.

    `commands`: a shell script that demonstrates the effect, in which `fio --rw=…` is short for `fio --name=trap
    --filename=trap --rw=…`.

    `prepare`: the commands to run before the counters are first read.

    `needs`: anything else that the script requires, for example root.

    `cleared_by_byte_count`: what happens to the findings of `in_job` if the byte accounting proves the result. With
    True, they are dropped, because the pitfall would have changed where the bytes go. With False, they become notes,
    because the pitfall does not change where the bytes go (for example, a queue depth that is never reached). See
    docs/verdicts.md.

    `explains_lost`: an explanation of why bytes that fio moved reached no disk, for reads and for writes. The report
    shows it in the byte flow.

    `not_compared`: a short reason for excluding metrics with this rule's finding from comparisons and rankings, even
    though their verdict would allow them. If empty, they are compared.

    `notes_are_remarks`: True if the rule's notes say what a comparison of the result depends on. Then every output that
    shows the result shows them too.

    `least_rate`: a function of a case and the reported rate that returns the lowest true rate compatible with the
    pitfall, and the calculation as text. An audit uses it if the rule refutes or suspects a result without counters.

    `is_about_machine`: True if `in_job` finds the same for every job on a machine, so that lint reports it once.

    `fix_if_direct`: the fix for a load whose jobs all set direct=1, if `fix` says to set it.

    `is_ceiling`: True if the rule refutes results that exceed the speed of the disks. If an audit knows that speed only
    from a sentence near the result, it downgrades the finding to `suspects`.

    `is_about_data`: False if the rule also applies to a load whose engine moves no data. Most rules compare the bytes
    and I/Os of a result with counters or with the speed of disks, which means nothing for such a load.

    `options`: the fio options that `in_job` checks, most important first.

    `fixed_options`: the changes to a job after which `in_job` finds nothing, or a function that returns them. Empty if
    a person has to choose.
    """

    title: str
    wrong: str
    shows: str
    error: str
    fix: str
    sources: tuple[str, ...]
    commands: str
    id: str = ""
    prepare: str = ""
    needs: str = ""
    in_job: Check | None = None
    in_result: Check | None = None
    cleared_by_byte_count: bool = True
    explains_lost: Mapping[Literal["read", "write"], str] = field(default_factory=dict)
    not_compared: str = ""
    notes_are_remarks: bool = False
    least_rate: Callable[[Case, float], tuple[float, str]] | None = None
    is_about_machine: bool = False
    fix_if_direct: str = ""
    is_ceiling: bool = False
    is_about_data: bool = True
    options: tuple[str, ...] = ()
    fixed_options: Changes | Callable[[Case, LoadPart], Changes] = field(default_factory=dict)

    def check_job(self, case: Case) -> tuple[Finding, ...]:
        """Return the findings of `in_job`."""
        return self._complete(self.in_job, case)

    def check_result(self, case: Case) -> tuple[Finding, ...]:
        """Return the findings of `in_result`."""
        return self._complete(self.in_result, case)

    def _complete(self, check: Check | None, case: Case) -> tuple[Finding, ...]:
        made = tuple(check(case)) if check else ()
        if not made:
            return ()
        fix = self.fix_if_direct if self.fix_if_direct and case.is_direct else self.fix
        return tuple(replace(found, rule=self.id, fix=found.fix or fix) for found in made)

    def changes(self, case: Case, job: LoadPart) -> Changes:
        """Return the changes that fix this job."""
        return self.fixed_options(case, job) if callable(self.fixed_options) else self.fixed_options

    @property
    def reproduce(self) -> str:
        """A shell script that demonstrates the pitfall and prints the disk's counters next to fio's output."""
        needs = f"# {self.needs}\n" if self.needs else ""
        prepare = f"{self.prepare}\n" if self.prepare else ""
        commands = self.commands.replace("fio --rw=", "fio --name=trap --filename=trap --rw=")
        counted = f"sync; counted before\n{commands}\ncounted 'when fio ended'\nsync; counted 'after a sync'\n"
        return _SCRIPT_HEAD + needs + prepare + counted


def fio_source(release: str, file: str, function: str) -> str:
    """Return a citation for a function in fio's source code. `release`: the release in which the function was read."""
    return f"fio {release} {file}, {function}"


def zfs_source(release: str, file: str, function: str) -> str:
    """Return a citation for a function in OpenZFS's source code.

    `release`: the release in which the function was read.
    """
    return f"OpenZFS {release} {file}, {function}"


def linux_source(release: str, file: str, function: str) -> str:
    """Return a citation for a function in the Linux kernel's source code.

    `release`: the release in which the function was read.
    """
    return f"Linux {release} {file}, {function}"


def fio_doc(options: str) -> str:
    """Return a citation for the description of these options in fio's manual."""
    return f"https://fio.readthedocs.io/en/latest/fio_doc.html ({options})"


def fio_issue(number: int) -> str:
    """Return the URL of an issue in fio's GitHub repository."""
    return f"https://github.com/axboe/fio/issues/{number}"


def zfs_issue(number: int) -> str:
    """Return the URL of an issue in OpenZFS's GitHub repository."""
    return f"https://github.com/openzfs/zfs/issues/{number}"


def fill(size: str) -> str:
    """Return a shell command that fills the test file with incompressible data.

    `size`: the file's size in fio's notation, e.g. 256m.
    """
    return f"fio --name=fill --filename=trap --rw=write --bs=1m --size={size} --refill_buffers --end_fsync=1"
