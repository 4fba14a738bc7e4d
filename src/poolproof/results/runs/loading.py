"""Load a run directory: strictly, leniently (listing what can't be read), or one trial at a time during the run."""

import errno
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import msgspec

from poolproof.campaign.calibration import builds_of, campaign_cells
from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.campaign.model import Campaign, Workload
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import HOW_TO_UPDATE, CampaignError, RunError, as_word
from poolproof.files.folder import Folder
from poolproof.files.reading import (
    LARGEST_RECORD_BYTES,
    NOT_THE_JSON,
    is_regular,
    read_end,
    read_regular,
    read_text,
    whole_lines,
)
from poolproof.metrics import COMPARABLE, MetricId
from poolproof.results.runs.convergence import BuildKey
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import SCHEMA, RunRecord, Trial
from poolproof.results.runs.summary import Cell, bare_cells_of, cells_of, metric_prior
from poolproof.results.runs.trial_files import Value, decode, decode_part
from poolproof.statistics.shared_variance import VariancePrior

_UNKNOWN = "unknown"
_MOST_NAMED = 4
_NO_RECORD = RunRecord(_UNKNOWN, "", "", "", "", 0, _UNKNOWN, "", {}, {})


class _SavedConditions(msgspec.Struct):
    """The part of evidence.json that `LoadedRun.conditions` needs."""

    conditions: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class LoadedRun:
    """The contents of a run directory.

    `cells`: the cells with at least one trial, in campaign order.
    `bare`: the cells of disks that were measured individually. They are not compared with other cells.
    `given`: the campaign as the user wrote it, or the one in run.json if campaign.yaml is missing.
    `missing`: one sentence for each part that could not be read.
    `left_out`: the number of unreadable trials.
    `unplaced`: the number of cells removed by `without_unknown_cells`.
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

    def prior(self, metric: MetricId) -> VariancePrior | None:
        """Return the typical variance of a metric between a cell's trials, or None if too few cells measured it."""
        if metric not in self._priors:
            self._priors[metric] = metric_prior(self.cells, metric)
        return self._priors[metric]

    @cached_property
    def _priors(self) -> dict[MetricId, VariancePrior | None]:
        """The typical variances that were computed already. Computing all of them takes long in a history of runs."""
        return {}

    @cached_property
    def by_key(self) -> Mapping[CellKey, Cell]:
        return {cell.key: cell for cell in self.cells}

    @cached_property
    def states(self) -> Mapping[str, tuple[str, ...]]:
        """Return the states of each layout: first those named in the campaign, then any others that have results."""
        found = {layout.name: dict.fromkeys(self.campaign.states) for layout in self.campaign.layouts}
        for cell in self.cells:
            if cell.layout in found:
                found[cell.layout][cell.state] = None
        return {layout: tuple(states) for layout, states in found.items()}

    @cached_property
    def layouts_in_states(self) -> list[str]:
        """Return one name for each layout in each of its states, in campaign order. `CellKey` formats the names."""
        return [CellKey(layout, "", state).layout_in_state for layout, own in self.states.items() for state in own]

    @property
    def by_build(self) -> bool:
        """True if a cell has values from several builds.

        Results and comparisons then include the between-build variance.
        """
        return any(cell.by_build for cell in self.cells)

    def cell(self, layout: str, workload: str, state: str = HEALTHY) -> Cell:
        """Return the cell for a layout, workload and state. Raises a KeyError if the cell has no trials."""
        return self.by_key[CellKey(layout, workload, state)]

    def workload(self, name: str) -> Workload | None:
        return next((workload for workload in self.campaign.workloads if workload.name == name), None)

    @property
    def wanted(self) -> int:
        """Return the minimum number of trials that the campaign requires, in all cells together."""
        return len(self._wanted_builds) * self.campaign.measure.trials

    @property
    def done(self) -> int:
        """Return the number of finished trials, not counting those beyond the minimum number per build."""
        found = Counter((trial.cell_key, trial.build) for trial in self.trials)
        return sum(min(self.campaign.measure.trials, found[key]) for key in self._wanted_builds)

    @cached_property
    def _wanted_builds(self) -> tuple[BuildKey, ...]:
        """Return the keys of all builds that the campaign's cells require."""
        return tuple(
            (key, build)
            for key in campaign_cells(self.campaign)
            for build in range(1, builds_of(self.campaign, key.layout) + 1)
        )

    @property
    def is_going(self) -> bool:
        return RunDirectory(self.path).is_going()

    @property
    def has_record(self) -> bool:
        return self.record is not _NO_RECORD

    def trial_file(self, trial: Trial, name: str) -> bytes:
        """Return the contents of a file in the trial's directory. Raises an OSError if it is missing or unreadable."""
        if not self._has_trial_files:
            raise FileNotFoundError(errno.ENOENT, f"{self.path} has no trial files")
        directory = RunDirectory(self.path)
        return read_regular(directory.trial_path(trial.key) / name, root=directory.root)

    def evidence_part(self, trial: Trial, kind: type[Value]) -> Value | None:
        """Decode the fields of `kind` from the trial's evidence. None if it is missing, unreadable or damaged."""
        try:
            return decode_part(self.trial_file(trial, "evidence.json"), kind)
        except (OSError, *NOT_THE_JSON):
            return None

    @cached_property
    def conditions(self) -> Mapping[str, str]:
        """The conditions on the machine, as the first trial of each layout recorded them."""
        first = {cell.layout: cell.trials[0] for cell in reversed(self.cells) if cell.trials}
        found: dict[str, str] = {}
        for trial in first.values():
            if (saved := self.evidence_part(trial, _SavedConditions)) is not None:
                found |= saved.conditions
        return found

    @cached_property
    def _has_trial_files(self) -> bool:
        """True if the run has files of its trials. Imported results, for example, have none."""
        return (self.path / "cells").exists()


