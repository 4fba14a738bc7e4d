"""latency_target and rate_iops: fio shortens the queue, so its length shows no limit of submission."""

import pytest

from poolproof.load.outcome import Latency
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.rules.quoted import Quoted
from tests.unit.rules.making import EXT4, direction, jobs, said


def _notes(options: str, iops: int = 4_000) -> dict[str, str]:
    """Return the notes on 2 s of reads with two I/Os in flight, although the job allows 64."""
    latency = Latency(samples=2 * iops, mean_ns=2e9 / iops)
    read = direction(2 * iops * 4096, 2.0, clat=latency, lat=latency)
    load = jobs(f"rw=randread bs=4k size=64m direct=1 ioengine=libaio iodepth=64 {options}")
    found = judge(Case(load, said(read=read), None, EXT4), "iops").findings
    return {finding.rule: finding.message for finding in found if finding.effect == "notes"}


@pytest.mark.parametrize(
    ("options", "rule", "why"),
    [
        ("latency_target=500us latency_window=200ms", "chosen-depth", "2 of 64 reads were in flight"),
        ("", "littles-law", "submission or fio itself was the limit"),
        ("latency_target=0", "littles-law", "submission or fio itself was the limit"),
        ("rate_iops=4000", "littles-law", "before fio waits for rate or rate_iops"),
        ("rate=16m io_submit_mode=offload", "littles-law", "before fio waits for rate or rate_iops"),
    ],
)
def test_a_queue_that_is_not_full_has_the_cause_that_the_job_shows(options: str, rule: str, why: str) -> None:
    notes = _notes(options)
    assert why in notes[rule] and not ({"chosen-depth", "littles-law"} - {rule}) & notes.keys()


def test_a_full_queue_with_a_limited_rate_has_no_note() -> None:
    latency = Latency(samples=8_000, mean_ns=16e6)
    read = direction(8_000 * 4096, 2.0, clat=latency, lat=latency)
    load = jobs("rw=randread bs=4k size=64m direct=1 ioengine=libaio iodepth=64 rate_iops=9000")
    found = judge(Case(load, said(read=read), None, EXT4), "iops").findings
    assert not [finding for finding in found if finding.rule == "littles-law"]


@pytest.mark.parametrize(
    ("options", "quoted", "effect", "words"),
    [
        ("", None, "fails", "something ended it early"),
        ("latency_target=20ms", None, "fails", "latency_target ends it as soon as it has found the queue depth"),
        ("latency_target=20ms latency_run=1", None, "fails", "something ended it early"),
        ("latency_target=20ms", Quoted(), "notes", "latency_target ends it as soon as it has found the queue depth"),
        ("", Quoted(), "fails", "something ended it early"),
    ],
)
def test_fio_ends_when_it_has_found_the_queue_depth(
    options: str, quoted: Quoted | None, effect: str, words: str
) -> None:
    """With fio 3.33 and latency_target=20ms, a job with runtime=1 ended after one read."""
    load = jobs(f"rw=randread bs=4k size=64m direct=1 time_based=1 runtime=10 iodepth=64 {options}")
    outcome = said(read=direction(4_000 * 4096, 2.0))
    found = judge(Case(load, outcome, None, EXT4, quoted=quoted), "iops").findings
    (finding,) = (each for each in found if each.rule == "work-done")
    assert finding.effect == effect and words in finding.message
    assert ("latency_run=1" in finding.fix) == (effect == "fails" and "latency_target ends" in words)


def test_a_deep_queue_is_printed_without_an_exponent() -> None:
    latency = Latency(samples=8_000, mean_ns=32e6)
    read = direction(8_000 * 4096, 2.0, clat=latency, lat=latency)
    load = jobs("rw=randread bs=4k size=64m direct=1 ioengine=libaio iodepth=512")
    found = judge(Case(load, said(read=read), None, EXT4), "iops").findings
    message = next(finding.message for finding in found if finding.rule == "littles-law")
    assert message.startswith("on average, only 128 of the 512 I/Os")
