"""A trial compared by a percentile continues until the histograms of a real fio show that the percentile is precise."""

import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from poolproof.hosts.local import LocalHost
from poolproof.load.fio.histogram import BIN_WIDTH
from poolproof.load.fio.report import FioReport
from poolproof.load.generator import Status
from poolproof.measure.ending import BinnedPercentile, section_bounds, with_percentile
from poolproof.measure.series import after_ramp
from poolproof.metrics import COMPARABLE, metric_of
from poolproof.stopping.model import StoppingDecision, StoppingRule

CAPTURED = Path(__file__).parent / "captured" / "3.33-status-ramp.json+.gz"
RAMP_S = 0.4


@pytest.fixture
def report(tmp_path: Path) -> FioReport:
    path = tmp_path / "fio.json"
    path.write_bytes(gzip.decompress(CAPTURED.read_bytes()))
    found = FioReport(LocalHost(), str(path), 0.0)
    found.read_on()
    return found


def settled(used_s: float) -> StoppingDecision:
    return StoppingDecision(True, True, 100.0, 99.0, 101.0, 0.0, used_s)


def judged(report: FioReport, rule: StoppingRule, used_s: float) -> StoppingDecision:
    counting = after_ramp(report.statuses, RAMP_S, 0.0)
    asked = BinnedPercentile(metric_of("p50"), BIN_WIDTH)
    return with_percentile(settled(used_s), asked, rule, report, counting)


def test_a_percentile_within_the_tolerance_ends_the_trial(report: FioReport) -> None:
    rule = StoppingRule(until=0.9, min_s=1, max_s=60)
    decision = judged(report, rule, 2.0)
    assert decision.converged
    assert decision.half_share is not None and 1 / 128 <= decision.half_share < 0.9, "kept for the trials together"


def test_an_imprecise_percentile_continues_and_is_reported_at_the_maximum(report: FioReport) -> None:
    rule = StoppingRule(until=1e-6, min_s=1, max_s=60)
    decision = judged(report, rule, 2.0)
    assert not decision.done and not decision.converged
    assert decision.next_s == pytest.approx(2.5)
    assert [reason.name for reason in decision.reasons] == ["percentile"]
    last = judged(report, rule, 60.0)
    assert last.done and not last.converged and last.next_s is None


def test_without_histograms_the_rate_decides(report: FioReport) -> None:
    asked = BinnedPercentile(metric_of("p99"), BIN_WIDTH)
    assert with_percentile(settled(2.0), asked, StoppingRule(), report, ()) == settled(2.0)


def test_sections_are_even_and_end_at_the_last_report() -> None:
    counting = [Status(1000 + number / 4, number / 4) for number in range(1, 102)]
    bounds = section_bounds(counting, 5.0)
    lengths = {round(b.ran_s - a.ran_s, 6) for a, b in pairwise(bounds)}
    assert len(lengths) == 1 and 10 <= len(bounds) - 1 <= 20
    assert bounds[-1] == counting[-1] and bounds[0].ran_s >= 5.0
    assert section_bounds(counting[:1], 0.0) == []


def test_every_comparable_metric_is_a_rate_or_a_percentile() -> None:
    assert [metric for metric in COMPARABLE if metric_of(metric).is_rate] == ["iops", "bandwidth"]
    syncs = metric_of("sync_p99")
    assert syncs.of == "syncs" and syncs.percent == 99.0
