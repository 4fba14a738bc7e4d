"""`poolproof audit RUN`: the trials of a real run, judged again from its files, are judged as they were."""

import json

from tests.loop.command import ask
from tests.loop.ground import Ground

_CAMPAIGN = """
devices: {a: {file: 512M}}
layouts: {ext4: a | ext4}
workloads:
  read: {rw: randread, bs: 4k, size: 64m}
  trap: {rw: read, bs: 1m, size: 64m, numjobs: 4, filename: X, ioengine: psync, direct: 0, time_based: 0}
measure: {trials: 1, time: 1s}
"""


def test_a_run_judged_again_is_judged_as_it_was(ground: Ground) -> None:
    ground.ask(_CAMPAIGN)
    run = ground.runs / "run"
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    answer = ask("audit", str(run), "--json")
    assert answer.code == 1, answer.err
    assert [each["verdict"] for each in answer.json] == [trial["verdict"] for trial in trials]
    assert {each["verdict_then"] for each in answer.json} == {"sound", "refuted"}
    for again, trial in zip(answer.json, trials, strict=True):
        assert [each["rule"] for each in again["findings"]] == [each["rule"] for each in trial["findings"]]
        assert [each["message"] for each in again["findings"]] == [each["message"] for each in trial["findings"]]
