"""The disks that `measure: {calibrate: true}` measures individually, and the workloads that it uses."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.calibration import bare_name, calibrated_device, calibration_of, campaign_cells
from poolproof.campaign.names import is_name
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign, quick_of
from poolproof.errors import CampaignError
from tests.golden import Message

CAMPAIGN = """
devices:
  rust: {emulate: hdd-7200, size: 1G}
  ssd: {emulate: sata-ssd, size: 1G}
  idle: file:1G
layouts:
  one: rust | ext4
  both: btrfs raid1 ssd rust
workloads:
  grid: {rw: [randread, write], bs: [4k, 1m], iodepth: 8}
measure: {time: 2s, trials: 2, calibrate: true}
"""


def asked(workloads: str, rest: str = "measure: {calibrate: true}") -> str:
    return f"devices: {{a: file:1G}}\nlayouts: {{one: a | ext4}}\nworkloads:\n  {workloads}\n{rest}\n"


def test_each_disk_that_a_layout_uses_is_measured_alone_under_each_workload() -> None:
    campaign = parse_campaign(CAMPAIGN, "c.yaml")
    calibration = calibration_of(campaign)
    assert [layout.name for layout in calibration.layouts] == ["bare:rust", "bare:ssd"]
    assert [workload.name for workload in calibration.workloads] == [each.name for each in campaign.workloads]
    layouts = dict.fromkeys(cell.layout for cell in campaign_cells(campaign))
    assert list(layouts) == ["bare:rust", "bare:ssd", "one", "both"]


def test_the_bare_disks_are_no_layouts_of_the_campaign(message: Message) -> None:
    campaign = parse_campaign(CAMPAIGN, "c.yaml")
    assert [layout.name for layout in campaign.layouts] == ["one", "both"]
    with pytest.raises(CampaignError, match="`bare:rust`") as caught:
        parse_campaign(CAMPAIGN + "baseline: bare:rust\n", "c.yaml")
    message(caught.value)


@given(st.text(min_size=1))
def test_no_layout_of_a_campaign_can_bear_the_name_of_a_bare_disk(device: str) -> None:
    assert calibrated_device(bare_name(device)) == device
    assert not is_name(bare_name(device))


def test_without_being_asked_nothing_is_measured_alone() -> None:
    campaign = parse_campaign(CAMPAIGN.replace(", calibrate: true", ""), "c.yaml")
    assert calibration_of(campaign).layouts == ()
    assert list(dict.fromkeys(cell.layout for cell in campaign_cells(campaign))) == ["one", "both"]


@pytest.mark.parametrize(
    ("workloads", "shapes"),
    [
        ("w: {rw: read, direct: [0, 1]}", 1),
        ("w: {rw: write, buffer_compress_percentage: [0, 50]}", 1),
        ("w: {rw: read, nrfiles: [1, 8], cold: false, metric: p99}", 1),
        ("w: {rw: read, size: [64m, 1g]}", 2),
        ("w: {rw: write, fsync: [0, 1]}", 2),
        ("w: {rw: [read, write], bs: [4k, 8k], iodepth: [1, 8], numjobs: [1, 4]}", 16),
    ],
)
def test_workloads_of_one_shape_are_measured_once(workloads: str, shapes: int) -> None:
    campaign = parse_campaign(asked(workloads), "c.yaml")
    calibration = calibration_of(campaign)
    assert len(calibration.workloads) == shapes
    assert set(calibration.measured_as) == {workload.name for workload in campaign.workloads}
    assert set(calibration.measured_as.values()) == {workload.name for workload in calibration.workloads}


def test_what_a_disk_does_not_know_is_left_out_of_its_workloads() -> None:
    campaign = parse_campaign(asked("w: {rw: write, bs: 8k, direct: 0, filename: x, fallocate: none, fsync: 1}"), "c")
    (workload,) = calibration_of(campaign).workloads
    assert dict(workload.jobs[0].options) == {"rw": "write", "bs": "8k", "fsync": "1"}
    assert workload.cold


@pytest.mark.parametrize(
    ("workload", "why"),
    [
        ("{rw: randtrim, bs: 4k}", "trims"),
        ("{ioengine: mmap, rw: read}", "uses ioengine=mmap"),
        ("{ioengine: filecreate}", "uses ioengine=filecreate"),
        ("{rw: read, fill: false}", "uses existing files"),
    ],
)
def test_workloads_that_no_disk_can_run_are_left_out_with_the_reason(workload: str, why: str) -> None:
    campaign = parse_campaign(asked(f"fits: {{rw: read}}\n  not: {workload}"), "c.yaml")
    calibration = calibration_of(campaign)
    assert [each.name for each in calibration.workloads] == ["fits"]
    assert calibration.left_out["not"].startswith(why)
    with pytest.raises(CampaignError, match=r"c\.yaml:5: `calibrate`: .* not ") as caught:
        parse_campaign(asked(f"not: {workload}"), "c.yaml")
    assert why in caught.value.message


def test_directories_have_no_disk_that_could_be_measured_alone() -> None:
    text = "layouts: {one: dir /srv}\nworkloads: {etcd: etcd}\nmeasure:\n  trials: 1\n  calibrate: true\n"
    with pytest.raises(CampaignError, match=r"c\.yaml:5: `calibrate` "):
        parse_campaign(text, "c.yaml")
    mixed = parse_campaign("devices: {a: file:1G}\n" + text.replace("srv}", "srv, two: a | ext4}"), "c.yaml")
    assert [layout.name for layout in calibration_of(mixed).layouts] == ["bare:a"]


@pytest.mark.parametrize("of_quick", ["", ", calibrate: false", ", calibrate: true"])
@pytest.mark.parametrize("of_campaign", ["", ", calibrate: true", ", calibrate: false"])
def test_what_is_asked_is_written_down_and_holds_for_the_small_form_too(of_campaign: str, of_quick: str) -> None:
    measure = f"measure: {{trials: 4{of_campaign}}}\nquick: {{measure: {{trials: 1{of_quick}}}}}"
    campaign = parse_campaign(asked("w: {rw: read}", measure), "c.yaml")
    assert parse_campaign(format_campaign(campaign), "saved.yaml") == campaign
    assert campaign.measure.calibrate == ("true" in of_campaign)
    assert quick_of(campaign).measure.calibrate == ("true" in (of_quick or of_campaign))


def test_the_budget_is_for_the_layouts_alone() -> None:
    rest = "measure: {until: 3%, trials: 2, min: 10s, calibrate: true}\nbudget: 20s"
    campaign = parse_campaign(asked("w: {rw: read}", rest), "c.yaml")
    assert campaign.budget_s == 20
    assert calibration_of(replace(campaign, budget_s=None)) == calibration_of(campaign)
