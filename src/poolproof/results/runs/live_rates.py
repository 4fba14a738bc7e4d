"""The rates of the running trial, for other processes that watch the run.

A process that watches holds a shared lock on run.json, which writes nothing to the disk. The process that measures the
run checks for such a lock every second, and records rates only while there is one. Recording adds one short line per
second, which is not synced.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from poolproof.campaign.cell_key import HEALTHY
from poolproof.files.reading import NOT_THE_JSON, whole_lines
from poolproof.files.writing import remove_file, share_lock
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import TrialKey
from poolproof.results.runs.trial_files import check_numbers


@dataclass(frozen=True)
class LiveLine:
    """A line of live.jsonl: the rates during one second, with None for an unknown rate.

    `elapsed_s`: the time in seconds since the load was started.
    """

    layout: str
    workload: str
    number: int
    elapsed_s: float
    fio_bytes_per_s: float | None
    leaf_bytes_per_s: float
    state: str = HEALTHY

    @property
    def key(self) -> TrialKey:
        return TrialKey(self.layout, self.workload, self.number, self.state)


class LiveNotes:
    """A run's live.jsonl. Write errors are ignored, because they must not end a trial."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._path = run.path / "live.jsonl"

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Ask the process that measures the run to record rates while the context is active.

        Live rates are not available on a file system without locks, or if another process holds the lock.
        """
        with os.fdopen(self._run.root.open_file("run.json", os.O_RDONLY), "rb") as file:
            with contextlib.suppress(OSError):
                share_lock(file)
            yield

    @property
    def are_wanted(self) -> bool:
        """True if another process is watching the run. To find out, run.json is locked for a moment."""
        try:
            with os.fdopen(self._run.root.open_file("run.json", os.O_RDWR), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def write(self, line: LiveLine) -> None:
        with contextlib.suppress(OSError):
            handle = self._run.root.open_file(self._path.name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with os.fdopen(handle, "ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")

    def clear(self) -> None:
        """Remove the file at the end of a trial, when samples.jsonl contains all of the trial's samples."""
        with contextlib.suppress(OSError):
            remove_file(self._path, root=self._run.root)

    def lines(self, key: TrialKey) -> list[LiveLine]:
        found = []
        with contextlib.suppress(OSError, *NOT_THE_JSON):
            for text in whole_lines(self._path, root=self._run.root):
                check_numbers(text)
                line = msgspec.json.decode(text, type=LiveLine)
                if line.key == key:
                    found.append(line)
        return found
