"""Recorded trials, as compressed files with one line of JSON per trial.

A file contains the trials of a campaign, or of some of its layouts. Its first line is a header: schema, campaign,
poolproof's version, date and host. The line of a trial has `layout`, `workload`, `trial` (starting at 1), `by` (`bytes`
or `ios` per second), `interval_s`, `turnover_s` (the layout's write-back period, or 0 if nothing was written) and
`values`, rounded to integers.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from poolproof.errors import RunError

FOLDER = Path(__file__).parent
SCHEMA = 1
_ENDING = ".jsonl.gz"


@dataclass(frozen=True)
class Head:
    """What was recorded, when, and on which host."""

    campaign: str
    poolproof: str
    recorded_at: str
    host: str
    schema: int = SCHEMA


@dataclass(frozen=True)
class Recorded:
    """A recorded trial.

    `values`: the rates in consecutive intervals of `interval_s` seconds, from the start of fio's clock.
    """

    layout: str
    workload: str
    trial: int
    by: str
    interval_s: float
    turnover_s: float
    values: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Return the duration of the trial in seconds."""
        return self.interval_s * len(self.values)

    @property
    def mean(self) -> float:
        """Return the mean rate over the whole trial."""
        return sum(self.values) / len(self.values)


def write(folder: Path, name: str, head: Head, trials: Iterable[Recorded]) -> Path:
    """Write a recording with the given name. The same trials always result in the same bytes."""
    path = folder / f"{name}{_ENDING}"
    lines = [asdict(head), *({**asdict(trial), "values": [round(v) for v in trial.values]} for trial in trials)]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return path


def paths(folder: Path) -> list[Path]:
    """Return the recordings in a folder."""
    return sorted(folder.glob(f"*{_ENDING}"))


def read(path: Path) -> tuple[Head, tuple[Recorded, ...]]:
    """Read a recording.

    Raises:
        RunError: the recording has a different schema.
    """
    lines = _lines(path)
    head = Head(**next(lines))
    if head.schema != SCHEMA:
        raise RunError(f"{path} has schema {head.schema}, this reads {SCHEMA}", "record it again")
    return head, tuple(Recorded(**{**line, "values": tuple(line["values"])}) for line in lines)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
