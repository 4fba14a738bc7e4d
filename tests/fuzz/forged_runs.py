"""Forged files of a crashed run: `clean` and `resume` may change only what belongs to the run.

    sudo python -m tests.fuzz.forged_runs [COUNT] [SEED]

This measures a small campaign on loop devices and kills it. Then it makes COUNT copies of the run directory (default:
30), forges one to three values in the files of each copy or of the state directory, and runs `clean` and `resume` on
the copy under strace. A command fails the test if it prints a traceback, hangs, ends with an undocumented exit code, or
writes to a file, disk or directory that does not belong to the run. The forged copy is then saved in the current
folder. The same seed always forges the same values, but not at the same moment of a run.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.run_directories import nodes_of
from tests.loop.command import POOLPROOF
from tests.loop.testbed import Testbed

_CAMPAIGN = """
devices: {a: {file: 128M}}
layouts: {found: 'dir {data}', one: a | ext4}
workloads:
  reads: {rw: randread, bs: 16k, size: 8m}
measure: {trials: 1, time: 300ms, seed: 3}
"""
_LIMIT_S = 200
_LONGEST_OUTPUT = 20_000
_CODES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
_CALLS = (
    "open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,mount,umount2,symlink,"
    "symlinkat,link,linkat,mknod,mknodat,truncate,chmod,fchmodat,chown,lchown,fchownat,execve"
)
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
_CALL = re.compile(r"^\d+ +(\w+)\((.*)")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PROBE = re.compile(r'"(/tmp/[a-z0-9_]{8})", O_RDWR\|O_CREAT\|O_EXCL\|O_NOFOLLOW')
"""The new file with which Python's tempfile finds out whether /tmp is writable, before it makes the first directory."""

_ANYWHERE = (
    "/dev/null", "/dev/tty", "/proc/", "/run/lock/poolproof-", "/run/mount/", "/run/blkid/", "/dev/loop", "/dev/btrfs",
    "/dev/mapper/control", "/sys/block/loop", "/sys/devices/virtual/block/loop", "/tmp/poolproof-ssh-", "/dev/fuse",
    "/sys/kernel/", "/tmp/fio-dump-",
)  # fmt: skip
_TEXTS = (
    "", "\x1b]0;x\x07", "\u202eb", "../../../etc/passwd", "/etc", "/", "/dev/vda", "/dev/disk/by-id/x", "--help",
    "a\nb", "$(touch PRECIOUS/pwned)", "`touch PRECIOUS/pwned`", "; touch PRECIOUS/pwned", "' ; touch PRECIOUS/pwned '",
    "%s", "PRECIOUS", "PRECIOUS/file", "PRECIOUS/../precious", "PRECIOUS/poolproof-LABEL", "STATE/../../precious",
    "STATE",
    "STATE/", "STATE/link/file", "STATE/mnt", "🦆" * 9, "a" * 1_000_000, "\x00", "/" + "a/" * 30_000, "a b", "local",
    "localhost", "root@127.0.0.1", "-oProxyCommand=touch PRECIOUS/pwned", "lab:a", "lab:../a", "0badcafe", "LABEL",
    "healthy", "sound", "9" * 400, "NaN", "poolproof-LABEL-", "poolproof-LABEL-x", "/var/tmp/poolproof-LABEL",
    "PRECIOUS/a b/poolproof-LABEL",
)  # fmt: skip
_RAW = (
    "1e308", "-1e308", "1e400", "NaN", "-Infinity", "-1", "0", "5e-324", "9" * 400, str(2**63), str(2**64), "1e20",
    "100000000000000000000", "0.1", "true", "null", "[]", "{}", '"\\ud800"', "[" * 3000 + "]" * 3000, '{"a":1}',
)  # fmt: skip
_HOLE = "hole-to-fill"
_UNDOS: tuple[dict[str, Any], ...] = (
    {"kind": "tree", "path": "PRECIOUS"},
    {"kind": "tree", "path": "STATE/link/file"},
    {"kind": "tree", "path": "/var/tmp/poolproof-LABEL"},
    {"kind": "tree", "path": "PRECIOUS/poolproof-LABEL-x"},
    {"kind": "mount", "mount_point": "PRECIOUS"},
    {"kind": "mount", "mount_point": "STATE/link", "lazy": True},
    {"kind": "loop", "number": 10**30, "file": "STATE/a.img"},
    {"kind": "loop", "number": 0, "file": "STATE/" + "a" * 200_000},
    {"kind": "daemon", "pidfile": "STATE/fifo", "marker": "STATE/x"},
    {"kind": "daemon", "pidfile": "STATE/device", "marker": "STATE/x"},
    {"kind": "programs", "programs": ["sh"] * 50_000, "marker": "STATE/"},
    {"kind": "programs", "programs": ["sh", "python3"], "marker": "/"},
    {"kind": "claim", "identity": "", "path": "/dev/vda", "size_bytes": 1, "number": "", "serial": "", "wwn": "",
     "note": "STATE/owner.json", "label": "LABEL"},
    {"kind": "claim", "identity": "a\x00b", "path": "/dev/vda", "size_bytes": 1, "number": "", "serial": "", "wwn": "",
     "note": "STATE/owner.json", "label": "LABEL"},
    {"kind": "claim", "identity": "run", "path": "/dev/vda", "size_bytes": 10**23, "number": "", "serial": "\x00",
     "wwn": "", "note": "STATE/owner.json", "label": ""},
    {"kind": "pool", "name": "poolproof-LABEL-x"},
    {"kind": "array", "node": "/dev/md/poolproof-LABEL-x", "members": ["/dev/vda"]},
    {"kind": "group", "name": "poolproof-LABEL-x", "devices": ["/dev/vda"]},
    {"kind": "vdevs", "pool": "poolproof-LABEL-x", "vdevs": [["/dev/vda"]], "note": "STATE/owner.json"},
    {"kind": "arc", "note": "STATE/owner.json"},
    {"kind": "mapping", "name": "poolproof-LABEL-x"},
    {"kind": "command", "argv": ["sh", "-c", "touch PRECIOUS/pwned"], "only_if": {"path": "/", "text": ""}},
)  # fmt: skip


