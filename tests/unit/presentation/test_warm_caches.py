"""With `cold: false`, RAM is part of the results of reads. Every output that shows such a result says so."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.evidence.model import Account
from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.ranking import find_goal, rank
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.run_object import run_object
from tests.unit.results.compare.making import CAMPAIGN, RECORD, make_run

VALUES = {("one", "reads"): (100.0, 101.0, 102.0), ("pair", "reads"): (50.0, 51.0, 50.5)}
REMARK = "the caches stayed warm (cold: false), so RAM can be part of the result: the disks read 0.2% of the bytes"


def _run(path: Path, measure: str, *, read_bytes: int = 1_000_000, warm: str = "{rw: randread, bs: 4k}") -> LoadedRun:
    campaign = CAMPAIGN.replace("measure: {", f"measure: {{{measure}").replace("{rw: randread, bs: 4k}", warm)
    made = make_run(path, VALUES, record=replace(RECORD, campaign=campaign))
    account = Account(read_bytes, 4096, read_bytes // 500, 4096, 4096, 1.0, 10.0, 0.0)
    directory = RunDirectory.open(made)
    directory.write_trials([replace(trial, account=account) for trial in directory.trials()])
    return load_run(made)


def _outputs(run: LoadedRun) -> list[str]:
    out = io.StringIO()
    print_table(Console(file=out, width=200), run.cells, None)
    ranked = io.StringIO()
    print_ranking(
        Console(file=ranked, width=200), rank(run, find_goal(run.campaign, "reads", None), metric=None, effect=0.05)
    )
    table = table_of(run)
    cells = run_object(run.path, run.cells, None)["cells"]
    return [
        out.getvalue(),
        ranked.getvalue(),
        csv_text(table),
        markdown_text(table),
        str([cell["remarks"] for cell in cells]),
    ]


@pytest.mark.parametrize(
    ("measure", "workload"), [("cold: false, ", "{rw: randread, bs: 4k}"), ("", "{rw: randread, bs: 4k, cold: false}")]
)
def test_every_output_says_that_ram_can_be_part_of_the_result(tmp_path: Path, measure: str, workload: str) -> None:
    for text in _outputs(_run(tmp_path / "run", measure, warm=workload)):
        assert REMARK in " ".join(text.split())


@pytest.mark.parametrize("measure", ["", "cold: true, ", "cold: reads, "])
def test_results_with_cold_caches_have_no_remark(tmp_path: Path, measure: str) -> None:
    for text in _outputs(_run(tmp_path / "run", measure)):
        assert "warm" not in text


def test_results_of_loads_that_read_nothing_have_no_remark(tmp_path: Path) -> None:
    for text in _outputs(_run(tmp_path / "run", "cold: false, ", read_bytes=0)):
        assert "warm" not in text


def test_a_metric_of_writes_has_no_remark(tmp_path: Path) -> None:
    run = _run(tmp_path / "run", "cold: false, ")
    said = {metric: REMARK in str(run.cells[0].remarks(metric)) for metric in ("read_iops", "write_iops", "sync_p99")}
    assert said == {"read_iops": True, "write_iops": False, "sync_p99": False}
