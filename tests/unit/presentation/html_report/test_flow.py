"""The byte accounting as a flow: the bytes add up at every stage, and lost or extra bytes have a cause."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.yaml import parse_campaign
from poolproof.presentation.html_report.byte_flow import ByteFlow, flows
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import cells_of
from poolproof.rules.model import Finding
from poolproof.rules.rule_catalogue import rule
from tests.unit.presentation.html_report.making import CAMPAIGN, MIB, account, leaf, trial

CAMPAIGN_READ = parse_campaign(CAMPAIGN, "t")


def _flows(*trials: Trial) -> tuple[ByteFlow, ...]:
    return flows(cells_of(trials, CAMPAIGN_READ)[0])


def _one(moved: Trial) -> ByteFlow:
    (flow,) = _flows(moved)
    return flow


def _writing(fio: int, disks: list[int], factor: float, *rules: str) -> Trial:
    leaves = tuple(leaf(f"disk{number}", 0, moved) for number, moved in enumerate(disks))
    made = replace(trial("one", "stream"), leaves=leaves)
    findings = tuple(Finding(rule, "refutes", "m", "f") for rule in rules)
    return replace(made, account=account(0, fio, disk_writes=sum(disks), factor=factor), findings=findings)


def test_all_that_fio_wrote_reached_the_disk() -> None:
    flow = _one(_writing(100 * MIB, [100 * MIB], 1))
    assert (flow.kept_bytes, flow.lost_bytes, flow.extra_bytes) == (100 * MIB, 0, 0)
    assert (flow.lost, flow.extra, flow.copies) == ("", "", "")


def test_a_mirror_keeps_two_copies_and_loses_nothing() -> None:
    flow = _one(_writing(100 * MIB, [100 * MIB, 100 * MIB], 2))
    assert (flow.kept_bytes, flow.lost_bytes, [leaf.moved_bytes for leaf in flow.leaves]) == (
        100 * MIB,
        0,
        [100 * MIB] * 2,
    )
    assert "2 times" in flow.copies


def test_lost_bytes_are_those_of_fio_not_those_of_the_copies(wording: Callable[[str], str]) -> None:
    flow = _one(_writing(1000 * MIB, [100 * MIB, 100 * MIB], 2, "shared-file-numjobs"))
    assert flow.lost_bytes == 900 * MIB
    assert "900 MiB" in wording(flow.lost)
    assert "10%" in wording(flow.verdict)


def test_the_words_name_the_generator_of_the_load() -> None:
    (cell,) = cells_of([_writing(1000 * MIB, [100 * MIB], 1)], CAMPAIGN_READ)
    (flow,) = flows(replace(cell, generator="toy"))
    assert "toy's writes" in flow.verdict and "fio" not in flow.verdict


def test_the_strongest_finding_that_explains_it_names_the_cause(wording: Callable[[str], str]) -> None:
    flow = _one(_writing(100 * MIB, [MIB], 1, "write-vanished", "zero-buffers"))
    cause = rule("zero-buffers").explains_lost["write"]
    assert wording(flow.lost).endswith(f": {cause}")
    assert not wording(_one(_writing(100 * MIB, [MIB], 1)).lost).endswith(cause)


def test_additional_writes_are_added_after_the_copies(wording: Callable[[str], str]) -> None:
    flow = _one(_writing(10 * MIB, [30 * MIB, 30 * MIB], 2))
    assert (flow.extra_bytes, flow.lost) == (40 * MIB, "")
    assert "40 MiB" in wording(flow.extra)
    assert "3 times" in wording(flow.verdict)


def test_late_writes_are_reported(wording: Callable[[str], str]) -> None:
    late = replace(leaf("a", 0, 100 * MIB), write_bytes=40 * MIB)
    flow = _one(replace(_writing(100 * MIB, [100 * MIB], 1), leaves=(late,)))
    assert flow.leaves[0].late_bytes == 60 * MIB
    assert "60 MiB" in wording(flow.late)


def test_reads_that_no_disk_saw_came_from_ram(wording: Callable[[str], str]) -> None:
    moved = replace(
        trial("one", "reads"), leaves=(leaf("a", MIB),), account=account(100 * MIB, 0, disk_reads=MIB), findings=()
    )
    flow = _one(moved)
    assert "99 MiB" in wording(flow.lost)
    assert "1%" in wording(flow.verdict)
    unwritten = replace(moved, findings=(Finding("unwritten-read", "refutes", "m", "f"),))
    assert wording(_one(unwritten).lost) != flow.lost


def test_the_trials_of_a_cell_add_up_but_not_the_failed_ones() -> None:
    first, second = trial("one", "reads", 1), trial("one", "reads", 2)
    failed = replace(trial("one", "reads", 3), verdict="failed")
    (flow,) = _flows(first, second, failed)
    assert flow.fio_bytes == 200 * MIB
    assert flow.leaves[0].moved_bytes == 200 * MIB


def test_the_disk_below_a_loop_file_is_reported(wording: Callable[[str], str]) -> None:
    below = replace(leaf("a", 0, 100 * MIB), below_device="vda", below_drained_write_bytes=3 * MIB)
    flow = _one(replace(_writing(100 * MIB, [100 * MIB], 1), leaves=(below,)))
    text = wording(flow.leaves[0].below)
    assert "vda" in text and "3 MiB" in text


def test_without_counters_there_is_no_flow() -> None:
    assert _flows(replace(trial("one", "reads"), leaves=(), account=None)) == ()


@given(
    fio=st.integers(1, 10**13),
    disks=st.lists(st.integers(0, 10**13), min_size=1, max_size=5),
    factor=st.sampled_from([1.0, 1.5, 2.0, 3.0]),
)
def test_every_stage_adds_up(fio: int, disks: list[int], factor: float) -> None:
    flow = _one(_writing(fio, disks, factor))
    assert flow.lost_bytes >= 0
    assert flow.extra_bytes >= 0
    assert flow.kept_bytes + flow.lost_bytes == pytest.approx(fio)
    assert flow.kept_bytes * factor + flow.extra_bytes == pytest.approx(sum(disks), abs=1)
