"""Jobs as the text of a fio job file."""

from poolproof.errors import CampaignError
from poolproof.load.fio.job import Job, JobFile

_FORBIDDEN = ("\n", "\r", "\0")
_COMMENT = ("#", ";")  # fio cuts a value there; measured with 3.33, no quoting helps
_ORDER_MATTERS = frozenset({"direct", "buffered", "rwmixread", "rwmixwrite"})


def render(jobs: JobFile) -> str:
    """The job file: what all jobs share in `[global]`, one option a line, in the order of the first job.

    Raises:
        CampaignError: a name or a value holds what no job file can carry: a line break, `#` or `;`.
    """
    shared = _shared(jobs.jobs)
    sections = [_section("global", shared)] if shared else []
    for job in jobs.jobs:
        own = {name: value for name, value in job.options.items() if name not in shared}
        sections.append(_section(_section_name(job.name), own))
    return "\n".join(sections)


def _shared(jobs: tuple[Job, ...]) -> dict[str, str]:
    """Options that several jobs have in common; those of which the last one counts keep their place in the job."""
    if len(jobs) < 2:
        return {}
    return {
        name: value
        for name, value in jobs[0].options.items()
        if name not in _ORDER_MATTERS and all(job.options.get(name) == value for job in jobs[1:])
    }


def _section(name: str, options: dict[str, str]) -> str:
    return "".join(f"{line}\n" for line in [f"[{name}]", *(_line(key, value) for key, value in options.items())])


def _line(name: str, value: str) -> str:
    if any(mark in name + value for mark in (*_FORBIDDEN, *_COMMENT)):
        raise CampaignError(
            f"fio's option {name!r} holds a line break, `#` or `;`, where a job file would cut it: {value!r}",
            "choose a path or a value without it",
        )
    return f"{name}={value}" if value else name


def _section_name(name: str) -> str:
    if name in ("", "global") or any(mark in name for mark in ("]", *_FORBIDDEN, *_COMMENT)):
        raise CampaignError(f"{name!r} cannot be the name of a fio job", "letters, digits, dashes and dots are safe")
    return name
