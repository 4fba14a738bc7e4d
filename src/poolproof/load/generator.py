"""The protocol of a load generator, and the generators: `GENERATOR` of each package in this folder. `fio` is one."""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from poolproof import load
from poolproof.campaign.model import Workload
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.model import DEFAULT_GENERATOR, Load, LoadPart
from poolproof.load.outcome import Outcome
from poolproof.process import Completed
from poolproof.steps import Step

OPTION = "generator"
"""The option by which a workload names its generator."""


@dataclass(frozen=True)
class Status:
    """Totals since the generator's clock started, over all parts. `ran_s` is that clock: the time of the longest part.

    `at_s`: seconds since 1970. `latency_ns` is the sum over all completions, `syncs` and `sync_ns` those of fsync and
    fdatasync calls. If the generator does not separate directions, everything counts as reads. `start` and `end` are
    the position of the complete report in the generator's output, in bytes.
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
    """The report of a running generator on its host. Every method raises CommandError if the host does not answer.

    Set `begun_at_s` to the start of the generator by the host's clock, because older reports belong to another run.
    `statuses` are those read so far, in order; empty if the generator reports only at its end.
    """

    begun_at_s: float
    statuses: list[Status]

    def read_on(self) -> None:
        """Read what was written since the last call."""

    def read_all(self) -> None:
        """Read everything at once, so that no later call asks the host. For the short report of an ended run."""

    def documents(self, statuses: Sequence[Status]) -> str:
        """Return the complete reports that these statuses come from, one after the other."""

    def outcomes(self, statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        """Return the outcomes that these statuses come from; fewer if a report is damaged."""


class LoadGenerator(Protocol):
    """Turns a workload into a load, the load into a running program, and its output into an outcome.

    A `scratch` directory on the host belongs to one layout. The generator writes its files there, and its command line
    names the directory, so that `poolproof clean` finds a program left by a crash.

    `name` is the value of the workload's option `generator`. `programs` must be on the host. A trial saves the load as
    the generator read it in `load_file`, and the last complete report in `report_file`. An audit recognizes the
    generator by these two names, so no two generators may share them.
    """

    name: str
    programs: tuple[str, ...]
    load_file: str
    report_file: str

    def version(self, host: Host) -> str:
        """Return the program's name and release. Raises FioError if it is missing or too old."""

    def ask_ahead(self, host: Host) -> None:
        """Start asking the host what `prepare` needs to know, in the background; may do nothing."""

    def prepare(self, workload: Workload, longest_s: float, host: Host) -> Load:
        """Return the load of a workload, without a place for its files. `longest_s` limits an open-ended part.

        Raises CampaignError if the workload has an option that the host's generator does not know, or must not have.
        """

    def described(self, name: str, options: Mapping[str, str]) -> LoadPart:
        """Return what a workload's options alone say about it, without a host."""

    def check(self, loads: Mapping[str, Load], host: Host) -> None:
        """Raise CampaignError if the host's generator refuses one of the loads; keys are names of workloads."""

    def sets_runtime(self, workload: Workload) -> bool:
        """True if the workload says itself how long it runs."""

    def danger(self, part: LoadPart) -> str:
        """Return the option by which a part may change files that it only reads; empty if there is none."""

    def text(self, load: Load) -> str:
        """Return the load as a person reads it: the content of `load_file`."""

    def read_back(self, text: str) -> Load:
        """Return the load in a saved `load_file`, to audit its run again."""

    def in_directory(self, load: Load, directory: str) -> Load:
        """Return the load with its files in a directory of the host."""

    def on_device(self, load: Load, path: str) -> Load:
        """Return the load on a block device, which all its clones share."""

    def on_bare_disk(self, load: Load, path: str, size_bytes: int | None) -> Load:
        """Return the load on a bare disk, with a region for each clone and direct I/O. None: a size not known."""

    def lasting(self, load: Load, seconds: float) -> Load:
        """Return the load with this runtime."""

    def file_set(self, workload: Workload, load: Load, *, writers_apart: bool) -> str:
        """Return the name of the directory for the workload's files; workloads of one name share their files."""

    def fill_load(self, load: Load) -> Load:
        """Return the load that writes all files of a load once, completely, with incompressible data."""

    def device_fill_load(self, path: str, size_bytes: int) -> Load:
        """Return the load that writes the start of a block device once, with incompressible data."""

    def fill(self, host: Host, load: Load, scratch: str, size_bytes: int) -> None:
        """Run a load that fills files. Raises FioError if it failed, HostError if there was no space left."""

    def cleanup_step(self, scratch: str) -> Step:
        """Return the step for the journal by which `poolproof clean` ends a generator left by a crash."""

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
        """Run the load to its end; return the load as the generator read it, and how the program ended.

        `status_s` is how often it reports meanwhile, None for not at all. `before` is called right before it starts.
        With `read_only`, it must not write to any file. Raises CommandTimedOut if it ran far too long and was killed.
        """

    def interrupt(self, host: Host, scratch: str) -> None:
        """End the running program so that it writes its report; do nothing if it has ended."""

    def kill(self, host: Host, scratch: str) -> tuple[str, ...]:
        """Kill the running program; return what its threads waited for in the kernel, by function name."""

    def live_report(self, host: Host, scratch: str) -> LiveReport:
        """Return the report of the run that is about to start."""

    def whole_report(self, host: Host, scratch: str) -> str:
        """Return everything that the ended program wrote; empty if it wrote nothing."""

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        """Return the outcome of every complete report in the text, in order."""

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        """True if the program's exit code means that the run was completed, or ended by `interrupt`."""


@functools.cache
def all_generators() -> dict[str, LoadGenerator]:
    """Return the generators by name."""
    packages = [found.name for found in pkgutil.iter_modules(load.__path__) if found.ispkg]
    modules = [importlib.import_module(f"{load.__name__}.{name}.generator") for name in packages]
    return {module.GENERATOR.name: module.GENERATOR for module in modules}


def generator_for(workload: Workload) -> LoadGenerator:
    """Return the generator that a workload names; fio if it names none.

    Raises:
        CampaignError: there is no such generator, or the workload's parts name several.
    """
    names = {dict(spec.options).get(OPTION, DEFAULT_GENERATOR) for spec in workload.jobs}
    known = all_generators()
    if len(names) > 1 or not names <= known.keys():
        raise CampaignError(
            f"workload {workload.name}: `{OPTION}` must be one of: {', '.join(sorted(known))}",
            f"leave `{OPTION}` out to use {DEFAULT_GENERATOR}",
        ).concerning(OPTION)
    return known[names.pop()]


def described(name: str, options: Mapping[str, str]) -> LoadPart:
    """Return what a workload's options alone say about it; as fio reads them if its generator is not installed."""
    known = all_generators()
    return known.get(options.get(OPTION, ""), known[DEFAULT_GENERATOR]).described(name, options)


def generator_of(load: Load) -> LoadGenerator:
    """Return the generator that prepared a load."""
    return all_generators()[load.generator]


def generator_of_trial(directory: Path) -> LoadGenerator | None:
    """Return the generator whose load and report were saved in the directory of a trial; None if there are none."""
    for generator in all_generators().values():
        if all((directory / name).is_file() for name in (generator.load_file, generator.report_file)):
            return generator
    return None


def generator_versions(versions: Mapping[str, str]) -> list[str]:
    """Return the versions of generators among those that a run recorded by program."""
    return [versions[name] for name in all_generators() if name in versions]
