"""The command to run again: the same jobs, with the fixes that a command line can express."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import job_of
from poolproof.load.model import DEFAULT_GENERATOR, LoadPart
from poolproof.rules.catalogue import all_rules
from poolproof.rules.model import Case, Finding

_OUTPUT = "--output-format=json+"

Options = dict[str, str]


def rerun_command(case: Case, findings: Iterable[Finding]) -> str | None:
    """Return a fio command line with the fixes for the findings; None without fio jobs, or if one has no name."""
    parts = case.load.parts
    if not parts or case.load.generator != DEFAULT_GENERATOR or any(not part.name for part in parts):
        return None
    rules = {finding.rule for finding in findings}
    jobs = [Job(part.name, _fixed(case, part, rules)) for part in parts]
    shared = _shared(jobs)
    words = [_OUTPUT, *_words(shared)]
    for job in jobs:
        own = {name: value for name, value in job.options.items() if name not in shared}
        words += [f"--name={job.name}", *_words(own)]
    return shlex.join(["fio", *words])


def _fixed(case: Case, part: LoadPart, rules: set[str]) -> Options:
    options = {name: value for name, value in job_of(part).options.items() if name != "name"}
    for rule in all_rules():
        for name, value in (rule.changes(case, part) if rule.id in rules else {}).items():
            if value != options.get(name):
                options.pop(name, None)
                options.update({} if value is None else {name: value})
    return options


def _shared(jobs: Sequence[Job]) -> Options:
    """Return the options that all of several jobs share: fio applies options before the first --name to every job."""
    if len(jobs) < 2:
        return {}
    return {
        name: value
        for name, value in jobs[0].options.items()
        if all(job.options.get(name) == value for job in jobs[1:])
    }


def _words(options: Mapping[str, str]) -> list[str]:
    return [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]
