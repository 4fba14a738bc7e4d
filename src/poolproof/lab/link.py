"""The way into a lab: an ordinary SSH host, with a configuration of its own."""

import contextlib
from collections.abc import Iterator, Sequence

from poolproof import process
from poolproof.errors import HostError
from poolproof.hosts.ssh import SshHost
from poolproof.lab.standing import Lab


@contextlib.contextmanager
def reached(lab: Lab) -> Iterator[SshHost]:
    """The lab as a host, for as long as the context lasts; its name is `lab:NAME`.

    Raises:
        HostError: it is not running.
    """
    _check_running(lab)
    with SshHost(lab.destination, lab.ssh_config) as host:
        yield host


def run(lab: Lab, argv: Sequence[str], timeout_s: float) -> process.Completed:
    """Run a program in the lab to its end, as root.

    Raises:
        HostError: the lab is not running.
        CommandError: the program is not there, or did not end in time.
    """
    with reached(lab) as host:
        return host.run(argv, timeout_s=timeout_s, check=False)


def ssh_command(lab: Lab) -> list[str]:
    """The argv of an interactive ssh into the lab.

    Raises:
        HostError: it is not running.
    """
    _check_running(lab)
    return ["ssh", "-F", str(lab.ssh_config), lab.destination]


def _check_running(lab: Lab) -> None:
    state = lab.state
    if state not in ("running", "orphan"):
        raise HostError(f"the lab {lab.name} is not running: it is {state}", lab.start_command)
