"""fio's JSON output: captured documents on their own, and with other text around them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.errors import FioError
from poolproof.load.fio.json_output import read_json, read_json_stream

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def test_values_of_a_mixed_run_are_read() -> None:
    result = read_json(captured("3.33-randrw-two-clones.json+"))
    assert (result.version, len(result.parts), result.timestamp_ms) == ("fio-3.33", 2, 1795293299416)
    first = result.parts[0]
    assert first.read is not None and first.write is not None and first.trim is None
    assert (first.read.io_bytes, first.read.ios, first.read.runtime_ms) == (222912512, 54422, 2001)
    assert first.read.bandwidth_bytes == 111400555 and first.read.iops == pytest.approx(27197.401299)
    assert first.read.clat is not None and sum(first.read.clat.bins_ns.values()) == first.read.clat.samples == 54422
    assert first.read.clat.percentiles_ns[99.9] == 518144.0
    assert first.options["iodepth"] == "8" and first.clones == 1
    assert result.disks[0].name == "vda" and result.disks[0].read_requests == 100564


def test_a_group_is_one_part_with_all_its_clones() -> None:
    result = read_json(captured("3.33-randrw-json.json"))
    assert [job.clones for job in result.parts] == [3]
    assert result.parts[0].job_runtime_ms == 3000


def test_syncs_of_synchronous_engines_are_counted() -> None:
    etcd = read_json(captured("3.33-etcd.json")).parts[0]
    assert etcd.syncs == 911
    assert etcd.sync is not None and etcd.sync.percentiles_ns[99.0] == 171008.0
    assert etcd.read is None and etcd.write is not None and etcd.write.ios == 911


def test_latency_that_was_not_measured_has_no_values() -> None:
    job = read_json(captured("3.33-gtod-unified.json")).parts[0]
    assert job.read is None and job.mixed is not None and job.mixed.ios == 256
    assert job.mixed.clat is not None and job.mixed.clat.samples == 0 and job.mixed.clat.mean_ns is None


def test_the_total_of_all_directions_is_not_counted_again() -> None:
    job = read_json(captured("3.33-unified-both.json")).parts[0]
    assert job.read is not None and job.write is not None and job.mixed is None
    assert (job.read.ios, job.write.ios) == (496, 528)


def test_the_last_of_several_documents_counts() -> None:
    text = captured("3.33-status-interval.txt")
    results = read_json_stream(text)
    ios = [job.read.ios or 0 for result in results for job in result.parts if job.read]
    assert len(results) == 3 and ios == sorted(ios)
    assert read_json(text) == results[-1]


def test_a_cut_off_document_is_noted_and_earlier_documents_are_read() -> None:
    results = read_json_stream(captured("3.33-status-interval.txt")[:-500])
    assert len(results) == 2
    assert any("cut off" in note for note in results[-1].notes)


def test_lines_around_a_document_are_notes() -> None:
    result = read_json(captured("3.33-error-lines.txt"))
    assert result.notes == ("fio: file creation disallowed by allow_file_create=0",)
    around = read_json(f"note: both iodepth >= 1\n{captured('3.33-etcd.json')}\nfio: terminating on signal 2\n")
    assert around.notes == ("note: both iodepth >= 1", "fio: terminating on signal 2")
    assert around.parts == read_json(captured("3.33-etcd.json")).parts


def test_lines_of_stderr_inside_a_document_are_notes() -> None:
    lines = captured("3.33-etcd.json").splitlines()
    lines.insert(40, "fio: pid=12, got signal=2")
    result = read_json("\n".join(lines))
    assert result.notes == ("fio: pid=12, got signal=2",)
    assert result.parts == read_json(captured("3.33-etcd.json")).parts


def test_a_lone_surrogate_is_no_number() -> None:
    text = captured("3.33-randrw-two-clones.json+")
    forged = text.replace('"io_bytes" : 222912512', '"io_bytes" : "\\udc00x"', 1)
    assert forged != text
    with pytest.raises(FioError):
        read_json(forged)


def test_nan_is_read_as_none() -> None:
    document = json.loads(captured("3.33-etcd.json"))
    text = json.dumps(document, indent=2).replace('"bw_dev": 0.0', '"bw_dev": -nan')
    job = read_json(text).parts[0]
    assert job.write is not None and job.write.bandwidth_stddev_bytes is None


# The layout of fio 2.x: add_ddir_status_json in stat.c of fio 2.1.11 and 2.15; values chosen so that they agree.
FIO_2: dict[str, Any] = {
    "fio version": "fio-2.15",
    "timestamp": 1479710051,
    "jobs": [
        {
            "jobname": "t2",
            "error": 0,
            "read": {
                "io_bytes": 1024000,
                "bw": 102400,
                "iops": 200.0,
                "runtime": 10000,
                "total_ios": 2000,
                "slat": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0},
                "clat": {
                    "min": 54, "max": 9000, "mean": 4900.5, "stddev": 12.5,
                    "percentile": {"1.000000": 56, "99.000000": 8000, "0.00": 0},
                },
                "lat": {"min": 54, "max": 9001, "mean": 4901.5, "stddev": 12.5},
                "bw_min": 1024, "bw_max": 204800, "bw_agg": 100.0, "bw_mean": 102400.0, "bw_dev": 10.0,
            },
            "write": {"io_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "clat": {"min": 0, "max": 0, "mean": 0.0}},
        }
    ],
}  # fmt: skip


def test_fio_2_values_in_kib_and_microseconds_are_converted() -> None:
    result = read_json(json.dumps(FIO_2))
    read = result.parts[0].read
    assert read is not None and result.parts[0].write is None
    assert (read.io_bytes, read.bandwidth_bytes) == (1024000 * 1024, 102400 * 1024)
    assert read.clat is not None and read.clat.mean_ns == 4900500.0
    assert read.clat.percentiles_ns == {1.0: 56000.0, 99.0: 8000000.0}
    assert read.bandwidth_max_bytes == 204800 * 1024
    assert result.timestamp_ms == 1479710051000


def test_fio_2_bin_indexes_become_latencies() -> None:
    document = json.loads(json.dumps(FIO_2))
    document["jobs"][0]["read"]["clat"]["bins"] = {"FIO_IO_U_PLAT_BITS": 6, "100": 3, "200": 1, "201": 0}
    read = read_json(json.dumps(document)).parts[0].read
    assert read is not None and read.clat is not None and read.clat.bins_ns == {100_000: 3, 290_000: 1}


def test_clients_are_parts_and_their_total_is_not() -> None:
    job = FIO_2["jobs"][0]
    document = {
        "fio version": "fio-2.6",
        "client_stats": [
            {**job, "hostname": "a"},
            {**job, "hostname": "b"},
            {**job, "jobname": "All clients", "hostname": "b"},
        ],
    }
    assert [job.host for job in read_json(json.dumps(document)).parts] == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["", "fio: looks like your file system does not support direct=1", "{}", '{"a": 1}', "["]
)
def test_text_without_a_document_is_quoted_in_the_error(text: str) -> None:
    with pytest.raises(FioError, match="fio"):
        read_json(text)


@given(st.text())
def test_no_text_makes_a_traceback(text: str) -> None:
    assert read_json_stream(text) == ()


@given(st.integers(0, 18000), st.integers(0, 18000), st.text(max_size=20))
def test_a_damaged_document_raises_only_fio_errors_and_invents_no_job(start: int, end: int, inserted: str) -> None:
    text = captured("3.33-status-interval.txt")
    damaged = text[:start] + inserted + text[end:]
    for result in read_json_stream(damaged):
        assert {job.name for job in result.parts} <= {"st"} or inserted
