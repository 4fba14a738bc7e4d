"""Reach a host by name: `local`, or any ssh destination."""

import contextlib
from collections.abc import Iterator

from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost

LOCAL = LocalHost.name
HERE = LocalHost()
"""This machine: a single object, because some facts are cached for each host object."""


@contextlib.contextmanager
def reach(name: str) -> Iterator[Host]:
    """Connect to the host of that name while the context lasts.

    Raises:
        UsageError: the name is not an ssh destination.
        HostError: it can't be reached.
    """
    if name == LOCAL:
        yield HERE
        return
    from poolproof.hosts.ssh import SshHost

    with SshHost(name) as host:
        yield host
