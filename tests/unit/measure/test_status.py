"""fio's live reports are parsed into statuses, rates per interval, and the metrics of a window."""

import gzip
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.hosts.local import LocalHost
from poolproof.load.fio.json_output import find_documents, read_json, read_json_stream
from poolproof.load.fio.report import FioReport
from poolproof.load.generator import Status
from poolproof.load.merge import percentile
from poolproof.measure.figures import figures_of
from poolproof.measure.load_output import since
from poolproof.measure.series import after_ramp, series_of

CAPTURED = gzip.decompress(Path(__file__).with_name("captured").joinpath("3.33-status-ramp.json+.gz").read_bytes())
BEGUN_S = 1795305652.3
RAMP_S = 0.4
HOST = LocalHost()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> FioReport:
    path = tmp_path_factory.mktemp("fio") / "fio.json"
    path.write_bytes(CAPTURED)
    report = FioReport(HOST, str(path), BEGUN_S)
    report.read_on()
    return report


def test_each_fio_report_becomes_a_status_with_its_totals(whole: FioReport) -> None:
    results = read_json_stream(CAPTURED.decode())
    assert len(whole.statuses) == len(results) == 10
    for status, result in zip(whole.statuses, results, strict=True):
        reads = [job.read for job in result.parts if job.read]
        writes = [job.write for job in result.parts if job.write]
        both = [part.clat for part in (*reads, *writes) if part.clat and part.clat.samples]
        syncs = [job.sync for job in result.parts if job.sync]
        assert status.at_s == (result.timestamp_ms or 0) / 1000
        assert status.ran_s == max((part.runtime_ms or 0 for part in (*reads, *writes)), default=0) / 1000
        assert status.read_bytes == sum(part.io_bytes or 0 for part in reads)
        assert status.write_bytes == sum(part.io_bytes or 0 for part in writes)
        assert status.read_ios == sum((part.ios or 0) - part.ramp_ios for part in reads)
        assert status.write_ios == sum((part.ios or 0) - part.ramp_ios for part in writes)
        assert status.latency_samples == sum(each.samples or 0 for each in both)
        latency_ns = sum((each.samples or 0) * (each.mean_ns or 0) for each in both)
        assert math.isclose(status.latency_ns, latency_ns, rel_tol=1e-9)
        assert status.syncs == sum(each.samples or 0 for each in syncs)


def test_a_status_has_the_offsets_of_its_complete_report(whole: FioReport) -> None:
    documents = find_documents(CAPTURED.decode())
    assert [(status.start, status.end) for status in whole.statuses] == [
        (each.start, each.end + 1) for each in documents
    ]
    assert read_json(whole.documents([whole.statuses[4]])) == documents[4].result


def test_a_report_read_at_once_equals_one_read_in_pieces(whole: FioReport) -> None:
    home = FioReport(HOST, whole.path, BEGUN_S)
    home.read_all()
    assert home.statuses == whole.statuses
    assert home.documents([home.statuses[4]]) == whole.documents([whole.statuses[4]])
    assert home.documents(home.statuses[2:5]) == whole.documents(whole.statuses[2:5])


def test_a_missing_report_file_has_no_statuses(tmp_path: Path) -> None:
    none = FioReport(HOST, str(tmp_path / "none"), BEGUN_S)
    none.read_all()
    assert none.statuses == []


