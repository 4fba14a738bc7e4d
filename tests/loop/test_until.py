"""`measure: {until: …}`: trials end when their result is precise enough.

A rate that never converges is not called precise.

fio itself limits the rate of these workloads, so they are equally steady or unsteady on every machine.
"""

import json
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loop.command import ask
from tests.loop.hosts.sshd import sshd
from tests.loop.test_documented_formats import OF_UNTIL, PRINTED_FREE
from tests.loop.testbed import Testbed, judged
from tests.unit.docs.pages import documented, keys_of_value

pytestmark = pytest.mark.slow

_MOST_S = 40.0
_STEADY = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4}
workloads:
  reads: {rw: randread, bs: 4k, size: 32m, rate_iops: 200, iodepth: 4}
  writes: {rw: randwrite, bs: 16k, size: 32m, rate_iops: 200, ramp_time: 1s, iodepth: 4}
measure: {until: 30%, max: 40s, trials: 2..6, seed: 5}
"""
_RESTLESS = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4}
workloads:
  pauses: {rw: randread, bs: 4k, size: 32m, rate_iops: 500, thinktime: 2s, thinktime_blocks: 500}
  own: {rw: randread, bs: 4k, size: 32m, rate_iops: 500, runtime: 1s}
measure: {until: 1%, max: 5s, trials: 1, seed: 5}
"""
_LONG = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 4k, size: 32m, rate_iops: 200}}
measure: {until: 50%, min: 4s, max: 40s, trials: 2, seed: 5}
"""
_BUDGET = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4, two: a | xfs}
workloads:
  reads: {rw: randread, bs: 4k, size: 32m, rate_iops: 200}
  other: {rw: randread, bs: 16k, size: 32m, rate_iops: 200}
measure: {until: 0.001%, min: 1s, max: 20s, trials: 2..3, seed: 5}
goal: reads
budget: 40s
"""


@pytest.fixture(scope="module")
def steady(shared_testbed: Testbed) -> Any:
    answer = shared_testbed.ask(_STEADY)
    assert answer.code == 0, answer.out + answer.err
    return answer.json


@pytest.mark.usefixtures("steady")
def test_a_trial_ends_when_its_result_is_precise(shared_testbed: Testbed) -> None:
    trials = _trials(shared_testbed)
    for name in ("reads", "writes"):
        numbers = [trial["number"] for trial in trials if trial["workload"] == name]
        assert numbers == list(range(1, len(numbers) + 1)) and 2 <= len(numbers) <= 6
    for trial in trials:
        assert judged(trial, "capped-rate") == "sound", trial["findings"]
        assert trial["settling"]["settled"], trial["settling"]
        assert trial["settling"]["ran_s"] < _MOST_S
        assert abs(trial["figures"]["iops"] - 200) < 0.3 * 200


def test_a_steady_cell_converges(steady: Any) -> None:
    assert [cell["settled"] for cell in steady["cells"]] == [True, True]
    assert [cell["unsettled"] for cell in steady["cells"]] == [[], []]
    assert steady["fixed_s"] == 2 * 2 * _MOST_S
    assert steady["seconds"]["fio"] < steady["fixed_s"]


@pytest.mark.usefixtures("steady")
def test_the_last_fio_report_is_saved_with_its_series(shared_testbed: Testbed) -> None:
    for folder in sorted(shared_testbed.runs.glob("run/cells/one/*/*")):
        report = json.loads((folder / "fio.json").read_text())
        (job,) = report["jobs"]
        way = job["read"] if folder.parent.name == "reads" else job["write"]
        series = [json.loads(line) for line in (folder / "series.jsonl").read_text().splitlines()]
        assert len(series) >= 12
        assert [row["ran_s"] for row in series] == sorted(row["ran_s"] for row in series)
        assert series[-1]["read_bytes"] + series[-1]["write_bytes"] == way["io_bytes"]
        assert series[-1]["ran_s"] == way["runtime"] / 1000
        assert job["error"] == 0
        assert "runtime=40s" in (folder / "job.fio").read_text()


@pytest.mark.usefixtures("steady")
def test_the_counters_cover_all_bytes_that_fio_moved(shared_testbed: Testbed) -> None:
    for trial in _trials(shared_testbed):
        account, direction = trial["account"], trial["workload"].removesuffix("s")
        moved = account[f"fio_{direction}_bytes"]
        assert moved >= 200 * 4096 * 0.7 * trial["settling"]["ran_s"]
        counted = account["leaf_read_bytes" if direction == "read" else "leaf_drained_write_bytes"]
        assert 0.85 < counted / moved < 1.5


