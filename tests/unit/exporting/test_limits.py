"""Exports and pictures of a run that measured its disks alone."""

from pathlib import Path

from poolproof.charts import look
from poolproof.compare.finished import read_run
from poolproof.exporting.markdown import markdown_text
from poolproof.exporting.pictures import drawn, pictures
from poolproof.exporting.rows import columns_of, table_of
from tests.unit.page.calibrated import make_calibrated

from .making import grid_run


def test_rows_have_the_share_of_the_limit_and_the_disk_that_bounds_it(tmp_path: Path) -> None:
    table = table_of(read_run(make_calibrated(tmp_path / "run")))
    columns = columns_of(table)
    found = [(row.layout, row.workload, columns["limit_bound"](row)) for row in table.rows]
    assert found == [
        ("one", "reads", "a"),
        ("one", "stream", "a"),
        ("pair", "reads", "b"),
        ("pair", "stream", "b"),
    ]
    shares = [columns["limit_share"](row) for row in table.rows]
    assert [round(share, 2) for share in shares if isinstance(share, float)] == [0.51, 0.5, 0.76, 1.5]
    assert "bare:" not in markdown_text(table)


def test_a_run_without_disks_alone_has_no_such_columns(tmp_path: Path) -> None:
    assert "limit_share" not in columns_of(table_of(read_run(grid_run(tmp_path / "run"))))


def test_a_picture_for_each_workload_shows_the_distance(tmp_path: Path) -> None:
    found = {str(each.place): each for each in pictures(read_run(make_calibrated(tmp_path / "run")))}
    limits = [place for place in found if place.endswith("-limit")]
    assert limits == ["async/randread/randread-async-reads-limit", "async/write/write-async-stream-limit"]
    rows = look.dressed(found[limits[0]].chart)["data"]["values"]
    assert [(row["layout"], row["label"]) for row in rows] == [("one", "51%"), ("pair", "76%")]
    text = drawn(found[limits[0]], "svg").decode()
    assert "76%" in text
    assert "bare:" not in text
