"""The I/Os that completed between two of fio's reports, computed from the histograms of a real run."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from poolproof.hosts.local import LocalHost
from poolproof.load.fio.json_output import read_json_stream
from poolproof.load.fio.report import FioReport
from poolproof.load.generator import Status
from poolproof.load.merge import percentiles_of
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome
from poolproof.measure.ending import histograms_of
from poolproof.measure.figures import figures_of, latency_of, sync_latency_of
from poolproof.measure.series import MOST_INTERVALS, after_ramp, between, chosen_of, latencies, latency_text
from poolproof.metrics import metric_of

CAPTURED = gzip.decompress(Path(__file__).with_name("captured").joinpath("3.33-status-ramp.json+.gz").read_bytes())
BEGUN_S, RAMP_S = 1795305652.3, 0.4


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> FioReport:
    path = tmp_path_factory.mktemp("fio") / "fio.json"
    path.write_bytes(CAPTURED)
    made = FioReport(LocalHost(), str(path), BEGUN_S)
    made.read_on()
    return made


def test_complete_reports_are_returned_in_order(report: FioReport) -> None:
    wanted = [report.statuses[2], report.statuses[5]]
    assert report.documents(wanted) == "".join(report.documents([status]) for status in wanted)


def test_latency_intervals_add_up_to_the_last_report(report: FioReport) -> None:
    counting = after_ramp(report.statuses, RAMP_S, BEGUN_S)
    found = latencies(report, counting)
    last = read_json_stream(CAPTURED.decode())[-1]
    both, syncs = latency_of(last), sync_latency_of(last)
    assert both is not None and syncs is not None and len(found) >= 2
    assert sum((Counter(each.bins) for each in found), Counter()) == both.bins_ns
    assert sum((Counter(each.sync_bins) for each in found), Counter()) == syncs.bins_ns
    assert [each.from_s for each in found] == [0.0, *(each.ran_s for each in found[:-1])]
    assert found[-1].ran_s == counting[-1].ran_s
    whole = percentiles_of(sum((Counter(each.bins) for each in found), Counter()), [99.0])
    assert whole[99.0] == figures_of(last).p99_ns


def test_a_latency_line_counts_only_its_own_interval(report: FioReport) -> None:
    counting = after_ramp(report.statuses, RAMP_S, BEGUN_S)
    found = latencies(report, counting)
    lines = [json.loads(line) for line in latency_text(found).splitlines()]
    by_time = {status.ran_s: status for status in counting}
    before = 0
    for line in lines:
        until = by_time[line["ran_s"]].latency_samples
        assert sum(line["bins"].values()) == until - before
        before = until


def test_without_histograms_there_are_no_latency_intervals(report: FioReport) -> None:
    results = read_json_stream(CAPTURED.decode())[-2:]
    bare = [
        replace(
            result,
            parts=tuple(
                replace(
                    job, read=job.read and replace(job.read, clat=job.read.clat and replace(job.read.clat, bins_ns={}))
                )
                for job in result.parts
            ),
        )
        for result in results
    ]
    assert between(report.statuses[-2:], bare) == ()
    assert between([], []) == ()


@pytest.mark.parametrize(("every_s", "until_s"), [(0.25, 1.0), (0.25, 10.0), (0.5, 60.0), (1.0, 600.0), (0.25, 0.25)])
def test_latency_intervals_are_even_and_few_and_cover_the_whole_trial(every_s: float, until_s: float) -> None:
    counting = [Status(number * every_s, number * every_s) for number in range(1, round(until_s / every_s) + 1)]
    chosen = chosen_of(counting)
    assert chosen[-1] is counting[-1]
    assert len(chosen) <= 1.12 * MOST_INTERVALS + 1
    spans = [b.ran_s - a.ran_s for a, b in pairwise(chosen)]
    assert not spans or max(spans) <= 2 * min(spans)


def test_the_directions_of_a_mixed_load_have_histograms_of_their_own() -> None:
    reads, writes = Latency(5, bins_ns={1000: 2, 2000: 3}), Latency(4, bins_ns={9000: 4})
    first = Outcome("fio-3.33", (PartOutcome("j", read=Direction(clat=Latency(2, bins_ns={1000: 2}))),))
    last = Outcome("fio-3.33", (PartOutcome("j", read=Direction(clat=reads), write=Direction(clat=writes)),))
    statuses = [Status(at_s=at, ran_s=at) for at in (1.0, 2.0)]
    found = between(statuses, [first, last])
    assert [each.bins for each in found] == [{1000: 2}, {2000: 3, 9000: 4}]
    assert [each.read_bins for each in found] == histograms_of(metric_of("read_p99"), found) == [{1000: 2}, {2000: 3}]
    assert [each.write_bins for each in found] == histograms_of(metric_of("write_p99"), found) == [{}, {9000: 4}]
    pure = between(statuses[:1], [first])
    assert pure[0].read_bins == {} and histograms_of(metric_of("read_p99"), pure) == [{1000: 2}]
    figures = figures_of(last)
    assert (figures.metric("read_p99"), figures.metric("write_p99")) == (2000.0, 9000.0)
    assert (figures.reads, figures.writes, figures.events("write_p99")) == (5, 4, 4)
