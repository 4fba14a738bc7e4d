"""The merged results of clones, compared with fio's group_reporting of the same run and the latencies in its logs."""

import math
import statistics
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.load.fio.histogram import PLAT_BITS, bin_of, bin_value
from poolproof.load.fio.json_output import read_json
from poolproof.load.merge import add_bins, merge_direction, merge_jobs, merge_latency, percentile, percentiles_of
from poolproof.load.outcome import Direction, Latency

CAPTURED = Path(__file__).parent / "captured"
RELATIVE_ERROR = 1 / 2 ** (PLAT_BITS + 1)


def clone(number: int) -> Latency:
    lines = (CAPTURED / f"3.33-group-of-three.clat.{number}.txt").read_text().split()
    return measured([int(line) for line in lines])


def measured(values: list[int]) -> Latency:
    bins = dict(Counter(bin_of(value) for value in values))
    return Latency(samples=len(values), mean_ns=statistics.fmean(values), bins_ns=bins)


def test_merged_clones_agree_with_group_reporting() -> None:
    group = read_json((CAPTURED / "3.33-group-of-three.json+").read_text()).parts[0]
    merged = merge_latency(clone(number) for number in (1, 2, 3))
    assert merged is not None and group.clones == 3 and group.read is not None and group.read.clat is not None
    truth = group.read.clat
    assert merged.bins_ns == truth.bins_ns
    assert merged.percentiles_ns == truth.percentiles_ns
    assert merged.samples == truth.samples and merged.mean_ns == pytest.approx(truth.mean_ns)


@pytest.mark.parametrize("name", ["3.33-group-of-three.json+", "3.33-randrw-two-clones.json+"])
def test_percentiles_from_the_histogram_agree_with_fio(name: str) -> None:
    for job in read_json((CAPTURED / name).read_text()).parts:
        for direction in filter(None, (job.read, job.write)):
            assert direction.clat is not None
            assert (
                percentiles_of(direction.clat.bins_ns, direction.clat.percentiles_ns) == direction.clat.percentiles_ns
            )


def test_bytes_of_clones_are_added_and_divided_by_the_longest_runtime() -> None:
    jobs = read_json((CAPTURED / "3.33-randrw-two-clones.json+").read_text()).parts
    both = merge_jobs(jobs)
    assert both.clones == 2 and both.read is not None
    assert both.read.io_bytes == sum(job.read.io_bytes or 0 for job in jobs if job.read)
    assert both.read.bandwidth_bytes == pytest.approx(1000 * both.read.io_bytes / 2001, rel=1e-6)
    assert both.read.clat is not None and both.read.clat.samples == sum(both.read.clat.bins_ns.values())


def test_a_percentile_without_a_histogram_is_as_printed_or_unknown() -> None:
    printed = Latency(samples=10, percentiles_ns={99.0: 5.0})
    assert percentile(printed, 99) == 5.0
    assert percentile(printed, 99.9) is None
    merged = merge_latency([printed, printed])
    assert merged is not None and merged.samples == 20 and merged.percentiles_ns == {}


def test_a_value_unknown_for_one_clone_is_unknown_for_all() -> None:
    whole = merge_direction([Direction(io_bytes=5, bandwidth_bytes=1.0), Direction(bandwidth_bytes=2.0)])
    assert whole is not None and whole.io_bytes is None and whole.bandwidth_bytes == 3.0
    assert merge_direction([None, None]) is None
    assert merge_latency([None, Latency(samples=0)]) is None


def test_merging_no_jobs_is_an_error() -> None:
    with pytest.raises(ValueError, match="no job"):
        merge_jobs([])


latencies = st.lists(st.integers(1, 10**10), min_size=1, max_size=60)


@given(st.lists(latencies, min_size=1, max_size=4))
def test_merging_parts_equals_measuring_them_together(parts: list[list[int]]) -> None:
    merged = merge_latency([measured(part) for part in parts])
    whole = measured([value for part in parts for value in part])
    assert merged is not None and merged.bins_ns == whole.bins_ns
    assert merged.samples == whole.samples and whole.mean_ns is not None
    assert merged.mean_ns == pytest.approx(whole.mean_ns)


@given(latencies, st.floats(0.1, 100))
def test_a_percentile_is_within_bin_precision_of_the_exact_one(values: list[int], percent: float) -> None:
    exact = sorted(values)[max(0, math.ceil(percent / 100 * len(values) - 1e-9) - 1)]
    assert percentile(measured(values), percent) == pytest.approx(exact, rel=2 * RELATIVE_ERROR, abs=1)


@given(st.integers(0, 1855))
def test_the_value_of_a_bin_is_in_the_bin(index: int) -> None:
    assert bin_of(bin_value(index)) == bin_value(index)
    assert bin_value(index) < bin_value(index + 1)


@given(st.integers(0, 10**12))
def test_bin_values_are_accurate_to_one_part_in_128(latency: int) -> None:
    assert abs(bin_of(latency) - latency) <= latency * RELATIVE_ERROR


@given(st.lists(st.dictionaries(st.integers(0, 50), st.integers(0, 9)), max_size=4))
def test_adding_histograms_keeps_every_sample(histograms: list[dict[int, int]]) -> None:
    assert sum(add_bins(histograms).values()) == sum(sum(bins.values()) for bins in histograms)
