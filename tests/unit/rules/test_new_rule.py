"""Adding a rule takes one new file, which every command, the report and the docs find."""

import json
import runpy
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof import rules
from poolproof.campaign.yaml import parse_campaign
from poolproof.cli.main import main
from poolproof.presentation.html_report.byte_flow import flows
from poolproof.results.runs.summary import cells_of
from poolproof.rules.judge import judge, lint
from poolproof.rules.model import Case, Finding
from poolproof.rules.rule_catalogue import all_rules, rule
from tests.unit.presentation.html_report.making import CAMPAIGN, account, leaf, trial
from tests.unit.rules.making import EXT4, GIB, counted, direction, jobs, said

_ROOT = Path(__file__).parents[3]
_FILE = '''"""A rule that exists only in this test."""

from poolproof.rules.model import Case, Findings, Rule, refutes, suspects


def _in_job(case: Case) -> Findings:
    if case.load.parts[0].depth == 7:
        yield suspects(f"{case.who(case.load.parts)} has a depth of 7")


def _in_result(case: Case) -> Findings:
    if case.outcome is not None and case.load.parts[0].depth == 7:
        yield refutes("a depth of 7 was used", weight=99)


RULE = Rule(
    title="A depth of seven",
    wrong="Seven is too many.",
    shows="In a job: iodepth=7.",
    error="High.",
    fix="iodepth=8",
    sources=("this test",),
    in_job=_in_job,
    in_result=_in_result,
    options=("iodepth",),
    fixed_options={"iodepth": "8"},
    explains_lost={"read": "seven swallowed it"},
    commands="fio --rw=read --iodepth=7",
)
'''
_JOB = "rw=read bs=1m size=1g direct=1 ioengine=libaio iodepth=7"
Command = Callable[..., str]


@pytest.fixture(autouse=True)
def toy_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write the file into a folder that is added to the package `rules`."""
    (tmp_path / "toy_rule.py").write_text(_FILE, encoding="utf-8")
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(tmp_path)])
    all_rules.cache_clear()
    yield
    monkeypatch.undo()
    all_rules.cache_clear()


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*argv: str) -> str:
        monkeypatch.setattr("sys.argv", ["poolproof", *argv])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        return capsys.readouterr().out

    return call


def test_it_is_judged() -> None:
    result = said(read=direction(GIB, 10.0))
    judgement = judge(Case(jobs(_JOB), result, counted(read=(GIB, GIB)), EXT4))
    assert (judgement.verdict, judgement.findings[0].rule) == ("refuted", "toy-rule")
    other = judge(Case(jobs(_JOB.replace("7", "8")), result, counted(read=(GIB, GIB)), EXT4))
    assert "toy-rule" not in {finding.rule for finding in other.findings}


def test_it_is_linted_and_fixed(tmp_path: Path, poolproof: Command) -> None:
    assert "toy-rule" in {finding.rule for finding in lint(Case(jobs(_JOB), target=EXT4))}
    job = tmp_path / "a.fio"
    job.write_text("[a]\n" + _JOB.replace(" ", "\n") + "\n", encoding="utf-8")
    assert f"{job}:7: warning: toy-rule:" in poolproof("lint", str(job))
    assert "iodepth=8" in poolproof("lint", "--fix", str(job))


def test_it_is_listed_and_explained(poolproof: Command) -> None:
    listed = json.loads(poolproof("rules", "--json"))
    assert {"rule": "toy-rule", "title": "A depth of seven"} in listed
    assert "Seven is too many." in poolproof("explain", "toy-rule")


def test_it_is_in_the_docs() -> None:
    page = runpy.run_path(str(_ROOT / "scripts" / "rules_page.py"))["page"]()
    assert "| [toy-rule](#toy-rule) | A depth of seven | job, result |" in page
    assert "## toy-rule" in page


def test_the_report_says_which_lost_bytes_it_explains() -> None:
    finding = Finding("toy-rule", "refutes", "a depth of 7 was used", rule("toy-rule").fix)
    read = replace(trial("one", "reads"), leaves=(leaf("a", 1),), account=account(GIB, 0, disk_reads=1))
    (flow,) = flows(cells_of([replace(read, findings=(finding,))], parse_campaign(CAMPAIGN, "t"))[0])
    assert flow.lost.endswith(": seven swallowed it")
