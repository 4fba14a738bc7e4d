"""Rates in bandwidth and IOPS logs: averaged over intervals, of single I/Os, and as written by fio 2."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from poolproof.errors import FioError
from poolproof.load.fio.logs import READ, RateKind, rates_of, read_log
from poolproof.load.outcome import Direction

KIB = 1024


def _rates(tmp_path: Path, kind: RateKind, rows: Iterable[str]) -> Direction:
    path = tmp_path / f"x_{kind}.1.log"
    path.write_text("".join(f"{row}\n" for row in rows))
    return rates_of(read_log(path).of(READ), kind)


def _steady(rate: float, samples: int) -> Direction:
    return Direction(
        bandwidth_bytes=rate,
        bandwidth_min_bytes=rate,
        bandwidth_max_bytes=rate,
        bandwidth_mean_bytes=rate,
        bandwidth_stddev_bytes=0.0,
        samples=samples,
    )


def test_lines_of_single_ios_are_counted_as_iops(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{5 * at}, 1, 0, 4096, 0" for at in range(801)))
    assert rates == Direction(iops=200.0, iops_mean=200.0)


def test_bandwidth_of_single_ios_is_the_sum_of_their_blocks(tmp_path: Path) -> None:
    """With 200 I/Os of 64 KiB per second at depth 32, each I/O takes 160 ms, which is logged as 400 KiB/s."""
    rates = _rates(tmp_path, "bw", (f"{5 * at}, 400, 0, 65536, 0x2001" for at in range(801)))
    assert rates == _steady(200 * 65536, 4)


def test_a_second_without_an_io_has_rate_zero(tmp_path: Path) -> None:
    busy = [*range(0, 1000, 10), *range(2000, 3001, 10)]
    rates = _rates(tmp_path, "bw", (f"{at}, 1, 0, 4096, 0x2001" for at in busy))
    assert rates.bandwidth_bytes == pytest.approx(4096 * 200 / 3)
    assert (rates.bandwidth_min_bytes, rates.bandwidth_max_bytes, rates.samples) == (0.0, 409_600.0, 3)


def test_single_ios_within_less_than_a_second_have_a_rate(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{at}, 1, 0, 4096, 0x2001" for at in range(11)))
    assert rates == _steady(4_096_000.0, 1)


@pytest.mark.parametrize("kind", ["bw", "iops"])
def test_one_io_has_no_rate(tmp_path: Path, kind: RateKind) -> None:
    assert _rates(tmp_path, kind, ["7, 1, 0, 4096, 0"]) == Direction()


def test_windows_shorter_than_a_second_are_averaged(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{500 * at}, {100 + at % 2}, 0, 0, 0" for at in range(1, 41)))
    assert rates.bandwidth_bytes == pytest.approx(100.5 * KIB, rel=0.001)
    assert rates.samples == 21


def test_windows_longer_than_a_second_are_not_averaged_with_seconds_that_have_no_line(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{10_000 * at + at % 2}, 300, 0, 0, 0" for at in range(1, 7)))
    assert rates == _steady(300 * KIB, 6)


def test_a_window_without_a_line_has_rate_zero(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{1000 * at}, 90, 0, 0, 0" for at in (1, 2, 4, 5, 6, 9)))
    assert (rates.bandwidth_bytes, rates.bandwidth_min_bytes, rates.samples) == (60.0 * KIB, 0.0, 9)


def test_early_fio_2_wrote_a_block_size_for_windows_of_iops(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{501 * at}, 8000, 0, 4096" for at in range(1, 20)))
    assert rates.iops == 8000.0


def test_early_fio_2_wrote_a_block_size_for_windows_of_bandwidth(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{501 * at}, 32000, 0, 4096" for at in range(1, 20)))
    assert rates.bandwidth_bytes == 32_000 * KIB


def test_times_may_be_milliseconds_since_1970(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{1_700_000_000_000 + 1000 * at}, 90, 0, 0, 0" for at in range(4)))
    assert rates == _steady(90.0 * KIB, 4)


@pytest.mark.parametrize("block", [0, 4096])
def test_times_more_than_a_year_apart_are_an_error(tmp_path: Path, block: int) -> None:
    with pytest.raises(FioError, match=" 1000 to 1700000000000000 ms"):
        _rates(tmp_path, "iops", [f"1000, 1, 0, {block}, 0", f"1700000000000000, 1, 0, {block}, 0"])
