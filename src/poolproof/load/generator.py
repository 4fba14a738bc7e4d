"""The `LoadGenerator` protocol, and the generators: each package in this folder defines one, `GENERATOR`."""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from poolproof import load
from poolproof.campaign.model import DEFAULT_GENERATOR, GENERATOR_OPTION, Workload
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome
from poolproof.process import Completed
from poolproof.steps import Step


@dataclass(frozen=True)
class Status:
    """Totals of all parts since the generator's clock started.

    `at_s` is the time in seconds since 1970, `ran_s` the runtime of the longest part. `latency_ns` is the sum of all
    completion latencies. `syncs` and `sync_ns` are the number and the total latency of fsync and fdatasync calls. If
    the generator does not separate directions, all I/O counts as reads. `start` and `end` are the byte offsets of the
    complete report in the generator's output.
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
    """The report of a running generator. Every method raises CommandError if the host does not answer.

    The caller sets `begun_at_s` to the host's time when the generator starts; older reports belong to another run.
    `statuses` has the statuses read so far. It is empty if the generator reports only at its end.
    """

    begun_at_s: float
    statuses: list[Status]

    def read_on(self) -> None:
        """Read what has been written since the last call."""

    def read_all(self) -> None:
        """Read everything at once, so that later calls do not ask the host. Meant for short reports."""

    def documents(self, statuses: Sequence[Status]) -> str:
        """Return the complete reports that these statuses come from, joined into one text."""

    def outcomes(self, statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        """Return the outcomes in the reports that these statuses come from; damaged ones are skipped."""


class LoadGenerator(Protocol):
    """Turns a workload into a load, the load into a running program, and its output into an outcome.

    A `scratch` directory on the host belongs to one layout. The generator writes its files there. Its command line
    names the directory, so that `poolproof clean` finds a generator that a crash left running.

    `name` is the value of the workload's `generator` option. `programs` must be installed on the host. A trial saves
    the load as the generator read it in `load_file`, and the last complete report in `report_file`. An audit recognizes
    the generator by these two names, so they must be unique.
    """

    name: str
    programs: tuple[str, ...]
    load_file: str
    report_file: str

    def version(self, host: Host) -> str:
        """Return the program's name and version. Raises FioError if it is missing or too old."""

    def ask_ahead(self, host: Host) -> None:
        """Start fetching from the host what `prepare` needs, in the background. May do nothing."""

    def prepare(self, workload: Workload, longest_s: float, host: Host) -> Load:
        """Return the load for a workload, not yet in a directory or on a device.

        `longest_s` is the runtime of a time-based part that sets none. Raises CampaignError if the host's generator
        does not know an option, or if a workload may not set it.
        """

    def described(self, name: str, options: Mapping[str, str]) -> LoadPart:
        """Return the load part that a workload's options describe, without asking a host."""

    def check(self, loads: Mapping[str, Load], host: Host) -> None:
        """Raise CampaignError if the host's generator refuses one of the loads (by workload name)."""

    def sets_runtime(self, workload: Workload) -> bool:
        """True if the workload sets its runtime."""

    def danger(self, part: LoadPart) -> str:
        """Return the option that may make a part change files that it should only read; empty if none."""

    def text(self, load: Load) -> str:
        """Return the load as readable text: the content of `load_file`."""

    def read_back(self, text: str) -> Load:
        """Parse a saved `load_file`, to audit its run again."""

    def in_directory(self, load: Load, directory: str) -> Load:
        """Return the load with its files in `directory`, a path on the host."""

    def on_device(self, load: Load, path: str) -> Load:
        """Return the load on a block device that all clones share."""

    def on_bare_disk(self, load: Load, path: str, size_bytes: int | None) -> Load:
        """Return the load on a bare disk, with direct I/O and a region per clone. An unknown size is None."""

    def lasting(self, load: Load, seconds: float) -> Load:
        """Return the load with a runtime of `seconds`."""

    def file_set(self, workload: Workload, load: Load, *, writers_apart: bool) -> str:
        """Return the name of the directory for a workload's files. Workloads with equal names share files."""

    def fill_load(self, load: Load) -> Load:
        """Return a load that writes all files of `load` completely, once, with incompressible data."""

    def device_fill_load(self, path: str, size_bytes: int) -> Load:
        """Return a load that writes the first `size_bytes` of a device once, with incompressible data."""

    def fill(self, host: Host, load: Load, scratch: str, size_bytes: int) -> None:
        """Run a load that fills files. Raises HostError if there is no space left, FioError if it fails otherwise."""

    def cleanup_step(self, scratch: str) -> Step:
        """Return the journal step whose undo ends a generator that a crash left running."""

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
        """Run the load to its end. Return its text as the generator read it, and how the program ended.

        `status_s` is the interval between status reports; None means no reports. `before` is called right before the
        program starts. With `read_only`, the generator must not write to any file. Raises CommandTimedOut if the
        program ran far too long and was killed.
        """

    def interrupt(self, host: Host, scratch: str) -> None:
        """End the running program so that it still writes its report. Do nothing if it has ended."""

    def kill(self, host: Host, scratch: str) -> tuple[str, ...]:
        """Kill the running program. Return the kernel functions in which its threads were waiting."""

    def live_report(self, host: Host, scratch: str) -> LiveReport:
        """Return the report of the run that is about to start."""

    def whole_report(self, host: Host, scratch: str) -> str:
        """Return all output of the finished program; empty if there is none."""

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        """Return the outcomes of all complete reports in the text, in order."""

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        """True if the exit code means that the run completed or, if `interrupted`, was ended by `interrupt`."""


@functools.cache
def all_generators() -> dict[str, LoadGenerator]:
    """Return all load generators by name."""
    packages = [found.name for found in pkgutil.iter_modules(load.__path__) if found.ispkg]
    modules = [importlib.import_module(f"{load.__name__}.{name}.generator") for name in packages]
    return {module.GENERATOR.name: module.GENERATOR for module in modules}


def generator_for(workload: Workload) -> LoadGenerator:
    """Return the generator that a workload selects; fio by default.

    Raises CampaignError if there is no such generator, or if the workload's parts select different ones.
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
    """Return the generator that a workload's options select; fio if it is not installed."""
    known = all_generators()
    return known.get(options.get(GENERATOR_OPTION, ""), known[DEFAULT_GENERATOR])


def described(name: str, options: Mapping[str, str]) -> LoadPart:
    """Return the part that the options describe; as fio reads them if their generator is not installed."""
    return generator_in(options).described(name, options)


def generator_of(load: Load) -> LoadGenerator:
    """Return the generator that prepared a load."""
    return all_generators()[load.generator]


def generator_of_trial(directory: Path) -> LoadGenerator | None:
    """Return the generator whose load and report are saved in a trial's directory; None if there is none."""
    for generator in all_generators().values():
        if all((directory / name).is_file() for name in (generator.load_file, generator.report_file)):
            return generator
    return None


def generator_versions(versions: Mapping[str, str]) -> list[str]:
    """Return the versions of load generators among the program versions that a run recorded."""
    return [versions[name] for name in all_generators() if name in versions]
