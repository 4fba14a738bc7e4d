"""Labelled jobs: good jobs cause few alarms, and jobs with a known mistake cause the expected finding."""

from pathlib import Path

from benchmarks import jobs

_ROOT = Path(__file__).parents[4]
_FOLDER = _ROOT / "benchmarks" / "labelled_jobs"
_GOOD, _TRAPS = 60, 50


def test_the_labelled_jobs() -> None:
    good, traps = jobs.linted(_FOLDER / "good.txt"), jobs.linted(_FOLDER / "traps.txt")
    assert len(good) >= _GOOD and len(traps) >= _TRAPS
    assert not [(job.label, alarm.rule) for job in good for alarm in job.alarms]
    assert not [(job.label, job.text) for job in traps if not job.has_wanted]
    assert jobs.table(good, traps) in (_ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
