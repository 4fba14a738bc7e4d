"""The time limit that a script or program sets for fio, such as `timeout 60 fio …`.

On SIGTERM, which `timeout` sends, fio stops all jobs and prints what it has measured so far. On SIGKILL, which Python
sends after `timeout=`, it prints nothing. Source: fio 3.42 backend.c, sig_int and set_sig_handlers.
"""

from collections.abc import Iterator
from dataclasses import replace

from poolproof.foreign.lint.model import Diagnostic, FioCall
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import job_of, load_of, part_of
from poolproof.load.fio.quantity import attempt, parse_time_us
from poolproof.load.model import LoadPart
from poolproof.rules.model import Changes
from poolproof.rules.work_done import WORK_DONE
from poolproof.units import format_duration

_TIMES = frozenset({"runtime", "ramp_time", "time_based"})
_MAY_END_EARLY = ("steadystate", "exitall", "exitall_on_error", "exit_what")


def cut_off_runs(source: str, unit: FioCall) -> Iterator[Diagnostic]:
    """Yield a finding if the script ends fio before its time_based jobs have run for their runtime."""
    limit_s = _limit_s(unit)
    if not limit_s or unit.unknown_words or any(name in job.options for job in unit.jobs for name in _MAY_END_EARLY):
        return
    needed_s = sum(max(map(_least_s, phase), default=0.0) for phase in load_of(unit.jobs).phases)
    if needed_s <= limit_s:
        return
    jobs = [job for job in unit.jobs if _least_s(part_of(job))]
    message = (
        f"the script ends fio after {format_duration(limit_s)}, but its jobs take {format_duration(needed_s)}: fio "
        "then prints the results so far, or none if it is killed (SIGKILL)"
    )
    fix = f"raise the limit above {format_duration(needed_s)} plus the time to lay out the files, or shorten runtime"
    yield Diagnostic(source, _line(jobs[-1], unit), WORK_DONE, "warning", message, fix)


def exceeds_limit(unit: FioCall, part: LoadPart, changes: Changes) -> bool:
    """True if the changes make fio run for longer than the script lets it run, or if that is unknown."""
    if not unit.ends_after or _TIMES.isdisjoint(changes):
        return False
    limit_s, job = _limit_s(unit), job_of(part)
    options = {name: value for name, value in {**job.options, **changes}.items() if value is not None}
    changed = part_of(replace(job, options=options))
    return limit_s is None or 0 < limit_s < (changed.runtime_s or 0.0) + changed.ramp_s


def time_limit_of(unit: FioCall) -> str:
    """Return the time after which the script ends fio, as a duration if it is known, otherwise as written."""
    limit_s = _limit_s(unit)
    return unit.ends_after if limit_s is None else format_duration(limit_s)


def _limit_s(unit: FioCall) -> float | None:
    """Return the time limit in seconds, or None if there is none or it is unknown."""
    micros = attempt(parse_time_us, unit.ends_after)
    return None if micros is None else micros / 1e6


def _least_s(part: LoadPart) -> float:
    """Return the minimum time for which the job runs. Jobs without time_based may end at any time."""
    return (part.runtime_s or 0.0) + part.ramp_s if part.time_based and part.runtime_s else 0.0


def _line(job: Job, unit: FioCall) -> int:
    return job.lines.get("runtime") or job.line or unit.line
