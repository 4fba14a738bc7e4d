"""Measure every claim, and print a line for each: `python -m benchmarks`. Exits with 1 if a limit is exceeded."""

import contextlib
import os
from collections.abc import Iterator

from benchmarks import campaign_overhead, importing, querying, replay, report, sampling_cost, start_up
from benchmarks.arguments import arguments
from benchmarks.result import Result


def _results() -> Iterator[Result]:
    yield from start_up.measure()
    yield from importing.measure()
    yield from querying.measure()
    yield from report.measure()
    yield from replay.measure()
    yield sampling_cost.measure()
    yield campaign_overhead.measure()


def _print_all() -> bool:
    """Print a line for each claim as soon as it has been measured.

    Return True if all claims are within their limits.
    """
    kept = []
    for result in _results():
        print(result.line(), flush=True)
        kept.append(result.is_ok)
    return all(kept)


if __name__ == "__main__":
    arguments(__doc__)
    with contextlib.suppress(PermissionError):  # root only: other programs then disturb the measurement less
        os.nice(-10)
    raise SystemExit(0 if _print_all() else 1)
