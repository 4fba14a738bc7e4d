"""A run first measures each of its disks individually, and compares its layouts with these results."""

import json
from typing import Any

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed, judged
from tests.unit.docs.pages import documented, keys_of_value, optional_parents

pytestmark = pytest.mark.slow

_CAMPAIGN = """
devices:
  rust: {emulate: hdd-7200, size: 512M}
  ssd: {emulate: sata-ssd, size: 512M}
layouts:
  one: rust | ext4
  both: btrfs raid1 rust ssd
workloads:
  reads: {rw: randread, bs: 16k, size: 64m}
  commits: {rw: randwrite, bs: 16k, size: 64m, sync: 1}
measure: {time: 4s, trials: 1, calibrate: true}
goal: reads
"""
_PRINTED_FREE = frozenset({"verdicts", "seconds", "cells[].seconds", "cells[].verdicts", "cells[].too_few_events"})
_QUICK_S = "{time: 500ms, trials: 2, calibrate: true, seed: 7}"


@pytest.fixture(scope="module")
def printed(shared_testbed: Testbed) -> Any:
    answer = shared_testbed.ask(_CAMPAIGN)
    assert answer.code == 0, answer.err
    return answer.json


@pytest.fixture(scope="module")
def bare(printed: Any) -> dict[tuple[str, str], Any]:
    return {(each["device"], each["workload"]): each for each in printed["bare"]}


@pytest.fixture(scope="module")
def limits(printed: Any) -> dict[tuple[str, str], Any]:
    return {(cell["layout"], cell["workload"]): cell["limit"] for cell in printed["cells"]}


def test_each_disk_is_measured_alone_with_evidence(bare: dict[tuple[str, str], Any]) -> None:
    assert set(bare) == {(disk, workload) for disk in ("rust", "ssd") for workload in ("reads", "commits")}
    assert {judged(each) for each in bare.values()} <= {"sound", "suspect"}
    # seeks and rotation compared with flash: the two differ on every machine
    assert bare["ssd", "reads"]["figure"]["mean"] > 2 * bare["rust", "reads"]["figure"]["mean"]


def test_a_file_system_on_one_disk_is_nearly_as_fast_as_the_disk(limits: dict[tuple[str, str], Any]) -> None:
    """Each read takes the same seek and rotation on both.

    The tolerance allows for the position of the file and a busy machine.
    """
    limit = limits["one", "reads"]
    assert limit["bound"] == "rust"
    assert [leaf["load"] for leaf in limit["leaves"]] == [1]
    assert 0.3 < limit["share"] < 3


def test_the_slower_disk_bounds_the_writes_of_a_mirror(
    bare: dict[tuple[str, str], Any], limits: dict[tuple[str, str], Any]
) -> None:
    """Each disk writes every byte, so the mirror is only as fast as the slower disk.

    It can differ slightly, because btrfs orders the writes differently.
    """
    limit = limits["both", "commits"]
    loads = {leaf["device"]: leaf["load"] for leaf in limit["leaves"]}
    assert loads == {"rust": pytest.approx(1, abs=0.15), "ssd": pytest.approx(1, abs=0.15)}
    assert limit["bound"] == "rust"
    assert limit["most"] == pytest.approx(bare["rust", "commits"]["figure"]["mean"] / loads["rust"])
    assert limit["share"] > 0


def test_the_limit_follows_from_the_bytes_of_each_disk(
    printed: Any, bare: dict[tuple[str, str], Any], limits: dict[tuple[str, str], Any]
) -> None:
    (cell,) = [each for each in printed["cells"] if (each["layout"], each["workload"]) == ("both", "reads")]
    shares = {leaf["device"]: leaf["read_share"] for leaf in cell["leaves"] if leaf["read_share"] >= 0.01}
    limit = limits["both", "reads"]
    assert {leaf["device"]: leaf["load"] for leaf in limit["leaves"]} == pytest.approx(shares)
    full = {device: bare[device, "reads"]["figure"]["mean"] / share for device, share in shares.items()}
    assert limit["most"] == pytest.approx(min(full.values()))
    assert limit["share"] == pytest.approx(cell["figure"]["mean"] / limit["most"])


def test_disks_measured_alone_are_not_ranked(printed: Any) -> None:
    assert {cell["layout"] for cell in printed["cells"]} == {"one", "both"}
    ranked = ask("rank", printed["run"], "--json").json
    assert {each["layout"] for each in ranked["layouts"]} <= {"one", "both"}
    assert ranked["left_out"] == []
    compared = ask("compare", printed["run"], printed["run"], "--json").json
    assert {cell["layout"] for cell in compared["cells"]} == {"one", "both"}
    shown = ask("show", printed["run"]).out
    assert "the disks alone" in shown
    assert "of limit" in shown
    assert "bare:" not in shown


def test_trials_of_disks_measured_alone_are_saved(printed: Any, shared_testbed: Testbed) -> None:
    assert printed["run"] == str(shared_testbed.runs / "run")
    kept = [json.loads(line) for line in shared_testbed.trial_lines()]
    assert [trial["layout"] for trial in kept][:4] == ["bare:rust"] * 2 + ["bare:ssd"] * 2
    folder = shared_testbed.runs / "run/cells/bare:rust/reads/1"
    assert {"job.fio", "fio.json", "evidence.json", "samples.jsonl"} <= {path.name for path in folder.iterdir()}
    assert "direct=1" in (folder / "job.fio").read_text()
    assert all(trial["account"]["leaf_read_bytes"] for trial in kept if trial["workload"] == "reads")
    (listed,) = ask("runs", str(shared_testbed.runs), "--json").json["runs"]
    assert (listed["state"], listed["cells"], listed["cells_wanted"]) == ("finished", 8, 8)


def test_the_json_with_limits_is_documented(printed: Any) -> None:
    keys = keys_of_value(printed, free=_PRINTED_FREE)
    rows = documented("json.md", "The object of a run")
    assert keys <= rows
    assert {row for row in rows if row.startswith("cells[].limit.")} <= keys
    absent = {"bare[].findings[].metrics[]"}  # every finding here is about all metrics
    assert {row for row in rows if row.startswith("bare[].")} <= keys | optional_parents(keys) | absent


def test_a_run_killed_while_measuring_disks_alone_resumes_there(testbed: Testbed) -> None:
    text = _CAMPAIGN.replace("measure: {time: 4s, trials: 1, calibrate: true}", f"measure: {_QUICK_S}")
    started = testbed.start(text)
    started.wait_for(lambda: len(testbed.trial_lines()) >= 3, "no three trials")
    started.kill()
    kept = testbed.trial_lines()
    answer = testbed.resume().wait()
    assert answer.code == 0, answer.err
    assert testbed.trial_lines()[: len(kept)] == kept
    trials = [json.loads(line) for line in testbed.trial_lines()]
    keys = [(trial["layout"], trial["workload"], trial["number"]) for trial in trials]
    assert len(keys) == len(set(keys)) == 4 * 2 * 2
    assert sum(layout.startswith("bare:") for layout, _, _ in keys) == 8
    assert len(answer.json["bare"]) == 4
    assert testbed.traces() == []
