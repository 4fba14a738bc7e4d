"""`poolproof plots`: the pictures of a run, where they are written, and that refuted results look different."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.presentation.charts import theme as look
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.pictures import drawn, pictures
from poolproof.presentation.export.rows import table_of
from poolproof.results.runs.loading import load_run
from tests.golden import Message
from tests.unit.command import Command
from tests.unit.results.compare.making import CAMPAIGN, RECORD, make_run

from .making import grid_run, nasty_run, trials_of
from .test_command import poolproof

__all__ = ["poolproof"]
METRICS = ("iops", "bandwidth", "p50", "p99")


def test_a_grid_has_a_picture_for_each_mode_and_metric(tmp_path: Path) -> None:
    places = {str(picture.place) for picture in pictures(load_run(grid_run(tmp_path / "grid")))}
    assert places == {
        f"{sync}/{mode}/{mode}-{sync}-{metric}"
        for sync in ("sync", "async")
        for mode in ("randread", "write")
        for metric in METRICS
    }


def test_workloads_without_an_axis_have_pictures_of_their_own(tmp_path: Path) -> None:
    values = {("one", "reads"): [1.0, 2.0], ("one", "etcd"): [1e6, 2e6]}
    places = {str(picture.place) for picture in pictures(load_run(make_run(tmp_path / "run", values)))}
    assert {"async/randread/randread-async-reads-iops", "sync/write/write-sync-etcd-sync-p99"} <= places


def test_workloads_whose_names_are_alike_at_their_start_have_pictures_of_their_own(tmp_path: Path) -> None:
    names = ["x" * 70 + end for end in ("-a", "-b")]
    campaign = CAMPAIGN.replace("measure:", "".join(f"  {name}: {{rw: randread}}\n" for name in names) + "measure:")
    values = {("one", name): [1.0, 2.0] for name in names}
    run = load_run(make_run(tmp_path / "run", values, record=replace(RECORD, campaign=campaign)))
    places = [picture.place for picture in pictures(run)]
    assert len(places) == len(set(places)) == 2 * len(("iops", "bandwidth", "p99"))
    assert len([place for place in dat_files(table_of(run)) if place.suffix == ".dat"]) == 2


def test_no_line_passes_through_a_figure_that_does_not_count(tmp_path: Path) -> None:
    found = {str(picture.place): picture for picture in pictures(load_run(grid_run(tmp_path / "grid")))}
    chart = look.dressed(found["async/write/write-async-iops"].chart)
    points = chart["data"]["values"]
    assert {(point["verdict"], point["counts"]) for point in points} == {("sound", True), ("refuted", False)}
    assert "hollow: 2 refuted" in json.dumps(chart["title"])
    clean = look.dressed(found["sync/write/write-sync-iops"].chart)
    assert "hollow" not in json.dumps(clean["title"])


def test_png_and_svg_are_written_and_whole(poolproof: Command) -> None:
    make_run(Path("run"), {("one", "reads"): [1.0, 2.0], ("pair", "reads"): [3.0, 4.0]})
    code, out, err = poolproof("plots", "run", "--png", "--svg", "--out", "here", "--json")
    assert (code, err) == (0, "")
    written = [Path(path) for path in json.loads(out)["written"]]
    assert {path.suffix for path in written} == {".png", ".svg"}
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        else:
            text = ElementTree.fromstring(path.read_text(encoding="utf-8"))
            assert {"one", "pair"} <= {element.text for element in text.iter() if element.text}


def test_names_that_are_markup_stay_text(tmp_path: Path) -> None:
    picture = next(pictures(load_run(grid_run(tmp_path / "grid"))))
    hurt = picture.chart.properties(title="<script>alert(1)</script> & \"'")
    text = drawn(type(picture)(picture.place, hurt, picture.size), "svg").decode()
    assert "<script" not in text
    assert "<script>alert(1)</script>" in "".join(ElementTree.fromstring(text).itertext())


@pytest.mark.parametrize("words", [(), ("--linear",)])
def test_a_form_has_to_be_named(poolproof: Command, words: tuple[str, ...]) -> None:
    grid_run(Path("grid"))
    code, _, err = poolproof("plots", "grid", *words)
    assert code == 2
    assert "--png" in err


def test_a_run_without_figures_says_so(poolproof: Command, message: Message) -> None:
    trials_of(Path("empty"), [])
    code, _, err = poolproof("plots", "empty", "--png")
    assert code == 7
    assert "no results" in message(err)
    assert not Path("empty-plots").exists()


def test_trials_of_names_that_the_campaign_lacks_draw_nothing_wrong(tmp_path: Path) -> None:
    assert list(pictures(load_run(nasty_run(tmp_path / "nasty")))) == []


@pytest.mark.slow
def test_export_draws_what_plots_draws(poolproof: Command) -> None:
    grid_run(Path("grid"))
    assert poolproof("plots", "grid", "--svg", "--out", "old")[0] == 0
    assert poolproof("export", "grid", "--format", "svg", "--out", "new")[0] == 0
    old, new = ({path.relative_to(place) for path in Path(place).rglob("*.svg")} for place in ("old", "new"))
    assert old == new and old
    assert poolproof("export", "grid", "--format", "bmp")[0] == 2
    assert poolproof("export", "grid", "--csv", "--linear")[0] == 2
