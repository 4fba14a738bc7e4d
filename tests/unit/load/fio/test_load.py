"""The meaning of a job's options."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import load_of, part_of


def job(name: str = "j", /, **options: object) -> Job:
    return Job(name, {key: str(value) for key, value in options.items()})


def test_defaults_are_those_of_fio() -> None:
    plain = job()
    assert (plain.rw, plain.engine, part_of(plain).block_bytes, part_of(plain).depth, part_of(plain).clones) == (
        "read",
        "psync",
        4096,
        1,
        1,
    )
    assert (
        part_of(plain).reads
        and not part_of(plain).writes
        and part_of(plain).is_sequential
        and part_of(plain).is_synchronous
    )
    assert (
        part_of(plain).repeats_offsets
        and part_of(plain).invalidates_cache
        and not part_of(plain).direct
        and not part_of(plain).syncs
    )
    assert part_of(plain).size_bytes is None and part_of(plain).runtime_s is None and part_of(plain).measures_latency


@pytest.mark.parametrize(
    ("options", "reads", "writes", "random"),
    [
        ({"rw": "write"}, False, True, False),
        ({"rw": "randread:8"}, True, False, True),
        ({"rw": "readwrite"}, True, True, False),
        ({"rw": "randrw", "rwmixread": 100}, True, False, True),
        ({"rw": "randrw", "rwmixwrite": 100}, False, True, True),
        ({"rw": "randtrim"}, False, False, True),
        ({"rw": "trimwrite"}, False, True, False),
    ],
)
def test_directions_follow_from_rw(options: dict[str, object], reads: bool, writes: bool, random: bool) -> None:
    one = job(**options)
    assert (part_of(one).reads, part_of(one).writes, part_of(one).is_random, part_of(one).is_mixed) == (
        reads,
        writes,
        random,
        reads and writes,
    )


def test_queue_includes_depth_only_for_asynchronous_engines() -> None:
    assert part_of(job(ioengine="psync", iodepth=32, numjobs=4)).queue == 4
    assert part_of(job(ioengine="libaio", iodepth=32, numjobs=4)).queue == 128
    assert part_of(job(ioengine="psync", iodepth=32, io_submit_mode="offload")).queue == 32


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"direct": 1}, True),
        ({"direct": 0}, False),
        ({"buffered": 0}, True),
        ({"direct": 1, "buffered": 1}, False),
        ({"buffered": 1, "direct": 1}, True),
        ({"atomic": 1}, True),
    ],
)
def test_o_direct_follows_from_direct_buffered_and_atomic(options: dict[str, object], expected: bool) -> None:
    assert part_of(job(**options)).direct is expected


def test_sequential_and_random_reads_can_have_block_sizes_of_their_own() -> None:
    both = part_of(job(rw="randread", bs="64k,4k", bs_is_seq_rand="1", percentage_random="50"))
    assert (both.block_bytes, both.max_block_bytes) == (4096, 65536)
    assert part_of(job(rw="randread", bs="64k,4k")).block_bytes == 65536


def test_block_sizes_are_those_of_the_directions_used() -> None:
    assert part_of(job(rw="randwrite", bs="4k,16k")).block_bytes == 16384
    both = job(rw="randrw", bs="4k,16k")
    assert (part_of(both).block_bytes, part_of(both).max_block_bytes) == (4096, 16384)
    assert part_of(job(rw="read", bs="1m", bsrange="4k-64k")).max_block_bytes == 65536
    assert part_of(job(rw="read", bs="1m", bssplit="8k/50:32k/50")).block_bytes == 8192
    assert part_of(job(rw="read", bs="nonsense")).block_bytes == 4096


def test_a_job_that_waits_for_another_starts_later() -> None:
    load = load_of((job("a", filename="f"), job("b", filename="f", wait_for="a")))
    assert [[part.name for part in phase] for phase in load.phases] == [["a"], ["b"]]
    assert load.sharers == 1


def test_sizes_are_read_in_bytes() -> None:
    assert part_of(job(size="1g")).size_bytes == 1 << 30
    assert part_of(job(size="50%")).size_bytes is None
    assert part_of(job(size="0")).size_bytes is None
    assert part_of(job(size="1g", kb_base="1000")).size_bytes == 10**9
    assert part_of(job(filesize="1m-4m")).extents[0].end == 4 << 20
    assert part_of(job(filesize="1m-4m", nrfiles="3")).size_bytes == 12 << 20
    assert part_of(job(filesize="1g", size="10m")).size_bytes == 10 << 20
    assert part_of(job(filesize="1g", size="10%")).size_bytes is None


@pytest.mark.parametrize(
    ("options", "syncs", "each"),
    [
        ({}, False, False),
        ({"fdatasync": 1}, True, True),
        ({"fsync": 32}, True, False),
        ({"fsync": 0}, False, False),
        ({"end_fsync": 1}, True, False),
        ({"sync": "dsync"}, True, True),
        ({"sync": "1"}, True, True),
        ({"sync": "none"}, False, False),
        ({"sync_file_range": "write:8"}, False, False),
    ],
)
def test_sync_options_are_recognized(options: dict[str, object], syncs: bool, each: bool) -> None:
    one = job(rw="write", **options)
    assert (part_of(one).syncs, part_of(one).commits_each_write) == (syncs, each)


def test_a_job_is_random_if_its_reads_or_its_writes_are() -> None:
    given: tuple[dict[str, object], ...] = (
        {},
        {"percentage_random": 0},
        {"percentage_random": "0,100"},
        {"percentage_random": "0,0"},
    )
    assert [part_of(job(rw="randrw", **options)).is_random for options in given] == [True, False, True, False]
    assert not part_of(job(rw="rw")).is_random


def test_the_more_frequent_of_fsync_and_fdatasync_counts() -> None:
    assert part_of(job(fsync=32, fdatasync=8)).sync_every == 8


def test_o_sync_does_not_make_stores_to_a_mapped_file_synchronous() -> None:
    for engine, expected in (("psync", True), ("libaio", True), ("mmap", False)):
        part = part_of(job(rw="randwrite", sync="dsync", ioengine=engine))
        assert (part.writes_are_synchronous, part.syncs) == (expected, expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"refill_buffers": ""}, True),
        ({"refill_buffers": 0}, False),
        ({"verify": "crc32c"}, True),
        ({"verify": "0"}, False),
        ({"buffer_compress_percentage": 50}, True),
        ({"dedupe_percentage": 10}, True),
        ({}, False),
    ],
)
def test_options_that_refill_buffers_are_recognized(options: dict[str, object], expected: bool) -> None:
    assert part_of(job(**options)).refills_buffers is expected


@pytest.mark.parametrize(("pattern", "zeros"), [("0", True), ("0x00", True), ("0xdeadbeef", False), ('"abcd"', False)])
def test_patterns_of_zeros_are_recognized(pattern: str, zeros: bool) -> None:
    assert part_of(job(buffer_pattern=pattern)).zero_buffers is zeros


def test_times_and_pauses_are_read() -> None:
    one = job(runtime="1m", ramp_time="500ms", time_based="", thinktime="10")
    assert (part_of(one).runtime_s, part_of(one).ramp_s, part_of(one).time_based, part_of(one).thinks) == (
        60.0,
        0.5,
        True,
        True,
    )
    assert (
        part_of(job(rate=",10m")).rate_limited
        and not part_of(job(rate="0")).rate_limited
        and part_of(job(rate_iops=100)).rate_limited
    )
    assert not part_of(job(gtod_reduce=1)).measures_latency
    assert not part_of(job(clat_percentiles=0)).measures_latency
    assert part_of(job(clat_percentiles=0, lat_percentiles=1)).measures_latency


def test_clones_on_the_same_bytes_of_a_file_share_it() -> None:
    shared = job(filename="/dev/x", numjobs=8, size="10g")
    assert part_of(shared).shares_one_file
    assert load_of((shared,)).sharers == 8
    assert load_of((shared,)).unique_bytes == 10 << 30


@pytest.mark.parametrize(
    "options",
    [
        {"directory": "/d", "numjobs": 8, "size": "1g"},
        {"filename": "f", "numjobs": 8, "size": "1g", "offset_increment": "1g"},
        {"filename": "f", "numjobs": 1, "size": "1g"},
        {"filename": "/dev/x", "numjobs": 4, "size": "25%", "offset_increment": "25%"},
    ],
)
def test_clones_on_separate_bytes_do_not_share_a_file(options: dict[str, object]) -> None:
    assert not part_of(job(**options)).shares_one_file


def test_clones_overlap_if_the_increment_is_smaller_than_the_size() -> None:
    halves = job(filename="f", numjobs=4, size="1g", offset_increment="512m")
    assert load_of((halves,)).sharers == 2
    assert load_of((halves,)).unique_bytes == 5 << 29


def test_a_filename_format_without_the_clone_number_is_a_shared_file() -> None:
    assert part_of(job(filename_format="data.$filenum", numjobs=2, size="1g")).shares_one_file
    assert not part_of(job(filename_format="data.$jobnum", numjobs=2, size="1g")).shares_one_file


def test_jobs_on_the_same_bytes_share_a_file_only_if_they_run_at_once() -> None:
    writer, reader = job("w", rw="write", filename="f", size="1g"), job("r", rw="read", filename="f", size="1g")
    later = job("r", rw="read", filename="f", size="1g", stonewall="")
    assert load_of((writer, reader)).shares_one_file
    assert not load_of((writer, later)).shares_one_file
    assert load_of((writer, later)).unique_bytes == 1 << 30


def test_jobs_on_different_ranges_do_not_share_a_file() -> None:
    low, high = job("a", filename="f", size="1g"), job("b", filename="f", size="1g", offset="1g")
    assert not load_of((low, high)).shares_one_file
    assert load_of((low, high)).unique_bytes == 2 << 30
    percents = [job(str(n), filename="/dev/x", size="25%", offset=f"{25 * n}%") for n in range(4)]
    assert not load_of(tuple(percents)).shares_one_file
    assert load_of(tuple(percents)).unique_bytes is None


def test_unique_bytes_include_every_file_of_every_clone() -> None:
    assert load_of((job(size="1g", numjobs=4),)).unique_bytes == 4 << 30
    assert load_of((job(size="1g", nrfiles=8),)).unique_bytes == 1 << 30
    assert load_of((job(size="1g", filesize="1m", nrfiles=8),)).unique_bytes == 8 << 20
    assert load_of((job(filename="a:b", size="1g"),)).unique_bytes == 1 << 30
    assert load_of((job(filename="/dev/x"),)).unique_bytes is None


def test_files_are_created_with_their_full_size_even_if_a_job_uses_less() -> None:
    """With fio 3.33, `size=16m filesize=100m` left 100 MiB, and the same with numjobs=2 and create_only 200 MiB.

    `size=16m offset=8m` left a file of 24 MiB, without a hole.
    """
    for options, mib in (
        ({"filesize": "100m"}, 100),
        ({"filesize": "10m-50m", "nrfiles": 4}, 200),
        ({"filesize": "100m", "numjobs": 2}, 200),
        ({"filesize": "100m", "filename": "a:b", "numjobs": 2}, 200),
        ({"filesize": "1m", "nrfiles": 4}, 4),
        ({"offset": "8m"}, 24),
        ({"offset": "8m", "nrfiles": 2}, 32),
        ({"filename": "a", "offset_increment": "16m", "numjobs": 3}, 48),
        ({"offset_increment": "16m", "numjobs": 3}, 96),
    ):
        assert load_of((job(size="16m", **options),)).created_bytes == mib << 20, options
    assert load_of((job("a", size="16m", filename="f"), job("b", size="1m", filename="f"))).created_bytes == 16 << 20
    assert load_of((job(filename="/dev/x"),)).created_bytes == 0


def test_a_stonewall_starts_a_new_phase() -> None:
    run = (job("a", runtime=10, numjobs=2), job("b", runtime=5), job("c", runtime=7, stonewall=""))
    assert (len(load_of(run).phases), load_of(run).queue, load_of(run).clones, load_of(run).asked_s) == (2, 3, 4, 17.0)
    assert load_of((job("a", runtime=10), job("b"))).asked_s is None


def test_a_job_named_after_a_device_uses_the_device() -> None:
    assert part_of(job("/dev/sdb", numjobs=2)).shares_one_file
    assert job("/dev/sdb", filename="x").filenames == ("x",)


def test_escaped_colons_belong_to_file_names() -> None:
    assert job(filename="a:b").filenames == ("a", "b")
    assert job(filename=r"/dev/disk/pci-0000\:00").filenames == ("/dev/disk/pci-0000:00",)


NAMES = ["rw", "bs", "size", "offset", "numjobs", "iodepth", "fsync", "runtime", "filename", "sync"]


@example({"offset": "10P", "size": "1"})
@given(st.dictionaries(st.sampled_from(NAMES), st.text() | st.from_regex(r"[0-9]{1,22}[kmgp%:,-]?")))
def test_arbitrary_values_raise_nothing(options: dict[str, str]) -> None:
    one = Job("j", options)
    run = (one,)
    load, part = load_of(run), part_of(one)
    assert load.queue >= 1 and part.block_bytes >= 0 and load.sharers >= 1
    assert load.unique_bytes is None or load.unique_bytes >= 0
    assert isinstance(part.syncs, bool) and isinstance(part.commits_each_write, bool)
