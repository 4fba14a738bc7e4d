"""Additional counters of the measured host. Each module in this package that defines `SOURCE` adds one source."""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from poolproof import evidence
from poolproof.errors import CommandError
from poolproof.hosts.base import Host

_LIMIT_S = 30.0
Values = Mapping[str, float]


@dataclass(frozen=True)
class CounterSource:
    """A source of host counters, which are read before the load and again after the final flush.

    `files`: the files to read, e.g. /proc/vmstat.
    `command`: the command to run. Either `files` or `command` is empty.
    `parse`: converts the contents of the files, or the command's output, to values keyed by the counter's name. For
    each missing file or program, it receives an empty string, for which it must return no counters.
    """

    name: str
    parse: Callable[[Sequence[str]], Values]
    files: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


@functools.cache
def all_sources() -> tuple[CounterSource, ...]:
    """Return all counter sources, sorted by name."""
    names = (f"{evidence.__name__}.{found.name}" for found in pkgutil.iter_modules(evidence.__path__))
    found = (getattr(importlib.import_module(name), "SOURCE", None) for name in names)
    return tuple(sorted((each for each in found if isinstance(each, CounterSource)), key=lambda source: source.name))


def read_sources(host: Host) -> Mapping[str, Values]:
    """Return the current counters of all sources, keyed by source name and then by counter name.

    Raises HostUnreachable if the connection was lost.
    """
    return {source.name: source.parse(_texts(source, host)) for source in all_sources()}


def _texts(source: CounterSource, host: Host) -> Sequence[str]:
    if source.files:
        return host.read_files(source.files).texts
    try:
        return [host.run(source.command, timeout_s=_LIMIT_S, check=False).stdout]
    except CommandError:
        return [""]


def growth(start: Mapping[str, Values], end: Mapping[str, Values]) -> Mapping[str, Values]:
    """Return the increase of each counter between two samples, leaving out counters that one of the samples lacks."""
    return {
        source: {name: value - start[source][name] for name, value in values.items() if name in start[source]}
        for source, values in end.items()
    }
