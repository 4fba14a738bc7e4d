"""The report is a single complete file of limited size, and says what is missing."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from poolproof.cli.main import app_for
from poolproof.errors import RunError, one_line
from poolproof.evidence.model import Evidence, Level
from poolproof.presentation.html_report.assets import script_json
from poolproof.presentation.html_report.page import write_report
from poolproof.presentation.terminal.visible import visible
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Trial, TrialKey
from poolproof.rules.model import Finding
from poolproof.version import __version__
from tests.golden import Message
from tests.unit.presentation.html_report.making import CAMPAIGN, RECORD, all_trials, data_of, make_run, trial


def _page(run: Path) -> str:
    write_report(run, run / "report.html")
    return (run / "report.html").read_text(encoding="utf-8")


class _Elements(HTMLParser):
    """Collects all elements of a page with their attributes, and its visible text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def _rows(packed: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Unpack rows in the same way as the page's script."""
    columns = [[each[0][at] for at in each[1]] if isinstance(each[0], list) else each for each in packed]
    return zip(*columns, strict=True)


def test_the_sections_are_in_the_order_of_their_weight(tmp_path: Path) -> None:
    page = _page(make_run(tmp_path / "run", all_trials()))
    sections = [attributes["id"] for tag, attributes in _Elements(page).elements if tag == "section"]
    assert sections == ["answer", "map", "curves", "account", "time", "disks", "limit", "findings", "repeat"]


def test_nothing_is_fetched(tmp_path: Path) -> None:
    elements = _Elements(_page(make_run(tmp_path / "run", all_trials()))).elements
    outside = [attributes for _, attributes in elements if attributes.get("src") or attributes.get("srcset")]
    links = [attributes["href"] for tag, attributes in elements if tag in ("link", "a") and attributes.get("href")]
    assert outside == []
    assert {str(link)[:5].partition("#")[0] for link in links} <= {"", "data:"}
    assert any("default-src 'none'" in str(attributes.get("content")) for tag, attributes in elements if tag == "meta")


def test_every_cell_is_there_once_with_its_result_and_its_flow(tmp_path: Path) -> None:
    data = data_of(_page(make_run(tmp_path / "run", all_trials())))
    assert len(data["cells"]) == 6
    pair = next(c for c in data["cells"] if (data["layouts"][c["l"]], data["workloads"][c["w"]]) == ("pair", "stream"))
    assert pair["flows"][0]["factor"] == 2
    assert [name for name, *_ in pair["flows"][0]["leaves"]] == ["a", "b"]
    (layouts,) = [chart for chart in data["charts"] if chart["name"] == "layouts"]
    values = {(layout, workload): value for layout, workload, value, *_ in _rows(layouts["rows"]["bandwidth"])}
    assert values["pair", "stream"] == pytest.approx(1522.5 * 4096, rel=1e-3)


def test_names_with_markup_stay_names(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    question = "question: '<b onclick=alert(2)>Which</b> of the two?'"
    finding = Finding("write-vanished", "refutes", f"lost {evil}", f'mend "{evil}')
    trials = [replace(each, findings=(finding,)) for each in all_trials("refuted")]
    page = _page(make_run(tmp_path / "run", trials, campaign=CAMPAIGN.replace("question: Which of the two?", question)))
    tags = {tag for tag, _ in _Elements(page).elements}
    attributes = {name for _, each in _Elements(page).elements for name in each}
    assert "img" not in tags
    assert not {"onerror", "onclick"} & attributes
    assert f"lost {evil}" in _Elements(page).text
    assert data_of(page)["findings"][0][2] == f"lost {evil}"


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "&amp;"])
def test_json_in_a_script_cannot_end_it(text: str) -> None:
    made = script_json({"name": text})
    assert json.loads(made) == {"name": visible(text)}
    assert not re.search(r"[<>&\u2028]", made)


@pytest.mark.parametrize("control", ["\x1b]0;x\x07", "\x00", "\x9b31m", "\u202e", "\u2066", "\u2028", "\x7f"])
def test_no_control_character_of_a_run_is_in_the_page(tmp_path: Path, control: str) -> None:
    finding = Finding("write-vanished", "refutes", f"lost{control}bytes", f"use{control}direct=1")
    trials = [replace(each, findings=(finding,)) for each in all_trials("refuted")]
    run = make_run(tmp_path / "run", trials)
    record = json.loads((run / "run.json").read_text())
    record |= {"host": f"a{control}b", "facts": {"kernel": f"a{control}b"}, "versions": {"fio": f"a{control}b"}}
    (run / "run.json").write_text(json.dumps(record))
    page = _page(run)
    assert visible(one_line(f"a{control}b")) in _Elements(page).text
    raw = [*data_of(page)["findings"][0], re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)]
    assert not [text for text in raw if control in text]


def test_an_empty_run_is_a_page_with_what_to_type(tmp_path: Path) -> None:
    page = _Elements(_page(make_run(tmp_path / "run", [])))
    assert "Nothing has been measured" in page.text
    assert "poolproof resume" in page.text
    assert "poolproof run campaign.yaml" in page.text


@pytest.mark.parametrize("trials", [[], all_trials()], ids=["empty", "whole"])
def test_every_link_within_the_page_leads_somewhere(tmp_path: Path, trials: list[Trial]) -> None:
    elements = _Elements(_page(make_run(tmp_path / "run", trials))).elements
    places = {attributes["id"] for _, attributes in elements if "id" in attributes}
    links = [str(attributes["href"]) for tag, attributes in elements if tag == "a"]
    assert {link[1:] for link in links if not link.startswith("#cell=")} <= places


