"""Every output marks results on emulated disks, and no others."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from poolproof.campaign.emulation import SLOWED, emulation_note
from poolproof.devices.emulated.model import MODELS
from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.pictures import pictures
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.ranking import find_goal, rank
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.run_object import run_object
from tests.unit.results.compare.making import CAMPAIGN, RECORD, make_run

VALUES = {("one", "reads"): (100.0, 101.0, 102.0), ("pair", "reads"): (50.0, 51.0, 50.5)}
_EMULATED = CAMPAIGN.replace("b: {file: 2G}", "b: {emulate: nvme, size: 2G}")


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    """A run in which the layout `one` is on a file, and `pair` is on a file and an emulated SSD."""
    return load_run(make_run(tmp_path / "run", VALUES, record=replace(RECORD, campaign=_EMULATED)))


def _printed(show: Callable[..., None], *values: Any) -> str:
    out = io.StringIO()
    show(Console(file=out, width=200), *values)
    return out.getvalue()


def _lines(text: str, *words: str) -> list[str]:
    return [line for line in text.splitlines() if all(word in line for word in words)]


@pytest.mark.parametrize("show", ["table", "rank", "compare"])
def test_the_terminal_marks_each_value_and_explains_the_mark(run: LoadedRun, show: str) -> None:
    if show == "table":
        text = _printed(print_table, run.cells, None)
    elif show == "rank":
        text = _printed(print_ranking, rank(run, find_goal(run.campaign, "reads", None), metric=None, effect=0.05))
    else:
        text = _printed(print_comparison, compare(Side(run), Side(run), metric=None, effect=0.05))
    assert "IOPS*" in "".join(_lines(text, "pair", "IOPS"))
    assert "IOPS*" not in "".join(_lines(text, "  one ", "IOPS"))
    note = _lines(text, "* emulated disks (nvme): the result describes the disk model", "ten times the latency")
    assert len(note) == 1


def test_every_export_has_the_mark(run: LoadedRun) -> None:
    table = table_of(run)
    rows = {row["layout"]: row["emulated"] for row in csv.DictReader(io.StringIO(csv_text(table)))}
    assert rows == {"one": "", "pair": "nvme"}
    assert all(("emulated=nvme" in line) is ("layout=pair" in line) for line in influx_text(table).splitlines())
    assert all(
        ('emulated="nvme"' in line) is ('layout="pair"' in line)
        for line in openmetrics_text(table).splitlines()
        if not line.startswith("#")
    )
    assert _lines("\n".join(dat_files(table).values()), "# emulated: pair 4k", "nvme")
    text = markdown_text(table)
    assert "IOPS ±2.5%\\* ✓" in text and "\\* emulated disks (nvme)" in text
    assert all(["emulated disks (nvme)" in str(picture.chart.to_dict())] for picture in pictures(run))


def test_the_report_and_json_have_the_mark(run: LoadedRun) -> None:
    assert {cell.layout: result_text(cell, "iops").endswith(", emulated") for cell in run.cells} == {
        "one": False,
        "pair": True,
    }
    assert any(sentence.startswith("Emulated disks (nvme): ") for sentence in answer(run).rest)
    cells = run_object(run.path, run.cells, None)["cells"]
    assert [cell["emulated"] for cell in cells] == [[], ["nvme"]]


def test_a_run_without_emulated_disks_has_no_mark(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path / "run", VALUES))
    texts = (_printed(print_table, run.cells, None), markdown_text(table_of(run)), influx_text(table_of(run)))
    assert "emulated" not in "".join(texts) and emulation_note(()) == ""


def test_the_models_that_are_slower_than_a_real_disk_say_so() -> None:
    assert {name for name, kind in MODELS.items() if "ten times" in kind.summary} == SLOWED
