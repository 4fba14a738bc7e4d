"""A result that did not converge is not printed as a value.

The table shows `not converged`, the range of the trials, and the reason.
"""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.flags import campaign_from_flags
from poolproof.campaign.model import Measure, Until
from poolproof.metrics import TrialMetrics
from poolproof.presentation.terminal.table import print_table
from poolproof.presentation.terminal.words import trial_text
from poolproof.results.runs.convergence import VariancePriors, convergence_of, needs_trial, trials_ahead
from poolproof.results.runs.model import Convergence, Trial
from poolproof.results.runs.run_object import run_object
from poolproof.results.runs.summary import Cell, cells_of
from poolproof.statistics.shared_variance import VariancePrior
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict

MEASURE = Measure(trials=2, most_trials=4, until=Until(tolerance=0.05, max_s=60.0))
CAMPAIGN = replace(
    campaign_from_flags(["hdd=a | ext4", "pair=btrfs raid1 a b"], ["a=file:1G", "b=file:1G"], ["r:rw=randread"]),
    measure=MEASURE,
)
DRIFT = NotConverged("drift", "it falls by 30% over 60 s")


def trial(layout: str, number: int, iops: float | None, *reasons: NotConverged) -> Trial:
    settling = Convergence(not reasons, 0.5, 4.0, 60.0, 0.9995, 1.0005, reasons)
    verdict: Verdict = "failed" if iops is None else "sound"
    figures = None if iops is None else TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096)
    seconds = {"cool": 1.0, "fio": 5.0}
    return Trial(layout, "r", number, verdict, (), "iops", figures, seconds=seconds, settling=settling)


def cell(*trials: Trial) -> Cell:
    (found,) = cells_of(trials, CAMPAIGN)
    return found


def printed(*cells: Cell) -> str:
    out = io.StringIO()
    print_table(Console(file=out, width=80), cells, "hdd")
    return out.getvalue()


SETTLED = cell(trial("hdd", 1, 100.0), trial("hdd", 2, 100.1))
DRIFTS = cell(trial("pair", 1, 210.0), trial("pair", 2, 210.1, DRIFT))
APART = cell(*(trial("pair", number, 100.0 * number) for number in (1, 2, 3, 4)))


@pytest.mark.parametrize("unsettled", [DRIFTS, APART])
def test_no_mean_is_printed_of_a_cell_that_did_not_settle(unsettled: Cell, wording: Callable[[str], str]) -> None:
    text = printed(SETTLED, unsettled)
    wording(text)
    row = next(line for line in text.splitlines() if line.startswith("  pair"))
    assert "IOPS" not in row
    assert "100 IOPS" in next(line for line in text.splitlines() if line.startswith("  hdd"))


def test_the_reasons_are_printed_below() -> None:
    assert "drift: it falls by 30% over 60 s" in printed(SETTLED, DRIFTS)
    (reasons,) = (each["unsettled"] for each in run_object(Path("run"), (APART,), None)["cells"])
    assert [each["name"] for each in reasons] == ["disagree", "trials"]
    assert all(f"  {each['name']}: " in printed(SETTLED, APART) for each in reasons)


def test_trials_that_disagree_and_are_known_all_the_same_are_reported_as_such(wording: Callable[[str], str]) -> None:
    """Each trial is precise to a tenth of a per cent, but they differ by 6%.

    Six trials make the mean precise to within 5%.
    """
    figures = (100.0, 106.0, 101.0, 105.0, 100.5, 105.5)
    known = cell(*(trial("pair", number, figure) for number, figure in enumerate(figures, start=1)))
    assert not known.did_not_converge and known.disagrees
    wording(printed(SETTLED, known))
    assert [each["disagree"] for each in run_object(Path("run"), (SETTLED, known), None)["cells"]] == [False, True]


def test_the_time_that_was_spent_is_printed_next_to_that_of_trials_of_maximum_length() -> None:
    text = printed(SETTLED, DRIFTS)
    assert all(seconds in text for seconds in ("20.0 s", "4.0 s", "4 min"))


def test_a_trial_that_did_not_settle_says_so_as_it_ends() -> None:
    assert trial_text(trial("hdd", 1, 100.0)) == "100 IOPS"
    assert trial_text(trial("hdd", 1, 100.0, DRIFT)).startswith("about 100 IOPS, ")


def test_machines_are_told_the_same() -> None:
    found = run_object(Path("run"), (SETTLED, DRIFTS), None)
    assert [each["settled"] for each in found["cells"]] == [True, False]
    assert found["cells"][1]["unsettled"] == [{"name": "drift", "sentence": "it falls by 30% over 60 s"}]
    assert found["cells"][0]["warmup_s"] == 0.5
    assert found["seconds"] == {"cool": 4.0, "fio": 20.0}
    assert found["fixed_s"] == 4 * 60.0


def test_a_workload_that_ends_by_itself_takes_no_longer_by_a_fixed_schedule() -> None:
    by_itself = [replace(trial("hdd", number, 100.0), settling=None) for number in (1, 2)]
    found = convergence_of(by_itself, MEASURE)
    assert found is not None and found.fixed_s == 2 * 5.0
    assert run_object(Path("run"), (cell(*by_itself),), None)["fixed_s"] == 2 * 5.0


def test_trials_of_a_percentile_are_known_no_better_than_by_their_own_stretches() -> None:
    def of_a_percentile(number: int, half: float | None) -> Trial:
        found = trial("hdd", number, 100.0)
        assert found.settling is not None
        figures = TrialMetrics(iops=100.0, bandwidth_bytes=1e5, p99_ns=1e6)
        return replace(found, metric="p99", figures=figures, settling=replace(found.settling, half_share=half))

    spreads = VariancePriors(percentiles=VariancePrior(0.005, 0.25))
    vague, sure, unsaid = ([of_a_percentile(n, half) for n in (1, 2)] for half in (0.1, 0.008, None))
    found = [convergence_of(trials, MEASURE, spreads) for trials in (vague, sure, unsaid)]
    assert [each is not None and each.converged for each in found] == [False, True, True]


def test_a_cell_has_trials_until_they_are_inside_the_tolerance() -> None:
    calm = [trial("hdd", 1, 100.0), trial("hdd", 2, 100.1)]
    apart = [trial("pair", number, 100.0 * number) for number in (1, 2, 3, 4)]
    assert needs_trial(calm[:1], MEASURE)
    assert not needs_trial(calm, MEASURE)
    assert needs_trial(apart[:3], MEASURE)
    assert not needs_trial(apart, MEASURE), "the most are the most"
    assert trials_ahead([*calm, *apart[:2]], CAMPAIGN) == 1
    assert trials_ahead([], CAMPAIGN) == 4


def test_failed_trials_have_no_say() -> None:
    failed = [trial("hdd", 1, None), trial("hdd", 2, None)]
    assert not needs_trial(failed, MEASURE), "what fails twice is not tried for ever"
    found = convergence_of(failed, MEASURE)
    assert found is not None and [reason.name for reason in found.reasons] == ["no-figure"]
    assert needs_trial([trial("hdd", 1, None), trial("hdd", 2, 100.0)], MEASURE)


def test_a_fixed_time_has_nothing_to_settle() -> None:
    assert convergence_of([trial("hdd", 1, 100.0)], Measure()) is None
    assert not needs_trial([trial("hdd", number, 100.0 * number) for number in (1, 2, 3)], Measure(trials=3))
