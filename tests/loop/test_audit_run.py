"""`poolproof audit RUN` judges the trials of a real run from their files, and reaches the same verdicts."""

import json

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed

_CAMPAIGN = """
devices: {a: {file: 512M}}
layouts: {ext4: a | ext4}
workloads:
  read: {rw: randread, bs: 4k, size: 64m}
  trap: {rw: read, bs: 1m, size: 64m, numjobs: 4, filename: X, ioengine: psync, direct: 0, time_based: 0}
measure: {trials: 1, time: 1s}
"""


@pytest.mark.slow
def test_auditing_a_run_gives_the_same_verdicts(testbed: Testbed) -> None:
    testbed.ask(_CAMPAIGN)
    run = testbed.runs / "run"
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    answer = ask("audit", str(run), "--json")
    assert answer.code == 1, answer.err
    assert [each["verdict"] for each in answer.json] == [trial["verdict"] for trial in trials]
    assert "refuted" in {each["verdict_then"] for each in answer.json} <= {"sound", "suspect", "refuted"}
    for again, trial in zip(answer.json, trials, strict=True):
        assert [each["rule"] for each in again["findings"]] == [each["rule"] for each in trial["findings"]]
        assert [each["message"] for each in again["findings"]] == [each["message"] for each in trial["findings"]]
