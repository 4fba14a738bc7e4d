"""Errors in the kernel log name their disk, and a disk that becomes slower during a trial is noticed."""

from collections.abc import Sequence

import pytest

from poolproof import process
from poolproof.devices.model import Leaf
from poolproof.errors import BuildError
from poolproof.evidence.counters import CounterReading, Counters
from poolproof.facts.block import Below
from poolproof.hosts.local import LocalHost
from poolproof.measure.disk_faults import check_layers, disk_errors, last_error_s, layer_faults, slowed_disks
from poolproof.provision.stalled import DiskStalled
from tests.golden import Message

from ..layers.ground import plan
from ..layers.recorded import RecordedHost

# dmesg of Linux 6.18 and of Linux 5.10; the second line is older than the trial
_LOG = """\
[14452.255946] I/O error, dev loop1, sector 330242 op 0x0:(READ) flags 0x8800 phys_seg 4 prio class 2
[  100.000001] I/O error, dev loop2, sector 8 op 0x1:(WRITE) flags 0x8800 phys_seg 4 prio class 2
[14452.255949] I/O error, dev loop1, sector 262156 op 0x1:(WRITE) flags 0x83700 phys_seg 1 prio class 2
[14453.000000] blk_update_request: critical medium error, dev sda, sector 4711 op 0x0:(READ) flags 0x0 phys_seg 1
[14453.100000] Buffer I/O error on dev sdz, logical block 0, async page read
[14454.000000] end_request: I/O error, dev nvme0n1, sector 99
"""
_BELOW = Below("sda", "/sys/class/block/sda2/stat")
_LEAVES = (
    Leaf("a", "/dev/loop1", "/sys/class/block/loop1/stat", _BELOW),
    Leaf("b", "/dev/loop2", "/sys/class/block/loop2/stat", _BELOW),
    Leaf("c", "/dev/nvme0n1p3", "/sys/class/block/nvme0n1p3/stat"),
)

_NODE = plan("md raid1 a b").volume.path
_DEGRADED: dict[tuple[str, ...], str] = {
    ("sh", "-c", 'cd "/sys/block/$(basename "$(readlink -f "$0")")/md" && cat degraded', _NODE): "1\n"
}


class Logged(LocalHost):
    """This machine, with a different kernel log."""

    def __init__(self, log: str | None) -> None:
        self._log = log

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        if argv[0] != "dmesg":
            return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)
        if self._log is None:
            return process.Completed(tuple(argv), 1, "", "dmesg: read kernel buffer failed: Operation not permitted", 0)
        return process.Completed(tuple(argv), 0, self._log, "", 0)


def test_each_disk_with_errors_is_named_once(message: Message) -> None:
    found = disk_errors(Logged(_LOG), _LEAVES, 14000.0, failed=True)
    for finding in found:
        message(finding.message)
    facts = (("a (/dev/loop1)", " 2 errors", "330242 (READ)"), ("c (/dev/nvme0n1p3)", " 99"), ("sda, which",))
    assert len(found) == len(facts)
    for finding, names in zip(found, facts, strict=True):
        assert all(name in finding.message for name in names)
    assert {(finding.rule, finding.effect) for finding in found} == {("work-done", "fails")}


def test_errors_that_the_layout_survived_are_a_note() -> None:
    assert {finding.effect for finding in disk_errors(Logged(_LOG), _LEAVES, 14000.0, failed=False)} == {"notes"}


def test_the_errors_of_a_disk_whose_program_was_ended_are_left_out() -> None:
    cause = DiskStalled("nbdkit stopped responding", "loop1")
    found = disk_errors(Logged(_LOG), _LEAVES, 14000.0, failed=True, cause=cause)
    assert [finding.message.split(" returned")[0] for finding in found] == [
        "the disk c (/dev/nvme0n1p3)",
        "the disk sda, which stores the images,",
    ]


@pytest.mark.parametrize("log", [None, "", "[14452.0] error, dev , sector\n[x] I/O error, dev loop1, sector 1\n"])
def test_a_log_without_errors_of_the_disks_says_nothing(log: str | None) -> None:
    assert disk_errors(Logged(log), _LEAVES, 14000.0, failed=True) == ()


def test_the_errors_before_a_trial_do_not_count() -> None:
    """The disk of the previous layout may have had the same loop device, a tenth of a second before."""
    since_s = last_error_s(Logged(_LOG))
    assert since_s == 14454.0
    assert disk_errors(Logged(_LOG), _LEAVES, since_s, failed=True) == ()
    later = f"{_LOG}[14454.000001] I/O error, dev loop2, sector 16 op 0x1:(WRITE) flags 0x83700 phys_seg 1\n"
    (finding,) = disk_errors(Logged(later), _LEAVES, since_s, failed=True)
    assert finding.message.startswith("the disk b (/dev/loop2) returned an error for sector 16 (WRITE)")


def test_a_log_that_cannot_be_read_shows_no_errors() -> None:
    assert last_error_s(Logged("[1.0] usb 1-1: new device\n")) == 0.0
    assert last_error_s(Logged(None)) == float("inf")
    assert disk_errors(Logged(_LOG), _LEAVES, float("inf"), failed=True) == ()


def _readings(*per_second: tuple[int, int, int]) -> list[CounterReading]:
    """Return one reading per second.

    `per_second`: the number of reads, the bytes and the busy time in milliseconds of each second.
    """
    total, found = Counters(), [CounterReading(0.0, (Counters(),))]
    for second, (ios, size, busy_ms) in enumerate(per_second, start=1):
        total = Counters(total.read_ios + ios, total.read_bytes + size, busy_ms=total.busy_ms + busy_ms)
        found.append(CounterReading(float(second), (total,)))
    return found


_FAST, _SLOW = (1000, 1000 << 14, 300), (50, 50 << 14, 1000)


def test_a_disk_that_slows_down_is_named(message: Message) -> None:
    (finding,) = slowed_disks(_LEAVES[:1], _readings(*[_FAST] * 3, *[_SLOW] * 3), 0.0, 6.0)
    message(finding.message)
    assert finding.message.startswith("a ")
    assert "300 µs in the first third" in finding.message
    assert (finding.rule, finding.effect) == ("slow-leaf", "notes")


@pytest.mark.parametrize(
    "seconds",
    [
        [_FAST] * 6,
        [_SLOW] * 6,
        [_SLOW] * 3 + [_FAST] * 3,
        [_FAST] * 3 + [(1, 1 << 14, 1000)] * 3,  # too few requests to judge
        [_FAST] * 3 + [(50, 50 << 14, 30)] * 3,  # little to do
        [(1000, 1000 << 12, 300)] * 3 + [(50, 50 << 20, 1000)] * 3,  # larger requests
        [],
    ],
)
def test_other_changes_are_not_blamed_on_the_disk(seconds: list[tuple[int, int, int]]) -> None:
    assert slowed_disks(_LEAVES[:1], _readings(*seconds), 0.0, float(len(seconds))) == []


def test_an_array_that_lost_a_disk_fails_a_failed_trial_and_is_a_note_on_one_with_figures() -> None:
    tree, host = plan("md raid1 a b"), RecordedHost(_DEGRADED)
    (failed,), (note,) = (layer_faults(host, tree, failed=failed) for failed in (True, False))
    assert (failed.effect, note.effect) == ("fails", "notes")
    with pytest.raises(BuildError, match=r" 1 of its disks"):
        check_layers(host, tree)
    check_layers(RecordedHost(), tree)
