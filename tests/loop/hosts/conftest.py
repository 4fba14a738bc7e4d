"""Fixtures that provide one host of each kind, all on this machine."""

from collections.abc import Iterator

import pytest

from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost
from poolproof.hosts.ssh import SshHost
from tests.loop.hosts.sshd import Sshd, sshd, user_without_root


@pytest.fixture(scope="package")
def server() -> Iterator[Sshd]:
    """An sshd to which root can log in."""
    with sshd() as running:
        yield running


@pytest.fixture(scope="package", params=["local", "ssh", "ssh with sudo"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """One host of each kind."""
    if request.param == "local":
        yield LocalHost()
    elif request.param == "ssh":
        server: Sshd = request.getfixturevalue("server")
        with SshHost("far", server.config) as far:
            yield far
    else:
        with user_without_root(sudo=True) as user, sshd(user) as own, SshHost("far", own.config) as far:
            yield far
