"""The versions of the programs that build a layout: results depend on them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.errors import CommandError
from poolproof.hosts.base import Host

_LIMIT_S = 10.0
_VERSION = re.compile(r"(?<![\w.])v?(?:zfs-(?:kmod-)?)?(\d+(?:\.\d+)+[^\s,():]*)")


@dataclass(frozen=True)
class ProgramVersion:
    """A version to ask for: the name under which it is recorded, and the command that prints it.

    `is_last`: if the command prints several versions, the last one counts.
    """

    name: str
    argv: tuple[str, ...]
    is_last: bool = False


def program_versions(host: Host, asked: Iterable[ProgramVersion]) -> dict[str, str]:
    """Return the versions by name, without the programs that are missing or print none."""
    found = {each.name: _version_of(host, each) for each in sorted(asked, key=lambda each: each.name)}
    return {name: version for name, version in found.items() if version}


def _version_of(host: Host, asked: ProgramVersion) -> str:
    try:
        printed = host.run(asked.argv, timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return ""
    versions = _VERSION.findall(printed.stdout + printed.stderr)
    return versions[-1 if asked.is_last else 0] if versions else ""
