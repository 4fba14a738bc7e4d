"""Comparing two runs cell by cell: what is compared, what is left out, how the runs differ, and the gate's outcome."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.cell_key import CellKey
from poolproof.errors import RunError, UsageError
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.results.compare.cell_comparison import Comparison, Side, compare
from poolproof.results.compare.ranking import split_names
from poolproof.results.compare.run_differences import run_differences
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from tests.golden import Message

from .making import CAMPAIGN, RECORD, Values, changed, made, make_run

BEFORE: Values = {
    ("one", "reads"): [1000.0, 1010.0, 990.0],
    ("pair", "reads"): [2000.0, 2010.0, 1990.0],
    ("union", "reads"): [1500.0, 1504.0, 1496.0, 1501.0, 1499.0],
    ("one", "etcd"): [2.0e6, 2.02e6, 1.98e6],
    ("pair", "etcd"): [4.0e6, 4.4e6, 3.6e6],
}
PROCESSORS = {"tcg": {"processor": "QEMU TCG CPU version 2.5+"}, "kvm": {"processor": "AMD EPYC"}, "old": {}}
LAYOUTS = ("one", "pair", "union")
AFTER: Values = {
    ("one", "reads"): [1300.0, 1310.0, 1290.0],
    ("pair", "reads"): [1500.0, 1510.0, 1490.0],
    ("union", "reads"): [1501.0, 1503.0, 1498.0, 1500.0, 1499.0],
    ("one", "etcd"): [1.0e6, 1.02e6, 0.98e6],
    ("pair", "etcd"): [4.2e6, 4.6e6, 3.8e6],
}


def compared(a: Path, b: Path, **options: float) -> Comparison:
    return compare(Side(load_run(a)), Side(load_run(b)), effect=0.02, limit=options.get("limit"))


def printed(comparison: Comparison) -> str:
    out = StringIO()
    print_comparison(Console(file=out, width=100), comparison)
    return out.getvalue()


def words(comparison: Comparison) -> dict[str, str]:
    return {str(cell.key): cell.decision.word for cell in comparison.cells}


def test_only_the_imported_run_of_a_comparison_is_called_imported(tmp_path: Path) -> None:
    own = make_run(tmp_path / "own", BEFORE)
    post = make_run(tmp_path / "post", AFTER, record=replace(RECORD, imported=True))
    for other, of in ((post, ""), (own, f"of{post}")):
        text = "".join(printed(compared(other, post)).split())
        assert f"Theresults{of}wereimported,so" in text


def test_a_comparison_applies_to_the_hosts_of_its_runs(tmp_path: Path) -> None:
    run = make_run(tmp_path / "here", BEFORE)
    remote = make_run(tmp_path / "nas", BEFORE, record=replace(RECORD, host="nas"))
    assert "this machine" in printed(compared(run, run))
    assert "nas" in printed(compared(remote, remote)) and "this machine" not in printed(compared(remote, remote))
    assert "this machine and nas" in printed(compared(run, remote))


def test_every_cell_gets_its_word_and_less_latency_is_faster(tmp_path: Path) -> None:
    found = compared(make_run(tmp_path / "a", BEFORE), make_run(tmp_path / "b", AFTER))
    assert words(found) == {
        "reads on one": "faster",
        "etcd on one": "faster",
        "reads on pair": "slower",
        "etcd on pair": "undecided",
        "reads on union": "same",
    }
    by_place = {str(cell.key): cell for cell in found.cells}
    assert by_place["etcd on one"].difference.interval.mean == pytest.approx(2.0, rel=0.01)
    assert by_place["reads on pair"].difference.interval.mean == pytest.approx(0.75, rel=0.01)


def test_swapping_the_sides_inverts_every_word(tmp_path: Path) -> None:
    a, b = make_run(tmp_path / "a", BEFORE), make_run(tmp_path / "b", AFTER)
    turned = {"faster": "slower", "slower": "faster", "same": "same", "undecided": "undecided"}
    assert words(compared(b, a)) == {place: turned[word] for place, word in words(compared(a, b)).items()}


def test_refuted_failed_and_missing_cells_are_left_out_and_named(tmp_path: Path, message: Message) -> None:
    a = make_run(tmp_path / "a", BEFORE, bad={("one", "reads"): "refuted"})
    b = make_run(
        tmp_path / "b",
        {place: values for place, values in AFTER.items() if place != ("pair", "reads")},
        bad={("one", "reads"): "refuted", ("one", "etcd"): "failed"},
    )
    found = compared(a, b)
    left = {str(each.key): (each.why, each.lost) for each in found.left_out}
    assert left["reads on one"] == ("refuted (rule-refuted) in both", False)
    for why, _lost in left.values():
        message(why)
    for key, facts in {"etcd on one": ("rule-failed", "in B"), "reads on pair": ("in B",)}.items():
        assert left[key][1] and all(fact in left[key][0] for fact in facts)
    assert not left["stream on one"][1]
    assert set(words(found)) == {"etcd on pair", "reads on union"}


def test_a_suspect_result_is_compared_and_keeps_its_verdict(tmp_path: Path) -> None:
    b = make_run(tmp_path / "b", AFTER, bad={("one", "reads"): "suspect"})
    found = compared(make_run(tmp_path / "a", BEFORE), b)
    assert found.cells[0].b.cell.verdict == "suspect"


def test_one_trial_has_no_interval_and_no_word(tmp_path: Path) -> None:
    found = compared(make_run(tmp_path / "a", BEFORE), make_run(tmp_path / "b", {("one", "reads"): [9000.0]}))
    (cell,) = found.cells
    assert (cell.decision.word, cell.decision.p, cell.difference.interval.low) == ("undecided", None, None)


def test_runs_without_a_common_cell_are_one_clear_error(tmp_path: Path, message: Message) -> None:
    other = CAMPAIGN.replace("one:", "single:").replace("pair:", "twins:").replace("union:", "both:")
    b = make_run(tmp_path / "b", {("single", "reads"): [1.0, 2.0]}, record=changed(other))
    with pytest.raises(RunError, match=r"\bA .*reads on one, .*\bB .*reads on single") as caught:
        compared(make_run(tmp_path / "a", BEFORE), b)
    message(caught.value)
    assert "--layouts" in caught.value.hint


def test_two_layouts_without_a_common_workload_are_matched_by_workload_name(tmp_path: Path) -> None:
    other = changed(CAMPAIGN.replace("reads:", "scans:").replace("stream:", "flow:").replace("etcd:", "commits:"))
    b = make_run(tmp_path / "b", {("one", "scans"): [1.0, 2.0]}, record=other)
    with pytest.raises(RunError, match=r"no cell in common: A has reads") as caught:
        compare(Side(made(tmp_path / "a", BEFORE), "one"), Side(load_run(b), "one"), effect=0.02)
    assert caught.value.hint == "cells of the two layouts are matched by workload name"


def test_runs_whose_common_cells_do_not_count_are_an_error_with_the_reasons(tmp_path: Path) -> None:
    b = make_run(tmp_path / "b", {("one", "reads"): [1.0, 2.0]}, bad={("one", "reads"): "failed"})
    with pytest.raises(RunError, match=r"reads on one: .*\(rule-failed\) in B"):
        compared(make_run(tmp_path / "a", BEFORE), b)


def _disk_run(path: Path, settings: str, disk: str = "sda", campaign: str = CAMPAIGN) -> LoadedRun:
    run = load_run(make_run(path, BEFORE, record=changed(campaign)))
    folder = RunDirectory(run.path).trial_path(run.cell("one", "reads").trials[0].key)
    folder.mkdir(parents=True)
    (folder / "evidence.json").write_text(json.dumps({"conditions": {f"queue of {disk}": settings, "heat": "40 °C"}}))
    return load_run(run.path)


def test_unlike_queue_settings_of_a_disk_are_a_difference(tmp_path: Path) -> None:
    """Readahead changes the rate of sequential reads through the page cache several times."""
    a, b = _disk_run(tmp_path / "a", "read_ahead_kb=128"), _disk_run(tmp_path / "b", "read_ahead_kb=16")
    found = [(each.what, each.a, each.b) for each in run_differences(a, b)]
    assert found == [("queue of sda", "read_ahead_kb=128", "read_ahead_kb=16")]
    assert not run_differences(a, a)


def test_a_line_break_in_a_setting_becomes_a_space(tmp_path: Path) -> None:
    """A stranger's evidence must not add lines to a comparison."""
    a, b = _disk_run(tmp_path / "a", "1\n✓ the same", "sda\nsdb"), _disk_run(tmp_path / "b", "2", "sda sdb")
    assert [(each.what, each.a) for each in run_differences(a, b)] == [("queue of sda sdb", "1 ✓ the same")]


