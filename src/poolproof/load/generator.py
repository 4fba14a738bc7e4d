"""The `LoadGenerator` protocol, and functions that find generators. Each package here defines a `GENERATOR`."""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from poolproof import load
from poolproof.campaign.generator_option import DEFAULT_GENERATOR, GENERATOR_OPTION
from poolproof.campaign.model import Workload
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome
from poolproof.process import Completed
from poolproof.steps import Step


@dataclass(frozen=True)
class Status:
    """Totals over all parts since the generator last reset its counters, for example after the ramp time.

    `at_s`: the time of the report, in seconds since 1970.
    `ran_s`: the runtime of the longest part.
    `latency_ns`: the sum of all completion latencies.
    `syncs`, `sync_ns`: the number of fsync and fdatasync calls, and their total latency.
    `start`, `end`: the byte offsets of the complete report in the generator's output.

    If the generator does not report reads and writes separately, all I/O counts as reads.
    """

    at_s: float
    ran_s: float
    read_bytes: int = 0
    write_bytes: int = 0
    read_ios: int = 0
    write_ios: int = 0
    latency_samples: int = 0
    latency_ns: float = 0.0
    syncs: int = 0
    sync_ns: float = 0.0
    start: int = 0
    end: int = 0

    @property
    def ios(self) -> int:
        return self.read_ios + self.write_ios

    @property
    def moved_bytes(self) -> int:
        return self.read_bytes + self.write_bytes


