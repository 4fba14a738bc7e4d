"""Start fio on a host, wait for it, and end it."""

from collections.abc import Callable

from poolproof.errors import CommandError, FioError, HostError
from poolproof.hosts.base import FileMissing, Host
from poolproof.load.fio.job import JobFile, render
from poolproof.load.fio.load import jobs_of
from poolproof.load.model import Load
from poolproof.process import Completed
from poolproof.steps import Step, UndoPrograms
from poolproof.units import format_size

_SLACK_S = 300.0
_SLOWEST_BYTES_PER_S = 3e5  # a hard disk with random 4k I/O
_SLOWEST_FILL_BYTES_PER_S = 2e6
_SIGNAL_LIMIT_S = 30.0
_PIDFILE = "fio.pid"
_KILL = """\
all="$(cat /proc/$pid/task/*/children) $pid"
for each in $all; do
  for task in /proc/$each/task/*; do wait=; read -r wait <"$task/wchan"; echo "$wait"; done
done
kill -KILL $all
"""
_NO_SPACE = "No space left on device"


def cleanup_step(scratch: str) -> Step:
    """Return the journal's step for every fio of a layout: if poolproof crashes, `clean` ends that fio.

    It comes after the steps that build the layout, because a layout in use can't be removed. `clean` also ends the
    shell that becomes fio, which may have been starting when poolproof crashed.
    """
    return Step("run fio", ("true",), UndoPrograms(("fio", "sh"), marker=f"{scratch}/"))


def report_path(scratch: str) -> str:
    """Return the path of the running fio's report on the host."""
    return f"{scratch}/fio.json"


def run_fio(
    host: Host,
    load: Load,
    scratch: str,
    *,
    status_s: float | None,
    before: Callable[[], None],
    read_only: bool = False,
) -> tuple[str, Completed]:
    """Run the jobs to their end; return the job as fio read it, and how fio ended. The report is at `report_path`.

    `status_s` is how often fio reports meanwhile, None for not at all; `before` is called right before it starts.
    With `read_only`, fio refuses to write, and to rewrite a file that is shorter than the job says.

    Raises CommandTimedOut if fio was still running long after it should have ended (it was killed), and ProgramMissing
    if the host has no fio.
    """
    text, report = render(jobs_of(load)), report_path(scratch)
    argv = ["fio", "--output-format=json+", f"--output={report}", "--eta=never"]
    argv += [] if status_s is None else [f"--status-interval={round(status_s * 1000)}ms"]
    argv += ["--readonly"] if read_only else []
    before()
    command = _fio_command(scratch, f"{scratch}/job.fio", argv, clear=report)
    return text, host.run(command, stdin=text, timeout_s=_limit_s(load), check=False)


def interrupt_fio(host: Host, scratch: str) -> None:
    """Send SIGINT to the running fio, so that it writes its report; do nothing if it has ended."""
    _run_on_fio(host, scratch, 'kill -INT "$pid"')


def kill_fio(host: Host, scratch: str) -> tuple[str, ...]:
    """Kill the running fio and its jobs; return what each of its threads waited for in the kernel, by function name.

    Raises CommandError if the host did not answer.
    """
    return tuple(wait for wait in _run_on_fio(host, scratch, _KILL).split() if wait != "0")


def _run_on_fio(host: Host, scratch: str, script: str) -> str:
    """Run a shell script on the running fio, `$pid`; return its output, empty if fio has ended."""
    if_running = f'read -r pid <"$1" && grep -aqF "$2" "/proc/$pid/cmdline" || exit 0\n{script}'
    argv = ["sh", "-c", if_running, "sh", f"{scratch}/{_PIDFILE}", f"{scratch}/"]
    return host.run(argv, timeout_s=_SIGNAL_LIMIT_S, check=False).stdout


def whole_report(host: Host, scratch: str) -> str:
    """Return everything that the ended fio wrote; empty if it wrote nothing."""
    try:
        return host.read(report_path(scratch))
    except FileMissing:
        return ""


def _fio_command(scratch: str, job: str, argv: list[str], *, clear: str = "/dev/null") -> list[str]:
    """Return the command of a shell that saves the job file from its input, empties the file `clear`, writes its
    process number to a file and becomes fio. It is one shell, because each process takes time to start.
    """
    script = 'cat >"$1" && : >"$2" && echo $$ >"$0" && job=$1 && shift 2 && exec "$@" "$job"'
    return ["sh", "-c", script, f"{scratch}/{_PIDFILE}", job, clear, *argv]


def _limit_s(load: Load) -> float:
    """Return far more than the requested time; a part that ends with its work gets the time of the slowest disk."""
    asked_s = sum(max((part.runtime_s or 0.0) + part.ramp_s for part in phase) for phase in load.phases)
    open_ended = [part for part in load.parts if part.runtime_s is None]
    work_bytes = sum((part.io_size_bytes or part.size_bytes or 0) * part.clones for part in open_ended)
    return 2 * asked_s + _SLACK_S + work_bytes / _SLOWEST_BYTES_PER_S


def fill_files(host: Host, jobs: JobFile, scratch: str, size_bytes: int) -> None:
    """Write the test files. Raises HostError if there was no space left, on the layout or below it; else FioError."""
    command = _fio_command(scratch, f"{scratch}/fill.fio", ["fio", "--eta=never"])
    limit_s = 60 + size_bytes / _SLOWEST_FILL_BYTES_PER_S
    failed = "the test files could not be written"
    try:
        completed = host.run(command, stdin=render(jobs), timeout_s=limit_s, check=False)
    except CommandError as error:
        raise FioError(f"{failed}: {error.message}") from None
    output = (completed.stderr.strip() or completed.stdout.strip())[-600:]
    if completed.returncode != 0 and _NO_SPACE in output:
        raise HostError(
            f"{failed}: {_NO_SPACE}: they need {format_size(size_bytes)} on the layout and where its images are stored",
            f"free some space (df -h {scratch.rpartition('/')[0]}), or choose another place for the images with --work",
        )
    if completed.returncode != 0:
        raise FioError(f"{failed}: fio printed: {output}")
