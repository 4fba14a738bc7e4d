"""Which of fio's logs are a result of their own, and which only tell again what a whole result beside them says."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from poolproof.foreign.importing.record import Record, is_bench_fio
from poolproof.load.fio.job import Job

Standing = Literal["apart", "of a result", "unsure"]

_LOG_OPTIONS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")
_NUMBERS = re.compile(r"-(?:iodepth|numjobs)(?=-)")


class WholeResults:
    """The results of an import, by what their logs can be called."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._names: dict[Path, set[str]] = defaultdict(set)
        self._elsewhere: dict[tuple[str, ...], set[Path]] = defaultdict(set)
        for record in records:
            folder = Path(record.source).parent
            self._names[folder].update(_names(record))
            for _, path in _asked(record):
                if len(path.parts) > 1:
                    self._elsewhere[path.parts].add(folder)

    def standing_of(self, prefix: str) -> Standing:
        """What the logs of one run are to the results; `prefix`: their folder and common name.

        They are of a result whose job names them, or that is in the same folder and has their name. Other logs in a
        folder with a result may be of its run, so they are `unsure`; in a folder without one they are `apart`.
        """
        logs = Path(prefix)
        if logs.name in self._names.get(logs.parent, ()) or self._are_asked_for(logs):
            return "of a result"
        return "unsure" if logs.parent in self._names else "apart"

    def _are_asked_for(self, logs: Path) -> bool:
        """Whether a job of a folder above puts its logs into a folder of that name (`write_bw_log=logs/x`)."""
        ends = (logs.parts[at:] for at in range(len(logs.parts) - 1))
        return any(logs.is_relative_to(folder) for end in ends for folder in self._elsewhere.get(end, ()))


def _names(record: Record) -> Iterator[str]:
    """The names that the logs of a result can have in its own folder, without their kinds."""
    yield record.stem
    if is_bench_fio(record.stem):
        yield _with_words(record.stem)
    for name, path in _asked(record):
        yield path.name or name


def _asked(record: Record) -> Iterator[tuple[str, Path]]:
    """The names of the jobs that write logs, and the path that they give them, which may be empty."""
    made = record.judged.found.made
    jobs = [*(made.jobs.jobs if made is not None else ()), *(Job(job.name, job.options) for job in record.result.parts)]
    for job in jobs:
        for option in _LOG_OPTIONS:
            value = job.text(option)
            if value is not None:
                yield job.name, Path(value)


def _with_words(stem: str) -> str:
    """bench-fio writes `randread-16-4.json` beside `randread-iodepth-16-numjobs-4_bw.1.log`."""
    mode, depth, clones = _NUMBERS.sub("", stem).split("-")
    return f"{mode}-iodepth-{depth}-numjobs-{clones}"