class LiveReport(Protocol):
    """The report of a running generator. Its methods raise CommandError if the host does not answer.

    `begun_at_s`: the time at which the generator started, on the same clock as the counters' timestamps. Set by the
    caller.
    `clock_ahead_s`: the lead of the host's wall clock over that clock. Set by the caller.
    `statuses`: the statuses read so far. Always empty if the generator reports only at the end of a run.
    """

    begun_at_s: float
    clock_ahead_s: float
    statuses: list[Status]

    def read_on(self) -> None:
        """Read everything that the generator has written since the last call."""

    def read_all(self) -> None:
        """Read the whole report at once, so that later calls do not access the host. Meant for short reports."""

    def documents(self, statuses: Sequence[Status]) -> str:
        """Return the full reports that contain these statuses, joined into one string."""

    def outcomes(self, statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        """Return the outcomes in the reports that contain these statuses. Damaged reports are skipped."""


class LoadGenerator(Protocol):
    """Turns a workload into a load, runs it, and parses the program's report into an outcome.

    The generator writes its files to the layout's `scratch` directory on the host. The directory's path must appear in
    the generator's command line, so that `poolproof clean` can find a generator that a crashed run left behind.

    `name`: the value of the workload option `generator` that selects this generator.
    `programs`: the programs that must be installed on the host.
    `packages`: the Debian packages that contain these programs, which the lab's image includes.
    `load_file`: the name of the file in a trial's directory that contains the load as passed to the generator.
    `report_file`: the name of the file in a trial's directory that contains the last complete report.
    `bin_width`: the width of a bin in the generator's latency histograms, as a fraction of the bin's latency, or 0 if
    its latencies are exact. It limits the precision of percentiles.

    An audit recognizes the generator by its `load_file` and `report_file`, so each generator needs a different pair.
    """

    name: str
    programs: tuple[str, ...]
    packages: tuple[str, ...]
    load_file: str
    report_file: str
    bin_width: float

    def version(self, host: Host) -> str:
        """Return the program's name and version.

        Raises FioError if the program is missing or too old, and CommandError if the host does not answer.
        """

    def ask_ahead(self, host: Host) -> None:
        """Start a background thread that fetches what `prepare` needs from the host. May do nothing."""

    def prepare(self, workload: Workload, longest_s: float, host: Host) -> Load:
        """Return the load for a workload, not yet assigned to a directory or device.

        `longest_s`: the runtime for time-based parts that do not set one.

        Raises CampaignError if the host's generator does not know an option, or if poolproof does not allow an option
        or its value. Raises FioError if the generator is missing or too old, and CommandError if the host does not
        answer.
        """

    def check_permitted(self, workload: Workload) -> None:
        """Raise a CampaignError if poolproof rejects the workload on every host, without contacting a host.

        Options that are unknown here are skipped, because a newer generator on the host may have them.
        """

    def described(self, name: str, options: Mapping[str, str]) -> LoadPart:
        """Return the part of a load that a workload's options describe, without contacting a host."""

    def check(self, loads: Mapping[str, Load], host: Host) -> None:
        """Raise CampaignError if the host's generator rejects a load. `loads`: the loads, keyed by workload name."""

    def sets_runtime(self, workload: Workload) -> bool:
        """True if the workload sets a runtime."""

    def danger(self, part: LoadPart) -> str:
        """Return an option that could make a read-only part modify files, or an empty string if it has none."""

    def text(self, load: Load) -> str:
        """Return the load in readable form, to be saved as `load_file`."""

    def read_back(self, text: str) -> Load:
        """Parse a saved `load_file`, so that its run can be audited again."""

    def in_directory(self, load: Load, directory: str) -> Load:
        """Return a copy of the load with its files in `directory`, a path on the host."""

    def on_device(self, load: Load, path: str) -> Load:
        """Return a copy of the load that uses a single block device, shared by all clones."""

    def on_bare_disk(self, load: Load, path: str, size_bytes: int | None) -> Load:
        """Return a copy of the load for direct I/O on a bare disk, with a separate region for each clone.

        `size_bytes`: the disk's size, or None if unknown.
        """

    def lasting(self, load: Load, seconds: float) -> Load:
        """Return a copy of the load with its runtime set to `seconds`."""

    def file_set(self, workload: Workload, load: Load, *, writers_apart: bool) -> str:
        """Return the name of the directory for a workload's files. Workloads with the same directory share files."""

    def fill_load(self, load: Load) -> Load:
        """Return a load that writes every file of `load` completely, once, with incompressible data."""

    def device_fill_load(self, path: str, size_bytes: int) -> Load:
        """Return a load that writes the first `size_bytes` of a device once, with incompressible data."""

    def fill(self, host: Host, load: Load, scratch: str, size_bytes: int) -> None:
        """Run a load that fills files.

        Raises HostError if the layout runs out of space, and FioError if filling fails for another reason.
        """

    def cleanup_step(self, scratch: str) -> Step:
        """Return a journal step whose undo stops a generator that a crashed run left behind."""

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
        """Run the load to completion. Return the load, as the text that the generator read, and the completed process.

        `status_s`: the interval between status reports, or None for no reports.
        `before`: called immediately before the program starts.
        `read_only`: if True, the generator must not write to any file.

        Raises CommandTimedOut if the program runs far longer than requested and is killed.
        """

    def interrupt(self, host: Host, scratch: str) -> None:
        """Stop the running program, but let it write its report. Does nothing if it has already ended."""

    def kill(self, host: Host, scratch: str) -> tuple[str, ...]:
        """Kill the running program. Return the kernel functions in which its threads were waiting."""

    def run_delays(self, host: Host, scratch: str) -> str:
        """Return the CPU times of the running program's I/O threads, and the times that they waited for a CPU.

        The string has one line per thread: the path /proc/PID/task/TID/schedstat, a colon, and that file's content. It
        is empty if the program has ended or the times are unknown.
        """

    def live_report(self, host: Host, scratch: str) -> LiveReport:
        """Return the report of a run that is about to start."""

    def whole_report(self, host: Host, scratch: str) -> str:
        """Return the complete report file of a program that has ended, or an empty string if it wrote none."""

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        """Return the outcomes in all complete reports, in the order in which they appear."""

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        """True if the exit code shows that the run completed or, with `interrupted`, that `interrupt` stopped it."""


@functools.cache
def all_generators() -> dict[str, LoadGenerator]:
    packages = [found.name for found in pkgutil.iter_modules(load.__path__) if found.ispkg]
    modules = [importlib.import_module(f"{load.__name__}.{name}.generator") for name in packages]
    return {module.GENERATOR.name: module.GENERATOR for module in modules}


def generator_for(workload: Workload) -> LoadGenerator:
    """Return the load generator selected by a workload, which is fio by default.

    Raises CampaignError if the selected generator does not exist, or if the workload's jobs select different
    generators.
    """
    names, known = workload.generators, all_generators()
    if len(names) > 1 or not names <= known.keys():
        raise CampaignError(
            f"workload {workload.name}: `{GENERATOR_OPTION}` must be one of: {', '.join(sorted(known))} "
            "(and the same in every job)",
            f"leave `{GENERATOR_OPTION}` out to use {DEFAULT_GENERATOR}",
        ).concerning(GENERATOR_OPTION)
    return known[next(iter(names))]


def generator_in(options: Mapping[str, str]) -> LoadGenerator:
    """Return the generator selected by a workload's options, or fio if they name no known generator."""
    known = all_generators()
    return known.get(options.get(GENERATOR_OPTION, ""), known[DEFAULT_GENERATOR])


def described(name: str, options: Mapping[str, str]) -> LoadPart:
    """Return the part of a load that a workload's options describe. The generator that they select interprets them."""
    return generator_in(options).described(name, options)


def generator_of(load: Load) -> LoadGenerator:
    """Return the load generator that prepared a load."""
    return all_generators()[load.generator]


def generator_of_trial(has_file: Callable[[str], bool]) -> LoadGenerator | None:
    """Return the generator whose load and report files are in a trial's directory, or None if no generator matches.

    `has_file`: returns True if the directory contains a regular file with the given name.
    """
    for generator in all_generators().values():
        if has_file(generator.load_file) and has_file(generator.report_file):
            return generator
    return None


def generator_versions(versions: Mapping[str, str]) -> list[str]:
    """Return the versions of the load generators, out of all program versions that a run recorded."""
    return [versions[name] for name in all_generators() if name in versions]
