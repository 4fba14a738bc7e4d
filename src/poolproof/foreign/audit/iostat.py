"""Parse quoted output of `iostat` and `zpool iostat`: the disks' rates in each report.

The first report of both programs is the mean since boot, and is skipped unless `-y` was given. zpool's units are powers
of 1024. Sources: iostat(1) of sysstat 9 to 12, zpool-iostat(8).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.load.fio.plain_lines import Line, plain_lines

_ZPOOL_HEADER = re.compile(r"^\s*pool\s+alloc\s+free\s+read\s+write\s+read\s+write\b")
_IOSTAT_HEADER = re.compile(r"^\s*Device:?\s+.*\S/s")
_SHORT_NUMBER = re.compile(r"^(\d+(?:\.\d+)?)([KMGTP]?)$")
_NUMBER = re.compile(r"^\d+(?:[.,]\d+)?$")
_CALLED_WITH_Y = re.compile(r"\biostat\b.*\s-\w*y")
_READ = {"rkB/s": 1024.0, "rMB/s": 1024.0**2, "kB_read/s": 1024.0, "MB_read/s": 1024.0**2, "Blk_read/s": 512.0}
_WRITE = {"wkB/s": 1024.0, "wMB/s": 1024.0**2, "kB_wrtn/s": 1024.0, "MB_wrtn/s": 1024.0**2, "Blk_wrtn/s": 512.0}
_STACKED = re.compile(r"^(?:dm-|md|loop|zd|bcache)\d*")
_BUSY_SHARE = 0.5
_MAX_LINES_BETWEEN = 3
_MAX_LINES_BETWEEN_REPORTS = 12
_ZPOOL_COLUMNS = 7


@dataclass(frozen=True)
class ReportRates:
    """The read and write rates in one report, in bytes per second."""

    read: float
    write: float


@dataclass(frozen=True)
class DiskRates:
    """Quoted iostat reports about one pool, or about all disks together (`name` is then `disks`).

    Lines are numbered from 1. Reports on the time since boot are left out.
    """

    line: int
    last_line: int
    name: str
    program: str
    reports: tuple[ReportRates, ...]

    @property
    def read_bytes_per_s(self) -> float:
        """Return the mean read rate of the busy reports, i.e. those with at least half the highest read rate."""
        return _busy_mean([report.read for report in self.reports])

    @property
    def write_bytes_per_s(self) -> float:
        return _busy_mean([report.write for report in self.reports])


@dataclass
class _Draft:
    line: int
    last_line: int
    program: str
    skips_first: bool
    rows: dict[str, list[ReportRates]]


def find_disk_rates(text: str) -> tuple[DiskRates, ...]:
    """Return each series of quoted iostat reports, in line order. Reports on the time since boot are left out."""
    numbered = plain_lines(text)
    found = []
    for draft in (*_zpool_blocks(numbered), *_iostat_blocks(numbered)):
        for name, rows in draft.rows.items():
            reports = rows[1:] if draft.skips_first else rows
            if reports:
                found.append(DiskRates(draft.line, draft.last_line, name, draft.program, tuple(reports)))
    return tuple(sorted(found, key=lambda block: block.line))


def _busy_mean(rates: Sequence[float]) -> float:
    most = max(rates, default=0.0)
    busy = [rate for rate in rates if rate >= _BUSY_SHARE * most]
    return sum(busy) / len(busy) if busy else 0.0


def _zpool_blocks(numbered: Sequence[Line]) -> Iterator[_Draft]:
    """Yield each block of `zpool iostat` output. The indented rows of vdevs and disks (`-v`) are ignored."""
    draft: _Draft | None = None
    indent = between = 0
    for place, (number, line) in enumerate(numbered):
        if _ZPOOL_HEADER.match(line):
            indent = _indent(line)
            draft = draft or _Draft(number, number, "zpool iostat", _skips_first(numbered, place), {})
            continue
        if draft is None:
            continue
        rates = _zpool_rates(line.split())
        if rates is not None:
            between = 0
            if _indent(line) <= indent:
                draft.rows.setdefault(line.split()[0], []).append(rates)
                draft.last_line = number
        elif line.strip(" -") and line.split()[0] != "capacity":
            between += 1
            if between > _MAX_LINES_BETWEEN or "fio" in line:
                yield draft
                draft, between = None, 0
    if draft is not None:
        yield draft


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _zpool_rates(words: Sequence[str]) -> ReportRates | None:
    if len(words) < _ZPOOL_COLUMNS:
        return None
    read, write = _short_number(words[5]), _short_number(words[6])
    is_row = all(word == "-" or _short_number(word) is not None for word in words[1:5])
    return ReportRates(read, write) if is_row and read is not None and write is not None else None


def _short_number(word: str) -> float | None:
    match = _SHORT_NUMBER.match(word)
    return float(match[1]) * 1024.0 ** " KMGTP".index(match[2] or " ") if match else None


def _iostat_blocks(numbered: Sequence[Line]) -> Iterator[_Draft]:
    """Yield each series of consecutive `iostat` reports, with the rates of each report summed over its disks.

    Stacked devices such as dm and md are excluded from the sum, unless a report contains no other devices.
    """
    draft: _Draft | None = None
    for place, (number, line) in enumerate(numbered):
        columns = line.split()
        if not _IOSTAT_HEADER.match(line) or not set(columns) & _READ.keys():
            continue
        rows = list(_iostat_rows(numbered, place + 1, columns))
        if not rows:
            continue
        if draft is not None and number - draft.last_line > _MAX_LINES_BETWEEN_REPORTS:
            yield draft
            draft = None
        draft = draft or _Draft(number, number, "iostat", _skips_first(numbered, place), {"disks": []})
        draft.last_line = rows[-1][0]
        lowest = [rates for _, name, rates in rows if not _STACKED.match(name)] or [rates for _, _, rates in rows]
        draft.rows["disks"].append(ReportRates(sum(each.read for each in lowest), sum(each.write for each in lowest)))
    if draft is not None:
        yield draft


def _iostat_rows(
    numbered: Sequence[Line], start: int, columns: Sequence[str]
) -> Iterator[tuple[int, str, ReportRates]]:
    """Yield (line, device, rates) for each row of the report."""
    read = next(name for name in columns if name in _READ)
    write = next((name for name in columns if name in _WRITE), None)
    for number, line in numbered[start:]:
        words = line.split()
        if len(words) < len(columns) or not all(_NUMBER.match(word) for word in words[1 : len(columns)]):
            return
        values = {name: float(word.replace(",", ".")) for name, word in zip(columns[1:], words[1:], strict=False)}
        write_rate = values[write] * _WRITE[write] if write else 0.0
        yield number, words[0], ReportRates(values[read] * _READ[read], write_rate)


def _skips_first(numbered: Sequence[Line], place: int) -> bool:
    """True if the first report must be skipped, because the 8 lines above it do not contain an `iostat -y` command."""
    return not any(_CALLED_WITH_Y.search(line) for _, line in numbered[max(0, place - 8) : place])
