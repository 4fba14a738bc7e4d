"""Which verdicts count, and that every metric of a trial and of a cell has a verdict."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import METRICS
from poolproof.results.runs.model import Convergence
from poolproof.results.runs.summary import cells_of
from poolproof.verdicts import WORST_FIRST, Verdict, counts, decides, has_values, worst
from tests.unit.presentation.html_report.making import CAMPAIGN, trial

SOURCE = Path(__file__).parents[2] / "src" / "poolproof"
COMPARED = re.compile(r"verdict (?:==|!=|in|not in) \(?\"(?:failed|refuted|unproven|suspect)")


def test_refuted_and_failed_do_not_count_and_only_failed_has_no_values() -> None:
    assert [verdict for verdict in WORST_FIRST if counts(verdict)] == ["suspect", "unproven", "sound"]
    assert [verdict for verdict in WORST_FIRST if not has_values(verdict)] == ["failed"]
    assert [verdict for verdict in WORST_FIRST if decides(verdict)] == ["unproven", "sound"]
    assert worst(["sound", "refuted", "suspect"]) == "refuted"


@pytest.mark.parametrize("verdict", WORST_FIRST)
def test_every_metric_of_a_trial_and_its_cell_has_a_verdict(verdict: Verdict) -> None:
    one = trial("one", "reads", 1, verdict)
    [cell] = cells_of([one, trial("one", "reads", 2)], parse_campaign(CAMPAIGN, "t"))
    for metric in METRICS:
        assert one.result(metric.id).verdict == cell.result(metric.id).verdict == verdict
        assert one.result(metric.id).counts is cell.result(metric.id).counts is counts(verdict)
    assert (one.result().value is None) is (verdict == "failed")
    assert len(cell.result().values) == (1 if verdict == "failed" else 2)


def test_the_precision_is_that_of_the_metric_of_the_workload() -> None:
    settling = Convergence(True, 1.0, 5.0, 60.0, low_share=0.98, high_share=1.02)
    one = replace(trial("one", "reads", 1), settling=settling)
    assert one.result().precision == pytest.approx(0.02)
    assert one.result("bandwidth").precision is None
    tail = replace(one, metric="p99", settling=replace(settling, half_share=0.1))
    assert tail.result().precision == 0.1


def test_no_module_decides_by_itself_which_verdicts_count() -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        if path.name != "verdicts.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if COMPARED.search(line)
    }
    assert {place.split(":")[0] for place in found} <= ALLOWED, found


ALLOWED = {
    "foreign/audit/advice.py",  # estimates are made only for values that bytes contradict
    "foreign/audit/texts.py",  # only a result that nothing contradicts gets a command that would prove it
    "foreign/audit/sentences.py",  # a sentence never refutes a result
    "foreign/audit/saved_trials.py",  # a failed trial of our own has nothing to audit
    "presentation/html_report/page.py",  # refuted cells come first
    "presentation/html_report/cells.py",  # a refuted value is in brackets, a failed one has no value
    "presentation/terminal/limited.py",
    "rules/judge.py",  # the reason for `unproven` is kept only for metrics that are unproven
    "presentation/terminal/table.py",
}
"""Modules that treat one verdict specially, for reasons other than whether a result counts."""
