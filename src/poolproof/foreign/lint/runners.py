"""Find out where fio runs and what ends it early, from the command that starts fio.

Examples are `ssh host fio …`, `docker exec box fio …`, `timeout 60 fio …`, and a function of the script that passes on
its arguments (`on_nas() { ssh nas "$@"; }`).
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from poolproof.foreign.lint.earlier_commands import function_bodies
from poolproof.foreign.lint.model import FioCall, RunsIn
from poolproof.foreign.lint.shell.shell_words import ShellWord
from poolproof.load.fio.option_names import names_in

_MACHINES = names_in("""
adb ansible aws az clush docker-machine dsh flyctl gcloud heroku invoke-command juju kubectl limactl minikube mosh
mpiexec mpirun multipass nomad oc parallel-ssh pdsh psexec pssh qm rsh salt srun ssh talosctl tsh vagrant virsh
""")
_CONTAINERS = names_in("""
apptainer bwrap chroot crictl crun ctr distrobox docker docker-compose incus jexec lxc lxc-attach machinectl nerdctl pct
podman proot runc singularity systemd-nspawn toolbox
""")
PLACES: Mapping[str, RunsIn] = {**dict.fromkeys(_MACHINES, "machine"), **dict.fromkeys(_CONTAINERS, "container")}
"""Where programs run the commands that they are given, keyed by the program's name."""

_WRAPPERS = names_in("doas env ionice nice nohup sshpass sudo timeout")
_READS_COMMANDS = frozenset({"sh", "bash", "at", "batch", "ssh"})
_CALLER = re.compile(r"\$\{?(?P<name>\w+)(?:\[[@*]\])?\}?")  # $SSH, "${SSH_CMD[@]}"
_ITS_ARGUMENTS = re.compile(r"\$[@*1]")
_RUNTIME_MAX = re.compile(r"^(?:--property=|-p)?RuntimeMaxSec=(?P<limit>\S+)$")
_WITH_VALUE = ("-k", "--kill-after", "-s", "--signal")  # options of timeout


def run_by(words: Sequence[ShellWord], call: FioCall, places: Mapping[str, RunsIn] = PLACES) -> FioCall:
    """Return the call, completed with what the words before fio determine: where it runs, and when it is ended."""
    names = [word.text for word in words]
    return replace(call, runs_in=call.runs_in or _place(names, places), ends_after=call.ends_after or _limit(names))


def reads_commands(words: Sequence[ShellWord]) -> bool:
    """True if the command runs its standard input as a script, even if it does so on another machine."""
    names = [word.text for word in words]
    if names[0] in _WRAPPERS:
        return not _READS_COMMANDS.isdisjoint(names) or bool(_place(names))
    return names[0] in _READS_COMMANDS or bool(_place(names[:1]))


def places_in(text: str) -> Mapping[str, RunsIn]:
    """Return where programs, and the functions of this script, run the commands that they are given."""
    bodies = function_bodies(text).items()
    passed = {name: re.findall(r"[\w/-]+", body) for name, body in bodies if _ITS_ARGUMENTS.search(body)}
    return {**PLACES, **{name: place for name, words in passed.items() if (place := _place(words))}}


def _place(words: Iterable[str], places: Mapping[str, RunsIn] = PLACES) -> RunsIn:
    """Return where the command runs the program that it names: on another machine, in a container, or "" for neither.

    A variable is recognized by its name (`$SSH`).
    """
    programs = [word.rpartition("/")[2] for word in words]
    called = [found["name"].lower().split("_") for word in programs if (found := _CALLER.fullmatch(word))]
    named = {places.get(name, "") for name in itertools.chain(programs, *called)}
    return "machine" if "machine" in named else "container" if "container" in named else ""


def _limit(words: Sequence[str]) -> str:
    """Return the time after which `timeout` or `systemd-run` ends a command, as written. Empty if neither does."""
    ends = (found["limit"] for word in words if (found := _RUNTIME_MAX.search(word)))
    at = next((at for at, word in enumerate(words) if word.rpartition("/")[2] in ("timeout", "gtimeout")), len(words))
    for before, word in zip(words[at:], words[at + 1 :], strict=False):
        if not word.startswith("-") and before not in _WITH_VALUE:
            return word
    return next(ends, "")
