"""One trial on a scripted host with the output of real programs: its result, its evidence, and its errors."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from poolproof.hosts.base import HostUnreachable
from poolproof.measure.model import Listener
from poolproof.presentation.charts.trial_data import trial_data
from poolproof.process import Completed
from poolproof.results.runs.model import Trial, TrialKey

from .scripted_host import Argv, Run, ScriptedHost, planned, script
from .test_conduct import failing, is_fio_trial


class Stop(Exception):
    """Raised to end the run after its first trial."""


class Steps(Listener):
    def __init__(self) -> None:
        self.steps: list[str] = []
        self.trial: Trial | None = None

    def trial_begins(self, key: TrialKey) -> None:
        assert key.layout and key.workload and key.number
        self.steps = []

    def activity_begins(self, title: str) -> None:
        if self.trial is None:
            self.steps.append(title)

    def trial_ends(self, trial: Trial) -> None:
        self.trial = trial
        raise Stop


def first_trial(host: ScriptedHost, path: Path) -> tuple[Run, Trial, list[str]]:
    run, heard = planned(host, path), Steps()
    with pytest.raises(Stop):
        run.conduct(heard)
    assert heard.trial is not None
    return run, heard.trial, heard.steps


def directory_of(run: Run, trial: Trial) -> Path:
    return run.directory.path / "cells" / trial.layout / trial.workload / str(trial.number)


def test_a_trial_drops_caches_measures_drains_and_is_judged(tmp_path: Path) -> None:
    run, trial, steps = first_trial(ScriptedHost(script()), tmp_path / "run")
    assert len(steps) == 3, "drop caches, measure, drain"
    assert trial.verdict == "sound", trial.findings
    assert trial.figures is not None and trial.figures.iops
    assert set(trial.seconds) == {"cool", "settle", "fio", "drain"}
    assert {path.name for path in directory_of(run, trial).iterdir()} >= {"fio.json", "job.fio", "evidence.json"}


def test_fio_and_the_disk_count_the_same_bytes(tmp_path: Path) -> None:
    run, trial, _steps = first_trial(ScriptedHost(script()), tmp_path / "run")
    assert trial.account is not None
    (leaf,) = trial.leaves
    report = msgspec.json.decode((directory_of(run, trial) / "fio.json").read_bytes())
    by_fio = sum(job["read"]["io_bytes"] + job["write"]["io_bytes"] for job in report["jobs"])
    by_disk = leaf.read_bytes + leaf.write_bytes
    assert by_fio > 0
    assert by_disk == pytest.approx(by_fio, rel=0.1)


def test_the_layout_is_remounted_before_a_cold_trial(tmp_path: Path) -> None:
    host = ScriptedHost(script())
    first_trial(host, tmp_path / "run")
    fio = next(number for number, argv in enumerate(host.ran) if is_fio_trial(argv))
    before = [argv[0] for argv in host.ran[:fio] if argv[0] in ("mkfs.ext4", "mount", "umount")]
    assert before == ["mkfs.ext4", "mount", "umount", "mount"]


def test_pages_left_in_the_page_cache_are_recorded_per_file(tmp_path: Path) -> None:
    def everything_is_cached(argv: Argv) -> Completed | None:
        if argv[0] == "dd":
            return Completed(argv, 0, "", "", 0.0)
        if argv[0] != "fincore":
            return None
        files = sum(word.startswith("/") for word in argv)
        return Completed(argv, 0, "8388608\n" * files, "", 0.0)

    host = ScriptedHost(script(), everything_is_cached)
    run, trial, _steps = first_trial(host, tmp_path / "run")
    dropped = [argv for argv in host.ran if argv[0] == "dd" and "iflag=nocache" in argv]
    assert dropped, "the files that are still cached are dropped one by one"
    evidence = msgspec.json.decode((directory_of(run, trial) / "evidence.json").read_bytes())
    assert {file["resident_bytes"] for file in evidence["files"]} == {8388608}


def test_if_fio_fails_the_trial_fails_with_its_error_message(tmp_path: Path) -> None:
    broken = script()
    broken.files = [(path, None if path.endswith("/fio.json") else text) for path, text in broken.files]
    host = ScriptedHost(broken, lambda argv: failing(argv) if is_fio_trial(argv) else None)
    _run, trial, _steps = first_trial(host, tmp_path / "run")
    assert trial.verdict == "failed"
    assert trial.findings[0].rule == "work-done"
    assert "it failed" in trial.findings[0].message


def test_if_the_connection_breaks_the_trial_fails(tmp_path: Path) -> None:
    def broken(argv: Argv) -> Completed | None:
        if is_fio_trial(argv):
            raise HostUnreachable("scripted did not answer", "ssh scripted")
        return None

    run = planned(ScriptedHost(script(), broken), tmp_path / "run")
    with pytest.raises(HostUnreachable):
        run.conduct()
    (trial,) = run.directory.trials()
    assert trial.verdict == "failed" and "did not answer" in trial.findings[0].message


def test_the_samples_end_with_the_window(tmp_path: Path) -> None:
    """On a slow host, reading everything after fio takes several seconds, during which the sampler continues."""
    late = script()
    for ticks in late.streams:
        ticks.append(replace(ticks[-1], at_s=ticks[-1].at_s + 30.0))
    run, trial, _steps = first_trial(ScriptedHost(late), tmp_path / "run")
    data = trial_data(run.directory.path, trial, 1000)
    assert data is not None
    assert data.times_s[-1] == pytest.approx(data.account.window_s)
    assert data.times_s[0] > -5.0, "the time before fio, not 30 seconds"
