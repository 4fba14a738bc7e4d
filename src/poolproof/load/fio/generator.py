"""fio as a load generator: prepare its jobs, start and stop it on a host, and read its reports."""

from collections.abc import Callable, Mapping

from poolproof.campaign.model import Workload
from poolproof.errors import CommandError, FioError, HostError, as_word
from poolproof.hosts.base import FileMissing, Host
from poolproof.load.fio import jobs
from poolproof.load.fio.histogram import BIN_WIDTH
from poolproof.load.fio.installed import ask_ahead, fio_version
from poolproof.load.fio.job import Job, render
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.json_output import read_json_stream
from poolproof.load.fio.load import job_of, jobs_of, load_of, part_of
from poolproof.load.fio.option_names import canonical
from poolproof.load.fio.parse_only import check_each
from poolproof.load.fio.report import FioReport
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome
from poolproof.process import Completed
from poolproof.steps import Step
from poolproof.undos import UndoPrograms
from poolproof.units import format_size

_INTERRUPTED = 128  # fio's exit code after SIGINT (sig_int in its backend.c)
_SLACK_S = 300.0
_SLOWEST_BYTES_PER_S = 3e5  # a hard disk with random 4k I/O
_SLOWEST_FILL_BYTES_PER_S = 2e6
_SIGNAL_LIMIT_S = 30.0
_PIDFILE = "fio.pid"
FORGET = 'rm -f -- "$1"'
"""A shell script that removes the previous trial's report, so that it cannot be mistaken for the next trial's."""

_KILL = """\
all="$(cat /proc/$pid/task/*/children) $pid"
for each in $all; do
  for task in /proc/$each/task/*; do wait=; read -r wait <"$task/wchan"; echo "$wait"; done
done
kill -KILL $all
"""
_RUN_DELAYS = """\
of=
for each in $(cat /proc/$pid/task/*/children) $pid; do of="$of /proc/$each/task/*/schedstat"; done
grep -sH . $of
"""
_NO_SPACE = "No space left on device"


