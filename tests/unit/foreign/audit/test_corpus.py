"""The labelled cases: captured runs, and results found in other people's texts."""

from pathlib import Path

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import figures_object
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.corpus import Case, captured, confusion_table, every, missed, quoted

DOCS = Path(__file__).parents[4] / "docs"
SEEDS = Path(__file__).parents[5] / "shared" / "seeds"
CAPTURED = {case.name: case for case in captured()}
QUOTED = {case.name: case for case in quoted()}


def test_there_are_at_least_forty_captured_outputs() -> None:
    assert len(CAPTURED) >= 40
    assert {case.label for case in CAPTURED.values()} == {"trap", "control"}


@pytest.mark.parametrize("name", [name for name, case in CAPTURED.items() if case.label == "control"])
def test_a_control_is_not_even_suspected(name: str) -> None:
    assert CAPTURED[name].audited.verdict in ("unproven", "sound"), CAPTURED[name].audited.findings


@pytest.mark.parametrize("name", [name for name, case in CAPTURED.items() if case.rule])
def test_a_trap_is_named(name: str) -> None:
    assert CAPTURED[name].rule in {finding.rule for finding in CAPTURED[name].audited.findings}


@pytest.mark.parametrize("name", QUOTED)
def test_quoted_results_are_judged_as_labelled(name: str) -> None:
    assert QUOTED[name].audited.verdict == QUOTED[name].verdict, QUOTED[name].audited.findings


def test_one_run_in_several_formats_has_one_verdict_and_the_same_values() -> None:
    runs: dict[str, list[Case]] = {}
    for name, case in CAPTURED.items():
        runs.setdefault(name.removesuffix("-terse.txt").partition(".")[0], []).append(case)
    for name, cases in runs.items():
        shown = [case for case in cases if case.rule or not any(other.rule for other in cases)]
        assert len({case.audited.verdict for case in shown}) == 1, name
        rates = [figures_object(case.audited.figures) for case in cases]
        for kind in rates[0].keys() - {"sync"}:
            values = [rate[kind]["bandwidth_bytes"] for rate in rates]
            assert max(values) <= 1.02 * min(values), (name, values)


def test_the_confusion_table_is_the_one_in_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    cases = every()
    table = confusion_table(cases)
    with capsys.disabled():
        print(f"\n{table}missed: {', '.join(missed(cases))}")
    page = (DOCS / "audit.md").read_text(encoding="utf-8")
    assert table in page, "update it: python -m tests.unit.foreign.audit.corpus"
    assert all(f"`{name.partition('.')[0].removesuffix('-terse')}`" in page for name in missed(cases))


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the texts themselves are not here")
def test_the_texts_themselves() -> None:
    verdicts = {
        (path.name[:3], audited.line): audited.verdict
        for path in sorted(SEEDS.glob("*.txt"))
        for audited in audit_text(path.name, path.read_text(encoding="utf-8"), Context())
    }
    union = {line: verdict for (file, line), verdict in verdicts.items() if file == "001"}
    assert len(union) == 16
    assert union.pop(289) == "unproven", "libaio queued these writes on btrfs, so direct=1 was honoured"
    assert set(union.values()) == {"suspect"}, "the limit of the disks is known from a sentence, and that never refutes"
    assert [verdict for (file, _), verdict in verdicts.items() if file == "000"] == ["unproven"] * 6
    assert [verdict for (file, _), verdict in verdicts.items() if file == "003"] == ["unproven"] * 9
    zvol = [verdict for (file, _), verdict in verdicts.items() if file == "004"]
    assert zvol == ["suspect", "suspect", "refuted", "sound", "unproven"]
