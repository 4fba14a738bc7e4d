"""A rule about a counter that is not read yet takes two new files: the counter source and the rule."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from poolproof import evidence, rules
from poolproof.cli.main import main
from poolproof.evidence.counter_sources import CounterSource, all_sources, growth, read_sources
from poolproof.hosts.base import Tick
from poolproof.hosts.local import LocalHost
from poolproof.process import Completed
from poolproof.results.runs.model import TrialEvidence
from poolproof.rules.rule_catalogue import all_rules
from tests.unit.measure.scripted_host import Argv, ScriptedHost, script
from tests.unit.measure.test_trial import directory_of, first_trial

_SOURCE = '''"""How often the toy driver repeated a request."""

from collections.abc import Mapping, Sequence

from poolproof.evidence.counter_sources import CounterSource


def _parse(texts: Sequence[str]) -> Mapping[str, float]:
    return {name: float(value) for name, _, value in (line.partition(" ") for line in texts[0].splitlines())}


SOURCE = CounterSource("toy-driver", _parse, %s)
'''
_RULE = '''"""Requests that the toy driver repeated."""

from poolproof.rules.model import Case, Findings, Rule, refutes


def _in_result(case: Case) -> Findings:
    retries = case.counters("toy-driver").get("retries")
    if retries:
        yield refutes(f"the toy driver repeated {retries:.0f} requests")


RULE = Rule(
    title="The driver repeats requests",
    wrong="A repeated request counts twice.",
    shows="In the counters: retries grew.",
    error="Too high.",
    fix="replace the cable",
    sources=("this test",),
    in_result=_in_result,
    commands="fio --rw=read",
)
'''
_BY_FILE = 'files=("/proc/toy-driver",)'
_BY_COMMAND = 'command=("toy-driver", "--counters")'


@pytest.fixture(params=[_BY_FILE, _BY_COMMAND], ids=["file", "command"])
def toy(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write the two files into folders that are added to the packages `evidence` and `rules`."""
    for package, name, text in ((evidence, "toy_driver", _SOURCE % request.param), (rules, "toy_retries", _RULE)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    all_sources.cache_clear()
    all_rules.cache_clear()
    yield
    monkeypatch.undo()
    all_sources.cache_clear()
    all_rules.cache_clear()


class ToyHost(ScriptedHost):
    """A host with a toy driver that repeats 40 requests in each trial."""

    def __init__(self) -> None:
        super().__init__(script(), self._command)
        self.retries = 0

    def _text(self) -> str:
        self.retries += 40
        return f"retries {self.retries}\nrequests 9000\n"

    def _command(self, argv: Argv) -> Completed | None:
        return Completed(argv, 0, self._text(), "", 0.0) if argv[0] == "toy-driver" else None

    def read_files(self, paths: Sequence[str]) -> Tick:
        return Tick(0.0, (self._text(),)) if list(paths) == ["/proc/toy-driver"] else super().read_files(paths)


@pytest.mark.usefixtures("toy")
def test_a_trial_is_judged_by_the_new_counter(tmp_path: Path) -> None:
    run, trial, _steps = first_trial(ToyHost(), tmp_path / "run")
    assert (trial.verdict, trial.findings[0].rule) == ("refuted", "toy-retries")
    assert "repeated 40 requests" in trial.findings[0].message
    kept = json.loads((directory_of(run, trial) / "evidence.json").read_bytes())
    assert kept["counters"] == {"toy-driver": {"retries": 40, "requests": 0}}


@pytest.mark.usefixtures("toy")
def test_a_saved_trial_is_judged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _trial, _steps = first_trial(ToyHost(), tmp_path / "run")
    monkeypatch.setattr("sys.argv", ["poolproof", "audit", str(run.directory.path)])
    with pytest.raises(SystemExit):
        main()
    assert "toy-retries" in capsys.readouterr().out


def test_evidence_of_an_older_release_has_no_counters() -> None:
    assert msgspec.json.decode(b'{"account": null}', type=TrialEvidence).counters == {}


def test_a_counter_that_only_one_reading_has_is_left_out() -> None:
    assert growth({"a": {"x": 1, "y": 2}}, {"a": {"x": 5, "z": 9}}) == {"a": {"x": 4}}


def test_a_source_without_its_file_or_program_has_no_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(texts: Sequence[str]) -> dict[str, float]:
        return {"length": len(texts[0])} if texts[0] else {}

    sources = (
        CounterSource("file", parse, files=("/proc/there-is-no-such-file",)),
        CounterSource("program", parse, command=("there-is-no-such-program",)),
    )
    monkeypatch.setattr("poolproof.evidence.counter_sources.all_sources", lambda: sources)
    assert read_sources(LocalHost()) == {"file": {}, "program": {}}
