"""A run directory: made, opened, appended to, and read back."""

import contextlib
import fcntl
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

import msgspec

from poolproof.errors import RunError
from poolproof.results.runs.files import append_line, decode, sync_directory, whole_lines, write_together, write_whole
from poolproof.results.runs.model import SCHEMA, RunRecord, Trial
from poolproof.results.runs.trial_evidence import TrialEvidence

if TYPE_CHECKING:  # it brings along all that reads a host
    from poolproof.evidence.sampler import CounterReading

_TRIES = 5
_TRY_AGAIN_S = 0.02


class RunDirectory:
    """One run on disk. Every file in it is complete or absent, so a killed run can be read and resumed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal_path = path / "journal.jsonl"
        self._trials_path = path / "trials.jsonl"
        self._together: dict[Path, bytes] | None = None

    @classmethod
    def create(cls, path: Path, campaign_text: str, record: RunRecord) -> "RunDirectory":
        """Make the directory and write down what is about to happen.

        Raises:
            RunError: the path is there and is not an empty directory, or can't be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                to_go_on = f"; to go on with it: poolproof resume {path}" if (path / "run.json").is_file() else ""
                raise RunError(f"{path} is there already and not empty", f"name another with --out{to_go_on}")
            run = cls(path.resolve())
            write_whole(run.path / "campaign.yaml", campaign_text.encode())
            write_whole(run.path / "run.json", _pretty(record))
            sync_directory(run.path.parent)
        except OSError as error:
            raise RunError(f"{path} cannot be made: {error.strerror}", "name another with --out") from None
        return run

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """An existing run.

        Raises:
            RunError: the path is no run directory, or this user may not look into it.
        """
        if not _is_file(path / "run.json"):
            raise RunError(f"{path} is no run directory: it has no run.json", "poolproof runs lists those in runs/")
        return cls(path.resolve())

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other poolproof from writing to this run.

        Raises:
            RunError: another one is at it, or this user may not write there.
        """
        try:
            lock = (self.path / ".lock").open("w")
        except OSError as error:
            raise _refused(self.path, "written", error) from None
        with lock as file:
            if not _locks(file):
                raise RunError(f"another poolproof is working on {self.path}", "wait for it, or stop it with Ctrl-C")
            yield

    def is_going(self) -> bool:
        """Whether a poolproof works on it now: the lock is tried, shared, and given back at once."""
        try:
            with (self.path / ".lock").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def record(self) -> RunRecord:
        """What run.json says.

        Raises:
            RunError: damaged, of another schema, or this user may not read it.
        """
        path = self.path / "run.json"
        try:
            text = path.read_bytes()
        except OSError as error:
            raise _refused(path, "read", error) from None
        return decode(text, RunRecord, SCHEMA, str(path))

    def trials(self) -> tuple[Trial, ...]:
        """The finished trials, in the order in which they ended.

        Raises:
            RunError: a line is damaged, or of another schema, or this user may not read them.
        """
        try:
            lines = whole_lines(self._trials_path)
        except OSError as error:
            raise _refused(self._trials_path, "read", error) from None
        return tuple(
            decode(line, Trial, SCHEMA, f"{self._trials_path}, line {number}")
            for number, line in enumerate(lines, start=1)
        )

    def append(self, trial: Trial) -> None:
        """A trial is finished: on disk when this returns."""
        append_line(self._trials_path, msgspec.json.encode(trial))

    def write_trials(self, trials: Iterable[Trial]) -> None:
        """All trials of a run at once, in place of those that are there: complete on disk when this returns."""
        write_whole(self._trials_path, b"".join(msgspec.json.encode(trial) + b"\n" for trial in trials))

    def kept_files(self, trial: Trial) -> tuple[str, str, TrialEvidence] | None:
        """The job, fio's whole report and what else the trial was judged by; None where one of them was not written.

        Raises:
            RunError: what was kept is damaged.
        """
        path = self.trial_path(trial.layout, trial.workload, trial.number)
        texts = [path / name for name in ("job.fio", "fio.json")]
        evidence = path / "evidence.json"
        if not all(each.is_file() for each in (*texts, evidence)):
            return None
        job, report = (each.read_text(encoding="utf-8", errors="replace") for each in texts)
        try:
            return job, report, msgspec.json.decode(evidence.read_bytes(), type=TrialEvidence)
        except msgspec.DecodeError as error:
            raise RunError(f"{evidence} is damaged: {error}", "remove the file; the trial keeps its verdict") from None

    def trial_directory(self, layout: str, workload: str, number: int) -> Path:
        """Where the files of one trial lie: cells/<layout>/<workload>/<n>; made when it is not there."""
        path = self.trial_path(layout, workload, number)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def trial_path(self, layout: str, workload: str, number: int) -> Path:
        """Where they lie or would lie."""
        return self.path / "cells" / file_name(layout) / file_name(workload) / str(number)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Files of a trial that are kept in here are written when it is left, all at once, also by an exception."""
        self._together = {}
        try:
            yield
        finally:
            files, self._together = self._together, None
            write_together(files)

    def keep(self, directory: Path, name: str, value: object) -> None:
        """Write a value as a JSON file of a trial."""
        self._keep(directory / name, _pretty(value))

    def keep_text(self, directory: Path, name: str, text: str) -> None:
        """Write a text file of a trial."""
        self._keep(directory / name, text.encode())

    def keep_samples(self, directory: Path, leaves: Sequence[str], readings: "Sequence[CounterReading]") -> None:
        """Write samples.jsonl: a line a sample, its time and each leaf's counters."""
        rows = [
            {"at_s": reading.at_s, "leaves": dict(zip(leaves, reading.counters, strict=False))} for reading in readings
        ]
        self._keep(directory / "samples.jsonl", b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    def _keep(self, path: Path, content: bytes) -> None:
        if self._together is None:
            write_whole(path, content, lasting=False)
        else:
            self._together[path] = content


def _is_file(path: Path) -> bool:
    """Whether a file is there.

    Raises:
        RunError: that can't be told: this user may not enter its folder.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _refused(path, "read", error) from None


def _refused(path: Path, done: str, error: OSError) -> RunError:
    """The system's refusal in words. A run belongs to the user who made it, and that is root wherever disks were."""
    whose = "type it as the user whose run it is; as root: sudo poolproof …"
    return RunError(
        f"{path} cannot be {done}: {error.strerror}",
        whose if isinstance(error, PermissionError) else f"ls -ld {path}; df -h {path}",
    )


def _locks(file: IO[str]) -> bool:
    """Take the lock; one who only looks whether it is taken has it for a moment, so try more than once."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_TRY_AGAIN_S)
        else:
            return True
    return False


def _pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def file_name(name: str) -> str:
    """A name as one path component; brackets, commas and `=` stay readable."""
    plain = quote(name, safe="[]=,.:@+{} ", errors="replace")
    return plain.replace(".", "%2E") if plain in (".", "..") else plain
