"""What an audit adds to a verdict: bounds on the true rate, and a corrected command to run instead."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.foreign.audit.model import Estimate
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import job_of
from poolproof.load.model import LoadPart
from poolproof.rules.flow import cold_reads, writes
from poolproof.rules.judge import Judgement
from poolproof.rules.model import Case, Finding
from poolproof.rules.reported import Kind, bandwidth_bytes
from poolproof.rules.rule_catalogue import all_rules, rules_of
from poolproof.units import format_rate

_NEGLIGIBLE = 0.02
_OUTPUT = "--output-format=json+"


def estimate_of(case: Case, judgement: Judgement) -> Estimate | None:
    """Return bounds on a result's true rate.

    If the disks' counters contradict the result, the bounds come from the counters, otherwise from the findings and the
    disks' highest rate. Return None if the result is neither suspect nor refuted, if the job both read and wrote or did
    neither, or if no bound is clearly below the reported rate.
    """
    kinds: list[Kind] = [kind for kind in ("read", "write") if bandwidth_bytes(case.outcome, kind)]
    if len(kinds) != 1 or judgement.verdict not in ("suspect", "refuted"):
        return None
    kind = kinds[0]
    rate = bandwidth_bytes(case.outcome, kind) or 0.0
    flow = cold_reads(case) if kind == "read" else writes(case)
    if flow is not None and not flow.in_order:
        honest = rate * flow.ratio
        return Estimate(honest, honest, f"the disks transferred {flow.share} of the reported bytes")
    causes = rules_of(finding for finding in judgement.findings if finding.effect in ("refutes", "suspects"))
    bounds = [rule.least_rate(case, rate) for rule in causes if rule.least_rate is not None]
    return _by_arithmetic(case, kind, rate, bounds)


def _by_arithmetic(case: Case, kind: Kind, rate: float, bounds: Sequence[tuple[float, str]]) -> Estimate | None:
    low, high, why = rate, rate, []
    if bounds:
        low = min(least for least, _ in bounds)
        why += [text for _, text in bounds]
    ceiling = getattr(case.target, f"ceiling_{kind}_bytes_per_s", None)
    if ceiling is not None and ceiling < rate:
        high = ceiling
        low = min(low, high)
        why.append(f"the disks can do at most {format_rate(ceiling)}")
    if low >= (1 - _NEGLIGIBLE) * rate:
        return None
    return Estimate(low if bounds else 0.0, high, "; ".join(why))


def rerun_command(case: Case, findings: Iterable[Finding]) -> str | None:
    """Return a fio command line that fixes the findings, or None if there are no fio jobs or a job has no name.

    Options that all jobs share come before the first --name, because fio applies those to every job.
    """
    parts = case.load.parts
    if not parts or case.load.generator != DEFAULT_GENERATOR or any(not part.name for part in parts):
        return None
    rules = {finding.rule for finding in findings}
    jobs = [Job(part.name, _fixed(case, part, rules)) for part in parts]
    shared = {
        name: value
        for name, value in jobs[0].options.items()
        if len(jobs) > 1 and all(job.options.get(name) == value for job in jobs[1:])
    }
    words = [_OUTPUT, *_words(shared)]
    for job in jobs:
        specific = {name: value for name, value in job.options.items() if name not in shared}
        words += [f"--name={job.name}", *_words(specific)]
    return shlex.join(["fio", *words])


def _fixed(case: Case, part: LoadPart, rules: set[str]) -> dict[str, str]:
    options = {name: value for name, value in job_of(part).options.items() if name != "name"}
    for rule in all_rules():
        for name, value in (rule.changes(case, part) if rule.id in rules else {}).items():
            if value != options.get(name):
                options.pop(name, None)
                options.update({} if value is None else {name: value})
    return options


def _words(options: Mapping[str, str]) -> list[str]:
    return [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]
