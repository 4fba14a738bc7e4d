"""A complete campaign file: its parts, their short forms and defaults, and the line numbers of mistakes."""

from pathlib import Path

import pytest

from poolproof.campaign.expression import format_expression
from poolproof.campaign.model import DeviceSource, Disk, Emulated, LoopFile, Measure, Qcow2, Until
from poolproof.campaign.yaml import parse_campaign, read_campaign
from poolproof.errors import CampaignError
from tests.golden import Message

from .campaigns import campaign, text

DESIGN = Path(__file__).with_name("design.yaml")


def test_the_campaign_of_the_design_is_read_whole() -> None:
    found = read_campaign(DESIGN)
    assert (found.name, found.baseline, found.goal) == ("cache-and-log", "mirror", "etcd")
    assert found.question.startswith("Which cache ")
    assert [device.source for device in found.devices] == [
        Disk("ata-HGST_HUH721008ALE600_AAAA"),
        Disk("ata-HGST_HUH721008ALE600_BBBB"),
        Emulated("nvme", 16 << 30),
    ]
    assert [layout.name for layout in found.layouts] == ["mirror", "mirror-log"]
    assert len(found.workloads) == 4 * 3 * 2 + 1
    assert found.workloads[0].name == "grid[rw=read,bs=4k,sync=0]"
    assert found.measure == Measure(time_s=10.0, trials=3, cold=True)


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ("{file: 16G}", LoopFile(16 << 30)),
        ("{qcow2: 512M}", Qcow2(512 << 20)),
        ("{emulate: hdd-7200, size: 1.5G}", Emulated("hdd-7200", 1536 << 20)),
        ("{disk: wwn-0x5000cca0bbbb}", Disk("wwn-0x5000cca0bbbb")),
        ("file:8G", LoopFile(8 << 30)),
        ("qcow2:4G", Qcow2(4 << 30)),
        ("emulate:hdd-7200,8G", Emulated("hdd-7200", 8 << 30)),
        ("disk:ata-MODEL_SERIAL", Disk("ata-MODEL_SERIAL")),
    ],
)
def test_devices_have_a_long_and_a_short_form(written: str, source: DeviceSource) -> None:
    assert campaign(devices=f"a: {written}").devices[0].source == source


def test_a_layout_with_braces_becomes_several_named_by_what_varies() -> None:
    found = campaign(layouts="pool: zfs {mirror,raidz1} a b recordsize={16k,1m}").layouts
    assert [layout.name for layout in found] == [
        "pool[mirror,recordsize=16k]",
        "pool[mirror,recordsize=1m]",
        "pool[raidz1,recordsize=16k]",
        "pool[raidz1,recordsize=1m]",
    ]
    assert format_expression(found[3].expression) == "zfs raidz1 a b recordsize=1m"
    assert found[3].varies == (("", "raidz1"), ("recordsize", "1m"))


def test_a_layout_may_run_over_several_lines() -> None:
    found = campaign(layouts="one: >-\n    zfs a\n    | ext4")
    assert format_expression(found.layouts[0].expression) == "zfs a | ext4"


def test_what_is_left_out_has_its_default() -> None:
    found = parse_campaign("layouts: {one: dir /srv}\nworkloads: {etcd: etcd}", "experiments/my first.yaml")
    assert (found.name, found.question, found.devices) == ("my-first", "", ())
    assert found.measure == Measure(time_s=10.0, trials=3, cold=True, seed=None)
    assert (found.baseline, found.goal) == (None, None)


def test_measure_is_read() -> None:
    found = campaign(rest="measure: {time: 500ms, trials: 5, cold: false, seed: 42}")
    assert found.measure == Measure(time_s=0.5, trials=5, cold=False, seed=42)


