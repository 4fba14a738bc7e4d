"""The names of figures wherever runs leave poolproof: as columns, fields and labels, with their units."""

from collections.abc import Mapping

FIGURES: Mapping[str, str] = {
    "iops": "iops",
    "read_iops": "read_iops",
    "write_iops": "write_iops",
    "bandwidth_bytes_per_s": "bandwidth_bytes",
    "read_bandwidth_bytes_per_s": "read_bandwidth_bytes",
    "write_bandwidth_bytes_per_s": "write_bandwidth_bytes",
    "p50_ns": "p50_ns",
    "p99_ns": "p99_ns",
    "p999_ns": "p999_ns",
    "sync_p50_ns": "sync_p50_ns",
    "sync_p99_ns": "sync_p99_ns",
}
"""The figures of a cell by their column, each with the field of `Figures` that it is the mean of."""

REJECTED = "rejected_"
"""What a figure's column is called where the figure is refuted or failed: never the column of those that count."""
