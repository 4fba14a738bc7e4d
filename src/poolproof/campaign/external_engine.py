"""I/O engines that are loaded from a file, as in `ioengine: external:/usr/local/lib/fio/engine.so`.

fio executes the code in that file. Only the command line can permit this, because a campaign may come from someone else
and usually runs as root.
"""

import re
from collections.abc import Collection
from dataclasses import replace

from poolproof.campaign.model import Campaign
from poolproof.errors import UsageError

FLAG = "--external-engine"
_KIND = "external"
_PATH = re.compile(r"(/[\w.+-]+)+", re.ASCII)


def with_engines(campaign: Campaign, paths: Collection[str]) -> Campaign:
    """Return a copy of the campaign whose workloads may all use these files as I/O engines.

    Raises a UsageError if a path is not absolute, contains `..` or special characters, or is not used by any workload.
    """
    if not paths:
        return campaign
    used = _values(campaign)
    for path in paths:
        if not is_engine_path(path):
            message = f"{FLAG} {path[:80]}: must be an absolute path without `..`, made of letters, digits and `/_.+-`"
            raise UsageError(message, f"write {FLAG} /usr/local/lib/fio/engine.so")
        if external(path) not in used:
            raise UsageError(f"{FLAG} {path}: no workload has `ioengine: {external(path)}`", f"remove {FLAG}")
    allowed = frozenset(paths)
    return replace(campaign, workloads=tuple(replace(each, engines=allowed) for each in campaign.workloads))


def engines_in(campaign: Campaign) -> tuple[str, ...]:
    """Return the paths of the I/O engines that the campaign's workloads use, except those that are never allowed."""
    paths = map(external_path, sorted(_values(campaign)))
    return tuple(path for path in paths if path is not None and is_engine_path(path))


def _values(campaign: Campaign) -> frozenset[str]:
    return frozenset(
        value.strip()
        for each in campaign.workloads
        for job in each.jobs
        for name, value in job.options
        if name == "ioengine"
    )


def is_engine_path(path: str) -> bool:
    """True if the path is absolute and means the same to fio, a shell and a job file."""
    return _PATH.fullmatch(path) is not None and {".", ".."}.isdisjoint(path.split("/"))


def external(path: str) -> str:
    """Return the value for `ioengine` that selects the engine in this file."""
    return f"{_KIND}:{path}"


def external_path(engine: str) -> str | None:
    """Return the engine file's path from a value of `ioengine`, or None if the value does not refer to a file."""
    kind, separator, path = engine.partition(":")
    return path if kind == _KIND and separator else None
