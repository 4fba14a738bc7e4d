"""Every mistake in a campaign is one error: file, line, what was found, what was expected, what to type."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.yaml import parse_campaign, read_campaign
from poolproof.errors import CampaignError

from .campaigns import text


def mistake(content: str) -> CampaignError:
    with pytest.raises(CampaignError) as caught:
        parse_campaign(content, "c.yaml")
    return caught.value


PRESETS = "presets are backup, etcd, fileserver, media, postgres or vm"


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("", "c.yaml: this campaign is empty", "at least `layouts:`"),
        ("# nothing\n", "c.yaml: this campaign is empty", "at least `layouts:`"),
        ("~", "c.yaml: this campaign is empty", "at least `layouts:`"),
        ("- a\n", "c.yaml:1: expected a campaign as a mapping, found a list", "at least `layouts:`"),
        ("zfs mirror", "c.yaml:1: expected a campaign as a mapping, found `zfs mirror`", "at least `layouts:`"),
        ("name: a\n---\nname: b", "c.yaml:2: a second document begins; a campaign is one document", "`---`"),
        ("name: a\nname: b", "c.yaml:2: `name` stands here again, first on line 1", "keep one"),
        ("layouts:\n\tone: zfs a", "c.yaml:2: a tab indents this line; YAML wants blanks", "two blanks"),
        ("layouts: {one: zfs a", "c.yaml:1: this is no YAML: expected ',' or '}'", "in quotes"),
        ("layouts: *here", "c.yaml:1: this is no YAML: found undefined alias 'here'", "in quotes"),
        ("layouts: &x [*x]", "c.yaml:1: an alias stands inside the value that it names", ""),
        ("name: \x00", "c.yaml: this is no text that YAML allows: unacceptable character #x0000", ""),
        ('name: "\\0"', "c.yaml:1: a control character stands in this text", "without escapes"),
        ("[" * 1000, "c.yaml: lists and mappings stand too deep inside each other", ""),
        ("? [a]\n: b", "c.yaml:1: expected a word before `:`, found a list", "in quotes"),
        ("laoyuts: {}", "c.yaml:1: unknown key `laoyuts` in the campaign; did you mean `layouts`?", "expected name, "),
        ("calibrate: true", "c.yaml:1: `calibrate` stands in `measure`, not in the campaign", "write measure: {cali"),
        ("until: 3%", "c.yaml:1: `until` stands in `measure`, not in the campaign", "write measure: {until: 3%}"),
        ("workloads: {etcd: etcd}", "c.yaml:1: no cells: the campaign has no layouts", "add layouts:"),
        ("workloads: {etcd: etcd}\nlayouts: {}", "c.yaml:2: no cells: the campaign has no layouts", "add layouts:"),
        ("layouts: {one: dir /a}", "c.yaml:1: no cells: the campaign has no workloads", "add workloads:"),
        ("layouts: [a]", "c.yaml:1: expected `layouts` as a mapping, found a list", "write layouts: {"),
        ("layouts:", "c.yaml:1: expected `layouts` as a mapping, found nothing", "write layouts: {"),
        ("devices: [a, b]", "c.yaml:1: expected `devices` as a mapping, found a list", "write devices: {"),
        ("workloads: etcd", "c.yaml:1: expected `workloads` as a mapping, found `etcd`", "write workloads: {"),
        ("name: my test", "c.yaml:1: `my test` cannot name a campaign", "write name: my-test"),
        ("name: [a]", "c.yaml:1: expected one text after `name`, found a list", "write name: my-campaign"),
        ("name:", "c.yaml:1: expected one text after `name`, found nothing", "write name: my-campaign"),
    ],
)
def test_mistakes_in_the_file(content: str, message: str, hint: str) -> None:
    error = mistake(content)
    assert error.message.startswith(message)
    assert hint in error.hint


@pytest.mark.parametrize(
    ("device", "message", "hint"),
    [
        ("a: {fiel: 16G}", "unknown key `fiel` in device `a`; did you mean `file`?", "expected disk, file, qcow2"),
        (
            "a: fiel:16G",
            "expected disk, file, qcow2 or emulate before a `:`, found `fiel:16G`; did you mean `file`?",
            "",
        ),
        ("a: 16G", "expected disk, file, qcow2 or emulate before a `:`, found `16G`", "write one of file:16G"),
        ("a: {file: lots}", "expected a size, found `lots`", "write a size such as 16G"),
        ("a: {file: 0}", "expected a size, found `0`", "write a size such as 16G"),
        ("a: {file: -1G}", "expected a size, found `-1G`", "write a size such as 16G"),
        ("a: {file: 9999999P}", "expected a size, found `9999999P`", "write a size such as 16G"),
        (f"a: {{file: {'9' * 400}}}", "expected a size, found `99", "write a size such as 16G"),
        ("a: {file: [1G]}", "expected one value after `file`, found a list", "{file: 16G}"),
        ("a: {}", "device `a` is one of disk, file, qcow2 or emulate, found none of them", "{file: 16G}"),
        ("a: {file: 1G, qcow2: 1G}", "device `a` is one of disk, file, qcow2 or emulate, found `file` or `qcow2`", ""),
        ("a: {file: 1G, size: 1G}", "`size` goes with `emulate` only; `file` says it itself", "{file: 16G}"),
        ("a: {emulate: nvme}", "an emulated disk needs a size, found `nvme` alone", "{emulate: nvme, size: 16G}"),
        ("a: emulate:nvme", "an emulated disk needs a size, found `nvme` alone", "{emulate: nvme, size: 16G}"),
        ("a: {emulate: a b, size: 1G}", "expected the model of disk to emulate, found `a b`", "{emulate: nvme"),
        ("a: disk:", "this is no YAML: mapping values are not allowed here", "in quotes"),
        ("a: {disk: my disk}", "expected a disk's by-id name, serial or WWN, found `my disk`", "poolproof devices"),
        ("a:", "expected what `a` is, found nothing", "{file: 16G}"),
        ("a: [1]", "expected what `a` is, found a list", "{file: 16G}"),
        ('"a b": file:1G', "`a b` cannot name a device", "a name is letters, digits"),
        ("'a|b': file:1G", "`a|b` cannot name a device", "a name is letters, digits"),
        ("../a: file:1G", "`../a` cannot name a device", "a name is letters, digits"),
    ],
)
def test_mistakes_in_devices(device: str, message: str, hint: str) -> None:
    error = mistake(text(devices=device))
    assert error.message.startswith(f"c.yaml:2: {message}")
    assert hint in error.hint


@pytest.mark.parametrize(
    ("layout", "message", "hint"),
    [
        ("one: [zfs, a]", "expected a layout expression after `one`, found a list", "write one: 'btrfs raid1 a b'"),
        ("one: {zfs: a}", "expected a layout expression after `one`, found a mapping", "write one: 'btrfs raid1 a b'"),
        ("one:", "expected a layout expression after `one`, found nothing", "write one: 'btrfs raid1 a b'"),
        ("one two: zfs a", "`one two` cannot name a layout", "a name is letters, digits"),
        ("..: zfs a", "`..` cannot name a layout", "a name is letters, digits"),
        ("'a[1]': zfs a", "`a[1]` cannot name a layout", "a name is letters, digits"),
        ('one: ""', "expected a word or `(`, found the end", "a layout looks like"),
        ("one: zfs a k={1", "this `{` is not closed", ""),
        ("one: zfs a a", "layout `one` uses device `a` twice", "name another device"),
    ],
)
def test_mistakes_in_layouts(layout: str, message: str, hint: str) -> None:
    error = mistake(text(layouts=layout))
    assert error.message.startswith(f"c.yaml:4: {message}")
    assert hint in error.hint


@pytest.mark.parametrize(
    ("workload", "message", "hint"),
    [
        ("w: etdc", "no preset is called `etdc`; did you mean `etcd`?", PRESETS),
        ("w: {preset: pg}", "no preset is called `pg`", PRESETS),
        ("w: {preset: [etcd]}", "expected a preset's name, found a list", PRESETS),
        ("w:", "expected workload `w` as a mapping, found nothing", "write a preset's name, or fio options"),
        ("w: [etcd]", "expected workload `w` as a mapping, found a list", "write a preset's name, or fio options"),
        ("w: {}", "workload `w` is empty", "write a preset's name, or fio options"),
        ("global: etcd", "`global` cannot name a workload", "fio's own word"),
        ("a b: etcd", "`a b` cannot name a workload", "a name is letters, digits"),
        ("w: {rw: }", "expected a value after `rw`, found nothing", "write rw: 1"),
        ('w: {rw: ""}', "expected a value after `rw`, found nothing", "write rw: 1"),
        ("w: {rw: []}", "the list after `rw` is empty", "write rw: [ONE, TWO]"),
        ("w: {rw: [read, read]}", "`read` stands twice in the list after `rw`", "keep one"),
        ("w: {rw: [[read]]}", "expected one value or a list of values after `rw`, found a list", "write rw: [4k, 16k]"),
        ("w: {rw: {a: b}}", "expected one value or a list of values after `rw`, found a mapping", ""),
        ('w: {rw: "a\\nb"}', "the value of `rw` is more than one line", "on one line"),
        ("w: {r w: read}", "`r w` is no name of a fio option", "fio --cmdhelp"),
        ("w: {rw: read, metric: speed}", "no metric is called `speed`", "metrics are iops, bandwidth"),
        ("w: {rw: read, metric: p90}", "no metric is called `p90`; did you mean `p99`?", "metrics are iops"),
        ("w: {rw: read, cold: maybe}", "expected true or false after `cold`, found `maybe`", "write cold: true"),
        ("w: {rw: read, fill: 0}", "expected true or false after `fill`, found `0`", "write fill: true"),
        ("w: {jobs: [a]}", "expected `jobs` as a mapping, found a list", "write jobs: {log:"),
        ("w: {jobs: {}}", "`jobs` is empty", "name a section"),
        ("w: {jobs: {global: {rw: read}}}", "`global` cannot name a job section", "a name is"),
        ("w: {jobs: {a: read}}", "expected job section `a` as a mapping, found `read`", "write a: {rw: randread}"),
        ("w: {jobs: {a: {metric: p99}}}", "`metric` belongs to the whole workload, not to job section `a`", "beside"),
        (
            "w: {preset: postgres, jobs: {wall: {bs: 4k}}}",
            "preset `postgres` has no section `wall`; did you mean `wal`?",
            "wal or pages",
        ),
    ],
)
def test_mistakes_in_workloads(workload: str, message: str, hint: str) -> None:
    error = mistake(text(workloads=workload))
    assert error.message.startswith(f"c.yaml:6: {message}")
    assert hint in error.hint


@pytest.mark.parametrize(
    ("rest", "message", "hint"),
    [
        ("measure: 10s", "expected `measure` as a mapping, found `10s`", "write measure: {time: 10s, trials: 3}"),
        ("measure: {tmie: 10s}", "unknown key `tmie` in `measure`; did you mean `time`?", "expected time, until"),
        ("measure: {calibrate: 5s}", "expected true or false after `calibrate`, found `5s`", "write calibrate: true"),
        ("measure: {steady: snia}", "`steady` says nothing without `until`", "write until: 3% beside it"),
        ("measure: {max: 9s, time: 9s}", "`time` and `max` were given: a trial lasts a time, or until", "leave one"),
        ("measure: {time: 9s, until: 3%}", "`time` and `until` were given: a trial lasts a time", "leave one of them"),
        ("measure: {unitl: 3%}", "unknown key `unitl` in `measure`; did you mean `until`?", "expected time, until"),
        ("measure: {until: 0%}", "expected how far from the truth a figure may be", "write until: 3%"),
        ("measure: {until: 51%}", "expected how far from the truth a figure may be, in per cent of it", "until: 3%"),
        ("measure: {until: 5}", "expected how far from the truth a figure may be, in per cent", "write until: 5%"),
        ("measure: {until: 1m}", "expected how far from the truth a figure may be, in per cent", "write until: 3%"),
        ("measure: {until: [3%]}", "expected a percentage as in `until: 3%`, found a list", "write until: 3%"),
        ("measure: {until: 3%, confidence: 100%}", "expected a confidence from 50% to less than 100%", "95%"),
        (
            "measure: {until: 3%, confidence: 99}",
            "expected a confidence from 50% to less than 100%",
            "write confidence: 99%",
        ),
        ("measure: {until: 3%, confidence: 49.9%}", "expected a confidence from 50% to less than 100%", "95%"),
        ("measure: {until: 3%, min: 0}", "expected the shortest time of a trial, at most 7d, found `0`", "min: 10s"),
        ("measure: {until: 3%, max: soon}", "expected the longest time of a trial, at most 7d, found", "max: 10s"),
        ("measure: {until: 3%, max: 1s}", "max is below min: a trial lasts 3 s at least (`min`) and 1 s", "max: 180s"),
        ("measure: {until: 3%, min: 4m}", "max is below min: a trial lasts 240 s at least", "write max: 240s"),
        (
            "measure: {until: 3%, steady: sina}",
            "expected poolproof or snia after `steady`, found `sina`",
            "snia",
        ),
        ("measure: {trials: 2..6}", "`2..6`: only with `until` can it be told whether more trials", "write trials: 2"),
        ("measure: {until: 3%, trials: 6..2}", "`6..2`: the most trials are fewer than the least", "trials: 2..6"),
        ("measure: {until: 3%, trials: 2..}", "expected a whole number from 1 to 10000 after `trials`", "trials: 2..6"),
        ("measure: {until: 3%, trials: 0..6}", "expected a whole number from 1 to 10000 after `trials`", "2..6"),
        ("measure: {time: 0}", "expected the time of a trial, at most 7d, found `0`", "write time: 10s"),
        ("measure: {time: -1s}", "expected the time of a trial, at most 7d, found `-1s`", "write time: 10s"),
        ("measure: {time: 8d}", "expected the time of a trial, at most 7d, found `8d`", "write time: 10s"),
        ("measure: {time: soon}", "expected the time of a trial, at most 7d, found `soon`", "write time: 10s"),
        ("measure: {time: [10s]}", "expected the time of a trial, found a list", "write time: 10s"),
        (
            "measure: {trials: 0}",
            "expected a whole number from 1 to 10000 after `trials`, found `0`",
            "write trials: 3",
        ),
        ("measure: {trials: 2.5}", "expected a whole number from 1 to 10000 after `trials`, found `2.5`", ""),
        (f"measure: {{trials: {'1' * 5000}}}", "expected a whole number from 1 to 10000 after `trials`", ""),
        ("measure: {seed: -1}", "expected a whole number from 0 to", "write seed: 2"),
        ("measure: {cold: 1}", "expected true, false or reads after `cold`, found `1`", "write cold: true"),
        ("measure: {cold: [reads]}", "expected true, false or reads after `cold`, found a list", "write cold: true"),
        ("baseline: on", "baseline `on` names no layout; did you mean `one`?", "write baseline: one"),
        ("baseline: {a: b}", "expected one text after `baseline`, found a mapping", "write baseline: NAME"),
        ("budget: soon", "expected the time of all trials together, at most 7d, found `soon`", "write budget: 2h"),
        ("budget: 2h", "`budget` shares out time that trials take until their figure is known", "{until: 3%"),
        ("measure: {until: 3%, steady: fio-bw}", "`steady: fio-bw` was removed: `steady` is poolproof or snia", "snia"),
        ("goal: etc", "goal `etc` names no workload; did you mean `etcd`?", "write goal: etcd"),
    ],
)
def test_mistakes_in_the_rest(rest: str, message: str, hint: str) -> None:
    error = mistake(text(rest=rest))
    assert error.message.startswith(f"c.yaml:7: {message}")
    assert hint in error.hint


def test_a_baseline_that_names_a_whole_matrix_is_told_its_layouts() -> None:
    error = mistake(text(layouts="pool: zfs a k={1,2}", rest="baseline: pool"))
    assert error.message.startswith("c.yaml:7: baseline `pool` names no layout")
    assert error.hint == "write baseline: pool[k=1]; there is pool[k=1] or pool[k=2]"


def test_a_matrix_without_end_is_refused_before_it_is_made() -> None:
    numbers = ", ".join(map(str, range(300)))
    error = mistake(text(workloads=f"w: {{rw: read, size: [{numbers}], offset: [{numbers}]}}"))
    assert error.message == "c.yaml:6: the lists make more than 10000 workloads"


def test_cells_without_end_are_refused() -> None:
    numbers = ", ".join(map(str, range(9000)))
    error = mistake(text(layouts="one: zfs a k={1..20}", workloads=f"w: {{rw: read, size: [{numbers}]}}"))
    assert error.message == "c.yaml:3: the campaign has 180000 cells, more than 100000"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    for path, reason in (
        (tmp_path / "none.yaml", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (binary, "it is no UTF-8 text"),
    ):
        with pytest.raises(CampaignError) as caught:
            read_campaign(path)
        assert caught.value.message == f"{path} cannot be read: {reason}"
        assert caught.value.hint == "give the path of a campaign's YAML file"


def test_a_file_larger_than_any_campaign_is_not_read_whole(tmp_path: Path) -> None:
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(CampaignError, match="larger than any campaign"):
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


def test_a_budget_below_the_least_says_what_it_would_take() -> None:
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\ngoal: w\nbudget: 20s"
    error = mistake(text(layouts="one: dir /a\n  two: dir /b", workloads="w: {rw: read, bs: [4k, 16k]}", rest=rest))
    assert "a budget of 20.0 s is below the least: 8 trials of 3 s take fio alone 24.0 s" in error.message
    assert error.hint.startswith("write budget: 48s")


@pytest.mark.parametrize(
    ("layout", "workload", "said", "hint"),
    [
        ("btrfs a", "{rw: write, bs: 4k}", "2 trials of 90 s take fio alone 3 min", "360s"),
        ("btrfs commit=5 a", "{rw: write, bs: 4k}", "2 trials of 15 s take fio alone 30.0 s", "60s"),
        ("btrfs a", "{rw: [read, write], bs: 4k}", "4 trials of 3 to 90 s take fio alone 3 min 6 s; what", "372s"),
        ("btrfs a", "{rw: readwrite, bs: 4k}", "2 trials of 90 s take fio alone 3 min", "360s"),
        ("zfs a", "{rw: write, bs: 4k, runtime: 60}", "2 trials of 60 s take fio alone 2 min", "240s"),
        ("zfs a", "{rw: write, bs: 4k, runtime: 2m, ramp_time: 5s}", "2 trials of 125 s take fio alone", "500s"),
        ("a | ext4", "{rw: read, bs: 4k, ramp_time: 30}", "2 trials of 33 s take fio alone", "132s"),
    ],
)
def test_the_least_of_a_budget_counts_what_is_held_back_and_what_workloads_say(
    layout: str, workload: str, said: str, hint: str
) -> None:
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 20s"
    error = mistake(text(devices="a: {file: 2G}", layouts=f"one: {layout}", workloads=f"w: {workload}", rest=rest))
    assert said in error.message
    assert error.hint.startswith(f"write budget: {hint}")


@pytest.mark.parametrize(
    "rest",
    [
        "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 20s",
        "measure: {until: 0.1%}",
    ],
)
def test_the_campaign_of_a_run_is_not_checked_again(rest: str) -> None:
    """An earlier version accepted it, and its results can still be compared."""
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


@pytest.mark.parametrize(
    ("layout", "workload"),
    [
        ("zfs a", "{rw: write, bs: 4k}"),
        ("a | ext4", "{rw: write, bs: 4k, direct: 0}"),
        ("btrfs a", "{rw: read, bs: 4k}"),
        ("btrfs a", "{rw: write, bs: 4k, time_based: 0, runtime: 60}"),
    ],
)
def test_what_the_host_decides_or_the_work_refuses_no_budget(layout: str, workload: str) -> None:
    """The groups of ZFS and the page cache turn over sooner where much is written, or where the host is set so."""
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 7s"
    asked = text(devices="a: {file: 2G}", layouts=f"one: {layout}", workloads=f"w: {workload}", rest=rest)
    assert parse_campaign(asked, "c.yaml").budget_s == 7


def test_what_hosts_usually_hold_back_is_in_the_budget_that_is_proposed() -> None:
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 5s"
    error = mistake(text(devices="a: {file: 2G}", layouts="one: zfs a", workloads="w: {rw: write, bs: 4k}", rest=rest))
    assert "2 trials of 3 s take fio alone 6.0 s" in error.message
    assert error.hint.startswith("write budget: 60s")
    zvol, buffered = "one: zfs a | zvol 1G | ext4", "w: {rw: write, bs: 4k, direct: 0}"
    error = mistake(text(devices="a: {file: 2G}", layouts=zvol, workloads=buffered, rest=rest))
    assert error.hint.startswith("write budget: 420s"), "three turns of the page cache over the volume, twice, and room"
    error = mistake(text(devices="a: {file: 2G}", layouts="one: zfs a", workloads=buffered, rest=rest))
    assert error.hint.startswith("write budget: 60s"), "a dataset has no page cache"


@pytest.mark.parametrize("confidence", ["99.99999999999999999%", "99.99999999999999%", "100.0%"])
def test_a_confidence_with_too_many_nines_is_always_and_refused(confidence: str) -> None:
    error = mistake(text(rest=f"measure: {{until: 3%, confidence: {confidence}}}"))
    assert "expected a confidence from 50% to less than 100%" in error.message


@pytest.mark.parametrize(
    ("measure", "least", "hint"),
    [
        ("until: 0.5%", "0.5% of it: fio counts latencies in bins, by which trials know it to 0.92% at best", "1%"),
        ("until: 1%, confidence: 99%", "know it to 1.2% at best", "1.3%"),
        ("until: 0.7%, confidence: 50%", "know it to 0.78% at best", "0.8%"),
    ],
)
def test_a_percentile_cannot_be_known_better_than_its_bins(measure: str, least: str, hint: str) -> None:
    error = mistake(text(workloads="etcd: etcd", rest=f"measure: {{{measure}, trials: 2..6}}"))
    assert "workload etcd is compared by sync_p99, and `until` asks for" in error.message
    assert error.message.startswith("c.yaml:7: "), "where `measure` stands"
    assert least in error.message
    assert error.hint == f"write until: {hint}, or metric: iops"


def test_a_rate_may_be_asked_for_as_well_as_anybody_likes() -> None:
    asked = text(workloads="etcd: {preset: etcd, metric: iops}", rest="measure: {until: 0.1%}")
    assert parse_campaign(asked, "c.yaml").measure.until is not None


def test_a_budget_without_a_goal_is_refused_where_there_are_several_families() -> None:
    rest = "measure: {until: 3%}\nbudget: 1h"
    error = mistake(text(workloads="w: {rw: read}\n  v: {rw: write}", rest=rest))
    assert "`budget` is spent on what decides the goal, and there is none" in error.message


@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        ("rw: read, metric: sync_p99", "compared by sync_p99, and none of its jobs calls fsync", "fdatasync: 1"),
        ("rw: write, fsync: 0, metric: sync_p99", "compared by sync_p99, and none of its jobs calls", "metric: p99"),
        ("rw: read, gtod_reduce: 1, metric: p99", "compared by p99, and fio takes no times of its I/Os", "gtod_reduce"),
    ],
)
def test_a_metric_that_its_jobs_never_give_is_refused(options: str, said: str, hint: str) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_campaign(f"layouts: {{one: dir /srv}}\nworkloads: {{w: {{{options}}}}}\n", "c.yaml")
    assert said in caught.value.message and hint in caught.value.hint