class Crashed:
    """A run on loop devices that was killed, and a precious directory and disk that no command may change."""

    def __init__(self) -> None:
        self.testbed = Testbed()
        self.original = self.testbed.runs / "run"
        self.copy = self.testbed.path / "copy"
        self.precious = self.testbed.path / "precious"
        (self.precious / "a b").mkdir(parents=True)
        (self.precious / "file").write_text("precious\n")
        (self.precious / "poolproof-LABEL-x").mkdir()
        self.disk = self.testbed.loop_mount("canary", "ext4", "16M")
        (self.disk / "file").write_text("precious\n")
        self.kept = self.snapshot()

    def crash(self, chance: random.Random) -> None:
        """Start the run, or resume it with its first state, and kill it at a random moment."""
        shutil.rmtree(self.original, ignore_errors=True)
        started = self.testbed.start(_CAMPAIGN)
        self.testbed.wait_until_planned(started)
        lines = chance.randrange(3)
        started.wait_for(lambda: len(self.testbed.trial_lines()) >= lines or not started.running, "no trial ended")
        time.sleep(chance.uniform(0.0, 1.5))
        started.kill()

    def snapshot(self) -> dict[str, object]:
        """Return everything in the precious directory and on the precious disk."""
        places = (self.precious, self.disk)
        found = {path: path.lstat() for place in places for path in (place, *place.rglob("*"))}
        return {
            str(path): (each.st_mode, each.st_uid, each.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path, each in found.items()
        }

    def names(self) -> dict[str, str]:
        """Return the words in forged values that stand for names of this run."""
        record = json.loads((self.original / "run.json").read_text())
        return {"PRECIOUS": str(self.precious), "STATE": record["state_dir"], "LABEL": record["label"]}

    def filled(self, text: str) -> str:
        """Replace the words in a forged value that stand for names of this run."""
        for word, name in self.names().items():
            text = text.replace(word, name)
        return text


def _forged_value(crashed: Crashed, chance: random.Random) -> str:
    path = chance.choice(_forgeable(crashed))
    lines = path.read_text().splitlines()
    if not lines:
        return f"{path.name}: empty"
    whole = path.suffix == ".json"
    number = 0 if whole else chance.randrange(len(lines))
    try:
        tree = json.loads("\n".join(lines) if whole else lines[number])
    except ValueError:
        return f"{path.name}: no longer JSON"
    nodes = list(nodes_of(tree))
    if not nodes:
        return f"{path.name}: no values"
    parent, key = chance.choice(nodes)
    raw = ""
    if chance.random() < 0.4:
        parent[key], raw = _HOLE, chance.choice(_RAW)
        shown = raw
    elif isinstance(parent[key], str) and "\n" in parent[key]:  # the campaign
        parent[key] = shown = _forged_campaign(parent[key], crashed, chance)
    else:
        parent[key] = shown = crashed.filled(chance.choice(_TEXTS))
    text = json.dumps(tree).replace(f'"{_HOLE}"', raw)
    path.write_text("\n".join([text] if whole else [*lines[:number], text, *lines[number + 1 :]]) + "\n")
    return f"{path.name}:{number + 1}: {key} is {shown[:200]!r}"


def _forged_campaign(text: str, crashed: Crashed, chance: random.Random) -> str:
    words = [match.span() for match in re.finditer(r"[^\s:{},'\"\[\]]+", text)]
    begin, end = chance.choice(words)
    value = crashed.filled(chance.choice((*_TEXTS, *_RAW)))
    quoted = json.dumps(value) if chance.random() < 0.5 else value
    return text[:begin] + quoted + text[end:]


def _forgeable(crashed: Crashed) -> list[Path]:
    state = Path(crashed.names()["STATE"])
    files = [crashed.copy / name for name in ("run.json", "run.json", "journal.jsonl", "trials.jsonl")]
    files += [state / "owner.json", *crashed.copy.glob("cells/*/*/*/evidence.json")]
    return [path for path in files if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 22]


def _forged_undo(crashed: Crashed, chance: random.Random) -> str:
    undo = crashed.filled(json.dumps(chance.choice(_UNDOS)))
    journal = crashed.copy / "journal.jsonl"
    title = chance.choice(("it", "a" * 100_000, "\x1b[2J", "a\nb"))
    number = chance.choice((99, 2**64, 10**30, -1, 1))
    line = {"line": "change", "number": number, "title": title, "argv": ["true"], "undo": json.loads(undo), "schema": 1}
    line["host"] = chance.choice(("", "", "", "localhost", "-oProxyCommand=id", "lab:a", "a" * 1000))
    with journal.open("a") as file:
        file.write(json.dumps(line) + "\n")
    return f"journal.jsonl: {undo[:200]}, number {number}, host {line['host'][:20]!r}"


def _replaced_file(crashed: Crashed, chance: random.Random) -> str:
    state = Path(crashed.names()["STATE"])
    places = [crashed.copy / name for name in ("run.json", "journal.jsonl", "trials.jsonl", ".lock", "cells", "live")]
    places += [state / name for name in ("owner.json", "mnt", "link", "fifo", "job.fio")]
    path = chance.choice([each for each in places if each.parent.is_dir()])
    how = chance.choice(("link", "directory link", "fifo", "directory", "empty", "huge", "binary"))
    if path.is_mount() or any(each.is_mount() for each in path.glob("*")):
        return f"{path.name}: has mounts, so it is kept"
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if how.endswith("link"):
        path.symlink_to(crashed.precious / ("file" if how == "link" else ""))
    elif how == "fifo":
        os.mkfifo(path)
    elif how == "directory":
        (path / "full").mkdir(parents=True)
    else:
        path.write_bytes(b"" if how == "empty" else bytes(range(256)))
        if how == "huge":
            os.truncate(path, 300 << 20)
    return f"{path}: {how}"


_FORGERIES: tuple[Callable[[Crashed, random.Random], str], ...] = (
    *(_forged_value,) * 5,
    *(_forged_undo,) * 2,
    _replaced_file,
)


def problems(crashed: Crashed, words: tuple[str, ...]) -> list[str]:
    """Run poolproof under strace, and return what is wrong with its end, its output or what it changed."""
    trace = crashed.testbed.path / "trace"
    argv = ["strace", "-f", "-q", "-y", "-s", "300", "-e", f"trace={_CALLS}", "-o", str(trace), POOLPROOF, *words]
    begun = time.monotonic()
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            out, err = (part.decode(errors="replace") for part in process.communicate(timeout=_LIMIT_S))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return [f"it was still running after {_LIMIT_S} s"]
    text, found = out + err, []
    if process.returncode not in _CODES:
        found.append(f"exit code {process.returncode}: {text[-1500:]}")
    if "Traceback" in text or "bug in poolproof" in text:
        found.append(f"a traceback: {text[-1500:]}")
    if len(err) > _LONGEST_OUTPUT:
        found.append(f"{len(err)} characters on standard error: {err[:300]} … {err[-300:]}")
    if process.returncode and not err.strip() and '"error"' not in out:
        found.append(f"exit code {process.returncode} without a message")
    if controls := {letter for letter in text if ord(letter) < 32 and letter not in "\n\t\r"}:
        found.append(f"control characters: {controls}")
    if crashed.snapshot() != crashed.kept:
        found.append("a precious file was changed")
    found += _foreign_writes(crashed, trace)
    took_s = time.monotonic() - begun
    print(f"  {words[0]}: exit code {process.returncode} in {took_s:.1f} s: {err.strip()[-150:]!r}", flush=True)
    return found


def _foreign_writes(crashed: Crashed, trace: Path) -> list[str]:
    """Return every call that changed, or tried to change, something outside the run's own directories."""
    names = crashed.names()
    own = [*_ANYWHERE, str(crashed.copy), names["STATE"], f"/dev/shm/poolproof-{names['LABEL']}"]
    own.append(f"{crashed.testbed.data}/poolproof-{names['LABEL']}")
    found = []
    calls = trace.read_text(errors="replace")
    own += _PROBE.findall(calls)
    for line in calls.splitlines():
        match = _CALL.match(line)
        if match is None or match[1] == "execve" or " = -1 " in line:
            continue
        if match[1].startswith(("open", "creat")) and not _WRITES.search(match[2]):
            continue
        paths = [path for path in _PATH.findall(match[2]) if path.startswith("/")]
        if any(not path.startswith(tuple(own)) for path in paths[:1]):
            found.append(f"changed something foreign: {line[:300]}")
    return found[:5]


def _main() -> int:
    count, seed = (int(value) for value in (*sys.argv[1:3], *("30", "1")[len(sys.argv[1:3]) :]))
    chance, failures = random.Random(seed), 0
    crashed = Crashed()
    try:
        for number in range(count):
            crashed.crash(chance)
            shutil.rmtree(crashed.copy, ignore_errors=True)
            shutil.copytree(crashed.original, crashed.copy)
            changes = [chance.choice(_FORGERIES)(crashed, chance) for _ in range(chance.choice((1, 1, 2, 3)))]
            print(f"{seed}-{number}: {changes}", flush=True)
            for words in (("clean", str(crashed.copy)), ("resume", str(crashed.copy), "--plain")):
                wrong = problems(crashed, words)
                if wrong:
                    failures += 1
                    saved = Path(f"forged-{seed}-{number}")
                    shutil.copytree(crashed.copy, saved, symlinks=True, dirs_exist_ok=True)
                    print(f"FAILED: {words[0]}, saved as {saved}: {wrong}", flush=True)
            subprocess.run([POOLPROOF, "clean", str(crashed.original)], capture_output=True, timeout=_LIMIT_S)
            if left := crashed.testbed.traces():
                print(f"left: {left}", flush=True)
    finally:
        crashed.testbed.close()
    print(f"{count} forged runs (seed {seed}): {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(_main())
