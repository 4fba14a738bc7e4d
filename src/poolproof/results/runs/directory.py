"""Create, open, read and write a run directory."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

import msgspec

from poolproof.campaign.cell_key import HEALTHY
from poolproof.errors import RunError, as_word
from poolproof.files.folder import FileRefused, Folder
from poolproof.files.reading import LARGEST_RECORD_BYTES, NOT_THE_JSON, is_regular, read_regular, read_text, whole_lines
from poolproof.files.writing import append_line, make_folder, open_lock, write_output
from poolproof.load.generator import generator_of_trial
from poolproof.load.model import Load
from poolproof.load.outcome import Outcome
from poolproof.results.runs.model import SCHEMA, RunRecord, Trial, TrialEvidence, TrialKey
from poolproof.results.runs.trial_files import decode, decode_part, write_together
from poolproof.results.runs.trust import check_creatable

if TYPE_CHECKING:  # only for type annotations: importing it at run time would load all modules that read from hosts
    from poolproof.evidence.counters import CounterReading

_TRIES = 5
_TRY_AGAIN_S = 0.02


class RunDirectory:
    """The directory of a run.

    If the process is killed, the run stays readable and can be resumed, because files are replaced atomically and an
    incomplete last line is ignored. Symbolic links inside the directory are not followed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal_path = path / "journal.jsonl"
        self._trials_path = path / "trials.jsonl"
        self._together: dict[Path, bytes] | None = None

    @cached_property
    def root(self) -> Folder:
        """Return the open directory. Raises an OSError if the directory cannot be opened."""
        return Folder.open(self.path)

    @classmethod
    def create(cls, path: Path, campaign_text: str, record: RunRecord) -> "RunDirectory":
        """Create the directory, and write the campaign and the run record to it.

        Raises a RunError if the path already exists and is not an empty directory, if the directory can't be created,
        or if other users could change the results. Imported results may be saved anywhere, because they have no
        journal.
        """
        if not record.imported:
            check_creatable(path)
        try:
            run = cls(Path(os.path.realpath(path)))
            existing = next(parent for parent in run.path.parents if parent.exists())
            parent = Folder.open(existing).below(run.path.parent, make=True)
            run.root = parent.below(run.path, make=True)  # not through a link that has just been put there
            if not record.imported:
                check_creatable(run.path)  # an access control list may allow others to change the new directory
            if list(os.scandir(run.root.handle)):
                raise RunError(f"{path} exists and is not empty", "choose another directory with --out")
            write_output(run.path / "campaign.yaml", campaign_text.encode(), root=run.root)
            write_output(run.path / "run.json", _pretty(record), root=run.root)
            os.fsync(parent.handle)
        except OSError as error:
            hint = "choose another directory with --out"
            raise RunError(f"{path} cannot be created: {error.strerror}", hint) from None
        return run

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """Open an existing run.

        Raises a RunError if the path is not a run directory, or if it can't be read.
        """
        try:
            kind = Folder.open(path).kind("run.json")
        except (FileNotFoundError, NotADirectoryError):
            kind = None
        except OSError as error:
            raise _refused(path / "run.json", "read", error) from None
        if kind != "":
            why = f"its run.json is {kind}, not a regular file" if kind else "it has no run.json"
            missing = f"there is no run directory {path}"
            folder = path if any(path.glob("*/run.json")) else Path("runs")
            raise RunError(
                f"{path} is not a run directory: {why}" if os.path.lexists(path) else missing,
                f"to list the runs in {folder}/: poolproof runs{f' {as_word(folder)}' if folder == path else ''}",
            )
        return cls(path.resolve())

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run until the context ends, so that no other poolproof process writes to it.

        Raises a RunError if another process holds the lock, or if the lock file can't be opened for writing.
        """
        try:
            lock = open_lock(self.path / ".lock", root=self.root)
        except OSError as error:
            raise _refused(self.path, "written", error) from None
        with lock as file:
            if not _locks(file):
                raise RunError(
                    f"another poolproof process is using {self.path}",
                    "wait for it to end, or stop it with Ctrl-C; to find the program that holds the lock: lsof "
                    f"{as_word(self.path / '.lock')}",
                )
            yield

    def is_going(self) -> bool:
        """True if a poolproof process is using the run. To find out, a shared lock is taken for a moment."""
        try:
            handle = self.root.open_file(".lock", os.O_RDONLY)
            with os.fdopen(handle, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def record(self) -> RunRecord:
        """Return the contents of run.json.

        Raises a RunError if the file is damaged or unreadable, or has a different schema version.
        """
        path = self.path / "run.json"
        try:
            return decode(
                read_regular(path, root=self.root, limit_bytes=LARGEST_RECORD_BYTES), RunRecord, SCHEMA, str(path)
            )
        except OSError as error:
            raise _refused(path, "read", error) from None

    def write_record(self, record: RunRecord) -> None:
        """Replace run.json. The caller must have locked the run. Raises a RunError if the file can't be written."""
        try:
            write_output(self.path / "run.json", _pretty(record), root=self.root)
        except OSError as error:
            raise _refused(self.path / "run.json", "written", error) from None

    def trials(self) -> tuple[Trial, ...]:
        """Return the finished trials in the order in which they ended.

        Raises a RunError if a line is damaged or has a different schema version, or if the file can't be read.
        """
        try:
            return tuple(
                decode(line, Trial, SCHEMA, f"{self._trials_path}, line {number}")
                for number, line in enumerate(whole_lines(self._trials_path, root=self.root), start=1)
            )
        except OSError as error:
            raise _refused(self._trials_path, "read", error) from None

    def append(self, trial: Trial) -> None:
        """Append a finished trial. When this method returns, the trial has been written to the disk."""
        append_line(self._trials_path, msgspec.json.encode(trial), root=self.root)

    def write_trials(self, trials: Iterable[Trial]) -> None:
        """Replace all trials of the run. When this method returns, the new ones have been written to the disk."""
        write_output(self._trials_path, _lines(trials), root=self.root)

    def judged_by(self, trial: Trial) -> tuple[Load, Outcome | None, TrialEvidence] | None:
        """Return the load, the last outcome and the evidence on which a trial's verdict is based.

        Return None if the load or the evidence was not saved. Raises a RunError if the evidence is damaged, and an
        OSError if a file cannot be read.
        """
        path = self.trial_path(trial.key)
        evidence = path / "evidence.json"
        generator = generator_of_trial(lambda name: is_regular(path / name, root=self.root))
        if generator is None or not is_regular(evidence, root=self.root):
            return None
        files = (path / name for name in (generator.load_file, generator.report_file))
        load, report = (read_text(file, root=self.root) for file in files)
        outcome = next(reversed(generator.outcomes(report)), None)
        try:
            decoded = decode_part(read_regular(evidence, root=self.root), TrialEvidence)
            return generator.read_back(load), outcome, decoded
        except NOT_THE_JSON as error:
            raise RunError(f"{evidence} is damaged: {error}", "delete the file; the trial keeps its verdict") from None

    def trial_directory(self, key: TrialKey) -> Path:
        """Return the path of a trial's directory, which is created if necessary."""
        path = self.trial_path(key)
        make_folder(path, root=self.root)
        return path

    def trial_path(self, key: TrialKey) -> Path:
        """Return the path of a trial's directory, which need not exist.

        For the state `healthy`, the path is cells/<layout>/<workload>/<n>. For any other state, it is
        cells/<layout>/<workload>/state=<state>/<n>.
        """
        state = () if key.state == HEALTHY else (f"state={file_name(key.state)}",)
        return self.path.joinpath("cells", file_name(key.layout), file_name(key.workload), *state, str(key.number))

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Collect a trial's files while the context is active, and write them together at its end.

        This also happens after an exception.
        """
        self._together = {}
        try:
            yield
        finally:
            files, self._together = self._together, None
            write_together(files, self.root)

    def keep(self, directory: Path, name: str, value: object) -> None:
        self._keep(directory / name, _pretty(value))

    def keep_text(self, directory: Path, name: str, text: str) -> None:
        self._keep(directory / name, text.encode())

    def keep_samples(self, directory: Path, leaves: Sequence[str], readings: "Sequence[CounterReading]") -> None:
        """Write samples.jsonl, with one line per sample: its time and the counters of all leaf devices."""
        rows = [
            {"at_s": reading.at_s, "leaves": dict(zip(leaves, reading.counters, strict=False))} for reading in readings
        ]
        self._keep(directory / "samples.jsonl", _lines(rows))

    def _keep(self, path: Path, content: bytes) -> None:
        if self._together is None:
            write_output(path, content, root=self.root, lasting=False)
        else:
            self._together[path] = content


def _refused(path: Path, done: str, error: OSError) -> RunError:
    """Return the error for a file that the user may not access, for example because root started the run."""
    if isinstance(error, PermissionError):
        hint = "run poolproof as the user who owns the run, or as root: sudo poolproof …"
    elif isinstance(error, FileRefused) and done == "read":
        hint = "restore it from a backup, or run the campaign again"
    else:
        hint = f"ls -ld {as_word(path)}; df -h {as_word(path)}"
    return RunError(f"{path} cannot be {done}: {error.strerror}", hint)


def _locks(file: IO[bytes]) -> bool:
    """Try to lock the file, and return False if another process holds the lock.

    Several attempts are made, because a process that only checks the lock also holds it for a moment.
    """
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_TRY_AGAIN_S)
        else:
            return True
    return False


def _lines(values: Iterable[object]) -> bytes:
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)


def _pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def file_name(name: str) -> str:
    """Encode a name as a path component.

    Some special characters, such as brackets, commas and `=`, are kept. `/` and most others are percent-encoded.
    """
    plain = quote(name, safe="[]=,.:@+{} ", errors="replace")
    return plain.replace(".", "%2E") if plain in (".", "..") else plain
