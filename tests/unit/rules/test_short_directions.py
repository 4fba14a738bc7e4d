"""Reads or writes that ended long before those of another section."""

import pytest

from poolproof.evidence.model import Evidence
from poolproof.load.outcome import Outcome, PartOutcome
from poolproof.metrics import MetricId
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.verdicts import Verdict
from tests.unit.rules.making import EXT4, KIB, MIB, account, direction, jobs, leaf

_READER = "rw=randread bs=4k size=64m direct=1 time_based=1 runtime=2"


def _verdicts(writer: str, seconds: float, *metrics: MetricId) -> list[Verdict]:
    """Return the verdicts on a run in which one section read for 2 s and another wrote 1 MiB."""
    read, write = direction(64 * MIB, 2.0, 4 * KIB), direction(MIB, seconds, 4 * KIB)
    outcome = Outcome("fio-3.33", (PartOutcome("a", read=read), PartOutcome("b", write=write)))
    disk = leaf(read_bytes=64 * MIB, read_ios=16384, write_bytes=MIB, drained_write_bytes=MIB, write_ios=256)
    evidence = Evidence(account(read=(64 * MIB, 64 * MIB), write=(MIB,) * 3), (disk,))
    found = judge(Case(jobs(_READER, f"rw=randwrite bs=4k direct=1 {writer}"), outcome, evidence, EXT4), "iops")
    return [found.verdicts.get(metric, found.verdict) for metric in metrics]


@pytest.mark.parametrize(
    ("writer", "seconds", "verdict"),
    [
        ("size=1m", 0.013, "suspect"),
        ("size=1m", 0.5, "sound"),
        ("size=64m io_size=1m", 0.5, "suspect"),
        ("size=64m io_size=1m", 1.5, "sound"),
    ],
)
def test_a_burst_of_one_direction_is_suspect(writer: str, seconds: float, verdict: Verdict) -> None:
    assert _verdicts(writer, seconds, "write_iops", "write_p50") == [verdict] * 2
    assert _verdicts(writer, seconds, "read_iops", "read_p99", "iops") == ["sound"] * 3
