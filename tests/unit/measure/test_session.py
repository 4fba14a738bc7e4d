"""Planning and resuming a run: what is rejected, and which error is reported first."""

from pathlib import Path

import pytest

from poolproof.errors import CampaignError, HostError, RunError
from poolproof.measure.session import reopen_session
from poolproof.process import Completed
from poolproof.results.runs.directory import RunDirectory
from tests.unit.results.compare.making import CAMPAIGN, changed, make_run

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
