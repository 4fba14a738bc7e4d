"""Read fio's report on a host: only totals while fio is running, and complete reports after it has ended.

With `--status-interval`, fio appends a complete report at each interval. Reports with histograms are long, so only the
lines with totals (`_TOTALS`) are copied from the host, together with their offsets in the file. Lines with totals are
recognized by their indentation. Job options cannot be mistaken for totals, because fio quotes their values. Source:
`show_thread_status_json` and `add_ddir_status_json` in fio's stat.c (3.33).

The overhead was measured with fio 3.33 on two cores, at 20,000 I/Os per second with eight clones. Reports of 90 KiB
every 250 ms or 100 ms used no measurable CPU time.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolproof.hosts.base import FileMissing, Host
from poolproof.load.fio.json_output import read_json_stream
from poolproof.load.generator import Status
from poolproof.load.outcome import Outcome

_LIMIT_S = 60.0
_CLOCK_ERROR_S = 0.05
_SET_S = 5.0  # reports are less than 2 s apart, unless the whole machine stopped, which fio's runtime then shows too
_LATEST_START_S = 30.0
_GREP = 'tail -c "+$2" "$1" | grep -abE "$3"; :'
_PIECES = (
    "f=$1; shift; while [ $# -gt 0 ]; do "
    'dd if="$f" bs=64K iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none || exit; shift 2; done'
)
_TOTALS = (
    r'^(\{|\}|  "timestamp_ms" : [0-9]+,?'
    r'|      "(read|write|trim|mixed|sync|job_runtime)" : .*'
    r'|        "(io_bytes|total_ios|runtime|slat_ns|clat_ns|lat_ns)" : [^"]*'
    r'|          "(mean|N)" : .*)$'
)
_TOTALS_HERE = re.compile(_TOTALS.replace('[^"]', r'[^"\n]'), re.MULTILINE)  # grep matches line by line
_LINE = re.compile(r'^(\d++):(?:(\{)|(\})| *"(\w+)" : (\{|[\d.]+).*)$')


@dataclass
class FioReport:
    """The `LiveReport` of fio: a file to which fio appends its reports while it is running.

    `begun_at_s`: the time at which fio started, on the same clock as the counters' timestamps.
    `clock_ahead_s`: the lead of the wall clock over that clock when fio started.

    The wall clock may be changed during a run. The times of later reports are then corrected, based on fio's runtime,
    which comes from a clock that cannot be changed. Changes of less than 5 s are not detected, because a report can be
    that late.
    """

    host: Host
    path: str
    begun_at_s: float
    clock_ahead_s: float = 0.0
    statuses: list[Status] = field(default_factory=list)
    _text: str = ""
    _correction_s: float = 0.0

    def read_all(self) -> None:
        try:
            self._text = self.host.read(self.path)
        except FileMissing:
            return
        lines = (f"{line.start()}:{line[0]}" for line in _TOTALS_HERE.finditer(self._text))
        self.statuses, self._correction_s = [], 0.0
        self._add(_statuses(lines, 0))

    def read_on(self) -> None:
        """Read the new lines with totals. Full reports are not copied, to reduce network traffic."""
        offset = self.statuses[-1].end if self.statuses else 0
        found = self.host.run(["sh", "-c", _GREP, "sh", self.path, str(offset + 1), _TOTALS], timeout_s=_LIMIT_S)
        self._add(_statuses(found.stdout.splitlines(), offset))

    def _add(self, statuses: Iterable[Status]) -> None:
        """Add statuses, after converting their times to the clock of the counters' timestamps."""
        for status in statuses:
            at_s = status.at_s - self.clock_ahead_s + self._correction_s
            if self.statuses:
                last = self.statuses[-1]
                more_s = status.ran_s - last.ran_s if status.ran_s >= last.ran_s else status.ran_s  # after a ramp
                expected_s = last.at_s + more_s
                was_set = abs(at_s - expected_s) > _SET_S
            else:
                expected_s = self.begun_at_s + status.ran_s
                was_set = at_s < self.begun_at_s - _CLOCK_ERROR_S or at_s > expected_s + _LATEST_START_S
            if was_set:
                self._correction_s += expected_s - at_s
                at_s = expected_s
            self.statuses.append(replace(status, at_s=at_s))

    def outcomes(self, statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        return read_json_stream(self.documents(statuses))

    def documents(self, statuses: Sequence[Status]) -> str:
        if self._text:
            return "".join(self._text[status.start : status.end] for status in statuses)
        spans = [str(number) for status in statuses for number in (status.start, status.end - status.start)]
        return self.host.run(["sh", "-c", _PIECES, "sh", self.path, *spans], timeout_s=_LIMIT_S).stdout


def _statuses(lines: Iterable[str], offset: int) -> Iterator[Status]:
    """Yield the totals of each complete report.

    `lines`: the output of `grep -b`.
    `offset`: the position in the report file at which grep started.
    """
    start = offset
    totals: dict[str, float] = defaultdict(float)
    of_job: dict[str, float] = defaultdict(float)
    section = latency = ""
    mean = 0.0
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        position, opens, closes, key, value = match.groups()
        if opens or closes:
            if closes:
                yield _status(totals, start, offset + int(position) + len("}\n"))
            start = offset + int(position) + (len("}\n") if closes else 0)
            totals, of_job, section, latency = defaultdict(float), defaultdict(float), "", ""
        elif key == "job_runtime":  # the line after the last direction of a job
            _add_job(totals, of_job)
            of_job = defaultdict(float)
        elif value == "{":
            section, latency = (section, key) if key.endswith("_ns") else (key, "")
        elif key in ("timestamp_ms", "runtime"):
            totals[key] = max(totals[key], float(value))
        elif key in ("io_bytes", "total_ios"):
            of_job[f"{section} {key}"] += float(value)
        elif key == "mean":
            mean = float(value)
        elif key == "N":
            of_job[f"{section} {latency} N"] += float(value)
            of_job[f"{section} {latency} sum"] += float(value) * mean


def _add_job(totals: dict[str, float], of_job: Mapping[str, float]) -> None:
    """Add a job's values to the totals.

    Its `mixed` values are skipped if it has separate values for reads, writes or trims.
    """
    is_parted = any(of_job.get(f"{way} io_bytes") for way in ("read", "write", "trim"))
    for key, value in of_job.items():
        if not (is_parted and key.startswith("mixed ")):
            totals[key] += value


def _status(totals: Mapping[str, float], start: int, end: int) -> Status:
    def total(name: str, *sections: str) -> float:
        return sum(totals.get(f"{section} {name}", 0.0) for section in sections)

    return Status(
        at_s=totals.get("timestamp_ms", 0.0) / 1000,
        ran_s=totals.get("runtime", 0.0) / 1000,
        read_bytes=int(total("io_bytes", "read", "mixed")),
        write_bytes=int(total("io_bytes", "write")),
        read_ios=int(total("total_ios", "read", "mixed")),
        write_ios=int(total("total_ios", "write")),
        latency_samples=int(total("clat_ns N", "read", "write", "mixed")),
        latency_ns=total("clat_ns sum", "read", "write", "mixed"),
        syncs=int(total("lat_ns N", "sync")),
        sync_ns=total("lat_ns sum", "sync"),
        start=start,
        end=end,
    )
