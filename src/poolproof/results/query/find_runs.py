"""Find the runs in a folder and the valid lines in their trials.jsonl files, and report everything unreadable."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from poolproof.errors import RunError, as_word
from poolproof.files.reading import read_end, whole_lines
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import read_lines
from poolproof.results.runs.model import RunRecord

_DEEPEST = 5
_OTHER_FOLDER = "to create a run: poolproof run; to list the runs in another folder: poolproof runs DIR"
_AS_ROOT = "run poolproof as root: sudo poolproof …"
_CAMPAIGN_NAME = re.compile(r"^name: *[\"']?([\w.-]+)", re.MULTILINE | re.ASCII)


@dataclass(frozen=True)
class FoundRun:
    """A run directory.

    `name`: the directory's path relative to the searched folder, or its own name if it is the searched folder.
    """

    name: str
    path: Path
    record: RunRecord

    @property
    def trials_path(self) -> Path:
        """Return the path of trials.jsonl, which does not exist until the first trial has finished."""
        return self.path / "trials.jsonl"

    @property
    def campaign(self) -> str:
        """Return the campaign's name, or an empty string if it has none.

        It is extracted with a regular expression, which is faster than a YAML parser.
        """
        match = _CAMPAIGN_NAME.search(self.record.campaign)
        return match[1] if match else ""


@dataclass(frozen=True)
class SkippedRun:
    """A run, folder or line that could not be read, with the reason and a suggested fix."""

    what: str
    why: str
    hint: str


def find_runs(root: Path) -> tuple[tuple[FoundRun, ...], tuple[SkippedRun, ...]]:
    """Return all runs in or below a folder, sorted by name, and all runs and folders that can't be read.

    Unreadable folders are reported because they may contain runs. Raises a RunError if `root` does not exist, is not
    readable by this user, or contains neither runs nor unreadable folders.
    """
    _check_folder(root)
    runs: list[FoundRun] = []
    left_out: list[SkippedRun] = []
    for path in _run_paths(root.resolve(), left_out):
        name = path.name if path == root.resolve() else str(path.relative_to(root.resolve()))
        name = name.encode(errors="backslashreplace").decode()  # a path need not be UTF-8
        try:
            runs.append(FoundRun(name, path, RunDirectory.open(path).record()))
        except RunError as error:
            left_out.append(SkippedRun(name, error.message, error.hint))
    if not runs and not left_out:
        raise RunError(f"{root} contains no runs", _OTHER_FOLDER)
    return tuple(runs), tuple(left_out)


def _check_folder(root: Path) -> None:
    try:
        is_folder = root.is_dir()
        if is_folder:
            os.scandir(root).close()
    except OSError as error:
        hint = _AS_ROOT if isinstance(error, PermissionError) else f"ls -ld {as_word(root)}"
        raise RunError(f"{root} cannot be read: {error.strerror}", hint) from None
    if not is_folder:
        raise RunError(f"{root} {'is not a folder' if os.path.lexists(root) else 'does not exist'}", _OTHER_FOLDER)


def _run_paths(root: Path, closed: list[SkippedRun]) -> Iterator[Path]:
    """Yield the folders that contain a run.json, sorted by name.

    The search goes at most five levels below `root` and does not descend into runs. Unreadable folders are appended to
    `closed`, except for lost+found, which only root can read and which contains no runs.
    """

    def add_closed(error: OSError) -> None:
        path = Path(error.filename)
        if isinstance(error, PermissionError) and path.name != "lost+found":
            closed.append(SkippedRun(str(path.relative_to(root)), f"it cannot be read: {error.strerror}", _AS_ROOT))

    for folder, below, files in os.walk(root, onerror=add_closed):
        path = Path(folder)
        below.sort()
        if "run.json" in files:
            yield path
        if "run.json" in files or len(path.relative_to(root).parts) >= _DEEPEST:
            below.clear()


def ends_whole(path: Path) -> bool:
    """True if the file can be read and its last line is complete.

    The last line may be incomplete after a crash or while it is being written.
    """
    try:
        return read_end(path, -1) in (b"", b"\n")
    except OSError:
        return False


def good_lines(path: Path, name: str, left_out: list[SkippedRun]) -> list[bytes]:
    """Return the lines that contain a trial in the current schema. Other lines are reported in `left_out`.

    They get one entry per reason. A file that can't be read gets an entry too, and the result is then empty. An
    incomplete last line is ignored, because it was cut off by a crash or is still being written.
    """
    try:
        lines = list(whole_lines(path))
    except OSError as error:
        left_out.append(
            SkippedRun(f"{name}, trials.jsonl", f"it cannot be read: {error.strerror}", f"ls -l {as_word(path)}")
        )
        return []
    _trials, refused = read_lines(lines)
    for (why, hint), numbers in refused.items():
        which = f"line {numbers[0]}" + (f" and {len(numbers) - 1} more" if len(numbers) > 1 else "")
        left_out.append(SkippedRun(f"{name}, {which} of trials.jsonl", why.replace("trials.jsonl", "it", 1), hint))
    bad = {number for numbers in refused.values() for number in numbers}
    return [line for number, line in enumerate(lines, start=1) if number not in bad]
