"""The window that a load's results cover. It excludes the ramp, whose end no counter shows.

When the ramp ends, the load generator restarts its clock. Each of its reports contains the time of the report and the
time since then, so the difference between the two is the end of the ramp. A report may be late, but never early. The
final report is always late, because the generator first waits for all jobs to end: fio 3.33 writes it 10 to 60 ms after
the last I/O, which is 1% to 6% of a trial of 1 s. The reports that fio writes while it runs are 0 to 5 ms late. The
earliest difference is therefore the best one.
"""

from collections.abc import Sequence
from dataclasses import replace

from poolproof.evidence.account import Window
from poolproof.evidence.counters import CounterReading, reading_at
from poolproof.load.generator import Status
from poolproof.load.merge import measured_ms
from poolproof.load.model import Load
from poolproof.load.outcome import Outcome

_CLOCK_ERROR_S = 0.05


def measured_window(
    window: Window,
    samples: Sequence[CounterReading],
    statuses: Sequence[Status],
    load: Load,
    result: Outcome,
    clock_ahead_s: float,
) -> Window:
    """Return the window that the load generator's results cover. It excludes the ramp.

    The window begins when the first job's ramp ends. The counters at that moment are interpolated between two samples.

    `window`: the whole run of the load generator, by the samples' clock.
    `statuses`: the generator's reports after the ramp, by the samples' clock.
    `clock_ahead_s`: the number of seconds by which the wall clock was ahead of the samples' clock when the load ended.
    """
    if load.ramp_s == 0 or result.timestamp_ms is None or not samples:
        return window
    ran_s = measured_ms(result) / 1000
    latest_s = _ended_at_s(window, result.timestamp_ms / 1000 - clock_ahead_s, ran_s) - ran_s
    delay_s = _first_delay_s(load, result)
    earliest_s = max(window.start.at_s + delay_s, latest_s - delay_s / 2 if delay_s else 0.0)
    reported = [begins_s for each in statuses if (begins_s := each.at_s - each.ran_s) >= earliest_s]
    return replace(window, start=reading_at(samples, min((*reported, latest_s))))


def _ended_at_s(window: Window, reported_at_s: float, ran_s: float) -> float:
    """Return the time of the last report, even if the host's wall clock was changed meanwhile.

    The report is the last thing that the load generator writes. If its timestamp is not between the generator's start
    and end, the wall clock was changed. The best estimate is then the time at which the generator ended.
    """
    possible = window.start.at_s + ran_s - _CLOCK_ERROR_S <= reported_at_s <= window.end.at_s + _CLOCK_ERROR_S
    return reported_at_s if possible else window.end.at_s


def _first_delay_s(load: Load, result: Outcome) -> float:
    """Return the shortest time from the generator's start to the end of a job's ramp, in seconds.

    By this time, the clock of a report that was written during a ramp started too early.
    """
    delays = [part.delay_ms / 1000 for part in result.parts if part.delay_ms is not None]
    return min(delays, default=load.ramp_s)
