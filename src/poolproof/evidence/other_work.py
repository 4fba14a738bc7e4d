"""The activity of other processes during a trial: their processor time, their I/O, and the time tasks waited for a CPU.

A process belongs to the run if it has the run's user, and the run's directory, which serves as a marker, is in its
command line, or if it is the parent of the command that takes the sample. Other users could otherwise hide their work
with this marker. Over SSH, the connection's sshd and all its shells belong to the run too.
This is necessary because each sample may use a different shell, whose times include all its earlier commands. Kernel
threads are excluded, because they work for all processes. The values of a process include those of its terminated
children, so that a process that starts and ends during the trial is not missed.

The files are described in proc(5) (stat, io) and in the kernel's Documentation/accounting/psi.rst. Only root and the
owner of a process can read its /proc/PID/io.
"""

import re
from dataclasses import dataclass

from poolproof.evidence.model import OtherWork
from poolproof.hosts.base import Host

_LIMIT_S = 30.0
_KTHREADD = 2
# A process can choose its name, which can contain line breaks and looks like other lines. A name has at most 64 bytes.
_STAT = re.compile(r"^(\d{1,19}) \([\s\S]{0,64}?\) \S (\d{1,19}) (-?\d{1,20}(?: -?\d{1,20}){12,})$", re.MULTILINE)
_IO = re.compile(r"^/proc/(\d{1,19})/io:(read|write)_bytes: (\d{1,20})$", re.MULTILINE)
_WAITING = re.compile(r"^some .*total=(\d{1,20})", re.MULTILINE)
_UTIME, _CSTIME = 9, 13  # as indices into the fields after the parent's pid
SCRIPT = """
echo "ticks $(getconf CLK_TCK || echo 100)"
echo "own $$"; echo "own $PPID"
shells=$(tr '\\0' '\\n' <"/proc/$PPID/cmdline" | tail -n 1)
case $shells in poolproof-*) ;; *) shells=$1 ;; esac
up=$PPID
while up=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$up/status") && [ "$up" -gt 1 ]; do
    case $(tr '\\0' ' ' <"/proc/$up/cmdline") in
        *'[listener]'*) break ;;
        sshd:* | *"$shells"*) echo "own $up" ;;
        *) break ;;
    esac
done
for pid in $(grep -lsaF -e "$1" -e "$shells" /proc/[0-9]*/cmdline); do
    pid=${pid%/cmdline}
    [ ! -O "$pid" ] || echo "own ${pid#/proc/}"
done
cat /proc/[0-9]*/stat
grep -sH -e ^read_bytes -e ^write_bytes /proc/[0-9]*/io
cat /proc/pressure/cpu
:
"""
"""A shell script that prints the processor time and I/O that each process has used so far."""


@dataclass(frozen=True)
class OthersReading:
    """The processor time and I/O that all other processes have used so far.

    `waiting_s`: the time that tasks have waited for a processor, or None if the kernel has no pressure information
    (PSI).
    """

    cpu_s: float
    read_bytes: int
    write_bytes: int
    waiting_s: float | None


def read_others(host: Host, mark: str) -> OthersReading:
    """Return the processor time and I/O so far of all processes on the host that are not part of the run.

    Kernel threads are left out, because they work for all processes. Without root, the I/O of other users' processes
    is left out, too.

    `mark`: a string that the command lines of the run's processes contain.

    Raises a CommandError if the host does not respond.
    """
    argv = ["sh", "-c", SCRIPT, "sh", mark]
    return parse_others(host.run(argv, timeout_s=_LIMIT_S, check=False).stdout)


def parse_others(text: str) -> OthersReading:
    """Parse the output of `SCRIPT`."""
    processes = list(_STAT.finditer(text))
    head = text[: processes[0].start()] if processes else text
    own = {int(pid) for pid in re.findall(r"^own (\d{1,19})$", head, re.MULTILINE)}
    ticks = re.search(r"^ticks ([1-9]\d{0,8})$", head, re.MULTILINE)
    spent, others = 0, set[str]()
    for pid, parent, rest in (process.groups() for process in processes):
        if int(pid) not in own and int(parent) != _KTHREADD and int(pid) != _KTHREADD:
            others.add(pid)
            spent += sum(map(int, rest.split()[_UTIME:_CSTIME]))
    moved = {"read": 0, "write": 0}
    for pid, way, count in _IO.findall(text):
        if pid in others:
            moved[way] += int(count)
    waiting = _WAITING.search(text, processes[-1].end() if processes else 0)
    return OthersReading(
        cpu_s=spent / (int(ticks[1]) if ticks else 100),
        read_bytes=moved["read"],
        write_bytes=moved["write"],
        waiting_s=int(waiting[1]) / 1e6 if waiting else None,
    )


def others_between(start: OthersReading, end: OthersReading, seconds: float) -> OtherWork:
    """Return the activity of other processes between two samples that were taken `seconds` apart.

    If a total decreased, the activity counts as 0.
    """
    waited = None if start.waiting_s is None or end.waiting_s is None else max(0.0, end.waiting_s - start.waiting_s)
    return OtherWork(
        seconds=seconds,
        cpu_s=max(0.0, end.cpu_s - start.cpu_s),
        read_bytes=max(0, end.read_bytes - start.read_bytes),
        write_bytes=max(0, end.write_bytes - start.write_bytes),
        waiting_s=waited,
    )
