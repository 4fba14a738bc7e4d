"""latency_target: fio lowers the queue depth until the target is met, so the depth shows no limit of submission."""

import pytest

from poolproof.load.outcome import Latency
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, direction, jobs, said


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("latency_target=500us latency_window=200ms", "fio chooses the depth"),
        ("", "submission or fio itself was the limit"),
        ("latency_target=0", "submission or fio itself was the limit"),
    ],
)
def test_a_queue_that_is_not_full_has_the_cause_that_the_job_shows(options: str, why: str) -> None:
    latency = Latency(samples=4_000, mean_ns=500_000)
    read = direction(4_000 * 4096, 2.0, clat=latency, lat=latency)
    load = jobs(f"rw=randread bs=4k size=64m direct=1 ioengine=libaio iodepth=64 {options}")
    found = judge(Case(load, said(read=read), None, EXT4), "iops").findings
    assert why in next(finding.message for finding in found if finding.rule == "littles-law")
