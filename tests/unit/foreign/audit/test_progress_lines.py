"""The line that fio updates while it runs, as the only result in a text."""

import pytest

from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

_MIB = 1024**2
_HEAD = """\
w: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process
"""
_RESULT = """\
w: (groupid=0, jobs=1): err= 0: pid=77: Fri Jan  7 08:00:00 2022
  write: IOPS=99, BW=99.0MiB/s (104MB/s)(990MiB/10001msec); 0 zone resets
"""


def _audited(text: str) -> tuple[Audited, ...]:
    return audit_text("post", text, Context())


@pytest.mark.parametrize(
    ("line", "rates"),
    [
        ("Jobs: 1 (f=1): [W(1)][10.9%][w=120MiB/s][w=120 IOPS][eta 01h:17m:44s]", {"write": (120.0, 120 * _MIB)}),
        (
            "Jobs: 4 (f=4): [m(4)][7.1%][r=16KiB/s,w=8KiB/s][r=4,w=2 IOPS][eta 33h:05m:57s]",
            {"read": (4.0, 16384), "write": (2.0, 8192)},
        ),
        ("Jobs: 1 (f=1): [R(1)][9.0%][r=1.5GiB/s,w=0KiB/s][r=1.5k,w=0 IOPS][eta 1m]", {"read": (1500.0, 1536 * _MIB)}),
        (
            "Jobs: 1 (f=1): [w(1)] [48.6% done] [0KB/3576KB/0KB /s] [0/894/0 iops] [eta 11m:18s]",
            {"write": (894.0, 3661824)},
        ),
        (
            "Jobs: 3 (f=3): [___w__] [1.8% done] [0K/344K/0K /s] [0 /86 /0  iops] [eta 20m:19s]",
            {"write": (86.0, 352256)},
        ),
        ("Jobs: 1 (f=1): [r] [50.0% done] [2.1M/0K /s] [533 /0  iops] [eta 00m:30s]", {"read": (533.0, 2.1 * _MIB)}),
    ],
)
def test_the_rates_of_a_moment(line: str, rates: dict[str, tuple[float, float]]) -> None:
    (found,) = _audited(f"It was slow:\n{line}\n^C\n")
    directions = found.figures.directions
    assert {kind: each.iops for kind, each in directions.items()} == {kind: iops for kind, (iops, _) in rates.items()}
    assert all(directions[kind].bandwidth_bytes == pytest.approx(rate) for kind, (_, rate) in rates.items())
    assert found.verdict == "unproven"
    assert "the mean of the whole run: this is the rate of one moment" in found.missing


def test_the_last_line_of_each_run_counts_and_a_rate_of_0_does_not() -> None:
    moment = "Jobs: 1 (f=1): [W(1)][{0}.0%][w={0}MiB/s][w={0} IOPS][eta 01m:00s]"
    first = "\r".join(moment.format(rate) for rate in (10, 20, 30))
    second = "\n".join((moment.format(40), moment.format(50), moment.format(0)))
    found = _audited(f"{_HEAD}{first}\n{_HEAD}{second}\n")
    assert [each.figures.directions["write"].iops for each in found] == [30.0, 50.0]
    assert [(each.line, each.job) for each in found] == [(4, "w"), (9, "w")]


def test_a_text_with_a_result_has_no_other_rates() -> None:
    (found,) = _audited(f"{_HEAD}Jobs: 1 (f=1): [W(1)][90.0%][w=120MiB/s][w=120 IOPS][eta 00m:01s]\n{_RESULT}")
    assert found.figures.directions["write"].iops == 99.0


def test_a_moment_is_never_refuted() -> None:
    text = f"{_HEAD}Jobs: 1 (f=1): [W(1)][90.0%][w=9000MiB/s][w=9000 IOPS][eta 00m:01s]"
    (found,) = audit_text("post", text, read_context(devices=["1x nvme 3.2GB/s"]))
    assert found.verdict == "suspect"


def test_a_moment_is_not_judged_by_what_is_left_at_the_end() -> None:
    command = "$ fio --name=w --filename=/dev/sdb --rw=write --bs=1m --size=900g\n"
    line = "Jobs: 1 (f=1): [W(1)][90.0%][w=40MiB/s][w=40 IOPS][eta 00m:01s]\n"
    (moment,) = _audited(f"{command}{_HEAD}{line}")
    (whole,) = _audited(f"{command}{_HEAD}{line}{_RESULT}")
    effects = [
        {each.effect for each in found.findings if each.rule == "write-without-sync"} for found in (moment, whole)
    ]
    assert effects == [{"notes"}, {"suspects"}]
