"""The golden file shows what each rule says about its first example that has a finding."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from poolproof.rules.judge import judge
from poolproof.rules.rule_catalogue import rule
from poolproof.rules.service_time import latency_text
from tests.golden import Message
from tests.unit.rules.examples import EXAMPLES
from tests.unit.rules.examples.building import BTRFS, lint_of


def test_the_message_and_the_fix_of_each_rule(wording: Callable[[str], str]) -> None:
    for name in sorted(EXAMPLES):
        found = [each for example in EXAMPLES[name] for each in judge(example.case).findings if each.rule == name]
        assert found, name
        wording(f"{name}\n  {found[0].message}\n  fix: {found[0].fix}")


@pytest.mark.parametrize(
    ("latency_ns", "limit", "text"),
    [(0.0, "at most", "less than 1 µs"), (908.0, "at most", "at most 908 ns"), (908.0, "", "908 ns")],
)
def test_a_latency_that_was_rounded_to_zero_is_below_one_microsecond(latency_ns: float, limit: str, text: str) -> None:
    assert latency_text(latency_ns, limit) == text


def test_other_work_is_named_with_a_fix_for_it(message: Message) -> None:
    """Stopping programs does not help against other virtual machines."""
    found = [each for example in EXAMPLES["other-work"] for each in judge(example.case).findings]
    others = {each.message: each.fix for each in found if each.rule == "other-work" and each.effect == "suspects"}
    (machines,) = (fix for text, fix in others.items() if "hypervisor" in text)
    (disks,) = (text for text in others if "the counters of a disk" in text)
    assert "virtual machines" in message(machines) and "iotop" not in machines
    assert "0.00 B/s" not in message(disks)


def test_a_job_that_syncs_at_its_end_is_not_told_to(message: Message) -> None:
    found = [(example.case, each) for example in EXAMPLES["write-not-on-disk"] for each in judge(example.case).findings]
    fixes = [each.fix for case, each in found if each.rule == "write-not-on-disk" and case.jobs[0].syncs_at_end]
    assert fixes
    for fix in fixes:
        assert "completes the job's syncs" in message(fix) and "set end_fsync" not in fix


def test_a_job_that_syncs_is_not_told_to_sync(message: Message) -> None:
    fixes = {
        bool(example.case.jobs[0].sync_every): each.fix
        for example in EXAMPLES["write-latency"]
        for each in judge(example.case).findings
        if each.rule == "write-latency"
    }
    assert "set fdatasync" in fixes[False]
    assert "set fdatasync" not in message(fixes[True]) and "sync_p99" in fixes[True]


def test_a_job_with_direct_io_is_not_told_to_use_direct_io(message: Message) -> None:
    """Since Linux 6.15, direct writes on btrfs wait during submission."""
    found = [
        (example.case, each) for example in EXAMPLES["async-engine-blocks"] for each in judge(example.case).findings
    ]
    fixes = [each.fix for case, each in found if case.is_direct and "whole I/O took" in each.message]
    assert fixes
    for fix in fixes:
        assert "iodepth=1" in message(fix) and "direct=1" not in fix


@pytest.mark.parametrize(
    ("options", "kernel", "effect"),
    [
        ("bs=1m", None, "suspects"),
        ("bs=1m direct=1", None, "notes"),
        ("bs=1m direct=1", (6, 14), "notes"),
        ("bs=1m direct=1", (6, 15), "suspects"),
        ("bs=4k direct=1", (6, 15), "notes"),
    ],
)
def test_direct_writes_of_zeros_on_btrfs(options: str, kernel: tuple[int, int] | None, effect: str) -> None:
    case = lint_of(f"rw=write size=1g zero_buffers=1 {options}", replace(BTRFS, kernel=kernel))
    assert [each.effect for each in rule("zero-buffers").check_job(case)] == [effect]