def test_all_refuted_still_shows_every_flow(tmp_path: Path) -> None:
    data = data_of(_page(make_run(tmp_path / "run", all_trials("refuted"))))
    assert {cell["v"] for cell in data["cells"]} == {"refuted"}
    assert {cell["c"] for cell in data["cells"]} == {None}
    assert all(cell["flows"][0]["lost_bytes"] > 0 for cell in data["cells"])


def test_trials_of_another_schema_are_left_out_and_counted(tmp_path: Path, message: Message) -> None:
    run = make_run(tmp_path / "run", all_trials())
    lines = (run / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    lines[0] = lines[0].replace('"schema":1', '"schema":99')
    lines[1] = lines[1].replace('"schema":1', '"schema":0')
    lines[2] = "{damaged"
    (run / "trials.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    seen = load_run(run, lenient=True)
    assert len(seen.trials) == 9
    said = message("\n".join(seen.missing).replace(__version__, "VERSION"))
    assert [each.split()[:2] for each in seen.missing] == [["1", "trial"]] * 3
    assert "git pull && make setup" in said
    assert all(fact in said for fact in ("newer poolproof", "older poolproof", "is damaged"))
    assert "newer poolproof" in _Elements(_page(run)).text


def test_without_run_json_the_page_uses_the_campaign(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    (run / "run.json").unlink()
    page = _Elements(_page(run)).text
    assert "versions and seed" in page
    assert "bare-a is best" in page


def test_a_newer_run_json_is_reported_with_the_fix(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    text = (run / "run.json").read_text(encoding="utf-8")
    (run / "run.json").write_text(text.replace('"schema": 1', '"schema": 9'), encoding="utf-8")
    assert "git pull && make setup" in _Elements(_page(run)).text


def test_missing_samples_and_jobs_are_named(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials(), samples=False)
    for job in run.rglob("job.fio"):
        job.unlink()
    page = _Elements(_page(run)).text
    assert "12 trials " in page and "samples.jsonl" in page
    assert "job.fio" in page and "2 workloads" in page


def test_no_run_at_all_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(RunError) as caught:
        load_run(tmp_path, lenient=True)
    assert "no run.json" in caught.value.message
    assert caught.value.hint


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [])
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written"):
        write_report(run, tmp_path / "file" / "report.html")


def test_the_command_says_where_the_page_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", all_trials())
    (run / "run.json").unlink()
    app_for()(["report", str(run), "--out", str(tmp_path / "r.html")], standalone_mode=False)
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{tmp_path / 'r.html'} (")
    assert "missing:" in printed.err
    assert (tmp_path / "r.html").stat().st_size > 100_000


def test_layouts_of_a_disk_alone_give_the_limit(tmp_path: Path) -> None:
    data = data_of(_page(make_run(tmp_path / "run", all_trials())))
    (limit,) = [chart for chart in data["charts"] if chart["name"] == "limit"]
    shares = {(layout, workload): share for layout, workload, share, *_ in _rows(limit["rows"])}
    assert shares == {("one", "reads"): pytest.approx(0.5), ("one", "stream"): pytest.approx(0.5)}


def test_without_bare_disks_the_page_says_how_to_get_them(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("bare-a: a, ", "")
    trials = [each for each in all_trials() if each.layout != "bare-a"]
    page = _Elements(_page(make_run(tmp_path / "run", trials, campaign=campaign)))
    assert "disks alone" in page.text
    assert "measure: {calibrate: true}" in page.text


def test_claims_have_their_source_and_result(tmp_path: Path) -> None:
    claim = "expect:\n  - {claim: half each, source: Somebody, that: 'read_share(pair, reads, a) = 50% ± 1%'}\n"
    page = _Elements(_page(make_run(tmp_path / "run", all_trials(), campaign=CAMPAIGN + claim)))
    assert "claims" in [attributes.get("id") for _, attributes in page.elements]
    assert "half each Somebody" in page.text
    assert "✓ held" in page.text


def test_very_long_names_and_many_layouts_make_a_page(tmp_path: Path) -> None:
    long = "x" * 100
    campaign = CAMPAIGN.replace("one: a | ext4", f"{long}: a | ext4")
    trials = [replace(each, layout=long) if each.layout == "one" else each for each in all_trials()]
    assert long in data_of(_page(make_run(tmp_path / "run", trials, campaign=campaign)))["layouts"]


def test_a_run_that_cannot_be_parsed_is_an_error(tmp_path: Path) -> None:
    made = RunDirectory.create(tmp_path / "run", "nonsense: [", replace(RECORD, campaign="nonsense: ["))
    with pytest.raises(RunError, match=r" campaign .*/run"):
        load_run(made.path, lenient=True)


def test_the_layers_between_fio_and_the_disks_are_listed_if_they_were_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    levels = (
        Level("fio", "fio", 0, 0, 100),
        Level("luks", "vault", 2, 0, 90, 95),
        Level("dataset", "tank/a", 1, 0, 100),
        Level("device", "a", 3, 0, 90, 95),
    )
    directory = RunDirectory.open(run)
    kept = directory.trial_directory(TrialKey("one", "stream", 2))
    directory.keep(kept, "evidence.json", Evidence(None, levels=levels))
    data = data_of(_page(run))
    found = {
        (data["layouts"][cell["l"]], data["workloads"][cell["w"]]): cell.get("levels", []) for cell in data["cells"]
    }
    assert found["one", "stream"] == [2, [["dataset", "tank/a", 0, 100], ["luks", "vault", 0, 95]]]
    assert found["pair", "stream"] == []


def test_findings_count_cells_by_their_effect(tmp_path: Path) -> None:
    trials = [*all_trials()[:8], trial("pair", "reads", 1, "refuted"), trial("pair", "stream", 1, "suspect")]
    page = _Elements(_page(make_run(tmp_path / "run", trials)))
    assert "refutes 1 cell, makes 1 cell suspect" in page.text
