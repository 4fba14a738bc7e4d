"""By how much a host's wall clock is ahead of the clock of its readings."""

import time
from collections.abc import Sequence

import pytest

from poolproof.errors import CommandError
from poolproof.hosts.clock import clock_ahead_s
from poolproof.hosts.local import HERE, LocalHost
from poolproof.process import Completed


class Set(LocalHost):
    """This machine after somebody has set its clock, by `step_s` seconds.

    `form`: the format in which its `date` prints the time.
    """

    def __init__(self, step_s: float, form: str = "{time:.9f}") -> None:
        self.step_s, self.form = step_s, form

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert argv[0] == "date" and timeout_s and stdin is None and check
        at_s = time.time() + self.step_s
        return Completed(tuple(argv), 0, self.form.format(time=at_s, whole=int(at_s)) + "\n", "", 0.0)


class WithoutDate(LocalHost):
    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        raise CommandError(f"no {argv[0]} {timeout_s} {stdin} {check}")


@pytest.mark.parametrize("step_s", [-3600.0, -0.5, 0.5, 300.0])
def test_a_step_of_the_clock_is_seen(step_s: float) -> None:
    assert clock_ahead_s(Set(step_s)) == pytest.approx(step_s, abs=0.2)
    assert clock_ahead_s(Set(step_s), HERE) == pytest.approx(step_s, abs=0.2), "another host dates the counters"


def test_a_clock_that_was_not_set_is_not_ahead() -> None:
    assert clock_ahead_s(HERE) == 0.0
    assert clock_ahead_s(Set(0.0)) == 0.0


def test_a_date_in_whole_seconds_is_exact_to_a_second() -> None:
    """Some versions of busybox print unsupported parts unchanged, as in `1795305652.%N`."""
    whole = "{whole}.%N"
    assert clock_ahead_s(Set(0.0, whole)) == 0.0
    assert clock_ahead_s(Set(60.0, whole)) == pytest.approx(60.0, abs=1.2)


def test_a_host_without_date_is_not_ahead() -> None:
    assert clock_ahead_s(WithoutDate()) == 0.0
    assert clock_ahead_s(Set(0.0, "no idea")) == 0.0
