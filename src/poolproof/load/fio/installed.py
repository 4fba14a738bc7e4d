"""The fio installed on a host: its version, its options, and a check that it supports a workload's options.

Each query takes 30 ms. The answers are therefore cached per host, and `ask_ahead` fetches them in the background.
"""

import contextlib
import difflib
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from poolproof.campaign.model import JobSpec
from poolproof.campaign.names import did_you_mean
from poolproof.errors import CampaignError, FioError, PoolproofError
from poolproof.hosts.base import Host, display_name
from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.option_names import ALIASES, DEFAULT_ENGINE, canonical, engine_name
from poolproof.load.fio.option_values import ENGINE_WORDS
from poolproof.process import ProgramMissing

_VERSION = re.compile(r"fio[- ]v?(\d{1,9})\.(\d{1,9})(?!\d)(?:\.(\d{1,9})(?!\d))?")
_KERNEL = re.compile(r"(\d{1,4})\.(\d{1,4})(?!\d)")
_LIMIT_S = 60.0
_INSTALL = "to install or upgrade fio: `apt-get install fio` (Debian, Ubuntu), `dnf install fio` (Fedora, RHEL)"
_FEWEST_OPTIONS = 50
_OPTION = re.compile(r"[a-z][a-z0-9_]*")
_ENGINE = re.compile(r"\w[\w-]*")
_LIST_ENGINES = (
    "`fio --enghelp` lists the available engines; io_uring and libaio are asynchronous, psync is synchronous"
)

Answer = TypeVar("Answer")
P = ParamSpec("P")


@dataclass(frozen=True, order=True)
class FioVersion:
    """A fio release. `text` is the version string that fio prints."""

    major: int
    minor: int
    patch: int = 0
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"fio-{self.major}.{self.minor}"


OLDEST_TO_RUN = FioVersion(3, 6)
"""The oldest release that campaigns support.

It is the first one whose JSON output has fsync latencies (`sync`), which the etcd preset needs.
"""


