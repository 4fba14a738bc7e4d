"""The data of one trial for charts: disk counters, the load generator's reports, and latencies."""

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
    """A line of samples.jsonl: a time in seconds since 1970, and each disk's counters at that time."""

    at_s: float
    leaves: dict[str, Counters]

    @property
    def read_bytes(self) -> int:
        return sum(counters.read_bytes for counters in self.leaves.values())

    @property
    def write_bytes(self) -> int:
        return sum(counters.write_bytes for counters in self.leaves.values())


class Report(msgspec.Struct):
    """A line of series.jsonl: the total bytes read and written after `ran_s` seconds by the load generator's clock.

    `at_s`: the time at which the report arrived, in seconds since 1970.
    """

    at_s: float
    ran_s: float
    read_bytes: int
    write_bytes: int


class LatencyLine(msgspec.Struct):
    """A line of latency.jsonl, with times in seconds.

    `bins`: the histogram of I/O latencies, mapping nanoseconds to counts.
    `sync_bins`: the same for fsync and fdatasync calls.
    """

    at_s: float
    from_s: float
    ran_s: float
    bins: dict[int, int]
    sync_bins: dict[int, int]


@dataclass(frozen=True)
class Phase:
    """A phase of a trial (before the window, warm-up or drain), in seconds from the start of the window.

    Charts shade it.
    """

    name: str
    from_s: float
    to_s: float


@dataclass(frozen=True)
class TrialData:
    """The data of one trial for charts.

    `start_s`: the start of the measurement window, in seconds since 1970.
    `most_points`: the maximum number of intervals in a chart.
    `samples`: at most `most_points` + 1 samples, taken at even intervals. Skipping the others loses no bytes, because
    the counters are cumulative.
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
        """The load generator's reports. Empty if it reported nothing while it ran."""
        return _decoded(self.directory / "series.jsonl", Report, self.root)

    @functools.cached_property
    def latencies(self) -> list[LatencyLine]:
        """The latencies in each interval. Empty if the load generator reported latencies only at the end."""
        return _decoded(self.directory / "latency.jsonl", LatencyLine, self.root)

    @property
    def times_s(self) -> list[float]:
        """The samples' times, in seconds from the start of the window."""
        return [sample.at_s - self.start_s for sample in self.samples]

    @property
    def steps(self) -> Iterator[tuple[Sample, Sample]]:
        return itertools.pairwise(self.samples)

    @property
    def has_drain(self) -> bool:
        """True if, after the load ended, the disks kept writing for more than 0.5% of the window's length."""
        return self.account.drain_s > _SHORTEST_DRAIN * self.account.window_s

    @property
    def phases(self) -> list[Phase]:
        """The phases of this trial that charts shade."""
        window_s, first_s = self.account.window_s, self.times_s[0]
        warmup_s = self.trial.settling.warmup_s if self.trial.settling else 0.0
        found = [Phase("before", first_s, 0.0)] if first_s < -_LONGEST_LEAD_S else []
        found += [Phase("warm-up", 0.0, warmup_s)] if warmup_s else []
        return [*found, *([Phase("drain", window_s, window_s + self.account.drain_s)] if self.has_drain else [])]


def trial_data(run: Path, trial: Trial, most_points: int, generator: str = DEFAULT_GENERATOR) -> TrialData | None:
    """Read a trial's data.

    Return None if the trial has no byte accounting, or if fewer than two samples are readable.
    """
    opened = RunDirectory(run)
    directory = opened.trial_path(trial.key)
    samples = _decoded(directory / "samples.jsonl", Sample, opened.root)
    if len(samples) < 2 or trial.account is None:
        return None
    start_s = samples[-1].at_s - trial.account.window_s  # the samples end with the window
    chosen = _thinned(samples, most_points)
    return TrialData(directory, opened.root, trial, trial.account, start_s, chosen, most_points, generator)


def has_samples(run: Path, trial: Trial) -> bool:
    """True if the trial's directory contains a samples file, even if the file is damaged."""
    try:
        return (RunDirectory(run).trial_path(trial.key) / "samples.jsonl").is_file()
    except OSError:
        return False


def median_first(cell: Cell) -> list[Trial]:
    """Return a cell's trials, sorted by how far their rank is from the median's, nearest first.

    The trials are ranked by the metric used to compare the workload. For an even number of trials, the median is the
    lower of the two middle ones. Trials without a value come last.
    """
    values = {trial.number: value for trial in cell.trials if (value := trial.value(cell.metric)) is not None}
    ranked = sorted(values, key=lambda number: (values[number], number))
    middle = (len(ranked) - 1) // 2
    distance = {number: (abs(rank - middle), rank) for rank, number in enumerate(ranked)}
    return sorted(cell.trials, key=lambda trial: (*distance.get(trial.number, (len(ranked), 0)), trial.number))


def typical_data(run: Path, cell: Cell, most_points: int) -> TrialData | None:
    """Return the data of the trial closest to the median, skipping trials without data. None if no trial has data."""
    found = (trial_data(run, trial, most_points, cell.generator) for trial in median_first(cell))
    return next((each for each in found if each is not None), None)


def which_trial(cell: Cell, trial: Trial) -> str:
    """Describe the trial's position in its cell: `trial 2 of 3, the median by IOPS`."""
    if len(cell.all_trials) == 1:
        return "its only trial"
    is_median = median_first(cell)[0] == trial and trial.value(cell.metric) is not None
    median = f", the median by {metric_of(cell.metric).title}" if is_median else ""
    return f"trial {trial.number} of {len(cell.all_trials)}{median}"


def short(value: float | None, digits: int = _DIGITS) -> float | None:
    """Round to `digits` significant digits. None, NaN and infinity become None."""
    if value is None or not math.isfinite(value):
        return None
    if value == 0:
        return 0
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded


def _decoded(path: Path, kind: type[Line], root: Folder) -> list[Line]:
    """Decode a file's lines up to the first damaged one. An unreadable file yields an empty list."""
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
