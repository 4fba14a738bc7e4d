"""The exports and pictures of a run that measured its disks individually."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from poolproof.presentation.charts import theme as look
from poolproof.presentation.export.columns import columns_of, csv_lines, csv_text
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.pictures import drawn, pictures
from poolproof.presentation.export.rows import ExportTable, table_of
from poolproof.results.runs.loading import load_run
from tests.unit.presentation.html_report.calibrated import make_calibrated

from .making import grid_run, limited_run, table


def test_rows_have_the_share_of_the_limit_and_the_disk_that_bounds_it(tmp_path: Path) -> None:
    table = table_of(load_run(make_calibrated(tmp_path / "run")))
    columns = columns_of(table)
    found = [(row.cell.layout, row.cell.workload, columns["limit_bound"](row)) for row in table.rows]
    assert found == [("one", "reads", "a"), ("one", "stream", "a"), ("pair", "reads", "b"), ("pair", "stream", "b")]
    shares = [columns["limit_share"](row) for row in table.rows]
    assert [round(share, 2) for share in shares if isinstance(share, float)] == [0.51, 0.5, 0.76, 1.5]
    assert "bare:" not in markdown_text(table)


def test_no_control_character_of_a_run_is_in_the_markdown(tmp_path: Path) -> None:
    run = load_run(grid_run(tmp_path / "run"))
    hostile = replace(run.record, facts={**run.record.facts, "distribution": "a\x1b]0;x\x07\u202eb"})
    text = markdown_text(table_of(replace(run, record=hostile)))
    assert r"a\x1b" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_no_control_character_of_a_name_is_in_a_text_file(tmp_path: Path) -> None:
    found = table(grid_run(tmp_path / "run"))
    layout = "a\x1b[2J\x9b31m\u202eb"
    rows = tuple(replace(row, cell=replace(row.cell, layout=layout)) for row in found.rows)
    hostile = replace(found, rows=rows)
    texts = [influx_text(hostile), openmetrics_text(hostile), *dat_files(hostile).values()]
    assert all("u202eb" in text for text in texts)
    assert not {"\x1b", "\x9b", "\u202e"} & set("".join(texts))


def test_no_control_character_is_in_the_csv() -> None:
    assert csv_lines(["a\x1b[2J"], [["b\u202e"], ["two\nlines"]]) == "a\\x1b[2J\r\nb\\u202e\r\ntwo lines\r\n"


def test_a_run_without_disks_alone_has_no_such_columns(tmp_path: Path) -> None:
    assert "limit_share" not in columns_of(table_of(load_run(grid_run(tmp_path / "run"))))


# What `limited_run` gives of the share of its limit: `pair` under `reads` is refuted.
COUNTS = {("one", "reads"): 0.51, ("one", "stream"): 0.5, ("pair", "stream"): 1.5}
REJECTED = {("pair", "reads"): 0.76}


def _near(found: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    return {place: round(share, 2) for place, share in found.items()}


def test_the_share_of_a_refuted_figure_has_a_column_of_its_own(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(table(limited_run(tmp_path / "run"))))))
    for column, expected in (("limit_share", COUNTS), ("rejected_limit_share", REJECTED)):
        assert _near({(row["layout"], row["workload"]): float(row[column]) for row in rows if row[column]}) == expected


def test_openmetrics_has_a_family_of_shares_and_one_of_those_that_do_not_count(tmp_path: Path) -> None:
    text = openmetrics_text(table(limited_run(tmp_path / "run")))
    parsed = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]  # prometheus_client left it untyped
    families = {family.name: family for family in parsed}
    for name, expected in (("limit_share", COUNTS), ("rejected_limit_share", REJECTED)):
        samples = families[f"poolproof_{name}_ratio"].samples
        assert _near({(each.labels["layout"], each.labels["workload"]): each.value for each in samples}) == expected
        assert {each.labels["bound"] for each in samples} <= {"a", "b"}


def test_line_protocol_has_the_share_and_the_disk_as_fields(tmp_path: Path) -> None:
    lines = influx_text(table(limited_run(tmp_path / "run"))).splitlines()
    refuted = [line for line in lines if line.startswith("poolproof_rejected,")]
    assert all("limit_share=0." in line or "limit_share=1." in line for line in lines)
    assert [line.split("limit_bound=")[1][:3] for line in refuted] == ['"b"']


def test_markdown_tells_the_share_of_what_counts_and_what_it_is(tmp_path: Path) -> None:
    text = markdown_text(table(limited_run(tmp_path / "run")))
    (reads,) = [line for line in text.splitlines() if line.startswith("| `reads`")]
    assert reads.count("of limit") == 1
    assert "✓ 51% of limit |" in reads
    assert "of limit: " in text and "measured alone" in text


def test_data_files_have_a_last_column_for_it(tmp_path: Path) -> None:
    texts = [text for place, text in dat_files(table(limited_run(tmp_path / "run"))).items() if place.suffix == ".dat"]
    assert all(text.splitlines()[0].endswith("\tverdict\tlimit-share") for text in texts)
    rows = [line.split("\t") for text in texts for line in text.splitlines() if line and not line.startswith("#")]
    shares = [fields[-1] for fields in rows]
    assert sorted(round(float(share), 2) for share in shares if share != "NaN") == sorted(COUNTS.values())
    assert shares.count("NaN") == len(REJECTED)


@pytest.mark.parametrize("write", [csv_text, influx_text, markdown_text, openmetrics_text])
def test_a_run_without_disks_alone_says_nothing_of_a_limit(write: Callable[[ExportTable], str], tmp_path: Path) -> None:
    assert "limit" not in write(table(grid_run(tmp_path / "run")))


def test_a_picture_for_each_workload_shows_the_distance(tmp_path: Path) -> None:
    found = {str(each.place): each for each in pictures(load_run(make_calibrated(tmp_path / "run")))}
    limits = [place for place in found if place.endswith("-limit")]
    assert limits == ["async/randread/randread-async-reads-limit", "async/write/write-async-stream-limit"]
    rows = look.dressed(found[limits[0]].chart)["data"]["values"]
    assert [(row["layout"], row["label"]) for row in rows] == [("one", "51%"), ("pair", "76%")]
    text = drawn(found[limits[0]], "svg").decode()
    assert "76%" in text
    assert "bare:" not in text
