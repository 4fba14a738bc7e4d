"""Find out whether a run that poolproof started on another machine is still using a host.

A run directory can be copied to a second machine, for example to look at its results there. The locks of the run are on
the first machine, so the second one must look for signs of the run on the host itself.
"""

from poolproof.facts.machine import mark_of
from poolproof.hosts.base import Host, connection_mark
from poolproof.provision.directories import StateOwner

_LIMIT_S = 20.0
# The mark is read from standard input, so that the search does not find its own command line.
_HAS_PROCESS = r"""
read -r mark
printf '%s\n' "$mark" | grep -aqF -f - /proc/[0-9]*/cmdline 2>/dev/null
"""
_HAS_LOCK = 'lock=$(stat -c %i -- "$1/.lock") && grep -q "^[0-9]*: FLOCK .*:$lock " /proc/locks'


def is_using(owner: StateOwner, host: Host) -> bool:
    """True if the run is in progress, because its poolproof is connected to the host or is running there.

    Raises a CommandError if the host does not respond.
    """
    if owner.mark and owner.mark != connection_mark(host):
        argv = ("sh", "-c", _HAS_PROCESS)
        if host.run(argv, stdin=f"{owner.mark}\n", timeout_s=_LIMIT_S, check=False).returncode == 0:
            return True
    if not owner.machine or owner.machine != mark_of(host):
        return False
    return host.run(("sh", "-c", _HAS_LOCK, "sh", owner.run), timeout_s=_LIMIT_S, check=False).returncode == 0
