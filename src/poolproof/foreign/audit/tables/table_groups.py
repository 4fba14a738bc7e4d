"""Read headers of two lines, with groups of columns.

Either the first line has the metrics, and the second one the compared items, repeated for each metric: `IOPS | BW`
above `bs | rw | ext4 | xfs | ext4 | xfs`. Or the first line has the tests, and the second one the metrics, repeated for
each test: `4k | randread | 4k | randwrite` above `IOPS | BW | IOPS | BW`.
"""

from dataclasses import replace

from poolproof.foreign.audit.directions import named_direction
from poolproof.foreign.audit.tables.table_columns import column_of
from poolproof.foreign.audit.tables.table_context import TextJobs
from poolproof.foreign.audit.tables.table_layout import cells_of, separator_of
from poolproof.foreign.audit.tables.table_rows import TableHeader, header_of

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


def tests_above_metrics(first: str, second: str, heading: str, jobs: TextJobs) -> TableHeader | None:
    """Return the header that a line with tests and a line with repeated metrics form, or None if they form none."""
    separator = separator_of(second)
    names, metrics = cells_of(first, separator), cells_of(second, separator)
    columns = [column_of(cell) for cell in metrics]
    if separator != "|" or len(names) != len(metrics) or metrics[0] or not all(each.has_values for each in columns[1:]):
        return None
    size = len(set(metrics[1:]))
    times, left = divmod(len(metrics) - 1, size)
    if left or times < _FEWEST or metrics[1:] != metrics[1 : size + 1] * times:
        return None
    tests = [" ".join(dict.fromkeys(filter(None, names[at : at + size]))) for at in range(1, len(names), size)]
    if len(set(tests)) != times or not all(tests):
        return None
    header = header_of(separator, ["", *metrics[1:]], heading, jobs)
    if header is None:
        return None
    grouped = [
        replace(column, direction=named_direction(test) or column.direction, test=test)
        for test, column in zip((test for test in tests for _ in range(size)), columns[1:], strict=True)
    ]
    return replace(header, cells=(names[0], *metrics[1:]), columns=(header.columns[0], *grouped))
