"""What passed each layer between fio and the disks, where the evidence of a trial has it level by level."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.evidence.levels import BELOW, DEVICE, FIO
from poolproof.evidence.model import Level
from poolproof.presentation.html_report.reading import LoadedRun
from poolproof.results.runs.summary import Cell


class _Evidence(msgspec.Struct):
    """The part of evidence.json that is of use here."""

    levels: tuple[Level, ...] = ()


@dataclass(frozen=True)
class OnTheWay:
    """The levels of one trial from the top down, without fio and the disks: the flow has those."""

    trial: int
    levels: tuple[Level, ...]


def on_the_way(seen: LoadedRun, cell: Cell) -> OnTheWay | None:
    """The levels of the first trial that has any; None where no layer between could be counted."""
    for trial in cell.trials:
        found = tuple(_between(_levels(seen.trial_file(trial, "evidence.json"))))
        if found:
            return OnTheWay(trial.number, found)
    return None


def _between(levels: Iterable[Level]) -> Iterable[Level]:
    return sorted((level for level in levels if level.layer not in (FIO, DEVICE, BELOW)), key=lambda level: level.depth)


def _levels(path: Path) -> tuple[Level, ...]:
    """Those in the file; a missing or damaged file has none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Evidence).levels
    except (OSError, msgspec.DecodeError):
        return ()