def _once_per_host(ask: Callable[Concatenate[Host, P], Answer]) -> Callable[Concatenate[Host, P], Answer]:
    """Cache a function's answers per host. Concurrent callers wait for the same answer instead of asking again."""
    answers: WeakKeyDictionary[Host, dict[object, Answer]] = WeakKeyDictionary()
    lock = threading.Lock()

    @wraps(ask)
    def answer(host: Host, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        with lock:
            known = answers.setdefault(host, {})
            if args not in known:
                known[args] = ask(host, *args, **kwargs)
            return known[args]

    return answer


def parse_version(text: str) -> FioVersion | None:
    """Parse the version in `fio-3.33`, `fio 3.16-64-gfd988` or `fio-3.19-dirty`. Return None if none is found."""
    match = _VERSION.search(text)
    return FioVersion(int(match[1]), int(match[2]), int(match[3] or 0), text.strip()) if match else None


@_once_per_host
def fio_version(host: Host) -> FioVersion:
    """Return the version of the host's fio.

    Raises FioError if fio is missing, is too old, or prints no version. Raises CommandError if the host does not
    answer.
    """
    try:
        printed = host.run(["fio", "--version"], timeout_s=_LIMIT_S).stdout
    except ProgramMissing:
        raise FioError(f"fio is not installed on {display_name(host)}", _INSTALL) from None
    version = parse_version(printed)
    if version is None:
        shown = repr(printed.strip()[:200])
        raise FioError(f"`fio --version` on {display_name(host)} printed no version: {shown}", _INSTALL)
    if version < OLDEST_TO_RUN:
        needed = f"campaigns need at least {OLDEST_TO_RUN}"
        raise FioError(f"{version} on {display_name(host)} is too old; {needed}", _INSTALL)
    return version


@_once_per_host
def kernel_release(host: Host) -> tuple[int, int] | None:
    """Return the release of the host's kernel, such as (6, 12), or None if it cannot be parsed.

    Raises CommandError if the host does not answer.
    """
    match = _KERNEL.match(host.run(["uname", "-r"], timeout_s=_LIMIT_S).stdout)
    return (int(match[1]), int(match[2])) if match else None


@_once_per_host
def job_options(host: Host) -> frozenset[str]:
    """Return the canonical names of the options that the host's fio supports with every engine.

    Raises CommandError if the host does not answer, and FioError if the answer is not a list of fio options.
    """
    names = _names_in(host.run(["fio", "--cmdhelp=all"], timeout_s=_LIMIT_S, check=False).stdout)
    if len(names) < _FEWEST_OPTIONS:
        raise FioError(
            f"`fio --cmdhelp=all` ({fio_version(host)} on {display_name(host)}) listed only {len(names)} options",
            "check that the first fio on the PATH is the right program: `command -v fio`",
        )
    return names


@_once_per_host
def engine_options(host: Host, engine: str) -> frozenset[str]:
    """Return the options that the host's fio supports only with this engine.

    A path is never passed to fio, because `--enghelp=PATH` runs the code in that file. Raises CommandError if the host
    does not answer, and FioError if the host's fio does not have the engine.
    """
    if engine == "external":
        return frozenset()
    if not _ENGINE.fullmatch(engine):
        raise FioError(f"`ioengine={engine[:80]}` is not the name of an I/O engine", _LIST_ENGINES).concerning(
            "ioengine"
        )
    printed = host.run(["fio", f"--enghelp={engine}"], timeout_s=_LIMIT_S, check=False).stdout
    if "not found" in printed:
        unknown = f"has no I/O engine `{engine}`{did_you_mean(engine, ENGINE_WORDS)}"
        raise FioError(f"{fio_version(host)} on {display_name(host)} {unknown}", _LIST_ENGINES).concerning("ioengine")
    return _names_in(printed)


def ask_ahead(host: Host, engine: str) -> None:
    """Fetch, in the background, the information that `prepare` needs from the host's fio. Errors are ignored."""

    def ask(question: Callable[[Host], object]) -> None:
        with contextlib.suppress(PoolproofError):
            question(host)

    for question in (fio_version, job_options, lambda each: engine_options(each, engine)):
        threading.Thread(target=ask, args=(question,), name="ahead", daemon=True).start()


def known_options(host: Host, engine: str = DEFAULT_ENGINE) -> frozenset[str]:
    """Return all option names, including aliases, that the host's fio supports with this engine.

    Raises FioError if fio is missing, is too old, does not have the engine, or does not list its options. Raises
    CommandError if the host does not answer.
    """
    fio_version(host)
    names = job_options(host)
    return names | engine_options(host, engine) | {alias for alias, name in ALIASES.items() if name in names}


def check_options(jobs: Sequence[JobSpec], host: Host) -> Jobs:
    """Return the jobs with canonical option names. If an option is repeated, the last one wins, as in fio.

    Raises CampaignError if the host's fio does not have an option, or if a shortened option name is ambiguous. Also
    raises the errors of `known_options`.
    """
    return tuple(_checked(job, host) for job in jobs)


def _checked(job: JobSpec, host: Host) -> Job:
    engines = [value for name, value in job.options if name == "ioengine"]
    engine = engine_name(engines[-1]) if engines else DEFAULT_ENGINE
    known = known_options(host, engine)
    options: dict[str, str] = {}
    for given, value in job.options:
        fitting = [given] if given in known else sorted(name for name in known if given and name.startswith(given))
        if not fitting and _is_unlisted(host, given):
            fitting = [given]
        if len(set(map(canonical, fitting))) != 1:
            raise _unknown(given, job.name, engine, known, fitting)
        name = canonical(fitting[0])
        options.pop(name, None)
        options[name] = value
    return Job(job.name, options)


@_once_per_host
def _is_unlisted(host: Host, name: str) -> bool:
    """True if the host's fio has an option that `--cmdhelp=all` does not list, such as softrandommap in fio 3.33.

    For an unknown name, fio prints the option with the closest name. Raises CommandError if the host does not answer.
    """
    if not _OPTION.fullmatch(name):
        return False
    printed = host.run(["fio", f"--cmdhelp={name}"], timeout_s=_LIMIT_S, check=False).stdout
    return printed.lstrip().startswith(f"{name}:")


def _unknown(given: str, job: str, engine: str, known: Iterable[str], fitting: Sequence[str]) -> CampaignError:
    near = difflib.get_close_matches(given.lower(), known, n=1, cutoff=0.6)
    if fitting:
        hint = f"it may be short for {' or '.join(fitting[:6])}; write the full name"
    elif near:
        hint = f"did you mean `{near[0]}`? `fio --cmdhelp={near[0]}` explains it"
    else:
        hint = "to list fio's options: fio --cmdhelp=all; to list those of an engine: fio --enghelp=ENGINE"
    return CampaignError(f"job {job!r}: fio has no {given!r} option for the {engine} engine", hint).concerning(given)


def _names_in(help_text: str) -> frozenset[str]:
    lines = (line.partition(":") for line in help_text.splitlines())
    return frozenset(name.strip() for name, colon, _ in lines if colon and name.strip() and " " not in name.strip())
