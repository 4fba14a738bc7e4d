"""Every mistake in a campaign causes one error: file, line, what was found, what was expected, and what to type."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.yaml import parse_campaign, read_campaign
from poolproof.errors import CampaignError
from tests.golden import Message

from .campaigns import text


def mistake(content: str) -> CampaignError:
    with pytest.raises(CampaignError) as caught:
        parse_campaign(content, "c.yaml")
    return caught.value


def check(error: CampaignError, place: str, names: tuple[str, ...]) -> None:
    """Check that the error message begins with the location of the mistake, and quotes each of these names."""
    assert error.message.startswith(f"{place}: ")
    assert set(names) <= set(re.findall(r"`([^`]+)`", error.message))


FILE = [
    ("", "c.yaml", ()),
    ("# nothing\n", "c.yaml", ()),
    ("~", "c.yaml", ()),
    ("- a\n", "c.yaml:1", ()),
    ("zfs mirror", "c.yaml:1", ("zfs mirror",)),
    ("name: a\n---\nname: b", "c.yaml:2", ()),
    ("name: a\nname: b", "c.yaml:2", ("name",)),
    ("layouts:\n\tone: zfs a", "c.yaml:2", ()),
    ("layouts: {one: zfs a", "c.yaml:1", ()),
    ("layouts: *here", "c.yaml:1", ()),
    ("layouts: &x [*x]", "c.yaml:1", ()),
    ("name: \x00", "c.yaml", ()),
    ('name: "\\0"', "c.yaml:1", ()),
    ("[" * 1000, "c.yaml", ()),
    ("? [a]\n: b", "c.yaml:1", (":",)),
    ("laoyuts: {}", "c.yaml:1", ("laoyuts", "layouts")),
    ("calibrate: true", "c.yaml:1", ("calibrate", "measure")),
    ("until: 3%", "c.yaml:1", ("until", "measure")),
    ("workloads: {etcd: etcd}", "c.yaml:1", ()),
    ("workloads: {etcd: etcd}\nlayouts: {}", "c.yaml:2", ()),
    ("layouts: {one: dir /a}", "c.yaml:1", ()),
    ("layouts: [a]", "c.yaml:1", ("layouts",)),
    ("layouts:", "c.yaml:1", ("layouts",)),
    ("devices: [a, b]", "c.yaml:1", ("devices",)),
    ("workloads: etcd", "c.yaml:1", ("workloads", "etcd")),
    ("name: my test", "c.yaml:1", ("my test",)),
    ("name: [a]", "c.yaml:1", ("name",)),
    ("name:", "c.yaml:1", ("name",)),
]


@pytest.mark.parametrize(("content", "place", "names"), FILE)
def test_mistakes_in_the_file(content: str, place: str, names: tuple[str, ...]) -> None:
    check(mistake(content), place, names)


DEVICES = [
    ("a: {fiel: 16G}", ("fiel", "a", "file")),
    ("a: fiel:16G", (":", "fiel:16G", "file")),
    ("a: 16G", (":", "16G")),
    ("a: {file: lots}", ("lots",)),
    ("a: {file: 0}", ("0",)),
    ("a: {file: -1G}", ("-1G",)),
    ("a: {file: 9999999P}", ("9999999P",)),
    (f"a: {{file: {'9' * 400}}}", ()),
    ("a: {file: [1G]}", ("file",)),
    ("a: {}", ("a",)),
    ("a: {file: 1G, qcow2: 1G}", ("a", "file", "qcow2")),
    ("a: {file: 1G, size: 1G}", ("size", "emulate", "file")),
    ("a: {emulate: nvme}", ("nvme",)),
    ("a: emulate:nvme", ("nvme",)),
    ("a: {emulate: a b, size: 1G}", ("a b",)),
    ("a: disk:", ()),
    ("a: {disk: my disk}", ("my disk",)),
    ("a:", ("a",)),
    ("a: [1]", ("a",)),
    ('"a b": file:1G', ("a b",)),
    ("'a|b': file:1G", ("a|b",)),
    ("../a: file:1G", ("../a",)),
]


@pytest.mark.parametrize(("device", "names"), DEVICES)
def test_mistakes_in_devices(device: str, names: tuple[str, ...]) -> None:
    check(mistake(text(devices=device)), "c.yaml:2", names)


LAYOUTS = [
    ("one: [zfs, a]", ("one",)),
    ("one: {zfs: a}", ("one",)),
    ("one:", ("one",)),
    ("one two: zfs a", ("one two",)),
    ("..: zfs a", ("..",)),
    ("'a[1]': zfs a", ("a[1]",)),
    ('one: ""', ("(",)),
    ("one: zfs a k={1", ("{",)),
    ("one: zfs a a", ("one", "a")),
]


@pytest.mark.parametrize(("layout", "names"), LAYOUTS)
def test_mistakes_in_layouts(layout: str, names: tuple[str, ...]) -> None:
    check(mistake(text(layouts=layout)), "c.yaml:4", names)


WORKLOADS = [
    ("w: etdc", ("etdc", "etcd")),
    ("w: {preset: pg}", ("pg",)),
    ("w: {preset: [etcd]}", ()),
    ("w:", ("w",)),
    ("w: [etcd]", ("w",)),
    ("w: {}", ("w",)),
    ("global: etcd", ("global",)),
    ("a b: etcd", ("a b",)),
    ("w: {rw: }", ("rw",)),
    ('w: {rw: ""}', ("rw",)),
    ("w: {rw: []}", ("rw",)),
    ("w: {rw: [read, read]}", ("read", "rw")),
    ("w: {rw: [[read]]}", ("rw",)),
    ("w: {rw: {a: b}}", ("rw",)),
    ('w: {rw: "a\\nb"}', ("rw",)),
    ("w: {r w: read}", ("r w",)),
    ("w: {rw: read, metric: speed}", ("speed",)),
    ("w: {rw: read, metric: p90}", ("p90", "p99")),
    ("w: {rw: read, cold: maybe}", ("cold", "maybe")),
    ("w: {rw: read, fill: 0}", ("fill", "0")),
    ("w: {jobs: [a]}", ("jobs",)),
    ("w: {jobs: {}}", ("jobs",)),
    ("w: {jobs: {global: {rw: read}}}", ("global",)),
    ("w: {jobs: {a: read}}", ("a", "read")),
    ("w: {jobs: {a: {metric: p99}}}", ("metric", "a")),
    ("w: {preset: postgres, jobs: {wall: {bs: 4k}}}", ("postgres", "wall", "wal")),
]


@pytest.mark.parametrize(("workload", "names"), WORKLOADS)
def test_mistakes_in_workloads(workload: str, names: tuple[str, ...]) -> None:
    check(mistake(text(workloads=workload)), "c.yaml:6", names)


REST = [
    ("measure: 10s", ("measure", "10s")),
    ("measure: {tmie: 10s}", ("tmie", "measure", "time")),
    ("measure: {calibrate: 5s}", ("calibrate", "5s")),
    ("measure: {steady: snia}", ("steady", "until")),
    ("measure: {max: 9s, time: 9s}", ("time", "max")),
    ("measure: {time: 9s, until: 3%}", ("time", "until")),
    ("measure: {unitl: 3%}", ("unitl", "measure", "until")),
    ("measure: {until: 0%}", ()),
    ("measure: {until: 51%}", ()),
    ("measure: {until: 5}", ()),
    ("measure: {until: 1m}", ()),
    ("measure: {until: [3%]}", ("until: 3%",)),
    ("measure: {until: 3%, confidence: 100%}", ()),
    ("measure: {until: 3%, confidence: 99}", ()),
    ("measure: {until: 3%, confidence: 49.9%}", ()),
    ("measure: {until: 3%, min: 0}", ("0",)),
    ("measure: {until: 3%, max: soon}", ()),
    ("measure: {until: 3%, max: 1s}", ("min",)),
    ("measure: {until: 3%, min: 4m}", ()),
    ("measure: {until: 3%, steady: sina}", ("steady", "sina")),
    ("measure: {trials: 2..6}", ("2..6", "until")),
    ("measure: {until: 3%, trials: 6..2}", ("6..2",)),
    ("measure: {until: 3%, trials: 2..}", ("trials",)),
    ("measure: {until: 3%, trials: 0..6}", ("trials",)),
    ("measure: {time: 0}", ("0",)),
    ("measure: {time: -1s}", ("-1s",)),
    ("measure: {time: 8d}", ("8d",)),
    ("measure: {time: soon}", ("soon",)),
    ("measure: {time: [10s]}", ()),
    ("measure: {trials: 0}", ("trials", "0")),
    ("measure: {trials: 2.5}", ("trials", "2.5")),
    (f"measure: {{trials: {'1' * 5000}}}", ("trials",)),
    ("measure: {seed: -1}", ()),
    ("measure: {cold: 1}", ("cold", "1")),
    ("measure: {cold: [reads]}", ("cold",)),
    ("baseline: on", ("on", "one")),
    ("baseline: {a: b}", ("baseline",)),
    ("budget: soon", ("soon",)),
    ("budget: 2h", ("budget",)),
    ("measure: {until: 3%, steady: fio-bw}", ("steady: fio-bw", "steady")),
    ("goal: etc", ("etc", "etcd")),
]


@pytest.mark.parametrize(("rest", "names"), REST)
def test_mistakes_in_the_rest(rest: str, names: tuple[str, ...]) -> None:
    check(mistake(text(rest=rest)), "c.yaml:7", names)


def test_a_baseline_that_names_a_whole_matrix_is_told_its_layouts(message: Message) -> None:
    error = mistake(text(layouts="pool: zfs a k={1,2}", rest="baseline: pool"))
    assert error.message.startswith("c.yaml:7: baseline `pool` ")
    message(error)
    assert "write baseline: pool[k=1]" in error.hint
    assert "pool[k=2]" in error.hint


def test_a_matrix_without_end_is_refused_before_it_is_made(message: Message) -> None:
    numbers = ", ".join(map(str, range(300)))
    error = mistake(text(workloads=f"w: {{rw: read, size: [{numbers}], offset: [{numbers}]}}"))
    assert message(error).startswith("c.yaml:6: ")
    assert "10000 workloads" in error.message


def test_cells_without_end_are_refused(message: Message) -> None:
    numbers = ", ".join(map(str, range(9000)))
    error = mistake(text(layouts="one: zfs a k={1..20}", workloads=f"w: {{rw: read, size: [{numbers}]}}"))
    assert message(error).startswith("c.yaml:3: ")
    assert "180000 cells" in error.message
    assert "100000" in error.message


def test_files_that_cannot_be_read(tmp_path: Path, message: Message) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    for path, reason in (
        (tmp_path / "none.yaml", "No such file"),
        (tmp_path, "directory"),
        (binary, "UTF-8"),
    ):
        with pytest.raises(CampaignError) as caught:
            read_campaign(path)
        message(caught.value)
        assert caught.value.message.startswith(f"{path} ") and reason in caught.value.message
        assert "YAML file" in caught.value.hint


def test_a_file_larger_than_any_campaign_is_not_read_whole(tmp_path: Path) -> None:
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(CampaignError, match="larger than 1 MiB"):
        read_campaign(image)


def test_many_known_names_are_not_all_listed() -> None:
    error = mistake(text(layouts="pool: zfs a k={1..20}", rest="baseline: pool"))
    assert error.hint.endswith("pool[k=7], pool[k=8] …")


_YAMLISH = st.text(st.sampled_from("ab:{}[],-&*!|>'\"%@~#?=. \n\t\\") | st.characters(), max_size=60)


@given(_YAMLISH)
def test_no_text_makes_anything_but_a_campaign_error(content: str) -> None:
    with pytest.raises(CampaignError):
        parse_campaign(content, "c.yaml")


@given(
    devices=st.just("a: file:1G") | _YAMLISH,
    layouts=st.just("one: zfs a") | _YAMLISH.map(lambda each: f"one: {each}"),
    workloads=st.just("etcd: etcd") | _YAMLISH.map(lambda each: f"w: {{rw: {each}}}"),
    rest=st.just("") | _YAMLISH.map(lambda each: f"measure: {each}") | _YAMLISH,
)
def test_no_part_makes_anything_but_a_campaign_or_a_campaign_error(
    devices: str, layouts: str, workloads: str, rest: str
) -> None:
    try:
        found = parse_campaign(text(devices=devices, layouts=layouts, workloads=workloads, rest=rest), "c.yaml")
    except CampaignError as error:
        assert error.message.startswith("c.yaml")
    else:
        assert found.layouts
        assert found.workloads


def test_the_campaign_of_a_run_is_not_checked_again() -> None:
    """An earlier version accepted this campaign, and its results can still be compared."""
    rest = "measure: {until: 0.1%}"
    asked = text(devices="a: {file: 2G}", layouts="one: btrfs a", workloads="w: {rw: write, metric: p99}", rest=rest)
    assert mistake(asked)
    assert parse_campaign(asked, "run.json", recorded=True).measure.until is not None


@pytest.mark.parametrize("steady", ["fio", "fio-slope", "fio-iops", "fio-iops-slope", "fio-bw", "fio-bw-slope"])
@pytest.mark.parametrize("rest", ["measure: {until: 3%, steady: X}", "quick: {measure: {until: 3%, steady: X}}"])
def test_a_removed_criterion_is_refused_but_read_from_a_run(steady: str, rest: str) -> None:
    campaign = text(
        devices="a: {file: 2G}", layouts="one: btrfs a", workloads="w: {rw: write}", rest=rest.replace("X", steady)
    )
    error = mistake(campaign)
    assert f"`steady: {steady}` was removed" in error.message and "poolproof or snia" in error.message
    recorded = parse_campaign(campaign, "run.json", recorded=True)
    measure = recorded.measure if recorded.quick is None else recorded.quick.measure
    assert measure.until is not None and measure.until.steady == "poolproof"


@pytest.mark.parametrize("confidence", ["99.99999999999999999%", "99.99999999999999%", "100.0%"])
def test_a_confidence_with_too_many_nines_is_always_and_refused(confidence: str) -> None:
    error = mistake(text(rest=f"measure: {{until: 3%, confidence: {confidence}}}"))
    assert "confidence" in error.message
    assert "50%" in error.message and "100%" in error.message


@pytest.mark.parametrize(
    ("measure", "least", "hint"),
    [
        ("until: 0.5%", "±0.88%", "0.9%"),
        ("until: 1%, confidence: 99%", "±1.2%", "1.2%"),
        ("until: 0.7%, confidence: 50%", "±0.78%", "0.8%"),
    ],
)
def test_a_percentile_cannot_be_known_better_than_its_bins(measure: str, least: str, hint: str) -> None:
    error = mistake(text(workloads="etcd: etcd", rest=f"measure: {{{measure}, trials: 2..6}}"))
    assert {"etcd", "sync_p99"} <= set(re.findall(r"\w+", error.message))
    assert error.message.startswith("c.yaml:7: "), "where `measure` stands"
    assert least in error.message
    assert f"until: {hint}," in error.hint
    assert "metric: iops" in error.hint


def test_a_rate_may_be_asked_for_as_well_as_anybody_likes() -> None:
    asked = text(workloads="etcd: {preset: etcd, metric: iops}", rest="measure: {until: 0.1%}")
    assert parse_campaign(asked, "c.yaml").measure.until is not None


def test_a_budget_without_a_goal_is_refused_where_there_are_several_families(message: Message) -> None:
    rest = "measure: {until: 3%}\nbudget: 1h"
    error = mistake(text(workloads="w: {rw: read}\n  v: {rw: write}", rest=rest))
    assert "`budget`" in message(error)
    assert "goal" in error.message


@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        ("rw: read, metric: sync_p99", "sync_p99", "fdatasync: 1"),
        ("rw: write, fsync: 0, metric: sync_p99", "sync_p99", "metric: p99"),
        ("rw: read, gtod_reduce: 1, metric: p99", "p99", "gtod_reduce"),
        ("rw: randread, metric: write_p99", "writes", "rw: randrw"),
        ("readwrite: randwrite, metric: read_p99", "reads", "metric: p99"),
    ],
)
def test_a_metric_that_its_jobs_never_give_is_refused(options: str, said: str, hint: str) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_campaign(f"layouts: {{one: dir /srv}}\nworkloads: {{w: {{{options}}}}}\n", "c.yaml")
    assert said in caught.value.message and hint in caught.value.hint


def test_the_messages_read_as_recorded(wording: Callable[[str], str]) -> None:
    contents = [
        *(content for content, _, _ in FILE if len(content) < 100),
        *(text(devices=device) for device, _ in DEVICES),
        *(text(layouts=layout) for layout, _ in LAYOUTS),
        *(text(workloads=workload) for workload, _ in WORKLOADS),
        *(text(rest=rest) for rest, _ in REST),
    ]
    for content in contents:
        wording(str(mistake(content)))
