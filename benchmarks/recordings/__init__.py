"""Recorded trials: one compressed file per campaign, or for some of its layouts, with a line of JSON per trial.

The first line is a head: schema, campaign, poolproof's version, date and host. A trial's line has `layout`, `workload`,
`trial` (from 1), `by` (`bytes` or `ios` per second), `interval_s`, `turnover_s` (the write-back period of the layout; 0
if nothing was written) and `values`, rounded to integers.
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
    """What was recorded, when and on which host."""

    campaign: str
    poolproof: str
    recorded_at: str
    host: str
    schema: int = SCHEMA


@dataclass(frozen=True)
class Recorded:
    """One recorded trial. `values` are rates per `interval_s` seconds, from the start of fio's clock."""

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
        """Return the mean rate of the whole trial."""
        return sum(self.values) / len(self.values)


def write(folder: Path, name: str, head: Head, trials: Iterable[Recorded]) -> Path:
    """Write a recording with that name. The same trials give the same bytes."""
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

    Raises: RunError: it has another schema.
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
