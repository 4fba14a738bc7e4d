"""Everything that reads runs can still read a run written by an old version.

`old_run` was measured with commit 3089cafa of 23 November 2026, before types and modules got their current names. Only
the work directory in it was changed. Never replace it, but add a newer one next to it.
"""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

import poolproof
from tests.unit.command import Command

OLD = Path(__file__).parent / "old_run"
IOPS = {"reads": (475.8 + 862.8) / 2, "writes": (170.5 + 2559.4) / 2}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "old"))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def test_it_is_loaded_without_loss(run: Path) -> None:
    loaded = poolproof.load_run(run)
    assert not loaded.missing
    assert {cell.workload: cell.result().values for cell in loaded.cells}.keys() == IOPS.keys()
    for cell in loaded.cells:
        assert (cell.layout, cell.state, cell.builds, cell.verdict) == ("one", "healthy", 1, "sound")
        interval = cell.result().interval
        assert interval is not None
        assert interval.mean == pytest.approx(IOPS[cell.workload], rel=0.01)
    assert {finding.rule for trial in loaded.trials for finding in trial.findings} == {"few-samples"}


def test_it_is_shown(run: Path, command: Command) -> None:
    status, out, _ = command("show", str(run), "--json")
    found = json.loads(out)
    assert status == 0
    assert [(cell["workload"], cell["state"], cell["trials"]) for cell in found["cells"]] == [
        ("reads", "healthy", 2),
        ("writes", "healthy", 2),
    ]
    assert [claim["claim"] for claim in found["claims"]] == ["Reads are measured."]
    assert command("show", str(run))[0] == 0


def test_it_is_compared_with_itself(run: Path, command: Command) -> None:
    status, out, _ = command("compare", str(run), str(OLD), "--json")
    assert status == 0
    assert {cell["workload"] for cell in json.loads(out)["cells"]} == IOPS.keys()


def test_it_is_exported(run: Path, command: Command) -> None:
    status, out, _ = command("export", str(run), "--csv")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["workload"]: float(row["iops"]) for row in rows} == pytest.approx(IOPS, rel=0.01)


def test_its_report_is_drawn(run: Path, command: Command, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert command("report", str(run), "--out", str(page))[0] == 0
    assert "random reads of one file" in page.read_text(encoding="utf-8")


def test_it_is_audited_again_from_its_evidence(run: Path, command: Command) -> None:
    status, out, _ = command("audit", str(run), "--json")
    assert status == 0
    assert len(json.loads(out)) == 4
