"""fio as a load generator."""

from collections.abc import Callable, Mapping

from poolproof.campaign.model import Workload
from poolproof.hosts.base import Host
from poolproof.load.fio import jobs, run
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

_INTERRUPTED = 128  # fio's exit code after SIGINT (sig_int in its backend.c)


class Fio:
    """A `LoadGenerator`; its protocol says what each method does."""

    name = "fio"
    programs: tuple[str, ...] = ("fio",)
    load_file = "job.fio"
    report_file = "fio.json"

    def version(self, host: Host) -> str:
        return str(fio_version(host))

    def ask_ahead(self, host: Host) -> None:
        ask_ahead(host, jobs.ADDED["ioengine"][0])

    def prepare(self, workload: Workload, longest_s: float, host: Host) -> Load:
        return load_of(jobs.jobs_of(workload, longest_s, host))

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
        run.fill_files(host, jobs_of(load), scratch, size_bytes)

    def cleanup_step(self, scratch: str) -> Step:
        return run.cleanup_step(scratch)

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
        return run.run_fio(host, load, scratch, status_s=status_s, before=before, read_only=read_only)

    def interrupt(self, host: Host, scratch: str) -> None:
        run.interrupt_fio(host, scratch)

    def kill(self, host: Host, scratch: str) -> tuple[str, ...]:
        return run.kill_fio(host, scratch)

    def live_report(self, host: Host, scratch: str) -> FioReport:
        return FioReport(host, run.report_path(scratch), 0.0)

    def whole_report(self, host: Host, scratch: str) -> str:
        return run.whole_report(host, scratch)

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        return read_json_stream(text)

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        return completed.returncode in ((0, _INTERRUPTED) if interrupted else (0,))


GENERATOR = Fio()
