"""The host that a name stands for: `local`, or whatever ssh understands."""

import contextlib
from collections.abc import Iterator

from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost

LOCAL = LocalHost.name
HERE = LocalHost()
"""This machine: one object, so that what it was asked is known to all who reach it."""


@contextlib.contextmanager
def reach(name: str) -> Iterator[Host]:
    """The host of that name for as long as the context lasts.

    Raises:
        UsageError: the name is no destination for ssh.
        HostError: it can't be reached.
    """
    if name == LOCAL:
        yield HERE
        return
    from poolproof.hosts.ssh import SshHost

    with SshHost(name) as host:
        yield host
