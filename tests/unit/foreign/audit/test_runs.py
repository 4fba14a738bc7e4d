"""Audits of a run directory, whose trials are judged again from their saved files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from poolproof.evidence.model import Account, Evidence, LeafUse
from poolproof.evidence.target_facts import Target
from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.model import Audited, audited_object
from poolproof.foreign.audit.saved_trials import audit_run
from poolproof.foreign.audit.sources import audit_sources
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.json_output import read_json_stream
from poolproof.load.fio.load import load_of
from poolproof.metrics import TrialMetrics
from poolproof.presentation.terminal.audited import audited_lines, summary_line
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial, TrialKey, trial_evidence
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.verdicts import Verdict
from tests.golden import Message
from tests.unit.results.compare.making import CAMPAIGN, RECORD

_MIB = 1024**2
_JOB = "[read]\nrw=read\nbs=1m\nsize=256m\ndirect=0\nioengine=psync\n"
_REPORT = """{"fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [{"jobname": "read", "error": 0,
"job options": {}, "read": {"io_bytes": 268435456, "bw_bytes": 134217728, "iops": 128.0, "runtime": 2000,
"total_ios": 256, "lat_ns": {"min": 1, "max": 9000000, "mean": 7800000, "stddev": 1000, "N": 256}},
"job_runtime": 2000}]}
"""


def _case(leaf_bytes: int) -> Case:
    account = Account(256 * _MIB, 0, leaf_bytes, 0, 0, write_factor=1.0, window_s=2.0, drain_s=0.0)
    return Case(
        load=load_of(read_job_file(_JOB).jobs),
        outcome=read_json_stream(_REPORT)[-1],
        evidence=Evidence(account, (LeafUse("a", leaf_bytes, 0, 0, 256, 0, 0, utilisation=0.9, latency_s=0.007),)),
        target=Target("ext4", ram_bytes=8 << 30),
    )


def _run(path: Path, case: Case | None, verdict: Verdict, report: str = _REPORT) -> RunDirectory:
    run = RunDirectory.create(path, CAMPAIGN, RECORD)
    run.append(Trial("one", "reads", 1, verdict, (), "iops"))
    if case is not None:
        folder = run.trial_directory(TrialKey("one", "reads", 1))
        run.keep_text(folder, "job.fio", _JOB)
        run.keep_text(folder, "fio.json", report)
        run.keep(folder, "evidence.json", trial_evidence(case))
    return run


def _audited(run: RunDirectory, setting: Context | None = None) -> Audited:
    (audited,) = audit_run(run.path, setting or Context())
    return audited


def test_a_trial_gets_its_recorded_verdict_again(tmp_path: Path) -> None:
    case = _case(256 * _MIB)
    judgement = judge(case)
    audited = _audited(_run(tmp_path / "r", case, judgement.verdict))
    assert (audited.verdict, audited.findings) == (judgement.verdict, judgement.findings)
    assert audited.verdict == "sound"
    assert not audited.has_changed
    assert audited.figures.directions["read"].bandwidth_bytes == 134217728
    assert summary_line([audited]) == "1 result: 1 sound"


def test_runs_in_a_folder_are_judged_by_their_evidence(tmp_path: Path) -> None:
    _run(tmp_path / "runs" / "a", _case(256 * _MIB), "sound")
    _run(tmp_path / "runs" / "b", _case(_MIB), "sound")
    found = audit_sources([str(tmp_path)], Context(), bytes)
    assert [(Path(each.source).parent.name, each.verdict, each.was) for each in found.results] == [
        ("a", "sound", "sound"),
        ("b", "refuted", "sound"),
    ]
    assert not found.unread


def test_a_changed_verdict_is_reported(tmp_path: Path, message: Message) -> None:
    audited = _audited(_run(tmp_path / "r", _case(_MIB), "sound"))
    assert (audited.verdict, audited.was, audited.has_changed) == ("refuted", "sound", True)
    message(summary_line([audited]))
    (changed,) = (line for line in audited_lines(audited, 100) if line.startswith("  changed: "))
    assert "sound" in message(changed)
    told = audited_object(audited)
    assert (told["verdict"], told["verdict_then"]) == ("refuted", "sound")
    assert audited.estimate is not None


def test_flags_override_the_saved_target(tmp_path: Path) -> None:
    run = _run(tmp_path / "r", _case(256 * _MIB), "sound")
    told = read_context(devices=["1x 100MB/s"])
    assert _audited(run, told).verdict == "refuted"
    assert _audited(_run(tmp_path / "warm", _case(0), "sound"), Context(cold=False)).verdict != "refuted"


def test_the_last_of_several_reports_counts(tmp_path: Path) -> None:
    early = _REPORT.replace("268435456", "1048576")
    assert _audited(_run(tmp_path / "r", _case(256 * _MIB), "sound", early + _REPORT)).verdict == "sound"


def test_a_trial_that_saved_too_little_keeps_its_recorded_verdict(tmp_path: Path) -> None:
    nothing = _audited(_run(tmp_path / "a", None, "suspect"))
    no_target = _audited(_run(tmp_path / "b", replace(_case(_MIB), target=None), "sound"))
    no_report = _audited(_run(tmp_path / "c", _case(_MIB), "failed", "fio: it died\n"))
    assert [each.verdict for each in (nothing, no_target, no_report)] == ["suspect", "sound", "failed"]
    assert "did not save" in nothing.known[0] and "did not save" in no_target.known[0]
    assert not no_report.has_changed


def test_a_trial_without_files_has_its_recorded_metrics(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", CAMPAIGN, RECORD)
    both = TrialMetrics(
        iops=300.0, bandwidth_bytes=3e6, read_iops=200.0, write_iops=100.0, read_bandwidth_bytes=2e6, sync_p99_ns=9e6
    )
    latencies: dict[str, Any] = {"p99_ns": 5e6, "read_p99_ns": 4e6, "write_p99_ns": 6e6}
    both = replace(both, write_bandwidth_bytes=1e6, **latencies)
    reads = TrialMetrics(iops=200.0, bandwidth_bytes=2e6, read_iops=200.0, read_bandwidth_bytes=2e6, p99_ns=5e6)
    for number, figures in enumerate((both, reads), start=1):
        run.append(Trial("one", "reads", number, "sound", (), "iops", figures))
    mixed, single = (audited_object(each)["figures"] for each in audit_run(run.path, Context()))
    assert [mixed[name]["latency_ns"]["p99"] for name in ("read", "write")] == [4e6, 6e6]
    assert mixed["sync"]["p99"] == 9e6
    assert single["read"]["latency_ns"]["p99"] == 5e6, "the percentiles of all I/Os are those of the only direction"
