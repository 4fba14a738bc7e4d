"""How long a load's threads waited for a processor: recorded samples, and a real thread that has to wait."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolproof.evidence.run_delay import RunDelays, parse_delays


def _line(thread: int, ran_s: float, waited_s: float) -> str:
    return f"/proc/9/task/{thread}/schedstat:{int(ran_s * 1e9)} {int(waited_s * 1e9)} 77\n"


def _share(*samples: str) -> float | None:
    delays = RunDelays(lambda: "")
    for at_s, text in enumerate(samples):
        delays.add(text, float(at_s))
    return delays.share


def test_a_thread_counts_by_the_time_that_it_wanted_to_run() -> None:
    watching = _line(9, 0.0, 0.0), _line(9, 0.001, 0.0), _line(9, 0.002, 0.0)
    job = _line(10, 5.0, 1.0), _line(10, 5.4, 1.25), _line(10, 5.8, 1.5)
    samples = [one + other for one, other in zip(watching, job, strict=True)]
    assert _share(*samples) == pytest.approx(0.25, rel=0.01)


def test_threads_that_were_seen_once_or_never_prove_nothing() -> None:
    assert _share() is None
    assert _share(_line(1, 1, 1)) is None
    assert _share(_line(1, 1, 1), _line(2, 5, 9)) is None
    assert _share("sh: cannot open\n", "/proc/9/task/1/schedstat:\n") is None


def test_threads_that_end_count_until_then() -> None:
    short, long = (_line(1, 0, 0), _line(1, 0.5, 0.5), ""), (_line(2, 0, 0), "", _line(2, 1.0, 1.0))
    assert _share(*(one + other for one, other in zip(short, long, strict=True))) == pytest.approx(0.5)


def test_a_thread_that_shares_its_processor_waits() -> None:
    processor = min(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{processor}}})\nprint(flush=True)\nwhile True: pass"
    pair = [subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for each in pair:
            assert each.stdout is not None
            each.stdout.readline()
        path = f"/proc/{pair[0].pid}/task/{pair[0].pid}/schedstat"

        def read() -> str:
            text = Path(path).read_text(encoding="ascii")
            return f"{path}:{text}"

        delays = RunDelays(read)
        for _ in range(3):
            delays.add(read(), time.monotonic())
            time.sleep(0.2)
    finally:
        for each in pair:
            each.kill()
            each.communicate()
    assert parse_delays(f"{path}:1 2 3\n") == {str(pair[0].pid): (1, 2)}
    assert delays.share is not None
    assert delays.share > 0.2
