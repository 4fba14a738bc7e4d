"""Read headers of two lines: the metrics in the first, and the compared items in the second, repeated for each metric.

Example: `IOPS | BW` above `bs | rw | ext4 | xfs | ext4 | xfs`.
"""

from poolproof.foreign.audit.table_columns import column_of
from poolproof.foreign.audit.table_context import TextJobs
from poolproof.foreign.audit.table_layout import cells_of, separator_of
from poolproof.foreign.audit.table_rows import TableHeader, header_of

_MOST_NAMED = 4
_FEWEST = 2


def grouped_header(first: str, second: str, heading: str, jobs: TextJobs) -> TableHeader | None:
    """Return the header that two lines form, or None if they form none."""
    separator = separator_of(second)
    metrics = [cell for cell in cells_of(first, separator) if cell]
    is_grouped = len(metrics) >= _FEWEST and all(column_of(cell).has_values for cell in metrics)
    names = cells_of(second, separator) if is_grouped else []
    for start in range(1, min(len(names), _MOST_NAMED + 1)):
        size, left = divmod(len(names) - start, len(metrics))
        compared = names[start : start + size]
        if not left and len(set(compared)) == size >= _FEWEST and names[start:] == compared * len(metrics):
            each = [f"{name.replace(' ', '-')} {metric}" for metric in metrics for name in compared]
            return header_of(separator, [*names[:start], *each], heading, jobs)
    return None