def test_a_rate_that_never_converges_is_reported(testbed: Testbed) -> None:
    answer = testbed.ask(_RESTLESS)
    assert answer.code == 0, answer.out + answer.err
    keys = keys_of_value(answer.json, free=PRINTED_FREE)
    assert keys <= documented("json.md", "The object of a run") and keys >= OF_UNTIL
    pauses = next(cell for cell in answer.json["cells"] if cell["workload"] == "pauses")
    assert pauses["settled"] is False
    assert pauses["unsettled"]
    shown = ask("show", str(testbed.runs / "run")).out
    row = shown.splitlines()[
        shown.splitlines().index(next(x for x in shown.splitlines() if x.startswith("pauses"))) + 1
    ]
    assert "not converged" in row and "IOPS" not in row
    own = next(trial for trial in _trials(testbed) if trial["workload"] == "own")
    assert own["settling"] is None, "a workload that says how long it takes runs as it says"
    assert own["seconds"]["fio"] < 4


def test_a_resumed_run_makes_only_the_trials_it_still_needs(testbed: Testbed) -> None:
    started = testbed.start(_LONG)
    started.wait_for(lambda: len(testbed.trial_lines()) == 1, "no trial ended", 150.0)
    started.wait_for_program("fio", "job.fio")
    started.kill()
    kept = testbed.trial_lines()
    answer = testbed.resume().wait()
    assert answer.code == 0, answer.err
    assert testbed.trial_lines()[: len(kept)] == kept
    assert [trial["number"] for trial in _trials(testbed)] == [1, 2]


def test_ctrl_c_in_such_a_trial_stops_the_run_and_cleans_up(testbed: Testbed) -> None:
    started = testbed.start(_LONG)
    started.wait_for_program("fio", "job.fio")
    started.signal(signal.SIGINT)
    answer = started.wait(90.0)
    assert answer.code == 130
    assert testbed.trial_lines() == []


def test_a_budget_is_spent_on_the_cells_that_decide_the_goal(testbed: Testbed) -> None:
    """No result can be as precise as 0.001%, so the budget determines how long two equal layouts are measured."""
    cells = testbed.cells(_BUDGET)
    assert {name: cell["trials"] for name, cell in cells.items() if name[1] == "other"} == {
        ("one", "other"): 2,
        ("two", "other"): 2,
    }
    assert all(2 <= cell["trials"] <= 3 for cell in cells.values())
    assert [trial for trial in _trials(testbed) if trial["settling"] is None] == [], "a trial failed"
    assert all(trial["settling"]["most_s"] < 20 for trial in _trials(testbed)), "each has its share of the time"
    assert all(cell["settled"] is False for cell in cells.values())
    race = ask("show", str(testbed.runs / "run"), "--json").json["race"]
    assert {*race["left"], *(each["layout"] for each in race["dropped"])} == {"one", "two"}
    # on a busy machine, it can happen that no trial has a steady rate, so no layout leads
    assert race["leader"] in race["left"] or sorted(race["unsteady"]) == ["one", "two"]
    assert "adaptive sampling for reads: " in ask("show", str(testbed.runs / "run")).out
    kept = testbed.trial_lines()
    answer = testbed.resume().wait()
    assert answer.code == 0, answer.err
    assert testbed.trial_lines()[: len(kept)] == kept


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="poolproof-", dir="/tmp") as short, sshd() as running_one:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setenv("PATH", str(running_one.client_folder()), prepend=":")
        yield


@pytest.mark.usefixtures("server")
def test_over_ssh_a_trial_ends_when_its_result_is_precise(testbed: Testbed) -> None:
    path = testbed.campaign(_LONG)
    answer = ask(*testbed.words(path), "--on", "far", "--trials", "1")
    assert answer.code == 0, answer.out + answer.err
    (trial,) = _trials(testbed)
    assert judged(trial, "capped-rate") == "sound", trial["findings"]
    assert trial["settling"]["settled"]
    assert trial["settling"]["ran_s"] < _MOST_S
    assert (Path(answer.json["run"]) / "cells/one/reads/1/series.jsonl").is_file()


def _trials(testbed: Testbed) -> list[Any]:
    return [json.loads(line) for line in testbed.trial_lines()]
