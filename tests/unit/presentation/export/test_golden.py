"""The exports are identical to the golden files, byte by byte."""

from pathlib import Path

import pytest

from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.openmetrics import openmetrics_text

from .making import grid_run, nasty_run, table

GOLDEN = Path(__file__).parent / "golden"
TEXTS = {".csv": csv_text, ".md": markdown_text, ".om": openmetrics_text, ".lp": influx_text}
RUNS = {"grid": grid_run, "nasty": nasty_run}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("ending", TEXTS)
def test_a_text_is_as_it_was(run: str, ending: str, tmp_path: Path) -> None:
    golden = (GOLDEN / f"{run}{ending}").read_bytes().decode()
    assert TEXTS[ending](table(RUNS[run](tmp_path / run))) == golden


@pytest.mark.parametrize("name", ["randread-async", "write-async"])
def test_data_and_script_are_as_they_were(name: str, tmp_path: Path) -> None:
    files = dat_files(table(grid_run(tmp_path / "grid")))
    found = {place.name: text for place, text in files.items() if place.stem == name}
    assert found == {place: (GOLDEN / place).read_text(encoding="utf-8") for place in found}
    assert len(found) == 2


def test_files_are_sorted_as_the_author_of_the_benchmark_sorted_his(tmp_path: Path) -> None:
    places = {str(place) for place in dat_files(table(grid_run(tmp_path / "grid"))) if place.suffix == ".dat"}
    assert places == {
        "async/randread/randread-async.dat",
        "async/write/write-async.dat",
        "sync/randread/randread-sync.dat",
        "sync/write/write-sync.dat",
    }
