"""Which metrics of jobs that wait for each other (flow) are doubted."""

import pytest

from poolproof.load.outcome import Outcome, PartOutcome
from poolproof.metrics import METRICS
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, direction, jobs

_READS = "rw=randread bs=4k size=1g direct=1 ioengine=libaio flow=1"


def _doubted(*options: str) -> set[str]:
    outcome = Outcome("fio-3.33", tuple(PartOutcome(name, read=direction(4_000_000, 10.0)) for name in "ab"))
    found = judge(Case(jobs(*options), outcome, target=EXT4)).findings
    return {metric for each in found if each.rule == "flow-ratio" for metric in each.metrics}


def test_at_depth_1_only_the_rates_are_doubted() -> None:
    assert _doubted(_READS, _READS) == {metric.id for metric in METRICS if metric.is_rate}


@pytest.mark.parametrize("sleep", ["", "flow_sleep=1000"])
def test_a_queue_that_fio_leaves_alone_or_empties_has_other_latencies(sleep: str) -> None:
    """Measured: 150 ms instead of 0.1 ms for I/Os that had long finished."""
    doubted = _doubted(f"{_READS} iodepth=16 {sleep}", _READS)
    assert {"iops", "p50", "read_p99"} <= doubted
    assert "write_p99" not in doubted
    assert "read_p99" not in _doubted(f"{_READS} iodepth=16 io_submit_mode=offload", _READS)
