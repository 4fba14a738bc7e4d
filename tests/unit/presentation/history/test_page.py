"""The history page is one file that fetches nothing, shows names as plain text, and says what is missing."""

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

from poolproof.results.runs.directory import RunDirectory
from tests.unit.command import Command
from tests.unit.presentation.export.making import nasty_run, trials_of
from tests.unit.presentation.export.test_command import poolproof
from tests.unit.presentation.html_report.making import data_of
from tests.unit.results.compare.making import CAMPAIGN, changed, make_run
from tests.unit.results.query.making import set_schema

from .making import make_history

__all__ = ["poolproof"]


class _Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def _page(poolproof: Command) -> tuple[int, str, str]:
    code, _, err = poolproof("runs", "runs", "--page", "page.html")
    return code, Path("page.html").read_text(encoding="utf-8"), err


def test_the_page_says_how_many_results_changed(poolproof: Command) -> None:
    make_history(Path("runs"))
    code, text, err = _page(poolproof)
    assert (code, err) == (0, "")
    assert "2 results changed by more than 2%" in text
    assert "4 runs, 4 cells" in text
    assert "no earlier run" in text


def test_a_single_run_is_compared_with_nothing(poolproof: Command) -> None:
    make_history(Path("runs"))
    for run in sorted(Path("runs").iterdir())[1:]:
        shutil.rmtree(run)
    code, text, _ = _page(poolproof)
    assert code == 0 and "one run only" in text
    assert "No result changed" not in text and "tone-good" not in text.partition('id="changes"')[2].partition(">")[0]


def test_a_run_is_not_compared_with_its_copy(poolproof: Command) -> None:
    make_history(Path("runs"))
    for run in sorted(Path("runs").iterdir())[1:]:
        shutil.rmtree(run)
    shutil.copytree("runs/run-1", "runs/zcopy")
    code, text, err = _page(poolproof)
    assert (code, err) == (0, "") and "zcopy: it contains the same trials as run-1" in text
    assert "1 run, 4 cells" in text and "No result changed" not in text
    with Path("runs/zcopy/trials.jsonl").open("a", encoding="utf-8") as trials:
        trials.write(Path("runs/run-1/trials.jsonl").read_text(encoding="utf-8").splitlines()[0] + "\n")
    assert "the same trials" not in _page(poolproof)[1]


def test_nothing_is_fetched(poolproof: Command) -> None:
    make_history(Path("runs"))
    text = _page(poolproof)[1]
    for tag, attributes in _Elements(text).found:
        assert tag not in {"iframe", "object", "embed", "img"}
        assert not (attributes.get("src") or "")
        assert (attributes.get("href") or "#").startswith(("#", "data:"))
    assert "default-src 'none'" in text


def test_names_that_are_markup_stay_text(poolproof: Command) -> None:
    nasty_run(Path("runs/nasty"))
    text = _page(poolproof)[1]
    assert "<script>alert(1)" not in text
    assert "<script>alert(1)</script>" in json.dumps(data_of(text))


def test_unreadable_runs_are_named_and_the_others_are_shown(poolproof: Command) -> None:
    make_history(Path("runs"))
    set_schema(Path("runs/run-1"), 2)
    path = Path("runs/run-2/trials.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"schema":1}', b'"schema":3}', 1))
    code, text, err = _page(poolproof)
    assert code == 7
    assert "skipped run-1" in err and "skipped run-2, line 1 of trials.jsonl" in err
    assert "run-1: " in text and "newer poolproof" in text
    assert "3 runs" in text


def test_a_folder_of_runs_without_trials_gives_a_page(poolproof: Command) -> None:
    trials_of(Path("runs/empty"), [])
    code, text, _ = _page(poolproof)
    assert code == 0
    assert "Nothing has been measured" in text


def test_a_run_in_progress_is_shown(poolproof: Command) -> None:
    make_history(Path("runs"))
    run = RunDirectory.open(Path("runs/run-4"))
    run.write_trials(run.trials()[:4])
    assert _page(poolproof)[0] == 0


def test_an_unsettled_result_is_drawn_without_an_interval(poolproof: Command) -> None:
    record = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 10%, trials: 2..6}"))
    values = {("one", "reads"): [1000.0, 1001.0], ("pair", "reads"): [2000.0, 2001.0]}
    make_run(Path("runs/run"), values, record=record, unsettled={("pair", "reads"): "drift"})
    found = data_of(_page(poolproof)[1])
    points = {each["layout"]: each["points"][0] for each in found["series"]}
    run, value, low, high, counts, unsettled, *_ = points["pair"]
    assert (run, value, low, high, counts, unsettled) == (0, 2000, None, None, True, True)
    assert points["one"][2] is not None and points["one"][5] is False


def test_a_page_that_cannot_be_written_is_named(poolproof: Command) -> None:
    make_history(Path("runs"))
    Path("file").write_text("")
    code, _, err = poolproof("runs", "runs", "--page", "file/page.html")
    assert code == 7
    assert "file/page.html cannot be written" in err
