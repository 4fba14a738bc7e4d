"""Load a run directory: strictly, leniently with a list of what is missing, or trial by trial while it grows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from poolproof.campaign.calibration import all_cells
from poolproof.campaign.model import HEALTHY, Campaign, Workload
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, RunError
from poolproof.metrics import COMPARABLE, MetricId
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.files import decode, whole_lines
from poolproof.results.runs.model import SCHEMA, CellKey, RunRecord, Trial
from poolproof.results.runs.summary import Cell, bare_cells_of, cells_of, metric_prior
from poolproof.statistics.intervals import VariancePrior

_UNKNOWN = "unknown"
_MOST_NAMED = 4
_NO_RECORD = RunRecord(_UNKNOWN, "", "", "", "", 0, _UNKNOWN, "", {}, {})


@dataclass(frozen=True)
class LoadedRun:
    """The content of a run directory. `cells` are in the campaign's order, without those that have no trial.

    `bare`: the disks that were measured alone; they are not compared. `given` is the campaign as its author wrote it,
    or the resolved campaign if that file is missing. `missing` lists what could not be read, as sentences with the fix.
    `left_out` counts trials that could not be read, `unplaced` cells that `without_unknown_cells` removed.
    """

    path: Path
    record: RunRecord
    campaign: Campaign
    trials: tuple[Trial, ...]
    cells: tuple[Cell, ...]
    bare: tuple[Cell, ...] = ()
    given: str = ""
    missing: tuple[str, ...] = ()
    left_out: int = 0
    unplaced: int = 0

    @cached_property
    def priors(self) -> Mapping[MetricId, VariancePrior | None]:
        """Return how much trials of a cell differ in this run, for each metric that was measured."""
        return {metric: metric_prior(self.cells, metric) for metric in metrics_of(self.cells)}

    @cached_property
    def by_key(self) -> Mapping[CellKey, Cell]:
        """Return the cells by layout, workload and state."""
        return {cell.key: cell for cell in self.cells}

    def cell(self, layout: str, workload: str, state: str = HEALTHY) -> Cell:
        """Return the cell of a layout, a workload and a state. Raises a KeyError if it has no trial."""
        return self.by_key[CellKey(layout, workload, state)]

    def workload(self, name: str) -> Workload | None:
        """Return the campaign's workload of that name."""
        return next((workload for workload in self.campaign.workloads if workload.name == name), None)

    @property
    def wanted(self) -> int:
        """Return the least number of trials that the campaign requires."""
        return sum(len(workloads) for _, workloads in all_cells(self.campaign)) * self.campaign.measure.trials

    @property
    def done(self) -> int:
        """Return how many of these are done. Extra trials of one cell don't count for another."""
        found = Counter((trial.layout, trial.workload) for trial in self.trials)
        keys = [(layout.name, each.name) for layout, workloads in all_cells(self.campaign) for each in workloads]
        return sum(min(self.campaign.measure.trials, found[key]) for key in keys)

    @property
    def is_going(self) -> bool:
        """True if a poolproof process works on the run now."""
        return RunDirectory(self.path).is_going()

    @property
    def has_record(self) -> bool:
        """True if run.json could be read."""
        return self.record is not _NO_RECORD

    def trial_file(self, trial: Trial, name: str) -> Path:
        """Return the path of a file of a trial, whether it exists or not."""
        return RunDirectory(self.path).trial_path(*trial.key) / name


