"""Campaigns given on the command line: names, matrices, and mistakes, which are reported with the correct option."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.device_source import parse_device_flag
from poolproof.campaign.flags import (
    Flags,
    Overrides,
    campaign_from_flags,
    campaign_of,
    check_wipe,
    parse_layout_flag,
    parse_workload_flag,
)
from poolproof.campaign.model import Device, Emulated, LoopFile
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, UsageError
from tests.golden import Message


def test_the_command_line_of_the_design() -> None:
    found = campaign_from_flags(
        ["btrfs raid1 a b"],
        ["a=file:8G", "b=emulate:hdd-7200,8G"],
        ["etcd", "rw=randread,bs={4k,16k}"],
    )
    assert found.devices == (Device("a", LoopFile(8 << 30)), Device("b", Emulated("hdd-7200", 8 << 30)))
    assert [layout.name for layout in found.layouts] == ["btrfs-raid1-a-b"]
    assert [workload.name for workload in found.workloads] == ["etcd", "randread[bs=4k]", "randread[bs=16k]"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("rust | ext4", ["rust-ext4"]),
        ("my-one=rust | ext4", ["my-one"]),
        ("dir /srv/x=y", ["dir-srv-x-y"]),
        ("zfs {mirror,raidz1} a b", ["zfs-a-b[mirror]", "zfs-a-b[raidz1]"]),
        ("m=zfs a k={1,2}", ["m[k=1]", "m[k=2]"]),
    ],
)
def test_layouts_are_named_by_hand_or_by_their_words(text: str, names: list[str]) -> None:
    assert [layout.name for layout in parse_layout_flag(text)] == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("etcd", ["etcd"]),
        ("log:etcd", ["log"]),
        ("etcd,size=1g", ["etcd-size1g"]),
        ("preset=etcd,size=1g", ["etcd-size1g"]),
        ("rw=randread,bs=4k", ["randread-4k"]),
        ("rw=randread,bs=4k,iodepth=8", ["randread-4k-iodepth8"]),
        ("rw={read,write},bs={4k,1m}", [f"matrix[rw={rw},bs={bs}]" for rw in ("read", "write") for bs in ("4k", "1m")]),
        ("name:rw=randread:8", ["name"]),
        ("q:rw=read,iodepth={1..3}", ["q[iodepth=1]", "q[iodepth=2]", "q[iodepth=3]"]),
    ],
)
def test_workloads_are_named_by_hand_or_by_their_options(text: str, names: list[str]) -> None:
    assert [workload.name for workload in parse_workload_flag(text)] == names


def test_a_metric_can_be_set() -> None:
    (only,) = parse_workload_flag("rw=randread,metric=p99")
    assert only.metric == "p99"
    assert only.jobs[0].options == (("rw", "randread"),)


DEVICE_MISTAKES = [
    ("a", "--device a: ", "--device NAME=file:16G"),
    ("a=", "--device a=: ", "file:16G"),
    ("=file:8G", "--device =file:8G: ``", "letters"),
    ("a=fil:8G", "--device a=fil:8G: ", "file:16G"),
    ("a=emulate:nvme", "--device a=emulate:nvme: ", "write emulate:nvme,16G"),
]


@pytest.mark.parametrize(("text", "message", "hint"), DEVICE_MISTAKES)
def test_mistakes_in_a_device_flag(text: str, message: str, hint: str) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_device_flag(text)
    assert caught.value.message.startswith(message)
    assert hint in caught.value.hint


WORKLOAD_MISTAKES = [
    ("etdc", "`etcd`", "postgres"),
    ("", "``", "postgres"),
    ("rw=read,time_based", "`time_based`", "write --workload etcd"),
    ("rw=read,", "``", "write --workload etcd"),
    ("rw=", "`rw`", "rw: "),
    ("rw=read,rw=write", "`rw`", "rw={4k,16k}"),
    ("bs={4k,16k", "`{`", "bs={4k,16k}"),
    ("bs={4k,4k}", "`bs`", "bs={4k,16k}"),
    ("b s=4k", "`b s`", "fio --cmdhelp"),
    ("rw=read,metric=speed", "`speed`", "iops"),
    ("a b:etcd", "`a b`", "letters"),
]


@pytest.mark.parametrize(("text", "name", "hint"), WORKLOAD_MISTAKES)
def test_mistakes_in_a_workload_flag(text: str, name: str, hint: str) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_workload_flag(text)
    assert caught.value.message.startswith(f"--workload {text}: ")
    assert name in caught.value.message
    assert hint in caught.value.hint


def test_the_messages_about_mistakes_in_flags(wording: Callable[[str], str]) -> None:
    parsed: list[tuple[Callable[[str], object], str]] = [*((parse_device_flag, text) for text, _, _ in DEVICE_MISTAKES)]
    parsed += [*((parse_workload_flag, text) for text, _, _ in WORKLOAD_MISTAKES)]
    for parse, text in parsed:
        with pytest.raises(CampaignError) as caught:
            parse(text)
        wording(str(caught.value))


def test_a_mistake_in_a_layout_flag_is_pointed_at(message: Message) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_layout_flag("m=zfs a | | ext4")
    assert message(caught.value).startswith("--layout: ")
    assert caught.value.message.splitlines()[1:] == ["  zfs a | | ext4", "          ^"]


@pytest.mark.parametrize(
    ("layouts", "devices", "workloads", "message"),
    [
        ([], [], ["etcd"], "--layout: "),
        (["dir /a"], [], [], "--workload: "),
        (["dir /a", "dir /a"], [], ["etcd"], "--layout: "),
        (["dir /a"], ["a=file:1G", "a=file:2G"], ["etcd"], "--device: "),
        (["dir /a"], [], ["etcd", "etcd"], "--workload: "),
        (["zfs a a"], ["a=file:1G"], ["etcd"], "--layout: layout `zfs-a-a` uses device `a` twice"),
    ],
)
def test_mistakes_in_the_flags_together(
    layouts: list[str], devices: list[str], workloads: list[str], message: str
) -> None:
    with pytest.raises(CampaignError) as caught:
        campaign_from_flags(layouts, devices, workloads)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_a_baseline_must_name_a_layout() -> None:
    with pytest.raises(CampaignError) as caught:
        campaign_from_flags(["dir /a"], [], ["etcd"], baseline="dir-b")
    assert caught.value.message.startswith("--baseline: ")
    assert "`dir-b`" in caught.value.message and "`dir-a`" in caught.value.message


def test_a_goal_must_name_a_workload() -> None:
    with pytest.raises(CampaignError) as caught:
        campaign_of(None, Flags(["dir /a"], None, ["etcd"], None), Overrides(None, None, None, goal="ectd"))
    assert caught.value.message.startswith("--goal: ")
    assert "`ectd`" in caught.value.message and "`etcd`" in caught.value.message


_FLAGISH = st.text(st.sampled_from("ab:={},.|() 1k") | st.characters(), max_size=30)


@given(st.sampled_from([parse_device_flag, parse_layout_flag, parse_workload_flag]), _FLAGISH)
def test_no_flag_makes_anything_but_a_value_or_a_campaign_error(parse: object, text: str) -> None:
    assert callable(parse)
    try:
        assert parse(text)
    except CampaignError as error:
        assert error.message.startswith("--")


def test_wipe_needs_a_real_disk_unless_it_names_another_host(message: Message) -> None:
    campaign = parse_campaign(
        "devices: {a: file:1G}\nlayouts: {one: a}\nworkloads: {w: {rw: write, size: 64m}}\n", "c.yaml"
    )
    check_wipe(campaign, ["nas2:S7"])
    with pytest.raises(UsageError, match="--wipe S7: ") as caught:
        check_wipe(campaign, ["nas2:S7", "S7"])
    message(caught.value)
