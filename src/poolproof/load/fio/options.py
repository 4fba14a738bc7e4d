"""Which options the host's fio knows, and whether a workload's options are among them."""

import difflib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from poolproof.campaign.model import JobSpec
from poolproof.campaign.names import did_you_mean
from poolproof.errors import CampaignError, FioError
from poolproof.hosts.base import Host
from poolproof.load.fio.aliases import ALIASES, canonical
from poolproof.load.fio.engines import DEFAULT_ENGINE, engine_name
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.option_values import ENGINE_WORDS
from poolproof.load.fio.version import fio_version

_TIMEOUT_S = 60.0
_FEWEST_OPTIONS = 50
_JOB_OPTIONS: WeakKeyDictionary[Host, frozenset[str]] = WeakKeyDictionary()
_ENGINE_OPTIONS: WeakKeyDictionary[Host, dict[str, frozenset[str]]] = WeakKeyDictionary()
_ASKING_FOR_JOBS, _ASKING_FOR_ENGINES = threading.Lock(), threading.Lock()


@dataclass(frozen=True)
class OptionTable:
    """The job options of one fio. `by_engine` holds the options that only that engine has, for the engines asked."""

    names: frozenset[str]
    by_engine: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def known(self, engine: str = DEFAULT_ENGINE) -> frozenset[str]:
        """Every name that a job with this engine may use, aliases included."""
        return self.names | self.by_engine.get(engine, frozenset()) | _aliases_of(self.names)

    def canonical(self, name: str, engine: str = DEFAULT_ENGINE) -> str | None:
        """The first name of an option given by name, alias or a prefix that fits one option only; None otherwise."""
        known = self.known(engine)
        if name in known:
            return canonical(name)
        fitting = {canonical(candidate) for candidate in known if candidate.startswith(name)} if name else set()
        return fitting.pop() if len(fitting) == 1 else None

    def nearest(self, name: str, engine: str = DEFAULT_ENGINE) -> tuple[str, ...]:
        """Known names that look most like `name`, the best first."""
        return tuple(difflib.get_close_matches(name.lower(), sorted(self.known(engine)), n=3, cutoff=0.6))


def known_options(host: Host, engines: Iterable[str] = ()) -> OptionTable:
    """The options of the host's fio, and those of the given engines.

    Raises:
        FioError: fio is missing or too old, or has no such engine.
    """
    fio_version(host)
    return OptionTable(job_options(host), {name: engine_options(host, name) for name in engines})


def check_options(jobs: Sequence[JobSpec], table: OptionTable) -> JobFile:
    """The jobs with their options under fio's first names; the last of a repeated option counts, as in fio.

    Raises:
        CampaignError: an option is not one of this fio's; the hint names the nearest right word.
    """
    return JobFile(tuple(_checked(job, table) for job in jobs))


def engines_of(jobs: Iterable[JobSpec]) -> frozenset[str]:
    """The engines that the jobs name, for `known_options`."""
    return frozenset(_engine(job) for job in jobs)


def _engine(job: JobSpec) -> str:
    given = [value for name, value in job.options if name == "ioengine"]
    return engine_name(given[-1]) if given else DEFAULT_ENGINE


def _checked(job: JobSpec, table: OptionTable) -> Job:
    engine = _engine(job)
    options: dict[str, str] = {}
    for given, value in job.options:
        name = table.canonical(given, engine)
        if name is None:
            raise _unknown(given, job.name, engine, table)
        options.pop(name, None)
        options[name] = value
    return Job(job.name, options)


def _unknown(given: str, job: str, engine: str, table: OptionTable) -> CampaignError:
    fitting = sorted(name for name in table.known(engine) if given and name.startswith(given))
    near = table.nearest(given, engine)
    if fitting:
        hint = f"it is short for several: {', '.join(fitting[:6])}; write one of them whole"
    elif near:
        hint = f"did you mean `{near[0]}`? `fio --cmdhelp={near[0]}` explains it"
    else:
        hint = "`fio --cmdhelp=all` lists fio's options, `fio --enghelp=ENGINE` those of an engine"
    return CampaignError(f"job {job!r}: fio has no option {given!r} with the engine {engine}", hint).concerning(given)


def _aliases_of(names: frozenset[str]) -> frozenset[str]:
    return frozenset(alias for alias, name in ALIASES.items() if name in names)


def job_options(host: Host) -> frozenset[str]:
    """The first names of the options that every job of the host's fio may have.

    Raises:
        CommandError: fio can't be asked.
        FioError: what answered is no fio.
    """
    with _ASKING_FOR_JOBS:
        if host not in _JOB_OPTIONS:
            _JOB_OPTIONS[host] = _asked_for_job_options(host)
        return _JOB_OPTIONS[host]


def engine_options(host: Host, engine: str) -> frozenset[str]:
    """The options that only jobs with that engine may have.

    Raises:
        CommandError: fio can't be asked.
        FioError: it has no such engine.
    """
    with _ASKING_FOR_ENGINES:
        asked = _ENGINE_OPTIONS.setdefault(host, {})
        if engine not in asked:
            asked[engine] = _asked_for_engine(host, engine)
        return asked[engine]


def _asked_for_job_options(host: Host) -> frozenset[str]:
    said = host.run(["fio", "--cmdhelp=all"], timeout_s=_TIMEOUT_S, check=False).stdout
    names = _names_listed(said)
    if len(names) < _FEWEST_OPTIONS:
        raise FioError(
            f"`fio --cmdhelp=all` of {fio_version(host)} on {host.name} listed only {len(names)} options",
            "is another program called fio first on the PATH? `command -v fio` tells",
        )
    return names


def _asked_for_engine(host: Host, engine: str) -> frozenset[str]:
    if engine == "external":
        return frozenset()
    said = host.run(["fio", f"--enghelp={engine}"], timeout_s=_TIMEOUT_S, check=False).stdout
    if "not found" in said:
        raise FioError(
            f"{fio_version(host)} on {host.name} has no I/O engine `{engine}`{did_you_mean(engine, ENGINE_WORDS)}",
            "`fio --enghelp` lists the engines it has; io_uring and libaio are asynchronous, psync is synchronous",
        ).concerning("ioengine")
    return _names_listed(said)


def _names_listed(text: str) -> frozenset[str]:
    """The names in fio's help: the first word of each line that has a colon after it."""
    lines = (line.partition(":") for line in text.splitlines())
    return frozenset(name.strip() for name, colon, _ in lines if colon and name.strip() and " " not in name.strip())
