"""Any campaign file or layout expression results in a value or in one clear error, within a second."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from poolproof.campaign.expression import parse_expression
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, PoolproofError
from poolproof.layers.resolve import resolve
from poolproof.measure.plan import check_without_host

_MOST_S = 5.0
_FINE = """\
devices: {a: {file: 1G}, b: {emulate: nvme, size: 1G}, d: {disk: ata-X}}
layouts: {one: a | ext4 noatime, two: 'btrfs raid1 a b compress={lzo,zstd}', three: 'dir "/srv/my data"'}
workloads: {reads: {rw: randread, bs: [4k, 16k], iodepth: 8}, etcd: etcd}
measure: {time: 10s, until: 3%, trials: 2..6}
baseline: one
goal: etcd
expect: ['two > one']
"""
_WORDS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "ext4",
        "xfs",
        "btrfs",
        "zfs",
        "mirror",
        "raidz2",
        "log",
        "cache",
        "|",
        "(",
        ")",
        "mergerfs",
        "luks",
        "md",
        "raid1",
        "lvm",
        "zvol",
        "1G",
        "dir",
        "/srv",
        "file",
        "2G",
        '"',
        "=",
        "compress=zstd",
        "{a,b}",
        "{1..3}",
        "size=1G",
        "log.size=64m,logdev=/dev/sda",
        "features=^x",
        "\\",
        "\x00",
        "é",
        "🙂",
        "$(id)",
        ";",
        "#",
        "-o",
        "autotier",
        "quota=20%",
    ]
)
_PIECES = st.sampled_from(
    [*"{}[]:,'\"&*!|>%@`#-? \n\t\x00\x1b", "<<:", "!!python/object", "&a", "*a", "...", "---", "é"]
)


@given(words=st.lists(_WORDS, max_size=14))
@example(words=["("] * 40)
@example(words=["{1..999999999}", "|", "ext4"])
@settings(max_examples=150, deadline=None)
def test_any_layout_expression_is_read_or_refused(words: list[str]) -> None:
    begun = time.monotonic()
    try:
        resolve(parse_expression(" ".join(words)), {"a", "b", "c"})
    except PoolproofError as error:
        assert error.message
    assert time.monotonic() - begun < _MOST_S


@given(cuts=st.lists(st.tuples(st.integers(0, len(_FINE)), st.integers(0, 30), _PIECES), max_size=5))
@settings(max_examples=120, deadline=None)
def test_any_damaged_campaign_is_read_or_refused(cuts: list[tuple[int, int, str]]) -> None:
    text = _FINE
    for at, length, piece in cuts:
        text = text[:at] + piece + text[at + length :]
    begun = time.monotonic()
    try:
        check_without_host(parse_campaign(text, "c.yaml"))
    except PoolproofError as error:
        assert error.message
    assert time.monotonic() - begun < _MOST_S


@given(text=st.text(max_size=200))
@example(text="a: &a [*a]")
@example(text="a: &a {b: &b [1, 1]}\nc: [" + "*b, " * 2000 + "*b]")
@example(text="[" * 3000)
@example(text="layouts: {one: '" + "(" * 5000 + "'}")
@example(text="devices: {a: {file: " + "9" * 5000 + "G}}")
@settings(max_examples=100, deadline=None)
def test_any_text_is_no_traceback(text: str) -> None:
    try:
        parse_campaign(text, "c.yaml")
    except PoolproofError as error:
        assert error.message


@pytest.mark.parametrize(
    "layout", ["a" + " | luks" * 3000, "(" * 20 + "a" + " | luks" * 10 + (" | luks" * 10 + ")") * 20 + " | ext4"]
)
def test_too_many_layers_on_top_of_each_other_are_a_mistake(layout: str) -> None:
    with pytest.raises(CampaignError, match="layers are on top of each other"):
        parse_expression(layout)


def test_the_highest_layout_that_is_accepted_can_be_checked() -> None:
    layout = "a" + " | luks" * 62 + " | ext4"
    text = f"devices: {{a: {{file: 1G}}}}\nlayouts: {{one: {layout}}}\nworkloads: {{reads: {{rw: read, size: 1m}}}}\n"
    check_without_host(parse_campaign(text, "c.yaml"))


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 40, "²", "٣", "1_0", "-1"])
@pytest.mark.parametrize(
    "layout",
    [
        "md raid1 a b c spare-devices=N",
        "md raid10 a b c layout=nN",
        "lvm raid1 a b mirrors=N",
        "lvm raid10 a b c d stripes=N",
        "zfs raidzN a b c",
        "zfs draid1:Nd:3c a b c",
        "zfs a copies=N ashift=N recordsize=N",
        "zfs a | zvol N volblocksize=N",
        "a | btrfs nodesize=N",
        "autotier (a | ext4) quota=N% (b | ext4)",
    ],
)
def test_a_number_that_is_none_or_too_long_is_no_traceback(layout: str, number: str) -> None:
    try:
        resolve(parse_expression(layout.replace("N", number)), {"a", "b", "c", "d"})
    except PoolproofError as error:
        assert error.message


_HUNDRED = "[" + ", ".join(f"{number}k" for number in range(1, 101)) + "]"
_MATRIX = f"{{rw: read, size: 1m, bs: {_HUNDRED}, iodepth: {_HUNDRED}}}"
_ONE_LAYOUT = "layouts: {one: dir /srv}\n"
_ONE_WORKLOAD = "workloads: {reads: {rw: read, size: 1m}}\n"
_BOMBS = {
    "workloads": f"{_ONE_LAYOUT}workloads:\n  w: &a {_MATRIX}\n" + "".join(f"  w{n}: *a\n" for n in range(50_000)),
    "options": f"{_ONE_LAYOUT}workloads:\n  w: {_MATRIX[:-1]}, {', '.join(f'o{n}: 1' for n in range(20_000))}}}\n",
    "quick": f"{_ONE_LAYOUT}workloads:\n"
    + "".join(f"  w{n}: {{rw: read, size: 1m}}\n" for n in range(60))
    + f"quick:\n  workloads:\n    w0: &a {_MATRIX}\n"
    + "".join(f"    w{n}: *a\n" for n in range(1, 60)),
    "layouts": f"{_ONE_WORKLOAD}layouts:\n" + "".join(f"  l{n}: dir /srv{{1..9999}}\n" for n in range(2000)),
    "braces": f"{_ONE_WORKLOAD}layouts: {{one: 'dir /{{{','.join(f'x{n}{{1..9999}}' for n in range(5000))}}}'}}\n",
    "words": f"{_ONE_WORKLOAD}layouts: {{one: 'dir /{{1..9999}} {'x ' * 50_000}'}}\n",
    "aliases": f"{_ONE_LAYOUT}{_ONE_WORKLOAD}expect:\n  - &a {{claim: c, source: s, that: {'x' * 1900}}}\n"
    + "  - *a\n" * 50_000,
    "claim": f"{_ONE_LAYOUT}{_ONE_WORKLOAD}expect:\n  - {{claim: c, source: s, that: '1{'+1' * 30_000} > 1'}}\n",
    "question": f"question: {'why ' * 5000}\n{_ONE_LAYOUT}{_ONE_WORKLOAD}",
    "recorded": f"{_ONE_WORKLOAD}layouts:\n" + "".join(f"  l{n}: dir /srv\n" for n in range(500_000)),
}


@pytest.mark.parametrize("name", _BOMBS)
def test_a_small_campaign_that_expands_to_too_much_is_refused_in_time(name: str) -> None:
    begun = time.process_time()
    with pytest.raises(CampaignError, match=r"has more than|expand to more than"):
        parse_campaign(_BOMBS[name], "c.yaml", recorded=name == "recorded")
    assert time.process_time() - begun < 4 * _MOST_S
