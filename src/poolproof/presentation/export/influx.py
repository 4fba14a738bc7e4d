"""A run as InfluxDB line protocol, for `influx -import`, `curl --data-binary` and Telegraf.

Results that count are in the measurement `poolproof`, all others in `poolproof_rejected`, so that no mean mixes them.
Source: the InfluxDB 1.x line protocol reference.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from poolproof.metrics import COLUMNS
from poolproof.presentation.export.rows import ExportRow, ExportTable

MEASUREMENT = "poolproof"
REJECTED_MEASUREMENT = "poolproof_rejected"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def influx_text(table: ExportTable) -> str:
    """Return one line for each cell; its time is when its last trial began, in nanoseconds since 1970."""
    return "".join(f"{_line(row, table)}\n" for row in table.rows)


def _line(row: ExportRow, table: ExportTable) -> str:
    tags = {
        "run": table.run,
        "campaign": table.campaign.name,
        "layout": row.layout,
        "workload": row.workload,
        **row.settings,
        "verdict": row.verdict,
    }
    name = MEASUREMENT if row.counts else REJECTED_MEASUREMENT
    written = "".join(f",{_tag(key)}={_tag(value)}" for key, value in sorted(tags.items()) if value)
    fields = ",".join(f"{key}={value}" for key, value in _fields(row).items())
    return f"{name}{written} {fields} {_nanoseconds(row, table)}"


def _fields(row: ExportRow) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name in COLUMNS:
        interval = row.interval(name)
        bounds = {"": interval.mean, "_low": interval.low, "_high": interval.high} if interval else {}
        found |= {f"{name}{bound}": repr(float(value)) for bound, value in bounds.items() if value is not None}
    if row.limit:
        found |= {"limit_share": repr(row.limit.share), "limit_bound": _string(row.limit.bound)}
    if row.settled is not None:
        found["settled"] = "true" if row.settled else "false"
    found["trials"] = f"{row.trials}i"
    if row.reasons:
        found |= {"rule": _string(row.reasons[0].rule), "why": _string(row.reasons[0].message)}
    return found


def _tag(text: str) -> str:
    """Return a text as a tag: it cannot contain a line break, and a final backslash would escape the next character."""
    plain = re.sub(r"[\x00-\x1f]+", " ", text).replace("\\", "/")
    return re.sub(r"([,= ])", r"\\\1", plain)


def _string(text: str) -> str:
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _nanoseconds(row: ExportRow, table: ExportTable) -> int:
    try:
        since = datetime.fromisoformat(row.measured_at or table.record.begun_at) - _EPOCH
    except (ValueError, TypeError):
        return 0
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
