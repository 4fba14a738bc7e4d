"""`measure: {until: …}`: trials end when their figure is known, and what never settles is not called known.

fio itself holds the rate of these workloads, so that they are as steady, or as restless, on every machine.
"""

import json
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loop.command import ask
from tests.loop.ground import Ground
from tests.loop.hosts.sshd import sshd
from tests.loop.test_documented_formats import OF_UNTIL, PRINTED_FREE
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
def steady(shared_ground: Ground) -> Any:
    answer = shared_ground.ask(_STEADY)
    assert answer.code == 0, answer.out + answer.err
    return answer.json


@pytest.mark.usefixtures("steady")
def test_a_trial_ends_when_its_figure_is_known(shared_ground: Ground) -> None:
    trials = _trials(shared_ground)
    for name in ("reads", "writes"):
        numbers = [trial["number"] for trial in trials if trial["workload"] == name]
        assert numbers == list(range(1, len(numbers) + 1)) and 2 <= len(numbers) <= 6
    for trial in trials:
        assert trial["verdict"] == "sound", trial["findings"]
        assert trial["settling"]["settled"], trial["settling"]
        assert trial["settling"]["ran_s"] < _MOST_S
        assert abs(trial["figures"]["iops"] - 200) < 0.3 * 200


def test_a_steady_cell_is_settled(steady: Any) -> None:
    assert [cell["settled"] for cell in steady["cells"]] == [True, True]
    assert [cell["unsettled"] for cell in steady["cells"]] == [[], []]
    assert steady["fixed_s"] == 2 * 2 * _MOST_S
    assert steady["seconds"]["fio"] < steady["fixed_s"]


@pytest.mark.usefixtures("steady")
def test_fios_last_report_is_kept_whole_with_the_series_that_led_to_it(shared_ground: Ground) -> None:
    for folder in sorted(shared_ground.runs.glob("run/cells/one/*/*")):
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
def test_the_counters_cover_what_fio_moved_in_its_whole_run(shared_ground: Ground) -> None:
    for trial in _trials(shared_ground):
        account, direction = trial["account"], trial["workload"].removesuffix("s")
        moved = account[f"fio_{direction}_bytes"]
        assert moved >= 200 * 4096 * 0.7 * trial["settling"]["ran_s"]
        counted = account["leaf_read_bytes" if direction == "read" else "leaf_drained_write_bytes"]
        assert 0.85 < counted / moved < 1.5


def test_what_never_settles_is_called_unsettled(ground: Ground) -> None:
    answer = ground.ask(_RESTLESS)
    assert answer.code == 0, answer.out + answer.err
    keys = keys_of_value(answer.json, free=PRINTED_FREE)
    assert keys <= documented("json.md", "The object of a run") and keys >= OF_UNTIL
    pauses = next(cell for cell in answer.json["cells"] if cell["workload"] == "pauses")
    assert pauses["settled"] is False
    assert pauses["unsettled"]
    shown = ask("show", str(ground.runs / "run")).out
    row = shown.splitlines()[
        shown.splitlines().index(next(x for x in shown.splitlines() if x.startswith("pauses"))) + 1
    ]
    assert "unsettled" in row and "IOPS" not in row
    own = next(trial for trial in _trials(ground) if trial["workload"] == "own")
    assert own["settling"] is None, "a workload that says how long it takes runs as it says"
    assert own["seconds"]["fio"] < 4


def test_a_killed_run_goes_on_with_the_trials_that_it_still_needs(ground: Ground) -> None:
    started = ground.start(_LONG)
    started.await_that(lambda: len(ground.trial_lines()) == 1, "no trial ended", 150.0)
    started.await_program("fio", "job.fio")
    started.kill()
    kept = ground.trial_lines()
    answer = ground.resume().wait()
    assert answer.code == 0, answer.err
    assert ground.trial_lines()[: len(kept)] == kept
    assert [trial["number"] for trial in _trials(ground)] == [1, 2]


def test_ctrl_c_in_such_a_trial_ends_the_run_in_order(ground: Ground) -> None:
    started = ground.start(_LONG)
    started.await_program("fio", "job.fio")
    started.signal(signal.SIGINT)
    answer = started.wait(90.0)
    assert answer.code == 130
    assert ground.trial_lines() == []


def test_a_budget_goes_to_what_decides_the_goal(ground: Ground) -> None:
    """No result is ever precise to 0.001 %, so the time decides how far the sampling of two equal layouts goes."""
    cells = ground.cells(_BUDGET)
    assert {name: cell["trials"] for name, cell in cells.items() if name[1] == "other"} == {
        ("one", "other"): 2,
        ("two", "other"): 2,
    }
    assert all(2 <= cell["trials"] <= 3 for cell in cells.values())
    assert all(trial["settling"]["most_s"] < 20 for trial in _trials(ground)), "each has its share of the time"
    assert all(cell["settled"] is False for cell in cells.values())
    race = ask("show", str(ground.runs / "run"), "--json").json["race"]
    assert {*race["left"], *(each["layout"] for each in race["dropped"])} == {"one", "two"}
    # on a busy machine no trial may have a steady rate: then no layout leads
    assert race["leader"] in race["left"] or sorted(race["unsteady"]) == ["one", "two"]
    assert "adaptive sampling for reads: " in ask("show", str(ground.runs / "run")).out
    kept = ground.trial_lines()
    answer = ground.resume().wait()
    assert answer.code == 0, answer.err
    assert ground.trial_lines()[: len(kept)] == kept


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="poolproof-", dir="/tmp") as short, sshd() as running_one:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setenv("PATH", str(running_one.client_folder()), prepend=":")
        yield


@pytest.mark.usefixtures("server")
def test_over_ssh_a_trial_ends_when_its_figure_is_known(ground: Ground) -> None:
    path = ground.campaign(_LONG)
    answer = ask(*ground.words(path), "--on", "far", "--trials", "1")
    assert answer.code == 0, answer.out + answer.err
    (trial,) = _trials(ground)
    assert trial["verdict"] == "sound", trial["findings"]
    assert trial["settling"]["settled"]
    assert trial["settling"]["ran_s"] < _MOST_S
    assert (Path(answer.json["run"]) / "cells/one/reads/1/series.jsonl").is_file()


def _trials(ground: Ground) -> list[Any]:
    return [json.loads(line) for line in ground.trial_lines()]