def load_run(path: Path, *, lenient: bool = False) -> LoadedRun:
    """Load a run, which need not be finished, from its directory.

    `lenient`: whether to list unreadable parts in `missing` instead of raising an error. A RunError is then raised only
    if no campaign is readable or trials.jsonl can't be opened.

    Raises:
        RunError: the directory is not a run, is damaged or has a different schema version.
        CampaignError: this version of poolproof can't parse the campaign.
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
        given = read_text(path / "campaign.yaml", root=path, limit_bytes=LARGEST_RECORD_BYTES)
    except FileNotFoundError:
        missing.append("campaign.yaml is missing; the campaign shown is the one in run.json.")
    except OSError as error:
        why = f"campaign.yaml cannot be read ({error.strerror})"
        missing.append(f"{why}; the campaign shown is the one in run.json.")
    campaign = _campaign(path, found, given)
    trials, refused = read_lines(_trial_lines(path))
    for (message, hint), numbers in refused.items():
        are = "trial is" if len(numbers) == 1 else "trials are"
        missing.append(f"{len(numbers)} {are} left out, because {message}. Fix: {hint}")
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


def _trial_lines(path: Path) -> Iterator[bytes]:
    trials = path / "trials.jsonl"
    try:
        yield from whole_lines(trials, root=path)
    except OSError as error:
        raise RunError(f"{trials} cannot be read: {error.strerror}", f"ls -l {as_word(trials)}") from None


def metrics_of(cells: Iterable[Cell]) -> frozenset[MetricId]:
    """Return all metrics that were measured in at least one trial of the cells."""
    all_cells = tuple(cells)
    return frozenset(metric for metric in COMPARABLE if any(cell.values(metric) for cell in all_cells))


def distinct_metrics(cells: Iterable[Cell]) -> tuple[MetricId, ...]:
    """Return the metrics measured in at least one cell, in the order of the metrics table.

    A read-only or write-only metric is excluded if it merely repeats the combined metric, that is, if both have the
    same values in every cell. A workload's own metric is never excluded.
    """
    all_cells = tuple(cells)
    own = {cell.metric for cell in all_cells}
    return tuple(
        metric
        for metric in COMPARABLE
        if any(cell.values(metric) and (metric in own or not cell.is_repeated(metric)) for cell in all_cells)
    )


def without_unknown_cells(run: LoadedRun) -> LoadedRun:
    """Return the run without the cells that are not in its campaign, and list the removed cells in `missing`.

    This happens if run.json is lost, and campaign.yaml differs from the campaign that was run (for example because of
    `--quick`).
    """
    layouts = {layout.name for layout in run.campaign.layouts}
    workloads = {workload.name for workload in run.campaign.workloads}
    others = [cell for cell in run.cells if cell.layout not in layouts or cell.workload not in workloads]
    if not others:
        return run
    cells = tuple(cell for cell in run.cells if cell.layout in layouts and cell.workload in workloads)
    names = [str(cell.key) for cell in others[:_MOST_NAMED]]
    names += [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
    are = "cell is" if len(others) == 1 else "cells are"
    why = f"{len(others)} {are} left out, because they are not in the campaign: {', '.join(names)}."
    return replace(run, cells=cells, missing=(*run.missing, why), unplaced=len(others))


class TrialFollower:
    """Reads new lines of trials.jsonl while a run appends to the file. `resume` may also replace the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset, self._inode = 0, 0
        self._known: set[int] = set()

    def new_trials(self) -> tuple[tuple[Trial, ...], int]:
        """Return the trials added since the previous call, and the number of new lines that could not be parsed."""
        try:
            found = self.path.lstat()
            if found.st_ino != self._inode or found.st_size < self._offset:
                self._offset, self._inode = 0, found.st_ino
            text = read_end(self.path, self._offset)
        except OSError:
            return (), 0
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = [line for line in whole.splitlines() if hash(line) not in self._known]
        self._known |= set(map(hash, lines))
        trials, refused = read_lines(lines)
        return trials, sum(map(len, refused.values()))


def read_lines(lines: Iterable[bytes]) -> tuple[tuple[Trial, ...], Mapping[tuple[str, str], list[int]]]:
    """Parse lines of trials.jsonl, and return the trials and the numbers of the lines that could not be parsed.

    The line numbers are keyed by error message and hint.
    """
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
        if not is_regular(path / "campaign.yaml"):
            raise
        if is_regular(path / "run.json"):
            missing.append(f"{error.message.rstrip('.')}; host, versions and seed are unknown. Fix: {error.hint}")
        else:
            kind = Folder.open(path).kind("run.json")
            why = f"run.json is {kind}, not a regular file" if kind else "run.json is missing"
            missing.append(f"{why}; host, versions and seed are unknown.")
        return None


def _campaign(path: Path, record: RunRecord | None, given: str) -> Campaign:
    text, name = (record.campaign, "run.json") if record else (given, "campaign.yaml")
    try:
        return parse_campaign(text, f"{path}/{name}", recorded=True)
    except CampaignError as error:
        raise RunError(
            f"this version of poolproof cannot read the campaign of {path}: {error.message}",
            f"a newer version may have written it; {HOW_TO_UPDATE}",
        ) from None
