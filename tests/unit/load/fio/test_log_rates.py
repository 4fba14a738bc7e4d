"""Rates out of fio's logs: of windows, of each I/O, and of fio 2."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from poolproof.errors import FioError
from poolproof.load.fio.logs import READ, LogRates, RateKind, rates_of, read_log

KIB = 1024


def _rates(tmp_path: Path, kind: RateKind, rows: Iterable[str]) -> LogRates | None:
    path = tmp_path / f"x_{kind}.1.log"
    path.write_text("".join(f"{row}\n" for row in rows))
    return rates_of(read_log(path).of(READ), kind)


def test_iops_of_each_io_are_counted(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{5 * at}, 1, 0, 4096, 0" for at in range(801)))
    assert rates == LogRates(mean=200.0, least=200.0, most=200.0, spread=0.0, samples=4)


def test_bandwidth_of_each_io_is_the_sum_of_its_blocks_not_the_rate_of_one(tmp_path: Path) -> None:
    """200 a second of 64 KiB at depth 32: each of them takes 160 ms, which is 400 KiB/s."""
    rates = _rates(tmp_path, "bw", (f"{5 * at}, 400, 0, 65536, 0x2001" for at in range(801)))
    assert rates is not None
    assert (rates.mean, rates.least, rates.most) == (200 * 65536, 200 * 65536, 200 * 65536)


def test_a_second_in_which_no_io_ended_is_at_rest(tmp_path: Path) -> None:
    busy = [*range(0, 1000, 10), *range(2000, 3001, 10)]
    rates = _rates(tmp_path, "iops", (f"{at}, 1, 0, 4096, 0" for at in busy))
    assert rates is not None
    assert rates.mean == pytest.approx(200 / 3)
    assert (rates.least, rates.most, rates.samples) == (0.0, 100.0, 3)


def test_each_io_of_less_than_a_second_still_has_a_rate(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{at}, 1, 0, 4096, 0" for at in range(11)))
    assert rates is not None
    assert (rates.mean, rates.samples) == (1000.0, 1)


@pytest.mark.parametrize("kind", ["bw", "iops"])
def test_one_io_has_no_rate(tmp_path: Path, kind: RateKind) -> None:
    assert _rates(tmp_path, kind, ["7, 1, 0, 4096, 0"]) is None


def test_windows_are_averaged(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{500 * at}, {100 + at % 2}, 0, 0, 0" for at in range(1, 41)))
    assert rates is not None
    assert rates.mean == pytest.approx(100.5, rel=0.001)
    assert rates.samples == 21


def test_windows_longer_than_a_second_are_not_thinned_by_seconds_without_a_row(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "bw", (f"{10_000 * at + at % 2}, 300, 0, 0, 0" for at in range(1, 7)))
    assert rates == LogRates(mean=300 * KIB, least=300 * KIB, most=300 * KIB, spread=0.0, samples=6)


def test_a_window_without_a_row_was_at_rest(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{1000 * at}, 90, 0, 0, 0" for at in (1, 2, 4, 5, 6, 9)))
    assert rates is not None
    assert (rates.mean, rates.least, rates.samples) == (60.0, 0.0, 9)


@pytest.mark.parametrize(("kind", "value", "mean"), [("iops", 8000, 8000.0), ("bw", 32_000, 32_000 * KIB)])
def test_early_fio_2_gave_windows_a_block_size(tmp_path: Path, kind: RateKind, value: int, mean: float) -> None:
    rates = _rates(tmp_path, kind, (f"{501 * at}, {value}, 0, 4096" for at in range(1, 20)))
    assert rates is not None
    assert rates.mean == mean


def test_times_of_the_epoch_are_times(tmp_path: Path) -> None:
    rates = _rates(tmp_path, "iops", (f"{1_700_000_000_000 + 1000 * at}, 90, 0, 0, 0" for at in range(4)))
    assert rates == LogRates(90.0, 90.0, 90.0, 0.0, 4)


@pytest.mark.parametrize("block", [0, 4096])
def test_a_damaged_time_is_told_and_makes_no_list_of_all_seconds(tmp_path: Path, block: int) -> None:
    with pytest.raises(FioError, match="more than a year"):
        _rates(tmp_path, "iops", [f"1000, 1, 0, {block}, 0", f"1700000000000000, 1, 0, {block}, 0"])