class Fio:
    """fio as a `LoadGenerator`. The methods are documented in the protocol."""

    name = "fio"
    programs: tuple[str, ...] = ("fio",)
    packages: tuple[str, ...] = ("fio",)
    load_file = "job.fio"
    report_file = "fio.json"
    bin_width = BIN_WIDTH

    def version(self, host: Host) -> str:
        return str(fio_version(host))

    def ask_ahead(self, host: Host) -> None:
        ask_ahead(host, jobs.ADDED["ioengine"][0])

    def prepare(self, workload: Workload, longest_s: float, host: Host) -> Load:
        return load_of(jobs.jobs_of(workload, longest_s, host))

    def check_permitted(self, workload: Workload) -> None:
        jobs.check_permitted(workload)

    def described(self, name: str, options: Mapping[str, str]) -> LoadPart:
        return part_of(Job(name, {canonical(option): value for option, value in options.items()}))

    def check(self, loads: Mapping[str, Load], host: Host) -> None:
        check_each({name: jobs_of(load) for name, load in loads.items()}, host)

    def sets_runtime(self, workload: Workload) -> bool:
        return any(canonical(name) == "runtime" for spec in workload.jobs for name, _ in spec.options)

    def danger(self, part: LoadPart) -> str:
        return jobs.danger(job_of(part))

    def text(self, load: Load) -> str:
        return render(jobs_of(load))

    def read_back(self, text: str) -> Load:
        return load_of(read_job_file(text).jobs)

    def in_directory(self, load: Load, directory: str) -> Load:
        return load_of(jobs.placed(jobs_of(load), directory))

    def on_device(self, load: Load, path: str) -> Load:
        return load_of(jobs.on_device(jobs_of(load), path))

    def on_bare_disk(self, load: Load, path: str, size_bytes: int | None) -> Load:
        return load_of(jobs.on_bare_disk(jobs_of(load), path, size_bytes))

    def lasting(self, load: Load, seconds: float) -> Load:
        return load_of(jobs.lasting(jobs_of(load), seconds))

    def file_set(self, workload: Workload, load: Load, *, writers_apart: bool) -> str:
        return jobs.file_set(workload, jobs_of(load), writers_apart=writers_apart)

    def fill_load(self, load: Load) -> Load:
        return load_of(jobs.fill_job(jobs_of(load)))

    def device_fill_load(self, path: str, size_bytes: int) -> Load:
        return load_of(jobs.device_fill_job(path, size_bytes))

    def fill(self, host: Host, load: Load, scratch: str, size_bytes: int) -> None:
        command = _fio_command(scratch, f"{scratch}/fill.fio", ["fio", "--eta=never"])
        limit_s = 60 + size_bytes / _SLOWEST_FILL_BYTES_PER_S
        failed = "the test files could not be written"
        try:
            completed = host.run(command, stdin=self.text(load), timeout_s=limit_s, check=False)
        except CommandError as error:
            raise FioError(f"{failed}: {error.message}") from None
        output = (completed.stderr.strip() or completed.stdout.strip())[-600:]
        if completed.returncode != 0 and _NO_SPACE in output:
            place = as_word(scratch.rpartition("/")[0])
            raise HostError(
                f"{failed}: {_NO_SPACE}. The test files need {format_size(size_bytes)} on the layout, and the layout's "
                "images need space on the file system that stores them",
                f"free some space (df -h {place}), or store the images elsewhere with --work",
            )
        if completed.returncode != 0:
            raise FioError(f"{failed}: fio printed: {output or 'nothing'}")

    def cleanup_step(self, scratch: str) -> Step:
        # This is undone before the steps that build the layout, because a layout in use can't be removed. If poolproof
        # crashed early, the shell may not have become fio yet.
        return Step("run fio", ("true",), UndoPrograms(("fio", "sh"), marker=f"{scratch}/"))

    def run(
        self,
        host: Host,
        load: Load,
        scratch: str,
        *,
        status_s: float | None,
        before: Callable[[], None],
        read_only: bool = False,
    ) -> tuple[str, Completed]:
        text, report = self.text(load), _report_path(scratch)
        argv = ["fio", "--output-format=json+", f"--output={report}", "--eta=never"]
        argv += [] if status_s is None else [f"--status-interval={round(status_s * 1000)}ms"]
        argv += ["--readonly"] if read_only else []  # fio then also refuses to rewrite a file that is too short
        host.run(["sh", "-c", FORGET, "sh", report], timeout_s=_SIGNAL_LIMIT_S, check=False)
        before()
        command = _fio_command(scratch, f"{scratch}/{self.load_file}", argv, clear=report)
        return text, host.run(command, stdin=text, timeout_s=_limit_s(load), check=False)

    def interrupt(self, host: Host, scratch: str) -> None:
        _run_on_fio(host, scratch, 'kill -INT "$pid"')

    def kill(self, host: Host, scratch: str) -> tuple[str, ...]:
        return tuple(wait for wait in _run_on_fio(host, scratch, _KILL).split() if wait != "0")

    def run_delays(self, host: Host, scratch: str) -> str:
        return _run_on_fio(host, scratch, _RUN_DELAYS)

    def live_report(self, host: Host, scratch: str) -> FioReport:
        return FioReport(host, _report_path(scratch), 0.0)

    def whole_report(self, host: Host, scratch: str) -> str:
        try:
            return host.read(_report_path(scratch))
        except FileMissing:
            return ""

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        return read_json_stream(text)

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        return completed.returncode in ((0, _INTERRUPTED) if interrupted else (0,))


GENERATOR = Fio()


def _report_path(scratch: str) -> str:
    return f"{scratch}/{GENERATOR.report_file}"


def _run_on_fio(host: Host, scratch: str, script: str) -> str:
    """Run a shell script with fio's process ID in `$pid`. Return its output, or "" if fio is not running."""
    if_running = f'read -r pid <"$1" && grep -aqF "$2" "/proc/$pid/cmdline" || exit 0\n{script}'
    argv = ["sh", "-c", if_running, "sh", f"{scratch}/{_PIDFILE}", f"{scratch}/"]
    return host.run(argv, timeout_s=_SIGNAL_LIMIT_S, check=False).stdout


def _fio_command(scratch: str, job: str, argv: list[str], *, clear: str = "/dev/null") -> list[str]:
    """Return a shell command that saves its standard input as the job file and then becomes fio.

    The command also empties the file `clear`, saves fio's process ID, and changes to the scratch directory, where fio
    writes any file named without a directory, such as logs and the state of `verify`. A single shell does all of this,
    because starting a process takes time.
    """
    script = 'cat >"$1" && : >"$2" && echo $$ >"$0" && cd "${0%/*}" && job=$1 && shift 2 && exec "$@" "$job"'
    return ["sh", "-c", script, f"{scratch}/{_PIDFILE}", job, clear, *argv]


def _limit_s(load: Load) -> float:
    """Return a time limit in seconds, far above the requested time, that even a very slow disk can meet."""
    asked_s = sum(max((part.runtime_s or 0.0) + part.ramp_s for part in phase) for phase in load.phases)
    open_ended = [part for part in load.parts if part.runtime_s is None]
    work_bytes = sum((part.io_size_bytes or part.size_bytes or 0) * part.clones for part in open_ended)
    return 2 * asked_s + _SLACK_S + work_bytes / _SLOWEST_BYTES_PER_S
