"""Finds the poolproof run that uses a disk which a new run may not overwrite.

Otherwise, the error message would suggest to unmount or stop what another run still uses, or what only `clean` removes
completely.
"""

import re

from poolproof.errors import CommandError, GuardError
from poolproof.hosts.base import Host, text_of
from poolproof.provision.directories import Leftover, clean_all, find_leftovers

_LABEL = re.compile(r"poolproof-((?=\d*[a-f])[0-9a-f]{8})(?![0-9a-zA-Z])")
_PROCESS = re.compile(r"\(process (\d+)\)")


def blocked_by_run(error: GuardError, host: Host, work: str) -> GuardError:
    """Return an error that names the run that uses the disk. If no run uses it, the error is returned unchanged.

    `error`: says how the disk is used. Mount points, pools, arrays and mappings have the run's label in their names,
    and so have the command lines of the run's programs.
    `work`: the work directory, in which state directories are searched for.
    """
    commands = (text_of(host, f"/proc/{pid}/cmdline") for pid in _PROCESS.findall(error.message))
    labels = set(_LABEL.findall(" ".join((error.message, *commands))))
    if not labels:
        return error
    try:
        found = find_leftovers(host, work)
    except CommandError:
        return error
    run = next((each for each in found if each.state.path.rpartition("poolproof-")[2] in labels), None)
    return GuardError(f"{error.message}: {run.why}", _next(run, host)) if run is not None else error


def _next(run: Leftover, host: Host) -> str:
    match run.condition:
        case "going":
            return "wait until that run ends, or stop it with Ctrl-C"
        case "lost":
            return f"to list the commands that remove what it left: {clean_all(run.state, host)}"
        case _:
            return "; ".join(run.next)
