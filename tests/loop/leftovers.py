"""Find what a run has left on the machine: loop devices, mounts, processes and files with its name.

Other programs may use loop devices and run poolproof at the same time, so only names that contain the test's own text
are considered.
"""

import os
from pathlib import Path

_STATE_PARENTS = ("/var/tmp", "/dev/shm")


def leftovers_of(text: str) -> list[str]:
    """Return everything on the machine whose name contains `text`: a run's label or its work directory."""
    return [*_loops(text), *_mounts(text), *_processes(text), *_places(text)]


def _loops(text: str) -> list[str]:
    found = []
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        backing = _read(file)
        if text in backing:
            found.append(f"loop device {file.parts[3]} on {backing.strip()}")
    return found


def _mounts(text: str) -> list[str]:
    return [f"mount {line}" for line in Path("/proc/self/mounts").read_text().splitlines() if text in line]


def _processes(text: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        said = _read(folder / "cmdline").replace("\0", " ")
        if text in said and int(folder.name) not in (os.getpid(), os.getppid()):
            found.append(f"process {folder.name}: {said}")
    return found


def _places(text: str) -> list[str]:
    """Return the state directories with this label. The test itself checks those in its own directory."""
    return [
        str(path) for parent in _STATE_PARENTS for path in Path(parent).glob("poolproof-*") if path.name.endswith(text)
    ]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
