"""Start fio on a host, wait for it, bring its report home."""

from collections.abc import Callable

from poolproof.errors import CommandError, FioError, HostError
from poolproof.hosts.base import FileMissing, Host
from poolproof.load.fio.job import JobFile
from poolproof.load.fio.load import load_of, part_of
from poolproof.load.fio.render import render
from poolproof.process import Completed
from poolproof.steps import Step, UndoPrograms
from poolproof.units import format_size

_SLACK_S = 300.0
_SLOWEST_BYTES_PER_S = 3e5  # a hard disk with random 4k I/O
_FILL_FLOOR_BYTES_PER_S = 2e6
_TO_FIO_S = 30.0
_PIDFILE = "fio.pid"
_REPORT = "fio.json"
_JOB = "job.fio"
_NO_SPACE = "No space left on device"


def leash(scratch: str) -> Step:
    """The step that stands in the journal for every fio of a layout: should poolproof die, `clean` ends that fio.

    It comes after the steps that build the layout, since what fio uses can't be taken down. The shell that becomes fio
    is ended too: it may have been starting when poolproof died.
    """
    return Step("run fio", ("true",), UndoPrograms(("fio", "sh"), marker=f"{scratch}/"))


def report_path(scratch: str) -> str:
    """Where the report of the running fio grows, on the host."""
    return f"{scratch}/{_REPORT}"


def run_fio(
    host: Host,
    jobs: JobFile,
    scratch: str,
    *,
    status_s: float | None,
    before: Callable[[], None],
    read_only: bool = False,
) -> tuple[str, Completed]:
    """Run the jobs to their end; returns the job as fio read it, and how fio ended. The report lies at `report_path`.

    `status_s`: how often fio reports meanwhile, None for not at all; `before` is called right before it starts.
    `read_only`: fio itself refuses to write, and to lay out anew a file that is shorter than the job says.

    Raises:
        CommandTimedOut: fio was still running long after it should have ended; it was killed.
        ProgramMissing: no fio on the host.
    """
    text, report = render(jobs), report_path(scratch)
    argv = ["fio", "--output-format=json+", f"--output={report}", "--eta=never"]
    argv += [] if status_s is None else [f"--status-interval={round(status_s * 1000)}ms"]
    argv += ["--readonly"] if read_only else []
    before()
    held = _held(scratch, f"{scratch}/{_JOB}", argv, clear=report)
    return text, host.run(held, stdin=text, timeout_s=_limit_s(jobs), check=False)


def interrupt_fio(host: Host, scratch: str) -> None:
    """End the running fio in order: it closes its figures and writes its report. Nothing where it has ended already."""
    to_fio(host, scratch, 'kill -INT "$pid"')


def to_fio(host: Host, scratch: str, script: str) -> str:
    """What a shell prints that does this to the running fio, `$pid`; nothing where it has ended already.

    Raises:
        CommandError: the host could not be asked.
    """
    ours = f'read -r pid <"$1" && grep -aqF "$2" "/proc/$pid/cmdline" || exit 0\n{script}'
    argv = ["sh", "-c", ours, "sh", f"{scratch}/{_PIDFILE}", f"{scratch}/"]
    return host.run(argv, timeout_s=_TO_FIO_S, check=False).stdout


def whole_report(host: Host, scratch: str) -> str:
    """All that the fio which ended wrote; empty where it wrote nothing."""
    try:
        return host.read(report_path(scratch))
    except FileMissing:
        return ""


def _held(scratch: str, job: str, argv: list[str], *, clear: str = "/dev/null") -> list[str]:
    """fio on the leash: a shell keeps the job file that comes on its input, empties the file `clear`, leaves its
    process number behind and becomes fio. One shell for all, since every process that starts costs time.
    """
    script = 'cat >"$1" && : >"$2" && echo $$ >"$0" && job=$1 && shift 2 && exec "$@" "$job"'
    return ["sh", "-c", script, f"{scratch}/{_PIDFILE}", job, clear, *argv]


def planned_s(jobs: JobFile) -> float | None:
    """Seconds after which all jobs should have ended, ramps among it; None where one ends when its work is done."""
    return None if any(part_of(job).runtime_s is None for job in jobs.jobs) else _asked_s(jobs)


def _asked_s(jobs: JobFile) -> float:
    return sum(max((job.runtime_s or 0.0) + job.ramp_s for job in phase) for phase in load_of(jobs).phases)


def _limit_s(jobs: JobFile) -> float:
    """Long after the time asked for; a job that ends when its work is done gets what the slowest disk would take."""
    open_ended = [job for job in jobs.jobs if part_of(job).runtime_s is None]
    work_bytes = sum(
        (part_of(job).io_size_bytes or part_of(job).size_bytes or 0) * part_of(job).clones for job in open_ended
    )
    return 2 * _asked_s(jobs) + _SLACK_S + work_bytes / _SLOWEST_BYTES_PER_S


def fill_files(host: Host, jobs: JobFile, scratch: str, size_bytes: int) -> None:
    """Lay out the test files.

    Raises:
        FioError: fio could not; in its own words.
        HostError: there was no space left, on the layout or below it.
    """
    held = _held(scratch, f"{scratch}/fill.fio", ["fio", "--eta=never"])
    limit_s = 60 + size_bytes / _FILL_FLOOR_BYTES_PER_S
    try:
        completed = host.run(held, stdin=render(jobs), timeout_s=limit_s, check=False)
    except CommandError as error:
        raise FioError(f"the test files could not be laid out: {error.message}") from None
    if completed.returncode != 0:
        said = (completed.stderr.strip() or completed.stdout.strip())[-600:]
        if _NO_SPACE in said:
            raise HostError(
                f"the test files could not be laid out: {_NO_SPACE}: they take {format_size(size_bytes)}, "
                "on the layout and where its images lie",
                f"make room (df -h {scratch.rpartition('/')[0]}), or name another place for the images with --work",
            )
        raise FioError(f"the test files could not be laid out: fio said: {said}")
