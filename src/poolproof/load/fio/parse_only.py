"""Check jobs with `fio --parse-only` on the host, which opens and creates no files and runs no job.

For an invalid value, fio 3.33 prints `fio: failed parsing sync=zoo` and `fio: job a dropped` on standard error, and the
accepted words on standard output. For an unknown option, it prints `Bad option <quantum=1>`. A number that is out of
range (`iodepth=-4`) is only ignored, with the message `min value out of range`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.fio.job import REPLACED, Job, Jobs, render
from poolproof.load.fio.option_values import refusal
from poolproof.process import Completed

_LIMIT_S = 60.0
_NO_JOB_FILE = "/nonexistent/poolproof"
_OF_OTHER_JOBS = ("numjobs", "wait_for", "group_reporting")
_OUT_OF_RANGE = "value out of range"
_MOST_CALLS = 10
_MOST_JOBS = 200
_FAILED = re.compile(r"^fio: failed parsing (?P<name>[\w-]+)=(?P<value>.*)$", re.MULTILINE)
_BAD = re.compile(r"^Bad option <(?P<name>[\w-]+)(?:=.*)?>$", re.MULTILINE)
_DROPPED = re.compile(r"^fio: job j(?P<place>\d+) dropped", re.MULTILINE)
_IGNORED = re.compile(r"^(?P<name>[\w-]+): (?P<reason>(?:min|max) value out of range: .*)$", re.MULTILINE)
_ACCEPTED_WORD = re.compile(r"^(?:[^\S\n]*+valid values)?[^\S\n]*+: (\S+)", re.MULTILINE)
_NO_VALUE = re.compile(r"[\n\r\0#;]")


@dataclass(frozen=True)
class Complaint:
    """fio's complaint about an option.

    `place`: the job's index.
    `reason`: the message that fio printed.
    `is_refused`: False if fio only ignores the value.
    `is_known`: False if the host's fio does not have the option with the job's engine.
    """

    place: int
    name: str
    reason: str
    is_refused: bool
    is_known: bool = True


def check_values(jobs: Jobs, host: Host) -> None:
    """Raise CampaignError with fio's message if the host's fio rejects or ignores a job option or its value.

    Also raises CampaignError if fio rejects a combination of options.
    """
    completed = _parse(host, render(jobs))
    if completed.returncode == 0 and _OUT_OF_RANGE not in completed.stderr:
        _check_combinations(jobs, host)
        return
    lines = (completed.stderr.strip() or completed.stdout.strip()).splitlines()
    complaint = "; ".join(line.strip() for line in lines if not line.startswith("fio: job"))[:1000]
    options = {option for job in jobs for option in job.options}
    # fio names the option: `fio: failed parsing rw=randrea`, `iodepth: min value out of range`
    words = (word for line in lines for word in re.findall(r"\b(\w+)(?==|:)", line))
    option = next((word for word in words if word in options), "")
    reasons = (refusal(option, job.options[option]) for job in jobs if option in job.options)
    reason = next(filter(None, reasons), "")
    raise CampaignError(
        f"fio rejects the workload: {complaint or f'exit code {completed.returncode}'}",
        f"{reason}{'; ' if reason else ''}`fio --cmdhelp={option or 'OPTION'}` shows the accepted values",
    ).concerning(option)


def _check_combinations(jobs: Jobs, host: Host) -> None:
    """Raise CampaignError with fio's message if the host's fio rejects a combination of options.

    `--parse-only` does not check combinations, which fio does when it adds a job (fixup_options() in init.c). fio is
    therefore given a second job file that does not exist. It adds the jobs of the first one, opens and creates nothing,
    and stops at the second one before it runs a job. One clone of each job is enough. Options that refer to other jobs
    are left out, because `check_each` renames the jobs and puts those of several workloads together.
    """
    alone = [{name: value for name, value in job.options.items() if name not in _OF_OTHER_JOBS} for job in jobs]
    text = render(tuple(replace(job, options=each) for job, each in zip(jobs, alone, strict=True)))
    completed = host.run(["fio", "-", _NO_JOB_FILE], timeout_s=_LIMIT_S, stdin=text, check=False)
    if _NO_JOB_FILE in completed.stderr:
        return
    lines = [line.removeprefix("fio: ").strip() for line in completed.stderr.splitlines() if line.strip()]
    options = {option for job in jobs for option in job.options}
    option = next((word for word in re.findall(r"\w+", lines[-1] if lines else "") if word in options), "")
    raise CampaignError(
        f"fio rejects the workload: {(lines or [f'exit code {completed.returncode}'])[-1][:1000]}",
        f"`fio --cmdhelp={option or 'OPTION'}` shows what the option does",
    ).concerning(option)


def check_each(jobs: Mapping[str, Jobs], host: Host) -> None:
    """Check the jobs of several workloads in a single call, because fio is slow to start.

    `jobs`: the jobs, keyed by workload name. A section name ends at `]`, so `grid[bs=4k]` is passed to fio as
    `grid(bs=4k)`. Raises CampaignError under the same conditions as `check_values`.
    """
    sections = [
        replace(job, name=re.sub(r"[^\w=,.:()+-]", "_", name.replace("[", "(").replace("]", ")")))
        for name, each in jobs.items()
        for job in each
    ]
    check_values(tuple(sections), host)


def complaints(host: Host, jobs: Sequence[Job]) -> tuple[Complaint, ...]:
    """Return the complaints of the host's fio about the jobs' options. Variables must already be expanded.

    fio stops at the first job with a rejected option, so it is called again without the options rejected so far. It is
    also called once for each rejected value, to get the accepted words. Raises ProgramMissing if the host has no fio,
    and CommandTimedOut if fio does not answer.
    """
    found: dict[tuple[int, str], Complaint] = {}
    for _ in range(_MOST_CALLS):
        new = list(_complaints_in(_parse(host, _without(jobs, found.keys())).stderr, jobs))
        found.update({(each.place, each.name): each for each in new})
        if not any(each.is_refused for each in new):
            break
    accepted: dict[tuple[str, str], str] = {}
    for key, each in found.items():
        if not each.reason:
            setting = each.name, jobs[each.place].options[each.name]
            if setting not in accepted:
                accepted[setting] = _accepted_words(host, *setting)
            found[key] = replace(each, reason=accepted[setting])
    return tuple(found.values())


def _parse(host: Host, text: str) -> Completed:
    return host.run(["fio", "--parse-only", "-"], timeout_s=_LIMIT_S, stdin=text, check=False)


def _accepted_words(host: Host, name: str, value: str) -> str:
    words = _ACCEPTED_WORD.findall(_parse(host, f"[j0]\n{name}={value}\n").stdout)
    return f"the option takes one of {', '.join(words)}" if words else ""


def _without(jobs: Sequence[Job], refused: Collection[tuple[int, str]]) -> str:
    """Return a job file without rejected and host-dependent options, with sections named after the jobs' indexes."""
    lines: list[str] = []
    for place, job in enumerate(jobs[:_MOST_JOBS]):
        lines.append(f"[j{place}]")
        lines += [
            f"{name}={value}" if value else name
            for name, value in job.options.items()
            if (place, name) not in refused and not _depends_on_host(name, value)
        ]
    return "\n".join(lines) + "\n"


