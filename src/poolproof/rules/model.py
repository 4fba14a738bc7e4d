"""The input and the output of rules. Each pitfall is one file in this folder that defines `RULE`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from poolproof.evidence.model import Evidence, LeafUse, Target, TestFile, ZfsFacts
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
"""Maps each effect of a finding to the verdict that it causes, strongest effect first. Notes map to None."""
EFFECTS = tuple(VERDICTS)
"""The effects, strongest first."""

Changes = Mapping[str, str | None]
"""The options to set in one job, by name. An option whose value is None is removed."""

_MOST_NAMES = 6
_SCRIPT_HEAD = """\
#!/bin/sh
# Run this in a directory on the file system to test. It leaves its test files there as ./trap*. It needs fio.
set -eu
disk=/sys/class/block/$(basename "$(findmnt -nvo SOURCE -T .)")/stat
counted() { awk -v at="$1" '{printf "%s: %d MiB read, %d MiB written by the disk\\n", at, $3/2048, $7/2048}' "$disk"; }
"""


@dataclass(frozen=True)
class Finding:
    """One problem that a rule found.

    `message` gives the values and the consequence. `fix` starts with a verb in lower case and says what to type or
    change. `weight` orders findings of equal effect, largest first: a rule that names the cause has a larger weight
    than a rule that sees only that the bytes do not match. `metrics` are the metrics whose verdict the finding changes.
    If it is empty, the finding changes every metric's verdict.
    """

    rule: str
    effect: Effect
    message: str
    fix: str
    weight: int = 50
    metrics: tuple[MetricId, ...] = ()

    @property
    def rank(self) -> tuple[int, int, str]:
        """Return a sort key that puts the strongest finding first: by effect, then by weight, then by rule."""
        return EFFECTS.index(self.effect), -self.weight, self.rule

    def is_about(self, metric: MetricId) -> bool:
        """True if the finding changes the verdict of the metric, or is a note on it."""
        return not self.metrics or metric in self.metrics


Findings = Iterable[Finding]


def finding(
    effect: Effect, message: str, weight: int = 50, fix: str = "", metrics: tuple[MetricId, ...] = ()
) -> Finding:
    """Return a finding that a check can yield. `Rule` adds the rule's id and, if `fix` is empty, the rule's fix."""
    return Finding("", effect, message, fix, weight, metrics)


fails = partial(finding, "fails")
refutes = partial(finding, "refutes")
suspects = partial(finding, "suspects")
leaves_unproven = partial(finding, "leaves-unproven")
notes = partial(finding, "notes")


@dataclass(frozen=True)
class Case:
    """What is known about one result: the job, fio's output, the counters and the target. Only the job is always known.

    `cold`: True (the default) if the measurement should exclude caches; False if RAM is part of what is measured.
    `asked_s`: the requested run time in seconds, or None if unknown. `quoted`: facts from the text around the result,
    or None if there is no such text. `earlier`: the loads that ran before this one on the same files, oldest first, as
    far as the text shows them. `drops_caches`: True if the text drops the caches after the last of the earlier loads.
    `drops_only_clean`: True if the text drops the caches without syncing the written data first. Dirty pages then stay,
    and `drops_caches` is False. `empty`, `zeros`: the files and devices that a program in the text leaves without data,
    or fills with zeros, and the name of that program.
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
    empty: Mapping[str, str] = field(default_factory=dict)
    zeros: Mapping[str, str] = field(default_factory=dict)

    @property
    def jobs(self) -> tuple[LoadPart, ...]:
        return self.load.parts

    @property
    def generator(self) -> str:
        """The load generator's name, for messages."""
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

    def job_named(self, name: str) -> LoadPart | None:
        """Return the job with this name, or None if no job fits. If there is only one job, its name does not matter."""
        named = [job for job in self.jobs if job.name == name]
        only = self.jobs if len(self.jobs) == 1 else ()
        return next(iter((*named, *only)), None)

    def counters(self, source: str) -> Mapping[str, float]:
        """Return how much each counter of a source grew, by name.

        The result is empty if the source was not read.
        """
        return self.evidence.counters.get(source, {}) if self.evidence else {}

    def who(self, jobs: Sequence[LoadPart]) -> str:
        """Return the jobs as a singular subject for a sentence: `the job`, "job `a`", "each of the jobs `a`, `b`"."""
        if len(self.jobs) == 1:
            return "the job"
        names = ", ".join(f"`{job.name}`" for job in jobs[:_MOST_NAMES])
        if len(jobs) > _MOST_NAMES:
            names += f" and {len(jobs) - _MOST_NAMES} more"
        return f"job {names}" if len(jobs) == 1 else f"each of the jobs {names}"


