"""If sections of a job run one after the other, their rates are not added, regardless of what separates them."""

from dataclasses import replace
from typing import Any

import pytest

from poolproof.load.fio.job import delay_ms
from poolproof.load.merge import direction_of, measured_ms
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome
from poolproof.measure.figures import figures_of


def _part(way: str, ios: int, runtime_ms: int = 1000, **more: Any) -> PartOutcome:
    done = Direction(io_bytes=4096 * ios, ios=ios, runtime_ms=runtime_ms, iops=ios * 1000 / runtime_ms,
                     bandwidth_bytes=4096 * ios * 1000 / runtime_ms)  # fmt: skip
    values: dict[str, Any] = {"delay_ms": 0, way: done, **more}
    return PartOutcome(way, **values)


def _figures(*parts: PartOutcome) -> tuple[float | None, float | None, float | None]:
    found = figures_of(Outcome("fio-3.33", parts))
    assert found.bandwidth_bytes == 4096 * (found.iops or 0)
    return found.iops, found.read_iops, found.write_iops


def test_sections_that_run_together_are_added() -> None:
    assert _figures(_part("read", 33_000), _part("read", 33_000)) == (66_000, 66_000, 0)
    assert _figures(_part("read", 33_000), _part("write", 10_000)) == (43_000, 33_000, 10_000)
    assert _figures(_part("read", 500), _part("read", 500, delay_ms=20))[0] == 1000, "threads start a little apart"


def test_the_rate_of_a_section_that_ends_early_is_not_added() -> None:
    """Writes of 64 MiB in 0.1 s and reads of 12 MiB in 4 s had a bandwidth of 432 MiB/s."""
    assert _figures(_part("read", 3_000, 4000), _part("write", 16_000, 100)) == (4_750, 750, 160_000)
    assert _figures(_part("read", 3_000, 4000), _part("read", 16_000, 100)) == (4_750, 4_750, 0)
    assert _figures(_part("read", 1_000), _part("write", 1_020, 1020))[0] == 2_000, "fio ends jobs a little apart"


def test_a_section_that_starts_later_is_not_added() -> None:
    assert _figures(_part("read", 33_000), _part("read", 33_000, delay_ms=1000)) == (33_000, 33_000, 0)
    assert _figures(_part("read", 33_000), _part("write", 11_000, delay_ms=1000)) == (22_000, 33_000, 11_000)


def test_a_section_that_waits_for_another_is_not_added() -> None:
    """`wait_for` delays a section without a startdelay: two sections of 1 s each were added up to twice the rate."""
    one = _part("read", 10_000, options={})
    two = replace(_part("write", 10_000, options={"wait_for": "read"}), name="two")
    assert _figures(one, two) == (10_000, 10_000, 10_000)
    assert _figures(one, one, replace(two, write=None, read=two.write)) == (15_000, 15_000, 0), (
        "it waits for all clones"
    )
    third = replace(one, name="three", options={"wait_for": "two"})
    assert _figures(one, two, third) == (10_000, 10_000, 10_000)
    assert (
        measured_ms(Outcome("fio-3.33", (replace(one, job_runtime_ms=1000), replace(two, job_runtime_ms=1000)))) == 2000
    )


def test_sections_that_wait_for_the_same_section_are_added() -> None:
    waiting = replace(_part("read", 4000, options={"wait_for": "read"}), name="two")
    assert _figures(_part("read", 1000), waiting, replace(waiting, name="three")) == (4500, 4500, 0)


def test_only_the_time_that_sections_share_counts_once() -> None:
    """With 1,000 I/Os in the first second, and 3,000 in the two seconds from 0.5 s, there are 4,000 I/Os in 2.5 s."""
    assert _figures(_part("read", 1000), _part("read", 3000, 2000, delay_ms=500))[0] == 1600


def test_groups_one_after_the_other_are_not_added_in_different_directions() -> None:
    assert _figures(_part("read", 1000), _part("write", 500, group=1)) == (750, 1000, 500)


def test_total_latencies_are_used_if_only_they_have_percentiles() -> None:
    """With clat_percentiles=0 and lat_percentiles=1, a p99 without a value was `sound`."""
    whole, completion = Latency(samples=10, bins_ns={900: 10}), Latency(samples=10, mean_ns=700.0)
    done = Direction(io_bytes=40_960, ios=10, iops=10.0, bandwidth_bytes=40_960.0, clat=completion, lat=whole)
    assert figures_of(Outcome("fio-3.33", (PartOutcome("a", read=done),))).p99_ns == 900
    both = replace(done, clat=replace(completion, bins_ns={700: 10}))
    assert figures_of(Outcome("fio-3.33", (PartOutcome("a", read=both),))).p99_ns == 700


def test_an_unknown_delay_changes_nothing() -> None:
    parts = (_part("read", 1000), _part("read", 1000, delay_ms=None))
    merged = direction_of(Outcome("fio-3.33", parts), "read")
    assert merged is not None and merged.iops == 2000


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 0),
        ({"startdelay": "1s"}, 1000),
        ({"startdelay": "2", "ramp_time": "500ms"}, 2500),
        ({"startdelay": "1:3"}, None),
        ({"startdelay": "0-3s"}, None),
        ({"startdelay": "500ms-2s"}, None),
    ],
)
def test_the_delay_of_a_job(options: dict[str, str], expected: int | None) -> None:
    assert delay_ms(options) == expected


@pytest.mark.parametrize(
    ("delays_ms", "expected"),
    [((0, 0), 2000), ((1000, 1000), 2000), ((1000, 2000), 3000), ((3000, 1000), 4000), ((1000, None), 2000)],
)
def test_the_measured_time_begins_with_the_first_section_and_ends_with_the_last(
    delays_ms: tuple[int, int | None], expected: int
) -> None:
    parts = [_part("read", 1000, delay_ms=delay_ms, job_runtime_ms=2000) for delay_ms in delays_ms]
    assert measured_ms(Outcome("fio-3.33", tuple(parts))) == expected


def test_a_group_of_clones_lasts_as_long_as_its_longest_clone() -> None:
    """With group_reporting, fio adds up the run times: four clones that ran for 3 s have a job_runtime of 12 s."""
    group = _part("read", 1000, 3024, delay_ms=2000, clones=4, job_runtime_ms=12_045)
    assert measured_ms(Outcome("fio-3.33", (group,))) == 3024
    alone = _part("read", 1000, 3024, delay_ms=2000, job_runtime_ms=3030)
    assert measured_ms(Outcome("fio-3.33", (alone,))) == 3030, "including the time of the last sync"
