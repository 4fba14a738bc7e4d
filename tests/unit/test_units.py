"""Sizes, durations and rates are parsed, and are formatted in a readable way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.units import (
    canonical_size,
    format_count,
    format_duration,
    format_list,
    format_number,
    format_rate,
    format_size,
    parse_duration,
    parse_size,
)


def test_a_number_has_no_exponent() -> None:
    assert [format_number(value) for value in (0, 0.53, 2.71, 99.6, 128, 1210.4)] == [
        "0", "0.53", "2.7", "100", "128", "1,210",
    ]  # fmt: skip
    assert [format_number(value, 3) for value in (2.716, 999.4, 999.6, 25170)] == ["2.72", "999", "1,000", "25,170"]


@given(st.integers(0, 2**60))
def test_a_size_in_its_shortest_spelling_reads_back_exactly(size: int) -> None:
    assert parse_size(canonical_size(size)) == size


@pytest.mark.parametrize(
    ("text", "size"),
    [("16G", 16 * 2**30), ("512m", 2**29), ("4096", 4096), ("1.5k", 1536), ("2TiB", 2**41), (" 8 GB ", 2**33)],
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["8388608T", "9" * 400, "9" * 5000 + "G", f"{'9' * 400}.5k", "8192p"])
def test_a_size_that_no_file_can_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="8 EiB"):
        parse_size(text)
    assert parse_size("8191p") == 8191 << 50


@pytest.mark.parametrize("text", ["", "G", "1x", "-1G", "1 0", "0x10", "1e3"])
def test_what_is_no_size_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10.0), ("500ms", 0.5), ("2m", 120.0), ("3", 3.0), ("1h", 3600.0), ("250us", 0.00025)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


def test_what_is_no_duration_says_so() -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration("soon")


def test_figures_have_three_digits_and_a_unit() -> None:
    assert [format_count(value) for value in (0, 7.5, 131, 14823, 1.2e6)] == ["0.00", "7.50", "131", "14.8k", "1.20M"]
    assert [format_rate(value) for value in (183e6, 7.2e9, 999)] == ["183 MB/s", "7.20 GB/s", "999 B/s"]
    assert [format_size(value) for value in (0, 512 * 2**20, 1.5 * 2**30)] == ["0 B", "512 MiB", "1.5 GiB"]
    durations = [2.66e-7, 0.00125, 2.0, 150, 4320]
    assert [format_duration(value) for value in durations] == ["266 ns", "1.25 ms", "2.0 s", "2 min 30 s", "1 h 12 min"]


def test_a_value_that_is_rounded_up_to_the_next_unit_is_shown_in_that_unit() -> None:
    assert [format_count(value) for value in (999.4, 999.6, 999_970, 9.996, 99.96)] == [
        "999", "1.00k", "1.00M", "10.0", "100",
    ]  # fmt: skip
    assert [format_rate(value) for value in (999.4e6, 999.97e6)] == ["999 MB/s", "1.00 GB/s"]
    assert [format_size(value) for value in (2**30 - 2**20, 2**30 - 1)] == ["1023 MiB", "1 GiB"]
    assert [format_duration(value) for value in (9.9997e-3, 0.9997, 59.94, 59.97)] == [
        "10.0 ms", "1.0 s", "59.9 s", "1 min",
    ]  # fmt: skip


def test_a_long_list_ends_with_the_number_of_names_that_are_left_out() -> None:
    names = ["a", "b", "c", "d"]
    assert [format_list(names[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert [format_list(names, most) for most in (4, 3)] == ["a, b, c and d", "a, b and 2 more"]
