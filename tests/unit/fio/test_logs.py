"""fio's logs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.errors import FioError
from poolproof.fio.histogram import bin_of
from poolproof.fio.json_output import read_json
from poolproof.fio.logs import READ, WRITE, kind_of, latency_of, per_second, read_histogram_log, read_log
from poolproof.fio.merge import merge_latency

CAPTURED = Path(__file__).parent / "captured"


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x_clat.1.log"
    path.write_text(text)
    return path


def test_columns_by_direction(tmp_path: Path) -> None:
    read = read_log(log(tmp_path, "1, 100, 0, 4096, 0\n2, 200, 1, 4096, 0\n1003, 300, 0, 4096, 0\n"))
    assert (list(read.time_ms), list(read.values), list(read.directions)) == ([1, 2, 1003], [100, 200, 300], [0, 1, 0])
    assert list(read.of(WRITE).values) == [200]
    assert per_second(read, READ) == [100.0, 300.0]


def test_a_priority_in_hexadecimal(tmp_path: Path) -> None:
    assert list(read_log(log(tmp_path, "1, 100, 0, 4096, 0, 0x2001\n2, 200, 0, 4096, 0, 0x2001\n")).values) == [
        100,
        200,
    ]


def test_old_logs_have_four_columns(tmp_path: Path) -> None:
    assert list(read_log(log(tmp_path, "1, 100, 0, 4096\n2, 200, 0, 4096\n")).values) == [100, 200]


def test_bad_lines_are_counted_and_a_cut_off_one_is_left_out(tmp_path: Path) -> None:
    read = read_log(log(tmp_path, "1, 100, 0, 4096, 0\nnonsense\n2, 200, 0, 4096, 0\n3, 30"))
    assert (list(read.values), read.bad_lines) == ([100, 200], 1)


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "1\n2\n"])
def test_what_is_no_log_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(FioError, match="no log of fio"):
        read_log(log(tmp_path, text))
    with pytest.raises(FioError, match="cannot be read"):
        read_log(tmp_path / "missing")


def test_latencies_of_clones_give_the_groups_histogram(tmp_path: Path) -> None:
    parts = []
    for number in (1, 2, 3):
        values = (CAPTURED / f"3.33-group-of-three.clat.{number}.txt").read_text().split()
        parts.append(
            latency_of(read_log(log(tmp_path, "".join(f"0, {value}, 0, 4096, 0\n" for value in values))), READ)
        )
    truth = read_json((CAPTURED / "3.33-group-of-three.json+").read_text()).jobs[0].read
    merged = merge_latency(parts)
    assert truth is not None and truth.clat is not None and merged is not None
    assert merged.bins_ns == truth.clat.bins_ns and merged.mean_ns == pytest.approx(truth.clat.mean_ns)


def test_a_histogram_log_sums_to_what_json_says_but_for_its_unfinished_interval(tmp_path: Path) -> None:
    path = CAPTURED / "3.33-hist_clat_hist.1.log"
    read = read_histogram_log(path)
    truth = read_json((CAPTURED / "3.33-hist.json+").read_text()).jobs[0].read
    assert truth is not None and truth.clat is not None
    logged = read.latency(READ)
    assert all(count <= truth.clat.bins_ns[value] for value, count in logged.bins_ns.items())
    assert (logged.samples, truth.clat.samples) == (510, 512)
    assert kind_of(path) == "clat_hist"
    with pytest.raises(FioError, match="no histogram log"):
        read_histogram_log(log(tmp_path, "1, 2, 3\n"))


@pytest.mark.parametrize(
    ("name", "kind"), [("a_bw.1.log", "bw"), ("a_iops.log", "iops"), ("b_slat.12.log", "slat"), ("c.json", None)]
)
def test_kinds_of_logs(name: str, kind: str | None) -> None:
    assert kind_of(Path(name)) == kind


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**10), st.integers(0, 2)), min_size=1, max_size=50))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]) -> None:
    path = tmp_path_factory.mktemp("log") / "a_lat.1.log"
    path.write_text("".join(f"{at}, {value}, {which}, 4096, 0\n" for at, value, which in rows))
    read = read_log(path)
    assert list(zip(read.time_ms, read.values, read.directions, strict=True)) == rows
    assert sum(latency_of(read, READ).bins_ns.values()) == sum(which == READ for _, _, which in rows)
    assert set(latency_of(read, WRITE).bins_ns) == {bin_of(value) for _, value, which in rows if which == WRITE}


@given(st.binary(max_size=300))
def test_no_bytes_make_a_traceback(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("log") / "a_lat.1.log"
    path.write_bytes(content)
    for read in (read_log, read_histogram_log):
        try:
            read(path)
        except FioError:
            continue
