"""The workloads in a campaign file: their options, matrices, sections, presets and metrics."""

import pytest

from poolproof.campaign.model import JobSpec
from poolproof.campaign.workload import default_metric
from poolproof.metrics import MetricId

from .campaigns import workloads


def test_options_keep_their_order_and_their_spelling() -> None:
    (only,) = workloads("w: {rw: randread, bs: 4k, size: 2300, offset: 0777, percentile_list: 50:99.9}")
    assert only.jobs == (
        JobSpec(
            "w",
            (("rw", "randread"), ("bs", "4k"), ("size", "2300"), ("offset", "0777"), ("percentile_list", "50:99.9")),
        ),
    )
    assert (only.name, only.family, only.varies) == ("w", "w", ())


def test_true_and_false_become_what_fio_reads() -> None:
    (only,) = workloads('w: {direct: true, time_based: false, verify: "true"}')
    assert only.jobs[0].options == (("direct", "1"), ("time_based", "0"), ("verify", "true"))


def test_lists_make_a_matrix_named_by_what_varies_the_last_list_fastest() -> None:
    found = workloads("grid: {rw: [read, write], iodepth: 64, bs: [4k, 1m], size: [1g]}")
    assert [each.name for each in found] == [
        "grid[rw=read,bs=4k]",
        "grid[rw=read,bs=1m]",
        "grid[rw=write,bs=4k]",
        "grid[rw=write,bs=1m]",
    ]
    assert {each.family for each in found} == {"grid"}
    assert found[2].varies == (("rw", "write"), ("bs", "4k"))
    assert found[2].jobs == (JobSpec("grid", (("rw", "write"), ("iodepth", "64"), ("bs", "4k"), ("size", "1g"))),)


def test_several_sections_run_together_over_what_is_common() -> None:
    (only,) = workloads("db: {bs: 8k, size: 1g, jobs: {log: {rw: write, bs: 4k}, data: {rw: randread}}}")
    assert only.jobs == (
        JobSpec("log", (("bs", "4k"), ("size", "1g"), ("rw", "write"))),
        JobSpec("data", (("bs", "8k"), ("size", "1g"), ("rw", "randread"))),
    )


def test_a_list_inside_a_section_varies_under_its_name() -> None:
    found = workloads("db: {bs: [4k, 8k], jobs: {log: {rw: write}, data: {rw: [read, randread]}}}")
    assert [each.name for each in found] == [
        "db[bs=4k,data.rw=read]",
        "db[bs=4k,data.rw=randread]",
        "db[bs=8k,data.rw=read]",
        "db[bs=8k,data.rw=randread]",
    ]
    assert [dict(job.options) for job in found[1].jobs] == [
        {"bs": "4k", "rw": "write"},
        {"bs": "4k", "rw": "randread"},
    ]


def test_a_preset_by_name_has_its_jobs_and_its_metric() -> None:
    (only,) = workloads("log: etcd")
    assert (only.name, only.metric) == ("log", "sync_p99")
    assert dict(only.jobs[0].options)["bs"] == "2300"


def test_a_preset_can_be_changed_as_a_whole_and_in_one_section() -> None:
    (only,) = workloads("pg: {preset: postgres, size: 1g, jobs: {pages: {numjobs: 16}}}")
    log, pages = (dict(job.options) for job in only.jobs)
    assert (log["size"], pages["size"]) == ("1g", "1g")
    assert ("numjobs" in log, pages["numjobs"]) == (False, "16")
    assert (log["fdatasync"], pages["rw"]) == ("1", "randread")


def test_a_preset_can_be_a_matrix() -> None:
    found = workloads("pg: {preset: postgres, size: [1g, 2g]}")
    assert [each.name for each in found] == ["pg[size=1g]", "pg[size=2g]"]
    assert {each.metric for each in found} == {"sync_p99"}


def test_metric_cold_and_fill_are_poolproofs_own() -> None:
    (only,) = workloads("w: {rw: read, metric: p999, cold: false, fill: false}")
    assert (only.metric, only.cold, only.fill) == ("p999", False, False)
    assert only.jobs[0].options == (("rw", "read"),)
    (plain,) = workloads("w: {rw: read}")
    assert (plain.cold, plain.fill) == (None, True)


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        ({"rw": "read", "bs": "1m"}, "bandwidth"),
        ({"rw": "write", "bs": "64k"}, "bandwidth"),
        ({"readwrite": "rw", "blocksize": "128k"}, "bandwidth"),
        ({"rw": "write", "bs": "65536"}, "bandwidth"),
        ({"rw": "write:4k", "bs": "1m,1m"}, "bandwidth"),
        ({"rw": "write", "bs": "1m", "fdatasync": "1"}, "bandwidth"),
        ({"rw": "write", "bs": "8k", "fdatasync": "1"}, "iops"),
        ({"rw": "read", "bs": "32k"}, "iops"),
        ({"rw": "read", "bs": "4k", "direct": "0"}, "bandwidth"),
        ({"rw": "write", "bs": "4k", "buffered": "1", "end_fsync": "1"}, "bandwidth"),
        ({"rw": "write", "bs": "4k", "direct": "0", "fdatasync": "1"}, "iops"),
        ({"rw": "randread", "bs": "4k", "direct": "0"}, "iops"),
        ({"rw": "read", "bs": "4k-1m"}, "iops"),
        ({"rw": "randread", "bs": "1m"}, "iops"),
        ({"rw": "read"}, "iops"),
        ({"bs": "1m"}, "bandwidth"),
        ({"rw": "read", "bs": "1m", "bssplit": "4k/50:1m/50"}, "iops"),
        ({"rw": "read", "bs": "large"}, "iops"),
    ],
)
def test_streams_are_compared_by_bandwidth_the_rest_by_iops(options: dict[str, str], metric: MetricId) -> None:
    assert default_metric([JobSpec("w", tuple(options.items()))]) == metric


def test_jobs_together_are_a_stream_only_if_each_is() -> None:
    stream, random = JobSpec("a", (("rw", "read"), ("bs", "1m"))), JobSpec("b", (("rw", "randread"), ("bs", "1m")))
    assert default_metric([stream, stream]) == "bandwidth"
    assert default_metric([stream, random]) == "iops"