Check = Callable[[Case], Findings]


def rule_id(module: str) -> str:
    """Return the id of the rule in a module: the file's name, with dashes instead of underscores."""
    return module.rpartition(".")[2].replace("_", "-")


@dataclass(frozen=True)
class Rule:
    """A pitfall: what goes wrong, how to recognize it, whether the result is too high or too low, and how to fix it.

    `id` is the name of the rule's file, with dashes. The catalogue sets it.

    `in_job` checks the job and the target before a run; `in_result` checks the result.

    `commands` is a shell script that shows the effect. In the script, `fio --rw=…` means `fio --name=trap
    --filename=trap --rw=…`. `prepare` contains the commands to run before the counters are read for the first time.
    `needs` says what else the script needs.

    `cleared_by_byte_count` says what happens to the findings of `in_job` if the byte accounting proves the result.
    True: the findings are dropped, because the pitfall would have changed where the bytes go. False: the findings
    become notes, because the pitfall does not change that (for example, a queue depth that is never reached). See
    docs/verdicts.md.

    `explains_lost` says, by direction, why bytes that fio moved reached no disk. The report shows it in the byte flow.

    `not_compared` says in a few words why a metric with a finding of this rule is neither compared nor ranked, although
    its verdict would allow it. If it is empty, the metric is compared.

    `least_rate` takes a case and the reported rate, and returns the lowest true rate that the pitfall allows, with the
    calculation as text. An audit uses it if the counters are unknown and the rule refutes or suspects the result.

    `is_ceiling`: the rule refutes results that are faster than the disks can be. If only a sentence near the result
    states the speed of the disks, an audit weakens the finding to `suspects`.

    `options` are the fio options that `in_job` checks, most important first. `fixed_options` are the changes to a job
    after which `in_job` finds nothing, or a function that returns these changes; empty if a person has to choose.
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
    least_rate: Callable[[Case, float], tuple[float, str]] | None = None
    is_ceiling: bool = False
    options: tuple[str, ...] = ()
    fixed_options: Changes | Callable[[Case, LoadPart], Changes] = field(default_factory=dict)

    def check_job(self, case: Case) -> tuple[Finding, ...]:
        """Return the findings of `in_job`."""
        return self._complete(self.in_job, case)

    def check_result(self, case: Case) -> tuple[Finding, ...]:
        """Return the findings of `in_result`."""
        return self._complete(self.in_result, case)

    def _complete(self, check: Check | None, case: Case) -> tuple[Finding, ...]:
        return tuple(
            replace(found, rule=self.id, fix=found.fix or self.fix) for found in (check(case) if check else ())
        )

    def changes(self, case: Case, job: LoadPart) -> Changes:
        """Return the changes that fix one of the case's jobs."""
        return self.fixed_options(case, job) if callable(self.fixed_options) else self.fixed_options

    @property
    def reproduce(self) -> str:
        """A shell script that prints the disk's counters next to fio's output."""
        needs = f"# {self.needs}\n" if self.needs else ""
        prepare = f"{self.prepare}\n" if self.prepare else ""
        commands = self.commands.replace("fio --rw=", "fio --name=trap --filename=trap --rw=")
        counted = f"sync; counted before\n{commands}\ncounted 'when fio ended'\nsync; counted 'after a sync'\n"
        return _SCRIPT_HEAD + needs + prepare + counted


def fio_source(release: str, file: str, function: str) -> str:
    """Return a source that cites a function in fio. `release` is the release whose code was read."""
    return f"fio {release} {file}, {function}"


def zfs_source(release: str, file: str, function: str) -> str:
    """Return a source that cites a function in OpenZFS. `release` is the release whose code was read."""
    return f"OpenZFS {release} {file}, {function}"


def linux_source(release: str, file: str, function: str) -> str:
    """Return a source that cites a function in the Linux kernel. `release` is the release whose code was read."""
    return f"Linux {release} {file}, {function}"


def fio_doc(options: str) -> str:
    """Return a source that cites fio's manual, with the names of the options in parentheses."""
    return f"https://fio.readthedocs.io/en/latest/fio_doc.html ({options})"


def fio_issue(number: int) -> str:
    """Return a source that cites a GitHub issue of fio by its URL."""
    return f"https://github.com/axboe/fio/issues/{number}"


def zfs_issue(number: int) -> str:
    """Return a source that cites a GitHub issue of OpenZFS by its URL."""
    return f"https://github.com/openzfs/zfs/issues/{number}"


def fill(size: str) -> str:
    """Return the command that fills the test file with incompressible data. `size` is in fio's notation."""
    return f"fio --name=fill --filename=trap --rw=write --bs=1m --size={size} --refill_buffers --end_fsync=1"