def test_loop_devices_of_poolproof_may_be_other_disks_in_the_other_run(tmp_path: Path) -> None:
    a, b = (_disk_run(tmp_path / name, f"read_ahead_kb={name}", "loop0") for name in "12")
    assert not run_differences(a, b)
    layouts = "{one: dir /srv/a, pair: dir /srv/b, union: dir /srv/c}"
    theirs = f"name: t\nlayouts: {layouts}\nworkloads:{CAMPAIGN.partition('workloads:')[2]}"
    a, b = (_disk_run(tmp_path / f"theirs-{name}", f"read_ahead_kb={name}", "loop0", theirs) for name in "12")
    assert [each.what for each in run_differences(a, b)] == ["queue of loop0"]


def test_differences_between_runs_have_both_values(tmp_path: Path) -> None:
    other = (
        CAMPAIGN.replace("bs: 4k", "bs: 16k").replace("time: 5s", "time: 9s").replace("b: {file: 2G}", "b: {file: 4G}")
    )
    other = other.replace("union: mergerfs (a | ext4) (b | ext4)", "union: mergerfs (a | ext4) (b | xfs)")
    b = make_run(tmp_path / "b", AFTER, record=changed(other, kernel="Linux 6.18"))
    found = {(each.what, each.a, each.b) for each in compared(make_run(tmp_path / "a", BEFORE), b).run_differences}
    assert found == {
        ("kernel", "Linux 6.12", "Linux 6.18"),
        ("time of a trial", "5 s", "9 s"),
        ("device b", "{file: 2G}", "{file: 4G}"),
        ("layout union", "mergerfs (a | ext4) (b | ext4)", "mergerfs (a | ext4) (b | xfs)"),
        ("workload reads: bs", "4k", "16k"),
    }


