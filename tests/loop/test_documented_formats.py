"""The output and the files of a real run match docs/json.md and docs/run-directory.md."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loop.testbed import Testbed
from tests.unit.docs.pages import documented, keys_of_value, optional_parents

pytestmark = pytest.mark.parallel

CAMPAIGN = """
name: formats
devices:
  a: {file: 512M}
  b: {file: 512M}
layouts:
  one: a | ext4
  two: btrfs raid1 a b
workloads:
  reads: {rw: randread, bs: 4k, size: 32m}
  commits: {rw: write, bs: 4k, size: 8m, fdatasync: 1, ioengine: sync, direct: 0}
  trap: {rw: write, bs: 1m, numjobs: 4, filename: shared, size: 16m, direct: 0, ioengine: psync, end_fsync: 1}
measure: {time: 1s, trials: 2}
baseline: one
expect:
  - {claim: it reads, source: this test, that: "iops(two, reads) > 1"}
"""
PRINTED_FREE = frozenset(
    {"verdicts", "changes", "seconds", "cells[].seconds", "cells[].verdicts", "cells[].too_few_events"}
)
OF_UNTIL = {"cells[].unsettled[].name", "cells[].unsettled[].sentence"}
"""Keys that a campaign with a fixed time does not have; tests/loop/test_until.py has them."""
OF_TRIALS = {"cells[].remarks[]", "cells[].too_few_events.*"}
"""Keys that depend on the results; tests/unit/results/compare/test_certainty.py and
tests/unit/presentation/test_few_events_marks.py have them."""
OF_RESUME = {"changes.*"}
"""A key of a resumed run; tests/unit/results/compare/test_command.py has it."""
OF_EMULATED = {"cells[].emulated[]"}
"""A key of emulated disks; tests/unit/presentation/test_emulated_marks.py has it."""
OF_BUDGET = {row for row in documented("json.md", "The object of a run") if row.startswith("race.")}
"""Keys that a campaign without a budget does not have; tests/unit/results/runs/test_elimination.py has them."""
OF_CALIBRATE = {
    row for row in documented("json.md", "The object of a run") if row.startswith(("cells[].limit.", "bare[]."))
}
"""Keys that a campaign without `calibrate` does not have; tests/loop/test_calibrate.py has them."""
OF_QUIET = {
    f"{value}.{bound}"
    for value in ("cells[].speed_to_baseline", "cells[].factor_to_baseline", "claims[].measured")
    for bound in ("mean", "low", "high")
}
"""Keys without which cells are that other work disturbed; tests/unit/results/compare/test_disturbed.py has them."""
FREE = frozenset({"verdicts", "facts", "versions", "stored_bytes", "seconds", "leaves", "conditions"})


@pytest.fixture(scope="module")
def printed(shared_testbed: Testbed) -> Any:
    answer = shared_testbed.ask(CAMPAIGN)
    assert answer.code == 0, answer.err
    return answer.json


@pytest.fixture(scope="module")
def directory(shared_testbed: Testbed, printed: Any) -> Path:
    path = shared_testbed.runs / "run"
    assert Path(printed["run"]) == path
    return path


def test_the_json_of_a_run_is_documented(printed: Any) -> None:
    keys = keys_of_value(printed, free=PRINTED_FREE)
    rows = documented("json.md", "The object of a run")
    assert keys <= rows
    known = OF_UNTIL | OF_TRIALS | OF_RESUME | OF_EMULATED | OF_BUDGET | OF_CALIBRATE
    if any("so the result is not compared" in remark for cell in printed["cells"] for remark in cell["remarks"]):
        known |= OF_QUIET
    assert rows <= keys | optional_parents(keys) | known


@pytest.mark.parametrize("name", ["run.json", "trials.jsonl", "journal.jsonl"])
def test_a_file_of_the_run_holds_documented_keys(directory: Path, name: str) -> None:
    lines = [directory.joinpath(name).read_text()] if name.endswith(".json") else _lines(directory / name)
    found = {key for line in lines for key in keys_of_value(json.loads(line), FREE - {"leaves"})}
    assert found
    assert found <= documented("run-directory.md", f"`{name}`")


@pytest.mark.parametrize("name", ["evidence.json", "samples.jsonl", "series.jsonl"])
def test_a_file_of_each_trial_holds_documented_keys(directory: Path, name: str) -> None:
    files = sorted(directory.glob(f"cells/*/*/*/{name}"))
    assert len(files) == 12
    free = FREE if name == "samples.jsonl" else FREE - {"leaves"}
    for file in files:
        texts = [file.read_text()] if name.endswith(".json") else _lines(file)
        rows = documented("run-directory.md", f"`{name}`")
        for text in texts:
            assert keys_of_value(json.loads(text), free) <= rows


def test_every_file_is_documented(directory: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "run-directory.md").read_text()
    names = {path.name for path in directory.rglob("*") if path.is_file()}
    assert {"run.json", "trials.jsonl", "journal.jsonl", "job.fio", "fio.json", "evidence.json"} <= names
    assert not [name for name in names if f"  {name} " not in page]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()
