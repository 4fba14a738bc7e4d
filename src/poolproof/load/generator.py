"""The `LoadGenerator` protocol, and functions that find generators. Each package in this folder has a `GENERATOR`."""

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
    """Totals of all parts since the generator last started counting, for example after the ramp.

    `at_s` is the time of the report in seconds since 1970, and `ran_s` is the runtime of the longest part. `latency_ns`
    is the sum of all completion latencies. `syncs` is the number of fsync and fdatasync calls, and `sync_ns` is their
    total latency. If the generator does not separate directions, all I/O counts as reads. `start` and `end` are the
    byte offsets at which the complete report begins and ends in the generator's output.
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

    When the generator starts, the caller sets `begun_at_s` to the time on the clock that timestamps the counters, and
    `clock_ahead_s` to the number of seconds by which the host's wall clock is ahead of that clock. `statuses` contains
    the statuses read so far. It stays empty if the generator only reports at the end of a run.
    """

    begun_at_s: float
    clock_ahead_s: float
    statuses: list[Status]

    def read_on(self) -> None:
        """Read what the generator has written since the last call."""

    def read_all(self) -> None:
        """Read the whole report at once, so that later calls need not ask the host. Use this for short reports."""

    def documents(self, statuses: Sequence[Status]) -> str:
        """Return the full reports that these statuses were read from, joined into one string."""

    def outcomes(self, statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        """Return the outcomes in the reports from which these statuses were read. Damaged reports are skipped."""


class LoadGenerator(Protocol):
    """Turns a workload into a load, runs it, and turns the program's output into an outcome.

    Each layout has a `scratch` directory on the host, to which the generator writes its files. The generator's command
    line contains the path of this directory, so that `poolproof clean` can find a generator that a crash left running.

    `name` is the value of the workload's `generator` option. `programs` must be installed on the host. `packages` are
    the Debian packages that contain these programs; the lab's image includes the packages. A trial's directory contains
    the load as the generator read it (`load_file`) and the last complete report (`report_file`). An audit recognizes
    the generator by these two file names, so no two generators may use the same pair.

    `bin_width` is the width of a bin in the generator's latency histograms, as a fraction of the bin's latency, or 0 if
    its latencies are exact. The width limits how precisely a percentile is known.
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
        """Start fetching what `prepare` needs from the host, in the background. May do nothing."""

    def prepare(self, workload: Workload, longest_s: float, host: Host) -> Load:
        """Return the load for a workload, before it is placed in a directory or on a device.

        `longest_s` becomes the runtime of time-based parts that do not set one. Raises CampaignError if the host's
        generator does not know an option, or if poolproof does not allow an option or its value. Raises FioError if the
        host's generator is missing or too old, and CommandError if the host does not answer.
        """

    def described(self, name: str, options: Mapping[str, str]) -> LoadPart:
        """Return the load part that a workload's options describe, without asking a host."""

    def check(self, loads: Mapping[str, Load], host: Host) -> None:
        """Raise CampaignError if the host's generator refuses a load. The keys of `loads` are workload names."""

    def sets_runtime(self, workload: Workload) -> bool:
        """True if the workload sets a runtime."""

    def danger(self, part: LoadPart) -> str:
        """Return the option that could make a read-only part change files, or an empty string."""

    def text(self, load: Load) -> str:
        """Return the load as readable text, to be saved as `load_file`."""

    def read_back(self, text: str) -> Load:
        """Parse a saved `load_file`, so that the run it came from can be audited again."""

    def in_directory(self, load: Load, directory: str) -> Load:
        """Return the load with its files in `directory`, a path on the host."""

    def on_device(self, load: Load, path: str) -> Load:
        """Return the load, changed to run on a block device that all clones share."""

    def on_bare_disk(self, load: Load, path: str, size_bytes: int | None) -> Load:
        """Return the load, changed to use direct I/O on a bare disk, with a separate region for each clone.

        `size_bytes` is the disk's size, or None if it is unknown.
        """

    def lasting(self, load: Load, seconds: float) -> Load:
        """Return the load with a runtime of `seconds`."""

    def file_set(self, workload: Workload, load: Load, *, writers_apart: bool) -> str:
        """Return the name of the directory for a workload's files. Workloads with the same directory share files."""

    def fill_load(self, load: Load) -> Load:
        """Return a load that writes all files of `load` once and completely, with incompressible data."""

    def device_fill_load(self, path: str, size_bytes: int) -> Load:
        """Return a load that writes the first `size_bytes` of a device once, with incompressible data."""

    def fill(self, host: Host, load: Load, scratch: str, size_bytes: int) -> None:
        """Run a load that fills files.

        Raises HostError if the space runs out, and FioError if filling fails for another reason.
        """

    def cleanup_step(self, scratch: str) -> Step:
        """Return the journal step whose undo stops a generator that a crash left running."""

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
        """Run the load to its end. Return the load's text as the generator read it, and how the program ended.

        `status_s` is the interval between status reports, or None for no reports. `before` is called right before the
        program starts. With `read_only`, the generator must not write to any file. Raises CommandTimedOut if the
        program was killed because it ran far longer than requested.
        """

    def interrupt(self, host: Host, scratch: str) -> None:
        """End the running program so that it can still write its report. Does nothing if the program has ended."""

    def kill(self, host: Host, scratch: str) -> tuple[str, ...]:
        """Kill the running program. Return the kernel functions in which its threads were waiting."""

    def run_delays(self, host: Host, scratch: str) -> str:
        """Return how long each of the running program's I/O threads has run and has waited for a CPU.

        The returned string has a line for each thread: the path of its file /proc/PID/task/TID/schedstat, a colon, and
        the content of this file. The string is empty if the program has ended or if the times are unknown.
        """

    def live_report(self, host: Host, scratch: str) -> LiveReport:
        """Return the report of the run that is about to start."""

    def whole_report(self, host: Host, scratch: str) -> str:
        """Return everything that the finished program wrote to its report, or an empty string if there is no report."""

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        """Return the outcomes of all complete reports, in the order of the text."""

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        """True if the exit code shows that the run completed or, if `interrupted`, that `interrupt` ended it."""


@functools.cache
def all_generators() -> dict[str, LoadGenerator]:
    """Return all load generators, keyed by name."""
    packages = [found.name for found in pkgutil.iter_modules(load.__path__) if found.ispkg]
    modules = [importlib.import_module(f"{load.__name__}.{name}.generator") for name in packages]
    return {module.GENERATOR.name: module.GENERATOR for module in modules}


def generator_for(workload: Workload) -> LoadGenerator:
    """Return the generator that a workload selects. The default is fio.

    Raises CampaignError if there is no generator with the selected name, or if the workload's jobs select different
    generators.
    """
    names, known = workload.generators, all_generators()
    if len(names) > 1 or not names <= known.keys():
        raise CampaignError(
            f"workload {workload.name}: `{GENERATOR_OPTION}` must be one of: {', '.join(sorted(known))} "
            "(the same in every job)",
            f"leave `{GENERATOR_OPTION}` out to use {DEFAULT_GENERATOR}",
        ).concerning(GENERATOR_OPTION)
    return known[next(iter(names))]


def generator_in(options: Mapping[str, str]) -> LoadGenerator:
    """Return the generator that a workload's options select, or fio if they name no known generator."""
    known = all_generators()
    return known.get(options.get(GENERATOR_OPTION, ""), known[DEFAULT_GENERATOR])


def described(name: str, options: Mapping[str, str]) -> LoadPart:
    """Return the load part that a workload's options describe, as the generator from `generator_in` reads them."""
    return generator_in(options).described(name, options)


def generator_of(load: Load) -> LoadGenerator:
    """Return the generator that prepared a load."""
    return all_generators()[load.generator]


def generator_of_trial(has_file: Callable[[str], bool]) -> LoadGenerator | None:
    """Return the generator whose load and report files are in a trial's directory, or None if there are no such files.

    `has_file` returns True if the directory contains a regular file with the given name.
    """
    for generator in all_generators().values():
        if has_file(generator.load_file) and has_file(generator.report_file):
            return generator
    return None


def generator_versions(versions: Mapping[str, str]) -> list[str]:
    """Pick the versions of load generators from the program versions that a run recorded."""
    return [versions[name] for name in all_generators() if name in versions]
