"""The same cells in every output: each metric has the same result, unit, verdict and marks everywhere."""

import csv
import io
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from poolproof.cli.main import app_for
from poolproof.metrics import METRICS, MetricId
from poolproof.presentation.html_report.cells import cell_rows, finding_key, shown_findings
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.verdicts import Verdict
from tests.unit.results.compare.making import changed, make_run

_VERDICTS: tuple[Verdict, ...] = ("sound", "unproven", "suspect", "refuted", "failed")
_LAYOUTS = (*_VERDICTS, "mixed")
_WORKLOADS: Mapping[str, MetricId] = {"reads": "iops", "scan": "bandwidth", "log": "sync_p99"}
_CAMPAIGN = """\
name: t
devices: {a: {file: 2G}, b: {file: 2G}, c: {emulate: nvme, size: 2G}, d: {file: 2G}, e: {file: 2G}, f: {file: 2G}}
layouts: {sound: a | ext4, unproven: b | ext4, suspect: c | ext4, refuted: d | ext4, failed: e | ext4, mixed: f | ext4}
workloads:
  reads: {rw: randread, bs: 4k}
  scan: {rw: read, bs: 1m}
  log: {rw: write, bs: 2300, fdatasync: 1, metric: sync_p99}
measure: {time: 5s, trials: 3}
goal: reads
"""
_TEXTS = {
    "iops": "1.2{}M IOPS",
    "bandwidth": "1.2{} GB/s",
    "sync_p99": "12.{} ms",
}
_SCALES = {"iops": 1e4, "bandwidth": 1e7, "sync_p99": 1e5}
"""The values of the layouts, in order of `_LAYOUTS`, are 120, 121, 122 … times the scale of the metric."""
_MIXED: Mapping[MetricId, Verdict] = {"bandwidth": "refuted", "p99": "suspect"}
"""The other verdicts of the layout `mixed`, whose IOPS are sound."""
_MARKS = {"sound": "✓", "unproven": "?", "suspect": "!", "refuted": "✗", "failed": "–"}
_USABLE = ("sound", "unproven", "suspect", "mixed")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    values = {
        (layout, workload): [(120 + number) * _SCALES[metric] * share for share in (1.0, 1 + 1e-6, 1 - 1e-6)]
        for number, layout in enumerate(_LAYOUTS)
        for workload, metric in _WORKLOADS.items()
    }
    bad = {(str(verdict), workload): verdict for verdict in _VERDICTS[1:] for workload in _WORKLOADS}
    path = make_run(tmp_path_factory.mktemp("same") / "run", values, bad=bad, record=changed(_CAMPAIGN))
    lines = [json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines()]
    for line in lines:
        if (line["layout"], line["workload"]) == ("mixed", "reads"):
            line["verdicts"] = dict(_MIXED)
    (path / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_run(path)


def _text(layout: str, metric: MetricId) -> str:
    return _TEXTS[metric].format(_LAYOUTS.index(layout))


def _verdict(layout: str) -> str:
    return "sound" if layout == "mixed" else layout


def _ask(run: LoadedRun, name: str, *words: str) -> str:
    return _printed(str(run.path), name, *words)


@cache
def _printed(path: str, name: str, *words: str) -> str:
    done = CliRunner(env={"COLUMNS": "250"}).invoke(app_for([name]), [name, path, *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def _line(text: str, word: str, *, heading: str = "") -> str:
    """Return the first line below the heading whose first or second word is the given word."""
    lines = text[text.index(heading) :].splitlines()
    return next(line for line in lines if word in line.split()[:2])


@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("workload", _WORKLOADS)
def test_the_table_json_page_and_csv_agree(run: LoadedRun, layout: str, workload: str) -> None:
    metric, verdict = _WORKLOADS[workload], _verdict(layout)
    has_value = layout != "failed"

    line = _line(_ask(run, "show"), layout, heading=f"{workload}, ")
    expected = _text(layout, metric) if has_value else "no result"
    assert f"({expected})" in line if layout == "refuted" else expected in line
    assert f"{_MARKS[verdict]} {verdict}" in line
    assert ("*" in line) == (layout == "suspect"), "only this layout has an emulated disk"

    cells = json.loads(_ask(run, "show", "--json"))["cells"]
    (cell,) = (each for each in cells if (each["layout"], each["workload"]) == (layout, workload))
    assert (cell["verdict"], cell["metric"]) == (verdict, metric)
    assert (cell["emulated"] != []) == (layout == "suspect")
    value = (120 + _LAYOUTS.index(layout)) * _SCALES[metric]
    assert not has_value or cell["figure"]["mean"] == pytest.approx(value)

    row = _row_of_page(run, layout, workload)
    assert row["v"] == verdict
    assert not has_value or _text(layout, metric) in row["f"], row["f"]
    assert {mark for _, mark, _ in row["t"]} == {_MARKS[verdict]}

    (found,) = (each for each in _csv(run) if (each["layout"], each["workload"]) == (layout, workload))
    column = next(each for each in METRICS if each.id == metric).column
    assert (found["verdict"], found["metric"]) == (verdict, metric)
    assert (found["emulated"] != "") == (layout == "suspect")
    assert found["counts"] == ("true" if layout in _USABLE else "false")
    usable, rejected = found[column], found[f"rejected_{column}"]
    shown = rejected if layout == "refuted" else usable
    assert not has_value or float(shown) == pytest.approx(value)
    assert (usable != "") == (layout in _USABLE)


def _row_of_page(run: LoadedRun, layout: str, workload: str) -> dict[str, Any]:
    keys = dict.fromkeys(finding_key(finding) for cell in run.cells for finding in shown_findings(cell))
    rows = cell_rows(run, run.cells, {key: number for number, key in enumerate(keys)})
    (number,) = (number for number, cell in enumerate(run.cells) if (cell.layout, cell.workload) == (layout, workload))
    return rows[number]


def _csv(run: LoadedRun) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_ask(run, "export", "--csv"))))


