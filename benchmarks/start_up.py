"""Measure the time and the memory that `poolproof --help` takes."""

import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.result import Result

_TRIES = 11
_LIMIT_S = 0.25
_LIMIT_MB = 60.0
_TIME_LIMIT_S = 30.0


def measure() -> list[Result]:
    """Return the shortest wall time and the largest memory of several starts.

    The shortest time is used because other work on the machine lengthens the others.
    """
    argv = [str(Path(sys.executable).with_name("poolproof")), "--help"]
    seconds, peaks = zip(*(_start(argv) for _ in range(_TRIES)), strict=True)
    detail = f"the fastest of {_TRIES}; median {statistics.median(seconds):.3f} s, slowest {max(seconds):.3f} s"
    return [
        Result("time of poolproof --help", min(seconds), _LIMIT_S, " s", detail),
        Result("memory of poolproof --help", max(peaks), _LIMIT_MB, " MB", "the largest resident set"),
    ]


_REPORT = """
import resource, subprocess, sys, time
begun = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True, timeout=30)
print(time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def _start(argv: list[str]) -> tuple[float, float]:
    """Return the time in seconds and the memory in megabytes (10^6 bytes) of one start in a separate process."""
    done = subprocess.run(
        [sys.executable, "-c", _REPORT, *argv], capture_output=True, text=True, check=True, timeout=_TIME_LIMIT_S
    )
    seconds, kibibytes = done.stdout.split()
    return float(seconds), float(kibibytes) * 1024 / 1e6
