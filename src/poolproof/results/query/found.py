"""Find the runs in a folder, and report those that cannot be read."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from poolproof.errors import RunError
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord

_DEEPEST = 5
_AS_ROOT = "as root: sudo poolproof …"


@dataclass(frozen=True)
class FoundRun:
    """A run directory. `name` is its path below the folder that was searched; its own name where it is that folder."""

    name: str
    path: Path
    record: RunRecord

    @property
    def trials_path(self) -> Path:
        """Its trials.jsonl, which is absent until a trial is done."""
        return self.path / "trials.jsonl"


@dataclass(frozen=True)
class SkippedRun:
    """A run, or lines of one, that could not be read: its name, the reason and the fix."""

    what: str
    why: str
    hint: str


def find_runs(root: Path) -> tuple[tuple[FoundRun, ...], tuple[SkippedRun, ...]]:
    """Return every run in or below a folder, by name, and those whose run.json cannot be read.

    A folder that this user may not read could hold runs, so it is reported as well.

    Raises:
        RunError: the folder does not exist, has no run, or this user may not read it.
    """
    _check_folder(root)
    runs: list[FoundRun] = []
    left_out: list[SkippedRun] = []
    for path in _run_paths(root.resolve(), left_out):
        name = path.name if path == root.resolve() else str(path.relative_to(root.resolve()))
        try:
            runs.append(FoundRun(name, path, RunDirectory.open(path).record()))
        except RunError as error:
            left_out.append(SkippedRun(name, error.message, error.hint))
    if not runs and not left_out:
        raise RunError(f"no run is in {root}", "poolproof run makes one; another folder's runs: poolproof runs DIR")
    return tuple(runs), tuple(left_out)


def _check_folder(root: Path) -> None:
    try:
        is_folder = root.is_dir()
        if is_folder:
            os.scandir(root).close()
    except OSError as error:
        raise RunError(f"{root} cannot be looked into: {error.strerror}", _AS_ROOT) from None
    if not is_folder:
        raise RunError(f"{root} is not a folder", "name the folder that holds the runs, as: poolproof runs runs")


def _run_paths(root: Path, closed: list[SkippedRun]) -> Iterator[Path]:
    """Folders with a run.json, by name; what lies inside a run is its own. Those that are closed to this user: named.

    lost+found is closed to all but root on every ext4, and holds no runs.
    """

    def name_it(error: OSError) -> None:
        path = Path(error.filename)
        if isinstance(error, PermissionError) and path.name != "lost+found":
            closed.append(
                SkippedRun(str(path.relative_to(root)), f"it cannot be looked into: {error.strerror}", _AS_ROOT)
            )

    top = len(root.parts)
    for folder, below, files in os.walk(root, onerror=name_it):
        path = Path(folder)
        below.sort()
        if "run.json" in files:
            below.clear()
            yield path
        elif len(path.parts) - top >= _DEEPEST:
            below.clear()
