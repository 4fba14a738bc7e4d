"""The input and output types of a rule. Each pitfall is one file in this folder that defines `RULE`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.evidence.model import Evidence, Target
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome

Effect = Literal["fails", "refutes", "suspects", "notes"]
Changes = Mapping[str, str | None]
"""Options of one job to set, and options to remove (None)."""


@dataclass(frozen=True)
class Finding:
    """One problem that a rule found.

    `message` gives the values and the consequence, `fix` what to type or change. `weight` orders findings of equal
    effect, largest first: a rule that names the cause has a larger weight than one that sees only the imbalance.
    """

    rule: str
    effect: Effect
    message: str
    fix: str
    weight: int = 50


@dataclass(frozen=True)
class Case:
    """What is known about one result: the job, fio's output, the counters and the target. All but the job may be None.

    `cold`: True (the default) if the measurement should exclude caches; False if RAM is part of what is measured.
    `asked_s`: the requested run time in seconds; None if unknown.
    """

    load: Load
    outcome: Outcome | None = None
    evidence: Evidence | None = None
    target: Target | None = None
    cold: bool = True
    asked_s: float | None = None


@dataclass(frozen=True)
class Rule:
    """A pitfall: what goes wrong, how it shows, whether the result is too high or too low, and how to fix it.

    `in_job` checks the job and the target before a run; `in_result` checks the result. Both yield nothing if they find
    nothing. `reproduce` is a shell script that shows the effect. `pitfall_numbers`: numbers in the list of known
    pitfalls that the first rules came from; a test checks that each number has a rule.

    `cleared_by_byte_count`: True if the pitfall changes where the bytes go. If the byte count then proves the result,
    it rules out the pitfall, and the findings of `in_job` are dropped. False if the pitfall does not change where the
    bytes go (a queue depth that is never reached): its suspicion becomes a note. See docs/verdicts.md.

    `explains_lost`: why bytes that fio moved reached no disk, per direction, for the byte flow on the report page.

    `options`: the fio options that `in_job` checks, the most important first. `fixed_options`: returns the changes to
    a job after which `in_job` finds nothing; returns no changes if a person has to choose.
    """

    id: str
    title: str
    wrong: str
    shows: str
    error: str
    fix: str
    sources: tuple[str, ...]
    pitfall_numbers: str = ""
    in_job: Callable[[Case], Iterable[Finding]] | None = None
    in_result: Callable[[Case], Iterable[Finding]] | None = None
    reproduce: str = ""
    cleared_by_byte_count: bool = True
    explains_lost: Mapping[Literal["read", "write"], str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    fixed_options: Callable[[Case, LoadPart], Changes] | None = None
