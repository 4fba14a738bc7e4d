"""A directory that contains a run is refused, with the command that suits the state of that run."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import RunError
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.occupied import check_without_run

from ..compare.making import RECORD, make_run

_CAMPAIGN = """\
layouts: {one: dir /srv}
workloads: {reads: {rw: randread, bs: 4k}}
measure: {time: 5s, trials: 3}
"""


def _hint(path: Path) -> str:
    with pytest.raises(RunError, match="already contains a run") as refused:
        check_without_run(path)
    assert "--out" in refused.value.hint
    return refused.value.hint


def _run(path: Path, count: int) -> RunDirectory:
    values = {("one", "reads"): tuple(1.0 + number / 10 for number in range(count))}
    return RunDirectory(make_run(path / "run", values, record=replace(RECORD, campaign=_CAMPAIGN)))


def test_a_finished_run_is_not_resumed(tmp_path: Path) -> None:
    hint = _hint(_run(tmp_path, 3).path)
    assert "is finished" in hint and f"poolproof show {tmp_path}/run" in hint and "resume" not in hint


def test_an_unfinished_run_is_resumed(tmp_path: Path) -> None:
    assert f"poolproof resume {tmp_path}/run" in _hint(_run(tmp_path, 2).path)


def test_a_run_with_an_interrupted_trial_is_resumed(tmp_path: Path) -> None:
    run = _run(tmp_path, 3)
    *first, last = run.trials()
    run.write_trials([*first, replace(last, interrupted=True)])
    assert "poolproof resume" in _hint(run.path)


def test_a_run_in_progress_is_followed(tmp_path: Path) -> None:
    run = _run(tmp_path, 2)
    with run.locked():
        assert f"poolproof watch {tmp_path}/run" in _hint(run.path)


def test_imported_results_are_shown(tmp_path: Path) -> None:
    run = _run(tmp_path, 1)
    run.write_record(replace(run.record(), imported=True))
    hint = _hint(run.path)
    assert "poolproof show" in hint and "resume" not in hint


def test_a_damaged_run_is_not_resumed(tmp_path: Path) -> None:
    run = _run(tmp_path, 3)
    (run.path / "run.json").write_text("{")
    hint = _hint(run.path)
    assert "poolproof show" in hint and "resume" not in hint


def test_a_directory_without_a_run_is_accepted(tmp_path: Path) -> None:
    check_without_run(tmp_path)
    check_without_run(tmp_path / "none")