@pytest.mark.slow
@given(cuts=st.lists(st.integers(0, len(CAPTURED)), min_size=1, max_size=3))
def test_a_growing_report_is_read_in_pieces(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("fio") / "fio.json"
    report = FioReport(HOST, str(path), BEGUN_S)
    for cut in (*sorted(cuts), len(CAPTURED)):
        path.write_bytes(CAPTURED[:cut])
        report.read_on()
        assert all(status.end <= cut + 1 for status in report.statuses), "what is not complete waits"
    again = FioReport(HOST, str(path), BEGUN_S)
    again.read_on()
    assert report.statuses == again.statuses


def test_a_report_that_does_not_exist_yet_has_no_statuses(tmp_path: Path) -> None:
    report = FioReport(HOST, str(tmp_path / "none"), BEGUN_S)
    report.read_on()
    assert report.statuses == []


@pytest.mark.parametrize("jump_s", [3600, -3600])
@pytest.mark.parametrize("first", [0, 2, 5, 9])
def test_a_clock_that_is_set_moves_no_report(tmp_path: Path, whole: FioReport, jump_s: int, first: int) -> None:
    """From report number `first` on, all timestamps are an hour off. The clock may also be changed during the ramp."""
    path, text = tmp_path / "fio.json", CAPTURED.decode()
    for status in reversed(whole.statuses[first:]):
        stamp = f'"timestamp_ms" : {round(status.at_s * 1000)},'
        moved = text[status.start :].replace(stamp, f'"timestamp_ms" : {round(status.at_s * 1000) + jump_s * 1000},', 1)
        text = text[: status.start] + moved
    path.write_text(text)
    report = FioReport(HOST, str(path), BEGUN_S)
    report.read_on()
    for found, expected in zip(report.statuses, whole.statuses, strict=True):
        assert found.at_s == pytest.approx(expected.at_s, abs=0.5)
    assert report.statuses == sorted(report.statuses, key=lambda status: status.at_s)
    again = FioReport(HOST, str(path), BEGUN_S)
    again.read_all()
    assert again.statuses == report.statuses


@pytest.mark.parametrize("step_s", [-3.0, 5.0, 300.0])
def test_a_clock_that_was_set_before_fio_started_moves_no_report(whole: FioReport, step_s: float) -> None:
    """fio's timestamps are based on a wall clock that differs from the one that poolproof read at the start."""
    report = FioReport(HOST, whole.path, BEGUN_S - step_s, step_s)
    report.read_on()
    for found, expected in zip(report.statuses, whole.statuses, strict=True):
        assert found.at_s == pytest.approx(expected.at_s - step_s)
    counting = after_ramp(report.statuses, RAMP_S, report.begun_at_s)
    assert [status.ran_s for status in counting][:2] == [0.201, 0.4]


def test_the_clock_restarts_after_the_ramp(whole: FioReport) -> None:
    counting = after_ramp(whole.statuses, RAMP_S, BEGUN_S)
    assert [status.ran_s for status in counting] == [0.201, 0.4, 0.6, 0.801, 1.001, 1.202, 1.24]


def test_a_steady_job_has_a_steady_series(whole: FioReport) -> None:
    """There are two clones, each limited by fio to 600 reads and 600 writes per second."""
    series = series_of(after_ramp(whole.statuses, RAMP_S, BEGUN_S), 0.2, by_bytes=False)
    assert len(series.values) == 6
    assert all(abs(value - 2400) < 0.03 * 2400 for value in series.values)
    by_bytes = series_of(after_ramp(whole.statuses, RAMP_S, BEGUN_S), 0.2, by_bytes=True)
    assert all(abs(value - 2400 * 4096) < 0.05 * 2400 * 4096 for value in by_bytes.values)


@given(
    steps=st.lists(st.tuples(st.floats(0.2, 0.4), st.integers(0, 10_000)), min_size=2, max_size=60),
    interval_s=st.sampled_from([0.25, 0.5, 1.0]),
)
def test_no_byte_is_lost_between_the_intervals(steps: list[tuple[float, int]], interval_s: float) -> None:
    statuses, ran_s, moved = [], 0.0, 0
    for more_s, more in steps:
        ran_s, moved = ran_s + more_s, moved + more
        statuses.append(Status(at_s=ran_s, ran_s=ran_s, read_bytes=moved))
    series = series_of(statuses, interval_s, by_bytes=True)
    assert abs(series.duration_s - ran_s) <= interval_s
    assert min(series.values, default=0.0) >= 0
    total = math.fsum(series.values) * interval_s
    last = max(more / more_s for more_s, more in steps)
    assert moved - total <= last * interval_s + 1e-6
    assert total <= moved + 1e-6


def test_without_reports_the_series_is_empty() -> None:
    assert series_of([], 0.25, by_bytes=True).values == ()
    assert series_of([Status(1.0, 0.0)], 0.25, by_bytes=True).values == ()


def test_a_host_that_reports_millennia_does_not_cause_an_endless_series() -> None:
    series = series_of([Status(1.0, 1.0, read_bytes=1), Status(2.0, 1e18, read_bytes=2)], 0.25, by_bytes=True)
    assert 0 < len(series.values) <= 1_000_000


def test_a_window_counts_only_what_happened_in_it() -> None:
    results = read_json_stream(CAPTURED.decode())
    start, end = results[4], results[8]
    window = since(start, end)
    for before, after, between in zip(start.parts, end.parts, window.parts, strict=True):
        assert before.write and after.write and between.write
        assert between.write.ios == (after.write.ios or 0) - (before.write.ios or 0)
        assert between.write.runtime_ms == (after.write.runtime_ms or 0) - (before.write.runtime_ms or 0)
        clat = between.write.clat
        assert clat is not None and clat.samples == sum(clat.bins_ns.values())
        assert percentile(clat, 50.0) is not None
    assert abs((figures_of(window).iops or 0) - 2400) < 0.02 * 2400


def test_a_window_from_the_start_has_the_metrics_of_the_whole_trial() -> None:
    end = read_json_stream(CAPTURED.decode())[-1]
    empty = read_json_stream(CAPTURED.decode())[0]
    assert empty.parts[0].write is not None
    none = type(end)(end.version, tuple(type(job)(job.name) for job in end.parts))
    assert figures_of(since(none, end)) == figures_of(end)


def test_a_status_counts_the_total_of_all_directions_once(tmp_path: Path) -> None:
    path = tmp_path / "fio.json"
    captured = Path(__file__).parents[1] / "load" / "fio" / "captured" / "3.33-unified-both.json"
    path.write_bytes(captured.read_bytes())
    report = FioReport(HOST, str(path), 0.0)
    report.read_all()
    (status,) = report.statuses
    assert (status.read_ios, status.write_ios) == (496, 528)
    figures = figures_of(read_json(captured.read_text()))
    assert figures.iops == figures.read_iops + figures.write_iops if figures.read_iops and figures.write_iops else False
