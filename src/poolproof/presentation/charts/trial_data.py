"""The data of one trial for charts: samples of the disks' counters, reports of the load, and latencies over time."""

import bisect
import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.evidence.counters import Counters
from poolproof.evidence.model import Account
from poolproof.files.folder import Folder
from poolproof.files.reading import NOT_THE_JSON, whole_lines
from poolproof.metrics import metric_of
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.results.runs.trial_files import check_numbers

_DIGITS = 4
_SHORTEST_DRAIN = 0.005
_LONGEST_LEAD_S = 0.02
Line = TypeVar("Line")


class Sample(msgspec.Struct):
    """A line of samples.jsonl: a time in seconds since 1970, and the counters of each disk at that time."""

    at_s: float
    leaves: dict[str, Counters]

    @property
    def read_bytes(self) -> int:
        return sum(counters.read_bytes for counters in self.leaves.values())

    @property
    def write_bytes(self) -> int:
        return sum(counters.write_bytes for counters in self.leaves.values())


class Report(msgspec.Struct):
    """A line of series.jsonl: what the load had done after `ran_s` seconds on the load generator's clock."""

    at_s: float
    ran_s: float
    read_bytes: int
    write_bytes: int


class LatencyLine(msgspec.Struct):
    """A line of latency.jsonl. Times are in seconds.

    `bins` maps latencies of I/Os, in nanoseconds, to numbers of I/Os. `sync_bins` does the same for fsync and fdatasync
    calls.
    """

    at_s: float
    from_s: float
    ran_s: float
    bins: dict[int, int]
    sync_bins: dict[int, int]


@dataclass(frozen=True)
class Phase:
    """A phase of a trial to shade (before the window, warm-up, drain), in seconds from the start of the window."""

    name: str
    from_s: float
    to_s: float


@dataclass(frozen=True)
class TrialData:
    """The data of one trial. `start_s` is when the window began, in seconds since 1970.

    Charts have at most `most_points` intervals. If the trial has more than `most_points` + 1 samples, `samples` is a
    selection at even intervals. No bytes are lost, because counters are totals.
    """

    directory: Path
    root: Folder
    trial: Trial
    account: Account
    start_s: float
    samples: list[Sample]
    most_points: int
    generator: str = DEFAULT_GENERATOR

    @functools.cached_property
    def reports(self) -> list[Report]:
        """The load generator's reports. Empty if the generator reported nothing while it ran."""
        return _decoded(self.directory / "series.jsonl", Report, self.root)

    @functools.cached_property
    def latencies(self) -> list[LatencyLine]:
        """The latencies in each interval. Empty if the load generator reported latencies only at the end."""
        return _decoded(self.directory / "latency.jsonl", LatencyLine, self.root)

    @property
    def times_s(self) -> list[float]:
        """The times of the samples, in seconds from the start of the window."""
        return [sample.at_s - self.start_s for sample in self.samples]

    @property
    def steps(self) -> Iterator[tuple[Sample, Sample]]:
        """Pairs of consecutive samples."""
        return itertools.pairwise(self.samples)

    @property
    def has_drain(self) -> bool:
        """True if the disks continued to write after the load had ended, for more than 0.5 % of the window's length."""
        return self.account.drain_s > _SHORTEST_DRAIN * self.account.window_s

    @property
    def phases(self) -> list[Phase]:
        """The phases to shade in the charts of this trial."""
        window_s, first_s = self.account.window_s, self.times_s[0]
        warmup_s = self.trial.settling.warmup_s if self.trial.settling else 0.0
        found = [Phase("before", first_s, 0.0)] if first_s < -_LONGEST_LEAD_S else []
        found += [Phase("warm-up", 0.0, warmup_s)] if warmup_s else []
        return [*found, *([Phase("drain", window_s, window_s + self.account.drain_s)] if self.has_drain else [])]


def trial_data(run: Path, trial: Trial, most_points: int, generator: str = DEFAULT_GENERATOR) -> TrialData | None:
    """Read a trial's data. None if its disks were not counted, or if fewer than two samples can be read."""
    opened = RunDirectory(run)
    directory = opened.trial_path(trial.key)
    samples = _decoded(directory / "samples.jsonl", Sample, opened.root)
    if len(samples) < 2 or trial.account is None:
        return None
    start_s = samples[-1].at_s - trial.account.window_s  # the samples end with the window
    chosen = _thinned(samples, most_points)
    return TrialData(directory, opened.root, trial, trial.account, start_s, chosen, most_points, generator)


def has_samples(run: Path, trial: Trial) -> bool:
    """True if there is a file of samples in the trial's directory, even a damaged one."""
    try:
        return (RunDirectory(run).trial_path(trial.key) / "samples.jsonl").is_file()
    except OSError:
        return False


def median_first(cell: Cell) -> list[Trial]:
    """Return the trials of a cell, the most typical first: the median, then the trials ranked next to it.

    Trials are ranked by the workload's own metric. If the number of trials is even, the median is the lower of the two
    in the middle. Trials without a value come last.
    """
    values = {trial.number: value for trial in cell.trials if (value := trial.value(cell.metric)) is not None}
    ranked = sorted(values, key=lambda number: (values[number], number))
    middle = (len(ranked) - 1) // 2
    distance = {number: (abs(rank - middle), rank) for rank, number in enumerate(ranked)}
    return sorted(cell.trials, key=lambda trial: (*distance.get(trial.number, (len(ranked), 0)), trial.number))


def typical_data(run: Path, cell: Cell, most_points: int) -> TrialData | None:
    """Return the data of the first trial in `median_first` that has data. None if no trial has data."""
    found = (trial_data(run, trial, most_points, cell.generator) for trial in median_first(cell))
    return next((each for each in found if each is not None), None)


def which_trial(cell: Cell, trial: Trial) -> str:
    """Say which trial of its cell this is: `trial 2 of 3, the median by IOPS`."""
    if len(cell.trials) == 1:
        return "its only trial"
    is_median = median_first(cell)[0] == trial and trial.value(cell.metric) is not None
    median = f", the median by {metric_of(cell.metric).title}" if is_median else ""
    return f"trial {trial.number} of {len(cell.trials)}{median}"


def short(value: float | None, digits: int = _DIGITS) -> float | None:
    """Round to `digits` significant digits. None stays None; NaN and infinity become None."""
    if value is None or not math.isfinite(value):
        return None
    if value == 0:
        return 0
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded


def _decoded(path: Path, kind: type[Line], root: Folder) -> list[Line]:
    """Return the lines of a file up to the first damaged one. Empty if the file cannot be read."""
    decoder = msgspec.json.Decoder(kind)
    found: list[Line] = []
    try:
        for line in whole_lines(path, root=root):
            check_numbers(line)
            found.append(decoder.decode(line))
    except (OSError, *NOT_THE_JSON):
        pass
    return found


def _thinned(samples: list[Sample], most_points: int) -> list[Sample]:
    if len(samples) <= most_points + 1:
        return samples
    times = [sample.at_s for sample in samples]
    targets = (times[0] + (times[-1] - times[0]) * number / most_points for number in range(most_points + 1))
    places = sorted({min(bisect.bisect_left(times, at), len(samples) - 1) for at in targets})
    return [samples[place] for place in places]
