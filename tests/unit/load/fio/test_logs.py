"""fio's bandwidth, IOPS, latency and histogram logs."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.errors import FioError
from poolproof.load.fio.histogram import bin_of
from poolproof.load.fio.json_output import read_json
from poolproof.load.fio.logs import READ, WRITE, kind_of, latency_of, latency_unit_ns, read_histogram_log, read_log
from poolproof.load.merge import merge_latency

CAPTURED = Path(__file__).parent / "captured"


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x_clat.1.log"
    path.write_text(text)
    return path


def test_columns_can_be_selected_by_direction(tmp_path: Path) -> None:
    read = read_log(log(tmp_path, "1, 100, 0, 4096, 0\n2, 200, 1, 4096, 0\n1003, 300, 0, 4096, 0\n"))
    assert (list(read.time_ms), list(read.values), list(read.directions)) == ([1, 2, 1003], [100, 200, 300], [0, 1, 0])
    assert list(read.of(WRITE).values) == [200]
    assert list(read.block_bytes) == [4096] * 3


def test_a_priority_may_be_hexadecimal(tmp_path: Path) -> None:
    assert list(read_log(log(tmp_path, "1, 100, 0, 4096, 0, 0x2001\n2, 200, 0, 4096, 0, 0x2001\n")).values) == [
        100,
        200,
    ]


def test_logs_of_old_fio_with_four_columns_are_read(tmp_path: Path) -> None:
    assert list(read_log(log(tmp_path, "1, 100, 0, 4096\n2, 200, 0, 4096\n")).values) == [100, 200]


_RATE = 8000.0
_SLOW, _DEEP = 125, 4000  # µs that a request takes at depth 1 and at depth 32


@pytest.mark.parametrize(
    ("tail", "value", "rate", "unit_ns"),
    [
        (", 0", _SLOW, None, 1),  # the last column is a priority: fio 3.20 and later
        (", 0x2001", _SLOW, None, 1),
        (", 8192, 0x2001", _SLOW, None, 1),
        ("", _SLOW, _RATE, 1000),
        ("", 1000 * _SLOW, _RATE, 1),
        (", 8192", _SLOW, _RATE, 1000),  # the last column is an offset
        ("", _DEEP, _RATE, None),  # 32 in µs, or 0.032 in ns
        ("", _SLOW, None, None),
        ("", 1000 * _SLOW, None, None),  # a line for each ten requests
        ("", 10_000 * _SLOW, None, 1),
    ],
)
def test_unit_of_latencies_is_determined_if_possible(
    tmp_path: Path, tail: str, value: int, rate: float | None, unit_ns: int | None
) -> None:
    read = read_log(log(tmp_path, "".join(f"{at}, {value}, 0, 4096{tail}\n" for at in range(1000))))
    assert latency_unit_ns(read, rate) == unit_ns
    if unit_ns:
        assert latency_of(read, READ, unit_ns).mean_ns == value * unit_ns


def test_histogram_logs_of_fio_2_are_in_microseconds(tmp_path: Path) -> None:
    counts = [0] * (19 << 6)
    counts[50] = 7
    assert read_histogram_log(log(tmp_path, f"1, 0, 4096, {', '.join(map(str, counts))}\n"))[READ].bins_ns == {
        50_000: 7
    }


def test_damaged_and_cut_off_lines_are_ignored(tmp_path: Path) -> None:
    read = read_log(log(tmp_path, "1, 100, 0, 4096, 0\nnonsense\n2, 200, 0, 4096, 0\n3, 30"))
    assert list(read.values) == [100, 200]


@pytest.mark.parametrize("number", [1 << 63, 10**30, 10**5000], ids=["65 bits", "100 bits", "5000 digits"])
@pytest.mark.parametrize("column", range(4))
def test_a_line_with_a_number_beyond_64_bits_is_ignored(tmp_path: Path, column: int, number: int) -> None:
    sys.set_int_max_str_digits(0)
    damaged = ["2", "200", "0", "4096"]
    damaged[column] = str(number)
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    read = read_log(log(tmp_path, f"1, 100, 0, 4096, 0\n{', '.join(damaged)}, 0\n3, 300, 0, 4096, 0\n"))
    assert list(read.values) == [100, 300]


def test_a_line_with_a_priority_of_too_many_digits_is_ignored(tmp_path: Path) -> None:
    read = read_log(log(tmp_path, f"1, 100, 0, 4096, 0x2001\n2, 200, 0, 4096, 0x{'f' * 5000}\n"))
    assert list(read.values) == [100, 200]


def test_a_latency_too_long_in_nanoseconds_is_limited(tmp_path: Path) -> None:
    read = read_log(log(tmp_path, f"1, 100, 0, 4096\n2, {(1 << 63) - 1}, 0, 4096\n"))
    assert latency_of(read, READ, 1000).samples == 2


def test_a_histogram_line_with_an_impossible_count_is_ignored(tmp_path: Path) -> None:
    counts = ["0"] * (29 << 6)
    rows = []
    for count in ("7", "9" * 400, "-1"):
        counts[50] = count
        rows.append(f"1, 0, 4096, {', '.join(counts)}\n")
    read = read_histogram_log(log(tmp_path, "".join(rows)))
    assert read[READ].bins_ns == {50: 7}


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "1\n2\n"])
def test_a_file_that_is_not_a_log_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(FioError, match=r"\.log .* fio log"):
        read_log(log(tmp_path, text))
    with pytest.raises(FioError, match="cannot be read"):
        read_log(tmp_path / "missing")


def test_latency_logs_of_clones_add_up_to_the_histogram_of_the_group(tmp_path: Path) -> None:
    parts = []
    for number in (1, 2, 3):
        values = (CAPTURED / f"3.33-group-of-three.clat.{number}.txt").read_text().split()
        parts.append(
            latency_of(read_log(log(tmp_path, "".join(f"0, {value}, 0, 4096, 0\n" for value in values))), READ)
        )
    truth = read_json((CAPTURED / "3.33-group-of-three.json+").read_text()).parts[0].read
    merged = merge_latency(parts)
    assert truth is not None and truth.clat is not None and merged is not None
    assert merged.bins_ns == truth.clat.bins_ns and merged.mean_ns == pytest.approx(truth.clat.mean_ns)


def test_a_histogram_log_agrees_with_json_except_for_the_last_interval(tmp_path: Path) -> None:
    path = CAPTURED / "3.33-hist_clat_hist.1.log"
    read = read_histogram_log(path)
    truth = read_json((CAPTURED / "3.33-hist.json+").read_text()).parts[0].read
    assert truth is not None and truth.clat is not None
    logged = read[READ]
    assert all(count <= truth.clat.bins_ns[value] for value, count in logged.bins_ns.items())
    assert (logged.samples, truth.clat.samples) == (510, 512)
    assert kind_of(path) == "clat_hist"
    with pytest.raises(FioError, match="histogram log"):
        read_histogram_log(log(tmp_path, "1, 2, 3\n"))


@pytest.mark.parametrize(
    ("name", "kind"), [("a_bw.1.log", "bw"), ("a_iops.log", "iops"), ("b_slat.12.log", "slat"), ("c.json", None)]
)
def test_kind_of_a_log_follows_from_its_name(name: str, kind: str | None) -> None:
    assert kind_of(Path(name)) == kind


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**10), st.integers(0, 2)), min_size=1, max_size=50))
def test_written_rows_are_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]) -> None:
    path = tmp_path_factory.mktemp("log") / "a_lat.1.log"
    path.write_text("".join(f"{at}, {value}, {which}, 4096, 0\n" for at, value, which in rows))
    read = read_log(path)
    assert list(zip(read.time_ms, read.values, read.directions, strict=True)) == rows
    assert sum(latency_of(read, READ).bins_ns.values()) == sum(which == READ for _, _, which in rows)
    assert set(latency_of(read, WRITE).bins_ns) == {bin_of(value) for _, value, which in rows if which == WRITE}


@given(st.binary(max_size=300))
def test_arbitrary_bytes_raise_only_fio_errors(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("log") / "a_lat.1.log"
    path.write_bytes(content)
    for read in (read_log, read_histogram_log):
        try:
            read(path)
        except FioError:
            continue


def test_a_histogram_of_many_directions_is_damaged(tmp_path: Path) -> None:
    """Otherwise, the time to read a log would increase with the square of its number of lines."""
    path = tmp_path / "x_clat_hist.1.log"
    lines = (f"1, {direction}, 4096{', 1' * 58}\n" for direction in (0, 3, 10**15))
    path.write_text("".join(lines))
    assert list(read_histogram_log(path)) == [0]
