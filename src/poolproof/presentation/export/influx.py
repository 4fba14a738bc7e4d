"""Export a run as InfluxDB line protocol, for `influx -import`, `curl --data-binary` and Telegraf.

Valid results are written to the measurement `poolproof`, and rejected ones to `poolproof_rejected`, so that no average
can mix the two.

Source: the InfluxDB 1.x line protocol reference.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from poolproof.metrics import COLUMNS, metric_of
from poolproof.presentation.export.rows import ExportRow, ExportTable
from poolproof.presentation.terminal.visible import visible
from poolproof.statistics.intervals import Interval
from poolproof.verdicts import counts, worst

MEASUREMENT = "poolproof"
REJECTED_MEASUREMENT = "poolproof_rejected"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def influx_text(table: ExportTable) -> str:
    """Return the lines for all cells.

    Each line's timestamp is the start of the cell's last trial, in nanoseconds since 1970.
    """
    return "".join(f"{line}\n" for row in table.rows for line in _lines(row, table))


def _lines(row: ExportRow, table: ExportTable) -> Iterator[str]:
    """Yield a line with the cell's valid results and a line with its rejected results, if it has any."""
    for name, intervals, is_own in (
        (MEASUREMENT, row.figures, row.counts),
        (REJECTED_MEASUREMENT, row.rejected, not row.counts),
    ):
        if intervals or is_own:
            others = (other.verdict for other in row.cell.other_verdicts if counts(other.verdict) is not row.counts)
            tags = table.labels(row) | {"verdict": row.own.verdict if is_own else worst(others)}
            tags |= {"emulated": " ".join(row.cell.emulated)}
            written = "".join(f",{_tag(key)}={_tag(value)}" for key, value in sorted(tags.items()) if value)
            values = _values(intervals) | _too_few(row, intervals) | _other_verdicts(row, intervals, tags["verdict"])
            values |= _facts(row) if is_own else {}
            fields = ",".join(f"{key}={value}" for key, value in values.items())
            yield f"{name}{written} {fields} {_time_ns(row, table)}"


def _values(intervals: Mapping[str, Interval]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in COLUMNS:
        if interval := intervals.get(name):
            bounds = {"": interval.mean, "_low": interval.low, "_high": interval.high}
            found |= {f"{name}{end}": repr(float(value)) for end, value in bounds.items() if value is not None}
    return found


def _too_few(row: ExportRow, intervals: Mapping[str, Interval]) -> dict[str, str]:
    """Return a field that lists those of these results that are percentiles with too few events.

    Without such percentiles, the mapping is empty.
    """
    columns = [column for metric in row.cell.too_few if (column := metric_of(metric).column) in intervals]
    return {"too_few": _string(" ".join(columns))} if columns else {}


def _other_verdicts(row: ExportRow, intervals: Mapping[str, Interval], verdict: str) -> dict[str, str]:
    """Return a field that lists the results whose verdict differs from `verdict`.

    If all verdicts are the same, the mapping is empty.
    """
    found = {name: row.other_verdicts.get(name, row.own.verdict) for name in intervals}
    others = [f"{name}={each}" for name, each in found.items() if each != verdict]
    return {"other_verdicts": _string(" ".join(others))} if others else {}


def _facts(row: ExportRow) -> dict[str, str]:
    found: dict[str, str] = {}
    if row.limit:
        found |= {"limit_share": repr(row.limit.share), "limit_bound": _string(row.limit.bound)}
    if row.settled is not None:
        found["settled"] = "true" if row.settled else "false"
    found["trials"] = f"{len(row.cell.trials)}i"
    if row.reasons:
        found |= {"rule": _string(row.reasons[0].rule), "why": _string(row.reasons[0].message)}
    return found


def _tag(text: str) -> str:
    """Escape a tag key or value.

    Line breaks are replaced with spaces, because tags cannot contain them. Backslashes are replaced with slashes,
    because a trailing backslash would escape the next character.
    """
    plain = visible(re.sub(r"[\x00-\x1f]+", " ", text)).replace("\\", "/")
    return re.sub(r"([,= ])", r"\\\1", plain)


def _string(text: str) -> str:
    return '"' + visible(" ".join(text.split())).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _time_ns(row: ExportRow, table: ExportTable) -> int:
    measured_at = table.measured_at(row)
    if measured_at is None:
        return 0
    since = measured_at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