def load_run(path: Path, *, lenient: bool = False) -> LoadedRun:
    """Return the run in a directory, finished or not. With `lenient`, list what can't be read in `missing`.

    Raises a RunError if the directory has no run, a damaged run, or a run of another schema; with `lenient` only if
    neither run.json nor campaign.yaml can be read.
    """
    if not lenient:
        directory = RunDirectory.open(path)
        record = directory.record()
        campaign = parse_campaign(record.campaign, f"{path}/run.json", recorded=True)
        trials = directory.trials()
        cells, bare = cells_of(trials, campaign), bare_cells_of(trials, campaign)
        return LoadedRun(path, record, campaign, trials, cells, bare, record.campaign)
    missing: list[str] = []
    found = _record(path, missing)
    given = ""
    try:
        given = (path / "campaign.yaml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        missing.append("campaign.yaml is missing; the campaign shown is the resolved campaign of run.json.")
    campaign = _campaign(path, found, given)
    trials, refused = read_lines(whole_lines(path / "trials.jsonl"))
    for (message, hint), numbers in refused.items():
        are = "trial is" if len(numbers) == 1 else "trials are"
        missing.append(f"{len(numbers)} {are} left out, because {message}; to fix it: {hint}")
    return LoadedRun(
        path=path,
        record=found or _NO_RECORD,
        campaign=campaign,
        trials=trials,
        cells=cells_of(trials, campaign),
        bare=bare_cells_of(trials, campaign),
        given=given or (found.campaign if found else ""),
        missing=tuple(missing),
        left_out=sum(map(len, refused.values())),
    )


def metrics_of(cells: Iterable[Cell]) -> frozenset[MetricId]:
    """Return the metrics that at least one trial of the cells has."""
    all_cells = tuple(cells)
    return frozenset(metric for metric in COMPARABLE if any(cell.values(metric) for cell in all_cells))


def without_unknown_cells(run: LoadedRun) -> LoadedRun:
    """Return the run without cells that its campaign does not have; `missing` names them.

    A run has such cells if run.json is lost and campaign.yaml differs from what was run (`--quick`).
    """
    layouts = {layout.name for layout in run.campaign.layouts}
    workloads = {workload.name for workload in run.campaign.workloads}
    others = [cell for cell in run.cells if cell.layout not in layouts or cell.workload not in workloads]
    if not others:
        return run
    cells = tuple(cell for cell in run.cells if cell not in others)
    names = [str(cell.key) for cell in others[:_MOST_NAMED]]
    names += [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
    are = "cell is" if len(others) == 1 else "cells are"
    why = f"{len(others)} {are} left out, because the campaign does not have them: {', '.join(names)}."
    return replace(run, cells=cells, missing=(*run.missing, why), unplaced=len(others))


class TrialFollower:
    """Reads the trials that were added to a run since the last call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0

    def new_trials(self) -> tuple[tuple[Trial, ...], int]:
        """Return the new trials, and how many new lines could not be read."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except FileNotFoundError:
            return (), 0
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        trials, refused = read_lines(whole.splitlines())
        return trials, sum(map(len, refused.values()))


def read_lines(lines: Iterable[bytes]) -> tuple[tuple[Trial, ...], Mapping[tuple[str, str], list[int]]]:
    """Return the trials of the lines that can be read, and the numbers of the others by message and fix."""
    found: list[Trial] = []
    refused: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            found.append(decode(line, Trial, SCHEMA, "trials.jsonl"))
        except RunError as error:
            refused.setdefault((error.message.split(": ")[0], error.hint), []).append(number)
    return tuple(found), refused


def _record(path: Path, missing: list[str]) -> RunRecord | None:
    try:
        return RunDirectory.open(path).record()
    except RunError as error:
        if not _is_file(path / "campaign.yaml"):
            raise
        if _is_file(path / "run.json"):
            missing.append(f"{error.message.rstrip('.')}: host, versions and seed are unknown; to fix it: {error.hint}")
        else:
            missing.append("run.json is missing: host, versions and seed are unknown.")
        return None


def _is_file(file: Path) -> bool:
    """False too if this user may not read the folder."""
    try:
        return file.is_file()
    except OSError:
        return False


def _campaign(path: Path, record: RunRecord | None, given: str) -> Campaign:
    text, name = (record.campaign, "run.json") if record else (given, "campaign.yaml")
    try:
        return parse_campaign(text, f"{path}/{name}", recorded=True)
    except CampaignError as error:
        raise RunError(
            f"this version of poolproof cannot read the campaign of {path}: {error.message}",
            "a newer version may have written it: pip install --upgrade poolproof",
        ) from None