def test_another_processor_is_reported_if_both_runs_recorded_one(tmp_path: Path) -> None:
    """For example, one lab is emulated and the other uses KVM, on the same host and with the same kernel and image."""
    runs = [make_run(tmp_path / name, BEFORE, record=changed(CAMPAIGN, **facts)) for name, facts in PROCESSORS.items()]
    said = [[(each.what, each.a, each.b) for each in compared(runs[0], other).run_differences] for other in runs[1:]]
    assert said == [[("processor", "QEMU TCG CPU version 2.5+", "AMD EPYC")], []]


def test_a_kernel_setting_is_reported_if_both_runs_recorded_it(tmp_path: Path) -> None:
    """A run that started before the kernel module was loaded has recorded none of its parameters."""
    facts: tuple[dict[str, str], ...] = ({"zfs_txg_timeout": "5"}, {"zfs_txg_timeout": "1"}, {})
    runs = [make_run(tmp_path / str(at), BEFORE, record=changed(CAMPAIGN, **own)) for at, own in enumerate(facts)]
    said = [[(each.what, each.a, each.b) for each in compared(runs[0], other).run_differences] for other in runs[1:]]
    assert said == [[("zfs_txg_timeout", "5", "1")], []]


def test_two_layouts_of_one_run(tmp_path: Path, message: Message) -> None:
    run = made(tmp_path / "a", BEFORE)
    found = compare(Side(run, "one"), Side(run, "pair"), effect=0.02)
    assert words(found) == {"reads": "faster", "etcd": "slower"}
    assert [(each.what, each.a, each.b) for each in found.run_differences] == [
        ("layout", "one: a | ext4", "pair: btrfs raid1 a b")
    ]
    with pytest.raises(UsageError, match=r"`pare`.*`pair`") as refused:
        Side(run, "pare")
    message(refused.value)


def test_workloads_with_different_metrics_are_compared_only_by_a_given_one(tmp_path: Path, message: Message) -> None:
    other = changed(CAMPAIGN.replace("rw: randread, bs: 4k", "rw: randread, bs: 4k, metric: p99"))
    a = Side(made(tmp_path / "a", BEFORE))
    trials = {place: values for place, values in AFTER.items() if place[1] == "etcd"}
    b = Side(load_run(make_run(tmp_path / "b", trials, record=other)))
    left = {str(each.key): each.why for each in compare(a, b, effect=0.02).left_out}
    why = message(left["reads on one"])
    assert all(fact in why for fact in ("iops in A", "p99 in B", "--metric"))
    found = compare(a, b, effect=0.02, metric="bandwidth")
    assert {cell.a.metric for cell in found.cells} == {"bandwidth"}
    with pytest.raises(UsageError, match=r"--metric p999: ") as refused:
        compare(a, b, effect=0.02, metric="p999")
    message(refused.value)


def test_a_gate_lists_slower_lost_and_open_cells(tmp_path: Path) -> None:
    a = make_run(tmp_path / "a", BEFORE)
    b = make_run(tmp_path / "b", AFTER, bad={("one", "etcd"): "refuted"})
    gate = compared(a, b, limit=0.05).gate
    assert gate is not None and not gate.passed
    assert [str(cell.key) for cell in gate.slower] == ["reads on pair"]
    assert [str(left.key) for left in gate.lost] == ["etcd on one"]
    assert [str(cell.key) for cell in gate.open] == ["etcd on pair"]


def test_a_gate_lets_a_smaller_slowdown_pass(tmp_path: Path) -> None:
    gate = compared(make_run(tmp_path / "a", BEFORE), make_run(tmp_path / "b", AFTER), limit=0.4).gate
    assert gate is not None and gate.passed


