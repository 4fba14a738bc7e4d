"""The jobs that a workload runs on a bare disk."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.errors import CampaignError
from poolproof.load.fio.job import Job
from poolproof.load.fio.jobs import device_fill_job, on_bare_disk, on_device, placed
from poolproof.load.fio.load import load_of, part_of

MIB = 1024**2


def job(**options: str) -> Job:
    return Job("job", {"rw": "randread", "bs": "4k", "size": "64m", "ioengine": "libaio", **options})


@pytest.mark.parametrize(
    "place",
    [
        lambda path: on_bare_disk((job(),), path, None),
        lambda path: on_device((job(),), path),
        lambda path: device_fill_job(path, MIB),
    ],
    ids=["bare disk", "layout", "fill"],
)
def test_a_path_with_a_colon_is_one_file(place: Callable[[str], tuple[Job, ...]]) -> None:
    (placed,) = place("/dev/disk/by-id/usb-Kingston_DT-0:0")
    assert placed.filenames == ("/dev/disk/by-id/usb-Kingston_DT-0:0",)
    assert [extent.file for extent in part_of(placed).extents] == list(placed.filenames)


@pytest.mark.parametrize("name", ["$ncpus", "a$pagesizes", "${HOME}"])
def test_a_path_in_which_fio_would_replace_a_variable_is_refused(name: str) -> None:
    with pytest.raises(CampaignError, match="fio would replace the variable in the path"):
        placed((job(),), f"/srv/{name}/data")


def alone(of: Job, size_bytes: int | None = 1024 * MIB) -> Job:
    (alone_on_disk,) = on_bare_disk((of,), "/dev/loop7", size_bytes)
    return alone_on_disk


def test_a_bare_disk_load_keeps_the_workload_and_uses_direct_io() -> None:
    placed = alone(job(iodepth="8", direct="0", fdatasync="1", directory="/mnt", nrfiles="4"))
    assert part_of(placed).direct
    assert placed.filenames == ("/dev/loop7",)
    assert (
        part_of(placed).depth,
        part_of(placed).sync_every,
        part_of(placed).block_bytes,
        part_of(placed).size_bytes,
    ) == (8, 1, 4096, 64 * MIB)
    assert placed.directory is None


@pytest.mark.parametrize(
    ("option", "asked", "found"),
    [
        ("bs", "2300", "4096"),
        ("bs", "4k", "4k"),
        ("bs", "512", "512"),
        ("bs", "4k,2300", "4k,4096"),
        ("bssplit", "2300/40:8k/60", "4096/40:8k/60"),
        ("bssplit", "128k/100,128k/50:16k/50", "128k/100,128k/50:16k/50"),
        ("bsrange", "1000-9000", "4096-12288"),
    ],
)
def test_block_sizes_are_rounded_to_whole_sectors(option: str, asked: str, found: str) -> None:
    assert alone(job(**{option: asked})).options[option] == found


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(1, 512)), min_size=1, max_size=4),
    st.integers(64, 4096),
)
def test_no_two_clones_share_a_byte_and_all_fit_on_the_disk(sections: list[tuple[int, int]], disk_mib: int) -> None:
    jobs = tuple(job(numjobs=str(clones), size=f"{mib}m", offset="3m") for clones, mib in sections)
    placed = on_bare_disk(jobs, "/dev/loop7", disk_mib * MIB)
    extents = sorted((extent.start, extent.end) for each in placed for extent in part_of(each).extents)
    assert len(extents) == sum(clones for clones, _ in sections)
    assert all(before[1] <= after[0] for before, after in pairwise(extents))
    assert extents[-1][1] <= disk_mib * MIB
    assert load_of(placed).sharers == 1


def test_loads_that_fit_keep_their_size_and_others_shrink_in_proportion() -> None:
    jobs = (job(size="300m"), job(size="100m", numjobs="3"))
    large = on_bare_disk(jobs, "/dev/loop7", None)
    assert [part_of(each).size_bytes for each in large] == [300 * MIB, 100 * MIB]
    small = on_bare_disk(jobs, "/dev/loop7", 60 * MIB)
    assert [part_of(each).size_bytes for each in small] == [30 * MIB, 10 * MIB]