@pytest.mark.parametrize(
    ("measure", "own", "cold"),
    [
        ("true", "", {"read": True, "write": True}),
        ("false", "", {"read": False, "write": False}),
        ("reads", "", {"read": True, "write": False}),
        ("reads", ", cold: true", {"read": True, "write": True}),
        ("true", ", cold: false", {"read": False, "write": False}),
    ],
)
def test_a_workload_is_cold_as_it_says_and_else_as_measure_says(measure: str, own: str, cold: dict[str, bool]) -> None:
    found = campaign(rest=f"measure: {{cold: {measure}}}", workloads=f"w: {{rw: read{own}}}")
    (workload,) = found.workloads
    assert {kind: found.measure.is_cold(workload, reads=kind == "read") for kind in cold} == cold


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("until: 3%", Measure(trials=2, most_trials=6, until=Until())),
        ("until: 2.5 %, trials: 3", Measure(trials=3, until=Until(tolerance=0.025))),
        ("until: 1%, trials: 1..9", Measure(trials=1, most_trials=9, until=Until(tolerance=0.01))),
        (
            "until: 3%, confidence: 99%, min: 500ms, max: 2m, trials: 2 .. 4, steady: snia, cold: false",
            Measure(trials=2, most_trials=4, cold=False, until=Until(0.03, 0.99, 0.5, 120.0, "snia")),
        ),
    ],
)
def test_until_a_figure_is_known_is_read(written: str, meant: Measure) -> None:
    assert campaign(rest=f"measure: {{{written}}}").measure == meant


@pytest.mark.parametrize(
    ("whole", "quick", "meant"),
    [
        ("until: 3%, max: 60s", "time: 2s", Measure(time_s=2.0, trials=2)),
        ("until: 3%, max: 60s", "max: 9s", Measure(trials=2, most_trials=6, until=Until(max_s=9.0))),
        ("until: 3%, trials: 4", "until: 10%", Measure(trials=4, until=Until(tolerance=0.1))),
        ("time: 60s, trials: 5", "until: 10%", Measure(60.0, trials=2, most_trials=6, until=Until(tolerance=0.1))),
    ],
)
def test_a_time_takes_the_place_of_until_and_until_of_a_time(whole: str, quick: str, meant: Measure) -> None:
    found = campaign(rest=f"measure: {{{whole}}}\nquick: {{measure: {{{quick}}}}}")
    assert found.quick is not None
    assert found.quick.measure == meant


def test_devices_that_no_layout_uses_are_fine() -> None:
    found = campaign(devices="a: file:1G\n  spare: file:1G")
    assert [device.name for device in found.devices] == ["a", "spare"]


def test_a_device_may_stand_in_several_layouts() -> None:
    assert len(campaign(layouts="one: a | ext4\n  two: a | xfs").layouts) == 2


def test_directories_are_no_devices() -> None:
    found = campaign(layouts="one: dir a")
    assert format_expression(found.layouts[0].expression) == "dir a"
    assert len(campaign(layouts="one: mergerfs (dir a) (dir a)").layouts) == 1


def test_a_goal_names_a_family_or_one_of_it() -> None:
    matrix = "grid: {rw: randread, bs: [4k, 16k]}"
    assert campaign(workloads=matrix, rest="goal: grid").goal == "grid"
    assert campaign(workloads=matrix, rest='goal: "grid[bs=4k]"').goal == "grid[bs=4k]"


def test_a_baseline_names_one_layout_of_a_matrix() -> None:
    found = campaign(layouts="pool: zfs a k={1,2}", rest='baseline: "pool[k=1]"')
    assert found.baseline == "pool[k=1]"


def test_an_alias_repeats_what_its_anchor_names() -> None:
    found = campaign(workloads="one: &common {rw: randread, bs: 4k}\n  two: *common")
    assert found.workloads[0].jobs[0].options == found.workloads[1].jobs[0].options


def test_an_anchor_may_be_set_again(recwarn: pytest.WarningsRecorder) -> None:
    found = campaign(workloads="one: &w {rw: read}\n  two: &w {rw: write}\n  three: *w")
    assert found.workloads[2].jobs[0].options == (("rw", "write"),)
    assert not recwarn.list


def test_a_mark_of_byte_order_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + text().encode())
    assert read_campaign(path).name == "c"


def test_a_mistake_in_a_layout_is_pointed_at_with_its_file_and_line() -> None:
    with pytest.raises(CampaignError) as caught:
        campaign(layouts="one: zfs a | | ext4")
    assert caught.value.message.startswith("c.yaml:4: ")
    assert caught.value.message.splitlines()[1:] == ["  zfs a | | ext4", "          ^"]


def test_a_device_used_twice_is_pointed_at(message: Message) -> None:
    with pytest.raises(CampaignError) as caught:
        campaign(layouts="one: mergerfs (a | xfs) (a | ext4)")
    assert "`one`" in message(caught.value)
    first, *expression = caught.value.message.splitlines()
    assert first.startswith("c.yaml:4: ") and "`a`" in first
    assert expression == ["  mergerfs (a | xfs) (a | ext4)", "                      ^"]
    assert "`devices:`" in caught.value.hint