def test_a_ranking_shows_the_same_results_and_marks(run: LoadedRun) -> None:
    text = _ask(run, "rank")
    for layout in _USABLE:
        line = _line(text, layout)
        assert _text(layout, "iops") in line
        assert [mark for mark in ("?", "!", "✗") if f" {mark} " in line] == _doubt(_verdict(layout))
        assert ("*" in line) == (layout == "suspect")
    ranked = json.loads(_ask(run, "rank", "--json"))["layouts"]
    assert {each["layout"]: each["verdict"] for each in ranked} == {each: _verdict(each) for each in _USABLE}
    for each in ranked:
        (figure,) = each["figures"]
        assert figure["figure"]["mean"] == pytest.approx((120 + _LAYOUTS.index(each["layout"])) * _SCALES["iops"])
        assert figure["verdict"] == each["verdict"] and (figure["emulated"] != []) == (each["layout"] == "suspect")


def _doubt(verdict: str) -> list[str]:
    return [] if verdict == "sound" else [_MARKS[verdict]]


@pytest.mark.parametrize("layout", [each for each in _USABLE if each != "sound"])
def test_a_comparison_shows_the_same_results_and_marks(run: LoadedRun, layout: str) -> None:
    text = _ask(run, "compare", "--layouts", f"sound,{layout}")
    cells = json.loads(_ask(run, "compare", "--layouts", f"sound,{layout}", "--json"))["cells"]
    for (workload, metric), cell in zip(_WORKLOADS.items(), cells, strict=True):
        line = next(each for each in text.splitlines() if each.startswith(f"{workload}, "))
        assert _text("sound", metric) in line and _text(layout, metric) in line
        assert [mark for mark in ("?", "!", "✗") if f" {mark} " in line] == _doubt(_verdict(layout))
        assert ("*" in line) == (layout == "suspect")
        assert (cell["metric"], cell["a"]["verdict"], cell["b"]["verdict"]) == (metric, "sound", _verdict(layout))
        value = (120 + _LAYOUTS.index(layout)) * _SCALES[metric]
        assert cell["b"]["figure"]["mean"] == pytest.approx(value)


@pytest.mark.parametrize("metric", _MIXED)
def test_another_metric_has_its_own_verdict_everywhere(run: LoadedRun, metric: MetricId) -> None:
    verdict = _MIXED[metric]
    cells = json.loads(_ask(run, "show", "--json"))["cells"]
    (cell,) = (each for each in cells if (each["layout"], each["workload"]) == ("mixed", "reads"))
    assert cell["verdicts"][metric] == verdict
    title = next(each for each in METRICS if each.id == metric).title
    assert [title, verdict, []] in _row_of_page(run, "mixed", "reads")["o"]
    ranking = json.loads(_ask(run, "rank", "--metric", metric, "--json"))
    text = _ask(run, "rank", "--metric", metric)
    if verdict == "refuted":
        assert "mixed" not in {each["layout"] for each in ranking["layouts"]}
        assert "mixed: refuted" in text
        left_out = _ask(run, "compare", "--layouts", "sound,mixed", "--metric", metric).partition("left out:")[2]
        assert "reads: refuted" in left_out
    else:
        (ranked,) = (each for each in ranking["layouts"] if each["layout"] == "mixed")
        assert ranked["verdict"] == verdict and f" {_MARKS[verdict]} " in _line(text, "mixed")
        compared = _ask(run, "compare", "--layouts", "sound,mixed", "--metric", metric)
        assert f" {_MARKS[verdict]} " in next(each for each in compared.splitlines() if each.startswith("reads, "))


@pytest.mark.parametrize(("least", "differs"), [(0.5, True), (0.999, False)])
def test_comparisons_say_that_their_means_are_others(tmp_path: Path, least: float, differs: bool) -> None:
    """Comparisons show geometric means, because they test ratios. They differ visibly only if the trials vary."""
    values = [scale * 1.234e6 for scale in (least, 1.0, 2.0 - least)]
    wide = make_run(tmp_path / "run", {("one", "reads"): values, ("pair", "reads"): values})
    texts = [
        _printed(str(wide), "rank", "--goal", "reads"),
        _printed(str(wide), "compare", "--layouts", "one,pair"),
    ]
    assert all(("geometric means of the trials" in text) is differs for text in texts), texts
    assert "1.23M IOPS" in _printed(str(wide), "show")
