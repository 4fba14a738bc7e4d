"""A load whose buffers could take most of the free RAM is refused before the run."""

import contextlib
from dataclasses import replace

import pytest

from poolproof.errors import CampaignError
from poolproof.facts.machine import Machine
from poolproof.load.fio.load import load_of
from poolproof.measure.memory import check_memory

from .test_order_and_jobs import jobs

_GIB = 1024**3


def _machine(free_bytes: int) -> Machine:
    return Machine("Linux", "Debian", 4, 8 * _GIB, free_bytes, True, frozenset(), frozenset())


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ("rw=read,ioengine=libaio,iodepth=1024,bs=1m", True),
        ("rw=read,ioengine=libaio,iodepth=1024,bs=1m,numjobs=4", False),
        ("rw=read,ioengine=libaio,iodepth=1024,bsrange=4k-1m,numjobs=4", False),
        ("rw=read,ioengine=psync,iodepth=1024,bs=1m,numjobs=4", True),
        ("rw=write,ioengine=psync,iodepth=1024,bs=1m,numjobs=4", False),
        ("rw=write,ioengine=libaio,iodepth=1024,bs=4k,numjobs=4", True),
        ("rw=read,ioengine=psync,bs=4k,lockmem=2g", True),
        ("rw=read,ioengine=psync,bs=4k,lockmem=2g,numjobs=2", False),
    ],
)
def test_buffers_and_locked_memory_may_take_three_quarters_of_the_free_ram(options: str, fits: bool) -> None:
    with contextlib.nullcontext() if fits else pytest.raises(CampaignError, match=r"needs 4 GiB of RAM"):
        check_memory("reads", load_of(jobs(options)), _machine(4 * _GIB))


@pytest.mark.parametrize(
    ("rw", "sizes", "fits"),
    [("write", "4k", True), ("write", "1m,4k", False), ("write", "4k,4k,1m", False), ("read", "4k,1m", True)],
)
def test_buffers_of_writes_are_as_large_as_the_largest_block(rw: str, sizes: str, *, fits: bool) -> None:
    """`bs` may have different values for reads, writes and trims."""
    (job,) = jobs(f"rw={rw},ioengine=libaio,iodepth=1024,numjobs=4")
    load = load_of((replace(job, options={**job.options, "bs": sizes}),))
    with contextlib.nullcontext() if fits else pytest.raises(CampaignError, match=r"needs 4 GiB of RAM"):
        check_memory("reads", load, _machine(4 * _GIB))


def test_nothing_is_refused_if_the_free_ram_is_unknown() -> None:
    check_memory("reads", load_of(jobs("rw=read,ioengine=libaio,iodepth=1024,bs=1m")), _machine(0))