def test_a_gate_without_a_testable_cell_is_an_error(tmp_path: Path) -> None:
    one, other = ({("one", "reads"): [value]} for value in (10.0, 11.0))
    with pytest.raises(RunError, match="--fail-if-slower: poolproof cannot test"):
        compared(make_run(tmp_path / "a", one), make_run(tmp_path / "b", other), limit=0.05)


def test_a_campaign_with_fewer_cells_is_compared_by_the_common_ones(tmp_path: Path) -> None:
    less = CAMPAIGN.replace("  union: mergerfs (a | ext4) (b | ext4)\n", "")
    trials = {place: values for place, values in AFTER.items() if place[0] != "union"}
    found = compared(make_run(tmp_path / "a", BEFORE), make_run(tmp_path / "b", trials, record=changed(less)))
    assert CellKey("union", "reads") in found.only_a and not found.only_b


def test_a_gate_fails_if_the_other_campaign_lacks_a_cell_or_uses_another_metric(tmp_path: Path) -> None:
    """Otherwise, a renamed or removed layout would pass the gate."""
    renamed = changed(CAMPAIGN.replace("  pair: btrfs", "  pairs: btrfs"))
    slower = {("one", "reads"): BEFORE["one", "reads"], ("pairs", "reads"): [100.0, 101.0, 99.0]}
    a = make_run(tmp_path / "a", BEFORE)
    gate = compared(a, make_run(tmp_path / "b", slower, record=renamed), limit=0.05).gate
    assert gate is not None and not gate.passed
    assert {str(left.key) for left in gate.lost} >= {"reads on pair", "etcd on pair"}
    other = changed(CAMPAIGN.replace("rw: randread, bs: 4k", "rw: randread, bs: 4k, metric: p99"))
    etcd = {place: values for place, values in BEFORE.items() if place[1] == "etcd"}
    gate = compared(a, make_run(tmp_path / "c", etcd, record=other), limit=0.05).gate
    assert gate is not None and {str(left.key) for left in gate.lost} == {f"reads on {name}" for name in LAYOUTS}


def test_a_gate_fails_without_an_error_if_all_values_are_lost(tmp_path: Path) -> None:
    cell = {("one", "reads"): BEFORE["one", "reads"]}
    a, b = make_run(tmp_path / "a", cell), make_run(tmp_path / "b", cell, bad={("one", "reads"): "refuted"})
    found = compared(a, b, limit=0.05)
    assert found.gate is not None and not found.gate.passed and not found.cells
    assert "failed: --fail-if-slower 5%" in printed(found)
    with pytest.raises(RunError, match=r"reads on one: .* in B") as error:
        compared(a, b)
    assert str(b) in (error.value.hint or "")


def test_many_cells_show_how_precise_two_trials_are(tmp_path: Path) -> None:
    """For two trials, t is 12.7, and a difference of 9% is nine standard errors.

    With many such cells, this is significant.
    """
    sizes = ", ".join(f"{2**power}k" for power in range(2, 10))
    campaign = CAMPAIGN.replace("rw: randread, bs: 4k", f"rw: randread, bs: [{sizes}], metric: iops")
    record = changed(campaign.replace("time: 5s, trials: 3", "until: 3%, trials: 2..6"))
    names = [f"reads[bs={2**power}k]" for power in range(2, 10)]
    quiet = {(layout, name): [1000.0 + at, 1010.0 + at] for layout in LAYOUTS for at, name in enumerate(names)}
    slow = {place: [value / 1.087 for value in values] for place, values in quiet.items()}
    alone = ({("one", names[0]): values["one", names[0]]} for values in (quiet, slow))
    a, b = (
        make_run(tmp_path / f"many-{at}", each, record=record, unsettled={}) for at, each in enumerate((quiet, slow))
    )
    assert set(words(compared(a, b)).values()) == {"slower"}
    a, b = (make_run(tmp_path / f"alone-{at}", each, record=record, unsettled={}) for at, each in enumerate(alone))
    assert set(words(compared(a, b)).values()) == {"undecided"}


def test_each_cell_of_a_matrix_is_named_in_the_table(tmp_path: Path) -> None:
    record = changed(CAMPAIGN.replace("rw: randread, bs: 4k", "rw: randread, bs: [4k, 16k], metric: iops"))
    cells = {(layout, f"reads[bs={bs}]"): [10.0, 11.0, 12.0] for layout in ("one", "pair") for bs in ("4k", "16k")}
    run = load_run(make_run(tmp_path / "a", cells, record=record))
    text = printed(compare(Side(run, "one"), Side(run, "pair"), effect=0.02))
    assert "reads[bs=4k], " in text and "reads[bs=16k], " in text


def test_names_of_a_matrix_may_contain_commas() -> None:
    assert split_names("a[x=1,y=2], b") == ["a[x=1,y=2]", "b"]