def _depends_on_host(name: str, value: str) -> bool:
    """True if parsing the value requires a file or CUDA, or if a job file cannot contain the value.

    Also true if fio would replace a part of the value. fio passes a value with `$ncpus` to bc, which can loop forever.
    """
    is_file = name == "ioengine" and ("/" in value or value.startswith("external"))
    is_cuda = name == "mem" and value.startswith("cuda")
    is_replaced = REPLACED.search(value) is not None
    return is_file or is_cuda or is_replaced or "'" in value or _NO_VALUE.search(value) is not None


def _complaints_in(stderr: str, jobs: Sequence[Job]) -> Iterator[Complaint]:
    ranges = {match["name"]: match["reason"] for match in _IGNORED.finditer(stderr)}
    dropped = _DROPPED.search(stderr)
    if dropped is not None:
        place = int(dropped["place"])
        options = jobs[place].options
        for bad in _BAD.finditer(stderr, 0, dropped.start()):
            if bad["name"] in options:
                yield Complaint(place, bad["name"], "no such option", is_refused=True, is_known=False)
        for failed in _FAILED.finditer(stderr, 0, dropped.start()):
            if failed["name"] in options:
                yield Complaint(place, failed["name"], ranges.pop(failed["name"], ""), is_refused=True)
    for name, reason in ranges.items():
        for place, job in enumerate(jobs):
            if name in job.options and job.options[name].strip() in reason.split():
                yield Complaint(place, name, reason, is_refused=False)
