"""A lab for tests that is started and used through the poolproof command, and what it leaves on this machine."""

import json
import math
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from poolproof.lab import labs
from poolproof.lab.home import lab_folder
from poolproof.lab.reach import reach_host
from tests.loop.command import Answer, Started, ask

LIMIT_S = 900.0


def poolproof(*arguments: str, env: dict[str, str] | None = None) -> Answer:
    """Run poolproof until it ends, with a longer time limit than for other commands, because labs are slow."""
    return ask(*arguments, env=env, limit_s=LIMIT_S)


def new_name() -> str:
    """Return an unused name for a lab."""
    return f"test-{secrets.token_hex(3)}"


class Machine:
    """A running lab.

    `ready_after_s`: the time that starting it took, if this object started it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.on = f"lab:{name}"
        self.record = labs.find(name).record
        self.ready_after_s = math.inf
        self.boot_processor_s = math.inf

    @classmethod
    def start(cls, name: str, *options: str) -> "Machine":
        answer = poolproof("lab", "start", name, "--json", *options)
        assert answer.code == 0, answer.out + answer.err
        machine = cls(name)
        machine.ready_after_s = float(re.findall(r"is ready after ([\d.]+) s", answer.err)[-1])
        machine.boot_processor_s = processor_s(machine.qemu)
        return machine

    @property
    def qemu(self) -> int:
        """Return the process ID of the lab's QEMU."""
        return int((labs.folder_of(self.name) / "qemu.pid").read_text())

    def run(self, *argv: str) -> Answer:
        return poolproof("lab", "run", self.name, "--", *argv)

    def ask(self, script: str) -> str:
        """Run a shell script in the lab, and return its output. The test fails if the script does."""
        answer = self.run("sh", "-c", script)
        assert answer.code == 0, answer.err
        return answer.out

    def write(self, path: str, text: str) -> None:
        """Install a program in the lab."""
        self.ask(f"cat >{path} <<'END_OF_FILE'\n{text}\nEND_OF_FILE\nchmod 755 {path}")

    def disks(self) -> dict[str, dict[str, Any]]:
        """Return the facts about each disk according to lsblk, keyed by serial number."""
        listing = self.ask("lsblk --json --bytes --nodeps --output SERIAL,SIZE,ROTA,MODEL,PHY-SEC,LOG-SEC,DISC-MAX")
        return {row["serial"]: row for row in json.loads(listing)["blockdevices"] if row["serial"]}

    def remove(self) -> None:
        answer = poolproof("lab", "rm", self.name)
        assert answer.code == 0, answer.err
        assert list(traces(self.name)) == []


def processor_s(pid: int) -> float:
    """Return the processor time that a process has used so far, in seconds: utime and stime in proc_pid_stat(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def traces(name: str) -> Iterator[str]:
    """Yield the processes and folders of the lab that are left on this machine."""
    folder = lab_folder() / "machines" / name
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = cmdline.read_text().split("\0")
        except OSError:
            continue
        if any(f"{folder}/" in word for word in words) and words[0].startswith(("qemu", "nbdkit")):
            yield " ".join(words)[:200]
    yield from (str(path) for path in (folder, *Path("/dev/shm").glob(f"poolproof-lab-{name}-*")) if path.exists())


def kill_in_trial(lab: Machine, begun: Started, limit_s: float) -> None:
    """Kill a run in the lab with SIGKILL while fio measures a trial."""
    running = ("sh", "-c", "grep -aqs 'job[.]fio' /proc/[0-9]*/cmdline")
    try:
        with reach_host(lab.on) as host:
            begun.wait_for(lambda: host.run(running, timeout_s=60, check=False).returncode == 0, "no fio ran", limit_s)
    finally:
        begun.kill()


_LEFT = """
exec 2>/dev/null
grep -e poolproof -e " zfs " /proc/mounts; ls -d /var/tmp/poolproof* /dev/shm/poolproof*
ls -d /run/poolproof-claim-* /run/poolproof-setting-*
ls -d /etc/lvm/*/poolproof*
ls /proc/spl/kstat/zfs | grep poolproof; ls /sys/block | grep -E '^(md|dm-|zd)'; losetup --all
for disk in /dev/disk/by-id/scsi-0LAB_*; do [ -b "$disk" ] && wipefs --noheadings --parsable "$disk"; done
ps -e -o args= | grep -e '[m]ergerfs' -e '[d]meventd' -e '[f]io '
true
"""


def leftovers(lab: Machine) -> str:
    """Return what runs have left in a lab: mounts, folders, pools, arrays, mappings, disk signatures and programs.

    The records that permit `resume` to overwrite disks stay until the run is complete or cleaned up.
    """
    return lab.ask(_LEFT)
