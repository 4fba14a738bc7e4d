"""Planning and resuming a run: what is refused, and which error is reported first."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import CampaignError, HostError, RunError
from poolproof.measure.session import reopen_session
from poolproof.metrics import TrialMetrics
from poolproof.presentation.html_report.answer import answer
from poolproof.process import Completed
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Trial
from tests.unit.command import Command
from tests.unit.results.compare.making import CAMPAIGN, RECORD, changed, make_run

from .scripted_host import Argv, ScriptedHost, planned, script


def test_a_run_with_a_removed_steady_state_criterion_is_not_resumed(tmp_path: Path) -> None:
    record = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, steady: fio-slope}"))
    run = RunDirectory.open(make_run(tmp_path / "run", {("one", "reads"): [1.0]}, record=record))
    with pytest.raises(RunError, match="fio-slope"), reopen_session(run, lambda *_: None, on=None):
        pytest.fail("it was resumed")


def test_an_error_in_a_job_is_reported_before_missing_programs(tmp_path: Path) -> None:
    def refuse(argv: Argv) -> Completed | None:
        if "--parse-only" in argv or argv[:2] == ("test", "-w"):
            return Completed(argv, 1, "", "fio: bad option <size=8m>\n", 0.0)
        return None

    with pytest.raises(CampaignError):
        planned(ScriptedHost(script(), refuse), tmp_path / "run")


def test_missing_programs_are_reported_if_the_jobs_are_valid(tmp_path: Path) -> None:
    def refuse(argv: Argv) -> Completed | None:
        return Completed(argv, 1, "", "", 0.0) if argv[:2] == ("test", "-w") else None

    with pytest.raises(HostError, match="not writable"):
        planned(ScriptedHost(script(), refuse), tmp_path / "run")


def test_a_resumed_run_says_what_changed_on_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layouts = f"layouts: {{one: dir {tmp_path}, two: dir {tmp_path}}}"
    campaign = f"name: t\n{layouts}\nworkloads: {{reads: {{rw: read, size: 1m}}}}\n"
    state = tmp_path.resolve() / f"poolproof-{RECORD.label}"
    facts = {"ram_bytes": str(2**20), "gone": "1"}
    record = replace(RECORD, campaign=campaign, state_dir=str(state), facts=facts, versions={})
    run = RunDirectory.create(tmp_path / "r", campaign, record)
    for layout in ("one", "two"):
        figures = TrialMetrics(iops=100.0, bandwidth_bytes=409600.0)
        run.append(Trial(layout, "reads", 1, "sound", (), "bandwidth", figures))
    said: list[str] = []
    with reopen_session(run, said.append, on=None):
        pass
    assert list(run.record().changes) == ["ram"] and run.record().changes["ram"].startswith("1 MiB → ")
    change = "The machine changed before the run was resumed (ram: 1 MiB → "
    answers = [*said, str(answer(load_run(run.path)))]
    for words in (["show"], ["rank"], ["compare", "--layouts", "one,two"]):
        _, out, _ = Command(monkeypatch, capsys)(words[0], str(run.path), *words[1:])
        answers.append(" ".join(out.split()))
    assert len(answers) == 5 and all(change in text for text in answers)
