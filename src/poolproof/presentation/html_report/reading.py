"""A run directory read as far as it can be: what is damaged, missing or of another schema is named and left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.calibration import all_cells
from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, RunError
from poolproof.results.compare.finished import FinishedRun
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.files import decode, whole_lines
from poolproof.results.runs.model import SCHEMA, RunRecord, Trial
from poolproof.results.runs.summary import Cell, bare_cells_of, cells_of

_UNKNOWN = "unknown"
_MOST_NAMED = 4
_NO_RECORD = RunRecord(_UNKNOWN, "", "", "", "", 0, _UNKNOWN, "", {}, {})


@dataclass(frozen=True)
class LoadedRun:
    """A run as far as it could be read. `gaps` says in whole sentences what is missing, and what to type about it.

    `given` is the campaign as its author wrote it; the resolved one where that file is gone. `left_out` counts trials
    that could not be read, `unplaced` cells that `placed` left out.
    """

    path: Path
    run: FinishedRun
    given: str
    trials: tuple[Trial, ...]
    gaps: tuple[str, ...]
    left_out: int = 0
    unplaced: int = 0

    @property
    def campaign(self) -> Campaign:
        return self.run.campaign

    @property
    def record(self) -> RunRecord:
        return self.run.record

    @property
    def wanted(self) -> int:
        """How many trials the campaign asks for at least."""
        return sum(len(workloads) for _, workloads in all_cells(self.campaign)) * self.campaign.measure.trials

    @property
    def done(self) -> int:
        """How many of these are done; what a cell got beyond them does not make up for another's."""
        found = Counter((trial.layout, trial.workload) for trial in self.trials)
        least = self.campaign.measure.trials
        return sum(
            min(least, found[layout.name, workload.name])
            for layout, workloads in all_cells(self.campaign)
            for workload in workloads
        )

    @property
    def is_going(self) -> bool:
        """Whether a poolproof works on it just now."""
        return RunDirectory(self.path).is_going()

    @property
    def has_record(self) -> bool:
        """Whether run.json could be read."""
        return self.record is not _NO_RECORD

    def trial_file(self, trial: Trial, name: str) -> Path:
        """Where a file of a trial lies, or would lie."""
        return RunDirectory(self.path).trial_path(*trial.key) / name


def read(path: Path) -> LoadedRun:
    """What is there of a run.

    Raises:
        RunError: nothing says what was measured: neither run.json nor campaign.yaml can be read.
    """
    gaps: list[str] = []
    record = _record(path, gaps)
    given = _text(path / "campaign.yaml")
    if given is None:
        gaps.append("campaign.yaml is missing; the campaign shown is the resolved one of run.json.")
    campaign = _campaign(path, record, given)
    trials, left_out = _trials(path / "trials.jsonl", gaps)
    cells = {(cell.layout, cell.workload): cell for cell in cells_of(trials, campaign)}
    run = FinishedRun(path, record or _NO_RECORD, campaign, cells, bare_cells_of(trials, campaign))
    return LoadedRun(path, run, given or (record.campaign if record else ""), trials, tuple(gaps), left_out)


def placed(seen: LoadedRun) -> LoadedRun:
    """Without the cells that the campaign does not have: no map has a place for them. They are named among the gaps.

    So it is where run.json is lost, and what ran was not what campaign.yaml says (`--quick`).
    """
    layouts = {layout.name for layout in seen.campaign.layouts}
    workloads = {workload.name for workload in seen.campaign.workloads}
    known = {key: cell for key, cell in seen.run.cells.items() if key[0] in layouts and key[1] in workloads}
    others = [cell for key, cell in seen.run.cells.items() if key not in known]
    if not others:
        return seen
    gaps = (*seen.gaps, _unplaced(others))
    return replace(seen, run=replace(seen.run, cells=known), gaps=gaps, unplaced=len(others))


def _unplaced(cells: Sequence[Cell]) -> str:
    names = [f"{cell.workload} on {cell.layout}" for cell in cells[:_MOST_NAMED]]
    names += [f"{len(cells) - _MOST_NAMED} more"] if len(cells) > _MOST_NAMED else []
    are = "cell is" if len(cells) == 1 else "cells are"
    return f"{len(cells)} {are} left out, for the campaign that could be read does not have them: {', '.join(names)}."


def _record(path: Path, gaps: list[str]) -> RunRecord | None:
    try:
        return RunDirectory.open(path).record()
    except RunError as error:
        if not _is_there(path / "campaign.yaml"):
            raise
        if _is_there(path / "run.json"):
            gaps.append(f"{error.message.rstrip('.')}: host, versions and seed are not known; to mend it: {error.hint}")
        else:
            gaps.append("run.json is missing: host, versions and seed are not known.")
        return None


def _is_there(file: Path) -> bool:
    """False too where the folder is closed to this user."""
    try:
        return file.is_file()
    except OSError:
        return False


def _campaign(path: Path, record: RunRecord | None, given: str | None) -> Campaign:
    text, name = (record.campaign, "run.json") if record else (given or "", "campaign.yaml")
    try:
        return parse_campaign(text, f"{path}/{name}", recorded=True)
    except CampaignError as error:
        raise RunError(
            f"the campaign of {path} cannot be read by this poolproof: {error.message}",
            "it may be of a newer one: pip install --upgrade poolproof",
        ) from None


def _trials(path: Path, gaps: list[str]) -> tuple[tuple[Trial, ...], int]:
    """The trials that can be read, and how many can't; the reasons of these are gaps, each once with its count."""
    found: list[Trial] = []
    refused: dict[tuple[str, str], int] = {}
    for line in whole_lines(path):
        try:
            found.append(decode(line, Trial, SCHEMA, "trials.jsonl"))
        except RunError as error:
            why = (error.message.split(": ")[0], error.hint)
            refused[why] = refused.get(why, 0) + 1
    for (message, hint), count in refused.items():
        gaps.append(f"{count} {'trial is' if count == 1 else 'trials are'} left out, for {message}; to mend it: {hint}")
    return tuple(found), sum(refused.values())


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
