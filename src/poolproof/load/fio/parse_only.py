"""fio's own check of a job's values, before anything is built."""

import re
from collections.abc import Mapping
from dataclasses import replace

from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.fio.job import JobFile
from poolproof.load.fio.option_values import refusal
from poolproof.load.fio.render import render

_TIMEOUT_S = 60.0
_NO_FAULT = ("fio: job",)
_OUT_OF_RANGE = "value out of range"  # fio says so, and takes a negative number as if nothing had been given


def check_values(jobs: JobFile, host: Host) -> None:
    """Have the host's fio parse the jobs (`fio --parse-only`); nothing is opened or made.

    Raises:
        CampaignError: fio refuses an option or a value; the message is fio's own complaint.
    """
    completed = host.run(["fio", "--parse-only", "-"], timeout_s=_TIMEOUT_S, stdin=render(jobs), check=False)
    if completed.returncode == 0 and _OUT_OF_RANGE not in completed.stderr:
        return
    said = (completed.stderr.strip() or completed.stdout.strip()).splitlines()
    complaint = "; ".join(line.strip() for line in said if not line.startswith(_NO_FAULT))[:1000]
    option = _option_in(said, jobs)
    values = [job.options[option] for job in jobs.jobs if option in job.options]
    why = next((why for value in values if (why := refusal(option, value))), "")
    raise CampaignError(
        f"fio refuses the workload: {complaint or f'it ended with {completed.returncode}'}",
        f"{why}{'; ' if why else ''}`fio --cmdhelp={option or 'OPTION'}` says what an option takes",
    ).concerning(option)


def _option_in(said: list[str], jobs: JobFile) -> str:
    """The option that fio names: `fio: failed parsing rw=randrea`, `iodepth: min value out of range`; else empty."""
    options = {option for job in jobs.jobs for option in job.options}
    words = [word for line in said for word in re.findall(r"\b(\w+)(?==|:)", line)]
    return next((word for word in words if word in options), "")


def check_each(jobs: Mapping[str, JobFile], host: Host) -> None:
    """Check the jobs of several workloads, many at a time, because fio takes a moment to start; keys are their names.

    Raises:
        CampaignError: fio refuses an option or a value of one of them.
    """
    every = [replace(job, name=_section_name(name)) for name, each in jobs.items() for job in each.jobs]
    check_values(JobFile(tuple(every)), host)


def _section_name(workload: str) -> str:
    """Return a workload's name as that of a job section, where `]` would end it: `grid(bs=4k)`."""
    return re.sub(r"[^\w=,.:()+-]", "_", workload.replace("[", "(").replace("]", ")"))
