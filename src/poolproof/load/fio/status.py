"""fio's totals while it runs: `--status-interval` writes a complete report each time, from which these are read.

A report with its histograms is long, so only the lines with totals are copied from the host (`WANTED`), each with its
position in the file. Their indentation identifies them: no option's text in the report can look like that, because
numbers in options are quoted. Source: `show_thread_status_json` and `add_ddir_status_json` in fio's stat.c (3.33).

Cost, measured with fio 3.33 on two cores at 20,000 I/Os per second and eight clones: 90 KiB per report, and no
processor time that exceeds the variation between runs without it, at 250 ms and at 100 ms.
"""

import re
from collections.abc import Iterable

from poolproof.load.generator import Status

WANTED = (
    r'^(\{|\}|  "timestamp_ms" : [0-9]+,?'
    r'|      "(read|write|trim|mixed|sync|job_runtime)" : .*'
    r'|        "(io_bytes|total_ios|runtime|slat_ns|clat_ns|lat_ns)" : [^"]*'
    r'|          "(mean|N)" : .*)$'
)
"""An extended regular expression, for grep: the lines of a report that `Statuses` reads."""

_LINE = re.compile(r'(\d+):(?:(\{)|(\})| *"(\w+)" : (\{|[\d.]+).*)$')


class Statuses:
    """Reads the lines that grep found. A report counts once its end has been read."""

    def __init__(self) -> None:
        self.found: list[Status] = []
        self._reset(0)

    def _reset(self, start: int) -> None:
        self._start, self._at_s = start, 0.0
        self._section = self._latency = ""
        self._mean = 0.0
        self._totals: dict[str, float] = {}

    def feed(self, lines: Iterable[str], offset: int = 0) -> None:
        """Read more lines of `grep -b`, whose positions count from `offset` in the file."""
        for line in lines:
            match = _LINE.match(line)
            if match is None:
                continue
            place, opens, closes, key, value = match.groups()
            if opens:
                self._reset(offset + int(place))
            elif closes:
                self._close(offset + int(place) + len("}\n"))
            else:
                self._take(key, value)

    def _take(self, key: str, value: str) -> None:
        if value == "{":
            if key.endswith("_ns"):
                self._latency = key
            else:
                self._section, self._latency = key, ""
        elif key == "timestamp_ms":
            self._at_s = int(value) / 1000
        elif key == "runtime":
            self._totals["ran_ms"] = max(self._totals.get("ran_ms", 0.0), float(value))
        elif key in ("io_bytes", "total_ios"):
            self._add(f"{self._direction}.{key}", float(value))
        elif key == "mean":
            self._mean = float(value)
        elif key == "N":
            self._count(float(value))

    @property
    def _direction(self) -> str:
        return "read" if self._section == "mixed" else self._section

    def _count(self, samples: float) -> None:
        if self._section == "sync":
            self._add("sync.N", samples)
            self._add("sync.ns", samples * self._mean)
        elif self._latency == "clat_ns" and self._section in ("read", "write", "mixed"):
            self._add("clat.N", samples)
            self._add("clat.ns", samples * self._mean)

    def _add(self, name: str, value: float) -> None:
        self._totals[name] = self._totals.get(name, 0.0) + value

    def _close(self, end: int) -> None:
        def whole(name: str) -> int:
            return int(self._totals.get(name, 0.0))

        self.found.append(
            Status(
                at_s=self._at_s,
                ran_s=self._totals.get("ran_ms", 0.0) / 1000,
                read_bytes=whole("read.io_bytes"),
                write_bytes=whole("write.io_bytes"),
                read_ios=whole("read.total_ios"),
                write_ios=whole("write.total_ios"),
                latency_samples=whole("clat.N"),
                latency_ns=self._totals.get("clat.ns", 0.0),
                syncs=whole("sync.N"),
                sync_ns=self._totals.get("sync.ns", 0.0),
                start=self._start,
                end=end,
            )
        )
        self._reset(end)
