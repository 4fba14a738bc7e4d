"""What a rule sees and what it says. One pitfall is one file in this folder that defines `RULE`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.evidence.model import Evidence, Target
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome

Effect = Literal["fails", "refutes", "suspects", "notes"]
Changes = Mapping[str, str | None]
"""Options of one job to set, and those to leave out (None)."""


@dataclass(frozen=True)
class Finding:
    """One thing a rule noticed.

    `message` holds the figures and the consequence, `fix` what to type or change. `weight` orders findings of equal
    effect, the largest first: a rule that names the cause outweighs one that only sees the imbalance.
    """

    rule: str
    effect: Effect
    message: str
    fix: str
    weight: int = 50


@dataclass(frozen=True)
class Case:
    """What is known of one figure: the job that made it, fio's figures, the counters and the target, as far as known.

    `cold`: the measurement is meant to exclude caches (the default); False where RAM is part of what is measured.
    `asked_s`: seconds that the run was meant to take; None where that is not known.
    """

    load: Load
    outcome: Outcome | None = None
    evidence: Evidence | None = None
    target: Target | None = None
    cold: bool = True
    asked_s: float | None = None


@dataclass(frozen=True)
class Rule:
    """A pitfall: what goes wrong, how it shows, which way it errs, how to fix it.

    `in_job` looks at the job and the target before a run; `in_result` at what came out. Both yield nothing when they
    see nothing. `reproduce` is a shell script that anyone can run to see the effect. `pitfall_numbers`: numbers in the
    list of known pitfalls that the first rules were written from; a test holds that none of them is without a rule.

    `cleared_by_byte_count`: the trap changes where the bytes go, so that a byte account which proves the figure
    disproves the trap, and the suspicion of `in_job` is dropped then. False for a trap that leaves the bytes as they
    are (a queue depth that was never there): its suspicion becomes a note. See docs/verdicts.md.

    `explains_lost`: why bytes that fio moved reached no disk, per direction, for the byte flow on the report page.

    `options`: those of fio that `in_job` looks at, the one to point at first. `fixed_options`: the changes to a job
    that `in_job` speaks of after which it is silent; empty where a person has to choose.
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
