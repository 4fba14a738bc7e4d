"""What a fault module contains, and what one fault reports."""

import random
from dataclasses import dataclass
from typing import Protocol

from tests.loop.testbed import Testbed

CAMPAIGNS = {
    "directory": "layouts: {one: 'dir {data}', two: 'dir {data}'}",
    "ext4": "devices: {a: {file: 512M}}\nlayouts: {one: a | ext4, two: a | xfs}",
    "btrfs": "devices: {a: {file: 512M}, b: {file: 512M}}\nlayouts: {one: btrfs raid1 a b}",
    "emulated": "devices: {a: {emulate: nvme, size: 256M}}\nlayouts: {one: a | ext4}",
}
WORKLOADS = """
workloads:
  reads: {rw: randread, bs: 16k, size: 16m, iodepth: 4}
measure: {trials: 1, time: 500ms, seed: 7}
"""


@dataclass(frozen=True)
class Outcome:
    """What one injection showed. `noticed_s` is the time in seconds until poolproof had ended or cleaned up.

    `kind` is the variant of the fault; empty if the fault came too late. `why` says what was wrong.
    """

    leaks: int
    foreign_bytes: int
    lost_trials: int
    noticed_s: float
    why: str = ""
    kind: str = "-"

    @property
    def survived(self) -> bool:
        """True if nothing was left, written or lost."""
        return not (self.leaks or self.foreign_bytes or self.lost_trials or self.why)


class Fault(Protocol):
    """A module of this package. The random numbers are seeded, so that a failure can be repeated."""

    def inject(self, testbed: Testbed, chance: random.Random) -> None:
        """Start a run and do the harm."""

    def expect(self, testbed: Testbed, chance: random.Random) -> Outcome:
        """Check what poolproof did."""

    def clean(self, testbed: Testbed) -> None:
        """Remove what the fault itself made."""
